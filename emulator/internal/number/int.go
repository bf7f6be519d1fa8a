// Package number reads and prints numbers exactly as Redis does: which strings
// count as an integer, a double or a long double, and which digits come back.
//
// Redis leans on C's strtod, strtold and printf and, on x86-64, on an 80-bit
// long double. Those rules are spelled out here once, so that no command has to
// approximate them with Go's own, which differ at the edges.
package number

import (
	"math"
	"strconv"
)

// maxIntLen is the longest decimal int64: sign and 19 digits.
const maxIntLen = 20

// ParseInt reads a signed 64-bit integer in the only spelling Redis accepts:
// an optional minus and digits without leading zeros, nothing else.
func ParseInt[T []byte | string](s T) (int64, bool) {
	if len(s) == 1 && s[0]-'0' <= 9 {
		return int64(s[0] - '0'), true
	}
	if len(s) == 0 || len(s) > maxIntLen {
		return 0, false
	}
	digits, negative := s, s[0] == '-'
	if negative {
		digits = digits[1:]
	}
	if len(digits) == 0 || digits[0] < '1' || digits[0] > '9' {
		return 0, false
	}
	u, ok := parseDigits(digits)
	switch {
	case !ok:
		return 0, false
	case negative && u <= 1<<63:
		return -int64(u), true
	case !negative && u <= math.MaxInt64:
		return int64(u), true
	}
	return 0, false
}

// ParseUint reads an unsigned 64-bit integer as stream IDs are read, which is
// what ParseInt accepts and, beyond it, whatever strtoull does: leading blanks,
// a plus sign, leading zeros, and a minus sign that wraps around.
func ParseUint[T []byte | string](s T) (uint64, bool) {
	s = untilNUL(s)
	if n, ok := ParseInt(s); ok {
		return uint64(n), n >= 0
	}
	u, ok := ParseUintC(s)
	return u, ok && len(s) > 0
}

// ParseUintC reads s as C's strtoull in base 10 does and wants it to end there:
// leading blanks, a sign (a minus wraps around) and leading zeros are accepted,
// and nothing at all is 0. Out of range or trailing bytes are not.
func ParseUintC[T []byte | string](s T) (uint64, bool) {
	s = untilNUL(s)
	if len(s) == 0 {
		return 0, true
	}
	for len(s) > 0 && IsSpace(s[0]) {
		s = s[1:]
	}
	negative := false
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		negative = s[0] == '-'
		s = s[1:]
	}
	if len(s) == 0 {
		return 0, false
	}
	u, ok := parseDigits(s)
	if negative {
		u = -u
	}
	return u, ok
}

// parseDigits reads one or more decimal digits and nothing else.
func parseDigits[T []byte | string](s T) (uint64, bool) {
	var u uint64
	for i := 0; i < len(s); i++ {
		d := uint64(s[i] - '0')
		if d > 9 || u > math.MaxUint64/10 || u*10 > math.MaxUint64-d {
			return 0, false
		}
		u = u*10 + d
	}
	return u, true
}

// untilNUL cuts s where a C string would end.
func untilNUL[T []byte | string](s T) T {
	for i := 0; i < len(s); i++ {
		if s[i] == 0 {
			return s[:i]
		}
	}
	return s
}

// IsSpace is C's isspace in the C locale.
func IsSpace(c byte) bool {
	return c == ' ' || c >= '\t' && c <= '\r'
}

// AppendInt appends n in decimal.
func AppendInt(dst []byte, n int64) []byte {
	return strconv.AppendInt(dst, n, 10)
}
