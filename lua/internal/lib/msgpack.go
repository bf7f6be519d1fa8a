package lib

import (
	"encoding/binary"
	"math"

	"github.com/fakecluster/fakecluster/lua/internal/vm"
)

// maxPackDepth is where nested tables become nil.
const maxPackDepth = 16

// OpenMsgPack registers cmsgpack.
func OpenMsgPack(g *vm.Global) {
	t := g.NewTable(0, 0)
	register(g, t, []entry{
		{"pack", msgPack}, {"unpack", msgUnpack},
		{"unpack_one", msgUnpackOne}, {"unpack_limit", msgUnpackLimit},
	})
	for _, f := range [][2]string{
		{"_NAME", "cmsgpack"}, {"_VERSION", "lua-cmsgpack 0.4.0"},
		{"_COPYRIGHT", "Copyright (C) 2012, Salvatore Sanfilippo"},
		{"_DESCRIPTION", "MessagePack C implementation for Lua"},
	} {
		t.SetStr(f[0], vm.Str(f[1]))
	}
	g.Globals.SetStr("cmsgpack", vm.TableValue(t))
}

type packer struct{ encoding }

func msgPack(t *vm.Thread) int {
	n := t.NArgs()
	if n == 0 {
		t.ArgError(0, "MessagePack pack needs input.")
	}
	if !t.RoomFor(n) {
		t.ArgError(0, "Too many arguments for MessagePack pack.")
	}
	p := packer{encoding{t: t}}
	for i := 1; i <= n; i++ {
		p.value(t.Arg(i), 0)
	}
	t.PushString(string(p.out))
	return 1
}

func (p *packer) value(v vm.Value, depth int) {
	p.check()
	switch v.Kind() {
	case vm.StringKind:
		p.str(v.Str())
	case vm.Bool:
		if v.Truthy() {
			p.out = append(p.out, 0xc3)
		} else {
			p.out = append(p.out, 0xc2)
		}
	case vm.Number:
		p.number(v.Float())
	case vm.TableKind:
		if depth == maxPackDepth {
			p.out = append(p.out, 0xc0)
		} else {
			p.table(v, depth)
		}
	default:
		p.out = append(p.out, 0xc0)
	}
}

// sized appends a type byte chosen by how many bytes n needs, and n.
func (p *packer) sized(n int, one, two, four byte) {
	switch {
	case one != 0 && n <= 0xff:
		p.out = append(p.out, one, byte(n))
	case n <= 0xffff:
		p.out = binary.BigEndian.AppendUint16(append(p.out, two), uint16(n))
	default:
		p.out = binary.BigEndian.AppendUint32(append(p.out, four), uint32(n))
	}
}

func (p *packer) str(s string) {
	if len(s) < 32 {
		p.out = append(p.out, 0xa0|byte(len(s)))
	} else {
		p.sized(len(s), 0xd9, 0xda, 0xdb)
	}
	p.out = append(p.out, s...)
}

func (p *packer) number(f float64) {
	if i := int64(vm.ToInteger(f)); float64(i) == f && !(f >= 1<<63) {
		p.integer(i)
		return
	}
	if f32 := float32(f); float64(f32) == f {
		p.out = binary.BigEndian.AppendUint32(append(p.out, 0xca), math.Float32bits(f32))
		return
	}
	p.out = binary.BigEndian.AppendUint64(append(p.out, 0xcb), math.Float64bits(f))
}

func (p *packer) integer(i int64) {
	switch {
	case i >= 0 && i <= 127 || i < 0 && i >= -32:
		p.out = append(p.out, byte(i))
	case i > math.MaxUint32:
		p.out = binary.BigEndian.AppendUint64(append(p.out, 0xcf), uint64(i))
	case i >= 0:
		p.sized(int(i), 0xcc, 0xcd, 0xce)
	case i >= math.MinInt8:
		p.out = append(p.out, 0xd0, byte(i))
	case i >= math.MinInt16:
		p.out = binary.BigEndian.AppendUint16(append(p.out, 0xd1), uint16(i))
	case i >= math.MinInt32:
		p.out = binary.BigEndian.AppendUint32(append(p.out, 0xd2), uint32(i))
	default:
		p.out = binary.BigEndian.AppendUint64(append(p.out, 0xd3), uint64(i))
	}
}

// isArray tells whether the keys are 1..n.
func isArray(t *vm.Table) bool {
	count, highest, array := 0, 0.0, true
	t.Each(func(k, _ vm.Value) {
		if !k.IsNumber() || k.Float() <= 0 || k.Float() != math.Floor(k.Float()) || k.Float() > math.MaxInt32 {
			array = false
			return
		}
		highest = max(highest, k.Float())
		count++
	})
	return array && highest == float64(count)
}

func (p *packer) table(v vm.Value, depth int) {
	p.t.Global().Poll() // tables that share tables may be without end
	t := v.Table()
	if isArray(t) {
		n := t.Len()
		if n <= 15 {
			p.out = append(p.out, 0x90|byte(n))
		} else {
			p.sized(n, 0, 0xdc, 0xdd)
		}
		for i := 1; i <= n; i++ {
			p.value(p.t.Index(v, vm.Int(i)), depth+1)
		}
		return
	}
	n := 0
	t.Each(func(_, _ vm.Value) { n++ })
	if n <= 15 {
		p.out = append(p.out, 0x80|byte(n))
	} else {
		p.sized(n, 0, 0xde, 0xdf)
	}
	t.Each(func(k, v vm.Value) {
		p.value(k, depth+1)
		p.value(v, depth+1)
	})
}

