package keyspace

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace/listpack"
	"github.com/fakecluster/fakecluster/emulator/internal/version"
)

type scored struct {
	Member string
	Score  float64
}

// zsetModel is a sorted set the simple way.
type zsetModel map[string]float64

func (m zsetModel) sorted() []scored {
	var s []scored
	for member, score := range m {
		s = append(s, scored{member, score})
	}
	slices.SortFunc(s, func(a, b scored) int {
		return cmp.Or(cmp.Compare(a.Score, b.Score), cmp.Compare(a.Member, b.Member))
	})
	return s
}

func (m zsetModel) where(in func(scored) bool) (found []scored) {
	for _, s := range m.sorted() {
		if in(s) {
			found = append(found, s)
		}
	}
	return found
}

func collect(z *ZSet, start, n int, reverse bool) (s []scored) {
	for member, score := range z.Range(start, n, reverse) {
		s = append(s, scored{string(member), score})
	}
	return s
}

func same[T any](t *rapid.T, what string, got, want T) {
	t.Helper()
	if d := gocmp.Diff(want, got); d != "" {
		t.Fatalf("%s (-want +got):\n%s", what, d)
	}
}

// checkSkiplist makes sure that every link says how far it leads, and where.
func checkSkiplist(t *rapid.T, l *skiplist) {
	position := map[*skipNode]int{l.head: 0}
	var last *skipNode
	for n := l.head.next(); n != nil; n = n.next() {
		position[n] = len(position)
		if n.prev != last {
			t.Fatalf("%q has the wrong predecessor", n.member)
		}
		last = n
	}
	if l.tail != last || len(position) != l.length+1 {
		t.Fatalf("%d of %d nodes, and the tail is %v", len(position)-1, l.length, l.tail)
	}
	for n := range position {
		for i, link := range n.links() {
			end := l.length
			if link.next != nil {
				end = position[link.next]
			}
			if (n != l.head || i < l.levels) && int(link.span) != end-position[n] {
				t.Fatalf("a link at level %d over %d elements has span %d", i, end-position[n], link.span)
			}
			if link.next != nil && link.near != float32(link.next.score) {
				t.Fatalf("a link at level %d to %v is said to lead to %v", i, link.next.score, link.near)
			}
			if n == l.head && i >= l.levels && link.next != nil {
				t.Fatalf("level %d of %d is in use", i, l.levels)
			}
		}
	}
}

var (
	someMembers = rapid.OneOf(
		rapid.Map(rapid.IntRange(-9, 9), func(n int) string { return fmt.Sprint(n) }),
		rapid.SampledFrom([]string{"", "a", "b", "ab", "abc", "\xff", "007", strings.Repeat("x", 65)}),
	)
	someScores = rapid.OneOf(
		rapid.Map(rapid.IntRange(-2, 3), func(n int) float64 { return float64(n) }),
		rapid.SampledFrom([]float64{math.Inf(1), math.Inf(-1), 0.1, 1e300, -1 << 62, 1 << 63, 5e-324}),
	)
)

func TestZSetAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := DefaultLimits(rapid.SampledFrom([]version.Version{version.V6_2, version.V7_0, version.V7_2}).Draw(t, "version"))
		limits.ZSetMaxListpackEntries = rapid.SampledFrom([]int{0, 4, 128}).Draw(t, "zset-max-listpack-entries")
		z, model := NewZSet(&limits), zsetModel{}
		t.Repeat(map[string]func(*rapid.T){
			"Add": func(t *rapid.T) {
				for range rapid.IntRange(1, 6).Draw(t, "members") {
					addBoth(t, z, model)
				}
			},
			"Delete": func(t *rapid.T) {
				member := someMembers.Draw(t, "member")
				_, want := model[member]
				same(t, "Delete", z.Delete([]byte(member)), want)
				delete(model, member)
			},
			"DeleteRange": func(t *rapid.T) {
				all := model.sorted()
				start := rapid.IntRange(0, len(all)).Draw(t, "start")
				n := rapid.IntRange(0, len(all)-start).Draw(t, "n")
				z.DeleteRange(start, n)
				for _, gone := range all[start : start+n] {
					delete(model, gone.Member)
				}
			},
			"ScoreSpan": func(t *rapid.T) {
				r := ScoreRange{
					Min: someScores.Draw(t, "min"), MinEx: rapid.Bool().Draw(t, "minex"),
					Max: someScores.Draw(t, "max"), MaxEx: rapid.Bool().Draw(t, "maxex"),
				}
				start, n := z.ScoreSpan(r)
				same(t, "in range", collect(z, start, n, false), model.where(func(s scored) bool {
					return (s.Score > r.Min || s.Score == r.Min && !r.MinEx) && (s.Score < r.Max || s.Score == r.Max && !r.MaxEx)
				}))
			},
			"Compact": func(t *rapid.T) { z.Compact() },
			"Expand":  func(t *rapid.T) { z.Expand() },
			"Clone":   func(t *rapid.T) { z = z.Clone().(*ZSet) },
			"":        func(t *rapid.T) { checkZSet(t, z, model) },
		})
	})
}

