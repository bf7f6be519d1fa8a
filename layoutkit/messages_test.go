package layoutkit_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/layoutkit"
)

func TestMessages(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		s, ctx := x.store(t), t.Context()
		messages := layoutkit.Messages[text](s)
		for i, chat := range manyIDs()[:20] {
			for j, member := range manyIDs()[:20] {
				m := layoutkit.Message[text]{Member: member, Score: float64(j) / 3, Value: text{fmt.Sprint(i, j)}}
				if !need(messages.Save(ctx, chat, m))(t) {
					t.Fatalf("message %q of chat %q was there", member, chat)
				}
				if got := need(messages.Get(ctx, chat, member))(t); got != m {
					t.Fatalf("got %v, want %v", got, m)
				}
			}
			if n := need(messages.Count(ctx, chat))(t); n != 20 {
				t.Fatalf("chat %q has %d messages", chat, n)
			}
		}

		const chat, member = "*", "a:b"
		before := need(messages.Get(ctx, chat, member))(t)
		if need(messages.Save(ctx, chat, layoutkit.Message[text]{Member: member, Score: 99, Value: text{"again"}}))(t) {
			t.Fatal("a member was saved twice")
		}
		if got := need(messages.Get(ctx, chat, member))(t); got != before {
			t.Fatalf("saving again changed %v to %v", before, got)
		}

		if !need(messages.Delete(ctx, chat, member))(t) || need(messages.Delete(ctx, chat, member))(t) {
			t.Fatal("a message must be deleted once")
		}
		_, err := messages.Get(ctx, chat, member)
		isError(t, err, layoutkit.ErrNotFound)
		if n := need(messages.Count(ctx, chat))(t); n != 19 {
			t.Fatalf("%d messages are left", n)
		}
		if n := need(messages.Count(ctx, "nobody's"))(t); n != 0 {
			t.Fatalf("a chat without messages has %d", n)
		}
	})
}

// pages reads a whole log in pages, and checks that only the last is not full.
func pages(t testing.TB, messages layoutkit.MessageLogs[text], chat string, q layoutkit.Query) (all []string) {
	t.Helper()
	for {
		page := need(messages.Page(t.Context(), chat, q))(t)
		for _, m := range page.Messages {
			all = append(all, m.Member)
		}
		if page.Next == "" {
			return all
		}
		if len(page.Messages) != q.Limit {
			t.Fatalf("a page of %d messages instead of %d has another behind it", len(page.Messages), q.Limit)
		}
		q.After = page.Next
	}
}

// The log is by score and then by the bytes of the members, and pages of any size
// in any direction are parts of it.
func TestPages(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		ctx, messages := t.Context(), layoutkit.Messages[text](x.store(t))
		type entry struct {
			score  float64
			member string
		}
		var log []entry
		for i, score := range []float64{-1e300, -2, 0, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 1733000000123.5, 1e300} {
			member := []string{"B", "a", "", "ñ", "\xff", "Z", "aa", "\x00", "É", "~", "é"}[i]
			log = append(log, entry{score, fmt.Sprintf("%s%d", member, i)})
		}
		for _, i := range rand.Perm(len(log)) {
			need(messages.Save(ctx, "c", layoutkit.Message[text]{Member: log[i].member, Score: log[i].score}))(t)
		}
		slices.SortFunc(log, func(a, b entry) int {
			if a.score != b.score {
				return int(max(-1, min(1, a.score-b.score)) * 10)
			}
			return strings.Compare(a.member, b.member)
		})
		within := func(q layoutkit.Query) (members []string) {
			for _, e := range log {
				if (q.Min == nil || e.score >= *q.Min) && (q.Max == nil || e.score <= *q.Max) {
					members = append(members, e.member)
				}
			}
			if q.Reverse {
				slices.Reverse(members)
			}
			return members
		}
		bounds := []*float64{nil, new(-2.0), new(0.1), new(0.05), new(1e300), new(-inf), new(inf)}
		for _, limit := range []int{1, 2, 3, 11, 12} {
			for _, reverse := range []bool{false, true} {
				for _, least := range bounds {
					for _, most := range bounds {
						q := layoutkit.Query{Reverse: reverse, Min: least, Max: most, Limit: limit}
						if got, want := pages(t, messages, "c", q), within(q); !slices.Equal(got, want) {
							t.Fatalf("%+v: %q, want %q", q, got, want)
						}
					}
				}
			}
		}
	})
}

