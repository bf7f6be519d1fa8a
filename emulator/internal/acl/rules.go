package acl

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/resp"
)

// What can be wrong with a rule, as Redis words it.
var (
	errUnknown       = errors.New("Unknown command or category name in ACL")
	errSyntax        = errors.New("Syntax error")
	errAfterAllKeys  = errors.New("Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have any effect. Try 'resetkeys' to start with an empty list of patterns")
	errAfterAllChans = errors.New("Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and does not have any effect. Try 'resetchannels' to start with an empty list of channels")
	errNoPassword    = errors.New("The password you are trying to remove from the user does not exist")
	errHash          = errors.New("The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters")
	errFirstArg      = errors.New("Allowing first-arg of a subcommand is not supported")
)

// Set creates or changes a user by the rules of ACL SETUSER: all of them or, in
// case of an error, none. The error's text is the reply's. before is a copy of
// the user as it was, nil if it is new.
func (us *Users) Set(name string, rules [][]byte) (u, before *User, err error) {
	if hasSpaces(name) {
		return nil, nil, errors.New("ERR Usernames can't contain spaces or null characters")
	}
	merged, err := us.mergeSelectors(rules)
	if err != nil {
		return nil, nil, err
	}
	staged := newUser(name, us.table, us.AllChannels)
	if before = us.byName[name]; before != nil {
		staged = before.clone()
	}
	for _, rule := range merged {
		if err := staged.apply(rule, us.AllChannels); err != nil {
			shown, _, _ := strings.Cut(rule, "\x00") // it is a string of C
			return nil, nil, fmt.Errorf("ERR Error in ACL SETUSER modifier '%s': %w", shown, err)
		}
	}
	staged.settle()
	if before == nil {
		us.byName[name] = staged
		return staged, nil, nil
	}
	u = before
	before = u.clone()
	*u = *staged
	return u, before, nil
}

// mergeSelectors joins the words of each selector in parentheses, which clients
// send as several arguments.
func (us *Users) mergeSelectors(rules [][]byte) ([]string, error) {
	var merged []string
	open := -1
	for i, r := range rules {
		rule := string(r)
		starts := us.version().AtLeast(7, 0) && strings.HasPrefix(rule, "(")
		ends := strings.HasSuffix(rule, ")")
		// 7.0 forgets a selector when another opens within.
		again := open >= 0 && !us.version().AtLeast(7, 2)
		switch {
		case again && starts && !ends:
			open = i
			merged[len(merged)-1] = rule
		case open < 0 && starts && !ends:
			open = i
			merged = append(merged, rule)
		case open >= 0:
			merged[len(merged)-1] += " " + rule
			if ends {
				open = -1
			}
		default:
			merged = append(merged, rule)
		}
	}
	if open >= 0 {
		shown, _, _ := strings.Cut(string(rules[open]), "\x00")
		return nil, fmt.Errorf("ERR Unmatched parenthesis in acl selector starting at '%s'.", shown)
	}
	return merged, nil
}

// apply changes the user by one rule.
func (u *User) apply(rule string, allChannels bool) error {
	if rule == "" {
		return nil
	}
	switch strings.ToLower(rule) {
	case "on":
		u.Enabled = true
	case "off":
		u.Enabled = false
	case "nopass":
		u.NoPass, u.passwords = true, nil
	case "resetpass":
		u.NoPass, u.passwords = false, nil
	case "skip-sanitize-payload":
		u.sanitize = sanitizeSkip
	case "sanitize-payload":
		u.sanitize = sanitizeYes
	case "clearselectors":
		u.selectors = u.selectors[:1]
	case "reset":
		u.reset(allChannels)
	default:
		return u.applySigned(rule, allChannels)
	}
	return nil
}

func (u *User) reset(allChannels bool) {
	u.Enabled, u.NoPass, u.passwords, u.sanitize = false, false, nil, sanitizeYes
	u.selectors = []*Selector{newSelector(u.table, allChannels)}
}

// applySigned changes the user by a rule that says by its first letter what it
// is about.
func (u *User) applySigned(rule string, allChannels bool) error {
	switch rule[0] {
	case '>', '#':
		return u.addPassword(rule)
	case '<', '!':
		return u.removePassword(rule)
	case '(':
		if !strings.HasSuffix(rule, ")") || !u.table.Version.AtLeast(7, 0) {
			break
		}
		s := newSelector(u.table, allChannels)
		words, _ := resp.Words([]byte(rule[1 : len(rule)-1]))
		for _, word := range words {
			if err := s.apply(string(word)); err != nil {
				return err
			}
		}
		u.selectors = append(u.selectors, s)
		return nil
	}
	return u.selectors[0].apply(rule)
}

func (u *User) addPassword(rule string) error {
	hash := rule[1:]
	if rule[0] == '>' {
		hash = hashPassword([]byte(hash))
	} else if !isHash(hash) {
		return errHash
	}
	if !slices.Contains(u.passwords, hash) {
		u.passwords = append(u.passwords, hash)
	}
	u.NoPass = false
	return nil
}

