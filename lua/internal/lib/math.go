package lib

import (
	"math"

	"github.com/fakecluster/fakecluster/lua/internal/precise"
	"github.com/fakecluster/fakecluster/lua/internal/vm"
)

// Random is Redis' generator behind math.random: a 48-bit linear congruence, the
// same on every platform.
type Random struct{ state uint64 }

// NewRandom returns the generator a fresh server has.
func NewRandom() *Random { return &Random{state: 0x1234abcd<<16 | 0x330e} }

const (
	randomMultiplier = 0x5deece66d
	randomIncrement  = 0xb
	randomMask       = 1<<48 - 1
	// RandomMax is the largest number the generator yields.
	RandomMax = 1<<31 - 1
)

func (r *Random) next() int {
	r.state = (r.state*randomMultiplier + randomIncrement) & randomMask
	return int(r.state >> 17)
}

// Seed restarts the generator.
func (r *Random) Seed(seed int32) { r.state = uint64(uint32(seed))<<16&randomMask | 0x330e }

// OpenMath registers math.
func OpenMath(g *vm.Global, random *Random) {
	one := func(f func(float64) float64) vm.GoFunction {
		return func(t *vm.Thread) int {
			t.Push(vm.Num(f(t.CheckNumber(1))))
			return 1
		}
	}
	two := func(f func(a, b float64) float64) vm.GoFunction {
		return func(t *vm.Thread) int {
			// The original's compiler evaluates arguments from the right.
			b := t.CheckNumber(2)
			t.Push(vm.Num(f(t.CheckNumber(1), b)))
			return 1
		}
	}
	// Where C raises an invalid operation, amd64 answers a negative NaN.
	invalidOne := func(f func(float64) float64) vm.GoFunction {
		return one(func(x float64) float64 { return vm.Indefinite(f(x), x, x) })
	}
	m := newLibrary(g, "math", []entry{
		{"abs", one(math.Abs)}, {"acos", one(math.Acos)}, {"asin", one(math.Asin)},
		{"atan2", two(math.Atan2)}, {"atan", one(math.Atan)}, {"ceil", one(math.Ceil)},
		{"cosh", one(math.Cosh)}, {"cos", one(math.Cos)},
		{"deg", one(func(x float64) float64 { return x / (math.Pi / 180) })},
		{"exp", one(precise.Exp)}, {"floor", one(math.Floor)}, {"fmod", two(func(a, b float64) float64 { return vm.Indefinite(math.Mod(a, b), a, b) })},
		{"frexp", mathFrexp}, {"ldexp", mathLdexp}, {"log10", one(precise.Log10)},
		{"log", invalidOne(precise.Log)}, {"max", mathMax}, {"min", mathMin}, {"modf", mathModf},
		{"pow", two(vm.Pow)},
		{"rad", one(func(x float64) float64 { return x * (math.Pi / 180) })},
		{"random", func(t *vm.Thread) int { return mathRandom(t, random) }},
		{"randomseed", func(t *vm.Thread) int { random.Seed(int32(t.CheckInt(1))); return 0 }},
		{"sinh", one(math.Sinh)}, {"sin", one(math.Sin)}, {"sqrt", one(math.Sqrt)},
		{"tanh", one(math.Tanh)}, {"tan", one(math.Tan)},
	})
	m.SetStr("pi", vm.Num(math.Pi))
	m.SetStr("huge", vm.Num(math.Inf(1)))
	m.SetStr("mod", m.GetStr("fmod"))
}

func mathFrexp(t *vm.Thread) int {
	f := t.CheckNumber(1)
	fraction, exponent := math.Frexp(f)
	t.Push(vm.Num(fraction))
	t.Push(vm.Int(exponent))
	return 2
}

func mathLdexp(t *vm.Thread) int {
	exponent := t.CheckInt(2)
	t.Push(vm.Num(math.Ldexp(t.CheckNumber(1), exponent)))
	return 1
}

func mathModf(t *vm.Thread) int {
	f := t.CheckNumber(1)
	whole, fraction := math.Modf(f)
	if math.IsInf(f, 0) {
		whole, fraction = f, math.Copysign(0, f)
	}
	t.Push(vm.Num(whole))
	t.Push(vm.Num(math.Copysign(fraction, f)))
	return 2
}

func mathMax(t *vm.Thread) int {
	m := t.CheckNumber(1)
	for i := 2; i <= t.NArgs(); i++ {
		if f := t.CheckNumber(i); f > m {
			m = f
		}
	}
	t.Push(vm.Num(m))
	return 1
}

func mathMin(t *vm.Thread) int {
	m := t.CheckNumber(1)
	for i := 2; i <= t.NArgs(); i++ {
		if f := t.CheckNumber(i); f < m {
			m = f
		}
	}
	t.Push(vm.Num(m))
	return 1
}

func mathRandom(t *vm.Thread, random *Random) int {
	// The remainder avoids a result of 1, as the original does.
	r := float64(random.next()%RandomMax) / RandomMax
	switch t.NArgs() {
	case 0:
		t.Push(vm.Num(r))
	case 1:
		upper := t.CheckInt(1)
		if upper < 1 {
			t.ArgError(1, "interval is empty")
		}
		t.Push(vm.Num(math.Floor(r*float64(upper)) + 1))
	case 2:
		lower, upper := t.CheckInt(1), t.CheckInt(2)
		if lower > upper {
			t.ArgError(2, "interval is empty")
		}
		t.Push(vm.Num(math.Floor(r*float64(int32(upper-lower+1))) + float64(lower)))
	default:
		t.Fail("wrong number of arguments")
	}
	return 1
}
