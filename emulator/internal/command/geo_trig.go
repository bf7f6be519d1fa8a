package command

import "math"

// The functions of package math are off by a bit now and then, the C library's
// practically never. GEOSEARCHSTORE … STOREDIST shows all digits of a distance,
// so the three functions distances need are computed here with twice the
// digits and rounded once at the end.

// wide is the unevaluated sum of two doubles, the second of which is less than
// half a unit in the last place of the first.
type wide struct{ hi, lo float64 }

// widen returns a + b without an error.
func widen(a, b float64) wide {
	sum := a + b
	rest := sum - a
	return wide{sum, (a - (sum - rest)) + (b - rest)}
}

func (x wide) add(y wide) wide {
	sum := widen(x.hi, y.hi)
	return widen(sum.hi, sum.lo+(x.lo+y.lo))
}

func (x wide) mul(y wide) wide {
	product := x.hi * y.hi
	rest := math.FMA(x.hi, y.hi, -product)
	return widen(product, rest+(float64(x.hi*y.lo)+float64(x.lo*y.hi)))
}

func (x wide) neg() wide { return wide{-x.hi, -x.lo} }

// inverse is 1/n.
func inverse(n float64) wide {
	hi := 1 / n
	return wide{hi, math.FMA(-n, hi, 1) / n}
}

// The first coefficients of the power series, those that matter beyond a
// double's precision, from the highest power down.
var (
	sinSeries = [...]wide{inverse(-5040), inverse(120), inverse(-6), {1, 0}}
	cosSeries = [...]wide{inverse(40320), inverse(-720), inverse(24), {-0.5, 0}, {1, 0}}
)

// series evaluates a power series in z whose higher powers sum up to tail.
func series(coefficients []wide, z wide, tail float64) wide {
	sum := wide{tail, 0}
	for _, c := range coefficients {
		sum = sum.mul(z).add(c)
	}
	return sum
}

// sinNear is the sine of an x not beyond π/4, give or take a little.
func sinNear(x wide) wide {
	z := x.mul(x)
	t := z.hi
	tail := (1 - t*(1./110)*(1-t*(1./156)*(1-t*(1./210)*(1-t*(1./272)*(1-t*(1./342)))))) * (1. / 362880)
	return x.mul(series(sinSeries[:], z, tail))
}

// cosNear is the cosine of an x not beyond π/4, give or take a little.
func cosNear(x wide) wide {
	z := x.mul(x)
	t := z.hi
	tail := (1 - t*(1./132)*(1-t*(1./182)*(1-t*(1./240)*(1-t*(1./306)*(1-t*(1./380)))))) * (-1. / 3628800)
	return series(cosSeries[:], z, tail)
}

// quarterTurn is π/2 in three pieces, of 53 bits each but the last.
var quarterTurn = [...]float64{0x1.921fb54442d18p0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110}

// reduce takes whole quarter turns off x.
func reduce(x float64) (rest wide, turns int) {
	n := math.RoundToEven(x / quarterTurn[0])
	if n == 0 {
		return wide{x, 0}, 0
	}
	rest = wide{x, 0}
	for _, piece := range quarterTurn {
		rest = rest.add(wide{-n, 0}.mul(wide{piece, 0}))
	}
	return rest, int(n) & 3
}

func wideSin(x float64) wide {
	rest, turns := reduce(x)
	switch turns {
	case 0:
		return sinNear(rest)
	case 1:
		return cosNear(rest)
	case 2:
		return sinNear(rest).neg()
	}
	return cosNear(rest).neg()
}

// sine is the sine of an angle of a few turns at most.
func sine(x float64) float64 { return wideSin(x).hi }

// cosine is the cosine of an angle of a few turns at most.
func cosine(x float64) float64 {
	rest, turns := reduce(x)
	switch turns {
	case 0:
		return cosNear(rest).hi
	case 1:
		return -sinNear(rest).hi
	case 2:
		return -cosNear(rest).hi
	}
	return sinNear(rest).hi
}

// arcsine improves on math.Asin by a step of Newton's method, or two where that
// is far off.
func arcsine(x float64) float64 {
	y := math.Asin(x)
	steps := 1
	if x > 0.5 {
		steps = 2
	}
	for range steps {
		slope := math.Cos(y)
		if !(slope > 1e-12) {
			break // as good as π/2, or not a number
		}
		y += wide{x, 0}.add(wideSin(y).neg()).hi / slope
	}
	return y
}
