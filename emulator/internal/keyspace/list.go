package keyspace

import (
	"iter"
	"math"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace/listpack"
)

// List is the value of LPUSH and its kin: a doubly linked list of listpacks, so
// that both ends are near and the middle can be reached a few thousand elements
// at a time. Redis calls this a quicklist; from 7.2 on a list that fits into one
// node is a plain listpack.
type List struct {
	limits     *Limits
	head, tail *listNode
	length     int
	// quick says that the encoding is quicklist. Otherwise all elements are in
	// one node.
	quick bool
	// fill and depth are list-max-listpack-size and list-compress-depth as they
	// were when the list became a quicklist: settings do not change it any more.
	fill  int16
	depth uint16
}

// listNode is never empty, except the only node of a listpack.
type listNode struct {
	prev, next *listNode
	pack       *listpack.Pack
}

// ListEnd is one of the two ends of a list.
type ListEnd bool

// The ends of a list.
const (
	Head ListEnd = false
	Tail ListEnd = true
)

// NewList returns an empty list.
func NewList(limits *Limits) *List {
	l := &List{limits: limits}
	if !limits.Version.AtLeast(7, 2) {
		l.becomeQuick(limits.ListMaxListpackSize, limits.ListCompressDepth)
	}
	return l
}

// NewStoredList returns an empty list for SORT ... STORE, which before 7.2 does
// not ask for the settings.
func NewStoredList(limits *Limits) *List {
	l := NewList(limits)
	if l.quick {
		const defaultFill, defaultDepth = -2, 0
		l.becomeQuick(defaultFill, defaultDepth)
	}
	return l
}

// becomeQuick makes the list a quicklist with these settings, as far as it can hold
// them.
func (l *List) becomeQuick(fill, depth int) {
	l.quick = true
	l.fill = int16(max(-5, min(fill, math.MaxInt16)))
	l.depth = uint16(max(0, min(depth, math.MaxUint16)))
}

// Settings are list-max-listpack-size and list-compress-depth of a quicklist.
func (l *List) Settings() (fill, depth int) { return int(l.fill), int(l.depth) }

// Kind is KindList.
func (l *List) Kind() Kind { return KindList }

// Encoding is listpack or quicklist.
func (l *List) Encoding() string {
	if l.quick {
		return "quicklist"
	}
	return "listpack"
}

// Clone returns a deep copy.
func (l *List) Clone() Value {
	c := &List{limits: l.limits, length: l.length, quick: l.quick, fill: l.fill, depth: l.depth}
	for node := l.head; node != nil; node = node.next {
		c.link(c.tail, &listNode{pack: node.pack.Clone()})
	}
	return c
}

// Memory is the approximate size in bytes.
func (l *List) Memory() int64 {
	const perList, perNode = 40, 64
	size := int64(perList)
	for node := l.head; node != nil; node = node.next {
		size += perNode + int64(node.pack.Size())
	}
	return size
}

// Len is the number of elements.
func (l *List) Len() int { return l.length }

// Nodes is the number of listpacks the list consists of, and their size in
// bytes, for DEBUG OBJECT.
func (l *List) Nodes() (count, bytes int) {
	for node := l.head; node != nil; node = node.next {
		count++
		bytes += node.pack.Size()
	}
	return count, bytes
}

// link puts node behind after, or in front of all when after is nil.
func (l *List) link(after, node *listNode) {
	node.prev = after
	if after == nil {
		node.next, l.head = l.head, node
	} else {
		node.next, after.next = after.next, node
	}
	if node.next == nil {
		l.tail = node
	} else {
		node.next.prev = node
	}
}

func (l *List) unlink(node *listNode) {
	if node.prev == nil {
		l.head = node.next
	} else {
		node.prev.next = node.next
	}
	if node.next == nil {
		l.tail = node.prev
	} else {
		node.next.prev = node.prev
	}
}

// Push adds an element at one end. See Grow.
func (l *List) Push(end ListEnd, value []byte) {
	l.length++
	if end == Head {
		if !l.takes(l.head, value) {
			l.link(nil, &listNode{pack: listpack.New()})
		}
		l.head.pack.Prepend(value)
		return
	}
	if !l.takes(l.tail, value) {
		l.link(l.tail, &listNode{pack: listpack.New()})
	}
	l.tail.pack.Append(value)
}

// Pop removes the element at one end and returns it, or nil from an empty list.
func (l *List) Pop(end ListEnd) []byte {
	node, at := l.tail, listpack.None
	if end == Head {
		node = l.head
	}
	if node == nil {
		return nil
	}
	if end == Head {
		at = node.pack.First()
	} else {
		at = node.pack.Last()
	}
	value := node.pack.Get(at).AppendTo([]byte{})
	l.delete(node, at)
	return value
}

