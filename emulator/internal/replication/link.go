package replication

import (
	"cmp"
	"slices"
)

// Link is one replica's place in its master's log. A replica uses it under its
// own node's lock; the log may be appended to meanwhile.
//
// A new Link waits for a full resynchronization: copy the master's data while
// the master executes nothing, call BeginCopy at that moment, and EndCopy when
// the replica has the copy.
type Link struct {
	log     *Log
	replica string

	// All below is guarded by log.mu.
	next      int64 // sequence number of the next block to take
	taken     int64 // offset behind the last block taken
	copied    int64 // offset of the copy being made
	lag       int64 // ms
	stoppedAt int64 // since when nothing arrives, 0 while it does
	stopped   int64 // sequence number of the first block that came after that
	broken    bool  // nothing will ever arrive again
	syncing   bool
	lost      bool
	eager     bool
}

// Attach adds a replica, named by whatever the caller likes. It has nothing
// until EndCopy.
func (l *Log) Attach(replica string, now int64) *Link {
	l.active.Store(true)
	l.mu.Lock()
	link := &Link{log: l, replica: replica, syncing: true, next: l.end()}
	l.links = append(l.links, link)
	if l.offset == 0 {
		// The first thing any replica receives is its master's PING.
		l.offset += pingSize
	}
	l.mu.Unlock()
	l.notify()
	return link
}

// BeginCopy says that a copy is made of the master as it is now. It returns the
// history and offset the copy belongs to. What the master writes from here on
// waits for EndCopy: the copy would undo it.
func (k *Link) BeginCopy() (Identity, int64) {
	l := k.log
	l.mu.Lock()
	defer l.mu.Unlock()
	k.syncing, k.lost = true, false
	k.next, k.copied = l.end(), l.offset
	l.selected = -1 // the stream names the database again for the newcomer
	l.trim(false)
	return l.identity, l.offset
}

// EndCopy says that the replica has the copy.
func (k *Link) EndCopy() {
	k.log.mu.Lock()
	k.syncing, k.taken = false, k.copied
	k.log.mu.Unlock()
	k.log.notify()
}

// Start declares the replica equal to the master as it is now: a copy that takes
// no time. It returns what BeginCopy does.
func (k *Link) Start() (Identity, int64) {
	identity, offset := k.BeginCopy()
	k.EndCopy()
	return identity, offset
}

// Replica is the name given to Attach.
func (k *Link) Replica() string { return k.replica }

// NeedsSync reports whether the replica must copy the master's data: it is new,
// or what it had not taken grew over the log's Limit.
func (k *Link) NeedsSync() bool {
	k.log.mu.Lock()
	defer k.log.mu.Unlock()
	return (k.syncing || k.lost) && !k.broken
}

// Next takes the next block that has reached the replica by now. ok is false
// when there is none.
func (k *Link) Next(now int64) (b Block, ok bool) {
	l := k.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if k.syncing || k.lost || k.next >= k.arriving() {
		return Block{}, false
	}
	b = l.blocks[k.next-l.first]
	if b.At+k.lag > k.clock(now) {
		return Block{}, false
	}
	k.next++
	k.taken = b.End
	l.trim(false)
	return b, true
}

// Pending reports whether Next would return a block.
func (k *Link) Pending(now int64) bool {
	l := k.log
	l.mu.Lock()
	defer l.mu.Unlock()
	return !k.syncing && !k.lost && k.next < k.arriving() && l.blocks[k.next-l.first].At+k.lag <= k.clock(now)
}

// SetEager tells whether the replica wants to take what arrives at once, not
// only when somebody asks it something: see Append.
func (k *Link) SetEager(eager bool) {
	k.log.mu.Lock()
	k.eager = eager
	k.log.mu.Unlock()
}

