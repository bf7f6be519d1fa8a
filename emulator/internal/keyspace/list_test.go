package keyspace

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace/listpack"
	"github.com/fakecluster/fakecluster/emulator/internal/version"
)

func listContents(l *List) (forwards, backwards []string) {
	for i, e := range l.From(0) {
		if i != len(forwards) {
			panic(fmt.Sprintf("element %d has index %d", len(forwards), i))
		}
		forwards = append(forwards, e.String())
	}
	for _, e := range l.BackFrom(l.Len() - 1) {
		backwards = append(backwards, e.String())
	}
	slices.Reverse(backwards)
	return forwards, backwards
}

func checkNodes(t *rapid.T, l *List) {
	nodes := 0
	for node := l.head; node != nil; node = node.next {
		nodes++
		if err := listpack.Validate(node.pack.Bytes()); err != nil {
			t.Fatal(err)
		}
		if node.pack.Len() == 0 {
			t.Fatal("an empty node")
		}
	}
	if !l.quick && nodes > 1 {
		t.Fatalf("a listpack of %d nodes", nodes)
	}
}

func TestListAgainstSlice(t *testing.T) {
	element := rapid.OneOf(
		rapid.Map(rapid.IntRange(-3, 3), func(n int) string { return fmt.Sprint(n) }),
		rapid.SampledFrom([]string{"", "a", "b", "c", strings.Repeat("x", 3000)}),
	)
	rapid.Check(t, func(t *rapid.T) {
		limits := DefaultLimits(rapid.SampledFrom([]version.Version{version.V7_0, version.V7_2}).Draw(t, "version"))
		limits.ListMaxListpackSize = rapid.SampledFrom([]int{-1, -2, 0, 1, 2, 3, 5}).Draw(t, "list-max-listpack-size")
		l, model := NewList(&limits), []string(nil)
		index := func() int {
			if len(model) == 0 {
				t.Skip("empty")
			}
			return rapid.IntRange(0, len(model)-1).Draw(t, "index")
		}
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				s, end := element.Draw(t, "s"), ListEnd(rapid.Bool().Draw(t, "tail"))
				l.Grow([]byte(s))
				l.Push(end, []byte(s))
				if end == Head {
					model = slices.Insert(model, 0, s)
				} else {
					model = append(model, s)
				}
			},
			"pop": func(t *rapid.T) {
				end := ListEnd(rapid.Bool().Draw(t, "tail"))
				i := 0
				if end == Tail {
					i = len(model) - 1
				}
				got := l.Pop(end)
				if len(model) == 0 {
					if got != nil {
						t.Fatalf("popped %q", got)
					}
					return
				}
				if string(got) != model[i] {
					t.Fatalf("popped %q, want %q", got, model[i])
				}
				model = slices.Delete(model, i, i+1)
				l.Shrink()
			},
			"insert": func(t *rapid.T) {
				i, s, before := index(), element.Draw(t, "s"), rapid.Bool().Draw(t, "before")
				pivot := model[i]
				l.Grow([]byte(s))
				if !l.Insert([]byte(pivot), []byte(s), before) {
					t.Fatalf("no pivot %q", pivot)
				}
				i = slices.Index(model, pivot)
				if !before {
					i++
				}
				model = slices.Insert(model, i, s)
			},
			"set": func(t *rapid.T) {
				i, s := index(), element.Draw(t, "s")
				l.Grow([]byte(s))
				if !l.Set(int64(i-len(model)), []byte(s)) {
					t.Fatal("not there")
				}
				model[i] = s
				l.Shrink()
			},
			"remove": func(t *rapid.T) {
				s, end := element.Draw(t, "s"), ListEnd(rapid.Bool().Draw(t, "tail"))
				limit := rapid.IntRange(0, 3).Draw(t, "limit")
				var want []string
				left := limit
				if end == Tail {
					slices.Reverse(model)
				}
				for _, m := range model {
					if m == s && (limit == 0 || left > 0) {
						left--
						continue
					}
					want = append(want, m)
				}
				if end == Tail {
					slices.Reverse(want)
				}
				if got := l.Remove([]byte(s), end, int64(limit)); got != len(model)-len(want) {
					t.Fatalf("removed %d, want %d", got, len(model)-len(want))
				}
				model = want
				l.Shrink()
			},
			"deleteRange": func(t *rapid.T) {
				i, n := index(), rapid.IntRange(0, 6).Draw(t, "n")
				l.DeleteRange(i, n)
				model = slices.Delete(model, i, min(i+n, len(model)))
				l.Shrink()
			},
			"clone": func(*rapid.T) { l = l.Clone().(*List) },
			"": func(t *rapid.T) {
				forwards, backwards := listContents(l)
				if d := cmp.Diff(model, forwards, equateEmpty) + cmp.Diff(model, backwards, equateEmpty); d != "" {
					t.Fatal(d)
				}
				for i, s := range model {
					if e, ok := l.Index(int64(i)); !ok || e.String() != s {
						t.Fatalf("Index(%d) = %q, want %q", i, e, s)
					}
				}
				if l.Len() != len(model) {
					t.Fatalf("Len() = %d, want %d", l.Len(), len(model))
				}
				checkNodes(t, l)
			},
		})
	})
}

var equateEmpty = cmp.Transformer("length", func(s []string) []string { return append([]string{}, s...) })

// TestListEncoding follows the rules of Redis 7.2: a listpack up to
// list-max-listpack-size, and back to one at half of it.
func TestListEncoding(t *testing.T) {
	limits := DefaultLimits(version.V7_2)
	limits.ListMaxListpackSize = 4
	l := NewList(&limits)
	step := func(want string, change func()) {
		t.Helper()
		change()
		if l.Encoding() != want {
			t.Fatalf("%d elements: encoding is %s, want %s", l.Len(), l.Encoding(), want)
		}
	}
	push := func() {
		l.Grow([]byte("x"))
		l.Push(Tail, []byte("x"))
	}
	pop := func() {
		l.Pop(Tail)
		l.Shrink()
	}
	for range 4 {
		step("listpack", push)
	}
	step("quicklist", push)
	step("quicklist", pop)
	step("quicklist", pop)
	step("listpack", pop)
	step("listpack", push)
	step("listpack", func() { l.Grow() })

	limits.Version = version.V7_0
	l = NewList(&limits)
	step("quicklist", push)
	step("quicklist", pop)
}

func BenchmarkListIndexOfMillion(b *testing.B) {
	limits := DefaultLimits(version.V7_0)
	l := NewList(&limits)
	for i := range 1_000_000 {
		l.Push(Tail, fmt.Appendf(nil, "element:%d", i))
	}
	for b.Loop() {
		l.Index(500_000)
	}
}
