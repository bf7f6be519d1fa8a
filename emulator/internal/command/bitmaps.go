package command

import (
	"bytes"
	"math/bits"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
)

// bitmapCommands work on strings as arrays of bits, the most significant bit of
// the first byte first.
var bitmapCommands = map[string]Handler{
	"setbit":      setbit,
	"getbit":      getbit,
	"bitcount":    bitcount,
	"bitpos":      bitpos,
	"bitop":       bitop,
	"bitfield":    func(c *Call) { c.bitfield(false) },
	"bitfield_ro": func(c *Call) { c.bitfield(true) },
}

// bitOffset reads an argument as the position of a bit. "#3" counts in fields
// of width bits, unless width is 0.
func (c *Call) bitOffset(arg []byte, width int64) (offset int64, ok bool) {
	byFields := width > 0 && len(arg) > 0 && arg[0] == '#'
	if byFields {
		arg = arg[1:]
	}
	offset, ok = number.ParseInt(arg)
	if byFields {
		offset *= width
	}
	if !ok || offset < 0 || !c.FromMaster && offset>>3 >= c.Keyspace().Limits.MaxStringBytes {
		return 0, c.fail("ERR bit offset is not an integer or out of range")
	}
	return offset, true
}

// bitsForWrite makes the string at the first key long enough to hold bit last,
// and reports whether that changed it.
func (c *Call) bitsForWrite(last int64) (b []byte, grown, ok bool) {
	key := c.Args[1]
	s, ok := lookup[keyspace.String](c, c.DB.Write(key))
	if !ok {
		return nil, false, false
	}
	if s == nil {
		s = keyspace.NewRawString(nil)
		c.DB.Add(key, s)
	}
	before := s.Len()
	b = s.Grow(int(last>>3) + 1)
	return b, len(b) > before, true
}

func setbit(c *Call) {
	const errBit = "ERR bit is not an integer or out of range"
	offset, ok := c.bitOffset(c.Args[2], 0)
	if !ok {
		return
	}
	bit, ok := c.intArgOr(3, errBit)
	if !ok {
		return
	}
	if bit&^1 != 0 {
		c.fail(errBit)
		return
	}
	b, grown, ok := c.bitsForWrite(offset)
	if !ok {
		return
	}
	at, mask := &b[offset>>3], byte(0x80)>>(offset&7)
	was := *at&mask != 0
	if *at &^= mask; bit == 1 {
		*at |= mask
	}
	if grown || was != (bit == 1) {
		c.Changed(c.Args[1], keyspace.ClassString, "setbit")
	}
	c.replyFlag(was)
}

func getbit(c *Call) {
	offset, ok := c.bitOffset(c.Args[2], 0)
	if !ok {
		return
	}
	s, ok := lookup[keyspace.String](c, c.DB.Read(c.Args[1]))
	if !ok {
		return
	}
	c.replyFlag(s != nil && offset>>3 < int64(s.Len()) && s.Bytes()[offset>>3]&(0x80>>(offset&7)) != 0)
}

// bitRange is the range of BITCOUNT and BITPOS as it was given.
type bitRange struct {
	start, end int64
	hasEnd     bool
	inBits     bool
}

// hasBitUnits tells whether ranges can be given in bits.
func (c *Call) hasBitUnits() bool { return c.Version().AtLeast(7, 0) }

// readUnit reads BYTE or BIT.
func (c *Call) readUnit(i int) (inBits, ok bool) {
	if inBits = c.is(i, "BIT"); inBits || c.is(i, "BYTE") {
		return inBits, true
	}
	return false, c.fail(errSyntax)
}

// resolve turns r into the first and the last bit of a string of n bytes; the
// range is empty if the last comes before the first.
func (r bitRange) resolve(n int) (first, last int64) {
	total := int64(n)
	if r.inBits {
		total *= 8
	}
	first, last = r.start, r.end
	if !r.hasEnd {
		last = total - 1
	}
	if first < 0 {
		first = max(first+total, 0)
	}
	if last < 0 {
		last = max(last+total, 0)
	}
	last = min(last, total-1)
	if first > last {
		return 0, -1
	}
	if !r.inBits {
		return first * 8, last*8 + 7
	}
	return first, last
}

// bitString looks up the string that BITCOUNT and BITPOS read.
func (c *Call) bitString() (s *keyspace.String, ok bool) {
	return lookup[keyspace.String](c, c.DB.Read(c.Args[1]))
}

// lookupFirst reports whether BITCOUNT and BITPOS look at the key before they
// look at the range: then a missing key hides what is wrong with it.
func (c *Call) lookupFirst() bool { return !c.Version().AtLeast(7, 2) }

func bitcount(c *Call) {
	var s *keyspace.String
	ok := true
	if c.lookupFirst() {
		if s, ok = c.bitString(); !ok {
			return
		}
		if s == nil {
			c.Reply.Int(0)
			return
		}
	}
	r, ok := c.bitcountRange()
	if !ok {
		return
	}
	if s == nil {
		if s, ok = c.bitString(); !ok {
			return
		}
	}
	if s == nil || r.start < 0 && r.end < 0 && r.start > r.end {
		c.Reply.Int(0)
		return
	}
	first, last := r.resolve(s.Len())
	c.Reply.Int(countBits(s.Bytes(), first, last))
}

