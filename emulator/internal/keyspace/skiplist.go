package keyspace

import (
	"math/bits"
	"unsafe"
)

// skiplist keeps the members of a sorted set in order of score and, among equal
// scores, of their bytes. Every link also counts the elements it jumps over, so
// that ranks are found as fast as elements.
//
// How tall a node gets is decided by a generator of the list's own, which
// starts from a constant: no answer depends on it, and the node's randomness
// stays for what clients can see.
type skiplist struct {
	head   *skipNode // has the links of every level, no element
	tail   *skipNode
	length int
	levels int // in use, at least 1
	seed   uint64
}

// skipNode is an element of a skiplist.
type skipNode struct {
	member string
	score  float64
	prev   *skipNode
	lowest skipLink  // saves three nodes out of four an allocation
	first  *skipLink // of height links, from the lowest level on
	height int
}

// links are those to the next nodes, from the lowest level on. A slice in the node
// would make it a quarter larger.
func (n *skipNode) links() []skipLink { return unsafe.Slice(n.first, n.height) }

// skipLink leads to the next node of a level. It knows about where that belongs, so
// that most nodes on the way to a place need not be fetched from memory.
type skipLink struct {
	next *skipNode
	span uint32  // how many elements further that is
	near float32 // the next node's score, rounded, which keeps the order
}

// before reports whether the next node belongs before an element of that score and
// member; near is the score rounded.
func (l *skipLink) before(near float32, score float64, member string) bool {
	if l.next == nil || l.near > near {
		return false
	}
	return l.near < near || l.next.before(score, member)
}

// maxSkipLevels is enough for 4^32 elements.
const maxSkipLevels = 32

func newSkiplist() *skiplist {
	return &skiplist{head: newSkipNode("", 0, maxSkipLevels), levels: 1}
}

// next is the node behind n, or nil.
func (n *skipNode) next() *skipNode { return n.first.next }

// before reports whether n belongs before an element of that score and member.
func (n *skipNode) before(score float64, member string) bool {
	return n.score < score || n.score == score && n.member < member
}

// height picks how many levels a new node has: each further one in a quarter of
// the cases.
func (l *skiplist) height() int {
	l.seed += 0x9e3779b97f4a7c15 // the step and the mixing of splitmix64
	x := l.seed
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return min(1+bits.TrailingZeros64(x^x>>31)/2, maxSkipLevels)
}

func newSkipNode(member string, score float64, height int) *skipNode {
	n := &skipNode{member: member, score: score, height: height}
	n.first = &n.lowest
	if height > 1 {
		n.first = &make([]skipLink, height)[0]
	}
	return n
}

// skipPath is the way down to a place in the list: on each level the last node
// before it and that node's rank, counting from 1; the head's is 0.
type skipPath struct {
	nodes [maxSkipLevels]*skipNode
	ranks [maxSkipLevels]int
}

// place sets path to the place of an element of that score and member.
func (l *skiplist) place(path *skipPath, score float64, member string) {
	near := float32(score)
	n, rank := l.head, 0
	for i := l.levels - 1; i >= 0; i-- {
		for link := &n.links()[i]; link.before(near, score, member); link = &n.links()[i] {
			n, rank = link.next, rank+int(link.span)
		}
		path.nodes[i], path.ranks[i] = n, rank
	}
}

// behind sets path to the place behind the first elements, so many of them.
func (l *skiplist) behind(path *skipPath, elements int) {
	n, rank := l.head, 0
	for i := l.levels - 1; i >= 0; i-- {
		for link := &n.links()[i]; link.next != nil && rank+int(link.span) <= elements; link = &n.links()[i] {
			n, rank = link.next, rank+int(link.span)
		}
		path.nodes[i], path.ranks[i] = n, rank
	}
}

// count is the number of elements for which left is true; it must be true for
// the first ones only.
func (l *skiplist) count(left func(n *skipNode) bool) int {
	n, rank := l.head, 0
	for i := l.levels - 1; i >= 0; i-- {
		for {
			link := n.links()[i]
			if link.next == nil || !left(link.next) {
				break
			}
			n, rank = link.next, rank+int(link.span)
		}
	}
	return rank
}

// insert adds an element that must not be there.
func (l *skiplist) insert(member string, score float64) *skipNode {
	n := newSkipNode(member, score, l.height())
	l.link(n)
	return n
}

// link puts a node in its place.
func (l *skiplist) link(n *skipNode) {
	var path skipPath
	l.place(&path, n.score, n.member)
	for ; l.levels < n.height; l.levels++ {
		path.nodes[l.levels] = l.head
		l.head.links()[l.levels] = skipLink{span: uint32(l.length)}
	}
	for i := range n.links() {
		before, skipped := &path.nodes[i].links()[i], uint32(path.ranks[0]-path.ranks[i])
		n.links()[i] = skipLink{next: before.next, span: before.span - skipped, near: before.near}
		*before = skipLink{next: n, span: skipped + 1, near: float32(n.score)}
	}
	for i := n.height; i < l.levels; i++ {
		path.nodes[i].links()[i].span++
	}
	n.prev = nil
	if path.nodes[0] != l.head {
		n.prev = path.nodes[0]
	}
	if after := n.next(); after != nil {
		after.prev = n
	} else {
		l.tail = n
	}
	l.length++
}

// unlink takes out the node behind path.
func (l *skiplist) unlink(path *skipPath) *skipNode {
	n := path.nodes[0].links()[0].next
	for i := range l.levels {
		link := &path.nodes[i].links()[i]
		if link.next == n {
			onward := n.links()[i]
			link.next, link.span, link.near = onward.next, link.span+onward.span-1, onward.near
		} else {
			link.span--
		}
	}
	if after := n.next(); after != nil {
		after.prev = n.prev
	} else {
		l.tail = n.prev
	}
	for l.levels > 1 && l.head.links()[l.levels-1].next == nil {
		l.levels--
	}
	l.length--
	return n
}

// remove takes an element out.
func (l *skiplist) remove(n *skipNode) {
	var path skipPath
	l.place(&path, n.score, n.member)
	l.unlink(&path)
}

// setScore moves an element to where its new score belongs.
func (l *skiplist) setScore(n *skipNode, score float64) {
	var path skipPath
	l.place(&path, n.score, n.member)
	after := n.next()
	if (n.prev == nil || n.prev.before(score, n.member)) && (after == nil || !after.before(score, n.member)) {
		n.score = score
		for i := range n.links() {
			path.nodes[i].links()[i].near = float32(score)
		}
		return
	}
	l.unlink(&path)
	n.score = score
	l.link(n)
}

// rank is the number of elements before n.
func (l *skiplist) rank(n *skipNode) int {
	var path skipPath
	l.place(&path, n.score, n.member)
	return path.ranks[0]
}

// at returns the element of that rank, counting from 0.
func (l *skiplist) at(rank int) *skipNode {
	if rank == 0 {
		return l.head.next()
	}
	if rank == l.length-1 {
		return l.tail
	}
	var path skipPath
	l.behind(&path, rank+1)
	return path.nodes[0]
}

// removeRange takes out n elements from rank start on and calls removed for
// each.
func (l *skiplist) removeRange(start, n int, removed func(*skipNode)) {
	var path skipPath
	l.behind(&path, start)
	for range n {
		removed(l.unlink(&path))
	}
}
