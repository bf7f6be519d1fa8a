package server

import (
	"sync/atomic"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/lock"
)

// Clock is the time of a cluster: the wall clock plus an offset that only
// grows. Because the wall clock is time.Now, it stands still and jumps in a
// testing/synctest bubble as everything else does there.
//
// The zero Clock shows the wall clock's time.
type Clock struct {
	offset atomic.Int64 // nanoseconds

	mu     lock.Mutex[lock.Leaf]
	change chan struct{}
}

// Now is the cluster's time.
func (c *Clock) Now() time.Time {
	return time.Now().Add(time.Duration(c.offset.Load()))
}

// NowSince is Now for who knows that it was earlier before: it asks one of the
// system's two clocks instead of both, which is felt when every command does.
func (c *Clock) NowSince(earlier time.Time) time.Time {
	return earlier.Add(time.Since(earlier) + time.Duration(c.offset.Load()))
}

// Advance moves the time forward by d and wakes those who wait for a time.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset.Add(int64(d))
	if c.change != nil {
		close(c.change)
		c.change = nil
	}
}

// reset makes the clock show the wall clock's time again.
func (c *Clock) reset() { c.Advance(-time.Duration(c.offset.Load())) }

// moved returns a channel that is closed when Advance is called next.
func (c *Clock) moved() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.change == nil {
		c.change = make(chan struct{})
	}
	return c.change
}
