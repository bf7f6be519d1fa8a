package precise

import (
	"math"
	"math/big"
	"math/rand"
	"testing"
)

// exact is e^x to many digits, by its series.
func exact(x *big.Float) *big.Float {
	const precision, halvings = 300, 30
	r := new(big.Float).SetPrec(precision).SetMantExp(x, -halvings)
	s := new(big.Float).SetPrec(precision).SetInt64(1)
	term := new(big.Float).SetPrec(precision).SetInt64(1)
	for i := int64(1); i < 30; i++ {
		term.Mul(term, r)
		term.Quo(term, new(big.Float).SetPrec(precision).SetInt64(i))
		s.Add(s, term)
	}
	for range halvings {
		s.Mul(s, s)
	}
	return s
}

func TestExpRoundsCorrectly(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for range 2000 {
		x := (random.Float64() - 0.5) * 200
		want, _ := exact(new(big.Float).SetPrec(300).SetFloat64(x)).Float64()
		if got := Exp(x); got != want {
			t.Errorf("Exp(%v) = %v, want %v", x, got, want)
		}
	}
}

// TestLogInvertsExp checks that e^Log(x) lies within half an ulp's reach of x.
func TestLogInvertsExp(t *testing.T) {
	random := rand.New(rand.NewSource(2))
	for range 2000 {
		x := math.Exp((random.Float64() - 0.5) * 100)
		got := Log(x)
		half := math.Abs(math.Nextafter(got, math.Inf(1))-got) / 2 * 1.0001
		low, _ := exact(new(big.Float).SetPrec(300).Sub(big.NewFloat(got), big.NewFloat(half))).Float64()
		high, _ := exact(new(big.Float).SetPrec(300).Add(big.NewFloat(got), big.NewFloat(half))).Float64()
		if x < low || x > high {
			t.Errorf("Log(%v) = %v is not the nearest", x, got)
		}
	}
}

func TestPow(t *testing.T) {
	tests := []struct{ x, y, want float64 }{
		{2, 10, 1024}, {2, -1, 0.5}, {2, 0.5, math.Sqrt2}, {10, 2, 100}, {10, -5, 1e-5},
		{1.1, 20, 6.7274999493256109}, {-2, 3, -8}, {-2, 51, -0x1p51}, {2, 1023, 0x1p1023},
		{2, 1024, math.Inf(1)}, {0, -1, math.Inf(1)}, {10, 15, 1e15}, {10, 22, 1e22},
		{5, 0, 1}, {4, 0.5, 2}, {2, 100, 0x1p100}, {3, 33, 5559060566555523},
	}
	for _, test := range tests {
		if got := Pow(test.x, test.y); got != test.want {
			t.Errorf("Pow(%v, %v) = %v, want %v", test.x, test.y, got, test.want)
		}
	}
	if got := Pow(-8, 1.0/3); !math.IsNaN(got) {
		t.Errorf("Pow(-8, 1/3) = %v, want NaN", got)
	}
}
