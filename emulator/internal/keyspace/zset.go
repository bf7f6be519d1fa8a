package keyspace

import (
	"iter"
	"math"
	"unsafe"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace/listpack"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
)

// ZSet is a sorted set: members with scores, in order of score and then of the
// members' bytes. Small ones are a listpack of members and scores in turn;
// larger ones a skiplist, for the order, beside a dictionary that finds a
// member's node.
//
// Ranges of any kind (by score, by member) are turned into ranks first, which
// both encodings know how to find; everything else works on ranks.
type ZSet struct {
	limits *Limits
	pack   *listpack.Pack // nil once the set is a skiplist
	list   *skiplist
	dict   Dict[*skipNode]
}

// NewZSet returns an empty sorted set.
func NewZSet(limits *Limits) *ZSet {
	return &ZSet{limits: limits, pack: listpack.New()}
}

// NewLargeZSet returns an empty sorted set that is a skiplist from the start.
// Compact makes it what it should be.
func NewLargeZSet(limits *Limits) *ZSet {
	return &ZSet{limits: limits, list: newSkiplist()}
}

// Kind is KindZSet.
func (z *ZSet) Kind() Kind { return KindZSet }

// Encoding is "listpack" ("ziplist" before Redis 7.0) or "skiplist".
func (z *ZSet) Encoding() string {
	switch {
	case z.pack == nil:
		return "skiplist"
	case z.limits.Version.AtLeast(7, 0):
		return "listpack"
	}
	return "ziplist"
}

// Clone returns a deep copy.
func (z *ZSet) Clone() Value {
	if z.pack != nil {
		return &ZSet{limits: z.limits, pack: z.pack.Clone()}
	}
	c := &ZSet{limits: z.limits, list: newSkiplist()}
	for n := z.list.head.next(); n != nil; n = n.next() {
		c.dict.Add(n.member, c.list.insert(n.member, n.score))
	}
	return c
}

// Memory approximates the size of what Redis would allocate.
func (z *ZSet) Memory() int64 {
	const (
		object = 16
		// A zset, its skiplist with the header node, its dict.
		skiplistBase = 16 + 32 + 560 + 96
		// A node (of 1⅓ levels), a dict entry and a bucket.
		skiplistNode = 45 + 24 + 8
	)
	if z.pack != nil {
		return object + int64(z.pack.Size())
	}
	size := int64(object + skiplistBase)
	for n := z.list.head.next(); n != nil; n = n.next() {
		size += skiplistNode + int64(len(n.member))
	}
	return size
}

// Len is the number of members.
func (z *ZSet) Len() int {
	if z.pack != nil {
		return z.pack.Len() / 2
	}
	return z.list.length
}

// Score returns a member's score.
func (z *ZSet) Score(member []byte) (score float64, ok bool) {
	if z.pack != nil {
		at := z.pack.Find(z.pack.First(), member, 1)
		if at == listpack.None {
			return 0, false
		}
		return z.packScore(at), true
	}
	n := z.dict.Find(member)
	if n == nil {
		return 0, false
	}
	return n.Value.score, true
}

// packScore is the score of the member at a position.
func (z *ZSet) packScore(at listpack.Pos) float64 {
	entry := z.pack.Get(z.pack.Next(at))
	if n, ok := entry.Int(); ok {
		return float64(n)
	}
	score, _ := number.ParseFloat(entry.Bytes()) // was printed by storedScore
	return score
}

// storedScore is how a listpack holds a score. Since 7.0 Redis stores whole
// numbers by value, so that -0 becomes 0.
func (z *ZSet) storedScore(score float64) []byte {
	switch {
	case z.limits.Version.AtLeast(7, 0) && score == math.Trunc(score) && math.Abs(score) <= 1<<62:
		return number.AppendInt(nil, int64(score))
	case z.limits.Version.AtLeast(7, 2):
		return number.AppendShortest(nil, score)
	}
	return number.AppendFloat(nil, score)
}

// AddOptions are the conditions of ZADD: NX only adds, XX only updates, GT and
// LT update only to a greater or lesser score, Incr adds to the old score.
type AddOptions struct {
	NX, XX, GT, LT, Incr bool
}

// AddResult says what ZSet.Add did.
type AddResult uint8

// The results of ZSet.Add.
const (
	Skipped   AddResult = iota // the options did not allow it
	Added                      // the member is new
	Updated                    // the member has a new score
	Unchanged                  // the member already had that score
	NotNumber                  // the sum of the scores is not a number
)

// Add gives a member a score, as options allow, and returns the score it has
// now; that is meaningless when the result is Skipped or NotNumber.
func (z *ZSet) Add(member []byte, score float64, options AddOptions) (AddResult, float64) {
	var at listpack.Pos
	var node *skipNode
	var old float64
	exists := false
	if z.pack != nil {
		if at = z.pack.Find(z.pack.First(), member, 1); at != listpack.None {
			exists, old = true, z.packScore(at)
		}
	} else if n := z.dict.Find(member); n != nil {
		exists, node, old = true, n.Value, n.Value.score
	}
	switch {
	case !exists && options.XX || exists && options.NX:
		return Skipped, 0
	case !exists:
		z.insert(member, score)
		return Added, score
	case options.Incr:
		if score += old; math.IsNaN(score) {
			return NotNumber, 0
		}
	}
	switch {
	case options.LT && score >= old || options.GT && score <= old:
		return Skipped, 0
	case score == old:
		return Unchanged, score
	case node != nil:
		z.list.setScore(node, score)
	default:
		z.pack.DeleteRange(at, 2)
		z.packInsert(member, score)
	}
	return Updated, score
}

