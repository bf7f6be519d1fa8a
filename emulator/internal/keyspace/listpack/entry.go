package listpack

import (
	"encoding/binary"
	"iter"

	"github.com/fakecluster/fakecluster/emulator/internal/number"
)

// Entry is an element as it is stored: an integer or a string.
type Entry struct {
	bytes []byte // nil when the element is an integer
	num   int64
}

// Int is the element's value when it is stored as an integer.
func (e Entry) Int() (n int64, ok bool) { return e.num, e.bytes == nil }

// AppendTo appends the element as a string to dst.
func (e Entry) AppendTo(dst []byte) []byte {
	if e.bytes == nil {
		return number.AppendInt(dst, e.num)
	}
	return append(dst, e.bytes...)
}

// Bytes returns the element as a string. It may share memory with the listpack:
// it is valid until that changes and must not be written to.
func (e Entry) Bytes() []byte {
	if e.bytes == nil {
		return number.AppendInt(make([]byte, 0, 20), e.num)
	}
	return e.bytes
}

// String returns a copy of the element as a string.
func (e Entry) String() string {
	if e.bytes == nil {
		var buf [20]byte
		return string(number.AppendInt(buf[:0], e.num))
	}
	return string(e.bytes)
}

// Len is the length of the element as a string, in bytes.
func (e Entry) Len() int {
	if e.bytes == nil {
		var buf [20]byte
		return len(number.AppendInt(buf[:0], e.num))
	}
	return len(e.bytes)
}

// Get returns element at.
func (p *Pack) Get(at Pos) Entry { return decode(p.data[at:]) }

// All yields the elements from the first to the last. The listpack must not
// change during the walk.
func (p *Pack) All() iter.Seq2[Pos, Entry] {
	return func(yield func(Pos, Entry) bool) {
		for at := p.First(); at != None; at = p.Next(at) {
			if !yield(at, p.Get(at)) {
				return
			}
		}
	}
}

// Key is a string prepared for comparing it with many elements.
type Key struct {
	s     []byte
	num   int64
	isInt bool
}

// MakeKey prepares s, which it keeps.
func MakeKey(s []byte) Key {
	n, ok := asInt(s)
	return Key{s, n, ok}
}

// Is reports whether the element equals key as a string.
func (e Entry) Is(key Key) bool {
	if e.bytes == nil {
		return key.isInt && e.num == key.num
	}
	return string(e.bytes) == string(key.s)
}

// Find returns the first position from at on whose element equals s, or None.
// After each element it looks at it passes over skip others: with 1, every
// second element is a key and those between are values.
func (p *Pack) Find(at Pos, s []byte, skip int) Pos {
	key := MakeKey(s)
	for at != None {
		if p.Get(at).Is(key) {
			return at
		}
		for range skip + 1 {
			if at = p.Next(at); at == None {
				return None
			}
		}
	}
	return None
}

// asInt reads a string that would be stored as an integer.
func asInt(s []byte) (int64, bool) { return number.ParseInt(s) }

// The encodings: the bits of an element's first byte.
const (
	enc13BitInt    = 0xc0 // 110xxxxx
	enc12BitString = 0xe0 // 1110xxxx
	enc32BitString = 0xf0
	enc16BitInt    = 0xf1
	enc24BitInt    = 0xf2
	enc32BitInt    = 0xf3
	enc64BitInt    = 0xf4
)

func decode(b []byte) Entry {
	first := b[0]
	switch {
	case first < 0x80: // 0xxxxxxx: 7-bit unsigned integer
		return Entry{num: int64(first)}
	case first < 0xc0: // 10xxxxxx: string of up to 63 bytes
		n := int(first & 0x3f)
		return Entry{bytes: b[1 : 1+n : 1+n]}
	case first < 0xe0:
		n := int64(first&0x1f)<<8 | int64(b[1])
		return Entry{num: n << 51 >> 51}
	case first < 0xf0:
		n := int(first&0x0f)<<8 | int(b[1])
		return Entry{bytes: b[2 : 2+n : 2+n]}
	}
	switch first {
	case enc32BitString:
		n := int(binary.LittleEndian.Uint32(b[1:]))
		return Entry{bytes: b[5 : 5+n : 5+n]}
	case enc16BitInt:
		return Entry{num: int64(int16(binary.LittleEndian.Uint16(b[1:])))}
	case enc24BitInt:
		n := uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
		return Entry{num: int64(int32(n) >> 8)}
	case enc32BitInt:
		return Entry{num: int64(int32(binary.LittleEndian.Uint32(b[1:])))}
	default:
		return Entry{num: int64(binary.LittleEndian.Uint64(b[1:]))}
	}
}

