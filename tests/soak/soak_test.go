// Package soak keeps a cluster under load for long while everything that can
// happen to one happens to it, and looks whether it is still the same.
//
// The load never reads a reply without knowing what it must be. So what can go
// wrong (a reply that is somebody else's, an answer that never comes, memory or
// goroutines that are not given back) is seen without a look inside.
//
//	make soak SOAK=20m
package soak

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/fakecluster/fakecluster/emulator"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// duration is how long to go on: SOAK, or long enough to see all verbs.
func duration(t *testing.T) time.Duration {
	text := os.Getenv("SOAK")
	if text == "" {
		return 2 * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("SOAK: %v", err)
	}
	return d
}

// connector dials over TCP where nodes listen there, else in process.
func connector(c *emulator.Cluster) func(ctx context.Context, network, addr string) (net.Conn, error) {
	if host, _, err := net.SplitHostPort(c.Node(0).Addr()); err == nil && overTCP.Load() {
		return func(ctx context.Context, network, addr string) (net.Conn, error) {
			_, port, err := net.SplitHostPort(addr)
			if err != nil {
				return nil, err
			}
			return new(net.Dialer).DialContext(ctx, network, net.JoinHostPort(host, port))
		}
	}
	return c.Dialer()
}

// overTCP is set while the nodes under test listen on TCP.
var overTCP atomic.Bool

// jobs is what the workers do: one worker for each, all over again.
var jobs = []struct {
	name string
	do   job
}{
	{"pipeline", pipeline}, {"script", script}, {"transaction", transaction}, {"queue", queue}, {"publish", publish},
	{"lazy", lazy}, {"look", look}, {"pipeline", pipeline}, {"script", script}, {"transaction", transaction}, {"queue", queue}, {"publish", publish},
}

func TestSoak(t *testing.T) {
	half := duration(t) / 2
	said := &ledger{verbs: map[string]*outcomes{}}
	t.Run("pipe", func(t *testing.T) { soak(t, half, emulator.RunT(t, emulator.Replicas(1)), said) })
	t.Run("tcp", func(t *testing.T) {
		overTCP.Store(true)
		defer overTCP.Store(false)
		soak(t, half, emulator.RunT(t, emulator.Replicas(1), emulator.TCP("127.0.0.1", 0), emulator.InOrder()), said)
	})
	t.Logf("verbs done and refused, %d commands struck by faults\n%s", said.hits, said.table())
	said.judge(t)
}

func soak(t *testing.T, long time.Duration, c *emulator.Cluster, said *ledger) {
	var stop atomic.Bool
	total := new(tally)
	workers := make([]*worker, len(jobs))
	var work sync.WaitGroup
	calm := make([]int64, len(jobs)) // jobs done in peace, by worker
	for i, job := range jobs {
		workers[i] = newWorker(t, c, total, i)
		work.Go(func() {
			workers[i].work(job.do, stop.Load)
			// Once more, with nothing in the way: whatever happened, all works now.
			served, tried := workers[i].served.Load(), workers[i].rounds.Load()
			workers[i].work(job.do, func() bool {
				return workers[i].served.Load() > served || workers[i].rounds.Load() > tried+100
			})
			calm[i] = workers[i].served.Load() - served
		})
	}
	watch := newWatch(t, workers)
	d := newDisturber(t, c, said)
	began := time.Now()
	for time.Since(began) < long || len(d.samples) < 3 {
		d.round()
		d.sample()
	}
	d.calm()
	stop.Store(true)
	watch.until(&work)
	for i, n := range calm {
		if n == 0 {
			t.Errorf("worker %d (%s) is not served in peace", i, jobs[i].name)
		}
	}
	d.judge()
	t.Logf("%v: %d replies matched, %d errors, %d redirections, %d connections, %d ended by the cluster",
		time.Since(began).Round(time.Second), total.commands.Load(), total.refused.Load(), total.redirected.Load(), total.connected.Load(), total.cutOff.Load())
	t.Logf("heap %s, goroutines %s", d.course(func(s sample) uint64 { return s.heap >> 10 }), d.course(func(s sample) uint64 { return uint64(s.goroutines) }))
}

// watch sees to it that no worker waits for ever.
type watch struct {
	t       *testing.T
	workers []*worker
	ended   chan struct{}
	done    sync.WaitGroup
}

func newWatch(t *testing.T, workers []*worker) *watch {
	w := &watch{t: t, workers: workers, ended: make(chan struct{})}
	w.done.Go(w.run)
	return w
}

// run ends the process, with the stacks of all goroutines, when a worker has
// not ended a job for longer than any may take.
func (w *watch) run() {
	seen, since := make([]int64, len(w.workers)), make([]time.Time, len(w.workers))
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-w.ended:
			return
		case <-tick.C:
		}
		for i, worker := range w.workers {
			if n := worker.rounds.Load(); n != seen[i] || since[i].IsZero() {
				seen[i], since[i] = n, time.Now()
			} else if time.Since(since[i]) > hang+time.Minute {
				panic(fmt.Sprintf("worker %d (%s) has not ended a job for %v", i, jobs[i].name, hang))
			}
		}
	}
}

func (w *watch) until(work *sync.WaitGroup) {
	work.Wait()
	close(w.ended)
	w.done.Wait()
}

// sample is what the process takes at a moment.
type sample struct {
	heap       uint64 // bytes
	goroutines int
}

// sample notes what is in use.
func (d *disturber) sample() {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	d.samples = append(d.samples, sample{m.HeapAlloc, runtime.NumGoroutine()})
}

// judge compares the last quarter with the first half. What the load has under
// way differs from sample to sample, so medians are compared, and the greatest
// number of goroutines.
func (d *disturber) judge() {
	n := len(d.samples)
	early, late := d.samples[:(n+1)/2], d.samples[n-(n+3)/4:]
	if a, b := median(early), median(late); b > 2*a+(16<<20) {
		d.t.Errorf("the heap grew from %d to %d bytes", a, b)
	}
	if a, b := most(early), most(late); b > a+a/2+20 {
		d.t.Errorf("goroutines grew from %d to %d", a, b)
	}
}

func median(samples []sample) uint64 {
	var all []uint64
	for _, s := range samples {
		all = append(all, s.heap)
	}
	slices.Sort(all)
	return all[len(all)/2]
}

func most(samples []sample) (n int) {
	for _, s := range samples {
		n = max(n, s.goroutines)
	}
	return n
}

// course is a value at ten moments from beginning to end.
func (d *disturber) course(value func(sample) uint64) string {
	var all []string
	last := len(d.samples) - 1
	for i := range 10 {
		all = append(all, fmt.Sprint(value(d.samples[last*i/9])))
	}
	return strings.Join(all, " ")
}