func addBoth(t *rapid.T, z *ZSet, model zsetModel) {
	member, score := someMembers.Draw(t, "member"), someScores.Draw(t, "score")
	o := AddOptions{NX: rapid.Bool().Draw(t, "nx"), Incr: rapid.Bool().Draw(t, "incr")}
	if !o.NX {
		o.XX, o.GT = rapid.Bool().Draw(t, "xx"), rapid.Bool().Draw(t, "gt")
		o.LT = !o.GT && rapid.Bool().Draw(t, "lt")
	}
	old, exists := model[member]
	sum := score
	if exists && o.Incr {
		sum += old
	}
	want := Updated
	switch {
	case exists && o.NX, !exists && o.XX:
		want = Skipped
	case !exists:
		want = Added
	case math.IsNaN(sum):
		want = NotNumber
	case o.GT && sum <= old, o.LT && sum >= old:
		want = Skipped
	case sum == old:
		want = Unchanged
	}
	got, now := z.Add([]byte(member), score, o)
	same(t, "result of Add", got, want)
	if got == Added || got == Updated {
		same(t, "score from Add", now, sum)
		model[member] = sum
	}
}

func checkZSet(t *rapid.T, z *ZSet, model zsetModel) {
	all := model.sorted()
	same(t, "Len", z.Len(), len(all))
	same(t, "members", collect(z, 0, z.Len(), false), all)
	backwards := collect(z, z.Len()-1, z.Len(), true)
	slices.Reverse(backwards)
	same(t, "members backwards", backwards, all)
	for i, want := range all {
		rank, score, ok := z.Rank([]byte(want.Member))
		if !ok || rank != i || score != want.Score {
			t.Fatalf("Rank(%q) = %d, %v, %v; want %d, %v", want.Member, rank, score, ok, i, want.Score)
		}
		if member, score := z.At(i); string(member) != want.Member || score != want.Score {
			t.Fatalf("At(%d) = %q, %v; want %v", i, member, score, want)
		}
		if score, ok := z.Score([]byte(want.Member)); !ok || score != want.Score {
			t.Fatalf("Score(%q) = %v, %v; want %v", want.Member, score, ok, want.Score)
		}
	}
	seen := map[string]bool{}
	for cursor := uint64(0); ; {
		if cursor = z.Scan(cursor, func(member, _ []byte) { seen[string(member)] = true }); cursor == 0 {
			break
		}
	}
	same(t, "members scanned", slices.Sorted(maps.Keys(seen)), slices.Sorted(maps.Keys(model)))
	if z.pack == nil {
		checkSkiplist(t, z.list)
	} else if err := listpack.Validate(z.pack.Bytes()); err != nil {
		t.Fatal(err)
	}
}

func TestLexSpanAgainstMap(t *testing.T) {
	bound := rapid.Custom(func(t *rapid.T) LexBound {
		if infinite := rapid.IntRange(-1, 1).Draw(t, "infinite"); infinite != 0 {
			return LexBound{Infinite: infinite, Exclusive: true}
		}
		return LexBound{Member: someMembers.Draw(t, "bound"), Exclusive: rapid.Bool().Draw(t, "exclusive")}
	})
	rapid.Check(t, func(t *rapid.T) {
		limits := DefaultLimits(version.V7_0)
		limits.ZSetMaxListpackEntries = rapid.SampledFrom([]int{0, 128}).Draw(t, "zset-max-listpack-entries")
		z, model := NewZSet(&limits), zsetModel{}
		for _, member := range rapid.SliceOf(someMembers).Draw(t, "members") {
			z.Add([]byte(member), 1, AddOptions{})
			model[member] = 1
		}
		r := LexRange{bound.Draw(t, "min"), bound.Draw(t, "max")}
		want := model.where(func(s scored) bool {
			above := r.Min.Infinite < 0 || r.Min.Infinite == 0 &&
				(s.Member > r.Min.Member || s.Member == r.Min.Member && !r.Min.Exclusive)
			below := r.Max.Infinite > 0 || r.Max.Infinite == 0 &&
				(s.Member < r.Max.Member || s.Member == r.Max.Member && !r.Max.Exclusive)
			return above && below
		})
		for _, reverse := range []bool{false, true} {
			start, n := z.LexSpan(r, reverse, 0)
			same(t, "in range", collect(z, start, n, false), want)
		}
	})
}

// TestSkiplistStaysShallow holds the structure to what it is for: a search in a
// large list passes few nodes, in whatever order they came.
func TestSkiplistStaysShallow(t *testing.T) {
	const n = 100_000
	rng := rand.New(rand.NewPCG(1, 1))
	for name, order := range map[string][]int{"ascending": nil, "shuffled": rng.Perm(n)} {
		l := newSkiplist()
		for i := range n {
			if order != nil {
				i = order[i]
			}
			l.insert("", float64(i))
		}
		passed := 0
		for range 1000 {
			score := float64(rng.IntN(n))
			l.count(func(n *skipNode) bool {
				passed++
				return n.score < score
			})
		}
		if mean := passed / 1000; mean > 60 {
			t.Errorf("%s: a search looks at %d nodes", name, mean)
		}
	}
}

func BenchmarkZSetRank(b *testing.B) {
	limits := DefaultLimits(version.V7_2)
	z := NewZSet(&limits)
	const n = 1_000_000
	members := make([][]byte, n)
	for i := range members {
		members[i] = fmt.Append(nil, "member:", i)
		z.Add(members[i], float64(i%1000), AddOptions{})
	}
	i := 0
	for b.Loop() {
		i = (i + 7919) % n
		if _, _, ok := z.Rank(members[i]); !ok {
			b.Fatal("a member is missing")
		}
	}
}

func BenchmarkZSetAdd(b *testing.B) {
	limits := DefaultLimits(version.V7_2)
	z := NewZSet(&limits)
	rng := rand.New(rand.NewPCG(1, 1))
	b.ReportAllocs()
	var member []byte
	for b.Loop() {
		member = fmt.Append(member[:0], "member:", rng.IntN(100_000))
		z.Add(member, float64(rng.IntN(1000)), AddOptions{})
	}
}
