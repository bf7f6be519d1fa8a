package keyspace

import (
	"bytes"
	"iter"
	"math/rand/v2"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace/listpack"
)

// Hash is the value of HSET and its kin. A small hash is a listpack of fields
// and values in the order of arrival, a large one a hash table.
type Hash struct {
	limits *Limits
	pack   *listpack.Pack // nil once it is a hash table
	dict   Dict[hashValue]
}

// hashValue is what a hash table holds of a field.
type hashValue struct {
	value []byte
}

// NewHash returns an empty hash.
func NewHash(limits *Limits) *Hash {
	return &Hash{limits: limits, pack: listpack.New()}
}

// Kind is KindHash.
func (h *Hash) Kind() Kind { return KindHash }

// Encoding is listpack or hashtable; the listpack's predecessor ziplist before
// 7.0.
func (h *Hash) Encoding() string {
	switch {
	case h.pack == nil:
		return "hashtable"
	case h.limits.Version.AtLeast(7, 0):
		return "listpack"
	}
	return "ziplist"
}

// Clone returns a deep copy.
func (h *Hash) Clone() Value {
	c := &Hash{limits: h.limits}
	if h.pack != nil {
		c.pack = h.pack.Clone()
		return c
	}
	for n := range h.dict.All() {
		c.dict.Add(n.key, hashValue{value: bytes.Clone(n.Value.value)})
	}
	return c
}

// Memory is the approximate size in bytes.
func (h *Hash) Memory() int64 {
	const perHash, perBucket, perField = 64, 8, 56
	if h.pack != nil {
		return perHash + int64(h.pack.Size())
	}
	size := int64(perHash + perBucket*h.dict.Buckets())
	for n := range h.dict.All() {
		size += perField + int64(len(n.key)+cap(n.Value.value))
	}
	return size
}

// Len is the number of fields.
func (h *Hash) Len() int {
	if h.pack != nil {
		return h.pack.Len() / 2
	}
	return h.dict.Len()
}

// find returns the position of field in the listpack.
func (h *Hash) find(field []byte) listpack.Pos { return h.pack.Find(h.pack.First(), field, 1) }

// Get returns the value of field, valid until the hash changes; it must not be
// written to.
func (h *Hash) Get(field []byte) (value []byte, ok bool) {
	if h.pack == nil {
		n := h.dict.Find(field)
		if n == nil {
			return nil, false
		}
		return n.Value.value, true
	}
	at := h.find(field)
	if at == listpack.None {
		return nil, false
	}
	return h.pack.Get(h.pack.Next(at)).Bytes(), true
}

// Has reports whether there is a field.
func (h *Hash) Has(field []byte) bool {
	if h.pack == nil {
		return h.dict.Find(field) != nil
	}
	return h.find(field) != listpack.None
}

// Set gives field a value and reports whether the field is new.
func (h *Hash) Set(field, value []byte) (created bool) {
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
	if h.Len() > h.limits.HashMaxListpackEntries {
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
	for field, value := range h.All() {
		h.dict.Add(string(field), hashValue{value: bytes.Clone(value)})
	}
	h.pack = nil
}

// Delete removes field and reports whether it was there.
func (h *Hash) Delete(field []byte) bool {
	if h.pack == nil {
		return h.dict.Delete(string(field)) != nil
	}
	at := h.find(field)
	if at == listpack.None {
		return false
	}
	h.pack.DeleteRange(at, 2)
	return true
}

// All yields every field and its value, those of a listpack in the order of
// arrival. Both are valid until the next ones and must not be changed; nor must
// the hash during the walk.
func (h *Hash) All() iter.Seq2[[]byte, []byte] {
	return func(yield func(field, value []byte) bool) {
		if h.pack == nil {
			for n := range h.dict.All() {
				if !yield(bytesOf(n.key), n.Value.value) {
					return
				}
			}
			return
		}
		for at := h.pack.First(); at != listpack.None; at = h.pack.Next(at) {
			field := h.pack.Get(at)
			at = h.pack.Next(at)
			if !yield(field.Bytes(), h.pack.Get(at).Bytes()) {
				return
			}
		}
	}
}

// Random returns a field picked by rng and its value; the hash must not be
// empty. They are valid until it changes.
func (h *Hash) Random(rng *rand.Rand) (field, value []byte) {
	if h.pack == nil {
		n := h.dict.Random(rng)
		return bytesOf(n.key), n.Value.value
	}
	at := h.pack.At(2 * rng.IntN(h.Len()))
	return h.pack.Get(at).Bytes(), h.pack.Get(h.pack.Next(at)).Bytes()
}

// Scan visits the fields at cursor and returns the next cursor, as Dict.Scan
// does; a listpack is visited at once. field and value are valid during the
// visit only.
func (h *Hash) Scan(cursor uint64, visit func(field, value []byte)) uint64 {
	if h.pack == nil {
		return h.dict.Scan(cursor, func(n *Node[hashValue]) { visit(bytesOf(n.key), n.Value.value) })
	}
	for field, value := range h.All() {
		visit(field, value)
	}
	return 0
}
