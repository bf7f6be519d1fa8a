package layoutkit_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fakecluster/fakecluster/layoutkit"
)

// emulatedPlaces are those where a bubble's time is the servers' time too.
var emulatedPlaces = []string{"emulator/cluster", "emulator/single/cluster", "emulator/single/legacy"}

// inTime runs body on emulated servers in a bubble, where waiting takes no time.
func inTime(t *testing.T, body func(t *testing.T, x *target)) {
	for _, name := range emulatedPlaces {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { body(t, find(t, name).target(t)) })
		})
	}
}

// mortal is a replica with a client of its own, and how it dies: from then on the
// servers hear nothing of it.
func (x *target) mortal(t testing.TB, o layoutkit.CoordinatorOptions) (c *layoutkit.Coordinator, die func()) {
	t.Helper()
	options := x.options()
	options.Client = x.dial(t)
	c, err := layoutkit.NewCoordinator(options, o)
	must(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // it cannot give anything back
		_ = c.Close(ctx)
	})
	return c, func() { options.Client.Close() }
}

// A replica that dies in line is skipped when its heartbeat is over; the others
// keep their order.
func TestDeadReplicaIsSkipped(t *testing.T) {
	inTime(t, func(t *testing.T, x *target) {
		a := x.replica(t, "a")
		o := layoutkit.CoordinatorOptions{Replica: "dead {*}:", HeartbeatTTL: 10 * time.Second, TurnTTL: time.Hour}
		dead, die := x.mortal(t, o)
		o.Replica = "b"
		b := x.coordinator(t, o)

		first, err := a.Turn(t.Context(), "chat")
		must(t, err)
		waiting, giveUp := context.WithCancel(t.Context())
		defer giveUp()
		for range 3 {
			go dead.Turn(waiting, "chat") // it dies in it
		}
		x.queued(t, "chat", 3)
		served := make(chan error)
		go func() {
			turn, err := b.Turn(t.Context(), "chat")
			if err == nil {
				err = turn.Release(t.Context())
			}
			served <- err
		}()
		x.queued(t, "chat", 4)
		die()
		died := time.Now()
		must(t, first.Release(t.Context()))
		must(t, <-served)
		if took := time.Since(died); took > 11*time.Second {
			t.Errorf("skipped after %v, the heartbeat lasted 10s at most", took)
		}
		x.queued(t, "chat", 0)
		giveUp()
		synctest.Wait()
	})
}

// A replica that dies in its turn keeps it until its time to live is over, and its
// own context ends before that.
func TestDeadOwnerIsFollowed(t *testing.T) {
	inTime(t, func(t *testing.T, x *target) {
		o := layoutkit.CoordinatorOptions{Replica: "a", HeartbeatTTL: time.Second, TurnTTL: 10 * time.Second}
		a, die := x.mortal(t, o)
		b := x.replica(t, "b")

		lost, err := a.Turn(t.Context(), "chat")
		must(t, err)
		time.Sleep(10 * time.Minute) // it is renewed all the time
		must(t, lost.Context().Err())
		die()
		died := time.Now()
		ended := make(chan time.Time, 1)
		context.AfterFunc(lost.Context(), func() { ended <- time.Now() })

		next, err := b.Turn(t.Context(), "chat")
		must(t, err)
		owned := time.Now()
		if took := owned.Sub(died); took > 10*time.Second+100*time.Millisecond {
			t.Errorf("owned after %v", took)
		}
		if end := <-ended; !end.Before(owned.Add(-500 * time.Millisecond)) {
			t.Errorf("the context ended %v before the next turn", owned.Sub(end))
		}
		wantError(t, context.Cause(lost.Context()), layoutkit.ErrLost)
		if next.Fence() <= lost.Fence() {
			t.Errorf("fence %d after %d", next.Fence(), lost.Fence())
		}
		must(t, next.Release(t.Context()))
	})
}

// A turn whose owner key is another's is lost: its context says so, and it does not
// touch what is there.
func TestLostTurn(t *testing.T) {
	inTime(t, func(t *testing.T, x *target) {
		a := x.coordinator(t, layoutkit.CoordinatorOptions{Replica: "a"})
		turn, err := a.Turn(t.Context(), "chat")
		must(t, err)
		must(t, x.client.Set(t.Context(), x.turnKey("chat", "owner"), "9 somebody else", 0).Err())
		<-turn.Context().Done()
		wantError(t, context.Cause(turn.Context()), layoutkit.ErrLost)
		wantError(t, turn.Release(t.Context()), layoutkit.ErrLost)
		if owner := x.client.Get(t.Context(), x.turnKey("chat", "owner")).Val(); owner != "9 somebody else" {
			t.Errorf("owner is %q", owner)
		}
	})
}

