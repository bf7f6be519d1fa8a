package layoutkit_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/layoutkit"
)

// BenchmarkCoordination is how many operations of each part 16 workers do in a
// second, when they do not stand in each other's way.
func BenchmarkCoordination(b *testing.B) {
	onClusters(b, func(b *testing.B, x *target) {
		s := x.store(b)
		c := x.replica(b, "r")
		schedules := layoutkit.Schedules[int](s)
		due := layoutkit.Schedules[int](started(b, layoutkit.Options{Client: x.client, Prefix: x.prefix + "-due"}))
		for i := range 100 {
			need(due.Put(b.Context(), fmt.Sprint(i), past, i))(b)
		}
		outbox := layoutkit.Outbox[int](s.Durability())
		for _, op := range []struct {
			name string
			do   func(ctx context.Context, i int64) error
		}{
			{"turn-release", func(ctx context.Context, i int64) error {
				turn, err := c.Turn(ctx, fmt.Sprint("c", i))
				if err != nil {
					return err
				}
				return turn.Release(ctx)
			}},
			{"campaign-resign", func(ctx context.Context, i int64) error {
				leadership, err := c.Campaign(ctx, fmt.Sprint("l", i))
				if err != nil {
					return err
				}
				return leadership.Resign(ctx)
			}},
			{"lock-release", func(ctx context.Context, i int64) error {
				lock, err := s.Locks().Acquire(ctx, fmt.Sprint("k", i), time.Minute)
				if err != nil {
					return err
				}
				return lock.Release(ctx)
			}},
			{"lease-acquire", func(ctx context.Context, i int64) error {
				return s.Leases().Acquire(ctx, fmt.Sprint("l", i%100), "me", time.Minute)
			}},
			{"schedule-put", func(ctx context.Context, i int64) error {
				_, err := schedules.Put(ctx, fmt.Sprint("p", i%1000), past, 1)
				return err
			}},
			{"schedule-put-claim-complete", func(ctx context.Context, i int64) error {
				id := fmt.Sprint("q", i)
				if _, err := schedules.Put(ctx, id, past, 1); err != nil {
					return err
				}
				claim, err := schedules.Claim(ctx, id, time.Minute)
				if err != nil {
					return err
				}
				return schedules.Complete(ctx, id, claim.Token)
			}},
			{"schedules-due-of-100", func(ctx context.Context, i int64) error {
				found, err := due.Due(ctx, 100)
				if err == nil && len(found) != 100 {
					err = fmt.Errorf("%d are due", len(found))
				}
				return err
			}},
			{"journal-append", func(ctx context.Context, i int64) error {
				_, err := outbox.Append(ctx, fmt.Sprint(time.Now().UnixNano(), i), 1)
				return err
			}},
			{"journal-claim-10-acknowledge", func(ctx context.Context, i int64) error {
				entries, err := outbox.Claim(ctx, "me", 10, time.Minute)
				for _, e := range entries {
					if err := outbox.Acknowledge(ctx, e); err != nil {
						return err
					}
				}
				return err
			}},
		} {
			b.Run(op.name, func(b *testing.B) { inParallel(b, op.do) })
		}
	})
}

// BenchmarkTurnsOfOneChat lets 100 replicas take turns of one chat, each of 1 ms. It
// reports turns per second, what passes between two of them, and how long a replica
// waits, which is mostly for the 99 before it.
func BenchmarkTurnsOfOneChat(b *testing.B) {
	onClusters(b, func(b *testing.B, x *target) {
		const replicas, work = 100, time.Millisecond
		var coordinators []*layoutkit.Coordinator
		for i := range replicas {
			c := x.replica(b, fmt.Sprint("r", i))
			noError(b, c.Start(b.Context()))
			coordinators = append(coordinators, c)
		}
		var mu sync.Mutex
		var waits, handovers []time.Duration
		var released time.Time
		left := make(chan int, b.N)
		for i := range b.N {
			left <- i
		}
		close(left)
		b.ResetTimer()
		var all sync.WaitGroup
		for _, c := range coordinators {
			all.Go(func() {
				for range left {
					begun := time.Now()
					turn, err := c.Turn(b.Context(), "chat")
					if err != nil {
						b.Error(err)
						return
					}
					mu.Lock()
					waits = append(waits, time.Since(begun))
					if !released.IsZero() {
						handovers = append(handovers, time.Since(released))
					}
					mu.Unlock()
					time.Sleep(work)
					err = turn.Release(b.Context())
					mu.Lock()
					released = time.Now()
					mu.Unlock()
					if err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "turns/s")
		b.ReportMetric(0, "ns/op")
		for name, durations := range map[string][]time.Duration{"wait": waits, "handover": handovers} {
			if len(durations) == 0 {
				continue
			}
			slices.Sort(durations)
			b.ReportMetric(durations[len(durations)/2].Seconds()*1000, name+"-ms-p50")
			b.ReportMetric(durations[len(durations)*99/100].Seconds()*1000, name+"-ms-p99")
		}
	})
}
