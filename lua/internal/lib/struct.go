package lib

import (
	"encoding/binary"
	"math"
	"strings"

	"github.com/fakecluster/fakecluster/lua/internal/vm"
)

const (
	maxIntegerSize   = 32
	naturalAlignment = 8
)

// OpenStruct registers struct: C structures packed into strings.
func OpenStruct(g *vm.Global) {
	newLibrary(g, "struct", []entry{{"pack", structPack}, {"unpack", structUnpack}, {"size", structSize}})
}

// layout reads a format.
type layout struct {
	t      *vm.Thread
	format string
	big    bool
	align  int
}

func newLayout(t *vm.Thread) *layout {
	return &layout{t: t, format: cString(t.CheckString(1)), align: 1}
}

func (l *layout) next() byte {
	c := l.format[0]
	l.format = l.format[1:]
	return c
}

func (l *layout) number(def int) int {
	if l.format == "" || !isDigitByte(l.format[0]) {
		return def
	}
	n := 0
	for l.format != "" && isDigitByte(l.format[0]) {
		d := int(l.next() - '0')
		if n > math.MaxInt32/10 || n*10 > math.MaxInt32-d {
			l.t.Fail("integral size overflow")
		}
		n = n*10 + d
	}
	return n
}

// size is how many bytes an option takes.
func (l *layout) size(opt byte) int {
	switch opt {
	case 'B', 'b', 'x':
		return 1
	case 'H', 'h':
		return 2
	case 'L', 'l', 'T', 'd':
		return 8
	case 'f':
		return 4
	case 'c':
		return l.number(1)
	case 'i', 'I':
		n := l.number(4)
		if n > maxIntegerSize {
			l.t.Fail("integral size ", itoa(n), " is larger than limit of ", itoa(maxIntegerSize))
		}
		return n
	}
	return 0
}

func (l *layout) padding(pos int, opt byte, size int) int {
	if size == 0 || opt == 'c' {
		return 0
	}
	size = min(size, l.align)
	return (size - (pos & (size - 1))) & (size - 1)
}

func (l *layout) control(opt byte) {
	switch opt {
	case ' ':
	case '>':
		l.big = true
	case '<':
		l.big = false
	case '!':
		n := l.number(naturalAlignment)
		if n <= 0 || n&(n-1) != 0 {
			l.t.Fail("alignment ", itoa(n), " is not a power of 2")
		}
		l.align = n
	default:
		l.t.ArgError(1, "invalid format option '"+string([]byte{opt})+"'")
	}
}

func (l *layout) order() binary.AppendByteOrder {
	if l.big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

func (l *layout) appendInteger(out []byte, f float64, size int) []byte {
	var v uint64
	if f < 0 {
		v = uint64(vm.ToInteger(f))
	} else {
		v = toUnsigned(f)
	}
	at := len(out)
	out = append(out, make([]byte, size)...)
	for i := range size {
		if l.big {
			out[at+size-1-i] = byte(v)
		} else {
			out[at+i] = byte(v)
		}
		v >>= 8
	}
	return out
}

func structPack(t *vm.Thread) int {
	l := newLayout(t)
	// The original marks the end of its arguments with a nil.
	t.Push(vm.Value{})
	var out []byte
	arg, total := 2, 0
	for l.format != "" {
		opt := l.next()
		size := l.size(opt)
		pad := l.padding(total, opt, size)
		total += pad
		out = append(out, make([]byte, pad)...)
		switch opt {
		case 'b', 'B', 'h', 'H', 'l', 'L', 'T', 'i', 'I':
			out = l.appendInteger(out, t.CheckNumber(arg), size)
			arg++
		case 'x':
			out = append(out, 0)
		case 'f':
			out = l.order().AppendUint32(out, math.Float32bits(float32(t.CheckNumber(arg))))
			arg++
		case 'd':
			out = l.order().AppendUint64(out, math.Float64bits(t.CheckNumber(arg)))
			arg++
		case 'c', 's':
			s := t.CheckString(arg)
			arg++
			if size == 0 {
				size = len(s)
			}
			if len(s) < size {
				t.ArgError(arg, "string too short")
			}
			out = append(out, s[:size]...)
			if opt == 's' {
				out = append(out, 0)
				size++
			}
		default:
			l.control(opt)
		}
		total += size
	}
	t.Global().CheckStringSize(len(out))
	t.PushString(string(out))
	return 1
}

func (l *layout) integer(data string, signed bool) float64 {
	var v uint64
	for i := range len(data) {
		c := data[len(data)-1-i]
		if l.big {
			c = data[i]
		}
		v = v<<8 | uint64(c)
	}
	if !signed {
		return float64(v)
	}
	mask := ^uint64(0) << ((len(data)*8 - 1) & 63)
	if v&mask != 0 {
		v |= mask
	}
	return float64(int64(v))
}

func (l *layout) reorder(data string) []byte {
	b := []byte(data)
	if l.big {
		for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
	}
	return b
}

func structUnpack(t *vm.Thread) int {
	l := newLayout(t)
	data := t.CheckString(2)
	pos := t.OptInteger(3, 1)
	if pos == 0 {
		t.ArgError(3, "offset must be 1 or greater")
	}
	pos--
	// A position is unsigned in the original: a negative one is past any end.
	need := func(size int) {
		if pos < 0 || size > len(data) || pos > len(data)-size {
			t.ArgError(2, "data string too short")
		}
	}
	first := t.NArgs()
	for l.format != "" {
		opt := l.next()
		size := l.size(opt)
		pos += l.padding(pos, opt, size)
		need(size)
		if !t.RoomFor(2) {
			t.Fail("stack overflow (too many results)")
		}
		switch opt {
		case 'b', 'B', 'h', 'H', 'l', 'L', 'T', 'i', 'I':
			t.Push(vm.Num(l.integer(data[pos:pos+size], opt >= 'a')))
		case 'x':
		case 'f':
			t.Push(vm.Num(float64(math.Float32frombits(binary.LittleEndian.Uint32(l.reorder(data[pos : pos+4]))))))
		case 'd':
			t.Push(vm.Num(math.Float64frombits(binary.LittleEndian.Uint64(l.reorder(data[pos : pos+8])))))
		case 'c':
			if size == 0 {
				f, ok := vm.ToNumber(t.Arg(t.NArgs()))
				if t.NArgs() == first || !ok {
					t.Fail("format 'c0' needs a previous size")
				}
				t.Pop()
				size = int(min(toUnsigned(f), math.MaxInt))
				need(size)
			}
			t.PushString(data[pos : pos+size])
		case 's':
			end := strings.IndexByte(data[pos:], 0)
			if end < 0 {
				t.Fail("unfinished string in data")
			}
			size = end + 1
			t.PushString(data[pos : pos+end])
		default:
			l.control(opt)
		}
		pos += size
	}
	t.Push(vm.Int(pos + 1))
	return t.NArgs() - first
}

func structSize(t *vm.Thread) int {
	l := newLayout(t)
	pos := 0
	for l.format != "" {
		opt := l.next()
		size := l.size(opt)
		pos += l.padding(pos, opt, size)
		switch {
		case opt == 's':
			t.ArgError(1, "option 's' has no fixed size")
		case opt == 'c' && size == 0:
			t.ArgError(1, "option 'c0' has no fixed size")
		}
		if !isAlpha(opt) && !isDigitByte(opt) {
			l.control(opt)
		}
		pos += size
	}
	t.Push(vm.Int(pos))
	return 1
}
