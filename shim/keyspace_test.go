package shim_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/shim"
	"github.com/fakecluster/fakecluster/slots"
	"github.com/redis/go-redis/v9"
)

// A scan finds every key while slots go round and masters fail over.
func TestScanIsExactWhileTheClusterChanges(t *testing.T) {
	eachCluster(t, 1, func(t *testing.T, c *cluster) {
		ctx := within(t, 90*time.Second)
		client := c.made(shim.Options{})
		const keys = 3000
		pipe := client.Pipeline()
		for i := range keys {
			pipe.Set(ctx, fmt.Sprint("key:", i), i, 0)
			pipe.Set(ctx, fmt.Sprint("other:", i), i, 0)
		}
		if _, err := pipe.Exec(ctx); err != nil {
			t.Fatal(err)
		}
		moving, stop := context.WithCancel(ctx)
		var mover sync.WaitGroup
		mover.Go(func() {
			for i := 0; moving.Err() == nil; i++ {
				slot := slots.OfString(fmt.Sprint("key:", i%50))
				from := c.owner(slot)
				to := c.owner((slot + slots.Count/3) % slots.Count)
				if to == from {
					continue
				}
				c.move(slot, to)
			}
		})
		for round := range 3 {
			found := map[string]bool{}
			for key, err := range shim.Scan(ctx, client, shim.ScanOptions{Match: "key:*", Count: 100}) {
				if err != nil {
					t.Errorf("round %d: %v", round, err)
					break
				}
				if !strings.HasPrefix(key, "key:") {
					t.Fatalf("found %q", key)
				}
				found[key] = true
			}
			if len(found) != keys {
				t.Errorf("round %d: found %d of %d keys", round, len(found), keys)
			}
		}
		stop()
		mover.Wait()

		// A failover in the middle of the scan.
		found := map[string]bool{}
		for key, err := range shim.Scan(ctx, client, shim.ScanOptions{Match: "key:*", Count: 100}) {
			if err != nil {
				t.Fatal(err)
			}
			if len(found) == keys/2 {
				c.failover(c.owner(slots.OfString(key)))
			}
			found[key] = true
		}
		if len(found) != keys {
			t.Errorf("with a failover: found %d of %d keys", len(found), keys)
		}

		for range shim.Scan(ctx, client, shim.ScanOptions{}) {
			break // the caller may have enough
		}
		if n, err := shim.DeleteMatching(ctx, client, "key:*"); err != nil || n != keys {
			t.Errorf("deleted %d of %d keys, %v", n, keys, err)
		}
		var left atomic.Int64
		if err := shim.ForEachMaster(ctx, client, func(ctx context.Context, node *redis.Client) error {
			n, err := node.DBSize(ctx).Result()
			left.Add(n)
			return err
		}); err != nil || left.Load() != keys {
			t.Errorf("%d keys are left, want the other %d; %v", left.Load(), keys, err)
		}
	})
}

func TestScanLosesPatienceWithASlotThatStaysOpen(t *testing.T) {
	c := emulated(t, 0)
	ctx := within(t, 30*time.Second)
	client := c.made(shim.Options{})
	c.half(42, 1)
	var last error
	for _, err := range shim.Scan(ctx, client, shim.ScanOptions{Patience: 50 * time.Millisecond}) {
		last = err
	}
	if !errors.Is(last, shim.ErrUnsettled) || !strings.Contains(last.Error(), ": 42: ") {
		t.Errorf("%v does not name slot 42", last)
	}
}

func TestForEachMasterJoinsErrors(t *testing.T) {
	eachCluster(t, 0, func(t *testing.T, c *cluster) {
		client := c.made(shim.Options{})
		wrong := errors.New("wrong")
		err := shim.ForEachMaster(context.Background(), client, func(_ context.Context, node *redis.Client) error {
			if node.Options().Addr == c.addrs[0] {
				return nil
			}
			return wrong
		})
		var node *shim.NodeError
		if !errors.Is(err, wrong) || !errors.As(err, &node) || strings.Contains(err.Error(), c.addrs[0]) ||
			!strings.Contains(err.Error(), c.addrs[1]) || !strings.Contains(err.Error(), c.addrs[2]) {
			t.Errorf("%v does not name the two nodes that failed", err)
		}
	})
}
