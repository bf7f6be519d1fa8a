package hyperloglog

import (
	"fmt"
	"slices"
	"strings"
)

// A sparse sketch is a sequence of runs of equal registers:
//
//	00llllll           1 to 64 registers that are 0 ("ZERO")
//	01llllll llllllll  1 to 16384 registers that are 0 ("XZERO")
//	1vvvvvll           1 to 4 registers of value 1 to 32 ("VAL")
//
// Lengths and values are stored less one.
const (
	maxShortZeros  = 64
	maxValueRun    = 4
	maxSparseValue = 32
)

// run is one element of the sequence.
type run struct {
	value  byte
	length int
	size   int // bytes
}

// runAt decodes the run at the start of b, which is not empty. A run that is cut
// off ends with the zero byte that C strings have behind them.
func runAt(b []byte) run {
	switch {
	case b[0]&0x80 != 0:
		return run{value: b[0]>>2&0x1f + 1, length: int(b[0]&3) + 1, size: 1}
	case b[0]&0x40 == 0:
		return run{length: int(b[0]&0x3f) + 1, size: 1}
	case len(b) < 2:
		return run{length: int(b[0]&0x3f)<<8 + 1, size: 2}
	}
	return run{length: int(b[0]&0x3f)<<8 + int(b[1]) + 1, size: 2}
}

func appendZeros(b []byte, length int) []byte {
	switch {
	case length == 0:
		return b
	case length > maxShortZeros:
		return append(b, 0x40|byte((length-1)>>8), byte(length-1))
	}
	return append(b, byte(length-1))
}

func appendValues(b []byte, value byte, length int) []byte {
	if length == 0 {
		return b
	}
	return append(b, 0x80|(value-1)<<2|byte(length-1))
}

// raiseSparse splits the run that index is in, and becomes dense where the
// format has no way to write the value or no room.
func (s Sketch) raiseSparse(index int, value byte, sparseMax int) (Sketch, bool, error) {
	if value > maxSparseValue {
		return s.raiseDense(index, value)
	}
	at, prev, first := headerSize, headerSize, 0
	var r run
	for {
		if at >= len(s) {
			return s, false, ErrCorrupt
		}
		if r = runAt(s[at:]); index < first+r.length {
			break
		}
		prev = at
		at += r.size
		first += r.length
	}
	if at+r.size > len(s) {
		return s, false, ErrCorrupt
	}
	if r.value >= value {
		return s, false, nil
	}
	var buffer [5]byte
	split := splitRun(buffer[:0], r, index-first, value)
	if more := len(split) - r.size; more > 0 && len(s)+more > sparseMax {
		return s.raiseDense(index, value)
	}
	s = slices.Replace(s, at, at+r.size, split...)
	s = s.mergeValues(prev)
	s.Invalidate()
	return s, true, nil
}

// splitRun writes r with another value at one place.
func splitRun(b []byte, r run, at int, value byte) []byte {
	behind := r.length - at - 1
	if r.value == 0 {
		return appendZeros(appendValues(appendZeros(b, at), value, 1), behind)
	}
	return appendValues(appendValues(appendValues(b, r.value, at), value, 1), r.value, behind)
}

// mergeValues joins neighbours of one value near a change, among five runs from
// the one at.
func (s Sketch) mergeValues(at int) Sketch {
	for range 5 {
		if at >= len(s) {
			break
		}
		r := runAt(s[at:])
		if r.value != 0 && at+1 < len(s) {
			next := runAt(s[at+1:])
			if next.value == r.value && r.length+next.length <= maxValueRun {
				appendValues(s[:at+1], r.value, r.length+next.length)
				s = slices.Delete(s, at, at+1)
				continue // the joined run may join the next
			}
		}
		at += r.size
	}
	return s
}

func (s Sketch) raiseDense(index int, value byte) (Sketch, bool, error) {
	s, err := s.ToDense()
	if err != nil {
		return s, false, err
	}
	s.setRegister(index, value)
	return s, true, nil
}

// ToDense returns the sketch as an array.
func (s Sketch) ToDense() (Sketch, error) {
	if s.IsDense() {
		return s, nil
	}
	d := make(Sketch, denseSize)
	copy(d, s[:headerSize])
	d[4] = dense
	err := s.each(func(first int, r run) {
		if r.value != 0 {
			for i := range r.length {
				d.setRegister(first+i, r.value)
			}
		}
	})
	if err != nil {
		return s, err
	}
	return d, nil
}

// each visits the runs of a sparse sketch with the number of their first
// register.
func (s Sketch) each(visit func(first int, r run)) error {
	first := 0
	for at := headerSize; at < len(s); {
		r := runAt(s[at:])
		if first+r.length > registers {
			return ErrCorrupt
		}
		visit(first, r)
		at += r.size
		first += r.length
	}
	if first != registers {
		return ErrCorrupt
	}
	return nil
}

// Runs prints the sequence of a sparse sketch as PFDEBUG DECODE does.
func (s Sketch) Runs() string {
	var words []string
	for at := headerSize; at < len(s); {
		r := runAt(s[at:])
		switch {
		case r.value != 0:
			words = append(words, fmt.Sprintf("v:%d,%d", r.value, r.length))
		case r.size == 1:
			words = append(words, fmt.Sprintf("z:%d", r.length))
		default:
			words = append(words, fmt.Sprintf("Z:%d", r.length))
		}
		at += r.size
	}
	return strings.Join(words, " ")
}
