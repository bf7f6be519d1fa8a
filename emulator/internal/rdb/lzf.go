package rdb

import (
	"math"
	"sync"
)

// LZF is a sequence of two kinds of blocks:
//
//	000lllll                    l+1 literal bytes follow
//	llloooooo oooooooo          l+2 bytes are those o+1 bytes back, l is 1 to 6
//	111oooooo llllllll oooooooo the same with l+9
//
// The compressor finds the same matches as the library Redis uses, liblzf with
// a table of 2^16 positions, so that payloads are the same bytes.
const (
	lzfTableBits  = 16
	lzfMaxLiteral = 1 << 5
	lzfMaxOffset  = 1 << 13
	lzfMaxMatch   = 1<<8 + 1<<3
)

// compressor holds the state of one compression and, between two, the table,
// which is too large to be cleared for every short string: positions count from
// base, and what is below it is of no concern any more.
type compressor struct {
	in, out []byte
	literal int // length of the literal block that is being written
	base    uint32
	table   [1 << lzfTableBits]uint32
}

var compressors = sync.Pool{New: func() any { return new(compressor) }}

// compress returns the compressed form of in, or nil if that is longer than
// limit.
func compress(in []byte, limit int) []byte {
	c := compressors.Get().(*compressor)
	defer c.release()
	if uint64(c.base)+uint64(len(in)) >= math.MaxUint32 {
		clear(c.table[:])
		c.base = 0
	}
	c.in, c.out, c.literal = in, make([]byte, 1, limit+lzfMaxLiteral), 0
	return c.compress(limit)
}

func (c *compressor) release() {
	c.base += uint32(len(c.in)) + 1
	c.in, c.out = nil, nil
	compressors.Put(c)
}

func (c *compressor) compress(limit int) []byte {
	in := c.in
	at := 0
	for at < len(in)-2 {
		slot := c.slot(at)
		ref := int(*slot) - int(c.base) - 1
		*slot = c.position(at)
		if !c.matches(ref, at) {
			if len(c.out) >= limit {
				return nil
			}
			c.copyLiteral(at)
			at++
			continue
		}
		room := 4
		if c.literal == 0 {
			room-- // the block that was begun is taken back
		}
		if len(c.out)+room >= limit {
			return nil
		}
		length := c.matchLength(ref, at)
		c.reference(at-ref-1, length)
		at += length
		if at >= len(in)-2 {
			break
		}
		for past := at - 2; past < at; past++ {
			*c.slot(past) = c.position(past)
		}
	}
	if len(c.out)+3 > limit {
		return nil
	}
	for ; at < len(in); at++ {
		c.copyLiteral(at)
	}
	c.endLiteral()
	return c.out
}

// position is how the table holds a position; never 0.
func (c *compressor) position(at int) uint32 { return c.base + uint32(at) + 1 }

// slot is where the last position of the three bytes at a position is kept.
func (c *compressor) slot(at int) *uint32 {
	h := uint32(c.in[at])<<16 | uint32(c.in[at+1])<<8 | uint32(c.in[at+2])
	return &c.table[(h>>(24-lzfTableBits)-h*5)&(1<<lzfTableBits-1)]
}

// matches tells whether the bytes at ref, a position or something negative, are
// those at at. The very first byte is never referred to.
func (c *compressor) matches(ref, at int) bool {
	return ref > 0 && at-ref-1 < lzfMaxOffset &&
		c.in[ref] == c.in[at] && c.in[ref+1] == c.in[at+1] && c.in[ref+2] == c.in[at+2]
}

// matchLength is how far a match goes. The library compares 16 bytes at once
// where there are that many, and at least one more, so that a match may end
// beyond what it aims for.
func (c *compressor) matchLength(ref, at int) int {
	most := min(len(c.in)-at-2, lzfMaxMatch)
	length := 3
	if most > 16 {
		for ; length <= 18; length++ {
			if c.in[ref+length] != c.in[at+length] {
				return length
			}
		}
	}
	for length < most && c.in[ref+length] == c.in[at+length] {
		length++
	}
	return length
}

func (c *compressor) copyLiteral(at int) {
	c.out = append(c.out, c.in[at])
	if c.literal++; c.literal == lzfMaxLiteral {
		c.endLiteral()
		c.out = append(c.out, 0)
	}
}

// endLiteral writes the length in front of a literal block, or takes the block
// back if it is empty.
func (c *compressor) endLiteral() {
	if c.literal == 0 {
		c.out = c.out[:len(c.out)-1]
		return
	}
	c.out[len(c.out)-c.literal-1] = byte(c.literal - 1)
	c.literal = 0
}

// reference writes a match and begins a literal block.
func (c *compressor) reference(offset, length int) {
	c.endLiteral()
	if length -= 2; length < 7 {
		c.out = append(c.out, byte(offset>>8+length<<5))
	} else {
		c.out = append(c.out, byte(offset>>8+7<<5), byte(length-7))
	}
	c.out = append(c.out, byte(offset), 0)
}

// decompress undoes compress; the result must have size bytes.
func decompress(in []byte, size int) ([]byte, error) {
	out := make([]byte, 0, size)
	for len(in) > 0 {
		head := int(in[0])
		in = in[1:]
		if head < lzfMaxLiteral {
			n := head + 1
			if n > len(in) || len(out)+n > size {
				return nil, ErrFormat
			}
			out = append(out, in[:n]...)
			in = in[n:]
			continue
		}
		length := head >> 5
		if length == 7 {
			if len(in) == 0 {
				return nil, ErrFormat
			}
			length += int(in[0])
			in = in[1:]
		}
		if len(in) == 0 {
			return nil, ErrFormat
		}
		from := len(out) - (head&0x1f)<<8 - int(in[0]) - 1
		in = in[1:]
		if length += 2; from < 0 || len(out)+length > size {
			return nil, ErrFormat
		}
		for i := range length { // the match may reach into itself
			out = append(out, out[from+i])
		}
	}
	if len(out) != size {
		return nil, ErrFormat
	}
	return out, nil
}