// delete removes one element and returns the position behind it in its node.
func (l *List) delete(node *listNode, at listpack.Pos) listpack.Pos {
	next := node.pack.Delete(at)
	l.length--
	l.dropIfEmpty(node)
	return next
}

func (l *List) dropIfEmpty(node *listNode) {
	if node.pack.First() == listpack.None {
		l.unlink(node)
	}
}

// locate returns where element index is; it must exist. It walks from the end
// that is nearer.
func (l *List) locate(index int) (*listNode, listpack.Pos) {
	if index < l.length/2 {
		node := l.head
		for ; index >= node.pack.Len(); node = node.next {
			index -= node.pack.Len()
		}
		return node, node.pack.At(index)
	}
	node, index := l.tail, l.length-1-index
	for ; index >= node.pack.Len(); node = node.prev {
		index -= node.pack.Len()
	}
	return node, node.pack.At(-index - 1)
}

// absolute turns an index that may count from the end into one that does not.
func (l *List) absolute(index int64) (int, bool) {
	if index < 0 {
		index += int64(l.length)
	}
	if index < 0 || index >= int64(l.length) {
		return 0, false
	}
	return int(index), true
}

// Index returns element index, counted from the end when negative. The entry is
// valid until the list changes.
func (l *List) Index(index int64) (listpack.Entry, bool) {
	i, ok := l.absolute(index)
	if !ok {
		return listpack.Entry{}, false
	}
	node, at := l.locate(i)
	return node.pack.Get(at), true
}

// Set replaces element index, counted from the end when negative, and reports
// whether it is there. See Grow.
func (l *List) Set(index int64, value []byte) bool {
	i, ok := l.absolute(index)
	if !ok {
		return false
	}
	node, at := l.locate(i)
	node.pack.Replace(at, value)
	return true
}

// From yields the elements from index, which must exist, to the tail, with
// their indexes. The list must not change during the walk.
func (l *List) From(index int) iter.Seq2[int, listpack.Entry] {
	return func(yield func(int, listpack.Entry) bool) {
		if index >= l.length {
			return
		}
		node, at := l.locate(index)
		for i := index; ; i++ {
			if !yield(i, node.pack.Get(at)) {
				return
			}
			if at = node.pack.Next(at); at == listpack.None {
				if node = node.next; node == nil {
					return
				}
				at = node.pack.First()
			}
		}
	}
}

// BackFrom is From in the other direction.
func (l *List) BackFrom(index int) iter.Seq2[int, listpack.Entry] {
	return func(yield func(int, listpack.Entry) bool) {
		if index < 0 || index >= l.length {
			return
		}
		node, at := l.locate(index)
		for i := index; ; i-- {
			if !yield(i, node.pack.Get(at)) {
				return
			}
			if at = node.pack.Prev(at); at == listpack.None {
				if node = node.prev; node == nil {
					return
				}
				at = node.pack.Last()
			}
		}
	}
}

// DeleteRange removes up to n elements from index on.
func (l *List) DeleteRange(index, n int) {
	if index >= l.length || n <= 0 {
		return
	}
	node, at := l.locate(index)
	for n > 0 && node != nil {
		next := node.next
		_, removed := node.pack.DeleteRange(at, n)
		n -= removed
		l.length -= removed
		l.dropIfEmpty(node)
		if node = next; node != nil {
			at = node.pack.First()
		}
	}
}

// Remove deletes the elements equal to value, at most limit of them unless it
// is 0, beginning at one end, and returns how many.
func (l *List) Remove(value []byte, begin ListEnd, limit int64) int {
	key, removed := listpack.MakeKey(value), 0
	done := func() bool { return limit > 0 && int64(removed) == limit }
	if begin == Head {
		for node := l.head; node != nil && !done(); node = node.next {
			for at := node.pack.First(); at != listpack.None && !done(); {
				if node.pack.Get(at).Is(key) {
					at = l.delete(node, at)
					removed++
				} else {
					at = node.pack.Next(at)
				}
			}
		}
		return removed
	}
	for node := l.tail; node != nil && !done(); node = node.prev {
		for at := node.pack.Last(); at != listpack.None && !done(); {
			prev := node.pack.Prev(at)
			if node.pack.Get(at).Is(key) {
				l.delete(node, at)
				removed++
			}
			at = prev
		}
	}
	return removed
}
