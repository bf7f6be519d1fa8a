package layoutkit_test

// These tests change the topology under everybody's feet, so they are the last of
// the package.

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/layoutkit"
)

// breath is what a worker leaves to the cluster, which shares its processors.
const breath = 2 * time.Millisecond

// ledger is what is known of records that are written and deleted.
type ledger struct {
	mu      sync.Mutex
	records map[string]known
}

type known struct {
	changes       int
	present, busy bool
}

// change notes a change of a record from its beginning to its end.
func (l *ledger) change(id string, present bool, do func() error) error {
	l.set(id, func(k *known) { k.changes++; k.busy = true })
	err := do()
	l.set(id, func(k *known) { k.present, k.busy = present, false })
	return err
}

func (l *ledger) set(id string, f func(*known)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.records[id]
	f(&k)
	l.records[id] = k
}

func (l *ledger) now() map[string]known {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.records)
}

// listing is something that is listed, and how it is changed.
type listing struct {
	name   string
	put    func(ctx context.Context, id string) error
	remove func(ctx context.Context, id string) error
	list   func(ctx context.Context) iter.Seq2[string, error]
	ledger ledger
}

// exact compares one list with what was known before and after it.
func (l *listing) exact(t *testing.T) {
	before := l.ledger.now()
	found := map[string]bool{}
	for id, err := range l.list(t.Context()) {
		if err != nil {
			t.Errorf("listing %s: %v", l.name, err)
			return
		}
		if found[id] {
			t.Errorf("%s: %q was listed twice", l.name, id)
		}
		found[id] = true
	}
	after := l.ledger.now()
	for id, k := range before {
		if k == after[id] && !k.busy && found[id] != k.present {
			t.Errorf("%s: %q is there: %v, was listed: %v", l.name, id, k.present, found[id])
		}
	}
	for id := range found {
		if _, ever := after[id]; !ever {
			t.Errorf("%s: %q was listed, but never written", l.name, id)
		}
	}
}

// churn writes and deletes some records over and over.
func (l *listing) churn(t *testing.T, ctx context.Context, worker int) {
	for i := 0; ctx.Err() == nil; i++ {
		id, present := fmt.Sprintf("churn-%d-%d", worker, i%10), i/10%2 == 0
		do := l.put
		if !present {
			do = l.remove
		}
		if err := l.ledger.change(id, present, func() error { return do(t.Context(), id) }); err != nil {
			t.Errorf("%s: %v", l.name, err)
			return
		}
		time.Sleep(breath)
	}
}

// valuesOf are the ids of the records that a list yields with values.
func valuesOf(list iter.Seq2[layoutkit.Record[text], error]) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for r, err := range list {
			if !yield(r.ID, err) {
				return
			}
		}
	}
}

func listings(s *layoutkit.Store) []*listing {
	chats, contacts, checkpoints := layoutkit.Chats[text](s), layoutkit.Contacts[text](s), layoutkit.Checkpoints[text](s)
	user := layoutkit.UserData[text](s, "n").User("u")
	return []*listing{
		{
			name:   "chats",
			put:    func(ctx context.Context, id string) error { _, err := chats.Put(ctx, id, text{}); return err },
			remove: func(ctx context.Context, id string) error { _, err := chats.Delete(ctx, id); return err },
			list:   func(ctx context.Context) iter.Seq2[string, error] { return valuesOf(chats.List(ctx)) },
		},
		{
			name:   "contacts",
			put:    func(ctx context.Context, id string) error { _, err := contacts.Put(ctx, id, text{}); return err },
			remove: func(ctx context.Context, id string) error { _, err := contacts.Delete(ctx, id); return err },
			list:   contacts.IDs,
		},
		{
			name: "checkpoints",
			put: func(ctx context.Context, id string) error {
				_, err := checkpoints.Put(ctx, id, text{}, time.Hour)
				return err
			},
			remove: func(ctx context.Context, id string) error { _, err := checkpoints.Clear(ctx, id); return err },
			list:   func(ctx context.Context) iter.Seq2[string, error] { return valuesOf(checkpoints.List(ctx)) },
		},
		{
			name:   "user data",
			put:    func(ctx context.Context, id string) error { return user.Put(ctx, id, text{}, time.Hour) },
			remove: func(ctx context.Context, id string) error { _, err := user.Delete(ctx, id); return err },
			list: func(ctx context.Context) iter.Seq2[string, error] {
				return func(yield func(string, error) bool) {
					for e, err := range user.List(ctx) {
						if !yield(e.Key, err) {
							return
						}
					}
				}
			},
		},
	}
}

