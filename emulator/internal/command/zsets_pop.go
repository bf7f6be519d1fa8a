package command

import (
	"math"
	"strconv"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/resp"
)

// popQuery is what a command of the ZPOPMIN kind is to take, and how it
// replies.
type popQuery struct {
	keys [][]byte
	max  bool
	// count is -1 where the command was not given one.
	count int64
	// emitKey puts the key before what was popped; nested makes pairs of members
	// and scores.
	emitKey, nested bool
	// nullIfEmpty replies with a null array, not an empty one, when no key holds
	// anything.
	nullIfEmpty bool
	// propagate makes replicas pop from the key that was chosen.
	propagate bool
}

func zpopmin(c *Call) { c.zpop(false) }

func zpopmax(c *Call) { c.zpop(true) }

func (c *Call) zpop(max bool) {
	q := popQuery{keys: c.Args[1:2], max: max, count: -1}
	if len(c.Args) > 3 {
		c.fail(errSyntax)
		return
	}
	if len(c.Args) == 3 {
		var ok bool
		if q.count, ok = c.rangeArg(2, 0, math.MaxInt64, "ERR value is out of range, must be positive"); !ok {
			return
		}
		q.nested = c.Reply.Proto() > 2
	}
	if key, zset, ok := c.firstZSet(q.keys); ok {
		c.pop(&q, key, zset)
	}
}

func zmpop(c *Call) {
	q := popQuery{nullIfEmpty: true, propagate: true}
	if !c.parseMultiPop(&q, 1) {
		return
	}
	if key, zset, ok := c.firstZSet(q.keys); ok {
		c.pop(&q, key, zset)
	}
}

func bzpopmin(c *Call) { c.bzpop(false) }

func bzpopmax(c *Call) { c.bzpop(true) }

func (c *Call) bzpop(max bool) {
	last := len(c.Args) - 1
	c.blockingPop(&popQuery{keys: c.Args[1:last], max: max, count: -1, emitKey: true, propagate: true}, last)
}

func bzmpop(c *Call) {
	q := popQuery{propagate: true}
	if c.parseMultiPop(&q, 2) {
		c.blockingPop(&q, 1)
	}
}

// parseMultiPop reads "numkeys key [key …] MIN|MAX [COUNT count]" from argument
// i on.
func (c *Call) parseMultiPop(q *popQuery, i int) bool {
	n, ok := c.rangeArg(i, 1, math.MaxInt64, "ERR numkeys should be greater than 0")
	if !ok {
		return false
	}
	if n >= int64(c.left(i)) {
		return c.fail(errSyntax)
	}
	q.keys = c.Args[i+1 : i+1+int(n)]
	q.emitKey, q.nested = true, true
	i += 1 + int(n)
	switch {
	case c.is(i, "min"):
	case c.is(i, "max"):
		q.max = true
	default:
		return c.fail(errSyntax)
	}
	q.count = -1
	for i++; i < len(c.Args); i++ {
		if q.count != -1 || !c.is(i, "count") || c.left(i) < 1 {
			return c.fail(errSyntax)
		}
		i++
		if q.count, ok = c.rangeArg(i, 1, math.MaxInt64, "ERR count should be greater than 0"); !ok {
			return false
		}
	}
	if q.count == -1 {
		q.count = 1
	}
	return true
}

// firstZSet finds the first key that exists, which must be a sorted set.
func (c *Call) firstZSet(keys [][]byte) (key []byte, zset *keyspace.ZSet, ok bool) {
	for _, key := range keys {
		if zset, ok := c.writeZSet(key); !ok || zset != nil {
			return key, zset, ok
		}
	}
	return nil, nil, true
}

// pop takes members from the sorted set at key, or replies that there is none.
func (c *Call) pop(q *popQuery, key []byte, zset *keyspace.ZSet) {
	switch {
	case zset == nil && q.nullIfEmpty:
		c.Reply.NullArray()
		return
	case zset == nil || q.count == 0:
		c.Reply.Array(0)
		return
	}
	n := int(min(int64(zset.Len()), max(q.count, 1)))
	switch {
	case q.emitKey && q.nested:
		c.Reply.Array(2)
		c.Reply.Bulk(key)
		c.Reply.Array(n)
	case q.emitKey:
		c.Reply.Array(2*n + 1)
		c.Reply.Bulk(key)
	case q.nested:
		c.Reply.Array(n)
	default:
		c.Reply.Array(2 * n)
	}
	first := 0
	if q.max {
		first = zset.Len() - 1
	}
	for member, score := range zset.Range(first, n, q.max) {
		if q.nested {
			c.Reply.Array(2)
		}
		c.Reply.Bulk(member)
		c.Reply.Double(score)
	}
	name, event := "ZPOPMIN", "zpopmin"
	if q.max {
		name, event = "ZPOPMAX", "zpopmax"
		first -= n - 1
	}
	zset.DeleteRange(first, n)
	c.removedFromZSet(key, zset, event, n)
	switch {
	case !q.propagate:
	case q.count == -1:
		c.Propagate([]byte(name), key)
	default:
		c.Propagate([]byte(name), key, strconv.AppendInt(nil, int64(n), 10))
	}
}

// blockingPop pops from the first key that holds a sorted set, or waits for
// one, for the time in argument timeout.
func (c *Call) blockingPop(q *popQuery, timeout int) {
	wait, ok := c.timeoutArg(timeout)
	if !ok {
		return
	}
	key, zset, ok := c.firstZSet(c.readyKeys(q.keys))
	if !ok {
		return
	}
	if zset != nil {
		c.pop(q, key, zset)
		return
	}
	c.blockOn(keyspace.KindZSet, q.keys, wait, resp.Sink.NullArray)
}
