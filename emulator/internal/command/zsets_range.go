package command

import (
	"bytes"
	"iter"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
)

const (
	errScoreRange = "ERR min or max is not a float"
	errLexRange   = "ERR min or max not valid string range item"
)

// rangeKind is by what a range selects members.
type rangeKind uint8

const (
	byRank rangeKind = iota
	byScore
	byLex
)

// rangeQuery selects members of a sorted set: an interval of ranks, scores or
// members, and a part of what lies in it.
type rangeQuery struct {
	kind       rangeKind
	reverse    bool
	withScores bool
	start, end int64 // byRank
	scores     keyspace.ScoreRange
	lex        keyspace.LexRange
	offset     int64
	limit      int64 // none when negative
}

// parseBounds reads the bounds of a range, arguments low and high.
func (c *Call) parseBounds(q *rangeQuery, low, high int) bool {
	var ok bool
	switch q.kind {
	case byRank:
		if q.start, ok = c.intArg(low); ok {
			q.end, ok = c.intArg(high)
		}
		return ok
	case byScore:
		if q.scores, ok = parseScoreRange(c.Args[low], c.Args[high]); !ok {
			return c.fail(errScoreRange)
		}
	case byLex:
		if q.lex, ok = parseLexRange(c.Args[low], c.Args[high]); !ok {
			return c.fail(errLexRange)
		}
	}
	return true
}

func parseScoreRange(low, high []byte) (r keyspace.ScoreRange, ok bool) {
	if r.Min, r.MinEx, ok = parseScoreBound(low); !ok {
		return r, false
	}
	r.Max, r.MaxEx, ok = parseScoreBound(high)
	return r, ok
}

func parseScoreBound(arg []byte) (score float64, exclusive, ok bool) {
	arg, exclusive = bytes.CutPrefix(arg, []byte("("))
	score, ok = number.ParseFloatC(arg)
	return score, exclusive, ok
}

func parseLexRange(low, high []byte) (r keyspace.LexRange, ok bool) {
	if r.Min, ok = parseLexBound(low); !ok {
		return r, false
	}
	r.Max, ok = parseLexBound(high)
	return r, ok
}

func parseLexBound(arg []byte) (b keyspace.LexBound, ok bool) {
	if len(arg) == 0 {
		return b, false
	}
	switch arg[0] {
	case '+', '-':
		b.Infinite, b.Exclusive = 1, true
		if arg[0] == '-' {
			b.Infinite = -1
		}
		return b, len(arg) == 1 || arg[1] == 0 // a C string to Redis
	case '[', '(':
		b.Member, b.Exclusive = string(arg[1:]), arg[0] == '('
		return b, true
	}
	return b, false
}

// span finds the members q selects: n of them from rank start on, against the
// order if q is reversed.
func (q *rangeQuery) span(zset *keyspace.ZSet) (start, n int) {
	length, skip := zset.Len(), q.offset
	switch q.kind {
	case byRank:
		start, n = rankSpan(q.start, q.end, length)
		if q.reverse {
			start = length - 1 - start
		}
		return start, n
	case byScore:
		start, n = zset.ScoreSpan(q.scores)
	case byLex:
		start, n = zset.LexSpan(q.lex, q.reverse, q.offset)
		skip = 0
	}
	if q.reverse {
		start += n - 1
	}
	if skip < 0 || skip >= int64(n) {
		return 0, 0
	}
	n -= int(skip)
	if q.limit >= 0 {
		n = int(min(int64(n), q.limit))
	}
	if q.reverse {
		return start - int(skip), n
	}
	return start + int(skip), n
}

// rankSpan turns ranks, counted from the end when negative, into a start and a
// number of members.
func rankSpan(start, end int64, length int) (int, int) {
	size := int64(length)
	if start < 0 {
		start = max(start+size, 0)
	}
	if end < 0 {
		end += size
	}
	if start > end || start >= size {
		return 0, 0
	}
	return int(start), int(min(end, size-1) - start + 1)
}

func zrange(c *Call) { c.zrange(rangeQuery{}, true) }

func zrevrange(c *Call) { c.zrange(rangeQuery{reverse: true}, false) }

func zrangebyscore(c *Call) { c.zrange(rangeQuery{kind: byScore}, false) }

func zrevrangebyscore(c *Call) { c.zrange(rangeQuery{kind: byScore, reverse: true}, false) }

func zrangebylex(c *Call) { c.zrange(rangeQuery{kind: byLex}, false) }

func zrevrangebylex(c *Call) { c.zrange(rangeQuery{kind: byLex, reverse: true}, false) }

// zrange replies with the members a query selects; free lets the arguments say
// by what and in which direction.
func (c *Call) zrange(q rangeQuery, free bool) {
	if !c.parseRange(&q, 1, free, false) {
		return
	}
	zset, ok := c.readZSet(c.Args[1])
	if !ok {
		return
	}
	if zset == nil {
		c.Reply.Array(0)
		return
	}
	start, n := q.span(zset)
	c.replyMembers(zset.Range(start, n, q.reverse), n, q.withScores)
}

