package layoutkit

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// CoordinatorOptions are a replica's part in the coordination. The zero value is
// ready to use.
type CoordinatorOptions struct {
	// Replica names this process among those that share the prefix. It is the host
	// name and a random text if empty; names must differ.
	Replica string
	// HeartbeatTTL is how long a replica is held for alive after it was last heard
	// of: 10 s if 0, at least 100 ms. A heartbeat is sent three times as often.
	HeartbeatTTL time.Duration
	// TurnTTL is how long a turn outlives a replica that died in it, and how long a
	// ticket that is called may take to own its turn: 10 s if 0, at least 100 ms.
	TurnTTL time.Duration
	// LeaderTTL is how long a leadership outlives its leader: 10 s if 0, at least
	// 100 ms.
	LeaderTTL time.Duration
}

const (
	defaultTTL  = 10 * time.Second
	shortestTTL = 100 * time.Millisecond
)

func (o CoordinatorOptions) complete() (CoordinatorOptions, error) {
	for name, ttl := range map[string]*time.Duration{
		"HeartbeatTTL": &o.HeartbeatTTL, "TurnTTL": &o.TurnTTL, "LeaderTTL": &o.LeaderTTL,
	} {
		if *ttl == 0 {
			*ttl = defaultTTL
		}
		if *ttl < shortestTTL {
			return o, invalid("%s is %v: use at least %v, or 0 for %v", name, *ttl, shortestTTL, defaultTTL)
		}
	}
	if o.Replica == "" {
		host, err := os.Hostname()
		if err != nil {
			return o, fmt.Errorf("%w: Replica is empty and the host has no name: %w", ErrInvalid, err)
		}
		o.Replica = host + "-" + rand.Text()
	}
	return o, nil
}

// Coordinator lets replicas take turns and elect leaders. All of it may be used by
// many goroutines.
//
// A replica is alive while its heartbeat is there. It is sent in the background
// from Start, or the first use, until Close.
type Coordinator struct {
	*base
	options CoordinatorOptions
	nonce   string // tells this process from others of the same name

	closing context.Context // ends with Close
	end     context.CancelCauseFunc

	beating chan struct{} // full while the first heartbeat is sent
	beats   bool          // guarded by beating
	heart   sync.WaitGroup

	uses     sync.WaitGroup // who waits for something
	mu       sync.Mutex
	closed   bool
	tenures  map[*tenure]func(context.Context) error // what is held, and how it is released
	watchers map[string]map[chan struct{}]bool       // of each chat, who waits for a turn here
}

// NewCoordinator makes a coordinator without I/O. Its errors wrap ErrInvalid.
func NewCoordinator(o Options, c CoordinatorOptions) (*Coordinator, error) {
	c, err := c.complete()
	if err != nil {
		return nil, err
	}
	b, err := newBase(o)
	if err != nil {
		return nil, err
	}
	return newCoordinator(b, c), nil
}

// Coordinator makes a coordinator of the store's client, prefix and layout. It
// must be closed before the store.
func (s *Store) Coordinator(c CoordinatorOptions) (*Coordinator, error) {
	c, err := c.complete()
	if err != nil {
		return nil, err
	}
	return newCoordinator(s.lent(), c), nil
}

func newCoordinator(b *base, o CoordinatorOptions) *Coordinator {
	c := &Coordinator{
		base: b, options: o, nonce: rand.Text(), beating: make(chan struct{}, 1),
		tenures: map[*tenure]func(context.Context) error{}, watchers: map[string]map[chan struct{}]bool{},
	}
	c.closing, c.end = context.WithCancelCause(context.Background())
	return c
}

// lent is the base for a part that does not close the client.
func (b *base) lent() *base {
	lent := *b
	lent.owned = false
	return &lent
}

// Replica is the name of this replica.
func (c *Coordinator) Replica() string { return c.options.Replica }

// Start reaches the servers and begins to send heartbeats, which Turn and Campaign
// otherwise do.
func (c *Coordinator) Start(ctx context.Context) error {
	if err := c.start(ctx); err != nil {
		return err
	}
	return c.beat(ctx)
}

