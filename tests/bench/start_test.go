package bench

import (
	"runtime"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/tests/redisserver"
)

// measureStart: target 1.
func measureStart(t *testing.T, m mode) result {
	starts := pick(m, 500, 20)
	var first, whole []float64
	for range starts {
		ready, closed := startAndClose(t)
		first, whole = append(first, ready), append(whole, closed)
	}
	began := time.Now()
	redisserver.StartCluster(t, 3, 1)
	realReady := time.Since(began).Seconds() * 1e3
	return result{
		Title: "Start",
		Lines: []line{
			{What: "3 masters and 3 replicas, from nothing to the first reply", Unit: "ms", Ours: median(first),
				Real: realReady, Mini: median(startMinis(t, starts)), Goal: goal{atMost, 2}},
			{What: "clusters started, asked and closed, one after the other", Unit: "per second",
				Ours: 1e3 / median(whole), Goal: goal{atLeast, 1000}},
			{What: "an idle cluster of 3 masters and 3 replicas", Unit: "MiB", Ours: idleSize(t, pick(m, 50, 5)), Goal: goal{atMost, 8}},
		},
	}
}

// startAndClose returns the milliseconds to the first reply of a cluster, and
// until it is closed.
func startAndClose(tb testing.TB) (ready, closed float64) {
	began := time.Now()
	c, err := emulator.Start(emulator.Replicas(1))
	if err != nil {
		tb.Fatal(err)
	}
	conn, err := c.Dialer()(tb.Context(), "tcp", c.Addrs()[0])
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		tb.Fatal(err)
	}
	var pong [7]byte
	if _, err := conn.Read(pong[:]); err != nil {
		tb.Fatal(err)
	}
	ready = time.Since(began).Seconds() * 1e3
	conn.Close()
	c.Close()
	return ready, time.Since(began).Seconds() * 1e3
}

// startMinis returns the milliseconds that miniredis takes to start, of one
// server each.
func startMinis(tb testing.TB, starts int) []float64 {
	var took []float64
	for range starts {
		began := time.Now()
		s, err := miniredis.Run()
		if err != nil {
			tb.Fatal(err)
		}
		took = append(took, time.Since(began).Seconds()*1e3)
		s.Close()
	}
	return took
}

// idleSize is the MiB of heap and stacks that an idle cluster takes.
func idleSize(tb testing.TB, clusters int) float64 {
	before := inUse()
	for range clusters {
		c, err := emulator.Start(emulator.Replicas(1))
		if err != nil {
			tb.Fatal(err)
		}
		defer c.Close()
	}
	return (inUse() - before) / float64(clusters) / (1 << 20)
}

// inUse is the bytes of live heap and stacks.
func inUse() float64 {
	runtime.GC()
	runtime.GC() // what finalizers and pools held
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return float64(s.HeapAlloc + s.StackInuse)
}
