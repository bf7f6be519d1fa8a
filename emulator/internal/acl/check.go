package acl

import (
	"slices"
	"strings"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/glob"
)

// Denial is what a user may not do; a greater one says more.
type Denial uint8

// The denials.
const (
	Allowed Denial = iota
	DeniedCommand
	DeniedKey
	DeniedAuth
	DeniedChannel
)

// String is the reason that ACL LOG prints.
func (d Denial) String() string {
	return [...]string{"", "command", "key", "auth", "channel"}[d]
}

// channelUse says which arguments of a command are channels.
type channelUse struct {
	only    bool // the first argument alone
	pattern bool
}

// channelCommands are the commands that need permission for channels.
var channelCommands = map[string]channelUse{
	"subscribe": {}, "ssubscribe": {}, "psubscribe": {pattern: true}, "publish": {only: true}, "spublish": {only: true},
}

// Check tells whether the user may run a command, and if not, at which argument
// that shows.
func (u *User) Check(spec *command.Spec, args [][]byte) (d Denial, pos int) {
	if u.unlimited {
		return Allowed, 0
	}
	d = DeniedCommand
	c := checking{spec: spec, args: args}
	for _, s := range u.selectors {
		denial, at := s.check(&c)
		if denial == Allowed {
			return Allowed, 0
		}
		if denial > d || denial == d && at > pos {
			d, pos = denial, at
		}
	}
	return d, pos
}

// checking is a command while it is shown to one selector after the other.
type checking struct {
	spec  *command.Spec
	args  [][]byte
	keys  []command.KeyRef
	found bool
}

func (c *checking) refs() []command.KeyRef {
	if !c.found {
		c.keys, c.found = c.spec.AppendKeysAndFlags(nil, c.args), true
	}
	return c.keys
}

func (s *Selector) check(c *checking) (Denial, int) {
	if !s.allowsCommand(c.spec, c.args) {
		return DeniedCommand, 0
	}
	if !s.allKeys && c.spec.HasKeys() {
		for _, ref := range c.refs() {
			if !s.allowsKey(c.args[ref.Pos], ref.Flags) {
				return DeniedKey, ref.Pos
			}
		}
	}
	if !s.allChannels && c.spec.Has(command.PubSub) {
		if use, ok := channelCommands[c.spec.Name]; ok {
			for i, channel := range c.args[1:] {
				if use.only && i > 0 {
					break
				}
				if !allowsChannel(s.channels, channel, use.pattern) {
					return DeniedChannel, i + 1
				}
			}
		}
	}
	return Allowed, 0
}

func (s *Selector) allowsCommand(spec *command.Spec, args [][]byte) bool {
	if s.allCommands || spec.Has(command.NoAuth) || s.commands.has(spec.ID) {
		return true
	}
	words := s.firstArgs[spec.ID]
	return len(words) > 0 && len(args) > 1 && slices.ContainsFunc(words, func(w string) bool {
		return strings.EqualFold(w, string(args[1]))
	})
}

// allowsKey reports whether a pattern allows to key all that flags are about to
// do with it.
func (s *Selector) allowsKey(key []byte, flags command.KeyFlags) bool {
	read := flags&command.KeyAccess != 0
	write := flags&(command.KeyInsert|command.KeyDelete|command.KeyUpdate) != 0
	for _, k := range s.keys {
		if (k.read || !read) && (k.write || !write) && glob.Match([]byte(k.glob), key) {
			return true
		}
	}
	return false
}

// allowsChannel reports whether one of globs allows a channel, or a pattern of
// channels, which must be one of them literally.
func allowsChannel(globs []string, channel []byte, pattern bool) bool {
	for _, g := range globs {
		if g == string(channel) || !pattern && glob.Match([]byte(g), channel) {
			return true
		}
	}
	return false
}

// ReadsAllKeys reports whether the user may run a command and read any key by
// it, which SORT's patterns need.
func (u *User) ReadsAllKeys(spec *command.Spec, args [][]byte) bool {
	c := checking{spec: spec, args: args}
	return slices.ContainsFunc(u.selectors, func(s *Selector) bool {
		if denial, _ := s.check(&c); denial != Allowed {
			return false
		}
		return s.allKeys || slices.ContainsFunc(s.keys, func(k keyPattern) bool { return k.glob == "*" && k.read })
	})
}

// AllowsChannel reports whether one of the user's selectors allows to listen to
// a channel or, if pattern is set, to a pattern of channels.
func (u *User) AllowsChannel(channel string, pattern bool) bool {
	return slices.ContainsFunc(u.selectors, func(s *Selector) bool {
		return s.allChannels || allowsChannel(s.channels, []byte(channel), pattern)
	})
}
