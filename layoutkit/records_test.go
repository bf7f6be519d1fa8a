package layoutkit_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/layoutkit"
	"github.com/fakecluster/fakecluster/shim"
	"github.com/fakecluster/fakecluster/slots"
)

var inf = math.Inf(1)

// listed is what a list yields, by id. An id twice is a failure.
func listed(t testing.TB, list iter.Seq2[layoutkit.Record[text], error]) map[string]layoutkit.Record[text] {
	t.Helper()
	found := map[string]layoutkit.Record[text]{}
	for r, err := range list {
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := found[r.ID]; twice {
			t.Fatalf("%q was listed twice", r.ID)
		}
		found[r.ID] = r
	}
	return found
}

func ids(t testing.TB, list iter.Seq2[string, error]) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for id, err := range list {
		if err != nil {
			t.Fatal(err)
		}
		if found[id] {
			t.Fatalf("%q was listed twice", id)
		}
		found[id] = true
	}
	return found
}

// manyIDs are ids of all sorts, in all buckets.
func manyIDs() []string {
	all := []string{" ", "*", "a:b", "{", "}", "{m:a}", "ñ", "日本", "\xff", "\x00", "[a-z]", `\`, "%", "%41", strings.Repeat("x", 5000)}
	for i := range 100 {
		all = append(all, fmt.Sprintf("id-%d", i))
	}
	return all
}

func TestRecords(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		s := x.store(t)
		for name, records := range map[string]layoutkit.Records[text]{
			"chats": layoutkit.Chats[text](s), "contacts": layoutkit.Contacts[text](s),
		} {
			t.Run(name, func(t *testing.T) { testRecords(t, records) })
		}
	})
}

func testRecords(t *testing.T, records layoutkit.Records[text]) {
	ctx := t.Context()
	if got := listed(t, records.List(ctx)); len(got) > 0 {
		t.Fatalf("there already is %v", got)
	}
	want := map[string]layoutkit.Record[text]{}
	wantIDs := map[string]bool{}
	for _, id := range manyIDs() {
		if v := need(records.Put(ctx, id, text{"first"}))(t); v != 1 {
			t.Fatalf("first version of %q is %d", id, v)
		}
		want[id] = layoutkit.Record[text]{ID: id, Version: 1, Value: text{"first"}}
		wantIDs[id] = true
		if got := need(records.Get(ctx, id))(t); got != want[id] {
			t.Fatalf("got %v, want %v", got, want[id])
		}
	}
	if got := listed(t, records.List(ctx)); !maps.Equal(got, want) {
		t.Fatalf("listed %v\nwant %v", got, want)
	}
	if got := ids(t, records.IDs(ctx)); !maps.Equal(got, wantIDs) {
		t.Fatalf("listed %v\nwant %v", got, wantIDs)
	}

	const id = "a:b"
	if v := need(records.Put(ctx, id, text{"second"}))(t); v != 2 {
		t.Fatalf("second version is %d", v)
	}
	_, err := records.CompareAndSet(ctx, id, 1, text{"late"})
	isError(t, err, layoutkit.ErrConflict)
	_, err = records.CompareAndSet(ctx, id, 0, text{"new"})
	isError(t, err, layoutkit.ErrConflict)
	if v := need(records.CompareAndSet(ctx, id, 2, text{"third"}))(t); v != 3 {
		t.Fatalf("third version is %d", v)
	}
	_, err = records.CompareAndSet(ctx, "not there", 1, text{"late"})
	isError(t, err, layoutkit.ErrConflict)
	if got, want := need(records.Get(ctx, id))(t), (layoutkit.Record[text]{ID: id, Version: 3, Value: text{"third"}}); got != want {
		t.Fatalf("got %v, want %v", got, want)
	}

	if !need(records.Delete(ctx, id))(t) || need(records.Delete(ctx, id))(t) {
		t.Fatal("a record must be deleted once")
	}
	_, err = records.Get(ctx, id)
	isError(t, err, layoutkit.ErrNotFound)
	delete(wantIDs, id)
	if got := ids(t, records.IDs(ctx)); !maps.Equal(got, wantIDs) {
		t.Fatalf("listed %v\nwant %v", got, wantIDs)
	}
	if v := need(records.CompareAndSet(ctx, id, 0, text{"new"}))(t); v != 1 {
		t.Fatalf("version after deletion is %d", v)
	}
}

// A prefix and ids may look like patterns to a layout that lists by them.
func TestListsOfPatterns(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		ctx, own, other := t.Context(), x.options(), x.options()
		own.Prefix, other.Prefix = x.prefix+`[ab]*?\`, x.prefix+`ab\`
		s := started(t, own)
		chats, user := layoutkit.Chats[text](s), layoutkit.UserData[text](s, "*").User("[a]")
		need(layoutkit.Chats[text](started(t, other)).Put(ctx, "other", text{}))(t)
		noError(t, layoutkit.UserData[text](started(t, other), "n").User("a").Put(ctx, "other", text{}, 0))
		need(chats.Put(ctx, "*", text{}))(t)
		noError(t, user.Put(ctx, "?", text{}, 0))
		if got := ids(t, chats.IDs(ctx)); !maps.Equal(got, map[string]bool{"*": true}) {
			t.Errorf("chats %v", got)
		}
		if got := keysOf(t, user); !maps.Equal(got, map[string]bool{"?": true}) {
			t.Errorf("user data %v", got)
		}
	})
}

// A list may be left early and begun again.
func TestListIsLeftEarly(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		chats := layoutkit.Chats[text](x.store(t))
		for i := range 5 {
			need(chats.Put(t.Context(), fmt.Sprint(i), text{}))(t)
		}
		list := chats.List(t.Context())
		for range list {
			break
		}
		for range chats.IDs(t.Context()) {
			break
		}
		if got := listed(t, list); len(got) != 5 {
			t.Fatalf("listed %v", got)
		}
	})
}

// Of many that compare and set, one wins each version.
func TestCompareAndSetCounts(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		type count struct{ N int }
		s, ctx := x.store(t), t.Context()
		chats, cursors := layoutkit.Chats[count](s), layoutkit.Cursors[count](s)
		const workers, rounds = 8, 10
		var group sync.WaitGroup
		for range workers {
			group.Go(func() {
				for range rounds {
					for {
						r, err := chats.Get(ctx, "counter")
						if err == nil || errors.Is(err, layoutkit.ErrNotFound) {
							_, err = chats.CompareAndSet(ctx, "counter", r.Version, count{r.Value.N + 1})
						}
						if err == nil {
							break
						}
						if !errors.Is(err, layoutkit.ErrConflict) {
							t.Error(err)
							return
						}
					}
					for {
						r, err := cursors.Get(ctx, "counter")
						if err == nil || errors.Is(err, layoutkit.ErrNotFound) {
							_, err = cursors.CompareAndSet(ctx, "counter", r.Version, count{r.Value.N + 1}, time.Hour)
						}
						if err == nil {
							break
						}
						if !errors.Is(err, layoutkit.ErrConflict) {
							t.Error(err)
							return
						}
					}
				}
			})
		}
		group.Wait()
		want := layoutkit.Record[count]{ID: "counter", Version: workers * rounds, Value: count{workers * rounds}}
		if got := need(chats.Get(ctx, "counter"))(t); got != want {
			t.Errorf("got %v, want %v", got, want)
		}
		if got := need(cursors.Get(ctx, "counter"))(t); got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

func TestCheckpoints(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		ctx, checkpoints := t.Context(), layoutkit.Checkpoints[text](x.store(t))
		want := map[string]bool{}
		for _, id := range manyIDs() {
			need(checkpoints.Put(ctx, id, text{"hour"}, time.Hour))(t)
			want[id] = true
		}
		if v := need(checkpoints.Put(ctx, "a:b", text{"for ever"}, 0))(t); v != 2 {
			t.Fatalf("second version is %d", v)
		}
		if got := ids(t, checkpoints.IDs(ctx)); !maps.Equal(got, want) {
			t.Fatalf("listed %v\nwant %v", got, want)
		}
		if got := listed(t, checkpoints.List(ctx)); len(got) != len(want) || got["*"].Value != (text{"hour"}) {
			t.Fatalf("listed %v", got)
		}
		if got := need(checkpoints.Get(ctx, "a:b"))(t); got.Value != (text{"for ever"}) {
			t.Fatalf("got %v", got)
		}
		if !need(checkpoints.Clear(ctx, "*"))(t) || need(checkpoints.Clear(ctx, "*"))(t) {
			t.Fatal("a checkpoint must be cleared once")
		}
		_, err := checkpoints.Get(ctx, "*")
		isError(t, err, layoutkit.ErrNotFound)
		delete(want, "*")
		if got := ids(t, checkpoints.IDs(ctx)); !maps.Equal(got, want) {
			t.Fatalf("listed %v\nwant %v", got, want)
		}
	})
}

// later lets an hour pass: at once if the servers are emulated. For real ones it is
// the time that the test gave the short-lived.
func (x *target) later(t testing.TB, short time.Duration) {
	if x.emulator != nil {
		x.emulator.Advance(time.Hour)
		return
	}
	select {
	case <-time.After(short + 20*time.Millisecond):
	case <-t.Context().Done():
		t.Fatal(t.Context().Err())
	}
}

// What has expired is neither there nor listed, and what was written again for
// longer is.
func TestExpiry(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		const short, long = 100 * time.Millisecond, 3 * time.Hour
		s, ctx := x.store(t), t.Context()
		checkpoints, user := layoutkit.Checkpoints[text](s), layoutkit.UserData[text](s, "n").User("u")
		conversations := layoutkit.Conversations[text](s)
		for id, ttls := range map[string][]time.Duration{
			"short": {short}, "long": {long}, "ever": {0}, "longer": {short, long}, "shorter": {long, short}, "kept": {short, 0},
			"tiny": {time.Nanosecond},
		} {
			for _, ttl := range ttls {
				need(checkpoints.Put(ctx, id, text{id}, ttl))(t)
				need(conversations.Put(ctx, id, text{id}, ttl))(t)
				noError(t, user.Put(ctx, id, text{id}, ttl))
			}
		}
		x.later(t, short)

		stays := map[string]bool{"long": true, "ever": true, "longer": true, "kept": true}
		for _, id := range []string{"short", "long", "ever", "longer", "shorter", "kept", "tiny"} {
			_, c := checkpoints.Get(ctx, id)
			_, v := conversations.Get(ctx, id)
			_, u := user.Get(ctx, id)
			for _, err := range []error{c, v, u} {
				if stays[id] != (err == nil) || !stays[id] && !errors.Is(err, layoutkit.ErrNotFound) {
					t.Errorf("%q: %v", id, err)
				}
			}
		}
		if got := ids(t, checkpoints.IDs(ctx)); !maps.Equal(got, stays) {
			t.Errorf("checkpoints %v", got)
		}
		if got := listed(t, checkpoints.List(ctx)); len(got) != len(stays) {
			t.Errorf("checkpoints %v", got)
		}
		if got := keysOf(t, user); !maps.Equal(got, stays) {
			t.Errorf("user data %v", got)
		}
		if v := need(checkpoints.Put(ctx, "short", text{}, 0))(t); v != 1 {
			t.Errorf("version after expiry is %d", v)
		}
	})
}

// The index says to the millisecond when a key expires, and forgets it then.
func TestIndexAgreesWithExpiry(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		if x.layout == layoutkit.Legacy {
			return // it has no index, so that nothing can disagree
		}
		s, ctx := x.store(t), t.Context()
		need(layoutkit.Checkpoints[text](s).Put(ctx, "a", text{}, 90*time.Minute))(t)
		noError(t, layoutkit.UserData[text](s, "n").User("u").Put(ctx, "k", text{}, 90*time.Minute))
		for key, index := range map[string]redis.Z{
			"{cp:12}:r:a":  {Member: "{cp:12}:idx", Score: 0},
			"{ud:u}:e:n:k": {Member: "{ud:u}:idx", Score: 0},
		} {
			expiry := need(x.client.PExpireTime(ctx, x.key(key)).Result())(t).Milliseconds()
			entries := need(x.client.ZRangeWithScores(ctx, x.key(index.Member.(string)), 0, -1).Result())(t)
			if len(entries) != 1 || int64(entries[0].Score) != expiry {
				t.Errorf("%s expires at %d, index %v", key, expiry, entries)
			}
			if left := need(x.client.PTTL(ctx, x.key(key)).Result())(t); left < 89*time.Minute || left > 90*time.Minute {
				t.Errorf("%s has %v left", key, left)
			}
		}
	})
}

// Reading takes out of an index what has expired.
func TestIndexIsPruned(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		if x.layout == layoutkit.Legacy {
			return // it has no index
		}
		const short = 100 * time.Millisecond
		s, ctx := x.store(t), t.Context()
		checkpoints, user := layoutkit.Checkpoints[text](s), layoutkit.UserData[text](s, "n").User("u")
		need(checkpoints.Put(ctx, "a", text{}, short))(t)
		noError(t, user.Put(ctx, "k", text{}, short))
		x.later(t, short)
		if got := x.keys(t); len(got) < 2 {
			t.Fatalf("the indexes %q went by themselves: nothing is left to prune", got)
		}
		ids(t, checkpoints.IDs(ctx))
		keysOf(t, user)
		if got := x.keys(t); len(got) != 0 {
			t.Fatalf("%q is left", got)
		}
	})
}

// keysOf are the keys that a user's list yields.
func keysOf(t testing.TB, user layoutkit.User[text]) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for e, err := range user.List(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		if found[e.Key] {
			t.Fatalf("%q was listed twice", e.Key)
		}
		found[e.Key] = true
	}
	return found
}

// A slot may rest halfway between two masters for long. Lists are exact then too.
func TestListsOfAHalfMovedSlot(t *testing.T) {
	x := find(t, "emulator/cluster").target(t)
	client := need(shim.NewCluster(redis.ClusterOptions{Addrs: x.emulator.Addrs(), Dialer: x.emulator.Dialer()},
		shim.Options{Retry: shim.RetryOptions{Attempts: 3, Base: time.Millisecond}}))(t)
	defer client.Close()
	x.client = client
	s, ctx := x.store(t), t.Context()
	chats, messages := layoutkit.Chats[text](s), layoutkit.Messages[text](s)
	user := layoutkit.UserData[text](s, "n").User("u")
	want := map[string]bool{}
	for i := range 200 {
		id := fmt.Sprint(i)
		need(chats.Put(ctx, id, text{}))(t)
		need(messages.Save(ctx, "c", layoutkit.Message[text]{Member: id, Score: float64(i)}))(t)
		noError(t, user.Put(ctx, id, text{}, 0))
		want[id] = true
	}
	for _, tag := range []string{"{ch:12}", "{m:c}", "{ud:u}"} {
		slot := slots.OfString(tag)
		to := x.emulator.Node(0)
		if x.emulator.NodeForSlot(slot) == to {
			to = x.emulator.Node(1)
		}
		m := need(x.emulator.BeginMigration(slot, to))(t)
		need(m.MoveKeys(m.Left() / 2))(t)
	}
	if got := listed(t, chats.List(ctx)); len(got) != len(want) {
		t.Errorf("%d of %d chats were listed", len(got), len(want))
	}
	if got := keysOf(t, user); !maps.Equal(got, want) {
		t.Errorf("%d of %d values of a user were listed", len(got), len(want))
	}
	if got := pages(t, messages, "c", layoutkit.Query{Limit: 90}); len(got) != len(want) {
		t.Errorf("%d of %d messages are in the pages", len(got), len(want))
	}
	// A write that needs keys of both sides waits, and in the end did not run.
	_, err := messages.Save(ctx, "c", layoutkit.Message[text]{Member: "new"})
	var notRun *shim.NotRunError
	if !errors.As(err, &notRun) {
		t.Errorf("saving: %v", err)
	}
}

func TestValues(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		s, ctx := x.store(t), t.Context()
		conversations, cursors := layoutkit.Conversations[text](s), layoutkit.Cursors[text](s)
		for _, id := range manyIDs() {
			need(conversations.Put(ctx, id, text{"conversation"}, 0))(t)
			need(cursors.CompareAndSet(ctx, id, 0, text{"cursor"}, 0))(t)
			if got := need(conversations.Get(ctx, id))(t); got != (layoutkit.Record[text]{ID: id, Version: 1, Value: text{"conversation"}}) {
				t.Fatalf("got %v", got)
			}
			if got := need(cursors.Get(ctx, id))(t); got != (layoutkit.Record[text]{ID: id, Version: 1, Value: text{"cursor"}}) {
				t.Fatalf("got %v", got)
			}
		}
		_, err := cursors.CompareAndSet(ctx, "*", 0, text{}, 0)
		isError(t, err, layoutkit.ErrConflict)
		if v := need(cursors.CompareAndSet(ctx, "*", 1, text{}, time.Hour))(t); v != 2 {
			t.Fatalf("second version is %d", v)
		}
		if left := x.client.PTTL(ctx, x.key("cursor:%2A")).Val(); left <= 59*time.Minute || left > time.Hour {
			t.Fatalf("%v left", left)
		}
		if !need(cursors.Delete(ctx, "*"))(t) || need(cursors.Delete(ctx, "*"))(t) {
			t.Fatal("a cursor must be deleted once")
		}
		_, err = cursors.Get(ctx, "*")
		isError(t, err, layoutkit.ErrNotFound)
	})
}
