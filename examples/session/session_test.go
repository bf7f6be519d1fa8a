package session_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/examples/session"
)

func newStore(t *testing.T) (*session.Store, *emulator.Cluster) {
	c := emulator.RunT(t)
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs(), Dialer: c.Dialer()})
	t.Cleanup(func() { client.Close() })
	return session.NewStore(client), c
}

func TestSessionsAreCountedBesideThem(t *testing.T) {
	ctx := t.Context()
	store, c := newStore(t)
	for _, id := range []string{"s1", "s2"} {
		if err := store.Create(ctx, "ann", id); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := store.Created(ctx, "ann"); n != 2 || err != nil {
		t.Errorf("Created = %d, %v; want 2", n, err)
	}
	// A look behind the program's back, at the node that owns the slot.
	node := c.NodeForKey("{user:ann}")
	if got, _ := node.Get("{user:ann}:session:s1"); got != "ann" {
		t.Errorf("node %s holds %q", node.Addr(), got)
	}
}

// In a bubble time passes by itself as soon as everybody waits.
func TestSessionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		store, _ := newStore(t)
		if err := store.Create(ctx, "ann", "s1"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(59 * time.Minute)
		if err := store.Touch(ctx, "ann", "s1"); err != nil {
			t.Errorf("after 59 minutes: %v", err)
		}
		time.Sleep(59 * time.Minute)
		if err := store.Touch(ctx, "ann", "s1"); err != nil {
			t.Errorf("59 minutes after it was used: %v", err)
		}
		time.Sleep(time.Hour + time.Second)
		if err := store.Touch(ctx, "ann", "s1"); !errors.Is(err, session.ErrUnknown) {
			t.Errorf("an hour after it was used: %v, want ErrUnknown", err)
		}
	})
}

// Without a bubble the cluster's own clock can be moved.
func TestSessionsEndByTheClustersClock(t *testing.T) {
	ctx := t.Context()
	store, c := newStore(t)
	if err := store.Create(ctx, "ann", "s1"); err != nil {
		t.Fatal(err)
	}
	c.Advance(session.Lifetime + time.Second)
	if err := store.Touch(ctx, "ann", "s1"); !errors.Is(err, session.ErrUnknown) {
		t.Errorf("after %v: %v, want ErrUnknown", session.Lifetime, err)
	}
}
