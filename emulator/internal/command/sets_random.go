package command

import (
	"math"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
)

func spop(c *Call) {
	switch {
	case len(c.Args) > 3:
		c.fail(errSyntax)
		return
	case len(c.Args) == 3:
		spopCount(c)
		return
	}
	key := c.Args[1]
	set, ok := writeSet(c)
	if !ok {
		return
	}
	if set == nil {
		c.Reply.Null()
		return
	}
	member := set.Random(c.Keyspace().Rand)
	set.Remove(member)
	c.DB.Event(keyspace.ClassSet, "spop", key)
	c.Propagate([]byte("SREM"), key, member)
	c.Reply.Bulk(member)
	c.removeIfEmpty(key, set.Len())
	c.DB.Modified(key)
	c.Keyspace().Dirty++
}

func spopCount(c *Call) {
	count, ok := c.rangeArg(2, 0, math.MaxInt64, errNotPositive)
	if !ok {
		return
	}
	key := c.Args[1]
	set, ok := writeSet(c)
	if !ok {
		return
	}
	if set == nil || count == 0 {
		c.Reply.Set(0)
		return
	}
	n := int(min(count, int64(set.Len())))
	c.DB.Event(keyspace.ClassSet, "spop", key)
	c.Keyspace().Dirty += int64(n)
	if n == set.Len() {
		c.replySet(set)
		c.DB.Delete(key)
		c.Removed(key)
		c.Propagate([]byte("DEL"), key)
	} else {
		c.popMembers(set, n)
	}
	c.DB.Modified(key)
}

// popMembers replies with n random members, fewer than there are, and removes
// them. Replicas are told which.
func (c *Call) popMembers(set *keyspace.Set, n int) {
	batch := 1
	if c.Version().AtLeast(7, 2) {
		batch = 1024
	}
	c.Reply.Set(n)
	effect := [][]byte{[]byte("SREM"), c.Args[1]}
	for i := range n {
		member := set.Random(c.Keyspace().Rand)
		set.Remove(member)
		c.Reply.Bulk(member)
		effect = append(effect, member)
		if len(effect) == batch+2 || i == n-1 {
			c.Propagate(effect...)
			effect = effect[:2]
		}
	}
}

func srandmember(c *Call) {
	switch {
	case len(c.Args) > 3:
		c.fail(errSyntax)
		return
	case len(c.Args) == 3:
		srandmemberCount(c)
		return
	}
	set, ok := readSet(c)
	switch {
	case !ok:
	case set == nil:
		c.Reply.Null()
	default:
		c.Reply.Bulk(set.Random(c.Keyspace().Rand))
	}
}

// srandmemberCount is SRANDMEMBER with a count: distinct members, or any if it
// is negative.
func srandmemberCount(c *Call) {
	count, ok := c.intBetweenArg(2, -math.MaxInt64, math.MaxInt64)
	if !ok {
		return
	}
	set, ok := readSet(c)
	if !ok {
		return
	}
	if set == nil || count == 0 {
		c.Reply.Array(0)
		return
	}
	rng := c.Keyspace().Rand
	if count < 0 {
		size := func() (size int) {
			for member := range set.All() {
				size += len(member)
			}
			return size
		}
		if tooOften(c, -count, set.Len(), size) {
			return
		}
		c.Reply.Array(int(-count))
		for range -count {
			c.Reply.Bulk(set.Random(rng))
		}
		return
	}
	n := int(min(count, int64(set.Len())))
	c.Reply.Array(n)
	if n <= set.Len()/3 && set.Encoding() == "hashtable" {
		seen := make(map[string]struct{}, n)
		for len(seen) < n {
			member := set.Random(rng)
			if _, again := seen[string(member)]; !again {
				seen[string(member)] = struct{}{}
				c.Reply.Bulk(member)
			}
		}
		return
	}
	left := set.Len()
	for member := range set.All() {
		// Each member is chosen with the chance that makes all choices of n
		// equally likely.
		if rng.IntN(left) < n {
			c.Reply.Bulk(member)
			n--
		}
		left--
	}
}

// maxRepeated is how much may be said again and again, in bytes: a reply with
// repetitions. Redis builds it until the memory ends, which all nodes share here.
const maxRepeated = 1 << 30

// tooOften refuses to say count of n elements, repeated at random, if that takes
// more than maxRepeated. All of them take size bytes, but for headers and scores.
func tooOften(c *Call, count int64, n int, size func() int) bool {
	if count <= int64(n) {
		return false
	}
	each := float64(size())/float64(n) + float64(len("$1\r\n\r\n"))
	if float64(count)*each <= maxRepeated {
		return false
	}
	c.fail("ERR the reply would take more than 1 GB")
	return true
}
