package number

import (
	"math"
	"math/big"
	"math/bits"
	"sync"
)

// AppendShortest appends f as Redis sends a double since 7.2: whole numbers up
// to 2^62 plainly, others with few digits that read back as f, plainly or with
// an exponent, whichever is shorter.
//
// The digits come from the algorithm Redis uses, Grisu2 (Florian Loitsch,
// "Printing Floating-Point Numbers Quickly and Accurately with Integers", 2010).
// One time in a thousand they are not the fewest or not the closest, which
// strconv would find; that is why it is not used here.
func AppendShortest(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "nan"...)
	case math.IsInf(f, 0):
		return appendInf(dst, f < 0)
	case f == 0 && math.Signbit(f):
		return append(dst, "-0"...)
	case f == math.Trunc(f) && math.Abs(f) <= 1<<62:
		return AppendInt(dst, int64(f))
	}
	if f < 0 {
		dst = append(dst, '-')
	}
	var buf [maxDigits]byte
	digits, power := grisu(buf[:0], math.Abs(f))
	return layOut(dst, digits, power)
}

// FormatShortest is AppendShortest into a string.
func FormatShortest(f float64) string {
	var b [32]byte
	return string(AppendShortest(b[:0], f))
}

// layOut appends digits × 10^power.
func layOut(dst, digits []byte, power int) []byte {
	n := len(digits)
	exponent := power + n - 1 // of the first digit
	size := max(exponent, -exponent)
	switch {
	case power >= 0 && size < n+7:
		dst = append(dst, digits...)
		return append(dst, "0000000"[:power]...)
	case power < 0 && (power > -7 || size < 4):
		if whole := n + power; whole > 0 {
			dst = append(dst, digits[:whole]...)
			dst = append(dst, '.')
			return append(dst, digits[whole:]...)
		}
		dst = append(dst, "0."...)
		for range -(n + power) {
			dst = append(dst, '0')
		}
		return append(dst, digits...)
	}
	dst = append(dst, digits[0])
	if n > 1 {
		dst = append(dst, '.')
		dst = append(dst, digits[1:]...)
	}
	sign := byte('+')
	if exponent < 0 {
		sign = '-'
	}
	return AppendInt(append(dst, 'e', sign), int64(size))
}

// maxDigits is the most digits Grisu2 makes of a double.
const maxDigits = 18

// Layout of a float64.
const (
	fractionBits = 52
	hiddenBit    = 1 << fractionBits
	bias         = 1023 + fractionBits
)

// scaled is the number frac × 2^exp.
type scaled struct {
	frac uint64
	exp  int
}

// decompose splits a finite positive double.
func decompose(f float64) scaled {
	b := math.Float64bits(f)
	s := scaled{frac: b & (hiddenBit - 1), exp: int(b >> fractionBits)}
	if s.exp == 0 { // subnormal
		s.exp = 1
	} else {
		s.frac |= hiddenBit
	}
	s.exp -= bias
	return s
}

func (s scaled) normalized() scaled {
	shift := bits.LeadingZeros64(s.frac)
	return scaled{s.frac << shift, s.exp - shift}
}

// times returns the product, rounded to 64 bits.
func (s scaled) times(t scaled) scaled {
	hi, lo := bits.Mul64(s.frac, t.frac)
	return scaled{hi + lo>>63, s.exp + t.exp + 64}
}

// grisu appends the digits of f > 0 and returns them with the power of ten of
// the last one.
//
// All numbers between low and high, which lie halfway to the neighbours of f,
// read back as f. Scaled by a power of ten that brings them near to one, high's
// digits are produced until what is left is smaller than the distance to low;
// then the last digit is lowered towards f.
func grisu(digits []byte, f float64) ([]byte, int) {
	v := decompose(f)
	high := scaled{v.frac<<1 + 1, v.exp - 1}.normalized()
	low := scaled{v.frac<<1 - 1, v.exp - 1}
	if v.frac == hiddenBit { // the neighbour below is nearer
		low = scaled{v.frac<<2 - 1, v.exp - 2}
	}
	low = scaled{low.frac << (low.exp - high.exp), high.exp}
	scale, power := powerFor(high.exp)
	v = v.normalized().times(scale)
	high, low = high.times(scale), low.times(scale)
	// The products may be off by one in their last place.
	high.frac--
	low.frac++
	digits, last := high.digits(digits, high.frac-v.frac, high.frac-low.frac)
	return digits, last - power
}

// digits appends digits of high, whose exponent is between -60 and -32, until
// the rest is below delta, and rounds them to a number distance below high. It
// returns the power of ten of the last digit.
func (high scaled) digits(digits []byte, distance, delta uint64) ([]byte, int) {
	shift := -high.exp
	one := uint64(1) << shift
	whole, fraction := high.frac>>shift, high.frac&(one-1)
	div := uint64(1_000_000_000)
	for power := 9; power >= 0; power-- {
		if d := whole / div; d > 0 || len(digits) > 0 {
			digits = append(digits, byte('0'+d))
		}
		whole %= div
		if rest := whole<<shift + fraction; rest <= delta {
			roundLast(digits, distance, delta, rest, div<<shift)
			return digits, power
		}
		div /= 10
	}
	for power := -1; ; power-- {
		fraction, delta, distance = fraction*10, delta*10, distance*10
		if d := fraction >> shift; d > 0 || len(digits) > 0 {
			digits = append(digits, byte('0'+d))
		}
		fraction &= one - 1
		if fraction < delta {
			roundLast(digits, distance, delta, fraction, one)
			return digits, power
		}
	}
}

// roundLast lowers the last digit, worth unit, while that brings the digits,
// which are rest below high, closer to the number that is distance below it and
// keeps them within delta.
func roundLast(digits []byte, distance, delta, rest, unit uint64) {
	for rest < distance && delta-rest >= unit &&
		(rest+unit < distance || distance-rest > rest+unit-distance) {
		digits[len(digits)-1]--
		rest += unit
	}
}

// The powers of ten that scale any double: every eighth from 10^-348 on.
const (
	firstPower  = -348
	powerStep   = 8
	powersCount = 87
)

var powersOfTen = sync.OnceValue(func() *[powersCount]scaled {
	var powers [powersCount]scaled
	for i := range powers {
		k := int64(firstPower + i*powerStep)
		ten := new(big.Float).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(max(k, -k)), nil))
		p := new(big.Float).SetPrec(64).SetMode(big.ToNearestEven)
		if k < 0 {
			p.Quo(big.NewFloat(1), ten)
		} else {
			p.Set(ten)
		}
		exp := p.MantExp(p) - 64
		frac, _ := p.SetMantExp(p, 64).Uint64()
		powers[i] = scaled{frac, exp}
	}
	return &powers
})

// powerFor returns a power of ten, and which, that brings a number with the
// exponent exp to one between -60 and -32. Of those that do it picks as Redis
// does, since the choice shows in the digits.
func powerFor(exp int) (scaled, int) {
	powers := powersOfTen()
	i := (int(float64(-(exp+powersCount))*(math.Ln2/math.Ln10)) - firstPower) / powerStep
	for exp+powers[i].exp+64 < -60 {
		i++
	}
	for exp+powers[i].exp+64 > -32 {
		i--
	}
	return powers[i], firstPower + i*powerStep
}
