// Package hyperloglog counts distinct elements approximately, in the format in
// which Redis keeps such a count inside a string. A sketch is that string, byte
// for byte: what one server wrote with PFADD and a client copied with GET and
// SET, the other goes on counting with.
//
// A sketch has 16384 registers of 6 bits. An element's hash picks one with its
// low bits; the register remembers the longest run of zeros seen in the rest.
// Few elements are kept as a sequence of run lengths ("sparse"), many as an
// array ("dense"). The header is "HYLL", the encoding, 3 unused bytes and the
// last count, 8 bytes in little endian whose top bit says that it is out of
// date.
package hyperloglog

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

const (
	indexBits  = 14
	hashBits   = 64 - indexBits
	registers  = 1 << indexBits
	bitsPerReg = 6
	headerSize = 16
	denseSize  = headerSize + registers*bitsPerReg/8
)

// Encodings, as the header names them.
const (
	dense  = 0
	sparse = 1
)

// ErrCorrupt says that a sketch has a good header and impossible contents.
var ErrCorrupt = errors.New("corrupted HLL object detected")

// Sketch is a count, as stored in a string.
type Sketch []byte

// New returns a sketch of nothing.
func New() Sketch {
	s := make(Sketch, headerSize, headerSize+2)
	copy(s, "HYLL")
	s[4] = sparse
	return appendZeros(s, registers)
}

// Valid reports whether b looks like a sketch: its header and, for a dense
// one, its length.
func Valid(b []byte) bool {
	if len(b) < headerSize || string(b[:4]) != "HYLL" {
		return false
	}
	return b[4] == sparse || b[4] == dense && len(b) == denseSize
}

// IsDense reports whether the sketch is an array.
func (s Sketch) IsDense() bool { return s[4] == dense }

// Cached is the count as it was last computed, if that is still right.
func (s Sketch) Cached() (n uint64, ok bool) {
	n = binary.LittleEndian.Uint64(s[8:])
	return n, n>>63 == 0
}

// SetCached stores the count.
func (s Sketch) SetCached(n uint64) { binary.LittleEndian.PutUint64(s[8:], n) }

// Invalidate says that the stored count is out of date.
func (s Sketch) Invalidate() { s[15] |= 0x80 }

// Add counts an element. It returns the sketch, which may have moved, and
// whether it changed. One of more than sparseMax bytes becomes dense.
func (s Sketch) Add(element []byte, sparseMax int) (Sketch, bool, error) {
	index, run := place(element)
	return s.Raise(index, run, sparseMax)
}

// place is the register of an element, and the length of the run of zeros plus
// one.
func place(element []byte) (index int, run byte) {
	h := hash(element)
	// The extra bit ends the run.
	return int(h & (registers - 1)), byte(1 + bits.TrailingZeros64(h>>indexBits|1<<hashBits))
}

// hash is MurmurHash64A of Austin Appleby, with Redis' seed.
func hash(b []byte) uint64 {
	const (
		seed  = 0xadc83b19
		mix   = 0xc6a4a7935bd1e995
		shift = 47
	)
	h := seed ^ uint64(len(b))*mix
	for ; len(b) >= 8; b = b[8:] {
		k := binary.LittleEndian.Uint64(b) * mix
		k ^= k >> shift
		h = (h ^ k*mix) * mix
	}
	if len(b) > 0 {
		var tail [8]byte
		copy(tail[:], b)
		h = (h ^ binary.LittleEndian.Uint64(tail[:])) * mix
	}
	h = (h ^ h>>shift) * mix
	return h ^ h>>shift
}

// Raise makes a register hold at least value. See Add.
func (s Sketch) Raise(index int, value byte, sparseMax int) (Sketch, bool, error) {
	if !s.IsDense() {
		return s.raiseSparse(index, value, sparseMax)
	}
	if s.register(index) >= value {
		return s, false, nil
	}
	s.setRegister(index, value)
	return s, true, nil
}

// register reads a register of a dense sketch: registers follow each other with
// their low bits first.
func (s Sketch) register(index int) byte {
	at, shift := headerSize+index*bitsPerReg/8, index*bitsPerReg%8
	v := s[at] >> shift
	if shift > 8-bitsPerReg {
		v |= s[at+1] << (8 - shift)
	}
	return v & (1<<bitsPerReg - 1)
}

func (s Sketch) setRegister(index int, value byte) {
	const mask = 1<<bitsPerReg - 1
	at, shift := headerSize+index*bitsPerReg/8, index*bitsPerReg%8
	s[at] = s[at]&^(mask<<shift) | value<<shift
	if shift > 8-bitsPerReg {
		s[at+1] = s[at+1]&^(mask>>(8-shift)) | value>>(8-shift)
	}
}
