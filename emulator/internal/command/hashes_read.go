package command

import (
	"bytes"
	"math"
	"math/rand/v2"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
)

func hkeys(c *Call) {
	if hash, ok := readHash(c); ok {
		c.Reply.Array(fieldCount(hash))
		c.replyFields(hash, true, false)
	}
}

func hvals(c *Call) {
	if hash, ok := readHash(c); ok {
		c.Reply.Array(fieldCount(hash))
		c.replyFields(hash, false, true)
	}
}

func hgetall(c *Call) {
	if hash, ok := readHash(c); ok {
		c.Reply.Map(fieldCount(hash))
		c.replyFields(hash, true, true)
	}
}

func fieldCount(hash *keyspace.Hash) int {
	if hash == nil {
		return 0
	}
	return hash.Len()
}

func (c *Call) replyFields(hash *keyspace.Hash, fields, values bool) {
	if hash == nil {
		return
	}
	for field, value := range hash.All() {
		if fields {
			c.Reply.Bulk(field)
		}
		if values {
			c.Reply.Bulk(value)
		}
	}
}

func hscan(c *Call) {
	cursor, ok := c.scanCursor(2)
	if !ok {
		return
	}
	hash, ok := readHash(c)
	if !ok {
		return
	}
	if hash == nil {
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
		return hash.Scan(cursor, func(field, value []byte) {
			seen++
			if o.matches(string(field)) {
				found = append(found, bytes.Clone(field))
				if !o.noValues {
					found = append(found, bytes.Clone(value))
				}
			}
		})
	})
	c.replyScan(cursor, len(found))
	for _, b := range found {
		c.Reply.Bulk(b)
	}
}

func hrandfield(c *Call) {
	if len(c.Args) > 2 {
		hrandfields(c)
		return
	}
	hash, ok := readHash(c)
	switch {
	case !ok:
	case hash == nil:
		c.Reply.Null()
	default:
		field, _ := hash.Random(c.Keyspace().Rand)
		c.Reply.Bulk(field)
	}
}

// hrandfields is HRANDFIELD with a count: distinct fields, or any if it is
// negative.
func hrandfields(c *Call) {
	count, ok := c.intBetweenArg(2, -math.MaxInt64, math.MaxInt64)
	if !ok {
		return
	}
	withValues := len(c.Args) == 4
	if len(c.Args) > 4 || withValues && !c.is(3, "withvalues") {
		c.fail(errSyntax)
		return
	}
	if withValues && (count < -math.MaxInt64/2 || count > math.MaxInt64/2) {
		c.fail("ERR value is out of range")
		return
	}
	hash, ok := readHash(c)
	if !ok {
		return
	}
	if hash == nil || count == 0 {
		c.Reply.Array(0)
		return
	}
	reply := fieldReply{c, withValues}
	rng := c.Keyspace().Rand
	if count < 0 {
		size := func() (size int) {
			for field, value := range hash.All() {
				size += len(field)
				if withValues {
					size += len(value)
				}
			}
			return size
		}
		if tooOften(c, -count, hash.Len(), size) {
			return
		}
		reply.start(int(-count))
		for range -count {
			reply.field(hash.Random(rng))
		}
		return
	}
	n := int(min(count, int64(hash.Len())))
	reply.start(n)
	if n > hash.Len()/3 {
		reply.sample(hash, n, rng)
	} else {
		reply.distinct(hash, n, rng)
	}
}

// fieldReply writes the reply of HRANDFIELD.
type fieldReply struct {
	c          *Call
	withValues bool
}

// start announces n fields. With values they come in pairs in RESP3, one after
// the other in RESP2.
func (r fieldReply) start(n int) {
	if r.withValues && r.c.Reply.Proto() == 2 {
		n *= 2
	}
	r.c.Reply.Array(n)
}

func (r fieldReply) field(field, value []byte) {
	if r.withValues && r.c.Reply.Proto() > 2 {
		r.c.Reply.Array(2)
	}
	r.c.Reply.Bulk(field)
	if r.withValues {
		r.c.Reply.Bulk(value)
	}
}

// sample replies with n random fields in the order of the hash, at the price of
// a walk through all of it.
func (r fieldReply) sample(hash *keyspace.Hash, n int, rng *rand.Rand) {
	left := hash.Len()
	for field, value := range hash.All() {
		// Each field is chosen with the chance that makes all choices of n
		// equally likely.
		if rng.IntN(left) < n {
			r.field(field, value)
			n--
		}
		left--
	}
}

// distinct replies with n random fields, few among many.
func (r fieldReply) distinct(hash *keyspace.Hash, n int, rng *rand.Rand) {
	if hash.Encoding() != "hashtable" {
		r.sample(hash, n, rng)
		return
	}
	seen := make(map[string]struct{}, n)
	for len(seen) < n {
		field, value := hash.Random(rng)
		if _, again := seen[string(field)]; !again {
			seen[string(field)] = struct{}{}
			r.field(field, value)
		}
	}
}
