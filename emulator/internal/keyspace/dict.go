package keyspace

import (
	"iter"
	"math/bits"
	"math/rand/v2"

	"github.com/cespare/xxhash/v2"
)

// Dict is a hash table with chained buckets, a power of two of them, that
// grows and shrinks a little at every step instead of all at once. It exists,
// where Go has maps, for two things Redis promises and maps cannot give: a scan
// cursor that never misses an element present from start to end, whatever
// happens to the table in between, and a random element in constant time.
//
// The zero value is an empty dictionary. It is no larger than a pointer, because
// most values have one that they do not use yet.
type Dict[V any] struct{ *tables[V] }

type tables[V any] struct {
	// While rehashing, old holds buckets from moved on; everything else and
	// every new node is in table. Otherwise old is nil.
	table, old []*Node[V]
	moved      int
	length     int
}

// Node is one element of a Dict. It does not move in memory while it is in the
// dictionary.
type Node[V any] struct {
	next  *Node[V]
	key   string
	Value V
}

// Key is the key the node was added under.
func (n *Node[V]) Key() string { return n.key }

const minBuckets = 4

func hashOf(key string) uint64 { return xxhash.Sum64String(key) }

// Len is the number of elements.
func (d *Dict[V]) Len() int {
	if d.tables == nil {
		return 0
	}
	return d.length
}

// Buckets is the number of buckets, those of both tables while rehashing.
func (d *Dict[V]) Buckets() int {
	if d.tables == nil {
		return 0
	}
	return len(d.table) + len(d.old)
}

// Find returns the node of key, or nil.
func (d *Dict[V]) Find(key []byte) *Node[V] {
	if d.Len() == 0 {
		return nil
	}
	hash := xxhash.Sum64(key)
	for n := d.table[hash&uint64(len(d.table)-1)]; n != nil; n = n.next {
		if n.key == string(key) {
			return n
		}
	}
	if d.old != nil {
		for n := d.old[hash&uint64(len(d.old)-1)]; n != nil; n = n.next {
			if n.key == string(key) {
				return n
			}
		}
	}
	return nil
}

// FindString is Find for a string key.
func (d *Dict[V]) FindString(key string) *Node[V] {
	if d.Len() == 0 {
		return nil
	}
	hash := hashOf(key)
	for n := d.table[hash&uint64(len(d.table)-1)]; n != nil; n = n.next {
		if n.key == key {
			return n
		}
	}
	if d.old != nil {
		for n := d.old[hash&uint64(len(d.old)-1)]; n != nil; n = n.next {
			if n.key == key {
				return n
			}
		}
	}
	return nil
}

// Add puts in a key that must not be there yet and returns its node.
func (d *Dict[V]) Add(key string, value V) *Node[V] {
	if d.tables == nil {
		d.tables = new(tables[V])
	}
	d.rehashStep()
	if d.old == nil && d.length >= len(d.table) {
		d.resize(max(minBuckets, len(d.table)*2))
	}
	bucket := &d.table[hashOf(key)&uint64(len(d.table)-1)]
	n := &Node[V]{next: *bucket, key: key, Value: value}
	*bucket = n
	d.length++
	return n
}

// Delete takes a key out and returns its node, or nil if it was not there.
func (d *Dict[V]) Delete(key string) *Node[V] {
	if d.Len() == 0 {
		return nil
	}
	d.rehashStep()
	hash := hashOf(key)
	n := unlink(&d.table[hash&uint64(len(d.table)-1)], key)
	if n == nil && d.old != nil {
		n = unlink(&d.old[hash&uint64(len(d.old)-1)], key)
	}
	if n == nil {
		return nil
	}
	d.length--
	if d.old == nil && len(d.table) > minBuckets && d.length*10 < len(d.table) {
		d.resize(max(minBuckets, 1<<bits.Len(uint(d.length))))
	}
	return n
}

func unlink[V any](at **Node[V], key string) *Node[V] {
	for n := *at; n != nil; at, n = &n.next, n.next {
		if n.key == key {
			*at, n.next = n.next, nil
			return n
		}
	}
	return nil
}

// Clear empties the dictionary.
func (d *Dict[V]) Clear() { *d = Dict[V]{} }

