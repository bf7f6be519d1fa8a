package scenarios

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/slots"
)

// counter is a client as programs use it.
type counter interface {
	incr(ctx context.Context, key string) (int64, error)
}

type goRedis struct{ *redis.ClusterClient }

func (c goRedis) incr(ctx context.Context, key string) (int64, error) {
	return c.Incr(ctx, key).Result()
}

type rueidisClient struct{ rueidis.Client }

func (c rueidisClient) incr(ctx context.Context, key string) (int64, error) {
	return c.Do(ctx, c.B().Incr().Key(key).Build()).AsInt64()
}

// Clients go on without an error while a thousand slots move and a master is
// failed over by hand: both are made so that nobody need notice.
func TestClientsRideOutMovesAndFailovers(t *testing.T) {
	for name, connect := range map[string]func(t *testing.T, c *emulator.Cluster) counter{
		"go-redis": func(t *testing.T, c *emulator.Cluster) counter {
			client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs(), Dialer: c.Dialer()})
			t.Cleanup(func() { client.Close() })
			return goRedis{client}
		},
		"rueidis": func(t *testing.T, c *emulator.Cluster) counter {
			dial := c.Dialer()
			client, err := rueidis.NewClient(rueidis.ClientOption{
				InitAddress: c.Addrs(), ShuffleInit: true,
				DialCtxFn: func(ctx context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
					return dial(ctx, "tcp", addr)
				},
			})
			ok(t, err)
			t.Cleanup(client.Close)
			return rueidisClient{client}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := emulator.RunT(t, emulator.Replicas(1))
			rideOut(t, c, connect(t, c))
		})
	}
}

func rideOut(t *testing.T, c *emulator.Cluster, client counter) {
	const workers, keys = 4, 64
	var stop atomic.Bool
	var work sync.WaitGroup
	for w := range workers {
		work.Go(func() {
			for n, end := 0, keys; n < end; n++ {
				if !stop.Load() {
					end = n + 1 + keys // each key once more after all that happens
				}
				key := fmt.Sprintf("count:%d:%d", w, n%keys)
				if got, err := client.incr(t.Context(), key); err != nil || got != int64(n/keys+1) {
					t.Errorf("INCR %s: %d, %v; want %d", key, got, err, n/keys+1)
					return
				}
			}
		})
	}
	for from := range 2 {
		var list []slots.Slot
		for _, r := range c.Node(from).Slots() {
			for slot := r.First; slot <= r.Last && len(list) < 500; slot++ {
				list = append(list, slot)
			}
		}
		ok(t, c.MoveSlots(c.Node(from), c.Node(2), list...))
	}
	for i := range 3 {
		ok(t, c.Failover(c.Node(i)))
	}
	stop.Store(true)
	work.Wait()
}
