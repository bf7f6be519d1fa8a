package number

import (
	"math/big"
	"strconv"
	"strings"
)

// The 80-bit long double of x86: 64 bits of mantissa, 15 of exponent.
const (
	ldMantissa    = 64
	ldMaxExponent = 16384  // all finite values are below 2^16384
	ldMinExponent = -16446 // values up to 2^-16446 round to zero
)

// maxLongDoubleLen is the size of the buffer, its NUL included, into which
// Redis copies a long double before it reads it.
const maxLongDoubleLen = 5 * 1024

// LongDouble is a number as INCRBYFLOAT and HINCRBYFLOAT compute with it: an
// 80-bit long double, which Redis uses so that sums of short decimals stay
// short. The zero value is 0.
type LongDouble struct{ f big.Float }

// ParseLongDouble reads a long double as strtold does and wants s to end
// there; see ParseFloat for what is accepted.
func ParseLongDouble[T []byte | string](s T) (LongDouble, bool) {
	var d LongDouble
	d.f.SetPrec(ldMantissa)
	if len(s) >= maxLongDoubleLen {
		return d, false
	}
	lit, ok := parseLiteral(string(s))
	switch {
	case !ok:
		return d, false
	case lit.infinite:
		d.f.SetInf(lit.negative)
		return d, true
	case lit.zero:
		if lit.negative {
			d.f.Neg(&d.f)
		}
		return d, true
	}
	mantissa, exponent, ok := lit.split()
	if !ok {
		return d, false
	}
	d.scale(mantissa, exponent, lit.hex)
	if lit.negative {
		d.f.Neg(&d.f)
	}
	return d, !d.f.IsInf() && !d.vanishes()
}

// split takes the number apart into an integer and a power, of ten for a
// decimal and of two for a hexadecimal number. It reports false if the power
// alone puts the number out of range, so that nobody writes out its zeros.
func (l literal) split() (mantissa *big.Int, exponent int, ok bool) {
	text := strings.TrimLeft(l.text, "+-")
	base, bitsPerDigit, mark := 10, 1, "eE"
	if l.hex {
		base, bitsPerDigit, mark = 16, 4, "pP"
		text = text[2:]
	}
	if i := strings.IndexAny(text, mark); i >= 0 {
		e, err := strconv.Atoi(text[i+1:])
		if err != nil {
			return nil, 0, false
		}
		text, exponent = text[:i], e
	}
	whole, fraction, _ := strings.Cut(text, ".")
	fraction = strings.TrimRight(fraction, "0")
	mantissa, ok = new(big.Int).SetString(whole+fraction, base)
	// The digits, fewer than 5120, shift the number by at most 20480 bits.
	const far = 40000
	if !ok || exponent < -far || exponent > far {
		return nil, 0, false
	}
	return mantissa, exponent - bitsPerDigit*len(fraction), true
}

// scale sets d to mantissa × 10^exponent, or 2^exponent, rounded once.
func (d *LongDouble) scale(mantissa *big.Int, exponent int, binary bool) {
	var m big.Float
	m.SetInt(mantissa) // exact: SetInt takes the precision it needs
	if binary {
		d.f.Set(m.SetMantExp(&m, exponent))
		d.overflow()
		return
	}
	size := exponent
	if size < 0 {
		size = -size
	}
	var power big.Float
	power.SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(size)), nil))
	if exponent < 0 {
		d.f.Quo(&m, &power)
	} else {
		d.f.Mul(&m, &power)
	}
	d.overflow()
}

// overflow makes what a long double cannot hold an infinity.
func (d *LongDouble) overflow() {
	if !d.f.IsInf() && d.f.MantExp(nil) > ldMaxExponent {
		d.f.SetInf(d.f.Signbit())
	}
}

// vanishes tells whether a long double rounds d to zero. Apart from this the
// lower precision near zero is ignored: such numbers print as 0, and no sum
// that prints otherwise depends on it.
func (d *LongDouble) vanishes() bool {
	var mantissa big.Float
	e := d.f.MantExp(&mantissa) // d = mantissa × 2^e, 0.5 <= mantissa < 1
	if e != ldMinExponent+1 {
		return e <= ldMinExponent
	}
	// Half of the smallest number is a tie, unless d was a bit more before it
	// lost digits.
	return mantissa.MinPrec() == 1 && d.f.Acc() != big.Below
}

// LongDoubleFromInt returns n, which a long double holds exactly.
func LongDoubleFromInt(n int64) LongDouble {
	var d LongDouble
	d.f.SetPrec(ldMantissa).SetInt64(n)
	return d
}

// Add returns d + other. It reports false if that is infinite or not a number.
func (d LongDouble) Add(other LongDouble) (LongDouble, bool) {
	var sum LongDouble
	if d.f.IsInf() || other.f.IsInf() {
		return sum, false
	}
	sum.f.SetPrec(ldMantissa).Add(&d.f, &other.f)
	sum.overflow()
	return sum, !sum.f.IsInf()
}

// IsInf tells whether d is an infinity.
func (d LongDouble) IsInf() bool { return d.f.IsInf() }

// Sign is -1, 0 or 1.
func (d LongDouble) Sign() int { return d.f.Sign() }

// MulCeil returns d × factor rounded to a long double and then up to a whole
// number, as timeouts in seconds become milliseconds. It reports false if that
// is above the largest int64; far below the smallest it stays there.
func (d LongDouble) MulCeil(factor int64) (int64, bool) {
	if d.f.IsInf() {
		return -1 << 63, d.f.Signbit()
	}
	f := LongDoubleFromInt(factor)
	var product big.Float
	product.SetPrec(ldMantissa).Mul(&d.f, &f.f)
	n, accuracy := product.Int64()
	if accuracy == big.Below && product.Sign() > 0 {
		if n == 1<<63-1 {
			return 0, false
		}
		n++
	}
	return n, true
}

// Append appends d as Redis' replies show it: up to 17 digits behind the
// point, no trailing zeros, no minus before a zero.
func (d LongDouble) Append(dst []byte) []byte {
	if d.f.IsInf() {
		return appendInf(dst, d.f.Signbit())
	}
	from := len(dst)
	dst = d.f.Append(dst, 'f', 17)
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	if dst[len(dst)-1] == '.' {
		dst = dst[:len(dst)-1]
	}
	if string(dst[from:]) == "-0" {
		dst = append(dst[:from], '0')
	}
	return dst
}

// String is Append into a string.
func (d LongDouble) String() string { return string(d.Append(nil)) }