func (d *Dict[V]) resize(buckets int) {
	if d.length == 0 {
		d.table = make([]*Node[V], buckets)
		return
	}
	d.old, d.moved, d.table = d.table, 0, make([]*Node[V], buckets)
}

// rehashStep moves one bucket, skipping a bounded number of empty ones, so
// that a table of any size is rebuilt without a pause.
func (d *Dict[V]) rehashStep() {
	if d.old == nil {
		return
	}
	for range 10 {
		chain := d.old[d.moved]
		d.old[d.moved] = nil
		d.moved++
		moved := chain != nil
		for chain != nil {
			next := chain.next
			bucket := &d.table[hashOf(chain.key)&uint64(len(d.table)-1)]
			chain.next, *bucket = *bucket, chain
			chain = next
		}
		if d.moved == len(d.old) {
			d.old, d.moved = nil, 0
			return
		}
		if moved {
			return
		}
	}
}

// All yields every node, in no particular order. The dictionary must not
// change during the walk.
func (d *Dict[V]) All() iter.Seq[*Node[V]] {
	return func(yield func(*Node[V]) bool) {
		if d.tables == nil {
			return
		}
		for _, table := range [2][]*Node[V]{d.old, d.table} {
			for _, n := range table {
				for n != nil {
					next := n.next
					if !yield(n) {
						return
					}
					n = next
				}
			}
		}
	}
}

// Scan calls visit for the nodes at cursor and returns the next cursor; it
// starts and ends with 0. Elements present during the whole walk are visited
// at least once, others at most sometimes: the cursor counts with its bits
// reversed, so growing and shrinking only ever splits or joins buckets that
// are done, or that are still to come. visit must not change the dictionary.
func (d *Dict[V]) Scan(cursor uint64, visit func(*Node[V])) uint64 {
	if d.Len() == 0 {
		return 0
	}
	small, large := d.table, d.old
	if large == nil {
		visitChain(small[cursor&uint64(len(small)-1)], visit)
		return nextCursor(cursor, uint64(len(small)-1))
	}
	if len(small) > len(large) {
		small, large = large, small
	}
	smallMask, largeMask := uint64(len(small)-1), uint64(len(large)-1)
	visitChain(small[cursor&smallMask], visit)
	for {
		visitChain(large[cursor&largeMask], visit)
		cursor = nextCursor(cursor, largeMask)
		if cursor&(smallMask^largeMask) == 0 {
			return cursor
		}
	}
}

func visitChain[V any](n *Node[V], visit func(*Node[V])) {
	for n != nil {
		next := n.next
		visit(n)
		n = next
	}
}

// nextCursor adds one to the reversed cursor under mask.
func nextCursor(cursor, mask uint64) uint64 {
	cursor |= ^mask
	return bits.Reverse64(bits.Reverse64(cursor) + 1)
}

// longChain is how many elements of a chain Random reaches with equal chances.
// With as many buckets as elements a longer one hardly ever exists.
const longChain = 8

// Random returns an element picked by rng, or nil from an empty dictionary. It
// picks a bucket and a place in its chain until there is an element, so that one
// with a chain of its own is not chosen more often than its fellows.
func (d *Dict[V]) Random(rng *rand.Rand) *Node[V] {
	if d.Len() == 0 {
		return nil
	}
	for {
		i := rng.IntN(longChain * (len(d.table) + len(d.old)))
		bucket, place := i/longChain, i%longChain
		var n *Node[V]
		if bucket < len(d.table) {
			n = d.table[bucket]
		} else {
			n = d.old[bucket-len(d.table)]
		}
		for ; n != nil && place > 0; place-- {
			n = n.next
		}
		if n == nil {
			continue
		}
		if i%longChain == longChain-1 { // all that is left of the chain
			n = oneOf(n, rng)
		}
		return n
	}
}

// oneOf picks an element of a chain.
func oneOf[V any](chain *Node[V], rng *rand.Rand) *Node[V] {
	length := 0
	for n := chain; n != nil; n = n.next {
		length++
	}
	for range rng.IntN(length) {
		chain = chain.next
	}
	return chain
}
