package keyspace

import (
	"iter"
	"math/rand/v2"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace/listpack"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
)

// Set is the value of SADD and its kin. Integers only make an intset, which is
// sorted; from 7.2 on a small set of anything is a listpack, in the order of
// arrival; all else is a hash table.
type Set struct {
	limits *Limits
	// One of ints and pack holds the members, or dict if both are nil.
	ints *intset
	pack *listpack.Pack
	dict Dict[struct{}]
}

// NewSet returns an empty set that is an intset for as long as it can.
func NewSet(limits *Limits) *Set { return &Set{limits: limits, ints: newIntset()} }

// NewSetFor returns an empty set encoded for about size members of which first
// is one.
func NewSetFor(limits *Limits, first []byte, size int) *Set {
	_, isInt := number.ParseInt(first)
	switch {
	case isInt && (!limits.setListpacks() || size <= limits.SetMaxIntsetEntries):
		return NewSet(limits)
	case limits.setListpacks() && size <= limits.SetMaxListpackEntries:
		return &Set{limits: limits, pack: listpack.New()}
	}
	return &Set{limits: limits}
}

// NewResultSet returns an empty set encoded for the intersection of s with
// other sets.
func (s *Set) NewResultSet() *Set {
	if s.ints != nil || !s.limits.setListpacks() {
		return NewSet(s.limits)
	}
	return &Set{limits: s.limits, pack: listpack.New()}
}

// setListpacks tells whether sets can be listpacks.
func (l *Limits) setListpacks() bool { return l.Version.AtLeast(7, 2) }

// Kind is KindSet.
func (s *Set) Kind() Kind { return KindSet }

// Encoding is intset, listpack or hashtable.
func (s *Set) Encoding() string {
	switch {
	case s.ints != nil:
		return "intset"
	case s.pack != nil:
		return "listpack"
	}
	return "hashtable"
}

// Clone returns a deep copy.
func (s *Set) Clone() Value {
	c := &Set{limits: s.limits}
	switch {
	case s.ints != nil:
		c.ints = s.ints.clone()
	case s.pack != nil:
		c.pack = s.pack.Clone()
	default:
		for n := range s.dict.All() {
			c.dict.Add(n.key, struct{}{})
		}
	}
	return c
}

// Memory is the approximate size in bytes.
func (s *Set) Memory() int64 {
	const perSet, perTable, perBucket, perMember = 24, 64, 8, 32
	switch {
	case s.ints != nil:
		return perSet + int64(len(s.ints.data))
	case s.pack != nil:
		return perSet + int64(s.pack.Size())
	}
	size := int64(perTable + perBucket*s.dict.Buckets())
	for n := range s.dict.All() {
		size += perMember + int64(len(n.key))
	}
	return size
}

// Len is the number of members.
func (s *Set) Len() int {
	switch {
	case s.ints != nil:
		return s.ints.len()
	case s.pack != nil:
		return s.pack.Len()
	}
	return s.dict.Len()
}

// Has reports whether member is in the set.
func (s *Set) Has(member []byte) bool {
	switch {
	case s.ints != nil:
		n, ok := number.ParseInt(member)
		return ok && s.ints.has(n)
	case s.pack != nil:
		return s.pack.Find(s.pack.First(), member, 0) != listpack.None
	}
	return s.dict.Find(member) != nil
}

// Add reports whether member was not in the set before.
func (s *Set) Add(member []byte) bool {
	switch {
	case s.ints != nil:
		if n, ok := number.ParseInt(member); ok {
			return s.addInt(n)
		}
		if s.packTakes(member) && s.intsFitPack() {
			s.toPack()
			s.pack.Append(member)
			return true
		}
		s.toDict()
	case s.pack != nil:
		if s.pack.Find(s.pack.First(), member, 0) != listpack.None {
			return false
		}
		if s.packTakes(member) && s.pack.Fits(len(member)) {
			s.pack.Append(member)
			return true
		}
		s.toDict()
	default:
		if s.dict.Find(member) != nil {
			return false
		}
	}
	s.dict.Add(string(member), struct{}{})
	return true
}

