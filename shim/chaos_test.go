package shim_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/shim"
	"github.com/fakecluster/fakecluster/slots"
	"github.com/redis/go-redis/v9"
)

// chaosEnv names the environment variable with how long each chaos test lasts.
const chaosEnv = "FAKECLUSTER_CHAOS"

func chaosTime(t *testing.T) time.Duration {
	text, ok := os.LookupEnv(chaosEnv)
	if !ok {
		return 5 * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("%s: %v", chaosEnv, err)
	}
	return d
}

const (
	chaosWorkers = 200
	chaosSlots   = 12
	chaosKeys    = 4 // per slot
)

// tally is what a key's counter must be.
type tally struct {
	acknowledged, lost atomic.Int64
}

func (c *tally) note(t *testing.T, err error, dropping bool) bool {
	var lost *shim.LostReplyError
	switch {
	case err == nil:
		c.acknowledged.Add(1)
	case dropping && errors.As(err, &lost):
		c.lost.Add(1)
	default:
		t.Errorf("an error surfaced: %v", err)
		return false
	}
	return true
}

type chaos struct {
	*cluster
	client   *redis.ClusterClient
	dropping bool
	tallies  [chaosSlots][chaosKeys]tally
}

func chaosSlot(i int) slots.Slot { return slots.Slot(i * (slots.Count / chaosSlots)) }

func chaosKey(slot, key int) string { return tagged(chaosSlot(slot), key) }

// Every acknowledged increment is counted once, whatever the cluster goes through,
// and no error surfaces where no reply was dropped.
func TestChaos(t *testing.T) {
	for _, dropping := range []bool{false, true} {
		name := map[bool]string{false: "calm connections", true: "dropped replies"}[dropping]
		t.Run(name, func(t *testing.T) {
			eachCluster(t, 1, func(t *testing.T, c *cluster) {
				runChaos(t, c, dropping)
			})
		})
	}
}

