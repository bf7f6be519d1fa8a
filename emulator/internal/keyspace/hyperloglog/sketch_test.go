package hyperloglog_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace/hyperloglog"
	"github.com/fakecluster/fakecluster/tests/hostile"
)

func TestSelfTest(t *testing.T) {
	if err := hyperloglog.SelfTest(); err != nil {
		t.Fatal(err)
	}
}

// However registers are raised, a sparse sketch, a dense one and an array of
// bytes agree on all of them.
func TestEncodingsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sparse := hyperloglog.New()
		dense, err := hyperloglog.New().ToDense()
		if err != nil {
			t.Fatal(err)
		}
		var model hyperloglog.Registers
		for range rapid.IntRange(0, 300).Draw(t, "steps") {
			index := rapid.OneOf(rapid.IntRange(0, 40), rapid.IntRange(0, len(model)-1)).Draw(t, "index")
			value := byte(rapid.IntRange(1, 33).Draw(t, "value"))
			want := model[index] < value
			model[index] = max(model[index], value)
			for _, s := range []*hyperloglog.Sketch{&sparse, &dense} {
				var changed bool
				if *s, changed, err = s.Raise(index, value, 200); err != nil || changed != want {
					t.Fatalf("Raise(%d, %d) = %v, %v", index, value, changed, err)
				}
			}
		}
		for _, s := range []hyperloglog.Sketch{sparse, dense} {
			var got hyperloglog.Registers
			if err := got.Merge(s); err != nil || got != model {
				t.Fatalf("Merge: %v, registers differ", err)
			}
			if n, err := s.Count(); err != nil || n != model.Count() {
				t.Fatalf("Count() = %d, %v; want %d", n, err, model.Count())
			}
		}
	})
}

// Whatever bytes hide behind a good header, nothing panics.
func FuzzCorrupt(f *testing.F) {
	f.Add([]byte{0x7f, 0xff}, 5)
	f.Add([]byte{0x40}, 0)
	f.Fuzz(func(t *testing.T, body []byte, index int) {
		hostile.Bound(t)
		s := append(append(hyperloglog.Sketch{}, hyperloglog.New()[:16]...), body...)
		if !hyperloglog.Valid(s) || index < 0 || index >= len(hyperloglog.Registers{}) {
			t.Skip()
		}
		_, _ = s.Count()
		_ = s.Runs()
		_, _ = s.ToDense()
		_, _, _ = s.Raise(index, 7, 3000)
	})
}
