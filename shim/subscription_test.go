package shim_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/shim"
	"github.com/fakecluster/fakecluster/slots"
	"github.com/redis/go-redis/v9"
)

// next waits for an event.
func next(t *testing.T, ctx context.Context, s *shim.Subscription) shim.Event {
	t.Helper()
	select {
	case e := <-s.Events():
		return e
	case <-ctx.Done():
		t.Fatal("no event came")
		return shim.Event{}
	}
}

// hear publishes to a channel until a message arrives, and returns the events
// that came before it. What was published is the number of the try.
func hear(t *testing.T, ctx context.Context, client *redis.ClusterClient, s *shim.Subscription, channel string) (before []shim.Event) {
	t.Helper()
	token := fmt.Sprint("token ", time.Now().UnixNano())
	for {
		if err := client.SPublish(ctx, channel, token).Err(); err != nil {
			t.Fatal(err)
		}
		timeout := time.After(100 * time.Millisecond)
		for waiting := true; waiting; {
			select {
			case e := <-s.Events():
				if e.Channel == channel && e.Payload == token {
					return before
				}
				before = append(before, e)
			case <-timeout:
				waiting = false
			case <-ctx.Done():
				t.Fatalf("nothing is heard on %s; %v", channel, before)
			}
		}
	}
}

// dying is a dialer whose first connection for subscriptions dies when it is used, which
// its writer does not notice, as with TCP.
type dying struct {
	shim.Dialer
	died atomic.Bool
}

func (d *dying) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := d.Dialer(ctx, network, addr)
	return &dyingConn{Conn: conn, dialer: d, noticed: make(chan struct{})}, err
}

type dyingConn struct {
	net.Conn
	dialer  *dying
	dead    atomic.Bool
	noticed chan struct{} // closed when the reader has given up
	once    sync.Once
}

func (c *dyingConn) Close() error {
	c.once.Do(func() { close(c.noticed) })
	return c.Conn.Close()
}

func (c *dyingConn) SetWriteDeadline(at time.Time) error {
	if c.dead.Load() {
		return nil
	}
	return c.Conn.SetWriteDeadline(at)
}

func (c *dyingConn) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte("SSUBSCRIBE")) && c.dialer.died.CompareAndSwap(false, true) {
		c.dead.Store(true)
		_ = c.Conn.Close()
	}
	if c.dead.Load() {
		<-c.noticed
		time.Sleep(2 * time.Millisecond) // its turn at the lock that is held here is next then
		return len(b), nil
	}
	return c.Conn.Write(b)
}

// Channels that are being placed on a connection that dies find another.
func TestSubscriptionOutlivesAConnectionThatDiesAtOnce(t *testing.T) {
	c := emulated(t, 0)
	ctx := within(t, 20*time.Second)
	d := &dying{Dialer: c.dialer}
	client, err := shim.NewCluster(redis.ClusterOptions{Addrs: c.addrs, Dialer: d.dial}, shim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var channels []string
	for slot := range slots.Slot(100) {
		channels = append(channels, tagged(slot, "c"))
	}
	s, err := shim.SSubscribe(ctx, client, shim.SubscribeOptions{}, channels...)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if !d.died.Load() {
		t.Error("no connection died")
	}
	hear(t, ctx, client, s, channels[99])
}

// Whoever does not read, or goes away, does not stop Close.
func TestSubscriptionClosesUnderLoad(t *testing.T) {
	c := emulated(t, 0)
	ctx := within(t, 20*time.Second)
	client := c.made(shim.Options{})
	s, err := shim.SSubscribe(ctx, client, shim.SubscribeOptions{Buffer: 1}, "channel", "")
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		if err := client.SPublish(ctx, "channel", "unread").Err(); err != nil {
			t.Fatal(err)
		}
	}
	var closing sync.WaitGroup
	for range 3 {
		closing.Go(s.Close)
	}
	closing.Wait()
	for range s.Events() { // ends
	}
	if err := s.Add(ctx, "late"); !errors.Is(err, redis.ErrClosed) {
		t.Errorf("Add after Close: %v", err)
	}
	s.Remove("channel", "unknown")
	s.Close()
}

func TestShardedSubscriptionFollowsItsSlots(t *testing.T) {
	eachCluster(t, 1, func(t *testing.T, c *cluster) {
		ctx := within(t, 60*time.Second)
		client := c.made(shim.Options{})
		var channels []string
		for slot := slots.Slot(0); slot < slots.Count; slot += 1000 {
			channels = append(channels, tagged(slot, "a"), tagged(slot, "b"))
		}
		metrics := new(shim.Metrics)
		s, err := shim.SSubscribe(ctx, client, shim.SubscribeOptions{Health: 200 * time.Millisecond, Metrics: metrics}, channels...)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for _, channel := range channels {
			if err := client.SPublish(ctx, channel, "to "+channel).Err(); err != nil {
				t.Fatal(err)
			}
			if e := next(t, ctx, s); e.Channel != channel || e.Payload != "to "+channel || e.Gap {
				t.Fatalf("%+v after a message to %s", e, channel)
			}
		}

		t.Run("a slot moves", func(t *testing.T) {
			c.move(3000, 2)
			gaps := map[string]int{}
			for _, channel := range []string{tagged(3000, "a"), tagged(3000, "b")} {
				for _, e := range hear(t, ctx, client, s, channel) {
					if !e.Gap {
						t.Errorf("%+v came from nowhere", e)
					}
					gaps[e.Channel]++
				}
			}
			if len(gaps) != 2 || gaps[tagged(3000, "a")] != 1 || gaps[tagged(3000, "b")] != 1 {
				t.Errorf("gaps %v, want one for each channel of slot 3000", gaps)
			}
			if metrics.Gaps() != 2 {
				t.Errorf("%d gaps counted, want 2", metrics.Gaps())
			}
		})
		t.Run("a connection is killed", func(t *testing.T) {
			owner := c.owner(6000)
			c.do(owner, "CLIENT", "KILL", "TYPE", "pubsub")
			gap := false
			for _, e := range hear(t, ctx, client, s, tagged(6000, "a")) {
				gap = gap || e.Gap && e.Channel == tagged(6000, "a")
			}
			if !gap {
				t.Error("no gap was told of")
			}
		})
		t.Run("a master fails over", func(t *testing.T) {
			master := c.owner(12000)
			c.failover(master)
			gap := false
			for _, e := range hear(t, ctx, client, s, tagged(12000, "b")) {
				gap = gap || e.Gap && e.Channel == tagged(12000, "b")
			}
			if !gap {
				t.Error("no gap was told of")
			}
		})
		t.Run("channels come and go", func(t *testing.T) {
			if err := s.Add(ctx, "one more"); err != nil {
				t.Fatal(err)
			}
			hear(t, ctx, client, s, "one more")
			s.Remove("one more")
			deadline := time.Now().Add(time.Minute)
			for client.SPublish(ctx, "one more", "x").Val() != 0 {
				if time.Now().After(deadline) {
					t.Fatal("the channel that was removed still has a subscriber")
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
	})
}
