// Package command holds Redis' commands: the table, which says of each what
// can be said as data (arity, flags, keys, categories, since when), and the
// handlers, one file per family.
//
// Whatever decides over a command before it runs (routing by slot, permissions,
// what a replica or a script may do) reads the table and never the command's
// arguments in its own way.
package command

import (
	"strings"

	"github.com/fakecluster/fakecluster/emulator/internal/version"
)

// Flags are the properties of a command that COMMAND INFO lists.
type Flags uint64

// The flags, by the names COMMAND INFO prints.
const (
	Write           Flags = 1 << iota // write
	ReadOnly                          // readonly
	DenyOOM                           // denyoom
	Admin                             // admin
	PubSub                            // pubsub
	NoScript                          // noscript
	Blocking                          // blocking
	Loading                           // loading
	Stale                             // stale
	SkipMonitor                       // skip_monitor
	SkipSlowlog                       // skip_slowlog
	Asking                            // asking
	Fast                              // fast
	NoAuth                            // no_auth
	MayReplicate                      // may propagate effects though it is no write; not printed
	NoMandatoryKeys                   // no_mandatory_keys
	NoMulti                           // no_multi
	NoAsyncLoading                    // no_async_loading
	MovableKeys                       // movablekeys
	AllowBusy                         // allow_busy
)

// Spec is one row of the table: a command, or one of its subcommands.
type Spec struct {
	// Name is lower case; a subcommand's is "client|list".
	Name       string
	Parent     *Spec
	Since      version.Version
	Group      string
	Arity      int // negative: at least that many words
	Flags      Flags
	Categories Categories
	Tips       []string
	// First, Last and Step are the legacy key positions.
	First, Last, Step int
	KeySpecs          []KeySpec
	// Subcommands are by their own name ("list"); nil unless a container.
	Subcommands map[string]*Spec
	// ID numbers the rows of one Table from 0 to Len()-1.
	ID int

	// Handler is nil for a container, which is never executed itself, and for a
	// command that exists in this version but is not emulated.
	Handler Handler

	// extract finds keys that positions cannot describe; nil for most.
	extract extractor
	// keyFlags joins the flags of all key specs.
	keyFlags KeyFlags
	// hasRealKeys is set when a key spec is about keys and not channels.
	hasRealKeys bool
}

// Has reports whether all of flags are set.
func (s *Spec) Has(flags Flags) bool { return s.Flags&flags == flags }

// CheckArity reports whether n words, the name included, are as many as the
// command takes.
func (s *Spec) CheckArity(n int) bool {
	return n == s.Arity || s.Arity < 0 && n >= -s.Arity
}

// flagNames are the flags in the order COMMAND INFO prints them.
var flagNames = []struct {
	flag Flags
	name string
}{
	{Write, "write"}, {ReadOnly, "readonly"}, {DenyOOM, "denyoom"}, {Admin, "admin"},
	{PubSub, "pubsub"}, {NoScript, "noscript"}, {Blocking, "blocking"}, {Loading, "loading"},
	{Stale, "stale"}, {SkipMonitor, "skip_monitor"}, {SkipSlowlog, "skip_slowlog"},
	{Asking, "asking"}, {Fast, "fast"}, {NoAuth, "no_auth"},
	{NoMandatoryKeys, "no_mandatory_keys"}, {NoAsyncLoading, "no_async_loading"},
	{NoMulti, "no_multi"}, {MovableKeys, "movablekeys"}, {AllowBusy, "allow_busy"},
}

// mayReplicate are the commands that propagate though they are not writes. The
// flag is Redis' own, but COMMAND INFO keeps it to itself.
var mayReplicate = map[string]bool{
	"eval": true, "evalsha": true, "fcall": true, "publish": true, "spublish": true, "pfcount": true,
}

// Categories are the ACL categories of a command.
type Categories uint32

// categoryNames are the categories in the order Redis prints them; the bit of
// a category is its index.
var categoryNames = []string{
	"keyspace", "read", "write", "set", "sortedset", "list", "hash", "string", "bitmap",
	"hyperloglog", "geo", "stream", "pubsub", "admin", "fast", "slow", "blocking",
	"dangerous", "connection", "transaction", "scripting",
}

// CategoryNames returns the ACL categories in the order of ACL CAT.
func CategoryNames() []string { return append([]string(nil), categoryNames...) }

// Category returns the set of one category, by its name without "@" in any
// case, and whether there is one.
func Category(name string) (Categories, bool) {
	for i, n := range categoryNames {
		if strings.EqualFold(n, name) {
			return 1 << i, true
		}
	}
	return 0, false
}

// Names lists the categories as Redis prints them, without "@".
func (c Categories) Names() []string {
	var names []string
	for i, name := range categoryNames {
		if c&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}
