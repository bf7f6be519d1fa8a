package emulator_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/emulator"
)

// client returns a go-redis cluster client of c that is closed with the test.
func client(t testing.TB, c *emulator.Cluster) *redis.ClusterClient {
	t.Helper()
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs(), Dialer: c.Dialer()})
	t.Cleanup(func() { client.Close() })
	return client
}

// Fifty runs, because what one bubble leaves behind shows in the next.
func TestAnHourOfTTLTakesNoTimeInABubble(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			ctx := context.Background()
			rdb := client(t, emulator.RunT(t))
			for _, key := range []string{"a", "b", "c", "d"} {
				if err := rdb.Set(ctx, key, "v", time.Hour).Err(); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(time.Hour - time.Second)
			if ttl, err := rdb.TTL(ctx, "a").Result(); err != nil || ttl != time.Second {
				t.Fatalf("TTL a second before the end: %v, %v", ttl, err)
			}
			time.Sleep(2 * time.Second)
			if err := rdb.Get(ctx, "a").Err(); !errors.Is(err, redis.Nil) {
				t.Fatalf("GET after an hour: %v, want redis.Nil", err)
			}
		})
	}
}

func TestKeysExpireWithoutBeingLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		c := emulator.RunT(t)
		rdb := client(t, c)
		if err := rdb.Set(ctx, "a", "v", time.Minute).Err(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		if size, err := c.NodeForKey("a").Do("DBSIZE"); err != nil || size != int64(0) {
			t.Fatalf("DBSIZE after the key expired: %v, %v", size, err)
		}
	})
}

func TestBlockingTimesOutInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		rdb := client(t, emulator.RunT(t))
		before := time.Now()
		if err := rdb.BLPop(ctx, 10*time.Minute, "queue").Err(); !errors.Is(err, redis.Nil) {
			t.Fatalf("BLPOP: %v, want redis.Nil", err)
		}
		if waited := time.Since(before); waited != 10*time.Minute {
			t.Errorf("BLPOP waited %v, want 10m", waited)
		}
		go func() {
			time.Sleep(time.Hour)
			rdb.RPush(ctx, "queue", "job")
		}()
		job, err := rdb.BLPop(ctx, 0, "queue").Result()
		if err != nil || len(job) != 2 || job[1] != "job" {
			t.Fatalf("BLPOP: %v, %v", job, err)
		}
	})
}

func TestAdvanceMovesExpiryAndTimeouts(t *testing.T) {
	ctx := context.Background()
	c := emulator.RunT(t)
	rdb := client(t, c)
	if err := rdb.Set(ctx, "a", "v", time.Hour).Err(); err != nil {
		t.Fatal(err)
	}
	c.Advance(59 * time.Minute)
	if ttl, ok := c.NodeForKey("a").TTL("a"); !ok || ttl > time.Minute {
		t.Fatalf("TTL after 59 minutes: %v, %v", ttl, ok)
	}
	c.Advance(2 * time.Minute)
	if c.NodeForKey("a").Exists("a") {
		t.Fatal("the key outlived its time")
	}

	blocked := make(chan error)
	go func() { blocked <- rdb.Do(ctx, "BLPOP", "queue", 3600).Err() }()
	node := c.NodeForKey("queue")
	for { // until the client is blocked
		if info, err := node.Do("CLIENT", "LIST"); err != nil {
			t.Fatal(err)
		} else if hasBlocked(info.(string)) {
			break
		}
		time.Sleep(time.Millisecond)
	}
	c.Advance(2 * time.Hour)
	if err := <-blocked; !errors.Is(err, redis.Nil) {
		t.Fatalf("BLPOP after its timeout was skipped over: %v", err)
	}
}