// Close ends waiting with ErrClosed, gives back tickets, turns and leaderships,
// whose contexts end, and takes the heartbeat away. What cannot be given back when
// ctx ends expires by itself.
func (c *Coordinator) Close(ctx context.Context) error {
	c.mu.Lock()
	already := c.closed
	c.closed = true
	c.mu.Unlock()
	if already {
		return nil
	}
	c.end(ErrClosed)
	c.uses.Wait()
	var errs []error
	for _, release := range c.held() {
		errs = append(errs, release(ctx))
	}

	c.beating <- struct{}{} // for good
	c.heart.Wait()
	if c.beats {
		errs = append(errs, c.release(ctx, "the heartbeat", c.names.heartbeat(c.options.Replica), c.nonce))
	}
	// What is lost needs no release.
	errs = slices.DeleteFunc(errs, func(err error) bool { return errors.Is(err, ErrLost) })
	return errors.Join(append(errs, c.base.close())...)
}

// hold lets Close release what is held, until its context ends.
func (c *Coordinator) hold(t *tenure, release func(context.Context) error) {
	c.mu.Lock()
	c.tenures[t] = release
	c.mu.Unlock()
	context.AfterFunc(t.ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.tenures, t)
	})
}

func (c *Coordinator) held() []func(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Values(c.tenures))
}

// Alive reports whether a replica has a heartbeat.
func (c *Coordinator) Alive(ctx context.Context, replica string) (bool, error) {
	if err := needed("replica", replica); err != nil {
		return false, err
	}
	n, err := c.client.Exists(ctx, c.names.heartbeat(replica)).Result()
	if err != nil {
		return false, failed("reading a heartbeat", err)
	}
	return n == 1, nil
}

// use lets the caller wait for something of this coordinator, until done is called
// or the returned context ends: with ctx or with Close.
func (c *Coordinator) use(ctx context.Context) (_ context.Context, done func(), err error) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil, nil, fmt.Errorf("%w: the coordinator", ErrClosed)
	}
	c.uses.Add(1)
	c.mu.Unlock()

	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.closing, func() { cancel(context.Cause(c.closing)) })
	done = func() {
		stop()
		cancel(nil)
		c.uses.Done()
	}
	if err := c.beat(ctx); err != nil {
		done()
		return nil, nil, err
	}
	return ctx, done, nil
}

// beat sends the first heartbeat, and others in the background. There is one
// before a ticket is taken, else its owner would look dead.
func (c *Coordinator) beat(ctx context.Context) error {
	select {
	case c.beating <- struct{}{}:
		defer func() { <-c.beating }()
	case <-ctx.Done():
		return failed("sending a heartbeat", context.Cause(ctx))
	case <-c.closing.Done():
		return fmt.Errorf("%w: the coordinator", ErrClosed)
	}
	if c.beats {
		return nil
	}
	if err := c.heartbeat(ctx); err != nil {
		return err
	}
	c.beats = true
	c.heart.Go(c.keepBeating)
	return nil
}

func (c *Coordinator) heartbeat(ctx context.Context) error {
	if err := c.client.Set(ctx, c.names.heartbeat(c.options.Replica), c.nonce, c.options.HeartbeatTTL).Err(); err != nil {
		return failed("sending a heartbeat", err)
	}
	return nil
}

func (c *Coordinator) keepBeating() {
	pause := c.options.HeartbeatTTL / renewals
	next := time.NewTimer(pause)
	defer next.Stop()
	for {
		select {
		case <-c.closing.Done():
			return
		case <-next.C:
		}
		err := c.heartbeat(c.closing)
		switch {
		case err == nil:
			next.Reset(pause)
		case c.closing.Err() == nil:
			c.log.Warn("layoutkit: no heartbeat", "replica", c.options.Replica, "error", err)
			next.Reset(pause / 4)
		}
	}
}

// ticket names one attempt of this replica in scripts.
func (c *Coordinator) ticket() string { return escape(c.options.Replica) + " " + rand.Text() }

// replicaOf is the replica of a ticket.
func replicaOf(ticket string) (string, bool) {
	segment, _, _ := strings.Cut(ticket, " ")
	return unescape(segment)
}
