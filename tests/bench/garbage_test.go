package bench

import (
	"math"
	"runtime"
	"runtime/metrics"
	"strconv"
	"testing"

	"github.com/fakecluster/fakecluster/emulator"
)

// measureGarbage: target 7.
func measureGarbage(t *testing.T, m mode) result {
	c := emulator.RunT(t, emulator.RedisVersion("7.0"), emulator.Masters(1))
	w := dialInProcess(t, c.Dialer(), c.Addrs()[0])
	commands := pick(m, 200_000, 5000)
	r := result{Title: "Garbage"}
	for _, steady := range []struct {
		name  string
		depth int
		args  []string
		than  float64
	}{
		{"GET", 1, []string{"GET", "key"}, 0.01},
		{"SET", 1, []string{"SET", "key", "value"}, 0.01},
		{"GET in pipelines of 100", 100, []string{"GET", "key"}, 0.01},
		{"SET in pipelines of 100", 100, []string{"SET", "key", "value"}, 0.01},
		{"INCR in pipelines of 100", 100, []string{"INCR", "counter"}, 0.01},
		{"HSET in pipelines of 100", 100, []string{"HSET", "hash", "field", "value"}, 0.01},
	} {
		r.Lines = append(r.Lines, line{
			What: steady.name, Unit: "allocations per command", Goal: goal{atMost, steady.than},
			Ours: max(allocations(w, commands, steady.depth, steady.args), 1e-6),
		})
	}
	gib := pick(m, 1<<30, 8<<20)
	r.Lines = append(r.Lines, line{
		What: "longest pause by the garbage collector, with " + figure(float64(gib)/(1<<30)) + " GiB of data", Unit: "ms",
		Ours: longestPause(t, gib), Goal: goal{atMost, 2},
	})
	return r
}

// allocations is how many objects a command leaves, of the server and of the
// connection to it.
func allocations(w *wire, commands, depth int, args []string) float64 {
	request := appendCommand(nil, args...)
	next := func(b []byte, _ int) []byte { return append(b, request...) }
	w.pour(depth, next)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range commands / depth {
		for range depth {
			w.write(request)
			w.left++
		}
		w.drain()
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / float64(commands)
}

// longestPause fills a server with data, goes on writing while the collector
// runs, and returns the longest time in milliseconds that it stopped the world.
func longestPause(t *testing.T, bytes int) float64 {
	c := emulator.RunT(t, emulator.Standalone())
	w := dialInProcess(t, c.Dialer(), c.Addrs()[0])
	const each = 1000
	value := string(make([]byte, each))
	set := func(b []byte, i int) []byte { return appendCommand(b, "SET", "key:"+strconv.Itoa(i), value) }
	w.pour(bytes/each, set)
	before := pauses()
	for range 5 {
		collected := make(chan struct{})
		go func() {
			runtime.GC()
			close(collected)
		}()
		for done := false; !done; {
			w.pour(window, set)
			select {
			case <-collected:
				done = true
			default:
			}
		}
	}
	longest := 0.0
	after := pauses()
	for i, count := range after.Counts {
		if count > before.Counts[i] {
			longest = after.Buckets[i+1]
			if math.IsInf(longest, 0) {
				longest = after.Buckets[i]
			}
		}
	}
	w.do("FLUSHALL")
	return longest * 1e3
}

// pauses is the histogram of how long the collector has stopped the world.
func pauses() *metrics.Float64Histogram {
	sample := []metrics.Sample{{Name: "/sched/pauses/total/gc:seconds"}}
	metrics.Read(sample)
	return sample[0].Value.Float64Histogram()
}
