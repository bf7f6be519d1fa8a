package acl

import (
	"math"
	"slices"
	"strings"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
)

// Selector is one set of permissions; a command must be allowed by one selector
// altogether.
type Selector struct {
	table       *command.Table
	allCommands bool
	allKeys     bool
	allChannels bool
	// future is set between +@all and -@all: commands a later Redis adds would
	// be allowed, too. It decides which of the two a description starts with.
	future   bool
	commands bitmap
	// firstArgs are, by Spec.ID, the first arguments with which a forbidden
	// command is allowed.
	firstArgs map[int][]string
	keys      []keyPattern
	channels  []string
	// rules are the command rules in the order they were given, which 7.2 and
	// later print.
	rules []string
}

// keyPattern is a glob and what may be done with the keys it matches.
type keyPattern struct {
	glob        string
	read, write bool
}

// bitmap has a bit per row of the command table.
type bitmap []uint64

func (b bitmap) has(id int) bool { return b[id/64]&(1<<(id%64)) != 0 }

func (b bitmap) set(id int, on bool) {
	if on {
		b[id/64] |= 1 << (id % 64)
	} else {
		b[id/64] &^= 1 << (id % 64)
	}
}

func (b bitmap) fill(word uint64) {
	for i := range b {
		b[i] = word
	}
}

func newSelector(t *command.Table, allChannels bool) *Selector {
	return &Selector{table: t, allChannels: allChannels, commands: make(bitmap, (t.Len()+63)/64)}
}

func (s *Selector) clone() *Selector {
	copied := *s
	copied.commands = slices.Clone(s.commands)
	copied.keys = slices.Clone(s.keys)
	copied.channels = slices.Clone(s.channels)
	copied.rules = slices.Clone(s.rules)
	copied.firstArgs = make(map[int][]string, len(s.firstArgs))
	for id, args := range s.firstArgs {
		copied.firstArgs[id] = slices.Clone(args)
	}
	return &copied
}

func (s *Selector) allowAllCommands() {
	s.commands.fill(math.MaxUint64)
	s.allCommands, s.future = true, true
	s.firstArgs, s.rules = nil, nil
}

func (s *Selector) denyAllCommands() {
	s.commands.fill(0)
	s.allCommands, s.future = false, false
	s.firstArgs, s.rules = nil, nil
}

// permit allows or forbids a command with all its subcommands.
func (s *Selector) permit(spec *command.Spec, allow bool) {
	s.setBit(spec, allow)
	delete(s.firstArgs, spec.ID)
	for _, sub := range spec.Subcommands {
		s.setBit(sub, allow)
	}
}

func (s *Selector) setBit(spec *command.Spec, allow bool) {
	s.commands.set(spec.ID, allow)
	if !allow {
		s.allCommands = false
	}
}

func (s *Selector) permitCategory(category command.Categories, allow bool) {
	for _, spec := range s.table.All() {
		if spec.Categories&category != 0 {
			s.permit(spec, allow)
		}
	}
}

// Keys are the key patterns as ACL GETUSER prints them.
func (s *Selector) Keys() string {
	if s.allKeys {
		return "~*"
	}
	words := make([]string, len(s.keys))
	for i, k := range s.keys {
		switch {
		case k.read == k.write:
			words[i] = "~" + k.glob
		case k.read:
			words[i] = "%R~" + k.glob
		default:
			words[i] = "%W~" + k.glob
		}
	}
	return strings.Join(words, " ")
}

// Channels are the channel patterns as ACL GETUSER prints them.
func (s *Selector) Channels() string {
	if s.allChannels {
		return "&*"
	}
	words := make([]string, len(s.channels))
	for i, glob := range s.channels {
		words[i] = "&" + glob
	}
	return strings.Join(words, " ")
}

// describe is the selector as ACL LIST prints it.
func (s *Selector) describe() string {
	var words []string
	if keys := s.Keys(); keys != "" {
		words = append(words, keys)
	}
	switch {
	case s.allChannels:
		words = append(words, "&*")
	case len(s.channels) > 0:
		words = append(words, "resetchannels", s.Channels())
	default:
		words = append(words, "resetchannels")
	}
	return strings.Join(append(words, s.Commands()), " ")
}

// Commands are the command rules that lead to this selector.
func (s *Selector) Commands() string {
	rules := []string{"-@all"}
	if s.future {
		rules[0] = "+@all"
	}
	if s.table.Version.AtLeast(7, 2) {
		return strings.Join(append(rules, s.rules...), " ")
	}
	fake := newSelector(s.table, false)
	if s.future {
		fake.allowAllCommands()
	}
	rules = append(rules, s.categoryRules(fake)...)
	return strings.Join(append(rules, s.singleRules(fake)...), " ")
}

// categoryRules finds categories that, added to nothing (or taken from
// everything), come near to the selector: again and again the one with the
// fewest commands too many. They are applied to fake.
func (s *Selector) categoryRules(fake *Selector) []string {
	add := !s.future
	left := s.clone()
	var rules []string
	names := command.CategoryNames()
	applied := make([]bool, len(names))
	for {
		best, leastWrong, mostRight := -1, math.MaxInt, 0
		for i, name := range names {
			if applied[i] {
				continue
			}
			right, wrong := left.countCategory(name)
			if !add {
				right, wrong = wrong, right
			}
			if right > wrong && (wrong < leastWrong || wrong == leastWrong && right > mostRight) {
				best, leastWrong, mostRight = i, wrong, right
			}
		}
		if best < 0 {
			return rules
		}
		category, _ := command.Category(names[best])
		fake.permitCategory(category, add)
		left.permitCategory(category, !add)
		rules = append(rules, sign(add)+"@"+names[best])
		applied[best] = true
	}
}

// countCategory counts the commands of a category that are allowed and that are
// not.
func (s *Selector) countCategory(name string) (on, off int) {
	category, _ := command.Category(name)
	for _, spec := range s.table.Rows() {
		switch {
		case spec.Categories&category == 0:
		case s.commands.has(spec.ID):
			on++
		default:
			off++
		}
	}
	return on, off
}

// singleRules are the commands in which fake still differs from s.
func (s *Selector) singleRules(fake *Selector) []string {
	var rules []string
	for _, spec := range s.table.All() {
		allowed := s.commands.has(spec.ID)
		if allowed != fake.commands.has(spec.ID) {
			rules = append(rules, sign(allowed)+spec.Name)
			fake.permit(spec, allowed)
		}
		if !allowed {
			for _, arg := range s.firstArgs[spec.ID] {
				rules = append(rules, "+"+spec.Name+"|"+arg)
			}
		}
	}
	return rules
}

func sign(plus bool) string {
	if plus {
		return "+"
	}
	return "-"
}
