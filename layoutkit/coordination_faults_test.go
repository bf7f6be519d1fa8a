package layoutkit_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/layoutkit"
	"github.com/fakecluster/fakecluster/shim"
)

// scripted are the commands that run scripts.
var scripted = []string{"evalsha", "eval"}

// inject lets something go wrong with commands on keys of the target.
func (x *target) inject(key string, nth, times int, action emulator.Action) *emulator.Fault {
	return x.emulator.Inject(emulator.Rule{Commands: scripted, Key: x.prefix + key, Nth: nth, Times: times, Action: action})
}

// A turn that was asked for and not heard of holds nobody up.
func TestTurnWhoseReplyIsLost(t *testing.T) {
	inTime(t, func(t *testing.T, x *target) {
		a, b := x.replica(t, "a"), x.replica(t, "b")
		warm, err := a.Turn(t.Context(), "chat") // the script is loaded
		must(t, err)
		must(t, warm.Release(t.Context()))

		fault := x.inject("*:tix", 1, 1, emulator.DropAfter())
		_, err = a.Turn(t.Context(), "chat")
		if lost := new(shim.LostReplyError); !errors.As(err, &lost) || fault.Hits() != 1 {
			t.Fatalf("error %v, %d hits", err, fault.Hits())
		}
		begun := time.Now()
		turn, err := b.Turn(t.Context(), "chat")
		must(t, err)
		if waited := time.Since(begun); waited > 0 {
			t.Errorf("waited %v", waited)
		}

		// Who waits already asks again, and finds that it was its turn.
		next := make(chan error)
		go func() {
			turn, err := a.Turn(t.Context(), "chat")
			if err == nil {
				err = turn.Release(t.Context())
			}
			next <- err
		}()
		x.queued(t, "chat", 1)
		synctest.Wait()
		fault = x.inject("*:tix", 1, 3, emulator.DropAfter())
		must(t, turn.Release(t.Context()))
		must(t, <-next)
		if fault.Hits() != 3 {
			t.Errorf("%d replies lost", fault.Hits())
		}
	})
}

// Renewals that fail are repeated: the turn is lost only when none comes through,
// and then its context ends before anybody else can have it.
func TestTurnRidesThrough(t *testing.T) {
	inTime(t, func(t *testing.T, x *target) {
		a := x.coordinator(t, layoutkit.CoordinatorOptions{Replica: "a"})
		b := x.coordinator(t, layoutkit.CoordinatorOptions{Replica: "b"})
		must(t, b.Start(t.Context()))
		turn, err := a.Turn(t.Context(), "chat")
		must(t, err)
		waited := make(chan *layoutkit.Turn, 1)
		go func() {
			next, err := b.Turn(t.Context(), "chat")
			if err != nil {
				t.Error(err)
			}
			waited <- next
		}()
		x.queued(t, "chat", 1)

		fault := x.inject("*:owner", 1, 0, emulator.DropAfter())
		time.Sleep(5 * time.Second)
		fault.Remove()
		time.Sleep(time.Minute)
		must(t, turn.Context().Err())
		if fault.Hits() == 0 {
			t.Error("nothing went wrong")
		}

		fault = x.inject("*:owner", 1, 0, emulator.DropBefore())
		<-turn.Context().Done()
		ended := time.Now()
		wantError(t, context.Cause(turn.Context()), layoutkit.ErrLost)
		if owner := x.client.Exists(t.Context(), x.turnKey("chat", "owner")).Val(); owner != 1 {
			t.Error("the context ended too late")
		}
		fault.Remove()
		next := <-waited
		if next == nil {
			t.FailNow()
		}
		if !time.Now().After(ended) {
			t.Error("the next turn began before the last had ended")
		}
		wantError(t, turn.Release(t.Context()), layoutkit.ErrLost)
		must(t, next.Release(t.Context()))
	})
}

