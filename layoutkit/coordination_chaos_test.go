package layoutkit_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/layoutkit"
	"github.com/fakecluster/fakecluster/shim"
)

// exclusive is something that one may hold at a time, each time with a greater
// number.
type exclusive struct {
	what   string
	inside atomic.Int32
	mu     sync.Mutex // never waited for, if it is exclusive
	latest int64
	times  int
}

// work is what is done while it is held, until the context ends.
func (e *exclusive) work(t testing.TB, ctx context.Context, number int64) {
	if n := e.inside.Add(1); n != 1 {
		t.Errorf("%s: %d hold it", e.what, n)
	}
	e.mu.Lock()
	if number <= e.latest {
		t.Errorf("%s: number %d after %d", e.what, number, e.latest)
	}
	e.latest = number
	e.times++
	e.mu.Unlock()
	select {
	case <-ctx.Done():
	case <-time.After(2 * time.Millisecond):
	}
	e.inside.Add(-1)
}

// ridden notes the errors of an operation: a cluster in upheaval may cost a reply
// or take longer than the shim waits, and what was held may be lost then, but
// nothing else may happen.
type ridden struct {
	lost, refused, gone atomic.Int64
}

func (r *ridden) note(t testing.TB, err error) (ok bool) {
	var lost *shim.LostReplyError
	var refused *shim.NotRunError
	switch {
	case err == nil:
		return true
	case errors.As(err, &lost):
		r.lost.Add(1)
	case errors.As(err, &refused):
		r.refused.Add(1)
	case errors.Is(err, layoutkit.ErrLost):
		r.gone.Add(1)
	case errors.Is(err, context.Canceled):
	default:
		t.Errorf("an error surfaced: %v", err)
	}
	return false
}

func (r *ridden) String() string {
	return fmt.Sprintf("%d lost replies, %d refused, %d not held any more", r.lost.Load(), r.refused.Load(), r.gone.Load())
}

// Whatever a cluster goes through, if it loses no write: turns, locks and
// leaderships exclude each other, and their numbers only grow.
func TestChaosExclusion(t *testing.T) {
	eachChaos(t, func(t *testing.T, x *target, y *topology) {
		const things, replicas = 4, 4
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		var errs ridden
		var held []*exclusive
		var keys []string
		name := func(what string, i int) *exclusive {
			e := &exclusive{what: fmt.Sprint(what, " ", i)}
			held = append(held, e)
			return e
		}
		var coordinators []*layoutkit.Coordinator
		for i := range replicas {
			coordinators = append(coordinators, x.coordinator(t, layoutkit.CoordinatorOptions{Replica: fmt.Sprint("r", i)}))
		}
		locks := x.store(t).Locks()
		for i := range things {
			id := fmt.Sprint("c", i)
			keys = append(keys, "co:{t:"+id+"}:tix", "{lk:"+id+"}:l", "co:{ld:"+id+"}", fmt.Sprint("co:rep:r", i))
			turns, locked, led := name("turn", i), name("lock", i), name("leader", i)
			for _, c := range coordinators {
				repeat(ctx, &all, func() { oneTurn(t, ctx, c, id, turns, &errs) })
				repeat(ctx, &all, func() { oneLock(t, ctx, locks, id, locked, &errs) })
				repeat(ctx, &all, func() { oneLeadership(t, ctx, c, id, led, &errs) })
			}
		}
		moves, failovers := disturb(t, y, x.slotsOf(keys...))
		cancel()
		all.Wait()
		total := 0
		for _, e := range held {
			if total += e.times; e.times == 0 {
				t.Errorf("nobody ever had %s", e.what)
			}
		}
		t.Logf("held %d times, %d moves, %d failovers; %v", total, moves, failovers, &errs)
	})
}

// repeat calls f in the background until ctx ends.
func repeat(ctx context.Context, all *sync.WaitGroup, f func()) {
	all.Go(func() {
		for ctx.Err() == nil {
			f()
		}
	})
}

func oneTurn(t testing.TB, ctx context.Context, c *layoutkit.Coordinator, chat string, e *exclusive, errs *ridden) {
	turn, err := c.Turn(ctx, chat)
	if !errs.note(t, err) {
		return
	}
	e.work(t, turn.Context(), turn.Fence())
	errs.note(t, turn.Release(context.WithoutCancel(ctx)))
}

func oneLock(t testing.TB, ctx context.Context, locks *layoutkit.Locks, key string, e *exclusive, errs *ridden) {
	lock, err := locks.Wait(ctx, key, time.Minute)
	if !errs.note(t, err) {
		return
	}
	e.work(t, ctx, lock.Fence())
	errs.note(t, lock.Release(context.WithoutCancel(ctx)))
}

