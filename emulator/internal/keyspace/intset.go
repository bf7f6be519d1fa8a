package keyspace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
)

// intset is Redis' sorted array of distinct integers, byte for byte: a header
// of encoding (2, 4 or 8 bytes an element) and length, then the elements in
// ascending order, everything little endian. One element that needs more bytes
// widens all of them; they never get narrower again.
type intset struct {
	data []byte
}

const intsetHeader = 8

func newIntset() *intset {
	data := make([]byte, intsetHeader)
	data[0] = 2
	return &intset{data}
}

// errCorruptIntset is the error of validateIntset.
var errCorruptIntset = errors.New("corrupt intset")

// validateIntset reports whether data is a well-formed intset, whoever wrote it.
func validateIntset(data []byte) error {
	if len(data) < intsetHeader {
		return fmt.Errorf("%w: %d bytes are too few", errCorruptIntset, len(data))
	}
	width, length := binary.LittleEndian.Uint32(data), binary.LittleEndian.Uint32(data[4:])
	if width != 2 && width != 4 && width != 8 {
		return fmt.Errorf("%w: encoding %d", errCorruptIntset, width)
	}
	if uint64(length)*uint64(width) != uint64(len(data)-intsetHeader) || length == 0 {
		return fmt.Errorf("%w: %d elements in %d bytes", errCorruptIntset, length, len(data))
	}
	s := &intset{data}
	for i := 1; i < s.len(); i++ {
		if s.at(i-1) >= s.at(i) {
			return fmt.Errorf("%w: element %d is not greater than the one before", errCorruptIntset, i)
		}
	}
	return nil
}

func (s *intset) clone() *intset { return &intset{slices.Clone(s.data)} }

func (s *intset) width() int { return int(s.data[0]) }

func (s *intset) len() int { return int(binary.LittleEndian.Uint32(s.data[4:])) }

func (s *intset) setLen(n int) { binary.LittleEndian.PutUint32(s.data[4:], uint32(n)) }

func (s *intset) at(i int) int64 {
	b := s.data[intsetHeader+i*s.width():]
	switch s.width() {
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(b)))
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	}
	return int64(binary.LittleEndian.Uint64(b))
}

func (s *intset) put(i int, n int64) {
	b := s.data[intsetHeader+i*s.width():]
	switch s.width() {
	case 2:
		binary.LittleEndian.PutUint16(b, uint16(n))
	case 4:
		binary.LittleEndian.PutUint32(b, uint32(n))
	default:
		binary.LittleEndian.PutUint64(b, uint64(n))
	}
}

// find returns where n is, or where it would have to be.
func (s *intset) find(n int64) (i int, found bool) {
	return sort.Find(s.len(), func(i int) int {
		switch at := s.at(i); {
		case n < at:
			return -1
		case n > at:
			return 1
		}
		return 0
	})
}

func (s *intset) has(n int64) bool {
	_, found := s.find(n)
	return found
}

// add reports whether n was not there yet.
func (s *intset) add(n int64) bool {
	if width := intWidth(n); width > s.width() {
		s.widen(width)
	}
	i, found := s.find(n)
	if found {
		return false
	}
	length, at := s.len(), intsetHeader+i*s.width()
	s.data = slices.Insert(s.data, at, make([]byte, s.width())...)
	s.put(i, n)
	s.setLen(length + 1)
	return true
}

// remove reports whether n was there.
func (s *intset) remove(n int64) bool {
	i, found := s.find(n)
	if !found {
		return false
	}
	length, at := s.len(), intsetHeader+i*s.width()
	s.data = slices.Delete(s.data, at, at+s.width())
	s.setLen(length - 1)
	return true
}

func (s *intset) widen(width int) {
	wide := &intset{make([]byte, intsetHeader+s.len()*width)}
	wide.data[0] = byte(width)
	wide.setLen(s.len())
	for i := range s.len() {
		wide.put(i, s.at(i))
	}
	s.data = wide.data
}

func intWidth(n int64) int {
	switch {
	case n >= math.MinInt16 && n <= math.MaxInt16:
		return 2
	case n >= math.MinInt32 && n <= math.MaxInt32:
		return 4
	}
	return 8
}