// Lists are exact while their slots move and masters fail over, and records are
// written and deleted.
func TestChaosListings(t *testing.T) {
	eachChaos(t, func(t *testing.T, x *target, y *topology) {
		all := listings(x.store(t))
		for _, l := range all {
			l.ledger.records = map[string]known{}
			for i := range 200 {
				id := fmt.Sprint("stays-", i)
				noError(t, l.ledger.change(id, true, func() error { return l.put(t.Context(), id) }))
			}
		}
		var moving []string
		for b := range layoutkit.Buckets {
			moving = append(moving, fmt.Sprintf("{ch:%d}", b), fmt.Sprintf("{ct:%d}", b), fmt.Sprintf("{cp:%d}", b))
			moving = append(moving, "{ud:u}") // a third of the moves
		}

		ctx, cancel := context.WithCancel(t.Context())
		var load sync.WaitGroup
		var lists atomic.Int64
		for i, l := range all {
			load.Go(func() { l.churn(t, ctx, i) })
			load.Go(func() {
				for ctx.Err() == nil && !t.Failed() {
					l.exact(t)
					lists.Add(1)
					time.Sleep(breath)
				}
			})
		}
		moves, failovers := disturb(t, y, x.slotsOf(moving...))
		cancel()
		load.Wait()
		for _, l := range all {
			l.exact(t)
		}
		t.Logf("%d lists; %d moves, %d failovers", lists.Load(), moves, failovers)
		if lists.Load() < int64(len(all)) {
			t.Error("nothing was listed meanwhile")
		}
	})
}

// No message that was acknowledged is lost, and the log has each once and in order.
func TestChaosMessages(t *testing.T) {
	eachChaos(t, func(t *testing.T, x *target, y *topology) {
		messages := layoutkit.Messages[text](x.store(t))
		chats := []string{"a", "b", "c"}
		saved := make([]atomic.Int64, len(chats))
		ctx, cancel := context.WithCancel(t.Context())
		var load sync.WaitGroup
		for range 3 {
			for i, chat := range chats {
				load.Go(func() {
					for ctx.Err() == nil {
						n := saved[i].Add(1)
						m := layoutkit.Message[text]{Member: fmt.Sprintf("m%06d", n), Score: float64(n)}
						if isNew, err := messages.Save(t.Context(), chat, m); err != nil || !isNew {
							t.Errorf("saving: new is %v, %v", isNew, err)
							return
						}
						time.Sleep(breath)
					}
				})
			}
		}
		moves, failovers := disturb(t, y, x.slotsOf("{m:a}", "{m:b}", "{m:c}"))
		cancel()
		load.Wait()
		for i, chat := range chats {
			var want []string
			for n := range saved[i].Load() {
				want = append(want, fmt.Sprintf("m%06d", n+1))
			}
			if got := pages(t, messages, chat, layoutkit.Query{Limit: 1000}); !slices.Equal(got, want) {
				t.Errorf("chat %s has %d messages, %d were acknowledged", chat, len(got), len(want))
			}
		}
		t.Logf("%d messages; %d moves, %d failovers", saved[0].Load()+saved[1].Load()+saved[2].Load(), moves, failovers)
	})
}

// DeleteChat deletes all that was there when it began; what is saved while it runs
// is there with item and log entry, or with neither; and what is saved after it has
// begun to delete is there.
func TestChaosDeleteChat(t *testing.T) {
	eachChaos(t, func(t *testing.T, x *target, y *topology) {
		s := x.store(t)
		ctx, cancel := context.WithCancel(t.Context())
		var load sync.WaitGroup
		var rounds, survived atomic.Int64
		for _, chat := range []string{"a", "b"} {
			load.Go(func() {
				for ctx.Err() == nil && !t.Failed() {
					survived.Add(deleteWhileSaved(t, x, s, chat))
					rounds.Add(1)
				}
			})
		}
		moves, failovers := disturb(t, y, x.slotsOf("{m:a}", "{m:b}"))
		cancel()
		load.Wait()
		t.Logf("%d chats deleted, %d messages saved meanwhile; %d moves, %d failovers", rounds.Load(), survived.Load(), moves, failovers)
		if survived.Load() == 0 {
			t.Error("nothing was saved while a chat was deleted")
		}
	})
}

