package keyspace

import (
	"bytes"
	"iter"
	"math/rand/v2"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace/listpack"
)

// Hash is the value of HSET and its kin. A small hash is a listpack of fields
// and values in the order of arrival, a large one a hash table.
//
// From 7.4 on fields can expire. A listpack then holds a time behind every
// value and is ordered by it, those without a time last.
type Hash struct {
	limits *Limits
	pack   *listpack.Pack // nil once it is a hash table
	timed  bool           // the listpack holds times
	dict   Dict[hashValue]
	// expiries are the fields of the hash table that expire.
	expiries fieldHeap
	// scheduled is when active expiry looks at the hash, 0 for never.
	scheduled int64
	// now hides fields that expired before it, as long as nobody removes them.
	now int64
}

// hashValue is what a hash table holds of a field.
type hashValue struct {
	value     []byte
	expireAt  int64 // Unix ms; 0 when the field does not expire
	heapIndex int32 // among the expiries, plus one
}

// NewHash returns an empty hash.
func NewHash(limits *Limits) *Hash {
	return &Hash{limits: limits, pack: listpack.New()}
}

// Kind is KindHash.
func (h *Hash) Kind() Kind { return KindHash }

// Encoding is listpack, listpackex with times, or hashtable; the listpack's
// predecessor ziplist before 7.0.
func (h *Hash) Encoding() string {
	switch {
	case h.pack == nil:
		return "hashtable"
	case h.timed:
		return "listpackex"
	case h.limits.Version.AtLeast(7, 0):
		return "listpack"
	}
	return "ziplist"
}

// Clone returns a deep copy.
func (h *Hash) Clone() Value {
	c := &Hash{limits: h.limits, timed: h.timed}
	if h.pack != nil {
		c.pack = h.pack.Clone()
		return c
	}
	for n := range h.dict.All() {
		added := c.dict.Add(n.key, hashValue{value: bytes.Clone(n.Value.value)})
		c.expiries.set(added, n.Value.expireAt)
	}
	return c
}

// Memory is the approximate size in bytes.
func (h *Hash) Memory() int64 {
	const perHash, perTable, perBucket, perField = 24, 64, 8, 40
	if h.pack != nil {
		return perHash + int64(h.pack.Size())
	}
	size := int64(perTable + perBucket*h.dict.Buckets())
	for n := range h.dict.All() {
		size += perField + int64(len(n.key)+cap(n.Value.value))
	}
	return size
}

// Len is the number of fields.
func (h *Hash) Len() int {
	if h.now == 0 || !h.hides(h.nextExpiry()) {
		return h.stored()
	}
	n := 0
	for range h.All() {
		n++
	}
	return n
}

// stored is the number of fields, hidden ones included.
func (h *Hash) stored() int {
	if h.pack != nil {
		return h.pack.Len() / h.stride()
	}
	return h.dict.Len()
}

// stride is the number of elements a field takes in the listpack.
func (h *Hash) stride() int {
	if h.timed {
		return 3
	}
	return 2
}

// find returns the position of field in the listpack.
func (h *Hash) find(field []byte) listpack.Pos {
	return h.pack.Find(h.pack.First(), field, h.stride()-1)
}

// packed is a field of a listpack.
type packed struct {
	at, value, time listpack.Pos
	expireAt        int64
}

// packed returns the field at at.
func (h *Hash) packed(at listpack.Pos) packed {
	p := packed{at: at, value: h.pack.Next(at)}
	if h.timed {
		p.time = h.pack.Next(p.value)
		p.expireAt, _ = h.pack.Get(p.time).Int()
	}
	return p
}

// next is the position of the field behind p.
func (h *Hash) next(p packed) listpack.Pos {
	if h.timed {
		return h.pack.Next(p.time)
	}
	return h.pack.Next(p.value)
}

// Get returns the value of field, valid until the hash changes; it must not be
// written to.
func (h *Hash) Get(field []byte) (value []byte, ok bool) {
	if h.pack == nil {
		n := h.dict.Find(field)
		if n == nil || h.hides(n.Value.expireAt) {
			return nil, false
		}
		return n.Value.value, true
	}
	at := h.find(field)
	if at == listpack.None {
		return nil, false
	}
	p := h.packed(at)
	if h.hides(p.expireAt) {
		return nil, false
	}
	return h.pack.Get(p.value).Bytes(), true
}

// Has reports whether there is a field.
func (h *Hash) Has(field []byte) bool {
	_, ok := h.ExpireAt(field)
	return ok
}

