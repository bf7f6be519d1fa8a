package interop

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redis/redis_rate/v10"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

// clusterClient connects with the library that the packages below build on.
func clusterClient(t *testing.T, addrs []string) *redis.ClusterClient {
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: addrs})
	t.Cleanup(func() { c.Close() })
	return c
}

// resources are names in slots of different masters.
func resources(prefix string) []string {
	names := make([]string, 6)
	for i := range names {
		names[i] = fmt.Sprintf("%s:%d", prefix, i)
	}
	return names
}

// holdsExclusively has eight workers increment a counter without any
// precaution but a lock.
func holdsExclusively(t *testing.T, lock func() (unlock func() error, err error)) {
	t.Helper()
	const workers, turns = 8, 5
	counter := 0
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for range turns {
				unlock, err := lock()
				if err != nil {
					t.Error("lock:", err)
					return
				}
				seen := counter
				time.Sleep(time.Millisecond)
				counter = seen + 1
				if err := unlock(); err != nil {
					t.Error("unlock:", err)
				}
			}
		})
	}
	wg.Wait()
	if counter != workers*turns {
		t.Errorf("%d increments under the lock, want %d", counter, workers*turns)
	}
}

func TestRedsync(t *testing.T) {
	onBoth(t, func(t *testing.T, addrs []string) {
		c := clusterClient(t, addrs)
		locks := redsync.New(goredis.NewPool(c))
		for _, name := range resources("redsync") {
			first := locks.NewMutex(name, redsync.WithExpiry(time.Minute))
			second := locks.NewMutex(name, redsync.WithTries(1), redsync.WithSetNXOnExtend())
			if err := first.Lock(); err != nil {
				t.Fatal(err)
			}
			if value := c.Get(t.Context(), name).Val(); value != first.Value() {
				t.Errorf("%s holds %q, the mutex %q", name, value, first.Value())
			}
			if err, taken := second.Lock(), new(redsync.ErrTaken); !errors.As(err, &taken) {
				t.Errorf("the second lock of %s: %v, want %T", name, err, taken)
			}
			if ok, err := second.Unlock(); ok || err == nil {
				t.Errorf("unlocking another's %s: %v, %v", name, ok, err)
			}
			c.PExpire(t.Context(), name, 5*time.Second)
			if ok, err := first.Extend(); !ok || err != nil {
				t.Errorf("extending %s: %v, %v", name, ok, err)
			}
			if ttl := c.PTTL(t.Context(), name).Val(); ttl < 50*time.Second || ttl > time.Minute {
				t.Errorf("%s is extended to %v", name, ttl)
			}
			if ok, err := first.Unlock(); !ok || err != nil {
				t.Errorf("unlocking %s: %v, %v", name, ok, err)
			}
			if ok, err := first.Unlock(); ok || !errors.Is(err, redsync.ErrLockAlreadyExpired) {
				t.Errorf("unlocking %s again: %v, %v", name, ok, err)
			}
			if ok, err := second.Extend(); !ok || err != nil {
				t.Errorf("taking %s by extending: %v, %v", name, ok, err)
			}
		}
		holdsExclusively(t, func() (func() error, error) {
			m := locks.NewMutex("redsync:shared", redsync.WithTries(1000), redsync.WithRetryDelay(2*time.Millisecond))
			return func() error { _, err := m.Unlock(); return err }, m.Lock()
		})
	})
}

