package rdb

import (
	"encoding/binary"
	"math"

	"github.com/fakecluster/fakecluster/emulator/internal/number"
)

// Writer serializes a value. The zero Writer is ready and does not compress.
type Writer struct {
	// Compress shortens strings of more than 20 bytes where that helps, as
	// rdbcompression says.
	Compress bool

	buf []byte
}

// Bytes is what has been written.
func (w *Writer) Bytes() []byte { return w.buf }

// Byte writes one byte, such as a type.
func (w *Writer) Byte(b byte) { w.buf = append(w.buf, b) }

// Raw writes bytes without their length.
func (w *Writer) Raw(b []byte) { w.buf = append(w.buf, b...) }

// The first two bits of a length, and the whole first byte of long ones.
const (
	length6  = 0 << 6
	length14 = 1 << 6
	length32 = 0x80
	length64 = 0x81
)

// Len writes a length, or any other unsigned number.
func (w *Writer) Len(n uint64) {
	switch {
	case n < 1<<6:
		w.Byte(length6 | byte(n))
	case n < 1<<14:
		w.buf = append(w.buf, length14|byte(n>>8), byte(n))
	case n <= math.MaxUint32:
		w.Byte(length32)
		w.buf = binary.BigEndian.AppendUint32(w.buf, uint32(n))
	default:
		w.Byte(length64)
		w.buf = binary.BigEndian.AppendUint64(w.buf, n)
	}
}

// What stands in place of the length of a string in a special encoding.
const (
	encodedInt8  = 0xc0
	encodedInt16 = 0xc1
	encodedInt32 = 0xc2
	encodedLZF   = 0xc3
)

// String writes a string: as an integer if it reads as a small one, compressed
// if that is allowed and shorter.
func (w *Writer) String(b []byte) {
	if len(b) <= 11 {
		if n, ok := number.ParseInt(b); ok && w.smallInt(n) {
			return
		}
	}
	if w.Compress && len(b) > 20 {
		if c := compress(b, len(b)-4); c != nil {
			w.Byte(encodedLZF)
			w.Len(uint64(len(c)))
			w.Len(uint64(len(b)))
			w.Raw(c)
			return
		}
	}
	w.Len(uint64(len(b)))
	w.Raw(b)
}

// smallInt writes a number that fits into 32 bits.
func (w *Writer) smallInt(n int64) bool {
	switch {
	case n == int64(int8(n)):
		w.buf = append(w.buf, encodedInt8, byte(n))
	case n == int64(int16(n)):
		w.Byte(encodedInt16)
		w.buf = binary.LittleEndian.AppendUint16(w.buf, uint16(n))
	case n == int64(int32(n)):
		w.Byte(encodedInt32)
		w.buf = binary.LittleEndian.AppendUint32(w.buf, uint32(n))
	default:
		return false
	}
	return true
}

// Double writes a double in 8 bytes.
func (w *Writer) Double(f float64) { w.Uint64(math.Float64bits(f)) }

// Millis writes a time in Unix milliseconds.
func (w *Writer) Millis(ms int64) { w.Uint64(uint64(ms)) }

// Uint64 writes 8 bytes in little endian.
func (w *Writer) Uint64(n uint64) { w.buf = binary.LittleEndian.AppendUint64(w.buf, n) }

// Aux writes a field of a file's head.
func (w *Writer) Aux(name, value string) {
	w.Byte(OpAux)
	w.String([]byte(name))
	w.String([]byte(value))
}