func oneLeadership(t testing.TB, ctx context.Context, c *layoutkit.Coordinator, name string, e *exclusive, errs *ridden) {
	leadership, err := c.Campaign(ctx, name)
	if !errs.note(t, err) {
		return
	}
	e.work(t, leadership.Context(), leadership.Term())
	errs.note(t, leadership.Resign(context.WithoutCancel(ctx)))
}

// Whatever a cluster goes through, if it loses no write: no two claims of a schedule
// have the same token, each entry of a journal is acknowledged once, and no entry is
// lost.
func TestChaosClaims(t *testing.T) {
	eachChaos(t, func(t *testing.T, x *target, y *topology) {
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		var errs ridden
		s := x.store(t)
		const workers, ids = 4, 6
		keys := []string{"{durable:inbox}:due"}
		schedules := layoutkit.Schedules[int](s)
		for i := range ids {
			must(t, second(schedules.Put(ctx, fmt.Sprint("s", i), past, i)))
		}
		for bucket := range layoutkit.Buckets {
			keys = append(keys, fmt.Sprintf("{sc:%d}:idx", bucket))
		}
		var tokens, acknowledged sync.Map
		var claims, appended atomic.Int64
		inbox := layoutkit.Inbox[int](s.Durability())
		for i := range workers {
			instance := fmt.Sprint("i", i)
			repeat(ctx, &all, func() { claimDue(t, ctx, schedules, &tokens, &claims, &errs) })
			repeat(ctx, &all, func() { workOff(t, ctx, inbox, instance, &acknowledged, &errs) })
		}
		var sure sync.Map // keys whose Append was confirmed
		repeat(ctx, &all, func() {
			key := fmt.Sprint(appended.Add(1))
			if is, err := inbox.Append(ctx, key, 1); errs.note(t, err) {
				if !is {
					t.Errorf("%s was there", key)
				}
				sure.Store(key, true)
			}
			time.Sleep(time.Millisecond)
		})
		moves, failovers := disturb(t, y, x.slotsOf(keys...))
		cancel()
		all.Wait()
		// What is left is worked off in peace.
		time.Sleep(claimed)
		for left := int64(1); left > 0; {
			workOff(t, t.Context(), inbox, "i0", &acknowledged, &errs)
			count, err := inbox.Count(t.Context())
			must(t, err)
			left = count.Entries
		}
		for key := range sure.Range {
			if _, ok := acknowledged.Load(key); !ok {
				t.Errorf("entry %v was lost", key)
			}
		}
		t.Logf("%d claims of schedules, %d entries, %d moves, %d failovers; %v", claims.Load(), appended.Load(), moves, failovers, &errs)
		if claims.Load() < ids || appended.Load() < 10 {
			t.Error("nothing happened")
		}
	})
}

// perhaps is the attempt of an acknowledgement whose reply was lost.
const perhaps = int64(0)

func second[T any](_ T, err error) error { return err }

// claimed is how long a claim lasts; one that is lost comes again then.
const claimed = 300 * time.Millisecond

func claimDue(t testing.TB, ctx context.Context, schedules layoutkit.ScheduleSet[int], tokens *sync.Map, claims *atomic.Int64, errs *ridden) {
	due, err := schedules.Due(ctx, 10)
	if !errs.note(t, err) {
		return
	}
	for _, s := range due {
		claim, err := schedules.Claim(ctx, s.ID, claimed)
		if errors.Is(err, layoutkit.ErrHeld) || !errs.note(t, err) {
			continue
		}
		claims.Add(1)
		if _, twice := tokens.LoadOrStore(fmt.Sprint(s.ID, " ", claim.Token), true); twice {
			t.Errorf("token %d of %s was given twice", claim.Token, s.ID)
		}
		if claim.Token%2 == 0 {
			errs.note(t, schedules.Reschedule(context.WithoutCancel(ctx), s.ID, claim.Token, past))
		}
	}
	time.Sleep(time.Millisecond)
}

func workOff(t testing.TB, ctx context.Context, inbox layoutkit.Journal[int], instance string, acknowledged *sync.Map, errs *ridden) {
	entries, err := inbox.Claim(ctx, instance, 5, claimed)
	if !errs.note(t, err) {
		return
	}
	for _, e := range entries {
		err := inbox.Acknowledge(context.WithoutCancel(ctx), e)
		lost := new(shim.LostReplyError)
		switch errs.note(t, err); {
		case err == nil:
			if before, twice := acknowledged.Swap(e.Key, e.Attempt); twice && before != perhaps {
				t.Errorf("entry %s was acknowledged twice, in attempts %d and %d", e.Key, before, e.Attempt)
			}
		case errors.As(err, &lost):
			acknowledged.LoadOrStore(e.Key, perhaps) // else it comes again
		}
	}
	time.Sleep(time.Millisecond)
}
