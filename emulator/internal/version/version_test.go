package version_test

import (
	"testing"

	"github.com/fakecluster/fakecluster/emulator/internal/version"
)

func TestParse(t *testing.T) {
	for s, want := range map[string]string{
		"6.2": "6.2.14", "7.0": "7.0.15", "7.2": "7.2.6", "7.4": "7.4.1", "7.0.3": "7.0.3", "7.2.10": "7.2.10",
	} {
		got, err := version.Parse(s)
		if err != nil || got.String() != want {
			t.Errorf("Parse(%q) = %v, %v; want %s", s, got, err, want)
		}
	}
	for _, s := range []string{"", "7", "7.1", "8.0", "7.2.", "7.2.x", "7.2.-1", "7.20", "v7.2", "7.2.1x"} {
		if got, err := version.Parse(s); err == nil {
			t.Errorf("Parse(%q) = %v, want an error", s, got)
		}
	}
}

func TestAtLeast(t *testing.T) {
	if !version.V7_2.AtLeast(7, 2) || !version.V7_2.AtLeast(6, 9) || version.V7_2.AtLeast(7, 4) || version.V7_2.AtLeast(8, 0) {
		t.Error("AtLeast does not order versions")
	}
	if version.V7_0.Number() != 0x07000f {
		t.Errorf("Number() = %x", version.V7_0.Number())
	}
}
