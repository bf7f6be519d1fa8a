package command

import (
	"math"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
)

// fieldType is the type of an integer in a BITFIELD: i1 to i64, u1 to u63.
type fieldType struct {
	signed bool
	width  int64
}

// overflow says what becomes of a value that does not fit its field.
type overflow uint8

const (
	overflowWrap overflow = iota
	overflowSaturate
	overflowFail
)

// fieldOp is one subcommand of BITFIELD.
type fieldOp struct {
	name     string // "GET", "SET" or "INCRBY"
	field    fieldType
	offset   int64
	operand  int64
	overflow overflow
}

// bitfield is BITFIELD and BITFIELD_RO.
func (c *Call) bitfield(readOnly bool) {
	ops, last, ok := c.fieldOps()
	if !ok {
		return
	}
	var b []byte
	grown := false
	switch {
	case last < 0:
		s, ok := lookup[keyspace.String](c, c.DB.Read(c.Args[1]))
		if !ok {
			return
		}
		if s != nil {
			b = s.Bytes()
		}
	case readOnly:
		c.fail("ERR BITFIELD_RO only supports the GET subcommand")
		return
	default:
		if b, grown, ok = c.bitsForWrite(last); !ok {
			return
		}
	}
	c.Reply.Array(len(ops))
	changes := int64(0)
	for _, op := range ops {
		if op.apply(c, b, grown) {
			changes++
		}
	}
	if changes > 0 {
		c.Changed(c.Args[1], keyspace.ClassString, "setbit")
		c.Keyspace().Dirty += changes - 1
	}
}

// fieldOps reads the subcommands, and the last bit that one of them writes or
// -1.
func (c *Call) fieldOps() (ops []fieldOp, last int64, ok bool) {
	last = -1
	policy := overflowWrap
	for i := 2; i < len(c.Args); i++ {
		op := fieldOp{overflow: policy}
		switch {
		case c.is(i, "GET") && c.left(i) >= 2:
			op.name = "GET"
		case c.is(i, "SET") && c.left(i) >= 3:
			op.name = "SET"
		case c.is(i, "INCRBY") && c.left(i) >= 3:
			op.name = "INCRBY"
		case c.is(i, "OVERFLOW") && c.left(i) >= 1:
			i++
			if policy, ok = c.overflow(i); !ok {
				return nil, 0, false
			}
			continue
		default:
			return nil, 0, c.fail(errSyntax)
		}
		if op.field, ok = c.fieldType(c.Args[i+1]); !ok {
			return nil, 0, false
		}
		if op.offset, ok = c.bitOffset(c.Args[i+2], op.field.width); !ok {
			return nil, 0, false
		}
		i += 2
		if op.name != "GET" {
			last = max(last, op.offset+op.field.width-1)
			i++
			if op.operand, ok = c.intArg(i); !ok {
				return nil, 0, false
			}
		}
		ops = append(ops, op)
	}
	return ops, last, true
}

func (c *Call) overflow(i int) (overflow, bool) {
	switch {
	case c.is(i, "WRAP"):
		return overflowWrap, true
	case c.is(i, "SAT"):
		return overflowSaturate, true
	case c.is(i, "FAIL"):
		return overflowFail, true
	}
	return 0, c.fail("ERR Invalid OVERFLOW type specified")
}

func (c *Call) fieldType(arg []byte) (f fieldType, ok bool) {
	const errType = "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is."
	if len(arg) == 0 || arg[0] != 'i' && arg[0] != 'u' {
		return f, c.fail(errType)
	}
	f.signed = arg[0] == 'i'
	f.width, ok = number.ParseInt(arg[1:])
	if !ok || f.width < 1 || f.width > 64 || f.width == 64 && !f.signed {
		return f, c.fail(errType)
	}
	return f, true
}

// apply executes op, replies, and reports whether it changed the bits: what is
// written to a string that had to grow does, whatever it is.
func (op fieldOp) apply(c *Call, b []byte, grown bool) bool {
	old := op.field.read(b, op.offset)
	if op.name == "GET" {
		c.Reply.Int(old)
		return false
	}
	next, increment := op.operand, int64(0)
	if op.name == "INCRBY" {
		next, increment = old, op.operand
	}
	next, fits := op.field.add(next, increment, op.overflow)
	if !fits && op.overflow == overflowFail {
		c.Reply.Null()
		return false
	}
	if op.name == "SET" {
		c.Reply.Int(old)
	} else {
		c.Reply.Int(next)
	}
	op.field.write(b, op.offset, next)
	return grown || next != old
}

// read reads the field at a bit offset; behind the end there are zeros.
func (f fieldType) read(b []byte, offset int64) int64 {
	var v uint64
	for at := offset; at < offset+f.width; at++ {
		v <<= 1
		if i := at >> 3; i < int64(len(b)) {
			v |= uint64(b[i]>>(7-at&7)) & 1
		}
	}
	if f.signed {
		return f.extend(v)
	}
	return int64(v)
}

// write stores v, which fits, at a bit offset.
func (f fieldType) write(b []byte, offset, v int64) {
	for i := range f.width {
		at := offset + i
		mask := byte(0x80) >> (at & 7)
		if b[at>>3] &^= mask; uint64(v)>>(f.width-1-i)&1 != 0 {
			b[at>>3] |= mask
		}
	}
}

// extend gives the upper bits of v the value of the field's sign.
func (f fieldType) extend(v uint64) int64 {
	shift := 64 - f.width
	return int64(v<<shift) >> shift
}

// add returns value plus increment as the field can hold it, and whether that
// is the true sum.
func (f fieldType) add(value, increment int64, o overflow) (sum int64, fits bool) {
	if !f.signed {
		return f.addUnsigned(uint64(value), increment, o)
	}
	most := int64(math.MaxInt64) >> (64 - f.width)
	least := -most - 1
	sum = value + increment
	limit := most
	switch {
	case value > most || increment > 0 && (sum < value || sum > most):
	case value < least || increment < 0 && (sum > value || sum < least):
		limit = least
	default:
		return sum, true
	}
	if o == overflowSaturate {
		return limit, false
	}
	return f.extend(uint64(sum)), false
}

func (f fieldType) addUnsigned(value uint64, increment int64, o overflow) (sum int64, fits bool) {
	most := uint64(1)<<f.width - 1
	limit := most
	switch {
	case value > most || increment > 0 && uint64(increment) > most-value:
	case increment < 0 && uint64(-increment) > value:
		limit = 0
	default:
		return int64(value + uint64(increment)), true
	}
	if o == overflowSaturate {
		return int64(limit), false
	}
	return int64((value + uint64(increment)) & most), false
}
