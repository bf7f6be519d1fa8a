package layoutkit_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fakecluster/fakecluster/layoutkit"
	"github.com/fakecluster/fakecluster/shim"
)

// side is a store in one layout, and what an operation does to it.
type side struct {
	name  string
	x     *target
	store *layoutkit.Store
}

// sides are a cluster and a single server in the Cluster layout, and last one in the
// Legacy layout.
func sides(t *testing.T, servers string) []side {
	var all []side
	for _, name := range []string{"cluster", "single/cluster", "single/legacy"} {
		all = append(all, side{name: name, x: find(t, servers+"/"+name).target(t)})
	}
	return all
}

// outcome is an answer in words. Of an error it is the kind.
func outcome(value any, err error) string {
	for _, known := range []error{layoutkit.ErrInvalid, layoutkit.ErrNotFound, layoutkit.ErrConflict, layoutkit.ErrCorrupt} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	if err != nil {
		return "unexpected: " + err.Error()
	}
	return fmt.Sprintf("%+v", value)
}

// operation is one call on a store, as told by its arguments alone.
type operation func(t testing.TB, s *layoutkit.Store) string

// operations draws an operation on few ids, so that they meet.
func operations(t *rapid.T) operation {
	id := rapid.SampledFrom([]string{"", "a", "b", "a:b", "*", "{x}", "\xff"}).Draw(t, "id")
	other := rapid.SampledFrom([]string{"", "a", "n", "a:b", "\x00"}).Draw(t, "other")
	value := text{rapid.SampledFrom([]string{"", "x", "y \u2028 {}"}).Draw(t, "value")}
	ttl := rapid.SampledFrom([]time.Duration{-1, 0, time.Minute, 10 * time.Minute}).Draw(t, "ttl")
	version := rapid.Int64Range(-1, 3).Draw(t, "version")
	score := rapid.SampledFrom([]float64{-1, 0, 0.5, 0.5, 7}).Draw(t, "score")
	query := layoutkit.Query{Reverse: rapid.Bool().Draw(t, "reverse"), Limit: rapid.IntRange(-1, 4).Draw(t, "limit")}
	if rapid.Bool().Draw(t, "bounded") {
		query.Min, query.Max = new(score-1), new(score)
	}
	switch rapid.IntRange(0, 16).Draw(t, "operation") {
	case 0, 1:
		return func(t testing.TB, s *layoutkit.Store) string {
			return outcome(layoutkit.Messages[text](s).Save(t.Context(), id, layoutkit.Message[text]{Member: other, Score: score, Value: value}))
		}
	case 2:
		return func(t testing.TB, s *layoutkit.Store) string {
			return outcome(layoutkit.Messages[text](s).Get(t.Context(), id, other))
		}
	case 3:
		return func(t testing.TB, s *layoutkit.Store) string {
			return outcome(layoutkit.Messages[text](s).Delete(t.Context(), id, other))
		}
	case 4:
		return func(t testing.TB, s *layoutkit.Store) string {
			return outcome(layoutkit.Messages[text](s).DeleteChat(t.Context(), id))
		}
	case 5, 6:
		return func(t testing.TB, s *layoutkit.Store) string {
			first, err := layoutkit.Messages[text](s).Page(t.Context(), id, query)
			after := query
			after.After = first.Next
			second, err2 := layoutkit.Messages[text](s).Page(t.Context(), id, after)
			return outcome(first, err) + outcome(second, err2)
		}
	case 7:
		return func(t testing.TB, s *layoutkit.Store) string {
			return outcome(layoutkit.Chats[text](s).Put(t.Context(), id, value))
		}
	case 8:
		return func(t testing.TB, s *layoutkit.Store) string {
			return outcome(layoutkit.Contacts[text](s).CompareAndSet(t.Context(), id, version, value))
		}
	case 9:
		return func(t testing.TB, s *layoutkit.Store) string {
			return outcome(layoutkit.Contacts[text](s).Delete(t.Context(), id)) + outcome(layoutkit.Chats[text](s).Get(t.Context(), id))
		}
	case 10, 11:
		return func(t testing.TB, s *layoutkit.Store) string {
			return outcome(layoutkit.Checkpoints[text](s).Put(t.Context(), id, value, ttl))
		}
	case 12:
		return func(t testing.TB, s *layoutkit.Store) string {
			return outcome(layoutkit.Checkpoints[text](s).Clear(t.Context(), id))
		}
	case 13:
		return func(t testing.TB, s *layoutkit.Store) string {
			return outcome(layoutkit.Conversations[text](s).CompareAndSet(t.Context(), id, version, value, ttl))
		}
	case 14:
		return func(t testing.TB, s *layoutkit.Store) string {
			return outcome(layoutkit.Cursors[text](s).Put(t.Context(), id, value, ttl))
		}
	case 15:
		return func(t testing.TB, s *layoutkit.Store) string {
			return outcome(nil, layoutkit.UserData[text](s, other).User(id).Put(t.Context(), id+other, value, ttl))
		}
	default:
		return func(t testing.TB, s *layoutkit.Store) string {
			return outcome(layoutkit.UserData[text](s, other).User(id).Delete(t.Context(), id+other))
		}
	}
}

