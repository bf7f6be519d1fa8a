package broker_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/broker"
	"github.com/fakecluster/fakecluster/broker/brokertest"
	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/shim"
)

// chaosEnv names the environment variable with how many jobs and orders there are of
// each in the chaos; the long form has 100000.
const chaosEnv = "FAKECLUSTER_BROKER_CHAOS"

func chaosSize(t *testing.T) int {
	text, ok := os.LookupEnv(chaosEnv)
	if !ok {
		return 3000
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", chaosEnv, err)
	}
	return n
}

func init() { bodies["chaos"] = runChaos }

const (
	jobEffects   = "{jobs}:effects"
	orderEffects = "{orders}:effects"
)

// The times after which something counts as left behind. That of orders exceeds what
// a commit may take, or their effects could double.
var (
	chaosJobs   = broker.List("{jobs}").Reliable().Claims("{jobs}.claims", 5*time.Second)
	chaosOrders = broker.Stream("{orders}").Group("billing").Reclaim(90 * time.Second)
)

func chaosService(effect func(ctx context.Context, id int) error) brokertest.Service {
	return func(b *broker.Broker) *broker.App {
		return broker.NewApp("chaos", "1", b,
			broker.Subscribe(chaosJobs, func(ctx context.Context, j *job) broker.Outcome {
				if err := effect(ctx, j.ID); err != nil {
					return broker.Retry(err)
				}
				return broker.Ack()
			}, broker.Workers(8), broker.Prefetch(8)),
			broker.Atomic(chaosOrders, func(ctx context.Context, j *job, w *broker.Window) broker.Outcome {
				w.HIncrBy(ctx, orderEffects, strconv.Itoa(j.ID), 1)
				if rand.IntN(50) == 0 {
					return broker.Retry(errNotYet) // what it wrote is discarded
				}
				return broker.Ack()
			}, broker.Workers(8), broker.Prefetch(8)))
	}
}

