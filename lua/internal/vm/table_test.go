package vm

import (
	"math/rand"
	"testing"
)

// TestTableAgainstMap makes random changes to a table and to a map: lookups and
// iteration must agree.
func TestTableAgainstMap(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	g := NewGlobal(Limits{})
	for range 200 {
		table := g.NewTable(random.Intn(5), random.Intn(5))
		model := map[string]Value{}
		keys := map[string]Value{}
		for range 200 {
			key := randomKey(random)
			name := key.Kind().String() + formatKey(key)
			keys[name] = key
			value := Int(random.Intn(100))
			if random.Intn(3) == 0 {
				value = Value{}
			}
			table.Set(key, value)
			if value.IsNil() {
				delete(model, name)
			} else {
				model[name] = value
			}
		}
		for name, key := range keys {
			if got := table.Get(key); got != model[name] {
				t.Fatalf("table[%s] = %v, want %v", name, got, model[name])
			}
		}
		seen := 0
		key := Value{}
		for {
			k, v, ok := table.Next(key)
			if !ok {
				t.Fatal("a key Next returned is not in the table")
			}
			if k.IsNil() {
				break
			}
			if name := k.Kind().String() + formatKey(k); model[name] != v {
				t.Fatalf("Next returned %s = %v, want %v", name, v, model[name])
			}
			seen++
			key = k
		}
		if seen != len(model) {
			t.Fatalf("iterated over %d entries, want %d", seen, len(model))
		}
		if n := table.Len(); n > 0 && table.GetInt(n).IsNil() || !table.GetInt(n+1).IsNil() {
			t.Fatalf("Len() = %d is no border", n)
		}
	}
}

func randomKey(random *rand.Rand) Value {
	switch random.Intn(4) {
	case 0:
		return Str(string(rune('a' + random.Intn(26))))
	case 1:
		return Num(float64(random.Intn(20)) / 4)
	default:
		return Int(random.Intn(40) + 1)
	}
}

// formatKey prints a key of the test.
func formatKey(v Value) string {
	if v.IsNumber() {
		return FormatNumber(v.Float())
	}
	return v.Str()
}

// TestMemoryIsMeasured checks that what a table holds is counted, and forgotten
// once nothing refers to it.
func TestMemoryIsMeasured(t *testing.T) {
	g := NewGlobal(Limits{})
	g.Collect()
	empty := g.Memory()
	g.Globals.SetStr("x", g.NewString(string(make([]byte, 1<<20))))
	g.Collect()
	if n := g.Memory() - empty; n < 1<<20 || n > 1<<20+4096 {
		t.Errorf("a string of 1 MiB counts for %d bytes", n)
	}
	g.Globals.SetStr("x", Value{})
	g.Collect()
	if n := g.Memory() - empty; n > 4096 {
		t.Errorf("%d bytes are still counted", n)
	}
}
