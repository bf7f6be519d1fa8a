// Package bench measures the emulator against real Redis and against miniredis,
// side by side in one run: what it prints are ratios, because machines differ
// and are never idle.
//
// A benchmark runs its targets in turns, a batch of operations each, so that
// whatever else the machine does meets all of them. "x-real" is the emulator's
// time as a multiple of real Redis', "x-mini" of miniredis'.
package bench

import (
	"context"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/tests/redisserver"
)

// target is a server that an operation is measured on, over TCP.
type target struct {
	name   string
	client *redis.Client
	spent  time.Duration
}

// targets starts a server of each kind. They end with the benchmark.
func targets(b *testing.B, args ...string) []*target {
	b.Helper()
	ours := emulator.RunT(b, emulator.Standalone(), emulator.RedisVersion("7.0"), emulator.TCP("127.0.0.1", 0))
	inProcess := redis.NewClient(&redis.Options{Addr: ours.Addrs()[0], Dialer: ours.Dialer()})
	all := []*target{
		{name: "ours", client: redis.NewClient(&redis.Options{Addr: ours.Addrs()[0]})},
		{name: "ours-in-process", client: inProcess},
		{name: "real", client: redis.NewClient(&redis.Options{Addr: redisserver.Start(b, args...).Addr()})},
		{name: "miniredis", client: redis.NewClient(&redis.Options{Addr: miniredis.RunT(b).Addr()})},
	}
	for _, t := range all {
		b.Cleanup(func() { t.client.Close() })
	}
	return all
}

// batch is how many operations a target does before it is the next one's turn.
const batch = 50

// compare measures an operation on all targets and reports the ratios.
func compare(b *testing.B, operation func(ctx context.Context, rdb *redis.Client) error) {
	ctx := context.Background()
	all := targets(b)
	for _, t := range all { // connections, caches, compiled scripts
		for range batch {
			if err := operation(ctx, t.client); err != nil {
				b.Fatalf("%s: %v", t.name, err)
			}
		}
	}
	turns := 0
	for b.Loop() {
		for i := range all {
			t := all[(turns+i)%len(all)]
			began := time.Now()
			for range batch {
				if err := operation(ctx, t.client); err != nil {
					b.Fatalf("%s: %v", t.name, err)
				}
			}
			t.spent += time.Since(began)
		}
		turns++
	}
	report(b, all, turns*batch)
}

func report(b *testing.B, all []*target, operations int) {
	spent := map[string]time.Duration{}
	for _, t := range all {
		spent[t.name] = t.spent
		b.ReportMetric(float64(t.spent.Nanoseconds())/float64(operations), t.name+"-ns/op")
	}
	ratio := func(a, b string) float64 { return float64(spent[a]) / float64(spent[b]) }
	b.ReportMetric(ratio("ours", "real"), "x-real")
	b.ReportMetric(ratio("ours", "miniredis"), "x-mini")
	b.ReportMetric(ratio("ours-in-process", "real"), "in-process-x-real")
	b.ReportMetric(0, "ns/op") // that of a whole turn says nothing
}

func BenchmarkSet(b *testing.B) {
	compare(b, func(ctx context.Context, rdb *redis.Client) error { return rdb.Set(ctx, "key", "value", 0).Err() })
}

func BenchmarkGet(b *testing.B) {
	compare(b, func(ctx context.Context, rdb *redis.Client) error {
		if err := rdb.Get(ctx, "key").Err(); err != redis.Nil {
			return err
		}
		return nil
	})
}

func BenchmarkPipeline100(b *testing.B) {
	compare(b, func(ctx context.Context, rdb *redis.Client) error {
		_, err := rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
			for range 100 {
				p.Incr(ctx, "counter")
			}
			return nil
		})
		return err
	})
}

// A small script: two or three commands and a modulo test.
func BenchmarkEvalSHA(b *testing.B) {
	script := redis.NewScript(`
		local n = redis.call('INCR', KEYS[1])
		if n % 10 == 0 then redis.call('SET', KEYS[2], n) end
		return n`)
	compare(b, func(ctx context.Context, rdb *redis.Client) error {
		return script.Run(ctx, rdb, []string{"counter", "mark"}).Err()
	})
}

// Arithmetic without commands: 100,000 additions and remainders.
func BenchmarkLuaLoop(b *testing.B) {
	script := redis.NewScript(`local s = 0 for i = 1, 100000 do s = s + i % 7 end return s`)
	compare(b, func(ctx context.Context, rdb *redis.Client) error { return script.Run(ctx, rdb, nil).Err() })
}