// deleteWhileSaved deletes a chat of several batches while others save messages, and
// returns how many of these had to stay.
func deleteWhileSaved(t *testing.T, x *target, s *layoutkit.Store, chat string) (survived int64) {
	const before, savers = 2100, 3
	messages, chats, ctx := layoutkit.Messages[text](s), layoutkit.Chats[text](s), t.Context()
	if _, err := chats.Put(ctx, chat, text{}); err != nil {
		t.Error(err)
		return 0
	}
	old := make([]string, before)
	var fill sync.WaitGroup
	for i := range old {
		old[i] = fmt.Sprintf("old%d", i)
	}
	for part := range slices.Chunk(old, before/10) {
		fill.Go(func() {
			for _, member := range part {
				if _, err := messages.Save(ctx, chat, layoutkit.Message[text]{Member: member, Score: -1}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	fill.Wait()

	var begun atomic.Bool // to delete
	deleted := make(chan error, 1)
	over := make(chan struct{})
	go func() {
		n, err := messages.DeleteChat(ctx, chat)
		if err == nil && n < before {
			err = fmt.Errorf("deleted %d of %d messages", n, before)
		}
		deleted <- err
		close(over)
	}()
	var saving sync.WaitGroup
	saving.Go(func() {
		for !isClosed(over) {
			if _, err := messages.Get(ctx, chat, old[0]); errors.Is(err, layoutkit.ErrNotFound) {
				begun.Store(true)
				return
			}
		}
	})
	var mu sync.Mutex
	mustStay := map[string]bool{} // by member that was saved meanwhile
	for saver := range savers {
		saving.Go(func() {
			for i := 0; !isClosed(over); i++ {
				member, stays := fmt.Sprintf("new%d-%d", saver, i), begun.Load()
				if _, err := messages.Save(ctx, chat, layoutkit.Message[text]{Member: member, Score: float64(i%3 - 2)}); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				mustStay[member] = stays
				mu.Unlock()
				time.Sleep(breath / 4)
			}
		})
	}
	saving.Wait()
	if err := <-deleted; err != nil {
		t.Error(err)
		return 0
	}
	if _, err := chats.Get(ctx, chat); !errors.Is(err, layoutkit.ErrNotFound) {
		t.Errorf("the chat's record: %v", err)
	}

	halves := x.halves(t, chat, slices.Concat(old, slices.Collect(maps.Keys(mustStay))))
	for _, member := range old {
		if halves[member] != (half{}) {
			t.Errorf("the old message %s is left: %+v", member, halves[member])
		}
	}
	for member, stays := range mustStay {
		if h := halves[member]; h.item != h.entry || stays && !h.item {
			t.Errorf("the message %s, which must stay: %v, is left as %+v", member, stays, h)
		}
		if stays {
			survived++
		}
	}
	if _, err := messages.DeleteChat(ctx, chat); err != nil {
		t.Error(err)
	}
	return survived
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// half is what is there of a message.
type half struct{ item, entry bool }

// halves reads the keys of messages past the kit.
func (x *target) halves(t *testing.T, chat string, members []string) map[string]half {
	ctx := t.Context()
	log, err := x.client.ZRange(ctx, x.key("{m:"+chat+"}:z"), 0, -1).Result()
	if err != nil {
		t.Error(err)
	}
	found := map[string]half{}
	for part := range slices.Chunk(members, 500) {
		pipe := x.client.Pipeline()
		for _, member := range part {
			pipe.Exists(ctx, x.key("{m:"+chat+"}:i:"+member))
		}
		cmds, err := pipe.Exec(ctx)
		if err != nil {
			t.Error(err)
		}
		for i, cmd := range cmds {
			if n, _ := cmd.(*redis.IntCmd).Result(); n == 1 {
				found[part[i]] = half{item: true}
			}
		}
	}
	for _, member := range log {
		h := found[member]
		h.entry = true
		found[member] = h
	}
	return found
}
