package shim

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/fakecluster/fakecluster/slots"
	"github.com/redis/go-redis/v9"
)

// Event is what a Subscription tells: a message, or that messages may have been
// missed.
type Event struct {
	Channel string
	// Payload is the message, unless Gap is set.
	Payload string
	// Gap is set when the channel was subscribed anew, after its slot moved, its
	// node failed or the connection broke: messages published between the event
	// before and this one may have been missed.
	Gap bool
}

// SubscribeOptions are the options of SSubscribe.
type SubscribeOptions struct {
	// Buffer is how many events wait for a slow reader before the connection
	// that they come from is no longer read; 100 if 0.
	Buffer int
	// Health is how often idle connections are tried and owners of slots are
	// looked up; 3 s if 0.
	Health time.Duration
	// Logger receives what was lost and found; nil discards it.
	Logger *slog.Logger
	// Metrics, if not nil, is counted in.
	Metrics *Metrics
}

// Subscription is a subscription to sharded channels of any slots. It keeps one
// connection to each node that owns some of them, and follows channels to new
// owners.
type Subscription struct {
	client   *redis.ClusterClient
	o        SubscribeOptions
	events   chan Event
	wake     chan struct{} // there are channels to place
	ctx      context.Context
	cancel   context.CancelFunc
	running  sync.WaitGroup
	stopOnce sync.Once

	mu       sync.Mutex
	channels map[string]*subscribed
	conns    map[string]*subConn // by address
	hints    map[slots.Slot]string
	changed  chan struct{} // closed and renewed when a channel is confirmed
}

// subscribed is the state of a channel.
type subscribed struct {
	slot      slots.Slot
	conn      *subConn // to which SSUBSCRIBE was sent, or nil
	confirmed bool     // by conn
	before    bool     // it was confirmed once, so the next time there is a gap
}

