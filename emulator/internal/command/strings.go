package command

import (
	"math"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
)

var stringCommands = map[string]Handler{
	"set":         set,
	"setnx":       setnx,
	"setex":       setex,
	"psetex":      psetex,
	"get":         get,
	"getset":      getset,
	"getdel":      getdel,
	"getex":       getex,
	"mget":        mget,
	"mset":        mset,
	"msetnx":      msetnx,
	"append":      appendCommand,
	"strlen":      strlen,
	"getrange":    getrange,
	"substr":      getrange,
	"setrange":    setrange,
	"incr":        incr,
	"decr":        decr,
	"incrby":      incrby,
	"decrby":      decrby,
	"incrbyfloat": incrbyfloat,
	"lcs":         lcs,
	"stralgo":     stralgo,
}

// Stock effects and words in them.
var (
	wordSET       = []byte("SET")
	wordPXAT      = []byte("PXAT")
	wordKEEPTTL   = []byte("KEEPTTL")
	wordDEL       = []byte("DEL")
	wordPEXPIREAT = []byte("PEXPIREAT")
	wordPERSIST   = []byte("PERSIST")
)

func get(c *Call) { c.replyString() }

// replyString replies with the string at the first key, and reports whether
// that was no error.
func (c *Call) replyString() bool {
	s, ok := lookup[keyspace.String](c, c.DB.Read(c.Args[1]))
	if !ok {
		return false
	}
	if s == nil {
		c.Reply.Null()
		return true
	}
	c.Reply.Bulk(s.Bytes())
	return true
}

func mget(c *Call) {
	c.Reply.Array(len(c.Args) - 1)
	for _, key := range c.Args[1:] {
		if s, ok := c.DB.Read(key).(*keyspace.String); ok {
			c.Reply.Bulk(s.Bytes())
		} else {
			c.Reply.Null()
		}
	}
}

func strlen(c *Call) {
	s, ok := lookup[keyspace.String](c, c.DB.Read(c.Args[1]))
	switch {
	case !ok:
	case s == nil:
		c.Reply.Int(0)
	default:
		c.Reply.Int(int64(s.Len()))
	}
}

func getrange(c *Call) {
	start, ok := c.intArg(2)
	if !ok {
		return
	}
	end, ok := c.intArg(3)
	if !ok {
		return
	}
	s, ok := lookup[keyspace.String](c, c.DB.Read(c.Args[1]))
	if !ok {
		return
	}
	if s == nil {
		c.Reply.BulkString("")
		return
	}
	c.Reply.Bulk(substring(s.Bytes(), start, end))
}

// substring cuts out the bytes from start to end, both included and counted
// from the end when negative.
func substring(b []byte, start, end int64) []byte {
	if start < 0 && end < 0 && start > end {
		return nil
	}
	n := int64(len(b))
	if start < 0 {
		start = max(start+n, 0)
	}
	if end < 0 {
		end = max(end+n, 0)
	}
	end = min(end, n-1)
	if start > end || n == 0 {
		return nil
	}
	return b[start : end+1]
}

func setrange(c *Call) {
	offset, ok := c.intArg(2)
	if !ok {
		return
	}
	if offset < 0 {
		c.fail("ERR offset is out of range")
		return
	}
	patch := c.Args[3]
	s, ok := lookup[keyspace.String](c, c.DB.Write(c.Args[1]))
	if !ok {
		return
	}
	if len(patch) == 0 {
		if s == nil {
			c.Reply.Int(0)
		} else {
			c.Reply.Int(int64(s.Len()))
		}
		return
	}
	if !c.checkStringSize(offset, int64(len(patch))) {
		return
	}
	if s == nil {
		s = keyspace.NewRawString(nil)
		c.DB.Add(c.Args[1], s)
	}
	copy(s.Grow(int(offset) + len(patch))[offset:], patch)
	c.Changed(c.Args[1], keyspace.ClassString, "setrange")
	c.Reply.Int(int64(s.Len()))
}

// checkStringSize refuses to let a string grow beyond what the server takes as
// an argument.
func (c *Call) checkStringSize(size, more int64) bool {
	if c.FromMaster {
		return true
	}
	if total := size + more; total < size || total > c.Keyspace().Limits.MaxStringBytes {
		return c.fail("ERR string exceeds maximum allowed size (proto-max-bulk-len)")
	}
	return true
}

func appendCommand(c *Call) {
	key, more := c.Args[1], c.Args[2]
	s, ok := lookup[keyspace.String](c, c.DB.Write(key))
	if !ok {
		return
	}
	if s == nil {
		s = keyspace.NewString(more)
		c.DB.Add(key, s)
	} else {
		if !c.checkStringSize(int64(s.Len()), int64(len(more))) {
			return
		}
		s.Append(more)
	}
	c.Changed(key, keyspace.ClassString, "append")
	c.Reply.Int(int64(s.Len()))
}

func incr(c *Call) { c.add(1) }

func decr(c *Call) { c.add(-1) }

func incrby(c *Call) {
	if n, ok := c.intArg(2); ok {
		c.add(n)
	}
}

func decrby(c *Call) {
	n, ok := c.intArg(2)
	switch {
	case !ok:
	case n == math.MinInt64:
		c.fail("ERR decrement would overflow")
	default:
		c.add(-n)
	}
}

// add is the INCR family.
func (c *Call) add(increment int64) {
	key := c.Args[1]
	s, ok := lookup[keyspace.String](c, c.DB.Write(key))
	if !ok {
		return
	}
	var n int64
	if s != nil {
		if n, ok = s.Int(); !ok {
			c.fail(errNotInteger)
			return
		}
	}
	sum := n + increment
	if (increment < 0) != (sum < n) {
		c.fail("ERR increment or decrement would overflow")
		return
	}
	if s == nil {
		c.DB.Add(key, keyspace.NewIntString(sum))
	} else {
		s.SetInt(sum)
	}
	c.Changed(key, keyspace.ClassString, "incrby")
	c.Reply.Int(sum)
}

func incrbyfloat(c *Call) {
	key := c.Args[1]
	s, ok := lookup[keyspace.String](c, c.DB.Write(key))
	if !ok {
		return
	}
	var value number.LongDouble
	if s != nil {
		if value, ok = number.ParseLongDouble(s.Bytes()); !ok {
			c.fail(errNotFloat)
			return
		}
	}
	increment, ok := number.ParseLongDouble(c.Args[2])
	if !ok {
		c.fail(errNotFloat)
		return
	}
	sum, ok := value.Add(increment)
	if !ok || sum.IsInf() {
		c.fail("ERR increment would produce NaN or Infinity")
		return
	}
	text := sum.Append(nil)
	c.DB.Set(key, keyspace.NewPlainString(text), true)
	c.Changed(key, keyspace.ClassString, "incrbyfloat")
	c.Reply.Bulk(text)
	c.Propagate(wordSET, key, text, wordKEEPTTL) // replicas may not round alike
}
