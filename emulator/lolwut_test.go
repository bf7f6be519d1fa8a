package emulator_test

import (
	"strings"
	"testing"

	"github.com/fakecluster/fakecluster/emulator"
)

// The measures and the last lines are those of redis-server 7.0.15; what is
// drawn is left to chance there, too.
func TestLolwut(t *testing.T) {
	c := emulator.RunT(t, emulator.Standalone(), emulator.RedisVersion("7.0"))
	for _, test := range []struct {
		args, last   string
		lines, runes int // all lines; characters of the first
	}{
		{"", "Redis ver. 7.0.15", 1, 17},
		{"VERSION 4", "Redis ver. 7.0.15", 1, 17},
		{"VERSION 5", "Georg Nees - schotter, plotter on paper, 1968. Redis ver. 7.0.15", 51, 66},
		{"VERSION 5 0 0 0", "Georg Nees - schotter, plotter on paper, 1968. Redis ver. 7.0.15", 3, 1},
		{"VERSION 6", "Original 8 bit image from Plaguemon by hikikomori. Redis ver. 7.0.15", 22, 80 * 16},
		{"VERSION 6 2000 1", "Original 8 bit image from Plaguemon by hikikomori. Redis ver. 7.0.15", 3, 16000},
	} {
		reply, err := c.Node(0).Do(strings.Fields("LOLWUT " + test.args)...)
		if err != nil {
			t.Fatalf("LOLWUT %s: %v", test.args, err)
		}
		lines := strings.Split(strings.TrimSuffix(reply.(string), "\n"), "\n")
		if last := lines[len(lines)-1]; last != test.last {
			t.Errorf("LOLWUT %s ends with %q, want %q", test.args, last, test.last)
		}
		if len(lines) != test.lines {
			t.Errorf("LOLWUT %s has %d lines, want %d", test.args, len(lines), test.lines)
		}
		// Cells of the skyline are 15 or 16 bytes, depending on their color.
		if n := len([]rune(lines[0])); n != test.runes && !strings.Contains(test.args, "VERSION 6") {
			t.Errorf("LOLWUT %s is %d characters wide, want %d", test.args, n, test.runes)
		}
		if strings.Contains(test.args, "VERSION 6") {
			if cells := strings.Count(lines[0], " "); cells*16 != test.runes {
				t.Errorf("LOLWUT %s is %d cells wide, want %d", test.args, cells, test.runes/16)
			}
		}
	}
	if _, err := c.Node(0).Do("LOLWUT", "VERSION", "5", "x"); err == nil || err.Error() != "ERR value is not an integer or out of range" {
		t.Errorf("LOLWUT VERSION 5 x: %v", err)
	}
}
