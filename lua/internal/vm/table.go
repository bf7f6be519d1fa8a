package vm

import (
	"math"
	"math/bits"
	"unsafe"
)

// maxArrayBits bounds the array part: 2^26 slots, as in the reference.
const maxArrayBits = 26

// Table is a Lua table: an array part and a hash part of 2^n nodes with chained
// scatter and Brent's variation. Both grow by the rules of the reference
// implementation, because those decide the order of iteration and the length of
// tables with holes.
type Table struct {
	header
	absent   uint8 // bit per event that the table, as a metatable, is known not to have
	readOnly bool
	id       uint32
	meta     *Table
	array    []Value
	nodes    []node
	lastFree int
	owner    *Global
}

type node struct {
	key, value Value
	next       int32 // distance to the next node of the chain, 0 for none
}

const (
	nodeBytes  = int(unsafe.Sizeof(node{}))
	valueBytes = int(unsafe.Sizeof(Value{}))
	tableBytes = int(unsafe.Sizeof(Table{}))
)

// NewTable makes a table with room for array items and hash entries.
func (g *Global) NewTable(array, hash int) *Table {
	g.charge(tableBytes)
	t := &Table{header: header{TableKind}, owner: g}
	if array > 0 || hash > 0 {
		t.resize(array, hash)
	}
	return t
}

// SetReadOnly makes writes to the table an error, or allows them again.
func (t *Table) SetReadOnly(on bool) { t.readOnly = on }

// ReadOnly tells whether the table rejects writes.
func (t *Table) ReadOnly() bool { return t.readOnly }

// Meta returns the metatable, nil if there is none.
func (t *Table) Meta() *Table { return t.meta }

// SetMeta sets the metatable.
func (t *Table) SetMeta(m *Table) { t.meta = m }

func (g *Global) identity(id *uint32) uint32 {
	if *id == 0 {
		g.lastID++
		*id = g.lastID
	}
	return *id
}

// mainPosition is the node a key belongs to when nothing collides.
func (t *Table) mainPosition(key Value) int {
	size := uint32(len(t.nodes))
	switch key.Kind() {
	case Number:
		return int(hashNumber(key.bits, key.Float()) % ((size - 1) | 1))
	case StringKind:
		return int(key.str().hash & (size - 1))
	case Bool:
		return int(uint32(key.bits) & (size - 1))
	default:
		return int(t.owner.hashObject(key) % ((size - 1) | 1))
	}
}

func hashNumber(b uint64, f float64) uint32 {
	if f == 0 {
		return 0
	}
	return uint32(b) + uint32(b>>32)
}

// hashObject numbers objects as they are first used as keys. The reference
// hashes addresses, which no two runs share.
func (g *Global) hashObject(v Value) uint32 {
	switch v.Kind() {
	case TableKind:
		return g.identity(&(*Table)(v.ref).id)
	case FunctionKind:
		return g.identity(&(*Function)(v.ref).id)
	case ThreadKind:
		return g.identity(&(*Thread)(v.ref).id)
	}
	return 0
}

// arrayIndex returns the positive integer a key is, or 0.
func arrayIndex(f float64) int {
	if f >= 1 && f <= 1<<maxArrayBits {
		if i := int(f); float64(i) == f {
			return i
		}
	}
	return 0
}

// GetInt returns the value at an integer key.
func (t *Table) GetInt(i int) Value {
	if uint(i-1) < uint(len(t.array)) {
		return t.array[i-1]
	}
	if len(t.nodes) == 0 {
		return Value{}
	}
	return t.getNumber(float64(i))
}

func (t *Table) getNumber(f float64) Value {
	if len(t.nodes) == 0 {
		return Value{}
	}
	i := int(hashNumber(math.Float64bits(f), f) % ((uint32(len(t.nodes)) - 1) | 1))
	for {
		n := &t.nodes[i]
		if n.key.IsNumber() && n.key.Float() == f {
			return n.value
		}
		if n.next == 0 {
			return Value{}
		}
		i += int(n.next)
	}
}

func (t *Table) getStr(s *String) Value {
	if len(t.nodes) == 0 {
		return Value{}
	}
	i := int(s.hash & uint32(len(t.nodes)-1))
	for {
		n := &t.nodes[i]
		if n.key.ref == unsafe.Pointer(s) {
			return n.value
		}
		if n.key.ref != nil && (*header)(n.key.ref).kind == StringKind {
			if o := n.key.str(); o.hash == s.hash && o.s == s.s {
				return n.value
			}
		}
		if n.next == 0 {
			return Value{}
		}
		i += int(n.next)
	}
}

