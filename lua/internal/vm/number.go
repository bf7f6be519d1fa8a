package vm

import (
	"math"
	"strconv"

	"github.com/fakecluster/fakecluster/lua/internal/compile"
	"github.com/fakecluster/fakecluster/lua/internal/precise"
)

// ToNumber converts a number or a numeric string.
func ToNumber(v Value) (float64, bool) {
	switch v.Kind() {
	case Number:
		return v.Float(), true
	case StringKind:
		return compile.ParseNumber(v.Str())
	}
	return 0, false
}

// FormatNumber prints a number as tostring does: "%.14g".
func FormatNumber(f float64) string {
	if n := int64(f); float64(n) == f && n > -1e14 && n < 1e14 && (n != 0 || !math.Signbit(f)) {
		return strconv.FormatInt(n, 10)
	}
	return FormatG(f, 14)
}

// FormatG prints a number as C's "%.<precision>g".
func FormatG(f float64, precision int) string {
	switch {
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case math.IsNaN(f):
		if math.Signbit(f) {
			return "-nan"
		}
		return "nan"
	}
	return strconv.FormatFloat(f, 'g', max(precision, 1), 64)
}

// Indefinite gives the NaN of an invalid operation the sign amd64 gives it; a
// NaN that was an operand passes through.
func Indefinite(result, a, b float64) float64 {
	if !math.IsNaN(result) {
		return result
	}
	if math.IsNaN(a) {
		return a
	}
	if math.IsNaN(b) {
		return b
	}
	return math.Copysign(result, -1)
}

// Pow is the operator ^.
func Pow(a, b float64) float64 { return Indefinite(precise.Pow(a, b), a, b) }
