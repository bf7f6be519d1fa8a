package broker_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/broker"
	"github.com/fakecluster/fakecluster/broker/brokertest"
)

// What happens when slots move and masters fail over.
func init() {
	for _, form := range forms {
		bodies["moves and failovers, "+form.name] = func(t *testing.T, on brokertest.Option) { ride(t, form, on) }
	}
	bodies["moves and failovers, window"] = rideWindow
	bodies["channels follow their slot"] = channelsFollow
}

// ride: while nothing comes, in the middle of a blocking read, and while messages are
// on their way, the slot moves and its master fails over. Nothing is lost.
func ride(t *testing.T, f form, on brokertest.Option) {
	var mu sync.Mutex
	seen := map[int]int{}
	source := f.source
	if f.name == "claimed list" {
		// What was taken with a reply that got lost comes back after this time, and
		// must do so before patience ends.
		source = broker.List("{f3}").Reliable().Claims("{f3}.claims", 5*time.Second)
	}
	h := brokertest.Start(t, app(broker.Subscribe(source, func(_ context.Context, j *job) broker.Outcome {
		mu.Lock()
		defer mu.Unlock()
		seen[j.ID]++
		return broker.Ack()
	}, broker.Workers(4))), on, brokertest.Options(broker.Options{Logger: quiet, Block: time.Second}))
	name := source.Name()
	id := 0
	for _, disturb := range []func(string){h.Cluster().MoveSlot, h.Cluster().Failover, h.Cluster().MoveSlot} {
		disturb(name) // in the middle of a blocking read
		var publishing sync.WaitGroup
		first := id
		publishing.Go(func() {
			for i := range 50 {
				h.Publish(job{ID: first + i}, source)
			}
		})
		id += 50
		disturb(name)
		publishing.Wait()
	}
	h.Eventually("all are handled", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(seen) == id
	})
	f.settled(h)
}

func rideWindow(t *testing.T, on brokertest.Option) {
	source := broker.Stream("{ride}").Group("g")
	h := brokertest.Start(t, app(broker.Atomic(source, func(ctx context.Context, j *job, w *broker.Window) broker.Outcome {
		w.RPush(ctx, "{ride}:effects", j.ID)
		return broker.Ack()
	}, broker.Workers(4))), on)
	h.Clear("{ride}:effects")
	for _, disturb := range []func(string){h.Cluster().MoveSlot, h.Cluster().Failover, h.Cluster().MoveSlot} {
		var publishing sync.WaitGroup
		publishing.Go(func() {
			for i := range 50 {
				h.Publish(job{ID: i}, source)
			}
		})
		disturb("{ride}")
		publishing.Wait()
	}
	h.Settled("{ride}", broker.Acked, 150)
	if n := h.Client().LLen(within(t), "{ride}:effects").Val(); n != 150 || h.Pending("{ride}") != 0 {
		t.Errorf("%d effects of 150, %d pending", n, h.Pending("{ride}"))
	}
}

// channelsFollow: after the slot of a channel moved or its master failed over,
// subscribers get messages again.
func channelsFollow(t *testing.T, on brokertest.Option) {
	for name, channel := range map[string]broker.PubSubSource{"classic": broker.PubSub("follow"), "sharded": broker.PubSub("follow").Sharded()} {
		t.Run(name, func(t *testing.T) {
			got := record()
			h := brokertest.Start(t, app(broker.Subscribe(channel, got.ack)), on)
			for i, disturb := range []func(string){h.Cluster().MoveSlot, h.Cluster().Failover, h.Cluster().MoveSlot} {
				disturb("follow")
				// What is published around the gap may be missed.
				h.Eventually("a message comes", func() bool {
					h.Publish(job{ID: i}, channel)
					select {
					case j := <-got.jobs:
						return j.ID == i
					case <-time.After(20 * time.Millisecond):
						return false
					}
				})
			}
		})
	}
}

// A master that dies is replaced by its replica, and handlers go on.
func TestMasterKilled(t *testing.T) {
	list, stream := broker.List("{killed}l").Reliable(), broker.Stream("{killed}s").Group("g")
	jobs, orders := record(), record()
	h := brokertest.Start(t, app(broker.Subscribe(list, jobs.ack), broker.Subscribe(stream, orders.ack)),
		brokertest.Options(broker.Options{Logger: quiet, Block: time.Second}))
	h.Publish(job{ID: 1}, list)
	h.Publish(job{ID: 1}, stream)
	if a, b := jobs.next(t).ID, orders.next(t).ID; a != 1 || b != 1 {
		t.Fatalf("messages %d and %d", a, b)
	}
	h.Settled(list.Name(), broker.Acked, 1)
	h.Settled(stream.Name(), broker.Acked, 1)
	e := h.Cluster().Emulator()
	e.Kill(e.NodeForKey("{killed}"))
	if !e.Settle() {
		t.Fatal("the cluster did not recover")
	}
	for _, to := range []broker.Destination{list, stream} {
		// Connections of before are dead: what is written to them may have arrived.
		h.Eventually("a message is published", func() bool {
			return h.Broker().Publish(t.Context(), job{ID: 2}).To(to) == nil
		})
	}
	if a, b := jobs.next(t).ID, orders.next(t).ID; a != 2 || b != 2 {
		t.Errorf("messages %d and %d", a, b)
	}
}