// runChaos: two instances of a service run jobs and orders while slots move and
// masters fail over all the time. In the end each job has had its effect, and each
// order once; nothing is pending.
func runChaos(t *testing.T, on brokertest.Option) {
	var h *brokertest.Harness
	ready := make(chan struct{})
	service := chaosService(func(ctx context.Context, id int) error {
		<-ready
		return h.Client().HIncrBy(ctx, jobEffects, strconv.Itoa(id), 1).Err()
	})
	metrics := newRegistry()
	h = brokertest.Start(t, service, on, brokertest.Options(broker.Options{Logger: quiet, Metrics: metrics}))
	close(ready)
	h.Clear(jobEffects, orderEffects)
	other := second(t, h, service)

	n := chaosSize(t)
	var published [2]tally
	ctx, cancel := context.WithCancel(t.Context())
	var publishing sync.WaitGroup
	defer publishing.Wait()
	defer cancel()
	for i, to := range []broker.Destination{chaosJobs, chaosOrders} {
		for worker := range 4 {
			publishing.Go(func() {
				for id := worker; id < n && ctx.Err() == nil; id += 4 {
					err := h.Broker().Publish(ctx, job{ID: id}).To(to)
					if ctx.Err() == nil { // else the test has failed
						published[i].note(t, id, err)
					}
					time.Sleep(10 * time.Millisecond) // or it is over before anything happened
				}
			})
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		publishing.Wait()
	}()
	drained := func() bool {
		ctx := context.Background()
		return h.Pending("{jobs}") == 0 && h.Pending("{orders}") == 0 && h.Client().LLen(ctx, "{jobs}").Val() == 0 &&
			h.Client().HLen(ctx, orderEffects).Val() >= published[1].sure.Load()
	}
	moves, failovers := disturb(h, done)
	if t.Failed() {
		return
	}
	wait(t, 2*time.Minute, drained)

	check(t, h, jobEffects, &published[0], n, func(count int) bool { return count >= 1 })
	check(t, h, orderEffects, &published[1], n, func(count int) bool { return count == 1 })
	both := func(name string) int { return metrics.value(t, name) + other.value(t, name) }
	t.Logf("unsettled: %d by the first, %d by the second", metrics.value(t, "broker_messages_handled_total", "unsettled", "uncommitted"),
		other.value(t, "broker_messages_handled_total", "unsettled", "uncommitted"))
	t.Logf("%d jobs, %d orders; %d moves, %d failovers; %d redirects, %d retries, %d lost replies, %d of windows, %d reclaimed, %d second XACKs",
		published[0].sure.Load(), published[1].sure.Load(), moves, failovers,
		both("broker_redis_redirects_total"), both("broker_redis_retries_total"), both("broker_redis_lost_replies_total"),
		both("broker_window_lost_replies_total"), both("broker_messages_reclaimed_total"), both("broker_window_second_acks_total"))
	if moves == 0 || failovers == 0 || both("broker_redis_redirects_total") == 0 {
		t.Error("nothing happened")
	}
	if both("broker_window_second_acks_total") != 0 {
		t.Error("a window was committed after its message was taken over")
	}
}

// tally is what was published: for sure, or perhaps since the reply was lost.
type tally struct {
	sure  atomic.Int64
	maybe sync.Map
}

func (p *tally) note(t *testing.T, id int, err error) {
	var lost *shim.LostReplyError
	switch {
	case err == nil:
		p.sure.Add(1)
	case errors.As(err, &lost):
		p.maybe.Store(strconv.Itoa(id), true)
	default:
		t.Errorf("publishing %d: %v", id, err)
	}
}

// check holds what is in a hash of effects against what was published.
func check(t *testing.T, h *brokertest.Harness, key string, published *tally, n int, right func(int) bool) {
	t.Helper()
	effects, err := h.Client().HGetAll(context.Background(), key).Result()
	if err != nil {
		t.Fatal(err)
	}
	wrong := 0
	for id := range n {
		text, ok := effects[strconv.Itoa(id)]
		if _, maybe := published.maybe.Load(strconv.Itoa(id)); !ok && maybe {
			continue
		}
		count, err := strconv.Atoi(text)
		if !right(count) {
			if wrong++; wrong <= 10 {
				t.Errorf("%s: message %d had %d effects (%v)", key, id, count, err)
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%s: %d messages are wrong", key, wrong)
	}
}

// catchUp holds up the writes of a master until its replica has all it acknowledged,
// so that nothing acknowledged is lost when it is killed: a job's effect is not of one
// block with its ack, and would be.
func catchUp(master *emulator.Node) {
	if _, err := master.Do("CLIENT", "PAUSE", "5000", "WRITE"); err != nil {
		panic(err)
	}
	for _, replica := range master.Cluster().Nodes() {
		for replica.Master() == master && !replica.Down() && offset(replica, 4) != offset(master, 1) {
			time.Sleep(time.Millisecond)
		}
	}
}

// offset is the replication offset at its place in a node's ROLE.
func offset(n *emulator.Node, place int) any {
	role, err := n.Do("ROLE")
	if list, ok := role.([]any); ok && err == nil && len(list) > place {
		return list[place]
	}
	return err
}

// disturb moves slots and fails masters over until done. In process it also kills
// masters.
func disturb(h *brokertest.Harness, done <-chan struct{}) (moves, failovers int) {
	e := h.Cluster().Emulator()
	for round := 0; ; round++ {
		key := [...]string{"{jobs}", "{orders}"}[rand.IntN(2)]
		switch {
		case round%4 != 3:
			h.Cluster().MoveSlot(key)
			moves++
		case e != nil && round%8 == 7:
			victim := e.NodeForKey(key)
			catchUp(victim)
			e.Kill(victim)
			e.Settle()
			if err := e.Restart(victim); err != nil {
				panic(err)
			}
			e.Settle()
			failovers++
		default:
			h.Cluster().Failover(key)
			failovers++
		}
		select {
		case <-done:
			return moves, failovers
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func wait(t *testing.T, patience time.Duration, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not come to an end in time")
		}
	}
}