// Set gives field a value and reports whether the field is new. An old one
// stops expiring.
func (h *Hash) Set(field, value []byte) (created bool) {
	created = h.Update(field, value)
	if !created && h.nextExpiry() != 0 {
		h.SetExpireAt(field, 0)
	}
	return created
}

// Update is Set that leaves alone when the field expires.
func (h *Hash) Update(field, value []byte) (created bool) {
	if h.pack != nil && (len(field) > h.limits.HashMaxListpackValue || len(value) > h.limits.HashMaxListpackValue) {
		h.toDict()
	}
	if h.pack == nil {
		if n := h.dict.Find(field); n != nil {
			n.Value.value = append(n.Value.value[:0:0], value...)
			return false
		}
		h.dict.Add(string(field), hashValue{value: bytes.Clone(value)})
		return true
	}
	if at := h.find(field); at != listpack.None {
		h.pack.Replace(h.pack.Next(at), value)
		return false
	}
	h.pack.Append(field)
	h.pack.Append(value)
	if h.timed {
		h.pack.AppendInt(0)
	}
	if h.stored() > h.limits.HashMaxListpackEntries {
		h.toDict()
	}
	return true
}

// Expect prepares the hash for fields and values that are about to be set: it
// becomes a hash table if they are too long, or surely too many.
func (h *Hash) Expect(fieldsAndValues [][]byte) {
	if h.pack == nil {
		return
	}
	if h.limits.Version.AtLeast(7, 2) && len(fieldsAndValues)/2 > h.limits.HashMaxListpackEntries {
		h.toDict()
		return
	}
	sum := 0
	for _, arg := range fieldsAndValues {
		if len(arg) > h.limits.HashMaxListpackValue {
			h.toDict()
			return
		}
		sum += len(arg)
	}
	if !h.pack.Fits(sum) {
		h.toDict()
	}
}

func (h *Hash) toDict() {
	for at := h.pack.First(); at != listpack.None; {
		p := h.packed(at)
		n := h.dict.Add(h.pack.Get(at).String(), hashValue{value: h.pack.Get(p.value).AppendTo([]byte{})})
		h.expiries.set(n, p.expireAt)
		at = h.next(p)
	}
	h.pack, h.timed = nil, false
}

// Delete removes field and reports whether it was there.
func (h *Hash) Delete(field []byte) bool {
	if h.pack == nil {
		n := h.dict.Delete(string(field))
		if n == nil {
			return false
		}
		h.expiries.set(n, 0)
		return true
	}
	at := h.find(field)
	if at == listpack.None {
		return false
	}
	h.pack.DeleteRange(at, h.stride())
	return true
}

// All yields every field and its value, those of a listpack in its order. Both
// are valid until the next ones and must not be changed; nor must the hash
// during the walk.
func (h *Hash) All() iter.Seq2[[]byte, []byte] {
	return func(yield func(field, value []byte) bool) {
		if h.pack == nil {
			for n := range h.dict.All() {
				if !h.hides(n.Value.expireAt) && !yield(bytesOf(n.key), n.Value.value) {
					return
				}
			}
			return
		}
		for at := h.pack.First(); at != listpack.None; {
			p := h.packed(at)
			if !h.hides(p.expireAt) && !yield(h.pack.Get(at).Bytes(), h.pack.Get(p.value).Bytes()) {
				return
			}
			at = h.next(p)
		}
	}
}

// Random returns a field picked by rng and its value; there must be one that is
// visible. They are valid until the hash changes.
func (h *Hash) Random(rng *rand.Rand) (field, value []byte) {
	for {
		if h.pack == nil {
			if n := h.dict.Random(rng); !h.hides(n.Value.expireAt) {
				return bytesOf(n.key), n.Value.value
			}
			continue
		}
		at := h.pack.At(h.stride() * rng.IntN(h.stored()))
		if p := h.packed(at); !h.hides(p.expireAt) {
			return h.pack.Get(at).Bytes(), h.pack.Get(p.value).Bytes()
		}
	}
}

// Scan visits the fields at cursor and returns the next cursor, as Dict.Scan
// does; a listpack is visited at once. field and value are valid during the
// visit only.
func (h *Hash) Scan(cursor uint64, visit func(field, value []byte)) uint64 {
	if h.pack == nil {
		return h.dict.Scan(cursor, func(n *Node[hashValue]) {
			if !h.hides(n.Value.expireAt) {
				visit(bytesOf(n.key), n.Value.value)
			}
		})
	}
	for field, value := range h.All() {
		visit(field, value)
	}
	return 0
}