// The context of a turn outlives the context of the waiting, keeps its values, and
// ends with the turn.
func TestTurnContext(t *testing.T) {
	type key struct{}
	eachTarget(t, func(t *testing.T, x *target) {
		a := x.replica(t, "a")
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
		turn, err := a.Turn(ctx, "chat")
		must(t, err)
		cancel()
		must(t, turn.Context().Err())
		if turn.Context().Value(key{}) != "value" || turn.Chat() != "chat" {
			t.Error("the values are gone")
		}
		must(t, turn.Release(t.Context()))
		if cause := context.Cause(turn.Context()); cause != context.Canceled {
			t.Errorf("cause %v", cause)
		}
		wantError(t, turn.Release(t.Context()), layoutkit.ErrLost)
	})
}

// Who does not wait any longer gives the ticket back.
func TestCancelledWaiter(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		a, b := x.replica(t, "a"), x.replica(t, "b")
		first, err := a.Turn(t.Context(), "chat")
		must(t, err)
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("enough")
		ended := make(chan error)
		go func() {
			_, err := b.Turn(ctx, "chat")
			ended <- err
		}()
		x.queued(t, "chat", 1)
		cancel(why)
		wantError(t, <-ended, why)
		x.queued(t, "chat", 0)
		must(t, first.Release(t.Context()))
		must(t, a.Close(t.Context()))
		must(t, b.Close(t.Context()))
		// Numbers are kept for a while.
		want := []string{strings.TrimPrefix(x.turnKey("chat", "last"), x.prefix+":"), strings.TrimPrefix(x.turnKey("chat", "seq"), x.prefix+":")}
		if keys := x.keys(t); !slices.Equal(keys, want) {
			t.Errorf("left behind: %v", keys)
		}
		for _, key := range want {
			if ttl := x.client.PTTL(t.Context(), x.key(key)).Val(); ttl <= 0 || ttl > time.Hour {
				t.Errorf("%s lives for %v", key, ttl)
			}
		}
	})
}

// A ticket that was taken and not heard of does not stop the line, although its
// replica lives.
func TestForgottenTicket(t *testing.T) {
	inTime(t, func(t *testing.T, x *target) {
		o := layoutkit.CoordinatorOptions{Replica: "a", HeartbeatTTL: time.Second, TurnTTL: 5 * time.Second}
		a := x.coordinator(t, o)
		must(t, a.Start(t.Context()))
		must(t, x.client.ZAdd(t.Context(), x.turnKey("chat", "tix"), z(1, "a FORGOTTEN"), z(2, "a ALSO")).Err())
		begun := time.Now()
		turn, err := a.Turn(t.Context(), "chat")
		must(t, err)
		if took := time.Since(begun); took < 10*time.Second || took > 12*time.Second {
			t.Errorf("waited %v for two tickets of 5s", took)
		}
		must(t, turn.Release(t.Context()))
	})
}

// Nothing of a chat is left behind, and fences never repeat although nobody
// remembers the one before.
func TestNothingIsLeftBehind(t *testing.T) {
	inTime(t, func(t *testing.T, x *target) {
		o := layoutkit.CoordinatorOptions{Replica: "a", HeartbeatTTL: time.Second, TurnTTL: time.Second}
		var before int64
		for range 3 {
			a := x.coordinator(t, o)
			b, die := x.mortal(t, layoutkit.CoordinatorOptions{Replica: "b", HeartbeatTTL: time.Second, TurnTTL: time.Second})
			for range 3 {
				turn, err := a.Turn(t.Context(), "chat")
				must(t, err)
				if turn.Fence() <= before {
					t.Fatalf("fence %d after %d", turn.Fence(), before)
				}
				before = turn.Fence()
				must(t, turn.Release(t.Context()))
			}
			dead, err := b.Turn(t.Context(), "chat")
			must(t, err)
			before = dead.Fence()
			ctx, cancel := context.WithCancel(t.Context())
			go b.Turn(ctx, "chat") // it dies in it
			x.queued(t, "chat", 1)
			die()
			cancel()
			_ = b.Close(ctx) // nobody hears of it
			must(t, a.Close(t.Context()))
			time.Sleep(2 * time.Hour)
			if keys := x.keys(t); len(keys) != 0 {
				t.Fatalf("left behind: %v", keys)
			}
		}
	})
}