func runChaos(t *testing.T, c *cluster, dropping bool) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	proxy := lose(c.dialer)
	slots.TagFor(0) // or the load begins with finding all tags
	bare := *c
	c = &bare
	c.dialer = proxy.Dial
	metrics := new(shim.Metrics)
	// A failover holds writers up for as long as it takes; that alone loses nothing.
	client, err := shim.NewCluster(redis.ClusterOptions{
		Addrs: c.addrs, Dialer: c.dialer, ReadTimeout: 30 * time.Second, PoolSize: 10,
	}, shim.Options{Retry: shim.RetryOptions{Metrics: metrics}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	x := &chaos{cluster: c, client: client, dropping: dropping}
	if err := shim.Connect(t.Context(), x.client, 10*time.Second); err != nil {
		t.Fatal(err)
	}
	if dropping {
		proxy.when(func(sent []byte) bool { return isIncrement(sent) && rand.IntN(500) == 0 })
	}
	proxy.refuse(func(sent []byte) bool { return isIncrement(sent) && rand.IntN(50) == 0 })
	if c.emulator != nil {
		// Also in the middle of pipelines and transactions.
		for _, text := range []string{"TRYAGAIN Multiple keys request during rehashing of slot", "CLUSTERDOWN The cluster is down"} {
			c.emulator.Inject(emulator.Rule{Commands: []string{"incr", "evalsha"}, Probability: 0.01, Action: emulator.ReplyWith(text)})
		}
	}
	var load sync.WaitGroup
	for worker := range chaosWorkers {
		load.Go(func() { x.work(t, ctx, worker) })
	}
	moves, failovers := x.disturb(chaosTime(t))
	cancel()
	load.Wait()
	x.check(t, proxy, metrics, moves, failovers)
}

// check compares what was acknowledged with what is there.
func (x *chaos) check(t *testing.T, proxy *lossy, metrics *shim.Metrics, moves, failovers int) {
	proxy.when(func([]byte) bool { return false })
	proxy.refuse(func([]byte) bool { return false })

	var acknowledged, lost int64
	for slot := range chaosSlots {
		for key := range chaosKeys {
			sum := &x.tallies[slot][key]
			acked, unknown := sum.acknowledged.Load(), sum.lost.Load()
			n, err := x.client.Get(t.Context(), chaosKey(slot, key)).Int64()
			if err != nil && !errors.Is(err, redis.Nil) {
				t.Fatal(err)
			}
			if n < acked || n > acked+unknown {
				t.Errorf("%s is %d after %d acknowledged and %d lost increments", chaosKey(slot, key), n, acked, unknown)
			}
			acknowledged += acked
			lost += unknown
		}
	}
	t.Logf("%d increments acknowledged, %d lost; %d moves, %d failovers; %d redirects, %d retries, %d refused by the proxy",
		acknowledged, lost, moves, failovers, metrics.Redirects(), metrics.Retries(), proxy.refused.Load())
	if acknowledged == 0 || metrics.Redirects() == 0 || metrics.Retries() == 0 {
		t.Error("nothing happened")
	}
	if x.dropping != (lost > 0) {
		t.Errorf("%d replies lost", lost)
	}
}

func isIncrement(sent []byte) bool {
	for _, word := range [...]string{"\r\nincr\r\n", "\r\nevalsha\r\n", "\r\neval\r\n"} {
		if bytes.Contains(sent, []byte(word)) {
			return true
		}
	}
	return false
}

var bothIncrement = shim.NewScript(`redis.call('INCR', KEYS[1]) return redis.call('INCR', KEYS[2])`, "one", "two")

// work increments in one of four ways until ctx is done.
func (x *chaos) work(t *testing.T, ctx context.Context, worker int) {
	send := []func(*testing.T) bool{x.counter, x.pipeline, x.transaction, x.script}[worker%4]
	for ctx.Err() == nil {
		began := time.Now()
		if !send(t) {
			return
		}
		// Or nothing is left of two cores for the cluster. On a machine that is busy
		// with other things those who move slots would wait behind all workers.
		time.Sleep(min(max(10*time.Millisecond, 4*time.Since(began)), time.Second))
	}
}

func (x *chaos) counter(t *testing.T) bool {
	slot, key := rand.IntN(chaosSlots), rand.IntN(chaosKeys)
	err := x.client.Incr(t.Context(), chaosKey(slot, key)).Err()
	return x.tallies[slot][key].note(t, err, x.dropping)
}

func (x *chaos) pipeline(t *testing.T) bool {
	var sums []*tally
	cmds, _ := x.client.Pipelined(t.Context(), func(p redis.Pipeliner) error {
		for range 5 {
			slot, key := rand.IntN(chaosSlots), rand.IntN(chaosKeys)
			p.Incr(t.Context(), chaosKey(slot, key))
			sums = append(sums, &x.tallies[slot][key])
		}
		return nil
	})
	well := true
	for i, cmd := range cmds {
		well = sums[i].note(t, cmd.Err(), x.dropping) && well
	}
	return well
}

func (x *chaos) transaction(t *testing.T) bool {
	slot, key := rand.IntN(chaosSlots), rand.IntN(chaosKeys-1)
	_, err := x.client.TxPipelined(t.Context(), func(p redis.Pipeliner) error {
		p.Incr(t.Context(), chaosKey(slot, key))
		p.Incr(t.Context(), chaosKey(slot, key+1))
		return nil
	})
	return x.tallies[slot][key].note(t, err, x.dropping) && x.tallies[slot][key+1].note(t, err, x.dropping)
}

func (x *chaos) script(t *testing.T) bool {
	slot, key := rand.IntN(chaosSlots), rand.IntN(chaosKeys-1)
	keys := []string{chaosKey(slot, key), chaosKey(slot, key+1)}
	err := bothIncrement.Run(t.Context(), x.client, keys).Err()
	return x.tallies[slot][key].note(t, err, x.dropping) && x.tallies[slot][key+1].note(t, err, x.dropping)
}

// disturb moves slots and fails masters over, one after the other, for so long and
// until there was enough of both: a master that fails over in the middle of a move
// forgets it, which loses writes by Redis' own rules.
func (x *chaos) disturb(d time.Duration) (moves, failovers int) {
	const enough = 5 // of moves
	end := time.Now().Add(d)
	for time.Now().Before(end) || moves < enough {
		// One shard after the other, and not too soon: within two node timeouts
		// masters do not vote twice for a replica of the same one.
		for next := time.Now().Add(2 * time.Second); time.Now().Before(next); {
			slot := chaosSlot(moves % chaosSlots)
			to, err := x.topology.Elsewhere(x.t.Context(), slot)
			if err != nil {
				x.t.Fatal(err)
			}
			x.move(slot, x.index(to))
			moves++
		}
		x.failover(x.owner(failoverSlot(failovers)))
		failovers++
	}
	return moves, failovers
}

// failoverSlot is a slot that does not move, of one third of the cluster after the
// other.
func failoverSlot(i int) slots.Slot { return slots.Slot(1 + i%3*(slots.Count/3)) }
