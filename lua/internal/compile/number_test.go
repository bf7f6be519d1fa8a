package compile

import (
	"math"
	"testing"
)

func TestParseNumber(t *testing.T) {
	tests := []struct {
		text string
		want float64
		ok   bool
	}{
		{"0", 0, true}, {"12", 12, true}, {" 12 ", 12, true}, {"\t\n12\v", 12, true},
		{"-3.5", -3.5, true}, {"+1", 1, true}, {"1e2", 100, true}, {"1E-2", 0.01, true},
		{".5", 0.5, true}, {"5.", 5, true}, {"0x10", 16, true}, {"-0xff", -255, true},
		{"0x1p4", 16, true}, {"0x.8", 0.5, true}, {"010", 10, true},
		{"inf", math.Inf(1), true}, {"-Infinity", math.Inf(-1), true},
		{"1e400", math.Inf(1), true}, {"12345678901234567890", 12345678901234567890, true},
		{"10\x00junk", 10, true},
		{"", 0, false}, {" ", 0, false}, {"x", 0, false}, {"1x", 0, false}, {"1 2", 0, false},
		{"1e", 0, false}, {"0x", 0, false}, {"--1", 0, false}, {"1_000", 0, false}, {".", 0, false},
		{"infinite", 0, false}, {"0b1", 0, false},
	}
	for _, test := range tests {
		got, ok := ParseNumber(test.text)
		if ok != test.ok || ok && got != test.want {
			t.Errorf("ParseNumber(%q) = %v, %v, want %v, %v", test.text, got, ok, test.want, test.ok)
		}
	}
}

// TestCompileErrorsAreValues checks that any text ends in code or in an *Error.
func TestCompileErrorsAreValues(t *testing.T) {
	for _, text := range []string{"", "x = = 1", "return", "\x00", "'", "[[", "--[[", "goto x", "return ..."} {
		proto, err := Compile(text, "=test", 0)
		if (proto == nil) == (err == nil) {
			t.Errorf("Compile(%q) = %v, %v", text, proto, err)
		}
	}
}
