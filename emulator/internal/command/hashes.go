package command

import (
	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
)

var hashCommands = map[string]Handler{
	"hset":         hset,
	"hmset":        hmset,
	"hsetnx":       hsetnx,
	"hget":         hget,
	"hmget":        hmget,
	"hdel":         hdel,
	"hlen":         hlen,
	"hstrlen":      hstrlen,
	"hexists":      hexists,
	"hincrby":      hincrby,
	"hincrbyfloat": hincrbyfloat,
	"hkeys":        hkeys,
	"hvals":        hvals,
	"hgetall":      hgetall,
	"hscan":        hscan,
	"hrandfield":   hrandfield,
}

// readHash looks up argument 1 for reading; it is nil for a missing key.
func readHash(c *Call) (*keyspace.Hash, bool) {
	return lookup[keyspace.Hash](c, c.DB.Read(c.Args[1]))
}

func writeHash(c *Call) (*keyspace.Hash, bool) {
	return lookup[keyspace.Hash](c, c.DB.Write(c.Args[1]))
}

// hashToFill looks up argument 1 for writing, and puts an empty hash there if
// it is missing, to be filled by the caller.
func hashToFill(c *Call) (*keyspace.Hash, bool) {
	hash, ok := writeHash(c)
	if ok && hash == nil {
		hash = keyspace.NewHash(&c.Keyspace().Limits)
		c.DB.Add(c.Args[1], hash)
	}
	return hash, ok
}

func hset(c *Call) {
	if created, ok := setFields(c); ok {
		c.Reply.Int(created)
	}
}

func hmset(c *Call) {
	if _, ok := setFields(c); ok {
		c.Reply.Status("OK")
	}
}

// setFields is HSET without its reply.
func setFields(c *Call) (created int64, ok bool) {
	if len(c.Args)%2 == 1 {
		return 0, c.failArity()
	}
	hash, ok := hashToFill(c)
	if !ok {
		return 0, false
	}
	pairs := c.Args[2:]
	hash.Expect(pairs)
	for i := 0; i < len(pairs); i += 2 {
		if hash.Set(pairs[i], pairs[i+1]) {
			created++
		}
	}
	c.DB.Modified(c.Args[1])
	c.DB.Event(keyspace.ClassHash, "hset", c.Args[1])
	c.Keyspace().Dirty += int64(len(pairs) / 2)
	return created, true
}

func hsetnx(c *Call) {
	hash, ok := hashToFill(c)
	if !ok {
		return
	}
	if hash.Has(c.Args[2]) {
		c.Reply.Int(0)
		return
	}
	hash.Expect(c.Args[2:4])
	hash.Set(c.Args[2], c.Args[3])
	c.Reply.Int(1)
	c.Changed(c.Args[1], keyspace.ClassHash, "hset")
}

func hget(c *Call) {
	if hash, ok := readHash(c); ok {
		c.replyField(hash, c.Args[2])
	}
}

func hmget(c *Call) {
	hash, ok := readHash(c)
	if !ok {
		return
	}
	c.Reply.Array(len(c.Args) - 2)
	for _, field := range c.Args[2:] {
		c.replyField(hash, field)
	}
}

// replyField replies with the value of a field, null if it or the hash is
// missing.
func (c *Call) replyField(hash *keyspace.Hash, field []byte) {
	if hash != nil {
		if value, ok := hash.Get(field); ok {
			c.Reply.Bulk(value)
			return
		}
	}
	c.Reply.Null()
}

func hdel(c *Call) {
	key := c.Args[1]
	hash, ok := writeHash(c)
	if !ok {
		return
	}
	if hash == nil {
		c.Reply.Int(0)
		return
	}
	deleted := int64(0)
	for _, field := range c.Args[2:] {
		if hash.Delete(field) {
			deleted++
		}
	}
	if deleted > 0 {
		c.DB.Modified(key)
		c.DB.Event(keyspace.ClassHash, "hdel", key)
		c.removeIfEmpty(key, hash.Len())
		c.Keyspace().Dirty += deleted
	}
	c.Reply.Int(deleted)
}

// removeIfEmpty removes the key of a container that a command left with no
// elements.
func (c *Call) removeIfEmpty(key []byte, length int) {
	if length == 0 {
		c.DB.Delete(key)
		c.Removed(key)
	}
}

func hlen(c *Call) {
	hash, ok := readHash(c)
	switch {
	case !ok:
	case hash == nil:
		c.Reply.Int(0)
	default:
		c.Reply.Int(int64(hash.Len()))
	}
}

func hstrlen(c *Call) {
	hash, ok := readHash(c)
	if !ok {
		return
	}
	var value []byte
	if hash != nil {
		value, _ = hash.Get(c.Args[2])
	}
	c.Reply.Int(int64(len(value)))
}

func hexists(c *Call) {
	hash, ok := readHash(c)
	if !ok {
		return
	}
	c.replyFlag(hash != nil && hash.Has(c.Args[2]))
}

func hincrby(c *Call) {
	increment, ok := c.intArg(3)
	if !ok {
		return
	}
	hash, ok := hashToFill(c)
	if !ok {
		return
	}
	var n int64
	if value, there := hash.Get(c.Args[2]); there {
		if n, ok = number.ParseInt(value); !ok {
			c.fail("ERR hash value is not an integer")
			return
		}
	}
	sum := n + increment
	if (increment > 0) != (sum > n) && increment != 0 {
		c.fail("ERR increment or decrement would overflow")
		return
	}
	hash.Update(c.Args[2], number.AppendInt(nil, sum))
	c.Reply.Int(sum)
	c.Changed(c.Args[1], keyspace.ClassHash, "hincrby")
}

func hincrbyfloat(c *Call) {
	increment, ok := number.ParseLongDouble(c.Args[3])
	if !ok {
		c.fail(errNotFloat)
		return
	}
	if increment.IsInf() {
		c.fail("ERR value is NaN or Infinity")
		return
	}
	hash, ok := hashToFill(c)
	if !ok {
		return
	}
	var n number.LongDouble
	if value, there := hash.Get(c.Args[2]); there {
		if n, ok = number.ParseLongDouble(value); !ok {
			c.fail("ERR hash value is not a float")
			return
		}
	}
	sum, ok := n.Add(increment)
	if !ok {
		c.fail("ERR increment would produce NaN or Infinity")
		return
	}
	value := sum.Append(nil)
	hash.Update(c.Args[2], value)
	c.Reply.Bulk(value)
	c.Changed(c.Args[1], keyspace.ClassHash, "hincrbyfloat")
	// Replicas get the sum: theirs may be a machine that computes another one.
	c.Propagate([]byte("HSET"), c.Args[1], c.Args[2], value)
	if at, _ := hash.ExpireAt(c.Args[2]); at != 0 { // HSET forgets it
		c.Propagate([]byte("HPEXPIREAT"), c.Args[1], number.AppendInt(nil, at), []byte("FIELDS"), []byte("1"), c.Args[2])
	}
}
