package layoutkit_test

import (
	"context"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/layoutkit"
)

func TestLocks(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		locks := x.store(t).Locks()
		first, err := locks.Acquire(t.Context(), "a:{b}", time.Minute)
		must(t, err)
		if first.Fence() != 1 || first.Key() != "a:{b}" {
			t.Errorf("fence %d of %q", first.Fence(), first.Key())
		}
		_, err = locks.Acquire(t.Context(), "a:{b}", time.Minute)
		wantError(t, err, layoutkit.ErrHeld)
		must(t, first.Renew(t.Context(), time.Hour))
		lock, fence := "lock:a%3A%7Bb%7D", "fence:a%3A%7Bb%7D"
		if x.layout == layoutkit.Cluster {
			lock, fence = "{lk:a%3A%7Bb%7D}:l", "{lk:a%3A%7Bb%7D}:f"
		}
		if ttl := x.client.PTTL(t.Context(), x.key(lock)).Val(); ttl < 59*time.Minute || ttl > time.Hour {
			t.Errorf("time to live %v", ttl)
		}
		if is := x.client.Get(t.Context(), x.key(fence)).Val(); is != "1" {
			t.Errorf("fence %s", is)
		}
		must(t, first.Release(t.Context()))
		wantError(t, first.Release(t.Context()), layoutkit.ErrLost)
		wantError(t, first.Renew(t.Context(), time.Hour), layoutkit.ErrLost)

		second, err := locks.Acquire(t.Context(), "a:{b}", time.Minute)
		must(t, err)
		wantError(t, first.Release(t.Context()), layoutkit.ErrLost)
		third := make(chan *layoutkit.Lock, 1)
		go func() {
			lock, err := locks.Wait(t.Context(), "a:{b}", time.Minute)
			if err != nil {
				t.Error(err)
			}
			third <- lock
		}()
		short, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		defer cancel()
		_, err = locks.Wait(short, "a:{b}", time.Minute)
		wantError(t, err, context.DeadlineExceeded)
		must(t, second.Release(t.Context()))
		last := <-third
		if last == nil {
			t.FailNow()
		}
		if last.Fence() != 3 {
			t.Errorf("fence %d", last.Fence())
		}
		must(t, last.Release(t.Context()))
	})
}

// A lock that is not renewed ends when its time is over, and who waits has it then.
func TestLockExpires(t *testing.T) {
	inTime(t, func(t *testing.T, x *target) {
		locks := x.store(t).Locks()
		first, err := locks.Acquire(t.Context(), "key", 30*time.Second)
		must(t, err)
		begun := time.Now()
		second, err := locks.Wait(t.Context(), "key", time.Second)
		must(t, err)
		if waited := time.Since(begun); waited < 29900*time.Millisecond || waited > 30100*time.Millisecond {
			t.Errorf("waited %v", waited)
		}
		wantError(t, first.Renew(t.Context(), time.Second), layoutkit.ErrLost)
		if first.Fence() != 1 || second.Fence() != 2 {
			t.Errorf("fences %d, %d", first.Fence(), second.Fence())
		}
	})
}

func TestLocksRefuse(t *testing.T) {
	x := find(t, "emulator/cluster").target(t)
	locks := x.store(t).Locks()
	_, err := locks.Acquire(t.Context(), "", time.Second)
	wantError(t, err, layoutkit.ErrInvalid)
	for _, ttl := range []time.Duration{0, -time.Second, time.Microsecond} {
		_, err = locks.Acquire(t.Context(), "key", ttl)
		wantError(t, err, layoutkit.ErrInvalid)
		_, err = locks.Wait(t.Context(), "key", ttl)
		wantError(t, err, layoutkit.ErrInvalid)
	}
	lock, err := locks.Acquire(t.Context(), "key", time.Second)
	must(t, err)
	wantError(t, lock.Renew(t.Context(), 0), layoutkit.ErrInvalid)
}

func TestLeases(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		leases := x.store(t).Leases()
		must(t, leases.Acquire(t.Context(), "sc:an", "a", time.Minute))
		must(t, leases.Acquire(t.Context(), "sc:an", "a", time.Hour))
		wantError(t, leases.Acquire(t.Context(), "sc:an", "b", time.Minute), layoutkit.ErrHeld)
		wantError(t, leases.Renew(t.Context(), "sc:an", "b", time.Minute), layoutkit.ErrLost)
		wantError(t, leases.Release(t.Context(), "sc:an", "b"), layoutkit.ErrLost)
		if holder := x.client.Get(t.Context(), x.key("lease:sc%3Aan")).Val(); holder != "a" {
			t.Errorf("held by %q", holder)
		}
		if ttl := x.client.PTTL(t.Context(), x.key("lease:sc%3Aan")).Val(); ttl < 59*time.Minute || ttl > time.Hour {
			t.Errorf("time to live %v", ttl)
		}
		must(t, leases.Renew(t.Context(), "sc:an", "a", time.Minute))
		must(t, leases.Release(t.Context(), "sc:an", "a"))
		wantError(t, leases.Release(t.Context(), "sc:an", "a"), layoutkit.ErrLost)
		must(t, leases.Acquire(t.Context(), "sc:an", "b", time.Minute))

		for _, bad := range []error{
			leases.Acquire(t.Context(), "", "a", time.Minute), leases.Acquire(t.Context(), "l", "", time.Minute),
			leases.Acquire(t.Context(), "l", "a", 0), leases.Renew(t.Context(), "l", "a", -1),
			leases.Release(t.Context(), "", "a"), leases.Release(t.Context(), "l", ""),
		} {
			wantError(t, bad, layoutkit.ErrInvalid)
		}
	})
}

func TestLeaseExpires(t *testing.T) {
	inTime(t, func(t *testing.T, x *target) {
		leases := x.store(t).Leases()
		must(t, leases.Acquire(t.Context(), "l", "a", time.Minute))
		time.Sleep(time.Minute) // a key is there until its last millisecond is over
		wantError(t, leases.Acquire(t.Context(), "l", "b", time.Minute), layoutkit.ErrHeld)
		time.Sleep(time.Millisecond)
		must(t, leases.Acquire(t.Context(), "l", "b", time.Minute))
		wantError(t, leases.Renew(t.Context(), "l", "a", time.Minute), layoutkit.ErrLost)
	})
}