func (c *Call) bitcountRange() (r bitRange, ok bool) {
	switch n := len(c.Args); {
	case n == 2:
		return r, true
	case n == 4 || n == 5 && c.hasBitUnits():
		r.hasEnd = true
	default:
		return r, c.fail(errSyntax)
	}
	if r.start, ok = c.intArg(2); !ok {
		return r, false
	}
	if r.end, ok = c.intArg(3); !ok {
		return r, false
	}
	if len(c.Args) == 5 {
		// A range that counts backwards is empty before anyone reads its unit.
		if c.lookupFirst() && r.start < 0 && r.end < 0 && r.start > r.end {
			return r, true
		}
		r.inBits, ok = c.readUnit(4)
	}
	return r, ok
}

// countBits counts the ones among the bits first to last.
func countBits(b []byte, first, last int64) int64 {
	if first > last {
		return 0
	}
	b = b[first>>3 : last>>3+1]
	n := 0
	for _, x := range b {
		n += bits.OnesCount8(x)
	}
	n -= bits.OnesCount8(b[0] &^ (0xff >> (first & 7)))
	n -= bits.OnesCount8(b[len(b)-1] & (0x7f >> (last & 7)))
	return int64(n)
}

func bitpos(c *Call) {
	bit, ok := c.intArg(2)
	if !ok {
		return
	}
	if bit != 0 && bit != 1 {
		c.fail("ERR The bit argument must be 1 or 0.")
		return
	}
	var s *keyspace.String
	missing := -bit // an endless row of zeros: the first one is bit 0
	if c.lookupFirst() {
		if s, ok = c.bitString(); !ok {
			return
		}
		if s == nil {
			c.Reply.Int(missing)
			return
		}
	}
	r, ok := c.bitposRange()
	if !ok {
		return
	}
	if s == nil {
		if s, ok = c.bitString(); !ok {
			return
		}
		if s == nil {
			c.Reply.Int(missing)
			return
		}
	}
	first, last := r.resolve(s.Len())
	c.Reply.Int(findBit(s.Bytes(), bit == 1, first, last, r.hasEnd))
}

func (c *Call) bitposRange() (r bitRange, ok bool) {
	if len(c.Args) > 6 || len(c.Args) == 6 && !c.hasBitUnits() {
		return r, c.fail(errSyntax)
	}
	if len(c.Args) > 3 {
		if r.start, ok = c.intArg(3); !ok {
			return r, false
		}
	}
	if len(c.Args) == 6 {
		if r.inBits, ok = c.readUnit(5); !ok {
			return r, false
		}
	}
	if len(c.Args) > 4 {
		r.hasEnd = true
		if r.end, ok = c.intArg(4); !ok {
			return r, false
		}
	}
	return r, true
}

// findBit returns the place of the first bit that is set, or not, among the
// bits first to last, or -1. Behind a string whose end was not asked for there
// are zeros.
func findBit(b []byte, set bool, first, last int64, hasEnd bool) int64 {
	if first > last {
		return -1
	}
	skip := byte(0)
	if !set {
		skip = 0xff
	}
	for at := first; at <= last; {
		x := b[at>>3]
		if x == skip {
			at = at&^7 + 8
			continue
		}
		if (x&(0x80>>(at&7)) != 0) == set {
			return at
		}
		at++
	}
	if set || hasEnd {
		return -1
	}
	return last + 1
}

func bitop(c *Call) {
	op := bytes.ToLower(c.Args[1])
	combine, ok := bitOperations[string(op)]
	if !ok {
		c.fail(errSyntax)
		return
	}
	if string(op) == "not" && len(c.Args) != 4 {
		c.fail("ERR BITOP NOT must be called with a single source key.")
		return
	}
	var sources [][]byte
	longest := 0
	for _, key := range c.Args[3:] {
		s, ok := lookup[keyspace.String](c, c.DB.Read(key))
		if !ok {
			return
		}
		var source []byte
		if s != nil {
			source = s.Bytes()
		}
		sources = append(sources, source)
		longest = max(longest, len(source))
	}
	target := c.Args[2]
	if longest > 0 {
		result := make([]byte, longest)
		copy(result, sources[0])
		for _, source := range sources[1:] {
			combine(result, source)
		}
		if string(op) == "not" {
			combine(result, nil)
		}
		c.DB.Set(target, keyspace.NewRawString(result), false)
		c.Changed(target, keyspace.ClassString, "set")
	} else if c.DB.Drop(target) {
		c.Changed(target, keyspace.ClassGeneric, "del")
	}
	c.Reply.Int(int64(longest))
}

// bitOperations change a result by one more source, which counts as having
// zeros behind its end.
var bitOperations = map[string]func(result, source []byte){
	"and": func(result, source []byte) {
		for i, x := range source {
			result[i] &= x
		}
		clear(result[len(source):])
	},
	"or": func(result, source []byte) {
		for i, x := range source {
			result[i] |= x
		}
	},
	"xor": func(result, source []byte) {
		for i, x := range source {
			result[i] ^= x
		}
	},
	"not": func(result, _ []byte) {
		for i := range result {
			result[i] = ^result[i]
		}
	},
}
