package command

import (
	"iter"
	"math"
	"slices"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
)

func zrandmember(c *Call) {
	if len(c.Args) >= 3 {
		c.zrandmembers()
		return
	}
	zset, ok := c.readZSet(c.Args[1])
	switch {
	case !ok:
	case zset == nil:
		c.Reply.Null()
	default:
		member, _ := zset.At(c.Keyspace().Rand.IntN(zset.Len()))
		c.Reply.Bulk(member)
	}
}

// zrandmembers is ZRANDMEMBER with a count: distinct members, or any, if it is
// negative.
func (c *Call) zrandmembers() {
	count, ok := c.intArg(2)
	if !ok {
		return
	}
	if count == math.MinInt64 {
		c.fail("ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807")
		return
	}
	withScores := len(c.Args) > 3
	if len(c.Args) > 4 || withScores && !c.is(3, "withscores") {
		c.fail(errSyntax)
		return
	}
	if withScores && (count < -math.MaxInt64/2 || count > math.MaxInt64/2) {
		c.fail("ERR value is out of range")
		return
	}
	zset, ok := c.readZSet(c.Args[1])
	switch {
	case !ok:
	case zset == nil || count == 0:
		c.Reply.Array(0)
	case count < 0 || count == 1:
		size := func() (size int) {
			for member := range zset.All() {
				size += len(member)
			}
			return size
		}
		if tooOften(c, -count, zset.Len(), size) {
			return
		}
		n := int(max(count, -count))
		c.replyMembers(c.anyMembers(zset, n), n, withScores)
	case count >= int64(zset.Len()):
		// The whole set, from the top like Redis' iterators.
		n := zset.Len()
		c.replyMembers(zset.Range(n-1, n, true), n, withScores)
	default:
		n := int(count)
		c.replyMembers(c.distinctMembers(zset, n), n, withScores)
	}
}

// anyMembers yields n random members.
func (c *Call) anyMembers(zset *keyspace.ZSet, n int) iter.Seq2[[]byte, float64] {
	return func(yield func([]byte, float64) bool) {
		for range n {
			if !yield(zset.At(c.Keyspace().Rand.IntN(zset.Len()))) {
				return
			}
		}
	}
}

// distinctMembers yields n different random members, fewer than there are, in
// order: Floyd's sampling of ranks.
func (c *Call) distinctMembers(zset *keyspace.ZSet, n int) iter.Seq2[[]byte, float64] {
	return func(yield func([]byte, float64) bool) {
		taken := make(map[int]bool, n)
		ranks := make([]int, 0, n)
		for top := zset.Len() - n; top < zset.Len(); top++ {
			rank := c.Keyspace().Rand.IntN(top + 1)
			if taken[rank] {
				rank = top
			}
			taken[rank] = true
			ranks = append(ranks, rank)
		}
		slices.Sort(ranks)
		for _, rank := range ranks {
			if !yield(zset.At(rank)) {
				return
			}
		}
	}
}

func zscan(c *Call) {
	cursor, ok := c.scanCursor(2)
	if !ok {
		return
	}
	zset, ok := c.readZSet(c.Args[1])
	if !ok {
		return
	}
	if zset == nil {
		c.replyScan(0, 0)
		return
	}
	options, ok := c.scanOptions(3, false)
	if !ok {
		return
	}
	seen := 0
	var found []string // members and scores in turn
	cursor = options.walk(cursor, func() int { return seen }, func(cursor uint64) uint64 {
		return zset.Scan(cursor, func(member, score []byte) {
			seen++
			if name := string(member); options.matches(name) {
				found = append(found, name, string(score))
			}
		})
	})
	c.replyScan(cursor, len(found))
	for _, word := range found {
		c.Reply.BulkString(word)
	}
}