func TestRedislock(t *testing.T) {
	onBoth(t, func(t *testing.T, addrs []string) {
		ctx, c := t.Context(), clusterClient(t, addrs)
		locks := redislock.New(c)
		for _, name := range resources("redislock") {
			lock, err := locks.Obtain(ctx, name, time.Minute, &redislock.Options{Metadata: "of the test"})
			if err != nil {
				t.Fatal(err)
			}
			if value := c.Get(ctx, name).Val(); value != lock.Token()+"of the test" || lock.Metadata() != "of the test" {
				t.Errorf("%s holds %q, the lock has %q and %q", name, value, lock.Token(), lock.Metadata())
			}
			if _, err := locks.Obtain(ctx, name, time.Minute, nil); !errors.Is(err, redislock.ErrNotObtained) {
				t.Errorf("obtaining %s twice: %v", name, err)
			}
			if _, err := locks.Obtain(ctx, name, time.Minute, &redislock.Options{Token: lock.Token(), Metadata: "of the test"}); err != nil {
				t.Errorf("obtaining %s again with its token: %v", name, err)
			}
			if err := lock.Refresh(ctx, time.Hour, nil); err != nil {
				t.Errorf("refreshing %s: %v", name, err)
			}
			if ttl, err := lock.TTL(ctx); ttl < 59*time.Minute || ttl > time.Hour || err != nil {
				t.Errorf("%s is refreshed to %v, %v", name, ttl, err)
			}
			if err := lock.Release(ctx); err != nil {
				t.Errorf("releasing %s: %v", name, err)
			}
			if err := lock.Release(ctx); !errors.Is(err, redislock.ErrLockNotHeld) {
				t.Errorf("releasing %s twice: %v", name, err)
			}
			if ttl, err := lock.TTL(ctx); ttl != 0 || err != nil {
				t.Errorf("TTL of the released %s: %v, %v", name, ttl, err)
			}
			if err := lock.Refresh(ctx, time.Hour, nil); !errors.Is(err, redislock.ErrNotObtained) {
				t.Errorf("refreshing the released %s: %v", name, err)
			}
		}
		holdsExclusively(t, func() (func() error, error) {
			lock, err := locks.Obtain(ctx, "redislock:shared", time.Minute,
				&redislock.Options{RetryStrategy: redislock.LinearBackoff(2 * time.Millisecond)})
			return func() error { return lock.Release(ctx) }, err
		})
	})
}

func TestRedisRate(t *testing.T) {
	onBoth(t, func(t *testing.T, addrs []string) {
		ctx, c := t.Context(), clusterClient(t, addrs)
		limiter := redis_rate.NewLimiter(c)
		// So slow that the test sees nothing trickle in.
		limit := redis_rate.Limit{Rate: 1, Burst: 10, Period: time.Hour}
		for _, name := range resources("rate") {
			got, err := limiter.Allow(ctx, name, limit)
			if err != nil {
				t.Fatal(err)
			}
			if got.Allowed != 1 || got.Remaining != 9 || got.RetryAfter != -1 || !about(got.ResetAfter, time.Hour) {
				t.Errorf("the first of %s: %+v", name, got)
			}
			if got, err := limiter.AllowN(ctx, name, limit, 6); err != nil || got.Allowed != 6 || got.Remaining != 3 {
				t.Errorf("six of %s: %+v, %v", name, got, err)
			}
			got, err = limiter.AllowN(ctx, name, limit, 5)
			if err != nil || got.Allowed != 0 || got.Remaining != 0 || !about(got.RetryAfter, 2*time.Hour) || !about(got.ResetAfter, 7*time.Hour) {
				t.Errorf("five of three of %s: %+v, %v", name, got, err)
			}
			if got, err := limiter.AllowAtMost(ctx, name, limit, 5); err != nil || got.Allowed != 3 || got.Remaining != 0 || !about(got.ResetAfter, 10*time.Hour) {
				t.Errorf("at most five of %s: %+v, %v", name, got, err)
			}
			if got, err := limiter.AllowAtMost(ctx, name, limit, 5); err != nil || got.Allowed != 0 || !about(got.RetryAfter, time.Hour) {
				t.Errorf("at most five of none of %s: %+v, %v", name, got, err)
			}
			if err := limiter.Reset(ctx, name); err != nil {
				t.Error(err)
			}
			if got, err := limiter.Allow(ctx, name, limit); err != nil || got.Allowed != 1 || got.Remaining != 9 {
				t.Errorf("the first of %s after the reset: %+v, %v", name, got, err)
			}
		}

		// Whoever waits as long as told is let through.
		fast := redis_rate.Limit{Rate: 20, Burst: 1, Period: time.Second}
		allowed, asked, began := 0, 0, time.Now()
		for ; allowed < 6; asked++ {
			got, err := limiter.Allow(ctx, "rate:fast", fast)
			if err != nil {
				t.Fatal(err)
			}
			allowed += got.Allowed
			time.Sleep(max(0, got.RetryAfter))
		}
		if took := time.Since(began); took < 245*time.Millisecond || asked > 6+5 {
			t.Errorf("six at 20 a second took %v, and were asked for %d times", took, asked)
		}
	})
}

// about allows for what a busy machine takes between two steps.
func about(got, want time.Duration) bool { return (got - want).Abs() < 30*time.Second }