// encodedSize is the size of the element b starts with, without its backlen. It
// reads only what sizeBytes says it may.
func encodedSize(b []byte) int {
	first := b[0]
	switch {
	case first < 0x80:
		return 1
	case first < 0xc0:
		return 1 + int(first&0x3f)
	case first < 0xe0:
		return 2
	case first < 0xf0:
		return 2 + (int(first&0x0f)<<8 | int(b[1]))
	}
	switch first {
	case enc32BitString:
		return 5 + int(binary.LittleEndian.Uint32(b[1:]))
	case enc16BitInt:
		return 3
	case enc24BitInt:
		return 4
	case enc32BitInt:
		return 5
	case enc64BitInt:
		return 9
	}
	return 1
}

// sizeBytes is how many bytes of an element must be there for encodedSize to
// read them; 0 when no element starts with first.
func sizeBytes(first byte) int {
	switch {
	case first >= 0xe0 && first < 0xf0:
		return 2
	case first == enc32BitString:
		return 5
	case first > enc64BitInt:
		return 0
	}
	return 1
}

// EncodedSize is the number of bytes s takes in a listpack.
func EncodedSize(s []byte) int {
	var buf [9]byte
	var size int
	if n, ok := asInt(s); ok {
		size = len(appendInt(buf[:0], n))
	} else {
		size = len(appendStringHeader(buf[:0], len(s))) + len(s)
	}
	return size + backlenWidth(size)
}

func appendStringHeader(dst []byte, n int) []byte {
	switch {
	case n < 64:
		return append(dst, 0x80|byte(n))
	case n < 4096:
		return append(dst, enc12BitString|byte(n>>8), byte(n))
	}
	return binary.LittleEndian.AppendUint32(append(dst, enc32BitString), uint32(n))
}

func appendInt(dst []byte, n int64) []byte {
	switch {
	case n >= 0 && n <= 127:
		return append(dst, byte(n))
	case n >= -1<<12 && n < 1<<12:
		return append(dst, enc13BitInt|byte(n>>8)&0x1f, byte(n))
	case n >= -1<<15 && n < 1<<15:
		return append(dst, enc16BitInt, byte(n), byte(n>>8))
	case n >= -1<<23 && n < 1<<23:
		return append(dst, enc24BitInt, byte(n), byte(n>>8), byte(n>>16))
	case n >= -1<<31 && n < 1<<31:
		return binary.LittleEndian.AppendUint32(append(dst, enc32BitInt), uint32(n))
	}
	return binary.LittleEndian.AppendUint64(append(dst, enc64BitInt), uint64(n))
}

// backlenWidth is the number of bytes the backlen of an element of size bytes
// takes. The limits are Redis', one less than seven bits a byte would allow.
func backlenWidth(size int) int {
	switch {
	case size <= 127:
		return 1
	case size < 16383:
		return 2
	case size < 2097151:
		return 3
	case size < 268435455:
		return 4
	}
	return 5
}

// putBacklen writes size in groups of seven bits, the most significant first;
// all but the first byte carry a high bit that says: go on to the left.
func putBacklen(dst []byte, size int) {
	for i := backlenWidth(size) - 1; i >= 0; i-- {
		dst[i] = byte(size & 127)
		if i > 0 {
			dst[i] |= 128
		}
		size >>= 7
	}
}

// decodeBacklen reads the backlen that b ends with; width is 0 if there is none.
func decodeBacklen(b []byte) (size, width int) {
	for width < 5 && width < len(b) {
		c := b[len(b)-1-width]
		size |= int(c&127) << (7 * width)
		width++
		if c&128 == 0 {
			return size, width
		}
	}
	return 0, 0
}
