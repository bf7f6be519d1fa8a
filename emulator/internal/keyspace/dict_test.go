package keyspace

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func TestDictIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d Dict[int]
		model := map[string]int{}
		for i := range rapid.IntRange(0, 400).Draw(t, "steps") {
			key := fmt.Sprint(rapid.IntRange(0, 120).Draw(t, "key"))
			if n := d.Find([]byte(key)); n != nil {
				if n.Key() != key || n.Value != model[key] {
					t.Fatalf("Find(%s) = %s, %d; want %d", key, n.Key(), n.Value, model[key])
				}
				d.Delete(key)
				delete(model, key)
			} else {
				if _, there := model[key]; there {
					t.Fatalf("%s is lost", key)
				}
				d.Add(key, i)
				model[key] = i
			}
			if d.Len() != len(model) {
				t.Fatalf("Len() = %d, want %d", d.Len(), len(model))
			}
		}
		seen := 0
		for n := range d.All() {
			if v, there := model[n.Key()]; !there || v != n.Value || d.FindString(n.Key()) != n {
				t.Fatalf("All yields %s = %d", n.Key(), n.Value)
			}
			seen++
		}
		if seen != len(model) {
			t.Fatalf("All yields %d of %d", seen, len(model))
		}
	})
}

// What stays in the table during a whole scan is seen, however the table grows
// and shrinks between two calls.
func TestScanMissesNothingThatStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d Dict[bool]
		stay := rapid.IntRange(1, 200).Draw(t, "stay")
		for i := range stay {
			d.Add(fmt.Sprint("stay", i), true)
		}
		passing := rapid.IntRange(0, 2000).Draw(t, "passing")
		for i := range passing {
			d.Add(fmt.Sprint("pass", i), false)
		}
		seen := map[string]bool{}
		for cursor, step := uint64(0), 0; ; step++ {
			cursor = d.Scan(cursor, func(n *Node[bool]) { seen[n.Key()] = true })
			if cursor == 0 {
				break
			}
			change := rapid.IntRange(-60, 60).Draw(t, "change")
			for ; change > 0; change-- {
				d.Add(fmt.Sprint("pass", passing), false)
				passing++
			}
			for ; change < 0 && passing > 0; change++ {
				passing--
				d.Delete(fmt.Sprint("pass", passing))
			}
			if step > 20000 {
				t.Fatal("the scan does not end")
			}
		}
		for i := range stay {
			if !seen[fmt.Sprint("stay", i)] {
				t.Fatalf("the scan missed stay%d", i)
			}
		}
	})
}

// TestRandomIsFair compares how often elements are drawn with what a fair draw
// would give; 20 degrees of freedom exceed 60 once in a hundred thousand times.
func TestRandomIsFair(t *testing.T) {
	const elements, draws = 21, 21000
	var d Dict[int]
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range elements {
		d.Add(fmt.Sprint("member", i), i)
	}
	var drawn [elements]float64
	for range draws {
		drawn[d.Random(rng).Value]++
	}
	chiSquare := 0.0
	for _, n := range drawn {
		chiSquare += (n - draws/elements) * (n - draws/elements) / (draws / elements)
	}
	if chiSquare > 60 {
		t.Errorf("chi square is %.1f: %v", chiSquare, drawn)
	}
}

func TestRandomReachesEveryElement(t *testing.T) {
	var d Dict[int]
	rng := rand.New(rand.NewPCG(1, 2))
	if d.Random(rng) != nil {
		t.Fatal("an empty dictionary has no random element")
	}
	for i := range 50 {
		d.Add(fmt.Sprint(i), i)
	}
	seen := map[int]bool{}
	for range 20000 {
		seen[d.Random(rng).Value] = true
	}
	if len(seen) != 50 {
		t.Fatalf("Random returned %d of 50 elements in 20000 draws", len(seen))
	}
}

func BenchmarkDictFind(b *testing.B) {
	var d Dict[int]
	var keys [][]byte
	for i := range 100_000 {
		keys = append(keys, fmt.Appendf(nil, "key:%d", i))
		d.Add(string(keys[i]), i)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if d.Find(keys[i%len(keys)]) == nil {
			b.Fatal("lost")
		}
	}
}
