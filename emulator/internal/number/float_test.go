package number

import (
	"math"
	"testing"
)

// The expectations are C's: strtod(s, &end) with *end == 0.
func TestParseFloatC(t *testing.T) {
	for s, want := range map[string]float64{
		"": 0, "\x00junk": 0, "1.5\x00junk": 1.5, " \t1": 1, "+3": 3, "0x10": 16, "-inf": math.Inf(-1),
		"1e400": math.Inf(1), "-1e400": math.Inf(-1), "1e-400": 0, "5e-324": 5e-324,
	} {
		if got, ok := ParseFloatC(s); !ok || got != want {
			t.Errorf("ParseFloatC(%q) = %v, %v; want %v", s, got, ok, want)
		}
	}
	for _, s := range []string{" ", "1 ", "nan", "x", "1e", "--1"} {
		if got, ok := ParseFloatC(s); ok {
			t.Errorf("ParseFloatC(%q) = %v, want it refused", s, got)
		}
	}
}
