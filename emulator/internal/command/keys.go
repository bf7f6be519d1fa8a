package command

import (
	"strconv"
	"strings"
)

// KeyRef is a key among the arguments of a command.
type KeyRef struct {
	Pos   int // index into the arguments, the command's name being 0
	Flags KeyFlags
}

// An extractor appends the keys of one command to refs. Positions where the
// arguments make no sense are left out: the command itself will complain.
type extractor func(refs []KeyRef, args [][]byte) []KeyRef

// prepare derives what key extraction needs from the key specs.
func (s *Spec) prepare() {
	s.extract = extractors[s.Name]
	s.keyFlags, s.hasRealKeys = 0, false
	for _, k := range s.KeySpecs {
		s.keyFlags |= k.Flags
		if k.Flags&KeyNotKey == 0 {
			s.hasRealKeys = true
		}
	}
}

// HasKeys reports whether the command may have keys; channels are none.
func (s *Spec) HasKeys() bool { return s.extract != nil || s.hasRealKeys }

// AppendKeys appends what routes the command by slot: its keys, or its shard
// channels. It does not allocate if refs has room. Flags are not set.
func (s *Spec) AppendKeys(refs []KeyRef, args [][]byte) []KeyRef {
	if s.extract != nil {
		return s.extract(refs, args)
	}
	if s.First == 0 {
		return refs
	}
	last := s.Last
	if last < 0 {
		last += len(args)
	}
	if s.Arity < 0 && s.endsBeyond(last, len(args)) {
		return refs
	}
	for i := s.First; i <= last; i += s.Step {
		refs = append(refs, KeyRef{Pos: i})
	}
	return refs
}

// endsBeyond reports whether the positions First, First+Step … up to last leave
// the arguments.
func (s *Spec) endsBeyond(last, n int) bool {
	if last < s.First {
		return false
	}
	return last-(last-s.First)%s.Step >= n
}

// AppendKeysAndFlags appends the keys of a command and what it does with each,
// as COMMAND GETKEYSANDFLAGS and access control see them.
func (s *Spec) AppendKeysAndFlags(refs []KeyRef, args [][]byte) []KeyRef {
	if s.hasRealKeys && s.keyFlags&KeyVariableFlags == 0 {
		if found, ok := s.appendBySpecs(refs, args); ok {
			return found
		}
	}
	if s.extract != nil {
		return s.extract(refs, args)
	}
	return refs
}

// appendBySpecs follows the key specs; ok is false when one of them cannot
// tell.
func (s *Spec) appendBySpecs(refs []KeyRef, args [][]byte) (found []KeyRef, ok bool) {
	for i := range s.KeySpecs {
		k := &s.KeySpecs[i]
		if k.Flags&KeyNotKey != 0 {
			continue
		}
		first, ok := k.begin(args)
		if !ok {
			return refs, false
		}
		if first == 0 {
			continue // an optional keyword that is not there
		}
		first, last, ok := k.find(first, args)
		if !ok || last >= len(args) || last < first || k.Flags&KeyIncomplete != 0 {
			return refs, false
		}
		for pos := first; pos <= last; pos += k.KeyStep {
			refs = append(refs, KeyRef{Pos: pos, Flags: k.Flags})
		}
	}
	return refs, true
}

// begin is the position keys are searched from, 0 if the keyword before them is
// missing; ok is false if the spec does not say.
func (k *KeySpec) begin(args [][]byte) (first int, ok bool) {
	switch k.Begin {
	case BeginIndex:
		return k.Index, true
	case BeginKeyword:
		i, end, step := k.StartFrom, len(args)-1, 1
		if i < 0 {
			i, end, step = len(args)+i, 1, -1
		}
		for ; (end-i)*step > 0; i += step {
			if strings.EqualFold(string(args[i]), k.Keyword) {
				return i + 1, true
			}
		}
		return 0, true
	}
	return 0, false
}

func (k *KeySpec) find(begin int, args [][]byte) (first, last int, ok bool) {
	switch k.Find {
	case FindRange:
		switch {
		case k.LastKey >= 0:
			return begin, begin + k.LastKey, true
		case k.Limit == 0:
			return begin, len(args) + k.LastKey, true
		}
		return begin, begin + (len(args)-begin)/k.Limit + k.LastKey, true
	case FindKeyNum:
		if begin+k.KeyNumIdx >= len(args) {
			return 0, 0, false
		}
		n, err := strconv.Atoi(string(args[begin+k.KeyNumIdx]))
		if err != nil || n < 0 || n > len(args) {
			return 0, 0, false
		}
		first = begin + k.FirstKey
		return first, first + n - 1, true
	}
	return 0, 0, false
}
