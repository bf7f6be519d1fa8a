package rdb

import (
	"encoding/binary"

	"github.com/fakecluster/fakecluster/emulator/internal/number"
)

// Blobs of versions before 7.0 come in two layouts, which nothing writes any
// more: the ziplist, predecessor of the listpack, and the zipmap, a hash of even
// older days. Both end with the byte 255.
const blobEnd = 0xff

// Ziplist returns the elements of a ziplist. Each has the size of the one before
// it in front.
func Ziplist(b []byte) ([][]byte, error) {
	const header = 4 + 4 + 2
	if len(b) < header+1 || int64(binary.LittleEndian.Uint32(b)) != int64(len(b)) {
		return nil, ErrFormat
	}
	last, count := int(binary.LittleEndian.Uint32(b[4:])), int(binary.LittleEndian.Uint16(b[8:]))
	r := NewReader(b[header:])
	var elements [][]byte
	at := header // of the last element read
	for r.Left() > 1 {
		start := len(b) - r.Left()
		if r.previousSize() != start-at {
			r.Fail()
			break
		}
		at = start
		elements = append(elements, r.ziplistElement())
	}
	if r.Byte() != blobEnd {
		r.Fail()
	}
	const unknown = 1<<16 - 1
	if last != at || count != unknown && count != len(elements) {
		r.Fail()
	}
	return elements, r.Err()
}

// previousSize reads the size in front of an element.
func (r *Reader) previousSize() int {
	const long = 254
	size := r.Byte()
	if size != long {
		return int(size)
	}
	if b := r.Raw(4); b != nil {
		return int(binary.LittleEndian.Uint32(b))
	}
	return 0
}

func (r *Reader) ziplistElement() []byte {
	head := r.Byte()
	switch head >> 6 {
	case 0:
		return r.Raw(int(head & 0x3f))
	case 1:
		return r.Raw(int(head&0x3f)<<8 | int(r.Byte()))
	case 2:
		if b := r.Raw(4); b != nil {
			return r.sized(uint64(binary.BigEndian.Uint32(b)))
		}
		return nil
	}
	n, ok := r.ziplistInt(head)
	if !ok {
		r.Fail()
		return nil
	}
	return number.AppendInt(nil, n)
}

func (r *Reader) ziplistInt(head byte) (n int64, ok bool) {
	width := map[byte]int{0xc0: 2, 0xd0: 4, 0xe0: 8, 0xf0: 3, 0xfe: 1}[head]
	if width == 0 {
		return int64(head&0x0f) - 1, head > 0xf0 && head < 0xfe
	}
	b := r.Raw(width)
	if b == nil {
		return 0, false
	}
	var wide [8]byte
	copy(wide[8-width:], b) // shifting back extends the sign
	return int64(binary.LittleEndian.Uint64(wide[:])) >> (64 - 8*width), true
}

// Zipmap returns the fields and values of a zipmap in turn. A value may have
// unused bytes behind it.
func Zipmap(b []byte) ([][]byte, error) {
	r := NewReader(b)
	r.Byte() // the number of fields, if it is small
	var elements [][]byte
	for r.Left() > 1 {
		elements = append(elements, r.sized(r.zipmapLength()))
		length := r.zipmapLength()
		unused := r.Byte()
		elements = append(elements, r.sized(length))
		r.Raw(int(unused))
	}
	if r.Byte() != blobEnd {
		r.Fail()
	}
	return elements, r.Err()
}

func (r *Reader) zipmapLength() uint64 {
	switch head := r.Byte(); head {
	case 254:
		if b := r.Raw(4); b != nil {
			return uint64(binary.LittleEndian.Uint32(b))
		}
		return 0
	case blobEnd:
		r.Fail()
		return 0
	default:
		return uint64(head)
	}
}
