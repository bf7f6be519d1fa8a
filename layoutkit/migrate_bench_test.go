package layoutkit_test

import (
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkMigrate migrates to a cluster: records per second, and how much the heap
// grows meanwhile at most, which does not count the servers if they are real.
// LAYOUTKIT_BENCH says for how many records, such as 10000,100000,1000000.
func BenchmarkMigrate(b *testing.B) {
	sizes := "10000"
	if text := os.Getenv("LAYOUTKIT_BENCH"); text != "" {
		sizes = text
	}
	for _, name := range []string{"emulator/cluster", "real/cluster", "real/in-place"} {
		for size := range strings.SplitSeq(sizes, ",") {
			records, err := strconv.Atoi(size)
			if err != nil {
				b.Fatalf("LAYOUTKIT_BENCH: %v", err)
			}
			b.Run(fmt.Sprintf("%s/%d", name, records), func(b *testing.B) { benchmarkMigrate(b, name, records) })
		}
	}
}

func benchmarkMigrate(b *testing.B, name string, records int) {
	var found int64
	var peak uint64
	for range b.N {
		b.StopTimer()
		r := newRoute(b, name)
		seedLegacy(b, r.legacy, records)
		runtime.GC()
		stop := watchHeap()
		b.StartTimer()
		found += total(migrated(b, r.forward()))
		b.StopTimer()
		peak = max(peak, stop())
	}
	b.ReportMetric(float64(found)/b.Elapsed().Seconds(), "records/s")
	b.ReportMetric(float64(peak)/(1<<20), "peak-MiB")
	b.ReportMetric(0, "ns/op")
}

// watchHeap watches the heap until it is stopped, which returns by how many bytes
// it grew at most.
func watchHeap() (stop func() uint64) {
	heap := func() uint64 {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	before, done, peak := heap(), make(chan struct{}), make(chan uint64)
	go func() {
		most := before
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				most = max(most, heap())
			case <-done:
				peak <- most - before
				return
			}
		}
	}()
	return func() uint64 {
		close(done)
		return <-peak
	}
}
