package rdb

import (
	"encoding/binary"
	"math"

	"github.com/fakecluster/fakecluster/emulator/internal/number"
)

// Reader takes a serialized value apart. After the first mistake it returns
// zeros and Err says so; callers check once per step that depends on it.
type Reader struct {
	rest []byte
	err  error
}

// NewReader reads b, which it refers to.
func NewReader(b []byte) *Reader { return &Reader{rest: b} }

// Err is ErrFormat if what was asked for was not there.
func (r *Reader) Err() error { return r.err }

// Left is the number of bytes that have not been read.
func (r *Reader) Left() int { return len(r.rest) }

// Fail records that what was read makes no sense.
func (r *Reader) Fail() {
	r.rest, r.err = nil, ErrFormat
}

// Raw reads n bytes, which refer to the input.
func (r *Reader) Raw(n int) []byte {
	if n > len(r.rest) {
		r.Fail()
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

// Byte reads one byte.
func (r *Reader) Byte() byte {
	if b := r.Raw(1); b != nil {
		return b[0]
	}
	return 0
}

// Len reads what Writer.Len wrote.
func (r *Reader) Len() uint64 {
	n, special := r.length()
	if special {
		r.Fail()
		return 0
	}
	return n
}

// Count reads the number of elements that follow, which is at least 1 and, as
// each takes a byte, no more than there are bytes.
func (r *Reader) Count() int {
	n := r.Len()
	if n == 0 || n > uint64(len(r.rest)) {
		r.Fail()
		return 0
	}
	return int(n)
}

// length reads a length or the byte of a special encoding.
func (r *Reader) length() (n uint64, special bool) {
	head := r.Byte()
	switch head & 0xc0 {
	case length6:
		return uint64(head & 0x3f), false
	case length14:
		return uint64(head&0x3f)<<8 | uint64(r.Byte()), false
	case encodedInt8:
		return uint64(head), true
	}
	switch head {
	case length32:
		if b := r.Raw(4); b != nil {
			return uint64(binary.BigEndian.Uint32(b)), false
		}
	case length64:
		if b := r.Raw(8); b != nil {
			return binary.BigEndian.Uint64(b), false
		}
	default:
		r.Fail()
	}
	return 0, false
}

// String reads what Writer.String wrote. The result may refer to
// the input.
func (r *Reader) String() []byte {
	n, special := r.length()
	if !special {
		return r.sized(n)
	}
	var i int64
	switch n {
	case encodedInt8:
		i = int64(int8(r.Byte()))
	case encodedInt16:
		if b := r.Raw(2); b != nil {
			i = int64(int16(binary.LittleEndian.Uint16(b)))
		}
	case encodedInt32:
		if b := r.Raw(4); b != nil {
			i = int64(int32(binary.LittleEndian.Uint32(b)))
		}
	case encodedLZF:
		return r.compressed()
	default:
		r.Fail()
	}
	if r.err != nil {
		return nil
	}
	return number.AppendInt(nil, i)
}

func (r *Reader) sized(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.Fail()
		return nil
	}
	return r.Raw(int(n))
}

func (r *Reader) compressed() []byte {
	packed, size := r.Len(), r.Len()
	// No block expands a byte to more than the longest match.
	b := r.sized(packed)
	if r.err != nil || size > packed*lzfMaxMatch {
		r.Fail()
		return nil
	}
	out, err := decompress(b, int(size))
	if err != nil {
		r.Fail()
		return nil
	}
	return out
}

// Double reads what Writer.Double wrote.
func (r *Reader) Double() float64 { return math.Float64frombits(r.Uint64()) }

// TextDouble reads a double as old versions wrote it: its length and its
// decimal form, or a length that stands for what has none.
func (r *Reader) TextDouble() float64 {
	const minusInf, plusInf, nan = 255, 254, 253
	switch n := r.Byte(); n {
	case minusInf:
		return math.Inf(-1)
	case plusInf:
		return math.Inf(1)
	case nan:
		return math.NaN()
	default:
		f, ok := number.ParseFloat(r.Raw(int(n)))
		if !ok {
			r.Fail()
		}
		return f
	}
}

// Millis reads what Writer.Millis wrote.
func (r *Reader) Millis() int64 { return int64(r.Uint64()) }

// Uint64 reads 8 bytes in little endian.
func (r *Reader) Uint64() uint64 {
	if b := r.Raw(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}