// GetStr returns the value of a string key.
func (t *Table) GetStr(s string) Value {
	if len(t.nodes) == 0 {
		return Value{}
	}
	key := String{header{StringKind}, hashString(s), s}
	return t.getStr(&key)
}

// Get returns the value of a key, without metamethods.
func (t *Table) Get(key Value) Value {
	switch key.Kind() {
	case Nil:
		return Value{}
	case StringKind:
		return t.getStr(key.str())
	case Number:
		f := key.Float()
		if i := arrayIndex(f); i != 0 {
			return t.GetInt(i)
		}
		return t.getNumber(f)
	}
	if n := t.find(key); n != nil {
		return n.value
	}
	return Value{}
}

// find returns the node of a key that is in the hash part.
func (t *Table) find(key Value) *node {
	if len(t.nodes) == 0 {
		return nil
	}
	i := t.mainPosition(key)
	for {
		n := &t.nodes[i]
		if RawEqual(n.key, key) {
			return n
		}
		if n.next == 0 {
			return nil
		}
		i += int(n.next)
	}
}

// slot returns where the value of a key is kept, nil when the key is absent.
func (t *Table) slot(key Value) *Value {
	if key.IsNumber() {
		if i := arrayIndex(key.Float()); uint(i-1) < uint(len(t.array)) {
			return &t.array[i-1]
		}
	}
	if n := t.find(key); n != nil {
		return &n.value
	}
	return nil
}

// Set stores a value without metamethods; key is neither nil nor NaN.
func (t *Table) Set(key, value Value) {
	t.absent = 0
	if p := t.slot(key); p != nil {
		*p = value
		return
	}
	*t.newKey(key) = value
}

// SetInt stores a value at an integer key.
func (t *Table) SetInt(i int, value Value) {
	if uint(i-1) < uint(len(t.array)) {
		t.array[i-1] = value
		return
	}
	t.Set(Int(i), value)
}

// SetStr stores a value at a string key.
func (t *Table) SetStr(key string, value Value) { t.Set(Str(key), value) }

// newKey inserts a key that is not in the table. When its main position is
// taken, the colliding node moves if it is out of its own main position,
// otherwise the new key goes to a free node; a full table grows first.
func (t *Table) newKey(key Value) *Value {
	if len(t.nodes) == 0 {
		t.rehash(key)
		return t.settle(key)
	}
	mp := t.mainPosition(key)
	if !t.nodes[mp].value.IsNil() {
		free := t.freeNode()
		if free < 0 {
			t.rehash(key)
			return t.settle(key)
		}
		other := t.mainPosition(t.nodes[mp].key)
		if other != mp {
			for other+int(t.nodes[other].next) != mp {
				other += int(t.nodes[other].next)
			}
			t.nodes[other].next = int32(free - other)
			t.nodes[free] = t.nodes[mp]
			if t.nodes[mp].next != 0 {
				t.nodes[free].next += int32(mp - free)
			}
			t.nodes[mp].next = 0
			t.nodes[mp].value = Value{}
		} else {
			if n := t.nodes[mp].next; n != 0 {
				t.nodes[free].next = int32(mp + int(n) - free)
			} else {
				t.nodes[free].next = 0
			}
			t.nodes[mp].next = int32(free - mp)
			mp = free
		}
	}
	n := &t.nodes[mp]
	n.key = key
	return &n.value
}

// settle finds or makes the slot of a key after the table has grown.
func (t *Table) settle(key Value) *Value {
	if p := t.slot(key); p != nil {
		return p
	}
	return t.newKey(key)
}

func (t *Table) freeNode() int {
	for t.lastFree > 0 {
		t.lastFree--
		if t.nodes[t.lastFree].key.IsNil() {
			return t.lastFree
		}
	}
	return -1
}

// ceilLog2 is the smallest n with 1<<n >= x.
func ceilLog2(x int) int { return bits.Len(uint(x - 1)) }

// computeSizes picks the largest n such that more than half of the slots 1..n
// are in use, given how many keys lie in each (2^(i-1), 2^i].
func computeSizes(counts *[maxArrayBits + 1]int, integers int) (size, used int) {
	accumulated := 0
	for i, power := 0, 1; power/2 < integers; i, power = i+1, power*2 {
		if counts[i] > 0 {
			accumulated += counts[i]
			if accumulated > power/2 {
				size, used = power, accumulated
			}
		}
		if accumulated == integers {
			break
		}
	}
	return size, used
}

func countIndex(key Value, counts *[maxArrayBits + 1]int) int {
	if !key.IsNumber() {
		return 0
	}
	i := arrayIndex(key.Float())
	if i == 0 {
		return 0
	}
	counts[ceilLog2(i)]++
	return 1
}

