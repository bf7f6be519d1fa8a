package command

import (
	"bytes"
	"math"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
)

var setCommands = map[string]Handler{
	"sadd":        sadd,
	"srem":        srem,
	"smove":       smove,
	"sismember":   sismember,
	"smismember":  smismember,
	"scard":       scard,
	"spop":        spop,
	"srandmember": srandmember,
	"smembers":    smembers,
	"sscan":       sscan,
	"sinter":      sinter,
	"sinterstore": sinterstore,
	"sintercard":  sintercard,
	"sunion":      sunion,
	"sunionstore": sunionstore,
	"sdiff":       sdiff,
	"sdiffstore":  sdiffstore,
}

// readSet looks up argument 1 for reading; it is nil for a missing key.
func readSet(c *Call) (*keyspace.Set, bool) {
	return lookup[keyspace.Set](c, c.DB.Read(c.Args[1]))
}

func writeSet(c *Call) (*keyspace.Set, bool) {
	return lookup[keyspace.Set](c, c.DB.Write(c.Args[1]))
}

func sadd(c *Call) {
	key, members := c.Args[1], c.Args[2:]
	set, ok := writeSet(c)
	if !ok {
		return
	}
	if set == nil {
		set = keyspace.NewSetFor(&c.Keyspace().Limits, members[0], len(members))
		c.DB.Add(key, set)
	} else {
		set.Expect(len(members))
	}
	added := int64(0)
	for _, member := range members {
		if set.Add(member) {
			added++
		}
	}
	if added > 0 {
		c.DB.Modified(key)
		c.DB.Event(keyspace.ClassSet, "sadd", key)
		c.Keyspace().Dirty += added
	}
	c.Reply.Int(added)
}

func srem(c *Call) {
	key := c.Args[1]
	set, ok := writeSet(c)
	if !ok {
		return
	}
	if set == nil {
		c.Reply.Int(0)
		return
	}
	removed := int64(0)
	for _, member := range c.Args[2:] {
		if set.Remove(member) {
			removed++
		}
	}
	if removed > 0 {
		c.DB.Modified(key)
		c.DB.Event(keyspace.ClassSet, "srem", key)
		c.removeIfEmpty(key, set.Len())
		c.Keyspace().Dirty += removed
	}
	c.Reply.Int(removed)
}

func smove(c *Call) {
	sourceKey, targetKey, member := c.Args[1], c.Args[2], c.Args[3]
	sourceValue, targetValue := c.DB.Write(sourceKey), c.DB.Write(targetKey)
	if sourceValue == nil {
		c.Reply.Int(0)
		return
	}
	source, ok := lookup[keyspace.Set](c, sourceValue)
	if !ok {
		return
	}
	target, ok := lookup[keyspace.Set](c, targetValue)
	if !ok {
		return
	}
	if source == target {
		c.replyFlag(source.Has(member))
		return
	}
	if !source.Remove(member) {
		c.Reply.Int(0)
		return
	}
	c.DB.Event(keyspace.ClassSet, "srem", sourceKey)
	c.removeIfEmpty(sourceKey, source.Len())
	if target == nil {
		target = keyspace.NewSetFor(&c.Keyspace().Limits, member, 1)
		c.DB.Add(targetKey, target)
	}
	c.DB.Modified(sourceKey)
	c.Keyspace().Dirty++
	if target.Add(member) {
		c.Changed(targetKey, keyspace.ClassSet, "sadd")
	}
	c.Reply.Int(1)
}

func sismember(c *Call) {
	if set, ok := readSet(c); ok {
		c.replyFlag(set != nil && set.Has(c.Args[2]))
	}
}

func smismember(c *Call) {
	set, ok := readSet(c)
	if !ok {
		return
	}
	c.Reply.Array(len(c.Args) - 2)
	for _, member := range c.Args[2:] {
		c.replyFlag(set != nil && set.Has(member))
	}
}

func scard(c *Call) {
	set, ok := readSet(c)
	switch {
	case !ok:
	case set == nil:
		c.Reply.Int(0)
	default:
		c.Reply.Int(int64(set.Len()))
	}
}

func smembers(c *Call) {
	if set, ok := readSet(c); ok {
		c.replySet(set)
	}
}

// replySet replies with all members of a set, which is empty if nil.
func (c *Call) replySet(set *keyspace.Set) {
	if set == nil {
		c.Reply.Set(0)
		return
	}
	c.Reply.Set(set.Len())
	for member := range set.All() {
		c.Reply.Bulk(member)
	}
}

func sscan(c *Call) {
	cursor, ok := c.scanCursor(2)
	if !ok {
		return
	}
	set, ok := readSet(c)
	if !ok {
		return
	}
	if set == nil {
		c.replyScan(0, 0)
		return
	}
	o, ok := c.scanOptions(3, false)
	if !ok {
		return
	}
	var found [][]byte
	seen := 0
	cursor = o.walk(cursor, func() int { return seen }, func(cursor uint64) uint64 {
		return set.Scan(cursor, func(member []byte) {
			seen++
			if o.matches(string(member)) {
				found = append(found, bytes.Clone(member))
			}
		})
	})
	c.replyScan(cursor, len(found))
	for _, member := range found {
		c.Reply.Bulk(member)
	}
}

func sintercard(c *Call) {
	numkeys, ok := c.rangeArg(1, 1, math.MaxInt64, "ERR numkeys should be greater than 0")
	if !ok {
		return
	}
	if numkeys > int64(c.left(1)) {
		c.fail("ERR Number of keys can't be greater than number of args")
		return
	}
	first := 2 + int(numkeys)
	limit := int64(0)
	for i := first; i < len(c.Args); i += 2 {
		if !c.is(i, "limit") || c.left(i) == 0 {
			c.fail(errSyntax)
			return
		}
		if limit, ok = c.rangeArg(i+1, 0, math.MaxInt64, "ERR LIMIT can't be negative"); !ok {
			return
		}
	}
	sets, ok := setsAt(c, c.Args[2:first])
	if !ok {
		return
	}
	n := int64(0)
	for range intersectSets(sets) {
		if n++; n == limit {
			break
		}
	}
	c.Reply.Int(n)
}
