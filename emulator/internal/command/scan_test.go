package command

import (
	"math"
	"testing"
)

// Ten times a huge COUNT overflows; as in Redis the walk nevertheless goes on to
// the end.
func TestScanOfHugeCountGoesToTheEnd(t *testing.T) {
	for _, count := range []int64{math.MaxInt64, math.MaxInt64/10 + 1} {
		steps := 0
		cursor := scanOptions{count: count}.walk(0, func() int { return 0 }, func(cursor uint64) uint64 {
			steps++
			return (cursor + 1) % 5
		})
		if cursor != 0 || steps != 5 {
			t.Errorf("COUNT %d ends at cursor %d after %d steps, want 0 after 5", count, cursor, steps)
		}
	}
}
