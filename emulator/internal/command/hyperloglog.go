package command

import (
	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/keyspace/hyperloglog"
)

var hyperloglogCommands = map[string]Handler{
	"pfadd":      pfadd,
	"pfcount":    pfcount,
	"pfmerge":    pfmerge,
	"pfdebug":    pfdebug,
	"pfselftest": pfselftest,
}

const errCorruptHLL = "INVALIDOBJ Corrupted HLL object detected"

// sketch narrows a value to the string of a HyperLogLog: nil for a missing key.
func (c *Call) sketch(v keyspace.Value) (*keyspace.String, bool) {
	s, ok := lookup[keyspace.String](c, v)
	if !ok {
		return nil, false
	}
	if s != nil && (s.IsInt() || !hyperloglog.Valid(s.Bytes())) {
		return nil, c.fail("WRONGTYPE Key is not a valid HyperLogLog string value.")
	}
	return s, true
}

// sketchForWrite looks up a HyperLogLog to change, and makes one where there is
// none.
func (c *Call) sketchForWrite(key []byte) (s *keyspace.String, created, ok bool) {
	if s, ok = c.sketch(c.DB.Write(key)); !ok || s != nil {
		return s, false, ok
	}
	s = keyspace.NewRawString(hyperloglog.New())
	c.DB.Add(key, s)
	return s, true, true
}

func pfadd(c *Call) {
	key := c.Args[1]
	s, created, ok := c.sketchForWrite(key)
	if !ok {
		return
	}
	updates := int64(0)
	if created {
		updates++
	}
	sketch := hyperloglog.Sketch(s.Bytes())
	var failure error
	for _, element := range c.Args[2:] {
		var changed bool
		if sketch, changed, failure = sketch.Add(element, c.Keyspace().Limits.HLLSparseMaxBytes); failure != nil {
			break
		}
		if changed {
			updates++
		}
	}
	s.Replace(sketch)
	if failure != nil {
		c.fail(errCorruptHLL)
		return
	}
	if updates > 0 {
		sketch.Invalidate()
		c.Changed(key, keyspace.ClassString, "pfadd")
		c.Keyspace().Dirty += updates - 1
	}
	c.replyFlag(updates > 0)
}

func pfcount(c *Call) {
	if len(c.Args) > 2 {
		if union, _, ok := c.union(c.Args[1:]); ok {
			c.Reply.Int(int64(union.Count()))
		}
		return
	}
	key := c.Args[1]
	s, ok := c.sketch(c.DB.Read(key))
	if !ok {
		return
	}
	if s == nil {
		c.Reply.Int(0)
		return
	}
	sketch := hyperloglog.Sketch(s.Grow(0))
	n, ok := sketch.Cached()
	if !ok {
		var err error
		if n, err = sketch.Count(); err != nil {
			c.fail(errCorruptHLL)
			return
		}
		sketch.SetCached(n)
		// The stored count is part of the value, so that this is a change.
		c.DB.Modified(key)
		c.Keyspace().Dirty++
	}
	c.Reply.Int(int64(n))
}

// union merges the HyperLogLogs at keys, and tells whether one of them is dense.
func (c *Call) union(keys [][]byte) (union *hyperloglog.Registers, dense, ok bool) {
	union = new(hyperloglog.Registers)
	for _, key := range keys {
		s, ok := c.sketch(c.DB.Read(key))
		if !ok {
			return nil, false, false
		}
		if s == nil {
			continue
		}
		sketch := hyperloglog.Sketch(s.Bytes())
		dense = dense || sketch.IsDense()
		if err := union.Merge(sketch); err != nil {
			return nil, false, c.fail(errCorruptHLL)
		}
	}
	return union, dense, true
}

func pfmerge(c *Call) {
	key := c.Args[1]
	union, dense, ok := c.union(c.Args[1:])
	if !ok {
		return
	}
	s, _, ok := c.sketchForWrite(key)
	if !ok {
		return
	}
	sketch := hyperloglog.Sketch(s.Bytes())
	var err error
	if dense {
		sketch, err = sketch.ToDense()
	}
	for index, value := range union {
		if value > 0 && err == nil {
			sketch, _, err = sketch.Raise(index, value, c.Keyspace().Limits.HLLSparseMaxBytes)
		}
	}
	s.Replace(sketch)
	if err != nil {
		c.fail(errCorruptHLL)
		return
	}
	sketch.Invalidate()
	c.Changed(key, keyspace.ClassString, "pfadd")
	c.Reply.Status("OK")
}

func pfdebug(c *Call) {
	v := c.DB.Write(c.Args[2])
	if v == nil {
		c.fail("ERR The specified key does not exist")
		return
	}
	s, ok := c.sketch(v)
	if !ok {
		return
	}
	sketch := hyperloglog.Sketch(s.Grow(0))
	known := c.is(1, "GETREG") || c.is(1, "DECODE") || c.is(1, "ENCODING") || c.is(1, "TODENSE")
	switch name := c.text(1); {
	case !known:
		c.fail("ERR Unknown PFDEBUG subcommand '" + name + "'")
	case len(c.Args) != 3:
		c.fail("ERR Wrong number of arguments for the '" + name + "' subcommand")
	case c.is(1, "DECODE") && sketch.IsDense():
		c.fail("ERR HLL encoding is not sparse")
	case c.is(1, "DECODE"):
		c.Reply.BulkString(sketch.Runs())
	case c.is(1, "ENCODING") && sketch.IsDense():
		c.Reply.Status("dense")
	case c.is(1, "ENCODING"):
		c.Reply.Status("sparse")
	default:
		c.pfdebugDense(s)
	}
}

// pfdebugDense is GETREG and TODENSE, which both leave the sketch dense.
func (c *Call) pfdebugDense(s *keyspace.String) {
	sketch := hyperloglog.Sketch(s.Bytes())
	converted := !sketch.IsDense()
	if converted {
		var err error
		if sketch, err = sketch.ToDense(); err != nil {
			c.fail(errCorruptHLL)
			return
		}
		s.Replace(sketch)
		c.Keyspace().Dirty++
	}
	if c.is(1, "TODENSE") {
		c.replyFlag(converted)
		return
	}
	var registers hyperloglog.Registers
	if err := registers.Merge(sketch); err != nil {
		c.fail(errCorruptHLL)
		return
	}
	c.Reply.Array(len(registers))
	for _, value := range registers {
		c.Reply.Int(int64(value))
	}
}

func pfselftest(c *Call) {
	if err := hyperloglog.SelfTest(); err != nil {
		c.fail("TESTFAILED " + err.Error())
		return
	}
	c.Reply.Status("OK")
}
