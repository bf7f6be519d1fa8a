package number

import (
	"math"
	"strconv"
	"strings"
)

// ParseFloat reads a double as strtod does and wants s to end there: decimal
// or hexadecimal, "inf", "infinity" in any case, with a sign, but no blanks.
// NaN is not a number to Redis, and neither is what overflows, or is not zero
// but too small to be told from it.
func ParseFloat[T []byte | string](s T) (float64, bool) {
	lit, ok := parseLiteral(string(s))
	if !ok {
		return 0, false
	}
	return lit.float64()
}

// ParseFloatC reads s as strtod does, as the bounds of score ranges are read:
// leading blanks are skipped, a NUL byte ends the string, nothing at all is 0,
// and what is out of range becomes an infinity or zero. It still wants s to end
// with the number, and no NaN.
func ParseFloatC[T []byte | string](s T) (float64, bool) {
	s = untilNUL(s)
	if len(s) == 0 {
		return 0, true
	}
	for len(s) > 0 && IsSpace(s[0]) {
		s = s[1:]
	}
	lit, ok := parseLiteral(string(s))
	if !ok {
		return 0, false
	}
	f, _ := lit.float64()
	return f, true
}

// float64 is the nearest double. It reports false if that is out of range.
func (l literal) float64() (float64, bool) {
	if l.infinite {
		return math.Inf(l.sign()), true
	}
	text := l.text
	if l.hex && !l.exponent {
		text += "p0" // C lets the exponent of a hexadecimal number go
	}
	// The only error a checked literal can cause is being out of range.
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil && (f != 0 || l.zero)
}

// literal is the shape of a C floating point number.
type literal struct {
	text     string
	negative bool
	infinite bool
	hex      bool
	exponent bool // has one
	zero     bool // all digits are
}

func (l literal) sign() int {
	if l.negative {
		return -1
	}
	return 1
}

// parseLiteral reports whether s as a whole is a C floating point number other
// than NaN.
func parseLiteral(s string) (literal, bool) {
	lit := literal{text: s, zero: true}
	if s != "" && (s[0] == '-' || s[0] == '+') {
		lit.negative = s[0] == '-'
		s = s[1:]
	}
	if strings.EqualFold(s, "inf") || strings.EqualFold(s, "infinity") {
		lit.infinite, lit.zero = true, false
		return lit, true
	}
	if len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' {
		lit.hex = true
		s = s[2:]
	}
	s, digits := lit.digits(s)
	if s != "" && s[0] == '.' {
		var more int
		s, more = lit.digits(s[1:])
		digits += more
	}
	if digits == 0 {
		return lit, false
	}
	return lit, s == "" || lit.parseExponent(s)
}

// digits skips the digits s starts with and returns their number.
func (l *literal) digits(s string) (rest string, n int) {
	for n < len(s) && (s[n]-'0' <= 9 || l.hex && s[n]|0x20 >= 'a' && s[n]|0x20 <= 'f') {
		if s[n] != '0' {
			l.zero = false
		}
		n++
	}
	return s[n:], n
}

// parseExponent reports whether s is an exponent and nothing else.
func (l *literal) parseExponent(s string) bool {
	mark := byte('e')
	if l.hex {
		mark = 'p'
	}
	if s[0]|0x20 != mark {
		return false
	}
	l.exponent = true
	s = s[1:]
	if s != "" && (s[0] == '-' || s[0] == '+') {
		s = s[1:]
	}
	if s == "" {
		return false
	}
	for i := 0; i < len(s); i++ {
		if s[i]-'0' > 9 {
			return false
		}
	}
	return true
}

// exactInts bounds the whole numbers that %.17g prints without an exponent or
// a loss: below 2^53 every one of them is a double.
const exactInts = 1 << 53

// AppendFloat appends f as C's %.17g prints it, which is how Redis before 7.2
// sends a double.
func AppendFloat(dst []byte, f float64) []byte {
	switch {
	case f == math.Trunc(f) && math.Abs(f) < exactInts && (f != 0 || !math.Signbit(f)):
		return AppendInt(dst, int64(f))
	case math.IsInf(f, 0):
		return appendInf(dst, f < 0)
	case math.IsNaN(f) && math.Signbit(f):
		return append(dst, "-nan"...)
	case math.IsNaN(f):
		return append(dst, "nan"...)
	}
	return strconv.AppendFloat(dst, f, 'g', 17, 64)
}

// FormatFloat is AppendFloat into a string.
func FormatFloat(f float64) string {
	var b [32]byte
	return string(AppendFloat(b[:0], f))
}

func appendInf(dst []byte, negative bool) []byte {
	if negative {
		dst = append(dst, '-')
	}
	return append(dst, "inf"...)
}
