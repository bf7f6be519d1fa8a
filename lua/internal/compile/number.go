package compile

import (
	"math"
	"strconv"
	"strings"
)

// ParseNumber converts text to a number as Lua 5.1 does on Linux: strtod's
// grammar (decimal, hexadecimal, "inf", "nan"), blanks around it allowed.
func ParseNumber(s string) (float64, bool) {
	s = cString(s)
	start := 0
	for start < len(s) && isSpace(int(s[start])) {
		start++
	}
	end := len(s)
	for end > start && isSpace(int(s[end-1])) {
		end--
	}
	s = s[start:end]
	if s == "" {
		return 0, false
	}
	if n, ok := parseShortInteger(s); ok {
		return n, true
	}
	body, negative := s, false
	if body[0] == '+' || body[0] == '-' {
		negative = body[0] == '-'
		body = body[1:]
	}
	n, ok := parseUnsigned(body)
	if negative {
		n = -n
	}
	return n, ok
}

// parseShortInteger is the quick way for up to 15 plain digits.
func parseShortInteger(s string) (float64, bool) {
	if len(s) > 15 {
		return 0, false
	}
	n := 0
	for i := range len(s) {
		c := s[i] - '0'
		if c > 9 {
			return 0, false
		}
		n = n*10 + int(c)
	}
	return float64(n), true
}

func parseUnsigned(s string) (float64, bool) {
	if s == "" {
		return 0, false
	}
	if len(s) > 1 && s[0] == '0' && s[1]|0x20 == 'x' {
		return parseHex(s)
	}
	if !isDigit(int(s[0])) && s[0] != '.' {
		lower := strings.ToLower(s)
		switch {
		case lower == "inf" || lower == "infinity":
			return math.Inf(1), true
		case lower == "nan", strings.HasPrefix(lower, "nan(") && isNaNPayload(lower[4:]):
			return math.NaN(), true
		}
		return 0, false
	}
	for i := range len(s) {
		if c := int(s[i]); !isDigit(c) && c != '.' && c != 'e' && c != 'E' && c != '+' && c != '-' {
			return 0, false
		}
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil && !isRange(err) {
		return 0, false
	}
	return n, true
}

func isNaNPayload(s string) bool {
	if s == "" || s[len(s)-1] != ')' {
		return false
	}
	for i := range len(s) - 1 {
		if !isNameByte(int(s[i])) {
			return false
		}
	}
	return true
}

func isRange(err error) bool {
	e, ok := err.(*strconv.NumError)
	return ok && e.Err == strconv.ErrRange
}

func parseHex(s string) (float64, bool) {
	digits := s[2:]
	if strings.ContainsAny(digits, "_") {
		return 0, false
	}
	if !strings.ContainsAny(digits, "pP") {
		s += "p0"
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil && !isRange(err) {
		return 0, false
	}
	return n, true
}
