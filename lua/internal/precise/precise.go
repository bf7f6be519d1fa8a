// Package precise has the elementary functions whose results scripts see in
// full: correctly rounded but for the rarest cases, as those of the C library
// are. Go's own may be off in the last digit, which "%.17g" — how Redis turns a
// number into a command's argument — shows.
//
// The one idea: compute in pairs of floats, whose sum carries twice the digits,
// and round once at the end.
package precise

import "math"

// pair is the unevaluated sum of two floats, |lo| at most half an ulp of hi.
type pair struct{ hi, lo float64 }

func sum(a, b float64) pair {
	s := a + b
	t := s - a
	return pair{s, (a - (s - t)) + (b - t)}
}

func quickSum(a, b float64) pair {
	s := a + b
	return pair{s, b - (s - a)}
}

func product(a, b float64) pair {
	p := a * b
	return pair{p, math.FMA(a, b, -p)}
}

func (x pair) add(y pair) pair {
	s := sum(x.hi, y.hi)
	t := sum(x.lo, y.lo)
	s = quickSum(s.hi, s.lo+t.hi)
	return quickSum(s.hi, s.lo+t.lo)
}

func (x pair) mul(y pair) pair {
	p := product(x.hi, y.hi)
	return quickSum(p.hi, p.lo+x.hi*y.lo+x.lo*y.hi)
}

func (x pair) times(f float64) pair {
	p := product(x.hi, f)
	return quickSum(p.hi, p.lo+x.lo*f)
}

// inverse is 1/x.
func (x pair) inverse() pair {
	q := 1 / x.hi
	e := x.times(-q).add(pair{1, 0})
	return pair{q, 0}.add(e.times(q))
}

var ln2 = pair{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56}

const (
	// expSquarings is how often the argument of exp is halved first.
	expSquarings = 9
	expTerms     = 9
)

// exp is e^x as a pair and a power of two.
func (x pair) exp() (pair, int) {
	k := math.Round(x.hi / ln2.hi)
	r := x.add(ln2.times(-k)).times(1.0 / (1 << expSquarings))
	// The series of e^r - 1: squaring keeps its small size, and so its digits.
	term, s := r, r
	for i := 2; i <= expTerms; i++ {
		term = term.mul(r).mul(pair{float64(i), 0}.inverse())
		s = s.add(term)
	}
	for range expSquarings {
		s = s.times(2).add(s.mul(s))
	}
	return s.add(pair{1, 0}), int(k)
}

// log is the logarithm of a positive finite number: one Newton step from an
// approximation doubles its digits.
func log(x float64) pair {
	fraction, exponent := math.Frexp(x)
	if fraction < math.Sqrt2/2 {
		fraction *= 2
		exponent--
	}
	y := math.Log(fraction)
	e, k := pair{-y, 0}.exp()
	z := e.times(math.Ldexp(fraction, k)).add(pair{-1, 0})
	// log(1+z) = z - z²/2 …
	z = z.add(pair{-z.hi * z.hi / 2, 0})
	return ln2.times(float64(exponent)).add(pair{y, 0}.add(z))
}

// Exp is e^x.
func Exp(x float64) float64 {
	if math.IsNaN(x) || x > 709.7 || x < -708 || x == 0 {
		return math.Exp(x)
	}
	e, k := pair{x, 0}.exp()
	return math.Ldexp(e.hi, k)
}

// Log is the natural logarithm.
func Log(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) || x == 1 {
		return math.Log(x)
	}
	return log(x).hi
}

// Log10 is the decimal logarithm, by the formula of the C library, whose result
// is not always the nearest.
func Log10(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) {
		return math.Log10(x)
	}
	fraction, exponent := math.Frexp(x)
	fraction *= 2
	exponent--
	if exponent < 0 {
		fraction /= 2
		exponent++
	}
	y := float64(exponent)
	z := y*3.69423907715893078616e-13 + 4.34294481903251816668e-01*Log(fraction)
	return z + y*3.01029995663611771306e-01
}

// Pow is x^y.
func Pow(x, y float64) float64 {
	switch {
	case y == 2:
		return x * x
	case y == 1:
		return x
	case x == 0, math.IsInf(x, 0), math.IsInf(y, 0), x != x, y != y, y == 0, x == 1:
		return math.Pow(x, y)
	}
	whole := y == math.Trunc(y)
	if x < 0 && !whole {
		return math.Pow(x, y)
	}
	approximate := math.Pow(x, y)
	if math.IsInf(approximate, 0) || math.Abs(approximate) < 1e-290 {
		return approximate
	}
	if whole && math.Abs(y) <= 32 {
		return integerPower(x, int(y))
	}
	e, k := log(math.Abs(x)).times(y).exp()
	result := math.Ldexp(e.hi, k)
	if x < 0 && math.Mod(y, 2) != 0 {
		return -result
	}
	return result
}

func integerPower(x float64, n int) float64 {
	base, result := pair{x, 0}, pair{1, 0}
	invert := n < 0
	if invert {
		n = -n
	}
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			result = result.mul(base)
		}
		if n > 1 {
			base = base.mul(base)
		}
	}
	if math.IsInf(result.hi, 0) || result.hi != result.hi {
		if invert {
			n = -n
		}
		return math.Pow(x, float64(n))
	}
	if invert {
		result = result.inverse()
	}
	return result.hi
}
