package number

import (
	"math"
	"strconv"
)

// ParseFloatC reads s as C's strtod does and wants it to end there, the way the
// bounds of score ranges are read: it stops at a NUL, takes leading blanks and
// nothing at all for 0, and rounds what is out of range to infinity or zero.
// NaN is refused.
func ParseFloatC[T []byte | string](s T) (float64, bool) {
	text := string(untilNUL(s))
	if text == "" {
		return 0, true
	}
	for text != "" && IsSpace(text[0]) {
		text = text[1:]
	}
	lit, ok := parseLiteral(text)
	switch {
	case !ok:
		return 0, false
	case lit.infinite:
		return math.Inf(lit.sign()), true
	}
	if lit.hex && !lit.exponent {
		text += "p0"
	}
	f, _ := strconv.ParseFloat(text, 64) // fails for what is out of range only
	return f, true
}
