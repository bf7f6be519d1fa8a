package command

import (
	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
)

var zsetCommands = map[string]Handler{
	"zadd":             zadd,
	"zcard":            zcard,
	"zcount":           zcount,
	"zdiff":            zdiff,
	"zdiffstore":       zdiffstore,
	"zincrby":          zincrby,
	"zinter":           zinter,
	"zintercard":       zintercard,
	"zinterstore":      zinterstore,
	"zlexcount":        zlexcount,
	"zmpop":            zmpop,
	"bzmpop":           bzmpop,
	"zmscore":          zmscore,
	"zpopmax":          zpopmax,
	"zpopmin":          zpopmin,
	"bzpopmax":         bzpopmax,
	"bzpopmin":         bzpopmin,
	"zrandmember":      zrandmember,
	"zrange":           zrange,
	"zrangebylex":      zrangebylex,
	"zrangebyscore":    zrangebyscore,
	"zrangestore":      zrangestore,
	"zrank":            zrank,
	"zrem":             zrem,
	"zremrangebylex":   zremrangebylex,
	"zremrangebyrank":  zremrangebyrank,
	"zremrangebyscore": zremrangebyscore,
	"zrevrange":        zrevrange,
	"zrevrangebylex":   zrevrangebylex,
	"zrevrangebyscore": zrevrangebyscore,
	"zrevrank":         zrevrank,
	"zscan":            zscan,
	"zscore":           zscore,
	"zunion":           zunion,
	"zunionstore":      zunionstore,
}

// readZSet looks up the sorted set at key for a command that reads it: nil if
// there is none, false and an error reply if it is something else.
func (c *Call) readZSet(key []byte) (*keyspace.ZSet, bool) {
	return lookup[keyspace.ZSet](c, c.DB.Read(key))
}

// writeZSet is readZSet for a command that changes the set.
func (c *Call) writeZSet(key []byte) (*keyspace.ZSet, bool) {
	return lookup[keyspace.ZSet](c, c.DB.Write(key))
}

func zadd(c *Call) { c.zadd(keyspace.AddOptions{}) }

func zincrby(c *Call) { c.zadd(keyspace.AddOptions{Incr: true}) }

func (c *Call) zadd(options keyspace.AddOptions) {
	countChanges := false
	i := 2
options:
	for ; i < len(c.Args); i++ {
		switch {
		case c.is(i, "nx"):
			options.NX = true
		case c.is(i, "xx"):
			options.XX = true
		case c.is(i, "gt"):
			options.GT = true
		case c.is(i, "lt"):
			options.LT = true
		case c.is(i, "ch"):
			countChanges = true
		case c.is(i, "incr"):
			options.Incr = true
		default:
			break options
		}
	}
	pairs := c.Args[i:]
	if !c.checkAddOptions(options, len(pairs)) {
		return
	}
	scores := make([]float64, 0, 8)
	for ; i < len(c.Args); i += 2 {
		score, ok := c.floatArg(i)
		if !ok {
			return
		}
		scores = append(scores, score)
	}
	c.addPairs(pairs, scores, options, countChanges)
}

// checkAddOptions rejects options that exclude each other, and arguments that
// are not score-member pairs.
func (c *Call) checkAddOptions(o keyspace.AddOptions, arguments int) bool {
	switch {
	case arguments == 0 || arguments%2 != 0:
		return c.fail(errSyntax)
	case o.NX && o.XX:
		return c.fail("ERR XX and NX options at the same time are not compatible")
	case o.GT && o.NX || o.LT && o.NX || o.GT && o.LT:
		return c.fail("ERR GT, LT, and/or NX options at the same time are not compatible")
	case o.Incr && arguments > 2:
		return c.fail("ERR INCR option supports a single increment-element pair")
	}
	return true
}

