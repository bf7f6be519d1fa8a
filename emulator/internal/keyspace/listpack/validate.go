package listpack

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrCorrupt is the error of Validate.
var ErrCorrupt = errors.New("corrupt listpack")

// Validate reports whether data is a well-formed listpack, whoever wrote it:
// nothing this package does with it afterwards reads out of bounds.
func Validate(data []byte) error {
	if len(data) < emptySize {
		return fmt.Errorf("%w: %d bytes are too few", ErrCorrupt, len(data))
	}
	if n := binary.LittleEndian.Uint32(data); int64(n) != int64(len(data)) {
		return fmt.Errorf("%w: header says %d bytes, there are %d", ErrCorrupt, n, len(data))
	}
	last := len(data) - 1
	if data[last] != terminator {
		return fmt.Errorf("%w: no terminator", ErrCorrupt)
	}
	count, at := 0, headerSize
	for data[at] != terminator {
		end, err := validateElement(data, at, last)
		if err != nil {
			return err
		}
		at = end
		count++
	}
	if at != last {
		return fmt.Errorf("%w: terminator at %d of %d bytes", ErrCorrupt, at, len(data))
	}
	if n := int(binary.LittleEndian.Uint16(data[4:])); n != countUnknown && n != count {
		return fmt.Errorf("%w: header says %d elements, there are %d", ErrCorrupt, n, count)
	}
	return nil
}

// validateElement checks the element at offset at, which must end before last,
// and returns the offset behind it.
func validateElement(data []byte, at, last int) (int, error) {
	need := sizeBytes(data[at])
	if need == 0 {
		return 0, fmt.Errorf("%w: encoding %#x at %d", ErrCorrupt, data[at], at)
	}
	if at+need > last {
		return 0, fmt.Errorf("%w: element at %d is cut off", ErrCorrupt, at)
	}
	size := encodedSize(data[at:])
	end := at + size + backlenWidth(size)
	if end > last {
		return 0, fmt.Errorf("%w: element at %d ends at %d of %d bytes", ErrCorrupt, at, end, len(data))
	}
	if back, width := decodeBacklen(data[at+size : end]); back != size || width != end-at-size {
		return 0, fmt.Errorf("%w: backlen of element at %d", ErrCorrupt, at)
	}
	return end, nil
}