// SSubscribe subscribes to sharded channels and returns when all subscriptions are
// confirmed, or with ctx's error. Events must be read until Close.
//
// A message that was published while its channel was subscribed is delivered
// once; around a gap it may be missed, never doubled.
//
// The client shows the way to the nodes, so close the Subscription before it.
func SSubscribe(ctx context.Context, client *redis.ClusterClient, o SubscribeOptions, channels ...string) (*Subscription, error) {
	if err := checkClient(client); err != nil {
		return nil, err
	}
	if o.Buffer <= 0 {
		o.Buffer = 100
	}
	if o.Health <= 0 {
		o.Health = 3 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Metrics == nil {
		o.Metrics = new(Metrics)
	}
	s := &Subscription{
		client: client, o: o, events: make(chan Event, o.Buffer), wake: make(chan struct{}, 1),
		channels: map[string]*subscribed{}, conns: map[string]*subConn{}, hints: map[slots.Slot]string{},
		changed: make(chan struct{}),
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.running.Go(s.place)
	if err := s.Add(ctx, channels...); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Events are the messages and gaps, each channel's in order. It is closed by
// Close.
func (s *Subscription) Events() <-chan Event { return s.events }

// Add subscribes to more channels and returns when they are confirmed. If ctx ends
// before, they stay wanted.
func (s *Subscription) Add(ctx context.Context, channels ...string) error {
	s.mu.Lock()
	for _, channel := range channels {
		if s.channels[channel] == nil {
			s.channels[channel] = &subscribed{slot: slots.OfString(channel)}
		}
	}
	s.mu.Unlock()
	s.poke()
	for {
		s.mu.Lock()
		changed, missing := s.changed, ""
		for _, channel := range channels {
			if c := s.channels[channel]; c != nil && !c.confirmed {
				missing = channel
			}
		}
		s.mu.Unlock()
		if missing == "" {
			return nil
		}
		select {
		case <-changed:
		case <-s.ctx.Done():
			return redis.ErrClosed
		case <-ctx.Done():
			return fmt.Errorf("shim: subscribing to %q: %w", missing, ctx.Err())
		}
	}
}

// Remove ends the subscription to channels. Events of theirs that are on their way
// still come.
func (s *Subscription) Remove(channels ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, channel := range channels {
		if c := s.channels[channel]; c != nil && c.conn != nil {
			if err := c.conn.send("SUNSUBSCRIBE", channel); err != nil {
				s.o.Logger.Debug("unsubscribing", "channel", channel, "error", err)
			}
		}
		delete(s.channels, channel)
	}
}

// Close ends the subscription and closes Events. It may be called more than once.
func (s *Subscription) Close() {
	s.stopOnce.Do(func() {
		s.cancel()
		s.mu.Lock()
		for _, conn := range s.conns {
			conn.close()
		}
		s.mu.Unlock()
		s.running.Wait()
		close(s.events)
	})
}

func (s *Subscription) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// place sends homeless channels to their owners until the subscription is closed.
func (s *Subscription) place() {
	const first, longest = 5 * time.Millisecond, time.Second
	pause := first
	health := time.NewTicker(s.o.Health)
	defer health.Stop()
	for {
		var again <-chan time.Time
		if s.placeAll() {
			pause = first
		} else {
			again = time.After(pause)
			pause = min(2*pause, longest)
		}
		select {
		case <-s.ctx.Done():
			return
		case <-again:
		case <-s.wake:
		case <-health.C:
			s.client.ReloadState(s.ctx)
			s.leaveStrangers()
		}
	}
}

// placeAll tries to place every homeless channel and reports whether it could.
func (s *Subscription) placeAll() bool {
	s.mu.Lock()
	homeless := map[slots.Slot][]string{}
	for name, c := range s.channels {
		if c.conn == nil {
			homeless[c.slot] = append(homeless[c.slot], name)
		}
	}
	s.mu.Unlock()

	byAddr := map[string][]slots.Slot{}
	nodes := map[string]*redis.Client{}
	all := true
	for slot := range homeless {
		node, addr, err := s.ownerOf(slot)
		if err != nil {
			s.o.Logger.Warn("the owner of a slot is unknown", "slot", int(slot), "error", err)
			all = false
			continue
		}
		nodes[addr] = node
		byAddr[addr] = append(byAddr[addr], slot)
	}
	var (
		placing sync.WaitGroup
		mu      sync.Mutex
	)
	for addr, owned := range byAddr {
		placing.Go(func() {
			if err := s.placeAt(nodes[addr], addr, owned, homeless); err != nil {
				s.o.Logger.Warn("subscribing failed", "addr", addr, "error", err)
				s.client.ReloadState(s.ctx)
				mu.Lock()
				all = false
				mu.Unlock()
			}
		})
	}
	placing.Wait()
	return all
}

// ownerOf finds the owner of a slot: where a MOVED said, once, or where the client
// believes it to be. With a hint the client is that of the believed owner, whose
// options serve to reach the other address.
func (s *Subscription) ownerOf(slot slots.Slot) (node *redis.Client, addr string, err error) {
	node, err = s.client.MasterForKey(s.ctx, slots.TagFor(slot))
	if err != nil {
		return nil, "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	addr = node.Options().Addr
	if hint, ok := s.hints[slot]; ok {
		addr = hint
		delete(s.hints, slot)
	}
	return node, addr, nil
}

// placeAt subscribes channels at one node, those of each slot by one command.
func (s *Subscription) placeAt(node *redis.Client, addr string, owned []slots.Slot, homeless map[slots.Slot][]string) error {
	conn, err := s.connTo(node, addr)
	if err != nil {
		return err
	}
	for _, slot := range owned {
		s.mu.Lock()
		if s.conns[addr] != conn {
			s.mu.Unlock()
			return net.ErrClosed // its reader has made its channels homeless already
		}
		args := []string{"SSUBSCRIBE"}
		for _, name := range homeless[slot] {
			if c := s.channels[name]; c != nil && c.conn == nil {
				c.conn, c.confirmed = conn, false
				args = append(args, name)
			}
		}
		if len(args) > 1 {
			conn.pending = append(conn.pending, args[1:])
			err = conn.send(args...)
		}
		s.mu.Unlock()
		if err != nil {
			conn.close() // its reader makes the channels homeless again
			return err
		}
	}
	return nil
}

// connTo returns the connection to a node, made if there is none.
func (s *Subscription) connTo(node *redis.Client, addr string) (*subConn, error) {
	s.mu.Lock()
	conn := s.conns[addr]
	s.mu.Unlock()
	if conn != nil {
		return conn, nil
	}
	w, err := dialWire(s.ctx, node, addr)
	if err != nil {
		return nil, err
	}
	conn = &subConn{wire: w, addr: addr}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		w.close()
		return nil, s.ctx.Err()
	}
	s.conns[addr] = conn
	s.running.Go(func() { s.read(conn) })
	return conn, nil
}

// leaveStrangers makes channels homeless whose connection leads to a node that
// owns their slot no more and did not say so, and closes idle connections.
func (s *Subscription) leaveStrangers() {
	s.mu.Lock()
	defer s.mu.Unlock()
	used := map[*subConn]bool{}
	for name, c := range s.channels {
		if c.conn == nil {
			continue
		}
		node, err := s.client.MasterForKey(s.ctx, slots.TagFor(c.slot))
		if err == nil && node.Options().Addr == c.conn.addr {
			delete(c.conn.doubts, name)
		} else if err == nil && c.confirmed && c.conn.strange(name) {
			if err := c.conn.send("SUNSUBSCRIBE", name); err != nil {
				c.conn.close()
			}
			c.conn, c.confirmed = nil, false
			continue
		}
		used[c.conn] = true
	}
	for _, conn := range s.conns {
		if !used[conn] && len(conn.pending) == 0 {
			conn.close()
		}
	}
}

// subConn is a connection with subscriptions. Its fields are guarded by the
// Subscription's lock.
type subConn struct {
	*wire
	addr    string
	pending [][]string // SSUBSCRIBEs that are not answered, oldest first
	doubts  map[string]bool
}

// strange reports whether a channel was found at the wrong node twice in a row;
// the client may be the one that is behind.
func (c *subConn) strange(channel string) bool {
	if c.doubts[channel] {
		delete(c.doubts, channel)
		return true
	}
	if c.doubts == nil {
		c.doubts = map[string]bool{}
	}
	c.doubts[channel] = true
	return false
}

// read delivers what comes on a connection until it breaks.
func (s *Subscription) read(conn *subConn) {
	pinged := make(chan struct{})
	s.running.Go(func() { s.ping(conn, pinged) })
	var err error
	for err == nil {
		var words []string
		words, err = conn.read(2*s.o.Health + conn.timeout)
		var refusal serverError
		if errors.As(err, &refusal) {
			err = s.onRefusal(conn, refusal)
			continue
		}
		if err == nil {
			err = s.onReply(conn, words)
		}
	}
	close(pinged)
	conn.close()
	if s.ctx.Err() == nil {
		s.o.Logger.Warn("a subscription lost its connection", "addr", conn.addr, "error", err)
	}
	s.mu.Lock()
	if s.conns[conn.addr] == conn {
		delete(s.conns, conn.addr)
	}
	for _, c := range s.channels {
		if c.conn == conn {
			c.conn, c.confirmed = nil, false
		}
	}
	s.mu.Unlock()
	if s.ctx.Err() == nil {
		s.client.ReloadState(s.ctx)
		s.poke()
	}
}

// ping keeps a connection busy, so that its reader notices when it is dead.
func (s *Subscription) ping(conn *subConn, done <-chan struct{}) {
	tick := time.NewTicker(s.o.Health)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			if err := conn.send("PING"); err != nil {
				conn.close()
				return
			}
		}
	}
}

func (s *Subscription) onReply(conn *subConn, words []string) error {
	if len(words) < 2 {
		return nil // a PONG before the first subscription
	}
	switch kind, channel := words[0], words[1]; kind {
	case "smessage":
		if len(words) == 3 {
			return s.deliver(Event{Channel: channel, Payload: words[2]})
		}
	case "ssubscribe":
		if s.onConfirmed(conn, channel) {
			s.o.Metrics.gaps.Add(1)
			return s.deliver(Event{Channel: channel, Gap: true})
		}
	case "sunsubscribe":
		s.onUnsubscribed(conn, channel)
	}
	return nil
}

func (s *Subscription) deliver(e Event) error {
	select {
	case s.events <- e:
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
}

// onConfirmed notes that a channel is subscribed, and reports whether messages may
// have been missed before.
func (s *Subscription) onConfirmed(conn *subConn, channel string) (gap bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(conn.pending) > 0 {
		if request := conn.pending[0]; request[len(request)-1] == channel {
			conn.pending = conn.pending[1:]
		}
	}
	c := s.channels[channel]
	if c == nil || c.conn != conn {
		return false
	}
	gap = c.before
	c.confirmed, c.before = true, true
	close(s.changed)
	s.changed = make(chan struct{})
	return gap
}

// onUnsubscribed looks for a new owner of a channel that its node has dropped, if
// it is still wanted.
func (s *Subscription) onUnsubscribed(conn *subConn, channel string) {
	s.mu.Lock()
	c := s.channels[channel]
	dropped := c != nil && c.conn == conn && c.confirmed
	if dropped {
		c.conn, c.confirmed = nil, false
	}
	s.mu.Unlock()
	if dropped {
		s.o.Logger.Info("a channel's slot left its node", "channel", channel, "addr", conn.addr)
		s.client.ReloadState(s.ctx)
		s.poke()
	}
}

// onRefusal is for an error reply, which is that to the oldest SSUBSCRIBE.
func (s *Subscription) onRefusal(conn *subConn, refusal serverError) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(conn.pending) == 0 {
		return refusal
	}
	request := conn.pending[0]
	conn.pending = conn.pending[1:]
	slot, addr, pause := 0, "", refusedPause
	if n, _ := fmt.Sscanf(string(refusal), "MOVED %d %s", &slot, &addr); n == 2 {
		s.hints[slots.Slot(slot)] = fullAddr(addr, conn.addr)
		pause = movedPause
	}
	for _, channel := range request {
		if c := s.channels[channel]; c != nil && c.conn == conn {
			c.conn, c.confirmed = nil, false
		}
	}
	s.o.Logger.Info("subscribing was refused", "addr", conn.addr, "error", refusal)
	s.client.ReloadState(s.ctx)
	time.AfterFunc(pause, s.poke)
	return nil
}

// How long to wait after a refusal: two nodes that disagree on a slot's owner send
// subscribers back and forth, and a cluster that is down stays so for a while.
const (
	movedPause   = 5 * time.Millisecond
	refusedPause = 50 * time.Millisecond
)