// A cursor holds its place when the message it stands behind is deleted and others
// come, and it turns around there.
func TestCursorHoldsItsPlace(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		ctx, messages := t.Context(), layoutkit.Messages[text](x.store(t))
		save := func(member string, score float64) {
			need(messages.Save(ctx, "c", layoutkit.Message[text]{Member: member, Score: score}))(t)
		}
		for i := range 10 {
			save(fmt.Sprintf("m%d", i), 7)
		}
		page := need(messages.Page(ctx, "c", layoutkit.Query{Limit: 4}))(t)
		need(messages.Delete(ctx, "c", "m3"))(t)
		save("m2b", 7)
		save("m3b", 7)
		save("before", 6)
		save("behind", 8)
		members := func(p layoutkit.Page[text]) (all []string) {
			for _, m := range p.Messages {
				all = append(all, m.Member)
			}
			return all
		}
		up := members(need(messages.Page(ctx, "c", layoutkit.Query{After: page.Next, Limit: 3}))(t))
		if want := []string{"m3b", "m4", "m5"}; !slices.Equal(up, want) {
			t.Errorf("up %q, want %q", up, want)
		}
		down := members(need(messages.Page(ctx, "c", layoutkit.Query{After: page.Next, Limit: 2, Reverse: true}))(t))
		if want := []string{"m2b", "m2"}; !slices.Equal(down, want) {
			t.Errorf("down %q, want %q", down, want)
		}
	})
}

func TestPageDefaults(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		ctx, messages := t.Context(), layoutkit.Messages[text](x.store(t))
		if p := need(messages.Page(ctx, "c", layoutkit.Query{}))(t); len(p.Messages) != 0 || p.Next != "" {
			t.Fatalf("an empty chat has the page %v", p)
		}
		for i := range 101 {
			need(messages.Save(ctx, "c", layoutkit.Message[text]{Member: fmt.Sprint(i), Score: float64(i)}))(t)
		}
		p := need(messages.Page(ctx, "c", layoutkit.Query{}))(t)
		if len(p.Messages) != 100 || p.Next == "" {
			t.Fatalf("a page of %d messages, next %q", len(p.Messages), p.Next)
		}
		p = need(messages.Page(ctx, "c", layoutkit.Query{After: p.Next}))(t)
		if len(p.Messages) != 1 || p.Next != "" {
			t.Fatalf("a page of %d messages, next %q", len(p.Messages), p.Next)
		}
	})
}

// DeleteChat deletes what is there, in several batches, and nothing else.
func TestDeleteChat(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		s, ctx := x.store(t), t.Context()
		messages, chats := layoutkit.Messages[text](s), layoutkit.Chats[text](s)
		const chat, neighbour, count = "c", "c:1", 2500
		pipe := x.client.Pipeline()
		for i := range count {
			member := fmt.Sprintf("m%d", i)
			log, item := x.key("{m:c}:z"), x.key("{m:c}:i:"+member)
			if x.layout == layoutkit.Legacy {
				log, item = x.key("msg:c"), x.key("msg:c:"+member)
			}
			pipe.ZAdd(ctx, log, redis.Z{Score: float64(i), Member: member})
			pipe.Set(ctx, item, `c {"Text":"x"}`, 0)
		}
		need(pipe.Exec(ctx))(t)
		need(chats.Put(ctx, chat, text{}))(t)
		need(chats.Put(ctx, neighbour, text{}))(t)
		need(messages.Save(ctx, neighbour, layoutkit.Message[text]{Member: "m1"}))(t)
		if n := need(messages.Count(ctx, chat))(t); n != count {
			t.Fatalf("%d messages", n)
		}

		if n := need(messages.DeleteChat(ctx, chat))(t); n != count {
			t.Fatalf("deleted %d messages", n)
		}
		_, err := chats.Get(ctx, chat)
		isError(t, err, layoutkit.ErrNotFound)
		want := []string{"{ch:11}:idx", "{ch:11}:r:c%3A1", "{m:c%3A1}:i:m1", "{m:c%3A1}:z"}
		if x.layout == layoutkit.Legacy {
			want = []string{"chat:c%3A1", "msg:c%3A1", "msg:c%3A1:m1"}
		}
		if got := x.keys(t); !slices.Equal(got, want) {
			t.Fatalf("%q is left, want %q", got, want)
		}
		if n := need(messages.DeleteChat(ctx, chat))(t); n != 0 {
			t.Fatalf("deleted %d messages of no chat", n)
		}
	})
}