// Close gives everything back at once and tells why.
func TestCloseGivesBack(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		a, b := x.replica(t, "a"), x.replica(t, "b")
		turn, err := a.Turn(t.Context(), "chat")
		must(t, err)
		leadership, err := a.Campaign(t.Context(), "cron")
		must(t, err)
		waiting := make(chan error)
		go func() {
			_, err := a.Turn(t.Context(), "chat")
			waiting <- err
		}()
		x.queued(t, "chat", 1)
		closed := make(chan error)
		go func() { closed <- a.Close(t.Context()) }()
		wantError(t, <-waiting, layoutkit.ErrClosed)
		must(t, <-closed)
		wantError(t, context.Cause(turn.Context()), layoutkit.ErrClosed)
		wantError(t, context.Cause(leadership.Context()), layoutkit.ErrClosed)

		next, err := b.Turn(t.Context(), "chat")
		must(t, err)
		must(t, next.Release(t.Context()))
		leader, err := b.Campaign(t.Context(), "cron")
		must(t, err)
		must(t, leader.Resign(t.Context()))
	})
}

// The keys of turns are those of the contract, and what they hold is as documented.
func TestTurnKeys(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		a := x.replica(t, "re:plica")
		turn, err := a.Turn(t.Context(), "a:b{c}*é")
		must(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = a.Turn(ctx, "a:b{c}*é")
		}()
		base := "co:turn:a%3Ab%7Bc%7D%2A%C3%A9:"
		if x.layout == layoutkit.Cluster {
			base = "co:{t:a%3Ab%7Bc%7D%2A%C3%A9}:"
		}
		want := []string{"co:rep:re%3Aplica", base + "last", base + "owner", base + "seq", base + "tix"}
		slices.Sort(want)
		for deadline := time.Now().Add(10 * time.Second); !slices.Equal(x.keys(t), want); {
			if time.Now().After(deadline) {
				t.Fatalf("keys %v, want %v", x.keys(t), want)
			}
			time.Sleep(time.Millisecond)
		}
		cancel()
		<-ended
		must(t, turn.Release(t.Context()))
	})
}

func TestCoordinatorRefuses(t *testing.T) {
	x := find(t, "emulator/cluster").target(t)
	for _, o := range []layoutkit.CoordinatorOptions{
		{HeartbeatTTL: time.Millisecond}, {TurnTTL: -time.Second}, {LeaderTTL: 99 * time.Millisecond},
	} {
		_, err := layoutkit.NewCoordinator(x.options(), o)
		wantError(t, err, layoutkit.ErrInvalid)
		_, err = x.store(t).Coordinator(o)
		wantError(t, err, layoutkit.ErrInvalid)
	}
	_, err := layoutkit.NewCoordinator(layoutkit.Options{}, layoutkit.CoordinatorOptions{})
	wantError(t, err, layoutkit.ErrInvalid)

	c := x.replica(t, "a")
	_, err = c.Turn(t.Context(), "")
	wantError(t, err, layoutkit.ErrInvalid)
	_, err = c.Campaign(t.Context(), "")
	wantError(t, err, layoutkit.ErrInvalid)
	_, err = c.Alive(t.Context(), "")
	wantError(t, err, layoutkit.ErrInvalid)
	_, _, err = c.Leader(t.Context(), "")
	wantError(t, err, layoutkit.ErrInvalid)
	if keys := x.keys(t); len(keys) != 0 {
		t.Errorf("written: %v", keys)
	}
	unnamed, err := x.store(t).Coordinator(layoutkit.CoordinatorOptions{})
	must(t, err)
	other, err := x.store(t).Coordinator(layoutkit.CoordinatorOptions{})
	must(t, err)
	if unnamed.Replica() == "" || unnamed.Replica() == other.Replica() {
		t.Errorf("replicas %q and %q", unnamed.Replica(), other.Replica())
	}
}
