package number

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestShortestLikeFpconv holds numbers against what the fpconv library that
// Redis prints doubles with since 7.2 makes of them. The first group are those
// where it does not find the fewest or the closest digits.
func TestShortestLikeFpconv(t *testing.T) {
	for _, c := range []struct {
		f    float64
		want string
	}{
		{-0x1.15f1da2ed55acp+05, "-34.743091932188094"},
		{0x1p+91, "2.4758800785707606e+27"},
		{0x1p-25, "2.9802322387695313e-8"},
		{0x1p-417, "2.9545531576914355e-126"},
		{-0x1.49ee3d67e4e02p+03, "-10.310332014959389"},
		{0x1.22f2cf93d4998p+167, "2.1261083986230362e+50"},
		{-0x1.8a2480ee6abfcp+01, "-3.0792390026231242"},
		{0x1.aafbfe1195991p-28, "6.2134399999999996e-9"},
		{0x1.5fd787e63a8e8p-1023, "1.5290512749107764e-308"},
		{-0x1.919221de59b2ap+04, "-25.098176830822162"},
		{-0x1.60030ccc6564ep+554, "-8.108396830264419e+166"},

		{0, "0"}, {math.Copysign(0, -1), "-0"}, {1, "1"}, {-17, "-17"}, {1e17, "100000000000000000"},
		{1 << 62, "4611686018427387904"}, {-1 << 62, "-4611686018427387904"},
		{1 << 63, "9223372036854776000"}, {1e19, "1e+19"}, {123e17, "1.23e+19"}, {123e20, "12300000000000001000000"},
		{3.141, "3.141"}, {0.1, "0.1"}, {-0.1, "-0.1"}, {12345.678, "12345.678"}, {0.30000000000000004, "0.30000000000000004"},
		{0.001, "0.001"}, {0.00001, "0.00001"}, {0.000001, "0.000001"}, {1e-7, "1e-7"}, {1.5e-7, "1.5e-7"}, {1.5e-5, "0.000015"},
		{1.25e-4, "0.000125"}, {1.23456789e-3, "0.00123456789"}, {1.23456789e-4, "1.23456789e-4"},
		{1e100, "1e+100"}, {1.5e300, "1.5e+300"}, {1.5e-300, "1.5e-300"}, {5e-324, "5e-324"},
		{math.MaxFloat64, "1.7976931348623157e+308"}, {-math.MaxFloat64, "-1.7976931348623157e+308"},
		{math.Inf(1), "inf"}, {math.Inf(-1), "-inf"}, {math.NaN(), "nan"}, {math.Copysign(math.NaN(), -1), "nan"},
	} {
		if got := FormatShortest(c.f); got != c.want {
			t.Errorf("%x: got %s, want %s", c.f, got, c.want)
		}
	}
}

func TestShortestReadsBackTheSame(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 100_000 {
		f := math.Float64frombits(rnd.Uint64())
		if math.IsNaN(f) {
			continue
		}
		s := FormatShortest(f)
		if got, err := strconv.ParseFloat(s, 64); err != nil || got != f {
			t.Fatalf("%x is printed as %s, which is %x, %v", f, s, got, err)
		}
	}
}

var benchmarked = []float64{1, 12345, 0.1, 3.14159265358979, 1e-9, -123.456, 1.7976931348623157e308}

func BenchmarkAppendFloat(b *testing.B) {
	var buf [32]byte
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		AppendFloat(buf[:0], benchmarked[i%len(benchmarked)])
	}
}

func BenchmarkAppendShortest(b *testing.B) {
	var buf [32]byte
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		AppendShortest(buf[:0], benchmarked[i%len(benchmarked)])
	}
}

func BenchmarkIncrByFloat(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		incrByFloat("10.50", "0.1")
	}
}
