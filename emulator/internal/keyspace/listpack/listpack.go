// Package listpack is Redis' listpack: a sequence of strings and integers in one
// run of bytes that can be walked from both ends. It serves small lists, hashes,
// sets and sorted sets, the nodes of large lists and the nodes of streams.
//
// The bytes are exactly those Redis keeps in memory and writes into a DUMP
// payload, so that a value travels between both by a plain copy. A string that
// is the canonical spelling of an integer is stored as that integer; who reads
// it back as a string does not notice.
//
//	<total bytes, uint32><number of elements, uint16> element* 0xFF
//
// An element is its encoding, its data, and the length of both once more, in a
// form that is read from right to left.
package listpack

import (
	"encoding/binary"
	"slices"
)

const (
	headerSize = 6
	terminator = 0xff
	// emptySize is the size of a listpack without elements.
	emptySize = headerSize + 1
	// countUnknown in the header means: walk and count.
	countUnknown = 0xffff
	// maxSize bounds a listpack in bytes, as Redis does for safety.
	maxSize = 1 << 30
)

// Pos is the position of an element: its offset in the bytes. Changing a
// listpack invalidates positions behind the change.
type Pos int

// None is the position of no element: what lies beyond both ends.
const None Pos = -1

// Pack is a listpack. Use New; the zero value is not one.
type Pack struct {
	data []byte
}

// New returns an empty listpack.
func New() *Pack {
	data := make([]byte, emptySize, 32)
	data[headerSize] = terminator
	p := &Pack{data: data}
	p.setSize()
	return p
}

// FromBytes returns the listpack held in data, which it keeps. The data must
// have been accepted by Validate.
func FromBytes(data []byte) *Pack { return &Pack{data: data} }

// Bytes returns the listpack's bytes, which must not be changed and are valid
// until the listpack is.
func (p *Pack) Bytes() []byte { return p.data }

// Size is the number of bytes.
func (p *Pack) Size() int { return len(p.data) }

// Clone returns a copy.
func (p *Pack) Clone() *Pack { return &Pack{data: slices.Clone(p.data)} }

// Fits reports whether size more bytes can be added without exceeding what a
// listpack may hold.
func (p *Pack) Fits(size int) bool { return len(p.data)+size <= maxSize }

// Len is the number of elements. It takes time only beyond 65,534 of them.
func (p *Pack) Len() int {
	if n := p.count(); n != countUnknown {
		return n
	}
	n := 0
	for at := p.First(); at != None; at = p.Next(at) {
		n++
	}
	if n < countUnknown {
		p.setCount(n)
	}
	return n
}

func (p *Pack) count() int { return int(binary.LittleEndian.Uint16(p.data[4:])) }

func (p *Pack) setCount(n int) {
	binary.LittleEndian.PutUint16(p.data[4:], uint16(min(n, countUnknown)))
}

func (p *Pack) setSize() { binary.LittleEndian.PutUint32(p.data, uint32(len(p.data))) }

// First is the position of the first element, or None.
func (p *Pack) First() Pos { return p.check(headerSize) }

// Last is the position of the last element, or None.
func (p *Pack) Last() Pos { return p.before(len(p.data) - 1) }

// Next is the position behind at, or None.
func (p *Pack) Next(at Pos) Pos { return p.check(p.end(at)) }

// Prev is the position before at, or None.
func (p *Pack) Prev(at Pos) Pos { return p.before(int(at)) }

// At is the position of element index, counted from the end when negative:
// -1 is the last. It is None when out of range.
func (p *Pack) At(index int) Pos {
	if n := p.count(); n != countUnknown {
		if index >= n || index < -n {
			return None
		}
		if index > n/2 {
			index -= n // the walk from the end is shorter
		} else if index < -n/2 {
			index += n
		}
	}
	if index < 0 {
		at := p.Last()
		for ; index < -1 && at != None; index++ {
			at = p.Prev(at)
		}
		return at
	}
	at := p.First()
	for ; index > 0 && at != None; index-- {
		at = p.Next(at)
	}
	return at
}

// check turns the offset behind an element into a position.
func (p *Pack) check(offset int) Pos {
	if p.data[offset] == terminator {
		return None
	}
	return Pos(offset)
}

// before is the position of the element that ends at offset.
func (p *Pack) before(offset int) Pos {
	if offset <= headerSize {
		return None
	}
	size, width := decodeBacklen(p.data[:offset])
	return Pos(offset - width - size)
}

// end is the offset behind element at.
func (p *Pack) end(at Pos) int {
	size := encodedSize(p.data[at:])
	return int(at) + size + backlenWidth(size)
}

// Append adds a string at the end.
func (p *Pack) Append(s []byte) { p.splice(len(p.data)-1, len(p.data)-1, s, 1) }

// AppendInt adds an integer at the end.
func (p *Pack) AppendInt(n int64) {
	at := len(p.data) - 1
	p.spliceInt(at, at, n, 1)
}