func (t *Table) countArray(counts *[maxArrayBits + 1]int) int {
	total := 0
	i := 1
	for lg, limit := 0, 1; lg <= maxArrayBits; lg, limit = lg+1, limit*2 {
		stop := min(limit, len(t.array))
		if i > stop && limit > len(t.array) {
			break
		}
		n := 0
		for ; i <= stop; i++ {
			if !t.array[i-1].IsNil() {
				n++
			}
		}
		counts[lg] += n
		total += n
	}
	return total
}

// rehash sizes the table for its present keys and one more.
func (t *Table) rehash(extra Value) {
	var counts [maxArrayBits + 1]int
	integers := t.countArray(&counts)
	total := integers
	for i := range t.nodes {
		n := &t.nodes[i]
		if !n.value.IsNil() {
			integers += countIndex(n.key, &counts)
			total++
		}
	}
	integers += countIndex(extra, &counts)
	total++
	array, used := computeSizes(&counts, integers)
	t.resize(array, total-used)
}

func (t *Table) resize(array, hash int) {
	nodes := 0
	if hash > 0 {
		nodes = 1 << ceilLog2(hash)
	}
	if array > len(t.array) {
		t.owner.charge((array - len(t.array)) * valueBytes)
		grown := make([]Value, array)
		copy(grown, t.array)
		t.array = grown
	}
	t.owner.charge(nodes * nodeBytes)
	old := t.nodes
	t.nodes = nil
	if nodes > 0 {
		t.nodes = make([]node, nodes)
	}
	t.lastFree = nodes
	if array < len(t.array) {
		vanishing := t.array[array:]
		t.array = t.array[:array:array]
		for i, v := range vanishing {
			if !v.IsNil() {
				t.SetInt(array+i+1, v)
			}
		}
	}
	for i := len(old) - 1; i >= 0; i-- {
		if n := &old[i]; !n.value.IsNil() {
			t.Set(n.key, n.value)
		}
	}
}

// ResizeArray makes the array part at least n slots, as a constructor does.
func (t *Table) ResizeArray(n int) {
	if n > len(t.array) {
		hash := len(t.nodes)
		t.resize(n, hash)
	}
}

// Next returns the entry after key, or ok false when key is not in the table.
// A nil key starts the iteration; a nil result ends it.
func (t *Table) Next(key Value) (k, v Value, ok bool) {
	i, ok := t.position(key)
	if !ok {
		return Value{}, Value{}, false
	}
	for ; i < len(t.array); i++ {
		if !t.array[i].IsNil() {
			return Int(i + 1), t.array[i], true
		}
	}
	for i -= len(t.array); i < len(t.nodes); i++ {
		if n := &t.nodes[i]; !n.value.IsNil() {
			return n.key, n.value, true
		}
	}
	return Value{}, Value{}, true
}

// position is the place in the iteration that follows key.
func (t *Table) position(key Value) (int, bool) {
	if key.IsNil() {
		return 0, true
	}
	if key.IsNumber() {
		if i := arrayIndex(key.Float()); i > 0 && i <= len(t.array) {
			return i, true
		}
	}
	if len(t.nodes) == 0 {
		return 0, false
	}
	i := t.mainPosition(key)
	for {
		if RawEqual(t.nodes[i].key, key) {
			return len(t.array) + i + 1, true
		}
		if t.nodes[i].next == 0 {
			return 0, false
		}
		i += int(t.nodes[i].next)
	}
}

// Len returns a border of the table: n with t[n] non-nil and t[n+1] nil.
func (t *Table) Len() int {
	j := len(t.array)
	if j > 0 && t.array[j-1].IsNil() {
		i := 0
		for j-i > 1 {
			if m := (i + j) / 2; t.array[m-1].IsNil() {
				j = m
			} else {
				i = m
			}
		}
		return i
	}
	if len(t.nodes) == 0 {
		return j
	}
	return t.unboundSearch(j)
}

func (t *Table) unboundSearch(j int) int {
	i := j
	j++
	for !t.GetInt(j).IsNil() {
		i = j
		j *= 2
		if j > math.MaxInt32-2 {
			i = 1
			for !t.GetInt(i).IsNil() {
				i++
			}
			return i - 1
		}
	}
	for j-i > 1 {
		if m := (i + j) / 2; t.GetInt(m).IsNil() {
			j = m
		} else {
			i = m
		}
	}
	return i
}

// Each calls fn for every entry, in the order of Next. fn may assign to the
// entries it is given, not add others.
func (t *Table) Each(fn func(key, value Value)) {
	for i, v := range t.array {
		if !v.IsNil() {
			fn(Int(i+1), v)
		}
	}
	for i := range t.nodes {
		if n := &t.nodes[i]; !n.value.IsNil() {
			fn(n.key, n.value)
		}
	}
}
