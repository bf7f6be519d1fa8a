package keyspace

import (
	"bytes"
	"math"
	"slices"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace/listpack"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
	"github.com/fakecluster/fakecluster/emulator/internal/rdb"
)

// Load makes a value from what Dump, or a Redis of this version or an older one,
// wrote. It fails with rdb.ErrEnvelope or rdb.ErrFormat. Everything is checked:
// where Redis by default trusts the insides of a payload, this refuses what would
// make it crash later.
func Load(payload []byte, limits *Limits) (Value, error) {
	body, err := rdb.Unseal(payload, rdb.FormatVersion(limits.Version))
	if err != nil {
		return nil, err
	}
	l := loader{rdb.NewReader(body), limits}
	v := l.value(l.Byte())
	if l.Err() != nil || v == nil {
		return nil, rdb.ErrFormat
	}
	return v, nil
}

// loader builds a value of what it reads. Its methods return nil, or leave an
// error in the reader, for what makes no sense.
type loader struct {
	*rdb.Reader
	limits *Limits
}

func (l loader) value(kind byte) Value {
	switch kind {
	case rdb.TypeString:
		return NewString(l.String())
	case rdb.TypeList, rdb.TypeListZiplist, rdb.TypeListQuicklist, rdb.TypeListQuicklist2:
		return orNil(l.list(kind))
	case rdb.TypeSet, rdb.TypeSetIntset, rdb.TypeSetListpack:
		return orNil(l.set(kind))
	case rdb.TypeZSet, rdb.TypeZSet2, rdb.TypeZSetZiplist, rdb.TypeZSetListpack:
		return orNil(l.zset(kind))
	case rdb.TypeHash, rdb.TypeHashZipmap, rdb.TypeHashZiplist, rdb.TypeHashListpack:
		return orNil(l.hash(kind))
	case rdb.TypeHashMetadata, rdb.TypeHashListpackEx:
		return orNil(l.timedHash(kind))
	case rdb.TypeStreamListpacks, rdb.TypeStreamListpacks2, rdb.TypeStreamListpacks3:
		return orNil(l.stream(kind))
	}
	return nil
}

// orNil keeps a nil pointer from becoming a Value that is not nil.
func orNil[T any, P interface {
	*T
	Value
}](p P) Value {
	if p == nil {
		return nil
	}
	return p
}

// pack reads a listpack that is not empty, or nil.
func (l loader) pack() *listpack.Pack {
	data := l.String()
	if l.Err() != nil || listpack.Validate(data) != nil {
		return nil
	}
	if pack := listpack.FromBytes(bytes.Clone(data)); pack.First() != listpack.None {
		return pack
	}
	return nil
}

// ziplist reads a ziplist that is not empty, or nil.
func (l loader) ziplist() [][]byte {
	elements, err := rdb.Ziplist(l.String())
	if l.Err() != nil || err != nil {
		return nil
	}
	return elements
}

func (l loader) list(kind byte) *List {
	list := &List{limits: l.limits}
	list.becomeQuick(l.limits.ListMaxListpackSize, l.limits.ListCompressDepth)
	switch kind {
	case rdb.TypeList:
		for range l.Count() {
			list.Push(Tail, l.String())
		}
	case rdb.TypeListZiplist:
		for _, e := range l.ziplist() {
			list.Push(Tail, e)
		}
	default:
		for range l.Count() {
			if pack := l.listNode(kind); pack != nil {
				list.link(list.tail, &listNode{pack: pack})
				list.length += pack.Len()
			}
		}
	}
	if list.length == 0 || l.Err() != nil {
		return nil
	}
	list.Fit()
	return list
}

// listNode reads one node of a quicklist. Empty ones are left out.
func (l loader) listNode(kind byte) *listpack.Pack {
	pack := listpack.New()
	if kind == rdb.TypeListQuicklist {
		elements, err := rdb.Ziplist(l.String())
		if err != nil {
			l.Fail()
		}
		for _, e := range elements {
			pack.Append(e)
		}
		if len(elements) == 0 {
			return nil
		}
		return pack
	}
	switch l.Len() {
	case nodePlain:
		pack.Append(l.String())
		return pack
	case nodePacked:
		data := l.String()
		if listpack.Validate(data) != nil {
			l.Fail()
			return nil
		}
		pack = listpack.FromBytes(bytes.Clone(data))
		if pack.First() == listpack.None {
			return nil
		}
		return pack
	}
	l.Fail()
	return nil
}