// Prepend adds a string at the start.
func (p *Pack) Prepend(s []byte) { p.splice(headerSize, headerSize, s, 1) }

// InsertBefore adds a string before element at and returns its position.
func (p *Pack) InsertBefore(at Pos, s []byte) Pos { return p.splice(int(at), int(at), s, 1) }

// InsertIntBefore adds an integer before element at and returns its position.
func (p *Pack) InsertIntBefore(at Pos, n int64) Pos { return p.spliceInt(int(at), int(at), n, 1) }

// InsertAfter adds a string behind element at and returns its position.
func (p *Pack) InsertAfter(at Pos, s []byte) Pos {
	end := p.end(at)
	return p.splice(end, end, s, 1)
}

// Replace puts a string in the place of element at and returns its position.
func (p *Pack) Replace(at Pos, s []byte) Pos { return p.splice(int(at), p.end(at), s, 0) }

// ReplaceInt puts an integer in the place of element at and returns its
// position.
func (p *Pack) ReplaceInt(at Pos, n int64) Pos { return p.spliceInt(int(at), p.end(at), n, 0) }

// Delete removes element at and returns the position of the one behind it, or
// None.
func (p *Pack) Delete(at Pos) Pos {
	p.cut(int(at), p.end(at), 1)
	return p.check(int(at))
}

// DeleteRange removes up to n elements from at on and returns the position of
// the one behind them, or None, and how many were removed.
func (p *Pack) DeleteRange(at Pos, n int) (next Pos, removed int) {
	if at == None {
		return None, 0
	}
	end := int(at)
	for removed < n && p.data[end] != terminator {
		end = p.end(Pos(end))
		removed++
	}
	p.cut(int(at), end, removed)
	return p.check(int(at)), removed
}

// Clear removes every element.
func (p *Pack) Clear() {
	p.data = append(p.data[:headerSize], terminator)
	p.setCount(0)
	p.setSize()
}

// AppendPack adds all elements of other at the end.
func (p *Pack) AppendPack(other *Pack) {
	total := p.Len() + other.Len()
	p.data = append(p.data[:len(p.data)-1], other.data[headerSize:]...)
	p.setCount(total)
	p.setSize()
}

// SplitOff removes everything from at on and returns it as a listpack of its
// own.
func (p *Pack) SplitOff(at Pos) *Pack {
	tail := New()
	if at == None {
		return tail
	}
	total := p.Len()
	tail.data = append(tail.data[:headerSize], p.data[at:]...)
	tail.setCount(countUnknown)
	tail.setCount(tail.Len())
	tail.setSize()
	p.data = append(p.data[:at], terminator)
	p.setCount(total - tail.Len())
	p.setSize()
	return tail
}

// splice replaces the bytes from start to end by an element holding s and adds
// added to the count.
func (p *Pack) splice(start, end int, s []byte, added int) Pos {
	if n, ok := asInt(s); ok {
		return p.spliceInt(start, end, n, added)
	}
	var head [5]byte
	header := appendStringHeader(head[:0], len(s))
	size := len(header) + len(s)
	at := p.open(start, end, size+backlenWidth(size), added)
	copy(at, header)
	copy(at[len(header):], s)
	putBacklen(at[size:], size)
	return Pos(start)
}

func (p *Pack) spliceInt(start, end int, n int64, added int) Pos {
	var buf [9]byte
	encoded := appendInt(buf[:0], n)
	at := p.open(start, end, len(encoded)+1, added)
	copy(at, encoded)
	putBacklen(at[len(encoded):], len(encoded))
	return Pos(start)
}

// open makes the bytes from start to end width bytes wide, fixes the header and
// returns them for the caller to fill.
func (p *Pack) open(start, end, width, added int) []byte {
	old := len(p.data)
	grow := width - (end - start)
	if grow > 0 {
		p.grow(old + grow)
	}
	copy(p.data[start+width:], p.data[end:old])
	p.data = p.data[:old+grow]
	p.setSize()
	if n := p.count(); n != countUnknown && added != 0 {
		p.setCount(n + added)
	}
	return p.data[start : start+width]
}

// growsExactly bounds the listpacks, in bytes, that get just the room they need,
// as those of Redis do: most values are small, and stay so.
const growsExactly = 4096

// grow makes room for size bytes.
func (p *Pack) grow(size int) {
	switch {
	case size <= cap(p.data):
		p.data = p.data[:size]
	case size <= growsExactly:
		grown := slices.Grow([]byte(nil), size)[:size]
		copy(grown, p.data)
		p.data = grown
	default:
		p.data = slices.Grow(p.data, size-len(p.data))[:size]
	}
}

// cut removes the bytes from start to end, which hold n elements.
func (p *Pack) cut(start, end, n int) {
	p.data = append(p.data[:start], p.data[end:]...)
	p.setSize()
	if count := p.count(); count != countUnknown {
		p.setCount(count - n)
	}
}