// addPairs gives every second argument of pairs its score and replies as ZADD
// does.
func (c *Call) addPairs(pairs [][]byte, scores []float64, options keyspace.AddOptions, countChanges bool) {
	key := c.Args[1]
	zset, ok := c.writeZSet(key)
	if !ok {
		return
	}
	if zset == nil && !options.XX {
		zset = keyspace.NewZSet(&c.Keyspace().Limits)
		c.DB.Add(key, zset)
	}
	var counts [keyspace.NotNumber + 1]int
	var score float64
	if zset != nil {
		for i := range scores {
			var result keyspace.AddResult
			result, score = zset.Add(pairs[2*i+1], scores[i], options)
			counts[result]++
		}
	}
	changes := counts[keyspace.Added] + counts[keyspace.Updated]
	switch {
	case counts[keyspace.NotNumber] > 0:
		c.Reply.Error("ERR resulting score is not a number (NaN)")
	case options.Incr && (zset == nil || counts[keyspace.Skipped] > 0):
		c.Reply.Null()
	case options.Incr:
		c.Reply.Double(score)
	case countChanges:
		c.Reply.Int(int64(changes))
	default:
		c.Reply.Int(int64(counts[keyspace.Added]))
	}
	if changes == 0 {
		return
	}
	event := "zadd"
	if options.Incr {
		event = "zincr"
	}
	c.zsetChanged(key, event, changes)
}

// zsetChanged is Changed for n changes at once.
func (c *Call) zsetChanged(key []byte, event string, n int) {
	c.DB.Modified(key)
	c.DB.Event(keyspace.ClassZSet, event, key)
	c.Keyspace().Dirty += int64(n)
}

// removedFromZSet records that a command took n > 0 members out of the sorted
// set at key, and removes the key if none is left.
func (c *Call) removedFromZSet(key []byte, zset *keyspace.ZSet, event string, n int) {
	c.zsetChanged(key, event, n)
	if zset.Len() == 0 {
		c.DB.Delete(key)
		c.Removed(key)
	}
}

func zrem(c *Call) {
	key := c.Args[1]
	zset, ok := c.writeZSet(key)
	if !ok {
		return
	}
	deleted := 0
	if zset != nil {
		for _, member := range c.Args[2:] {
			if zset.Delete(member) {
				deleted++
			}
		}
	}
	if deleted > 0 {
		c.removedFromZSet(key, zset, "zrem", deleted)
	}
	c.Reply.Int(int64(deleted))
}

func zcard(c *Call) {
	zset, ok := c.readZSet(c.Args[1])
	switch {
	case !ok:
	case zset == nil:
		c.Reply.Int(0)
	default:
		c.Reply.Int(int64(zset.Len()))
	}
}

func zscore(c *Call) {
	if zset, ok := c.readZSet(c.Args[1]); ok {
		c.replyScore(zset, c.Args[2])
	}
}

func zmscore(c *Call) {
	zset, ok := c.readZSet(c.Args[1])
	if !ok {
		return
	}
	c.Reply.Array(len(c.Args) - 2)
	for _, member := range c.Args[2:] {
		c.replyScore(zset, member)
	}
}

// replyScore replies with the score of a member of zset, which may be nil.
func (c *Call) replyScore(zset *keyspace.ZSet, member []byte) {
	if zset != nil {
		if score, ok := zset.Score(member); ok {
			c.Reply.Double(score)
			return
		}
	}
	c.Reply.Null()
}

func zrank(c *Call) { c.zrank(false) }

func zrevrank(c *Call) { c.zrank(true) }

func (c *Call) zrank(reverse bool) {
	withScore := len(c.Args) > 3
	if withScore {
		// The table lets more arguments through since 7.2.
		if len(c.Args) > 4 {
			c.failArity()
			return
		}
		if !c.is(3, "withscore") {
			c.fail(errSyntax)
			return
		}
	}
	zset, ok := c.readZSet(c.Args[1])
	if !ok {
		return
	}
	var rank int
	var score float64
	found := false
	if zset != nil {
		rank, score, found = zset.Rank(c.Args[2])
	}
	if found && reverse {
		rank = zset.Len() - 1 - rank
	}
	switch {
	case !found && withScore:
		c.Reply.NullArray()
	case !found:
		c.Reply.Null()
	case withScore:
		c.Reply.Array(2)
		c.Reply.Int(int64(rank))
		c.Reply.Double(score)
	default:
		c.Reply.Int(int64(rank))
	}
}
