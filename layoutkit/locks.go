package layoutkit

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/fakecluster/fakecluster/shim"
)

// Locks exclude holders of the same key from each other, each for a time that the
// holder chooses and renews itself.
type Locks struct{ *base }

// Locks are the locks of the store.
func (s *Store) Locks() *Locks { return &Locks{s.lent()} }

// Lock is a key that is held.
type Lock struct {
	locks  *Locks
	key    string
	fence  int64
	holder string
}

// Key is what is locked.
func (l *Lock) Key() string { return l.key }

// Fence is how often the key was locked; that of a later lock is greater. What the
// lock protects should refuse what comes with a smaller one than it saw.
func (l *Lock) Fence() int64 { return l.fence }

// Acquire locks a key for ttl, at least 1 ms. The error is ErrHeld if somebody else
// holds it.
func (l *Locks) Acquire(ctx context.Context, key string, ttl time.Duration) (*Lock, error) {
	lock, err := l.new(key, ttl)
	if err != nil {
		return nil, err
	}
	fence, left, err := l.acquire(ctx, lock.keys(), lock.holder, ttl)
	switch {
	case err != nil:
		if lost := new(shim.LostReplyError); errors.As(err, &lost) {
			l.withdraw(ctx, lock.String(), lock.keys(), lock.holder)
		}
		return nil, failed("acquiring "+lock.String(), err)
	case fence == 0:
		return nil, fmt.Errorf("%w: %v, for another %v unless they renew or release it", ErrHeld, lock, left)
	}
	lock.fence = fence
	return lock, nil
}

// Wait locks a key for ttl as soon as nobody else holds it. It asks after 5, 10,
// 20 ms and so on up to every 250 ms, and when the holder's time is over. Of several
// who wait any may be first: Coordinator.Turn has an order.
func (l *Locks) Wait(ctx context.Context, key string, ttl time.Duration) (*Lock, error) {
	lock, err := l.new(key, ttl)
	if err != nil {
		return nil, err
	}
	lock.fence, _, err = l.awaitAcquired(ctx, lock.keys(), lock.holder, ttl, 250*time.Millisecond)
	if err != nil {
		l.withdraw(ctx, lock.String(), lock.keys(), lock.holder)
		return nil, fmt.Errorf("waiting for %v: %w", lock, err)
	}
	return lock, nil
}

func (l *Locks) new(key string, ttl time.Duration) (*Lock, error) {
	if err := needed("lock key", key); err != nil {
		return nil, err
	}
	if err := holdable(ttl); err != nil {
		return nil, err
	}
	return &Lock{locks: l, key: key, holder: rand.Text()}, nil
}

// holdable refuses times for which nothing can be held.
func holdable(ttl time.Duration) error {
	if ttl < time.Millisecond {
		return invalid("the time to live %v is too short: use 1 ms or more", ttl)
	}
	return nil
}

// Renew holds the lock for another ttl from now. The error is ErrLost if it
// expired.
func (l *Lock) Renew(ctx context.Context, ttl time.Duration) error {
	if err := holdable(ttl); err != nil {
		return err
	}
	return l.locks.renew(ctx, l.String(), l.keys()[0], l.value(), ttl)
}

// Release lets others have the key. The error is ErrLost if the lock expired, so
// that others may have held it meanwhile.
func (l *Lock) Release(ctx context.Context) error {
	return l.locks.release(ctx, l.String(), l.keys()[0], l.value())
}

func (l *Lock) String() string { return fmt.Sprintf("the lock %q", l.key) }

func (l *Lock) value() string { return heldValue(l.fence, l.holder) }

func (l *Lock) keys() []string {
	lock, fence := l.locks.names.lock(l.key)
	return []string{lock, fence}
}
