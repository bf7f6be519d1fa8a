package lib

import (
	"strings"

	"github.com/fakecluster/fakecluster/lua/internal/compile"
)

// parseNumberPrefix is C's strtod: the number s begins with and its length, 0
// when there is none.
func parseNumberPrefix(s string) (f float64, n int) {
	i := 0
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		i++
	}
	body := s[i:]
	lower := strings.ToLower(body[:min(len(body), 8)])
	var length int
	switch {
	case strings.HasPrefix(lower, "infinity"):
		length = 8
	case strings.HasPrefix(lower, "inf"), strings.HasPrefix(lower, "nan"):
		length = 3
	case strings.HasPrefix(lower, "0x"):
		if length = floatLength(body[2:], isHexByte, 'p'); length > 0 {
			length += 2
		} else {
			length = 1
		}
	default:
		length = floatLength(body, isDigitByte, 'e')
	}
	if length == 0 {
		return 0, 0
	}
	f, ok := compile.ParseNumber(s[:i+length])
	if !ok {
		return 0, 0
	}
	return f, i + length
}

func isHexByte(c byte) bool { return digitValue(c) < 16 }

// floatLength is the length of digits, fraction and exponent at the start of s.
func floatLength(s string, digit func(byte) bool, exponent byte) int {
	i, digits := 0, 0
	for ; i < len(s) && digit(s[i]); i++ {
		digits++
	}
	if i < len(s) && s[i] == '.' {
		j := i + 1
		for ; j < len(s) && digit(s[j]); j++ {
			digits++
		}
		if digits > 0 {
			i = j
		}
	}
	if digits == 0 {
		return 0
	}
	if i < len(s) && s[i]|0x20 == exponent {
		j := i + 1
		if j < len(s) && (s[j] == '+' || s[j] == '-') {
			j++
		}
		k := j
		for ; k < len(s) && isDigitByte(s[k]); k++ {
		}
		if k > j {
			i = k
		}
	}
	return i
}