func (l loader) set(kind byte) *Set {
	set := NewSet(l.limits)
	switch kind {
	case rdb.TypeSetIntset:
		data := l.String()
		if l.Err() != nil || validateIntset(data) != nil {
			return nil
		}
		set.ints = &intset{bytes.Clone(data)}
		if set.ints.len() > l.limits.SetMaxIntsetEntries {
			set.toDict()
		}
		return set
	case rdb.TypeSetListpack:
		pack := l.pack()
		if pack == nil || !l.limits.setListpacks() || !distinct(pack, 1) {
			return nil
		}
		set.ints, set.pack = nil, pack
		if pack.Len() > l.limits.SetMaxListpackEntries {
			set.toDict()
		}
		return set
	}
	n := l.Count()
	if n > l.limits.SetMaxIntsetEntries {
		set.toDict()
	}
	for range n {
		if !set.Add(l.String()) {
			return nil
		}
	}
	return set
}

// distinct tells whether every step-th element of a listpack, whose length is a
// multiple of step, occurs once.
func distinct(pack *listpack.Pack, step int) bool {
	seen := make(map[string]struct{})
	n := 0
	for _, e := range pack.All() {
		if n%step == 0 {
			seen[e.String()] = struct{}{}
		}
		n++
	}
	return n%step == 0 && len(seen) == n/step
}

func (l loader) zset(kind byte) *ZSet {
	switch kind {
	case rdb.TypeZSetListpack:
		pack := l.pack()
		if pack == nil || !distinct(pack, 2) {
			return nil
		}
		z := &ZSet{limits: l.limits, pack: pack}
		if !z.packSorted() {
			return nil
		}
		if z.Len() > l.limits.ZSetMaxListpackEntries {
			z.toSkiplist()
		}
		return z
	case rdb.TypeZSetZiplist:
		elements := l.ziplist()
		if len(elements)%2 != 0 || len(elements) == 0 {
			return nil
		}
		z := NewZSet(l.limits)
		for pair := range slices.Chunk(elements, 2) {
			score, ok := number.ParseFloat(pair[1])
			if !ok || !z.addNew(pair[0], score) {
				return nil
			}
		}
		return z
	}
	z := NewLargeZSet(l.limits)
	for range l.Count() {
		member := l.String()
		score := 0.0
		if kind == rdb.TypeZSet2 {
			score = l.Double()
		} else {
			score = l.TextDouble()
		}
		if math.IsNaN(score) || !z.addNew(member, score) {
			return nil
		}
	}
	z.Compact()
	return z
}

// packSorted tells whether a listpack of members and scores holds numbers for
// scores and is in order.
func (z *ZSet) packSorted() bool {
	var lastMember []byte
	lastScore := math.Inf(-1)
	for at := z.pack.First(); at != listpack.None; at = z.packNext(at) {
		entry := z.pack.Get(z.pack.Next(at))
		if _, ok := entry.Int(); !ok {
			if _, ok := number.ParseFloat(entry.Bytes()); !ok {
				return false
			}
		}
		member, score := z.pack.Get(at).Bytes(), z.packScore(at)
		if score < lastScore || score == lastScore && bytes.Compare(member, lastMember) < 0 {
			return false
		}
		lastMember, lastScore = member, score
	}
	return true
}

// addNew adds a member, which must not be there.
func (z *ZSet) addNew(member []byte, score float64) bool {
	if _, there := z.Score(member); there {
		return false
	}
	z.Add(member, score, AddOptions{})
	return true
}

func (l loader) hash(kind byte) *Hash {
	h := NewHash(l.limits)
	switch kind {
	case rdb.TypeHashListpack:
		pack := l.pack()
		if pack == nil || !distinct(pack, 2) {
			return nil
		}
		h.pack = pack
		if h.Len() > l.limits.HashMaxListpackEntries {
			h.toDict()
		}
		return h
	case rdb.TypeHashZiplist, rdb.TypeHashZipmap:
		parse := rdb.Ziplist
		if kind == rdb.TypeHashZipmap {
			parse = rdb.Zipmap
		}
		elements, err := parse(l.String())
		if l.Err() != nil || err != nil || len(elements) == 0 || len(elements)%2 != 0 {
			return nil
		}
		for pair := range slices.Chunk(elements, 2) {
			if !h.Set(pair[0], pair[1]) {
				return nil
			}
		}
		return h
	}
	n := l.Count()
	if n > l.limits.HashMaxListpackEntries {
		h.toDict()
	}
	for range n {
		if !h.Set(l.String(), l.String()) {
			return nil
		}
	}
	return h
}