// insert adds a member that is not there, changing the encoding if it has to.
func (z *ZSet) insert(member []byte, score float64) {
	if z.pack != nil {
		if z.Len() < z.limits.ZSetMaxListpackEntries && len(member) <= z.limits.ZSetMaxListpackValue &&
			z.pack.Fits(len(member)) {
			z.packInsert(member, score)
			return
		}
		z.toSkiplist()
	}
	s := string(member)
	z.dict.Add(s, z.list.insert(s, score))
}

func (z *ZSet) packInsert(member []byte, score float64) {
	stored := z.storedScore(score)
	for at := z.pack.First(); at != listpack.None; at = z.packNext(at) {
		if s := z.packScore(at); s > score || s == score && string(z.pack.Get(at).Bytes()) > string(member) {
			z.pack.InsertAfter(z.pack.InsertBefore(at, member), stored)
			return
		}
	}
	z.pack.Append(member)
	z.pack.Append(stored)
}

// packNext is the position of the next member.
func (z *ZSet) packNext(at listpack.Pos) listpack.Pos { return z.pack.Next(z.pack.Next(at)) }

func (z *ZSet) toSkiplist() {
	list := newSkiplist()
	for member, score := range z.Range(0, z.Len(), false) {
		s := string(member)
		z.dict.Add(s, list.insert(s, score))
	}
	z.pack, z.list = nil, list
}

// Compact turns a skiplist that is small enough into a listpack. Redis does that
// with the results of commands only, never with a set that shrank.
func (z *ZSet) Compact() {
	if z.pack != nil || z.list.length > z.limits.ZSetMaxListpackEntries {
		return
	}
	pack := listpack.New()
	for n := z.list.head.next(); n != nil; n = n.next() {
		if len(n.member) > z.limits.ZSetMaxListpackValue || !pack.Fits(len(n.member)) {
			return
		}
		pack.Append(bytesOf(n.member))
		pack.Append(z.storedScore(n.score))
	}
	*z = ZSet{limits: z.limits, pack: pack}
}

// Delete removes a member and reports whether it was there.
func (z *ZSet) Delete(member []byte) bool {
	if z.pack != nil {
		at := z.pack.Find(z.pack.First(), member, 1)
		if at == listpack.None {
			return false
		}
		z.pack.DeleteRange(at, 2)
		return true
	}
	n := z.dict.Delete(string(member))
	if n == nil {
		return false
	}
	z.list.remove(n.Value)
	return true
}

// DeleteRange removes n members from rank start on; there must be as many.
func (z *ZSet) DeleteRange(start, n int) {
	switch {
	case n <= 0:
	case z.pack != nil:
		z.pack.DeleteRange(z.pack.At(2*start), 2*n)
	default:
		z.list.removeRange(start, n, func(gone *skipNode) { z.dict.Delete(gone.member) })
	}
}

// Rank returns how many members come before member, and its score.
func (z *ZSet) Rank(member []byte) (rank int, score float64, ok bool) {
	if z.pack == nil {
		n := z.dict.Find(member)
		if n == nil {
			return 0, 0, false
		}
		return z.list.rank(n.Value), n.Value.score, true
	}
	key := listpack.MakeKey(member)
	for at := z.pack.First(); at != listpack.None; at = z.packNext(at) {
		if z.pack.Get(at).Is(key) {
			return rank, z.packScore(at), true
		}
		rank++
	}
	return 0, 0, false
}

// At returns the member of a rank, which must exist. The bytes are valid until
// the set changes and must not be written to.
func (z *ZSet) At(rank int) (member []byte, score float64) {
	if z.pack == nil {
		n := z.list.at(rank)
		return bytesOf(n.member), n.score
	}
	at := z.pack.At(2 * rank)
	return z.pack.Get(at).Bytes(), z.packScore(at)
}

// Range yields n members and their scores from rank start on, upwards or, in
// reverse, downwards; there must be as many. The bytes are valid during the
// step only and must not be written to. The set must not change during the
// walk.
func (z *ZSet) Range(start, n int, reverse bool) iter.Seq2[[]byte, float64] {
	return func(yield func([]byte, float64) bool) {
		switch {
		case n <= 0:
		case z.pack != nil:
			z.packRange(start, n, reverse, yield)
		default:
			node := z.list.at(start)
			for left := n; left > 0 && yield(bytesOf(node.member), node.score); left-- {
				if reverse {
					node = node.prev
				} else {
					node = node.next()
				}
			}
		}
	}
}

func (z *ZSet) packRange(start, n int, reverse bool, yield func([]byte, float64) bool) {
	var buffer [64]byte
	at := z.pack.At(2 * start)
	for yield(z.pack.Get(at).AppendTo(buffer[:0]), z.packScore(at)) {
		if n--; n == 0 {
			return
		}
		if reverse {
			at = z.pack.Prev(z.pack.Prev(at))
		} else {
			at = z.packNext(at)
		}
	}
}

// All yields every member and its score in order; see Range.
func (z *ZSet) All() iter.Seq2[[]byte, float64] { return z.Range(0, z.Len(), false) }

// Scan visits the members at cursor and returns the next cursor, as Dict.Scan
// does; a listpack is visited at once. Scores are text, as ZSCAN answers with: a
// listpack's are printed as they are stored. Both are valid during the visit
// only.
func (z *ZSet) Scan(cursor uint64, visit func(member, score []byte)) uint64 {
	if z.pack == nil {
		return z.dict.Scan(cursor, func(n *Node[*skipNode]) {
			visit(bytesOf(n.key), number.AppendFloat(nil, n.Value.score))
		})
	}
	for member, score := range z.All() {
		visit(member, z.storedScore(score))
	}
	return 0
}

// bytesOf returns the bytes of s itself, which must not be written to.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
