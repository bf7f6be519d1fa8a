package broker_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/broker"
	"github.com/fakecluster/fakecluster/broker/brokertest"
	"github.com/fakecluster/fakecluster/tests/redisserver"
	"github.com/redis/go-redis/v9"
)

// transportBench is a transport with the loop of bare go-redis that sends the same
// commands for each message.
type transportBench struct {
	name   string
	source broker.Source
	atomic bool
	// fill puts n messages into the queue.
	fill func(ctx context.Context, c redis.Cmdable, n int) error
	// loop handles n messages.
	loop func(ctx context.Context, c redis.UniversalClient, n int) error
}

const benchEffects = "{bench}:effects"

var benches = []transportBench{
	{"simple list", broker.List("{bench}"), false, fillList, func(ctx context.Context, c redis.UniversalClient, n int) error {
		for range n {
			if err := c.BRPop(ctx, time.Second, "{bench}").Err(); err != nil {
				return err
			}
		}
		return nil
	}},
	{"reliable list", broker.List("{bench}").Reliable(), false, fillList, func(ctx context.Context, c redis.UniversalClient, n int) error {
		for range n {
			entry, err := c.BLMove(ctx, "{bench}", "{bench}.processing", "RIGHT", "LEFT", time.Second).Result()
			if err != nil {
				return err
			}
			if err := c.LRem(ctx, "{bench}.processing", 1, entry).Err(); err != nil {
				return err
			}
		}
		return nil
	}},
	{"stream", broker.Stream("{bench}").Group("g"), false, fillStream, func(ctx context.Context, c redis.UniversalClient, n int) error {
		return readStream(ctx, c, n, func(id string) error { return c.XAck(ctx, "{bench}", "g", id).Err() })
	}},
	{"window", broker.Stream("{bench}").Group("g"), true, fillStream, func(ctx context.Context, c redis.UniversalClient, n int) error {
		return readStream(ctx, c, n, func(id string) error {
			_, err := c.TxPipelined(ctx, func(p redis.Pipeliner) error {
				p.Incr(ctx, benchEffects)
				p.XAck(ctx, "{bench}", "g", id)
				return nil
			})
			return err
		})
	}},
}

func readStream(ctx context.Context, c redis.UniversalClient, n int, settle func(id string) error) error {
	for range n {
		streams, err := c.XReadGroup(ctx, &redis.XReadGroupArgs{
			Group: "g", Consumer: "c", Streams: []string{"{bench}", ">"}, Count: 1, Block: time.Second,
		}).Result()
		if err != nil {
			return err
		}
		if err := settle(streams[0].Messages[0].ID); err != nil {
			return err
		}
	}
	return nil
}

func fillList(ctx context.Context, c redis.Cmdable, n int) error {
	return fill(ctx, c, n, func(p redis.Pipeliner, i int) {
		p.LPush(ctx, "{bench}", broker.Encode(broker.Message{
			Headers: broker.Headers{broker.HeaderID: fmt.Sprint(i)}, Payload: []byte(`{"id":1}`),
		}))
	})
}

func fillStream(ctx context.Context, c redis.Cmdable, n int) error {
	return fill(ctx, c, n, func(p redis.Pipeliner, i int) {
		p.XAdd(ctx, &redis.XAddArgs{Stream: "{bench}", Values: []any{"payload", `{"id":1}`, "h:message-id", i}})
	})
}

