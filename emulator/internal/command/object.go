package command

import (
	"math"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
)

var objectCommands = map[string]Handler{
	"object|encoding": objectEncoding,
	"object|freq":     objectFreq,
	"object|idletime": objectIdletime,
	"object|refcount": objectRefcount,
	"object|help":     objectHelp,
}

// inspect looks up the key of an OBJECT subcommand.
func (c *Call) inspect() (keyspace.Value, bool) {
	v := c.DB.Inspect(c.Args[2])
	if v == nil {
		c.Reply.Null()
	}
	return v, v != nil
}

func objectEncoding(c *Call) {
	if v, ok := c.inspect(); ok {
		c.Reply.BulkString(v.Encoding())
	}
}

const policyNote = " Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust."

func objectFreq(c *Call) {
	if _, ok := c.inspect(); !ok {
		return
	}
	if !c.Keyspace().Eviction.LFU {
		c.fail("ERR An LFU maxmemory policy is not selected, access frequency not tracked." + policyNote)
		return
	}
	n, _ := c.DB.Frequency(c.Args[2])
	c.Reply.Int(n)
}

func objectIdletime(c *Call) {
	if _, ok := c.inspect(); !ok {
		return
	}
	if c.Keyspace().Eviction.LFU {
		c.fail("ERR An LFU maxmemory policy is selected, idle time not tracked." + policyNote)
		return
	}
	seconds, _ := c.DB.Idle(c.Args[2])
	c.Reply.Int(seconds)
}

func objectRefcount(c *Call) {
	v, ok := c.inspect()
	if !ok {
		return
	}
	if s, ok := v.(*keyspace.String); ok && s.Shared() {
		c.Reply.Int(math.MaxInt32)
		return
	}
	c.Reply.Int(1)
}

func objectHelp(c *Call) {
	c.replyHelp(
		"ENCODING <key>",
		"    Return the kind of internal representation used in order to store the value",
		"    associated with a <key>.",
		"FREQ <key>",
		"    Return the access frequency index of the <key>. The returned integer is",
		"    proportional to the logarithm of the recent access frequency of the key.",
		"IDLETIME <key>",
		"    Return the idle time of the <key>, that is the approximated number of",
		"    seconds elapsed since the last access to the key.",
		"REFCOUNT <key>",
		"    Return the number of references of the value associated with the specified",
		"    <key>.",
	)
}