func (s *Set) addInt(n int64) bool {
	if !s.ints.add(n) {
		return false
	}
	if s.ints.len() > s.limits.SetMaxIntsetEntries {
		s.toDict()
	}
	return true
}

func (s *Set) packTakes(member []byte) bool {
	return s.limits.setListpacks() && s.Len() < s.limits.SetMaxListpackEntries &&
		len(member) <= s.limits.SetMaxListpackValue
}

// intsFitPack tells whether no integer of an intset is too long for a listpack.
func (s *Set) intsFitPack() bool {
	var buf [20]byte
	for _, i := range [2]int{0, s.ints.len() - 1} {
		if i >= 0 && i < s.ints.len() && len(number.AppendInt(buf[:0], s.ints.at(i))) > s.limits.SetMaxListpackValue {
			return false
		}
	}
	return true
}

// Expect prepares the set for more members that are about to be added.
func (s *Set) Expect(more int) {
	if s.limits.setListpacks() && (s.ints != nil && more > s.limits.SetMaxIntsetEntries ||
		s.pack != nil && more > s.limits.SetMaxListpackEntries) {
		s.toDict()
	}
}

// Fit makes an intset of a listpack that holds integers only, which Redis does
// with the result of an intersection.
func (s *Set) Fit() {
	if s.pack == nil || s.Len() > s.limits.SetMaxIntsetEntries {
		return
	}
	ints := newIntset()
	for _, e := range s.pack.All() {
		n, ok := e.Int()
		if !ok {
			return
		}
		ints.add(n)
	}
	s.ints, s.pack = ints, nil
}

func (s *Set) toPack() {
	pack := listpack.New()
	for i := range s.ints.len() {
		pack.AppendInt(s.ints.at(i))
	}
	s.ints, s.pack = nil, pack
}

func (s *Set) toDict() {
	for member := range s.All() {
		s.dict.Add(string(member), struct{}{})
	}
	s.ints, s.pack = nil, nil
}

// Remove reports whether member was in the set.
func (s *Set) Remove(member []byte) bool {
	switch {
	case s.ints != nil:
		n, ok := number.ParseInt(member)
		return ok && s.ints.remove(n)
	case s.pack != nil:
		at := s.pack.Find(s.pack.First(), member, 0)
		if at != listpack.None {
			s.pack.Delete(at)
		}
		return at != listpack.None
	}
	return s.dict.Delete(string(member)) != nil
}

// All yields every member: in ascending order from an intset, in order of
// arrival from a listpack. A member is valid until the next one and must not be
// changed; nor must the set during the walk.
func (s *Set) All() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		switch {
		case s.ints != nil:
			var buf [20]byte
			for i := range s.ints.len() {
				if !yield(number.AppendInt(buf[:0], s.ints.at(i))) {
					return
				}
			}
		case s.pack != nil:
			for _, e := range s.pack.All() {
				if !yield(e.Bytes()) {
					return
				}
			}
		default:
			for n := range s.dict.All() {
				if !yield(bytesOf(n.key)) {
					return
				}
			}
		}
	}
}

// Random returns a copy of a member picked by rng; the set must not be empty.
func (s *Set) Random(rng *rand.Rand) []byte {
	switch {
	case s.ints != nil:
		return number.AppendInt(nil, s.ints.at(rng.IntN(s.ints.len())))
	case s.pack != nil:
		return s.pack.Get(s.pack.At(rng.IntN(s.pack.Len()))).AppendTo([]byte{})
	}
	return []byte(s.dict.Random(rng).key)
}

// Scan visits the members at cursor and returns the next cursor, as Dict.Scan
// does; the compact encodings are visited at once. member is valid during the
// visit only.
func (s *Set) Scan(cursor uint64, visit func(member []byte)) uint64 {
	if s.ints == nil && s.pack == nil {
		return s.dict.Scan(cursor, func(n *Node[struct{}]) { visit(bytesOf(n.key)) })
	}
	for member := range s.All() {
		visit(member)
	}
	return 0
}
