package keyspace

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fakecluster/fakecluster/emulator/internal/version"
)

func setContents(s *Set) []string {
	all := []string{}
	for member := range s.All() {
		all = append(all, string(member))
	}
	return all
}

func TestSetAgainstMap(t *testing.T) {
	member := rapid.OneOf(
		rapid.Map(rapid.IntRange(-9, 9), func(n int) string { return fmt.Sprint(n * 30000) }),
		rapid.SampledFrom([]string{"", "a", "b", "c", "d", "07", "a-long-member"}),
	)
	rapid.Check(t, func(t *rapid.T) {
		limits := DefaultLimits(rapid.SampledFrom([]version.Version{version.V7_0, version.V7_2}).Draw(t, "version"))
		limits.SetMaxIntsetEntries = rapid.IntRange(0, 6).Draw(t, "set-max-intset-entries")
		limits.SetMaxListpackEntries = rapid.IntRange(0, 6).Draw(t, "set-max-listpack-entries")
		limits.SetMaxListpackValue = 5
		s, model := NewSetFor(&limits, []byte(member.Draw(t, "first")), 1), map[string]bool{}
		rng := rand.New(rand.NewPCG(1, 1))
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				m := member.Draw(t, "member")
				if s.Add([]byte(m)) == model[m] {
					t.Fatalf("Add(%q) is wrong", m)
				}
				model[m] = true
			},
			"remove": func(t *rapid.T) {
				m := member.Draw(t, "member")
				if s.Remove([]byte(m)) != model[m] {
					t.Fatalf("Remove(%q) is wrong", m)
				}
				delete(model, m)
			},
			"random": func(t *rapid.T) {
				if s.Len() == 0 {
					t.Skip("empty")
				}
				if m := s.Random(rng); !model[string(m)] {
					t.Fatalf("Random() = %q", m)
				}
			},
			"fit":    func(*rapid.T) { s.Fit() },
			"expect": func(t *rapid.T) { s.Expect(rapid.IntRange(0, 8).Draw(t, "more")) },
			"clone":  func(*rapid.T) { s = s.Clone().(*Set) },
			"": func(t *rapid.T) {
				if d := cmp.Diff(slices.Sorted(maps.Keys(model)), slices.Sorted(slices.Values(setContents(s))), equateEmpty); d != "" {
					t.Fatal(d)
				}
				for _, m := range []string{"a", "07", "30000"} {
					if s.Has([]byte(m)) != model[m] {
						t.Fatalf("Has(%q) is wrong", m)
					}
				}
				if s.Len() != len(model) {
					t.Fatalf("Len() = %d, want %d", s.Len(), len(model))
				}
				var scanned []string
				for cursor, first := uint64(0), true; first || cursor != 0; first = false {
					cursor = s.Scan(cursor, func(member []byte) { scanned = append(scanned, string(member)) })
				}
				if len(scanned) != len(model) {
					t.Fatalf("scanned %q", scanned)
				}
			},
		})
	})
}

// TestSetEncoding follows the rules of set-max-intset-entries and, from 7.2 on,
// set-max-listpack-entries and -value.
func TestSetEncoding(t *testing.T) {
	long := strings.Repeat("x", 65)
	numbers := func(n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprint(i))
		}
		return all
	}
	words := func(n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprint("word", i))
		}
		return all
	}
	for _, test := range []struct {
		name     string
		members  []string
		v70, v72 string
	}{
		{"integers", numbers(512), "intset", "intset"},
		{"too many integers", numbers(513), "hashtable", "hashtable"},
		{"words", words(128), "hashtable", "listpack"},
		{"too many words", words(129), "hashtable", "hashtable"},
		{"a word to few integers", append(numbers(127), "a"), "hashtable", "listpack"},
		{"a word to many integers", append(numbers(128), "a"), "hashtable", "hashtable"},
		{"a long word", []string{long}, "hashtable", "hashtable"},
		{"a long word to integers", []string{"1", long}, "hashtable", "hashtable"},
		{"a long word to words", []string{"a", long}, "hashtable", "hashtable"},
	} {
		for v, want := range map[version.Version]string{version.V7_0: test.v70, version.V7_2: test.v72} {
			limits := DefaultLimits(v)
			s := NewSetFor(&limits, []byte(test.members[0]), 1)
			for _, m := range test.members {
				s.Add([]byte(m))
			}
			if s.Encoding() != want {
				t.Errorf("%v, %s: encoding is %s, want %s", v, test.name, s.Encoding(), want)
			}
		}
	}
}

func TestSetOrder(t *testing.T) {
	limits := DefaultLimits(version.V7_2)
	s := NewSet(&limits)
	for _, m := range []string{"3", "1", "2", "b", "0", "a"} {
		s.Add([]byte(m))
	}
	if d := cmp.Diff([]string{"1", "2", "3", "b", "0", "a"}, setContents(s)); d != "" {
		t.Error(d)
	}
}
