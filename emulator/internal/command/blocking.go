package command

import (
	"math"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
	"github.com/fakecluster/fakecluster/emulator/internal/resp"
)

// timeoutArg reads argument i as the timeout of a blocking command, in seconds.
// It is rounded up to milliseconds, so that only 0 means for ever.
func (c *Call) timeoutArg(i int) (time.Duration, bool) {
	seconds, ok := number.ParseLongDouble(c.Args[i])
	if !ok {
		return 0, c.fail("ERR timeout is not a float or out of range")
	}
	ms, ok := seconds.MulCeil(1000)
	if !ok && !c.Version().AtLeast(7, 2) {
		ms = math.MinInt64 // what the conversion on x86-64 made of it
	} else if !ok {
		return 0, c.fail("ERR timeout is out of range")
	}
	return c.timeoutOf(ms)
}

// timeoutMillisArg is timeoutArg for a whole number of milliseconds.
func (c *Call) timeoutMillisArg(i int) (time.Duration, bool) {
	ms, ok := c.intArgOr(i, "ERR timeout is not an integer or out of range")
	if !ok {
		return 0, false
	}
	return c.timeoutOf(ms)
}

func (c *Call) timeoutOf(ms int64) (time.Duration, bool) {
	const most = math.MaxInt64 / int64(time.Millisecond)
	switch {
	case ms < 0:
		return 0, c.fail("ERR timeout is negative")
	case ms > math.MaxInt64-c.Now() && !c.Version().AtLeast(7, 2):
		return 0, true // the deadline wraps around, to one that sorts after all others
	case ms > math.MaxInt64-c.Now():
		return 0, c.fail("ERR timeout is out of range")
	}
	return time.Duration(min(ms, most)) * time.Millisecond, true
}

// blockOn parks the client until one of keys holds a value of kind. When that
// does not happen in time the reply is onTimeout's.
func (c *Call) blockOn(kind keyspace.Kind, keys [][]byte, timeout time.Duration, onTimeout func(resp.Sink)) {
	c.Block(Wait{Keys: keys, Kind: kind, Timeout: timeout, OnTimeout: onTimeout})
}

// readyKeys narrows keys to those that a command, tried again because one of
// them is ready, has to look at. Before 7.2 Redis served that one; since then it
// runs the command again as it is.
func (c *Call) readyKeys(keys [][]byte) [][]byte {
	if c.onlyReadyKey() {
		return [][]byte{[]byte(c.ReadyKey)}
	}
	return keys
}

// onlyReadyKey reports whether the command is tried again for one key alone.
func (c *Call) onlyReadyKey() bool { return c.Resumed && !c.Version().AtLeast(7, 2) }