func fill(ctx context.Context, c redis.Cmdable, n int, add func(redis.Pipeliner, int)) error {
	for from := 0; from < n; from += 1000 {
		_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i := from; i < min(n, from+1000); i++ {
				add(p, i)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkConsume is the messages per second of one worker, per transport, beside
// those of a bare loop with the same commands: the difference is the broker's.
func BenchmarkConsume(b *testing.B) {
	b.Run("emulator", func(b *testing.B) { consumeAll(b, brokertest.Emulator()) })
	b.Run("real", func(b *testing.B) {
		servers := redisserver.StartCluster(b, 3, 0)
		consumeAll(b, brokertest.Nodes(servers.Addrs()...))
	})
}

func consumeAll(b *testing.B, on brokertest.Option) {
	for _, bench := range benches {
		b.Run(bench.name+"/broker", func(b *testing.B) { consumeByBroker(b, bench, on) })
		b.Run(bench.name+"/bare", func(b *testing.B) { consumeBare(b, bench, on) })
	}
}

func consumeByBroker(b *testing.B, bench transportBench, on brokertest.Option) {
	begin, done := make(chan struct{}), make(chan struct{})
	seen := 0
	note := func() {
		if seen == 0 {
			<-begin
		}
		if seen++; seen == b.N {
			close(done)
		}
	}
	part := broker.Subscribe(bench.source, func(context.Context, *job) broker.Outcome { note(); return broker.Ack() })
	if bench.atomic {
		part = broker.Atomic(bench.source.(broker.StreamSource), func(ctx context.Context, _ *job, w *broker.Window) broker.Outcome {
			w.Incr(ctx, benchEffects)
			note()
			return broker.Ack()
		})
	}
	h := brokertest.Start(b, app(part), on, brokertest.Options(broker.Options{Logger: quiet, Block: time.Second}))
	h.Clear(benchEffects)
	if err := bench.fill(b.Context(), h.Client(), b.N); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	close(begin)
	<-done
	b.StopTimer()
	perSecond(b)
}

func consumeBare(b *testing.B, bench transportBench, on brokertest.Option) {
	h := brokertest.Start(b, app(), on)
	h.Clear("{bench}", "{bench}.processing", benchEffects)
	o := *h.Client().(*redis.ClusterClient).Options()
	bare := redis.NewClusterClient(&o)
	defer bare.Close()
	ctx := b.Context()
	if _, isStream := bench.source.(broker.StreamSource); isStream {
		if err := bare.XGroupCreateMkStream(ctx, "{bench}", "g", "0").Err(); err != nil {
			b.Fatal(err)
		}
	}
	if err := bench.fill(ctx, bare, b.N); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	if err := bench.loop(ctx, bare, b.N); err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	perSecond(b)
}

func perSecond(b *testing.B) {
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
}

// BenchmarkChannel is the messages per second from a publisher to a subscriber.
func BenchmarkChannel(b *testing.B) {
	run := func(b *testing.B, on brokertest.Option) {
		b.Run("broker", func(b *testing.B) {
			got := make(chan struct{}, 1)
			channel := broker.PubSub("bench").Sharded()
			h := brokertest.Start(b, app(broker.Subscribe(channel, func(context.Context, *job) broker.Outcome {
				got <- struct{}{}
				return broker.Ack()
			})), on)
			b.ResetTimer()
			for range b.N {
				h.Publish(job{ID: 1}, channel)
				<-got
			}
			b.StopTimer()
			perSecond(b)
		})
		b.Run("bare", func(b *testing.B) {
			h := brokertest.Start(b, app(), on)
			o := *h.Client().(*redis.ClusterClient).Options()
			bare := redis.NewClusterClient(&o)
			defer bare.Close()
			ctx := b.Context()
			subscription := bare.SSubscribe(ctx, "bench")
			defer subscription.Close()
			if _, err := subscription.Receive(ctx); err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			for range b.N {
				if err := bare.SPublish(ctx, "bench", `{"id":1}`).Err(); err != nil {
					b.Fatal(err)
				}
				if _, err := subscription.ReceiveMessage(ctx); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			perSecond(b)
		})
	}
	b.Run("emulator", func(b *testing.B) { run(b, brokertest.Emulator()) })
	b.Run("real", func(b *testing.B) {
		servers := redisserver.StartCluster(b, 3, 0)
		run(b, brokertest.Nodes(servers.Addrs()...))
	})
}
