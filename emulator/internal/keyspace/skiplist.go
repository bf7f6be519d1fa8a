package keyspace

import "math/bits"

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
	links  []skipLink
	lowest [1]skipLink // saves three nodes out of four an allocation
}

// skipLink leads to the next node of a level.
type skipLink struct {
	next *skipNode
	span int // how many elements further that is
}

// maxSkipLevels is enough for 4^32 elements.
const maxSkipLevels = 32

func newSkiplist() *skiplist {
	return &skiplist{head: &skipNode{links: make([]skipLink, maxSkipLevels)}, levels: 1}
}

// next is the node behind n, or nil.
func (n *skipNode) next() *skipNode { return n.links[0].next }

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
	n := &skipNode{member: member, score: score}
	if height == 1 {
		n.links = n.lowest[:]
	} else {
		n.links = make([]skipLink, height)
	}
	return n
}

// skipPath is the way down to a place in the list: on each level the last node
// before it and that node's rank, counting from 1; the head's is 0.
type skipPath struct {
	nodes [maxSkipLevels]*skipNode
	ranks [maxSkipLevels]int
}

// find sets path to the place where left turns false; it must be true for the
// first elements only.
func (l *skiplist) find(path *skipPath, left func(n *skipNode, rank int) bool) {
	n, rank := l.head, 0
	for i := l.levels - 1; i >= 0; i-- {
		for {
			link := n.links[i]
			if link.next == nil || !left(link.next, rank+link.span) {
				break
			}
			n, rank = link.next, rank+link.span
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
			link := n.links[i]
			if link.next == nil || !left(link.next) {
				break
			}
			n, rank = link.next, rank+link.span
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
	l.find(&path, func(at *skipNode, _ int) bool { return at.before(n.score, n.member) })
	for ; l.levels < len(n.links); l.levels++ {
		path.nodes[l.levels] = l.head
		l.head.links[l.levels] = skipLink{span: l.length}
	}
	for i := range n.links {
		before, skipped := &path.nodes[i].links[i], path.ranks[0]-path.ranks[i]
		n.links[i] = skipLink{next: before.next, span: before.span - skipped}
		*before = skipLink{next: n, span: skipped + 1}
	}
	for i := len(n.links); i < l.levels; i++ {
		path.nodes[i].links[i].span++
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
	n := path.nodes[0].links[0].next
	for i := range l.levels {
		link := &path.nodes[i].links[i]
		if link.next == n {
			link.next, link.span = n.links[i].next, link.span+n.links[i].span-1
		} else {
			link.span--
		}
	}
	if after := n.next(); after != nil {
		after.prev = n.prev
	} else {
		l.tail = n.prev
	}
	for l.levels > 1 && l.head.links[l.levels-1].next == nil {
		l.levels--
	}
	l.length--
	return n
}

// remove takes an element out.
func (l *skiplist) remove(n *skipNode) {
	var path skipPath
	l.find(&path, func(at *skipNode, _ int) bool { return at.before(n.score, n.member) })
	l.unlink(&path)
}

// setScore moves an element to where its new score belongs.
func (l *skiplist) setScore(n *skipNode, score float64) {
	after := n.next()
	if (n.prev == nil || n.prev.before(score, n.member)) && (after == nil || !after.before(score, n.member)) {
		n.score = score
		return
	}
	l.remove(n)
	n.score = score
	l.link(n)
}

// rank is the number of elements before n.
func (l *skiplist) rank(n *skipNode) int {
	return l.count(func(at *skipNode) bool { return at.before(n.score, n.member) })
}

// at returns the element of that rank, counting from 0.
func (l *skiplist) at(rank int) *skipNode {
	if rank == 0 {
		return l.head.next()
	}
	if rank == l.length-1 {
		return l.tail
	}
	n, reached := l.head, 0
	for i := l.levels - 1; i >= 0; i-- {
		for n.links[i].next != nil && reached+n.links[i].span <= rank+1 {
			reached += n.links[i].span
			n = n.links[i].next
		}
	}
	return n
}

// removeRange takes out n elements from rank start on and calls removed for
// each.
func (l *skiplist) removeRange(start, n int, removed func(*skipNode)) {
	var path skipPath
	l.find(&path, func(_ *skipNode, rank int) bool { return rank <= start })
	for range n {
		removed(l.unlink(&path))
	}
}
