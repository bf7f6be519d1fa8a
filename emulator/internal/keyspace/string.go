package keyspace

import (
	"bytes"

	"github.com/fakecluster/fakecluster/emulator/internal/number"
)

// String is a string value. It always holds its bytes, also where Redis would
// keep the number alone: then a read needs no formatting, and the encoding is
// only a name.
type String struct {
	bytes    []byte
	encoding stringEncoding
	copied   bool // never one of the shared integers
}

type stringEncoding uint8

const (
	encodingRaw stringEncoding = iota
	encodingEmbstr
	encodingInt
)

// embstrMax is the longest string, in bytes, that Redis allocates together
// with its object.
const embstrMax = 44

// NewString returns a copy of b as SET stores it: as an integer if it reads as
// one.
func NewString(b []byte) *String {
	return &String{bytes: bytes.Clone(b), encoding: encodingOf(b)}
}

func encodingOf(b []byte) stringEncoding {
	if len(b) > embstrMax {
		return encodingRaw
	}
	if _, ok := number.ParseInt(b); ok {
		return encodingInt
	}
	return encodingEmbstr
}

// NewPlainString returns a copy of b that is not encoded as an integer, even if
// it reads as one.
func NewPlainString(b []byte) *String {
	s := &String{bytes: bytes.Clone(b)}
	if len(b) <= embstrMax {
		s.encoding = encodingEmbstr
	}
	return s
}

// NewRawString returns a string that owns b, with the encoding of one that was
// built in place.
func NewRawString(b []byte) *String { return &String{bytes: b} }

// NewIntString returns n as a string.
func NewIntString(n int64) *String {
	return &String{bytes: number.AppendInt(nil, n), encoding: encodingInt}
}

// Bytes is the content. It must not be changed, and is valid until the value
// is.
func (s *String) Bytes() []byte { return s.bytes }

// Len is the length in bytes.
func (s *String) Len() int { return len(s.bytes) }

// IsInt reports whether the string is encoded as an integer.
func (s *String) IsInt() bool { return s.encoding == encodingInt }

// sharedIntegers is how many of the smallest integers Redis keeps one object
// each of.
const sharedIntegers = 10000

// Shared reports whether Redis would use a shared object for the value, which
// has no reference count of its own.
func (s *String) Shared() bool {
	if s.encoding != encodingInt || s.copied {
		return false
	}
	n, _ := s.Int()
	return n >= 0 && n < sharedIntegers
}

// Int reads the string as an integer, in the strict form Redis wants.
func (s *String) Int() (int64, bool) { return number.ParseInt(s.bytes) }

// SetInt makes the string hold n.
func (s *String) SetInt(n int64) {
	s.bytes = number.AppendInt(s.bytes[:0], n)
	s.encoding = encodingInt
	s.copied = s.copied && (n < 0 || n >= sharedIntegers)
}

// assign makes the string hold a copy of b as NewString does, in the memory it
// has, unless that is far more than it takes.
func (s *String) assign(b []byte) {
	const slack = 64
	if cap(s.bytes) > 2*len(b)+slack {
		s.bytes = nil
	}
	s.bytes, s.encoding, s.copied = append(s.bytes[:0], b...), encodingOf(b), false
}

// Append adds b at the end.
func (s *String) Append(b []byte) {
	s.bytes = append(s.bytes, b...)
	s.encoding = encodingRaw
}

// Grow makes the string at least n bytes long, filling with zero bytes, and
// returns its content, which the caller may change in place.
func (s *String) Grow(n int) []byte {
	if n > len(s.bytes) {
		s.bytes = append(s.bytes, make([]byte, n-len(s.bytes))...)
	}
	s.encoding = encodingRaw
	return s.bytes
}

// Replace makes the string hold b, which it owns from now on.
func (s *String) Replace(b []byte) {
	s.bytes = b
	s.encoding = encodingRaw
}

// Kind is KindString.
func (s *String) Kind() Kind { return KindString }

// Encoding is "int", "embstr" or "raw".
func (s *String) Encoding() string {
	return [...]string{"raw", "embstr", "int"}[s.encoding]
}

// Clone returns a copy with the same encoding.
func (s *String) Clone() Value {
	return &String{bytes: bytes.Clone(s.bytes), encoding: s.encoding, copied: true}
}

// Memory is the approximate size in bytes beside the object: that of the bytes
// and their header, nothing for a number, which Redis puts into the object.
func (s *String) Memory() int64 {
	const header = 4
	if s.encoding == encodingInt {
		return 0
	}
	return header + int64(cap(s.bytes))
}