// everything is all that a store answers when it is asked for what it holds.
func everything(t testing.TB, s *layoutkit.Store) string {
	var lines []string
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	ctx := t.Context()
	for name, list := range map[string]map[string]layoutkit.Record[text]{
		"chat":       listed(t, layoutkit.Chats[text](s).List(ctx)),
		"contact":    listed(t, layoutkit.Contacts[text](s).List(ctx)),
		"checkpoint": listed(t, layoutkit.Checkpoints[text](s).List(ctx)),
	} {
		for id, r := range list {
			say("%s %q %+v", name, id, r)
		}
	}
	for id := range ids(t, layoutkit.Checkpoints[text](s).IDs(ctx)) {
		say("checkpoint id %q %s", id, outcome(layoutkit.Checkpoints[text](s).Get(ctx, id)))
	}
	for _, id := range []string{"a", "b", "a:b", "*", "{x}", "\xff"} {
		say("conversation %s", outcome(layoutkit.Conversations[text](s).Get(ctx, id)))
		say("cursor %s", outcome(layoutkit.Cursors[text](s).Get(ctx, id)))
		say("messages %s %s", outcome(layoutkit.Messages[text](s).Count(ctx, id)), outcome(layoutkit.Messages[text](s).Page(ctx, id, layoutkit.Query{})))
		for _, namespace := range []string{"a", "n", "a:b", "\x00"} {
			for _, key := range slices.Sorted(maps.Keys(keysOf(t, layoutkit.UserData[text](s, namespace).User(id)))) {
				say("user data %q %q %q %s", id, namespace, key, outcome(layoutkit.UserData[text](s, namespace).User(id).Get(ctx, key)))
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// Both layouts, on a cluster and on a single server, give the same answers to the
// same operations; and at all times the indexes say of each key when it expires.
func TestLayoutsAgree(t *testing.T) {
	t.Run("emulator", func(t *testing.T) {
		all := sides(t, "emulator")
		// What was written for one or ten minutes is far from its end after any number
		// of these.
		passes := rapid.SampledFrom([]time.Duration{0, 0, 0, 0, 0, time.Millisecond, 61 * time.Second, time.Hour})
		rapid.Check(t, func(r *rapid.T) {
			agree(t, r, all, func() {
				d := passes.Draw(r, "time passes")
				for _, s := range all {
					s.x.emulator.Advance(d)
				}
			})
		})
	})
	t.Run("real", func(t *testing.T) {
		all := sides(t, "real")
		rapid.Check(t, func(r *rapid.T) { agree(t, r, all, func() {}) })
	})
}

func (s side) String() string { return s.name }

// same fails unless all answer alike; what is what they do.
func same[S fmt.Stringer](r *rapid.T, all []S, what string, ask func(S) string) {
	want := ask(all[0])
	for _, s := range all[1:] {
		if got := ask(s); got != want {
			r.Fatalf("%v %s\n%s\n%v\n%s", s, what, got, all[0], want)
		}
	}
}

// agree runs operations on all sides, each after between.
func agree(t *testing.T, r *rapid.T, all []side, between func()) {
	for i := range all {
		all[i].x.prefix = freshPrefix()
		all[i].store = all[i].x.store(t)
	}
	for range rapid.IntRange(1, 30).Draw(r, "operations") {
		between()
		do := operations(r)
		same(r, all, "answers", func(s side) string { return do(t, s.store) })
	}
	for _, s := range all[:2] {
		indexesAgree(t, r, s.x)
	}
	same(r, all, "holds", func(s side) string { return everything(t, s.store) })
	for _, s := range all {
		if _, err := shim.DeleteMatching(t.Context(), s.x.client, s.x.prefix+":*"); err != nil {
			t.Fatal(err)
		}
	}
}

// indexesAgree checks that each record is in its index, scored with its expiry, and
// nothing else that has not expired.
func indexesAgree(t *testing.T, r *rapid.T, x *target) {
	type entry struct{ index, member string }
	ctx := t.Context()
	indexes, keys := map[entry]int64{}, map[entry]int64{} // expiry, Unix ms; -1 for never
	for _, key := range x.keys(t) {
		tag, rest, _ := strings.Cut(key, "}:")
		index := tag + "}:idx"
		kind, _, _ := strings.Cut(strings.TrimPrefix(tag, "{"), ":")
		switch {
		case rest == "idx":
			for _, z := range need(x.client.ZRangeWithScores(ctx, x.key(key), 0, -1).Result())(t) {
				indexes[entry{index, z.Member.(string)}] = -1
				if z.Score != inf {
					indexes[entry{index, z.Member.(string)}] = int64(z.Score)
				}
			}
		case kind == "ch", kind == "ct", kind == "cp", kind == "ud":
			expiry := need(x.client.PExpireTime(ctx, x.key(key)).Result())(t)
			if expiry > 0 {
				expiry /= time.Millisecond
			}
			keys[entry{index, memberOf(kind, rest)}] = int64(expiry)
		}
	}
	now := need(x.client.Time(ctx).Result())(t).UnixMilli()
	maps.DeleteFunc(indexes, func(_ entry, expiry int64) bool { return expiry >= 0 && expiry < now })
	if !maps.Equal(indexes, keys) {
		r.Fatalf("the indexes say\n%v\nthe keys\n%v", indexes, keys)
	}
}

// memberOf is the member of an index that a key's end belongs to. Only the members
// of user data are written as in the key.
func memberOf(kind, rest string) string {
	_, segments, _ := strings.Cut(rest, ":")
	if kind == "ud" {
		return segments
	}
	return map[string]string{"a": "a", "b": "b", "a%3Ab": "a:b", "%2A": "*", "%7Bx%7D": "{x}", "%FF": "\xff"}[segments]
}
