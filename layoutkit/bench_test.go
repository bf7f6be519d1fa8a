package layoutkit_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/layoutkit"
)

// onClusters runs a benchmark on the emulator and on a real cluster, in one run.
func onClusters(b *testing.B, run func(b *testing.B, x *target)) {
	for _, name := range []string{"emulator/cluster", "real/cluster"} {
		b.Run(name, func(b *testing.B) { run(b, find(b, name).target(b)) })
	}
}

// BenchmarkParts is how many operations of each part 16 workers do in a second.
func BenchmarkParts(b *testing.B) {
	onClusters(b, func(b *testing.B, x *target) {
		s := x.store(b)
		messages, chats := layoutkit.Messages[text](s), layoutkit.Chats[text](s)
		checkpoints, conversations := layoutkit.Checkpoints[text](s), layoutkit.Conversations[text](s)
		users := layoutkit.UserData[text](s, "n")
		value := text{strings.Repeat("x", 200)}
		ctx := b.Context()
		for i := range 100 {
			need(messages.Save(ctx, "read", layoutkit.Message[text]{Member: fmt.Sprint(i), Score: float64(i), Value: value}))(b)
			need(chats.Put(ctx, fmt.Sprint(i), value))(b)
			noError(b, users.User("read").Put(ctx, fmt.Sprint(i%20), value, 0))
		}
		for _, op := range []struct {
			name string
			do   func(ctx context.Context, i int64) error
		}{
			{"message-save", func(ctx context.Context, i int64) error {
				_, err := messages.Save(ctx, fmt.Sprint("chat", i%100), layoutkit.Message[text]{Member: fmt.Sprint(time.Now().UnixNano(), i), Score: float64(i), Value: value})
				return err
			}},
			{"message-get", func(ctx context.Context, i int64) error {
				_, err := messages.Get(ctx, "read", fmt.Sprint(i%100))
				return err
			}},
			{"message-page-of-50", func(ctx context.Context, i int64) error {
				_, err := messages.Page(ctx, "read", layoutkit.Query{Limit: 50, Reverse: i%2 == 0})
				return err
			}},
			{"chat-put", func(ctx context.Context, i int64) error {
				_, err := chats.Put(ctx, fmt.Sprint(i%100), value)
				return err
			}},
			{"chat-get", func(ctx context.Context, i int64) error { _, err := chats.Get(ctx, fmt.Sprint(i%100)); return err }},
			{"checkpoint-put", func(ctx context.Context, i int64) error {
				_, err := checkpoints.Put(ctx, fmt.Sprint(i%1000), value, time.Hour)
				return err
			}},
			{"conversation-put", func(ctx context.Context, i int64) error {
				_, err := conversations.Put(ctx, fmt.Sprint(i%1000), value, time.Hour)
				return err
			}},
			{"user-put", func(ctx context.Context, i int64) error {
				return users.User(fmt.Sprint(i%100)).Put(ctx, "key", value, time.Hour)
			}},
			{"user-list-of-20", func(ctx context.Context, _ int64) error {
				for _, err := range users.User("read").List(ctx) {
					if err != nil {
						return err
					}
				}
				return nil
			}},
		} {
			b.Run(op.name, func(b *testing.B) { inParallel(b, op.do) })
		}
	})
}

// inParallel runs an operation from 16 workers and reports operations per second.
func inParallel(b *testing.B, do func(ctx context.Context, i int64) error) {
	const workersPerCPU = 8
	var count atomic.Int64
	b.SetParallelism(workersPerCPU)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := do(b.Context(), count.Add(1)); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ops/s")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkDeleteChat deletes a chat of 5000 messages.
func BenchmarkDeleteChat(b *testing.B) {
	onClusters(b, func(b *testing.B, x *target) {
		const count = 5000
		messages := layoutkit.Messages[text](x.store(b))
		for b.Loop() {
			b.StopTimer()
			pipe := x.client.Pipeline()
			for i := range count {
				member := fmt.Sprint(i)
				pipe.ZAdd(b.Context(), x.key("{m:c}:z"), redis.Z{Score: float64(i), Member: member})
				pipe.Set(b.Context(), x.key("{m:c}:i:"+member), `c {"Text":"x"}`, 0)
			}
			need(pipe.Exec(b.Context()))(b)
			b.StartTimer()
			if n := need(messages.DeleteChat(b.Context(), "c"))(b); n != count {
				b.Fatalf("deleted %d messages", n)
			}
		}
		b.ReportMetric(float64(b.N)*count/b.Elapsed().Seconds(), "messages/s")
	})
}

// BenchmarkList lists 100,000 chats in 32 buckets.
func BenchmarkList(b *testing.B) {
	onClusters(b, func(b *testing.B, x *target) {
		const count = 100_000
		chats := layoutkit.Chats[text](x.store(b))
		x.fillChats(b, count)
		b.Run("records", func(b *testing.B) {
			for b.Loop() {
				if n := len(listed(b, chats.List(b.Context()))); n != count {
					b.Fatalf("%d chats", n)
				}
			}
			b.ReportMetric(float64(b.N)*count/b.Elapsed().Seconds(), "records/s")
		})
		b.Run("ids", func(b *testing.B) {
			for b.Loop() {
				if n := len(ids(b, chats.IDs(b.Context()))); n != count {
					b.Fatalf("%d chats", n)
				}
			}
			b.ReportMetric(float64(b.N)*count/b.Elapsed().Seconds(), "records/s")
		})
	})
}

// fillChats writes chats past the kit, because that is faster.
func (x *target) fillChats(b *testing.B, count int) {
	ctx := b.Context()
	pipe := x.client.Pipeline()
	for i := range count {
		id := fmt.Sprintf("chat%d", i)
		h := fnv.New32a()
		h.Write([]byte(id))
		tag := fmt.Sprintf("{ch:%d}", h.Sum32()%32)
		pipe.Set(ctx, x.key(tag+":r:"+id), `1 {"Text":"a chat with some words"}`, 0)
		pipe.ZAdd(ctx, x.key(tag+":idx"), redis.Z{Score: inf, Member: id})
		if pipe.Len() >= 5000 || i == count-1 {
			need(pipe.Exec(ctx))(b)
		}
	}
}
