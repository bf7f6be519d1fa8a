package layoutkit_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/layoutkit"
)

// coordinator is a replica of the target that is closed with the test.
func (x *target) coordinator(t testing.TB, o layoutkit.CoordinatorOptions) *layoutkit.Coordinator {
	t.Helper()
	c, err := layoutkit.NewCoordinator(x.options(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := c.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return c
}

// replica is a coordinator of a name, with long times.
func (x *target) replica(t testing.TB, name string) *layoutkit.Coordinator {
	t.Helper()
	return x.coordinator(t, layoutkit.CoordinatorOptions{Replica: name, HeartbeatTTL: time.Minute, TurnTTL: time.Minute, LeaderTTL: time.Minute})
}

func wantError(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error %v, want %v", err, want)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// queued waits until a number of tickets wait for a chat, which is what the test
// knows of others.
func (x *target) queued(t testing.TB, chat string, n int64) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; {
		got, err := x.client.ZCard(t.Context(), x.turnKey(chat, "tix")).Result()
		must(t, err)
		if got == n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d tickets wait, not %d", got, n)
		}
		time.Sleep(time.Millisecond)
	}
}

// turnKey is a key of the turns of a chat whose id needs no escape.
func (x *target) turnKey(chat, part string) string {
	if x.layout == layoutkit.Cluster {
		return x.key("co:{t:" + chat + "}:" + part)
	}
	return x.key("co:turn:" + chat + ":" + part)
}

// A replica has a heartbeat from its first use until it is closed.
func TestHeartbeat(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		a, b := x.replica(t, "a"), x.replica(t, "b")
		alive := func(want bool) {
			t.Helper()
			is, err := b.Alive(t.Context(), "a")
			must(t, err)
			if is != want {
				t.Fatalf("alive: %v", is)
			}
		}
		alive(false)
		must(t, a.Start(t.Context()))
		must(t, a.Start(t.Context()))
		alive(true)
		if ttl := x.client.PTTL(t.Context(), x.key("co:rep:a")).Val(); ttl <= 0 || ttl > time.Minute {
			t.Errorf("time to live %v", ttl)
		}
		must(t, a.Close(t.Context()))
		must(t, a.Close(t.Context()))
		alive(false)
		wantError(t, a.Start(t.Context()), layoutkit.ErrClosed)
		_, err := a.Turn(t.Context(), "chat")
		wantError(t, err, layoutkit.ErrClosed)
		if keys := x.keys(t); len(keys) != 0 {
			t.Errorf("left behind: %v", keys)
		}
	})
}

// Turns of a chat come one after the other, in the order in which replicas asked.
func TestTurnsInOrder(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		replicas := []*layoutkit.Coordinator{x.replica(t, "a"), x.replica(t, "b"), x.replica(t, "c")}
		first, err := replicas[0].Turn(t.Context(), "chat")
		must(t, err)

		const waiters = 7
		served := make(chan int, waiters)
		fences := make(chan int64, waiters)
		var all sync.WaitGroup
		defer all.Wait()
		for i := range waiters {
			all.Go(func() {
				turn, err := replicas[i%3].Turn(t.Context(), "chat")
				if err != nil {
					t.Error(err)
					return
				}
				served <- i
				fences <- turn.Fence()
				if err := turn.Release(t.Context()); err != nil {
					t.Error(err)
				}
			})
			x.queued(t, "chat", int64(i+1))
		}
		must(t, first.Release(t.Context()))
		before := first.Fence()
		for i := range waiters {
			if got := <-served; got != i {
				t.Fatalf("waiter %d had turn %d", got, i)
			}
			if fence := <-fences; fence <= before {
				t.Fatalf("fence %d after %d", fence, before)
			} else {
				before = fence
			}
		}
	})
}

func z(score float64, member string) redis.Z { return redis.Z{Score: score, Member: member} }