// NextArrival is when the next block reaches the replica, in Unix milliseconds;
// ok is false when none is on its way.
func (k *Link) NextArrival() (at int64, ok bool) {
	l := k.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if k.syncing || k.lost || k.next >= k.arriving() {
		return 0, false
	}
	at = l.blocks[k.next-l.first].At + k.lag
	return at, k.stoppedAt == 0 || at <= k.stoppedAt
}

// arriving is the sequence number behind the last block that can arrive.
func (k *Link) arriving() int64 {
	if k.stoppedAt != 0 {
		return min(k.stopped, k.log.end())
	}
	return k.log.end()
}

// stop lets nothing arrive that has not by now.
func (k *Link) stop(now int64) {
	if k.stoppedAt == 0 {
		k.stoppedAt, k.stopped = now, k.log.end()
	}
}

// clock is the time up to which effects travel.
func (k *Link) clock(now int64) int64 {
	if k.stoppedAt != 0 {
		return min(now, k.stoppedAt)
	}
	return now
}

// Received is the offset the replica has reached, whether or not it has taken
// everything: what REPLCONF ACK would say.
func (k *Link) Received(now int64) int64 {
	k.log.mu.Lock()
	defer k.log.mu.Unlock()
	return k.received(now)
}

func (k *Link) received(now int64) int64 {
	l := k.log
	if k.syncing || k.lost {
		return k.taken
	}
	waiting := l.blocks[k.next-l.first : max(k.next, k.arriving())-l.first]
	deadline := k.clock(now) - k.lag
	n := len(waiting)
	if n > 0 && waiting[n-1].At > deadline {
		n, _ = slices.BinarySearchFunc(waiting, deadline+1, func(b Block, at int64) int { return cmp.Compare(b.At, at) })
	}
	if n == 0 {
		return k.taken
	}
	return waiting[n-1].End
}

// SetLag makes every effect travel for so many milliseconds.
func (k *Link) SetLag(ms int64) {
	k.log.mu.Lock()
	k.lag = ms
	k.log.mu.Unlock()
	k.log.notify()
}

// Lag is what SetLag was called with.
func (k *Link) Lag() int64 {
	k.log.mu.Lock()
	defer k.log.mu.Unlock()
	return k.lag
}

// Pause stops what has not arrived by now; Resume lets it arrive.
func (k *Link) Pause(now int64) {
	k.log.mu.Lock()
	defer k.log.mu.Unlock()
	k.stop(now)
}

// Resume ends a Pause.
func (k *Link) Resume() {
	k.log.mu.Lock()
	if !k.broken {
		k.stoppedAt = 0
	}
	k.log.mu.Unlock()
	k.log.notify()
}

// Paused reports whether the link is paused or broken.
func (k *Link) Paused() bool {
	k.log.mu.Lock()
	defer k.log.mu.Unlock()
	return k.stoppedAt != 0
}

// Break ends the connection: the master died or follows somebody else. What
// had arrived by now can still be taken, the rest is lost.
func (k *Link) Break(now int64) {
	l := k.log
	l.mu.Lock()
	k.stop(now)
	k.broken = true
	l.mu.Unlock()
	l.notify()
}

// Broken reports whether Break was called.
func (k *Link) Broken() bool {
	k.log.mu.Lock()
	defer k.log.mu.Unlock()
	return k.broken
}

// Detach removes the replica from the log, which forgets what only it needed.
// The link gives nothing any more.
func (k *Link) Detach() {
	l := k.log
	l.mu.Lock()
	if i := slices.Index(l.links, k); i >= 0 {
		l.links = slices.Delete(l.links, i, i+1)
	}
	k.broken, k.syncing = true, true
	l.trim(false)
	l.mu.Unlock()
	l.notify()
}

// Silence is for how many milliseconds the replica and its master have not
// heard each other.
func (k *Link) Silence(now int64) int64 {
	k.log.mu.Lock()
	defer k.log.mu.Unlock()
	return k.silence(now)
}

func (k *Link) silence(now int64) int64 {
	if k.stoppedAt == 0 {
		return 0
	}
	return max(0, now-k.stoppedAt)
}
