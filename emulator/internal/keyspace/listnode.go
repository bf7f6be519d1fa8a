package keyspace

import (
	"math"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace/listpack"
)

// Insert adds value before or behind the first element equal to pivot and
// reports whether there is one. See Grow.
func (l *List) Insert(pivot, value []byte, before bool) bool {
	for node := l.head; node != nil; node = node.next {
		if at := node.pack.Find(node.pack.First(), pivot, 0); at != listpack.None {
			l.insert(node, at, value, before)
			l.length++
			return true
		}
	}
	return false
}

// insert finds a place beside element at. When its node is full that is the
// neighbour's end, a new node, or the middle of the node after splitting it.
func (l *List) insert(node *listNode, at listpack.Pos, value []byte, before bool) {
	first, last := at == node.pack.First(), node.pack.Next(at) == listpack.None
	switch {
	case l.takes(node, value) && before:
		node.pack.InsertBefore(at, value)
	case l.takes(node, value):
		node.pack.InsertAfter(at, value)
	case before && first && l.takes(node.prev, value):
		node.prev.pack.Append(value)
	case !before && last && l.takes(node.next, value):
		node.next.pack.Prepend(value)
	case before && first:
		l.link(node.prev, singleNode(value))
	case !before && last:
		l.link(node, singleNode(value))
	case before:
		rest := &listNode{pack: node.pack.SplitOff(at)}
		node.pack.Append(value)
		l.link(node, rest)
		l.mergeAround(rest)
	default:
		rest := &listNode{pack: node.pack.SplitOff(node.pack.Next(at))}
		rest.pack.Prepend(value)
		l.link(node, rest)
		l.mergeAround(node)
	}
}

func singleNode(value []byte) *listNode {
	node := &listNode{pack: listpack.New()}
	node.pack.Append(value)
	return node
}

// mergeAround joins the neighbours of center among each other and with it where
// the limits allow, after a split left small nodes behind.
func (l *List) mergeAround(center *listNode) {
	if prev := center.prev; prev != nil {
		l.merge(prev.prev, prev)
	}
	if next := center.next; next != nil {
		l.merge(next, next.next)
	}
	if prev := center.prev; l.merge(prev, center) {
		center = prev
	}
	l.merge(center, center.next)
}

// merge moves the elements of b to a, if both exist and they fit.
func (l *List) merge(a, b *listNode) bool {
	const twice = 7 // header and terminator, of which one is saved
	if a == nil || b == nil ||
		l.exceeds(a.pack.Size()+b.pack.Size()-twice, a.pack.Len()+b.pack.Len()) {
		return false
	}
	a.pack.AppendPack(b.pack)
	l.unlink(b)
	return true
}

// The sizes, in bytes, of a node by list-max-listpack-size -1 to -5; and what a
// node limited by its number of elements may have at most.
var listNodeSizes = [...]int{4096, 8192, 16384, 32768, 65536}

const listNodeSafeSize = 8192

// nodeLimit is what one node may hold by a list-max-listpack-size: the one limit
// or the other is math.MaxInt.
func nodeLimit(fill int) (size, count int) {
	if fill < 0 {
		return listNodeSizes[min(-fill, len(listNodeSizes))-1], math.MaxInt
	} else {
		return math.MaxInt, max(fill, 1)
	}
}

// exceeds reports whether a node would be too large: one of a quicklist by what is
// the list's own, a listpack by the setting of now.
func (l *List) exceeds(size, count int) bool {
	fill := l.limits.ListMaxListpackSize
	if l.quick {
		fill = int(l.fill)
	}
	sizeLimit, countLimit := nodeLimit(fill)
	if sizeLimit != math.MaxInt {
		return size > sizeLimit
	}
	return size > listNodeSafeSize || count > countLimit
}

// takes reports whether a node can take one more element. A listpack has one
// node, which takes all.
func (l *List) takes(node *listNode, value []byte) bool {
	const entryOverhead = 8 // an estimate, Redis' own
	return node != nil && (!l.quick || !l.exceeds(node.pack.Size()+len(value)+entryOverhead, node.pack.Len()+1))
}

// Grow prepares a listpack for values that are about to be added: it becomes a
// quicklist if they do not fit.
func (l *List) Grow(values ...[]byte) {
	if l.quick {
		return
	}
	size, count := 0, len(values)
	for _, v := range values {
		size += len(v)
	}
	if l.head != nil {
		size += l.head.pack.Size()
		count += l.head.pack.Len()
	} else {
		size += listpack.New().Size()
	}
	if l.exceeds(size, count) {
		l.becomeQuick(l.limits.ListMaxListpackSize, l.limits.ListCompressDepth)
	}
}

// Shrink makes a list a listpack, after elements were removed, once it is down
// to one node of half of what a listpack may hold, so that a list at the limit
// does not change with every command.
func (l *List) Shrink() { l.unquick(2) }

// Fit gives a list that was built as a whole the encoding of its size.
func (l *List) Fit() {
	l.Grow()
	l.unquick(1)
}

func (l *List) unquick(divisor int) {
	if !l.quick || l.head != l.tail || !l.limits.Version.AtLeast(7, 2) {
		return
	}
	size, count := nodeLimit(l.limits.ListMaxListpackSize)
	if l.head == nil || l.head.pack.Size() <= size/divisor && l.length <= count/divisor {
		l.quick = false
	}
}
