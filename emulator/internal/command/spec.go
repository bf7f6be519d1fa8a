// Package command holds Redis' commands: the table, which says of each what
// can be said as data (arity, flags, keys, categories, since when), and the
// handlers, one file per family.
//
// Whatever decides over a command before it runs (routing by slot, permissions,
// what a replica or a script may do) reads the table and never the command's
// arguments in its own way.
package command

import "github.com/fakecluster/fakecluster/emulator/internal/version"

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
	MayReplicate                      // may_replicate
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
	Categories []string // "@string", sorted as Redis prints them
	Tips       []string
	// First, Last and Step are the legacy key positions.
	First, Last, Step int
	KeySpecs          []KeySpec
	Subcommands       map[string]*Spec

	// Handler is nil for a container, which is never executed itself.
	Handler Handler
}

// Has reports whether all of flags are set.
func (s *Spec) Has(flags Flags) bool { return s.Flags&flags == flags }