// unpacker decodes values from a string.
type unpacker struct {
	t    *vm.Thread
	data string
	used int // stack slots the original would hold
}

func (u *unpacker) missing()   { u.t.Fail("Missing bytes in input.") }
func (u *unpacker) badFormat() { u.t.Fail("Bad data format in input.") }

func (u *unpacker) take(n int) string {
	if len(u.data) < n {
		u.missing()
	}
	s := u.data[:n]
	u.data = u.data[n:]
	return s
}

// uint reads a big-endian integer that follows a type byte.
func (u *unpacker) uint(size int) uint64 {
	if len(u.data) < 1+size {
		u.missing()
	}
	var v uint64
	for _, c := range []byte(u.take(1 + size)[1:]) {
		v = v<<8 | uint64(c)
	}
	return v
}

// room checks that the original could push one more value.
func (u *unpacker) room(message string) {
	if u.t.NArgs()+u.used+1 > vm.MaxGoStack {
		u.t.Fail("stack overflow (", message, ")")
	}
}

func (u *unpacker) value() vm.Value {
	if len(u.data) < 1 {
		u.missing()
	}
	u.room("too many return values at once; use unpack_one or unpack_limit instead.")
	switch c := u.data[0]; c {
	case 0xcc, 0xcd, 0xce, 0xcf:
		return vm.Num(float64(int64(u.uint(1 << (c - 0xcc)))))
	case 0xd0:
		return vm.Int(int(int8(u.uint(1))))
	case 0xd1:
		return vm.Int(int(int16(u.uint(2))))
	case 0xd2:
		return vm.Int(int(int32(u.uint(4))))
	case 0xd3:
		return vm.Num(float64(int64(u.uint(8))))
	case 0xc0:
		u.take(1)
		return vm.Value{}
	case 0xc3:
		u.take(1)
		return vm.True
	case 0xc2:
		u.take(1)
		return vm.False
	case 0xca:
		return vm.Num(float64(math.Float32frombits(uint32(u.uint(4)))))
	case 0xcb:
		return vm.Num(math.Float64frombits(u.uint(8)))
	case 0xd9, 0xda, 0xdb:
		return u.str(int(u.uint(1 << (c - 0xd9))))
	case 0xdc, 0xdd:
		return u.array(int(u.uint(2 << (c - 0xdc))))
	case 0xde, 0xdf:
		return u.mapping(int(u.uint(2 << (c - 0xde))))
	default:
		return u.short(c)
	}
}

// short decodes the types that carry their size or value in the type byte.
func (u *unpacker) short(c byte) vm.Value {
	switch {
	case c&0x80 == 0, c&0xe0 == 0xe0:
		u.take(1)
		return vm.Int(int(int8(c)))
	case c&0xe0 == 0xa0:
		u.take(1)
		return u.str(int(c & 0x1f))
	case c&0xf0 == 0x90:
		u.take(1)
		return u.array(int(c & 0xf))
	case c&0xf0 == 0x80:
		u.take(1)
		return u.mapping(int(c & 0xf))
	}
	u.badFormat()
	return vm.Value{}
}

func (u *unpacker) str(n int) vm.Value { return u.t.Global().NewString(u.take(n)) }

func (u *unpacker) array(n int) vm.Value {
	t := u.t.Global().NewTable(0, 0)
	u.used++
	u.room("in function mp_decode_to_lua_array")
	u.used++
	for i := 1; i <= n; i++ {
		if v := u.value(); !v.IsNil() {
			t.SetInt(i, v)
		}
	}
	u.used -= 2
	return vm.TableValue(t)
}

func (u *unpacker) mapping(n int) vm.Value {
	t := u.t.Global().NewTable(0, 0)
	u.used++
	for range n {
		k := u.value()
		u.used++
		v := u.value()
		u.used--
		u.t.RawSet(t, k, v)
	}
	u.used--
	return vm.TableValue(t)
}

// unpack decodes up to limit values from offset on. With neither, it decodes
// all and returns no offset. The original compares 64 bits and prints 32.
func unpack(t *vm.Thread, limit, offset int) int {
	all := limit == 0 && offset == 0
	s := t.CheckString(1)
	if offset < 0 || limit < 0 {
		t.Fail("Invalid request to unpack with offset of ", itoa(int(int32(offset))), " and limit of ", itoa(len(s)), ".")
	}
	if offset > len(s) {
		t.Fail("Start offset ", itoa(int(int32(offset))), " greater than input length ", itoa(len(s)), ".")
	}
	if all {
		limit = math.MaxInt32
	}
	u := unpacker{t: t, data: s[offset:]}
	n := 0
	for ; len(u.data) > 0 && n < limit; n++ {
		t.Push(u.value())
	}
	if all {
		return n
	}
	next := len(s) - len(u.data)
	if len(u.data) == 0 {
		next = -1
	}
	t.Insert(t.NArgs()-n+1, vm.Int(next))
	return n + 1
}

func msgUnpack(t *vm.Thread) int { return unpack(t, 0, 0) }

func msgUnpackOne(t *vm.Thread) int {
	offset := t.OptInteger(2, 0)
	t.SetTop(1)
	return unpack(t, 1, offset)
}

func msgUnpackLimit(t *vm.Thread) int {
	limit := t.CheckInteger(2)
	offset := t.OptInteger(3, 0)
	t.SetTop(1)
	return unpack(t, limit, offset)
}