func (u *User) removePassword(rule string) error {
	hash := rule[1:]
	if rule[0] == '<' {
		hash = hashPassword([]byte(hash))
	} else if !isHash(hash) {
		return errHash
	}
	i := slices.Index(u.passwords, hash)
	if i < 0 {
		return errNoPassword
	}
	u.passwords = slices.Delete(u.passwords, i, i+1)
	return nil
}

func isHash(s string) bool {
	return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == ""
}

// hasSpaces reports whether s has bytes that would break a line of ACL LIST
// apart.
func hasSpaces(s string) bool { return strings.ContainsAny(s, " \t\n\v\f\r\x00") }

// apply changes the selector by one rule.
func (s *Selector) apply(rule string) error {
	switch strings.ToLower(rule) {
	case "allkeys", "~*":
		s.allKeys, s.keys = true, nil
	case "resetkeys":
		s.allKeys, s.keys = false, nil
	case "allchannels", "&*":
		s.allChannels, s.channels = true, nil
	case "resetchannels":
		s.allChannels, s.channels = false, nil
	case "allcommands", "+@all":
		s.allowAllCommands()
	case "nocommands", "-@all":
		s.denyAllCommands()
	case "":
		return errSyntax
	default:
		return s.applySigned(rule)
	}
	return nil
}

func (s *Selector) applySigned(rule string) error {
	switch {
	case rule[0] == '~', rule[0] == '%' && s.table.Version.AtLeast(7, 0):
		return s.addKeys(rule)
	case rule[0] == '&':
		return s.addChannels(rule[1:])
	case (rule[0] == '+' || rule[0] == '-') && strings.HasPrefix(rule[1:], "@"):
		category, ok := command.Category(rule[2:])
		if !ok {
			return errUnknown
		}
		s.permitCategory(category, rule[0] == '+')
		s.record(rule)
		return nil
	case rule[0] == '+':
		return s.allow(rule)
	case rule[0] == '-':
		spec := s.table.LookupAny(rule[1:])
		if spec == nil {
			return errUnknown
		}
		s.permit(spec, false)
		s.record(rule)
		return nil
	}
	return errSyntax
}

// addKeys adds a key pattern: "~glob", or "%" with what may be done first.
func (s *Selector) addKeys(rule string) error {
	if s.allKeys {
		return errAfterAllKeys
	}
	k := keyPattern{glob: rule[1:], read: true, write: true}
	if rule[0] == '%' {
		letters, glob, _ := strings.Cut(rule[1:], "~")
		k = keyPattern{glob: glob}
		for _, letter := range strings.ToUpper(letters) {
			switch {
			case letter == 'R' && !k.read:
				k.read = true
			case letter == 'W' && !k.write:
				k.write = true
			default:
				return errSyntax
			}
		}
		if !k.read && !k.write {
			return errSyntax
		}
	}
	if hasSpaces(k.glob) {
		return errSyntax
	}
	if i := slices.IndexFunc(s.keys, func(old keyPattern) bool { return old.glob == k.glob }); i >= 0 {
		s.keys[i].read = s.keys[i].read || k.read
		s.keys[i].write = s.keys[i].write || k.write
	} else {
		s.keys = append(s.keys, k)
	}
	return nil
}

func (s *Selector) addChannels(glob string) error {
	switch {
	case s.allChannels:
		return errAfterAllChans
	case hasSpaces(glob):
		return errSyntax
	case !slices.Contains(s.channels, glob):
		s.channels = append(s.channels, glob)
	}
	return nil
}

// allow adds a command, a subcommand, or a command with one first argument.
func (s *Selector) allow(rule string) error {
	name := rule[1:]
	at := strings.LastIndexByte(name, '|')
	if at < 0 {
		spec := s.table.LookupAny(name)
		if spec == nil {
			return errUnknown
		}
		s.permit(spec, true)
		s.record(rule)
		return nil
	}
	container, word := s.table.LookupName(name[:at]), name[at+1:]
	switch {
	case container == nil:
		return errUnknown
	case container.Parent != nil:
		return errFirstArg
	case word == "":
		return errSyntax
	case container.Subcommands == nil:
		s.allowFirstArg(container, word)
	default:
		spec := s.table.LookupName(name)
		if spec == nil {
			return errUnknown
		}
		s.permit(spec, true)
	}
	s.record(rule)
	return nil
}

func (s *Selector) allowFirstArg(spec *command.Spec, word string) {
	if s.firstArgs == nil {
		s.firstArgs = map[int][]string{}
	}
	if !slices.ContainsFunc(s.firstArgs[spec.ID], func(w string) bool { return strings.EqualFold(w, word) }) {
		s.firstArgs[spec.ID] = append(s.firstArgs[spec.ID], word)
	}
}

// record keeps a command rule in place of those about the same command or its
// subcommands.
func (s *Selector) record(rule string) {
	rule = strings.ToLower(rule)
	s.rules = slices.DeleteFunc(s.rules, func(old string) bool {
		return old[1:] == rule[1:] || strings.HasPrefix(old[1:], rule[1:]+"|")
	})
	s.rules = append(s.rules, rule)
}