// replyMembers replies with n members, each followed by its score in RESP2, in
// a pair with it in RESP3, if there are to be scores.
func (c *Call) replyMembers(members iter.Seq2[[]byte, float64], n int, withScores bool) {
	pairs := withScores && c.Reply.Proto() > 2
	if withScores && !pairs {
		c.Reply.Array(2 * n)
	} else {
		c.Reply.Array(n)
	}
	for member, score := range members {
		if pairs {
			c.Reply.Array(2)
		}
		c.Reply.Bulk(member)
		if withScores {
			c.Reply.Double(score)
		}
	}
}

// parseRange reads the key's two bounds, behind the argument key, and the
// options behind them.
func (c *Call) parseRange(q *rangeQuery, key int, free, store bool) bool {
	q.limit = -1
	freeReverse, freeKind := free, free
	for i := key + 3; i < len(c.Args); i++ {
		switch {
		case !store && c.is(i, "withscores"):
			q.withScores = true
		case c.is(i, "limit") && c.left(i) >= 2:
			var ok bool
			if q.offset, ok = c.intArg(i + 1); !ok {
				return false
			}
			if q.limit, ok = c.intArg(i + 2); !ok {
				return false
			}
			i += 2
		case freeReverse && c.is(i, "rev"):
			q.reverse, freeReverse = true, false
		case freeKind && c.is(i, "bylex"):
			q.kind, freeKind = byLex, false
		case freeKind && c.is(i, "byscore"):
			q.kind, freeKind = byScore, false
		default:
			return c.fail(errSyntax)
		}
	}
	if q.limit != -1 && q.kind == byRank {
		return c.fail("ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX")
	}
	if q.withScores && q.kind == byLex {
		return c.fail("ERR syntax error, WITHSCORES not supported in combination with BYLEX")
	}
	if q.reverse && q.kind != byRank {
		return c.parseBounds(q, key+2, key+1)
	}
	return c.parseBounds(q, key+1, key+2)
}

func zrangestore(c *Call) {
	var q rangeQuery
	if !c.parseRange(&q, 2, true, true) {
		return
	}
	source, ok := c.readZSet(c.Args[2])
	if !ok {
		return
	}
	limits := &c.Keyspace().Limits
	result := keyspace.NewZSet(limits)
	if source != nil {
		start, n := q.span(source)
		if q.kind == byRank && n > limits.ZSetMaxListpackEntries {
			result = keyspace.NewLargeZSet(limits) // only here Redis knows n beforehand
		}
		for member, score := range source.Range(start, n, q.reverse) {
			result.Add(member, score, keyspace.AddOptions{})
		}
	}
	c.storeZSet(c.Args[1], result, "zrangestore", 1)
}

// storeZSet makes key hold the result of a command, or nothing if that is
// empty, counts n changes, and replies with the number of members.
func (c *Call) storeZSet(key []byte, result *keyspace.ZSet, event string, n int) {
	c.Reply.Int(int64(result.Len()))
	if result.Len() > 0 {
		c.DB.Set(key, result, false)
		c.zsetChanged(key, event, n)
		return
	}
	if c.DB.Drop(key) {
		c.Changed(key, keyspace.ClassGeneric, "del")
	}
}

func zcount(c *Call) { c.zcount(rangeQuery{kind: byScore, limit: -1}) }

func zlexcount(c *Call) { c.zcount(rangeQuery{kind: byLex, limit: -1}) }

func (c *Call) zcount(q rangeQuery) {
	if !c.parseBounds(&q, 2, 3) {
		return
	}
	zset, ok := c.readZSet(c.Args[1])
	if !ok {
		return
	}
	n := 0
	if zset != nil {
		_, n = q.span(zset)
	}
	c.Reply.Int(int64(n))
}

func zremrangebyrank(c *Call) { c.zremrange(rangeQuery{kind: byRank}, "zremrangebyrank") }

func zremrangebyscore(c *Call) {
	c.zremrange(rangeQuery{kind: byScore, limit: -1}, "zremrangebyscore")
}

func zremrangebylex(c *Call) { c.zremrange(rangeQuery{kind: byLex, limit: -1}, "zremrangebylex") }

func (c *Call) zremrange(q rangeQuery, event string) {
	if !c.parseBounds(&q, 2, 3) {
		return
	}
	key := c.Args[1]
	zset, ok := c.writeZSet(key)
	if !ok {
		return
	}
	n := 0
	if zset != nil {
		var start int
		if start, n = q.span(zset); n > 0 {
			zset.DeleteRange(start, n)
			c.removedFromZSet(key, zset, event, n)
		}
	}
	c.Reply.Int(int64(n))
}
