package keyspace

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fakecluster/fakecluster/emulator/internal/version"
)

func hashContents(h *Hash) map[string]string {
	all := map[string]string{}
	for field, value := range h.All() {
		all[string(field)] = string(value)
	}
	return all
}

func TestHashAgainstMap(t *testing.T) {
	text := rapid.OneOf(
		rapid.Map(rapid.IntRange(-5, 5), func(n int) string { return fmt.Sprint(n) }),
		rapid.SampledFrom([]string{"", "a", "b", "c", "a-long-text"}),
	)
	rapid.Check(t, func(t *rapid.T) {
		limits := DefaultLimits(version.V7_0)
		limits.HashMaxListpackEntries = rapid.IntRange(0, 8).Draw(t, "hash-max-listpack-entries")
		limits.HashMaxListpackValue = rapid.SampledFrom([]int{5, 64}).Draw(t, "hash-max-listpack-value")
		h, model := NewHash(&limits), map[string]string{}
		rng := rand.New(rand.NewPCG(1, 1))
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				field, value := text.Draw(t, "field"), text.Draw(t, "value")
				_, existed := model[field]
				if h.Set([]byte(field), []byte(value)) == existed {
					t.Fatalf("Set(%q) is wrong", field)
				}
				model[field] = value
			},
			"delete": func(t *rapid.T) {
				field := text.Draw(t, "field")
				_, existed := model[field]
				if h.Delete([]byte(field)) != existed {
					t.Fatalf("Delete(%q) is wrong", field)
				}
				delete(model, field)
			},
			"random": func(t *rapid.T) {
				if h.Len() == 0 {
					t.Skip("empty")
				}
				field, value := h.Random(rng)
				if want, ok := model[string(field)]; !ok || want != string(value) {
					t.Fatalf("Random() = %q, %q", field, value)
				}
			},
			"clone": func(*rapid.T) { h = h.Clone().(*Hash) },
			"": func(t *rapid.T) {
				if d := cmp.Diff(model, hashContents(h)); d != "" {
					t.Fatal(d)
				}
				if h.Len() != len(model) {
					t.Fatalf("Len() = %d, want %d", h.Len(), len(model))
				}
				for _, field := range []string{"a", "1", ""} {
					got, ok := h.Get([]byte(field))
					if want, there := model[field]; ok != there || string(got) != want || h.Has([]byte(field)) != ok {
						t.Fatalf("Get(%q) = %q, %v", field, got, ok)
					}
				}
				scanned := map[string]string{}
				for cursor, first := uint64(0), true; first || cursor != 0; first = false {
					cursor = h.Scan(cursor, func(field, value []byte) { scanned[string(field)] = string(value) })
				}
				if !maps.Equal(scanned, model) {
					t.Fatalf("scanned %q", scanned)
				}
			},
		})
	})
}

// TestHashEncoding follows hash-max-listpack-entries and -value.
func TestHashEncoding(t *testing.T) {
	for _, test := range []struct {
		version        version.Version
		fields, length int
		want           string
	}{
		{version.V6_2, 1, 1, "ziplist"},
		{version.V7_0, 512, 64, "listpack"},
		{version.V7_0, 513, 1, "hashtable"},
		{version.V7_0, 1, 65, "hashtable"},
		{version.V7_2, 1, 64, "listpack"},
	} {
		limits := DefaultLimits(test.version)
		h := NewHash(&limits)
		for i := range test.fields {
			h.Set(fmt.Append(nil, i), []byte(strings.Repeat("x", test.length)))
		}
		if h.Encoding() != test.want {
			t.Errorf("%v: encoding is %s", test, h.Encoding())
		}
	}
	limits := DefaultLimits(version.V7_0)
	h := NewHash(&limits)
	h.Expect([][]byte{[]byte("field"), []byte(strings.Repeat("x", 65))})
	if h.Encoding() != "hashtable" {
		t.Errorf("encoding is %s although a long value is expected", h.Encoding())
	}
}
