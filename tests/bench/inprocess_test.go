package bench

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/emulator"
)

// commander is what clients of one server and of clusters have in common.
type commander interface {
	redis.Cmdable
	Close() error
}

// measureInProcess: target 2.
func measureInProcess(t *testing.T, m mode) result {
	c := emulator.RunT(t, emulator.RedisVersion("7.0"))
	inProcess := redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs(), Dialer: c.Dialer()})
	overTCP := redis.NewClusterClient(&redis.ClusterOptions{Addrs: startReal(t, true).addrs})
	miniTCP := redis.NewClient(&redis.Options{Addr: startMini(t).addrs[0]})
	clients := []commander{inProcess, overTCP, miniTCP}
	for _, client := range clients {
		t.Cleanup(func() { client.Close() })
	}
	r := result{Title: "In process"}
	for _, op := range goRedisOperations {
		each := op.each(m)
		figures := alternate(pick(m, 15, 2), clients, func(client commander) float64 {
			return timeOf(t, each, func(ctx context.Context) error { return op.run(ctx, client) })
		})
		r.Lines = append(r.Lines, line{
			What: op.name, Unit: "µs", Ours: figures[0], Real: figures[1], Mini: figures[2], Goal: op.goal,
		})
	}
	return r
}

// timeOf is the mean time of an operation, in microseconds.
func timeOf(tb testing.TB, count int, operation func(context.Context) error) float64 {
	ctx := context.Background()
	began := time.Now()
	for range count {
		if err := operation(ctx); err != nil {
			tb.Fatal(err)
		}
	}
	return time.Since(began).Seconds() * 1e6 / float64(count)
}

type goRedisOperation struct {
	name  string
	goal  goal
	count int
	run   func(ctx context.Context, rdb redis.Cmdable) error
}

func (o goRedisOperation) each(m mode) int { return pick(m, o.count, 20) }

var goRedisOperations = []goRedisOperation{
	{"SET", goal{ratioAtMost, 1. / 5}, 2000, func(ctx context.Context, rdb redis.Cmdable) error {
		return rdb.Set(ctx, "key", "value", 0).Err()
	}},
	{"GET", goal{ratioAtMost, 1. / 5}, 2000, func(ctx context.Context, rdb redis.Cmdable) error {
		return rdb.Get(ctx, "key").Err()
	}},
	{"100 INCR in a pipeline", goal{}, 100, func(ctx context.Context, rdb redis.Cmdable) error {
		_, err := rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
			for range 100 {
				p.Incr(ctx, "counter")
			}
			return nil
		})
		return err
	}},
	{"EVALSHA of a small script", goal{}, 500, func(ctx context.Context, rdb redis.Cmdable) error {
		return smallScript.Run(ctx, rdb, []string{"{tag}counter", "{tag}mark"}).Err()
	}},
	{"EVALSHA of a loop of 100,000 additions", goal{}, 3, func(ctx context.Context, rdb redis.Cmdable) error {
		return loopScript.Run(ctx, rdb, []string{"key"}).Err()
	}},
}

// smallScriptSource has two or three commands and a modulo test.
const smallScriptSource = `
local n = redis.call('INCR', KEYS[1])
if n % 10 == 0 then redis.call('SET', KEYS[2], n) end
return n`

var (
	smallScript = redis.NewScript(smallScriptSource)
	loopScript  = redis.NewScript(`local s = 0 for i = 1, 100000 do s = s + i % 7 end return s`)
)