// A lock or leadership that may have been acquired without word of it is given back.
func TestAcquiredWithoutWord(t *testing.T) {
	inTime(t, func(t *testing.T, x *target) {
		a := x.replica(t, "a")
		locks := x.store(t).Locks()
		warm, err := locks.Acquire(t.Context(), "key", time.Minute)
		must(t, err)
		must(t, warm.Release(t.Context()))
		led, err := a.Campaign(t.Context(), "cron")
		must(t, err)
		must(t, led.Resign(t.Context()))

		x.inject("*", 1, 1, emulator.DropAfter())
		_, err = locks.Acquire(t.Context(), "key", time.Minute)
		lost := new(shim.LostReplyError)
		if !errors.As(err, &lost) {
			t.Fatal(err)
		}
		x.inject("*", 1, 1, emulator.DropAfter())
		_, err = locks.Wait(t.Context(), "key", time.Minute)
		if !errors.As(err, &lost) {
			t.Fatal(err)
		}
		next, err := locks.Acquire(t.Context(), "key", time.Minute)
		must(t, err)
		if next.Fence() != 4 {
			t.Errorf("fence %d", next.Fence())
		}

		x.inject("*", 1, 1, emulator.DropAfter())
		_, err = a.Campaign(t.Context(), "cron")
		if !errors.As(err, &lost) {
			t.Fatal(err)
		}
		leadership, err := a.Campaign(t.Context(), "cron")
		must(t, err)
		if leadership.Term() != 3 {
			t.Errorf("term %d", leadership.Term())
		}
		must(t, leadership.Resign(t.Context()))
	})
}

// A replica whose heartbeat does not come through is skipped, and stands in line
// again although it lives.
func TestSkippedAlive(t *testing.T) {
	inTime(t, func(t *testing.T, x *target) {
		quiet := x.coordinator(t, layoutkit.CoordinatorOptions{Replica: "quiet", HeartbeatTTL: time.Second})
		b := x.replica(t, "b")
		first, err := b.Turn(t.Context(), "chat")
		must(t, err)
		order := make(chan string, 2)
		wait := func(name string, c *layoutkit.Coordinator) {
			turn, err := c.Turn(t.Context(), "chat")
			if err == nil {
				order <- name
				err = turn.Release(t.Context())
			}
			if err != nil {
				t.Error(err)
			}
		}
		var both sync.WaitGroup
		both.Go(func() { wait("quiet", quiet) })
		x.queued(t, "chat", 1)
		both.Go(func() { wait("b", b) })
		x.queued(t, "chat", 2)

		silence := x.emulator.Inject(emulator.Rule{Commands: []string{"set"}, Key: "*:rep:quiet", Action: emulator.DropBefore()})
		defer silence.Remove()
		time.Sleep(2 * time.Second)
		// The other waits where the turn ends, and so asks first.
		must(t, first.Release(t.Context()))
		if served := []string{<-order, <-order}; !slices.Equal(served, []string{"b", "quiet"}) {
			t.Errorf("served %v", served)
		}
		both.Wait()
	})
}

// Waiting, skipping and giving back keep to one slot and to keys that are declared.
func TestWaitingFitsACluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := find(t, "emulator/cluster").target(t)
		trace := x.emulator.Trace(100_000)
		a := x.replica(t, "a")
		dead, die := x.mortal(t, layoutkit.CoordinatorOptions{Replica: "dead", HeartbeatTTL: time.Second})
		first, err := a.Turn(t.Context(), "chat")
		must(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go dead.Turn(ctx, "chat") // it dies in it
		x.queued(t, "chat", 1)
		given, giveUp := context.WithCancel(t.Context())
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			_, _ = a.Turn(given, "chat")
		}()
		x.queued(t, "chat", 2)
		giveUp()
		<-gone
		die()
		must(t, first.Release(t.Context()))
		last, err := a.Turn(t.Context(), "chat")
		must(t, err)
		short, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		_, err = x.store(t).Locks().Wait(short, "key", time.Minute)
		must(t, err)
		_, err = x.store(t).Locks().Wait(short, "key", time.Minute)
		wantError(t, err, context.DeadlineExceeded)
		must(t, last.Release(t.Context()))

		skipped := false
		for c := range trace.All() {
			connecting := strings.HasPrefix(c.Command, "client") // what 7.0 does not know yet
			if !connecting && !slices.Contains([]string{"serve", "MOVED", "NOSCRIPT"}, c.Verdict) {
				t.Errorf("%v", c)
			}
			if slices.Contains([]string{"multi", "exec", "watch", "keys", "scan"}, c.Command) {
				t.Errorf("%v", c)
			}
			skipped = skipped || c.Command == "exists"
		}
		if !skipped {
			t.Error("nobody looked for the heartbeat of the dead")
		}
	})
}
