package layoutkit

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/fakecluster/fakecluster/shim"
)

var (
	turnEnterScript = script("turn_enter", "seq", "tix", "serving", "owner", "last")
	turnSkipScript  = script("turn_skip", "tix", "owner")
	turnLeaveScript = script("turn_leave", "tix", "owner")
)

const (
	// numbersKept is how long the numbers of a chat's turns are kept after the
	// latest. Later ones come from the server's clock alone; so this is how far
	// clocks of servers may differ.
	numbersKept = time.Hour
	// queueTTLs is for how many TurnTTLs tickets are kept although nobody asks.
	queueTTLs = 6
)

// Turn is the right of one replica to work on a chat, until it is released or
// lost. It is renewed in the background.
type Turn struct {
	*tenure
	c      *Coordinator
	ticket string
	chat   string
	fence  int64
}

// Chat is the chat whose turn it is.
func (t *Turn) Chat() string { return t.chat }

// Fence is the number of the turn; that of a later turn of the chat is greater.
// What the turn protects should refuse what comes with a smaller one than it saw.
func (t *Turn) Fence() int64 { return t.fence }

// Context is for the work of the turn. It ends when the turn is released, and with
// the cause ErrLost when it is lost: a tenth of the TurnTTL before another replica
// can own one. It has the values of Turn's context, but not its end.
func (t *Turn) Context() context.Context { return t.ctx }

// Release lets the next in line have its turn. The error is ErrLost if the turn was
// lost before, so that others may have worked on the chat meanwhile.
func (t *Turn) Release(ctx context.Context) error { return t.give(ctx, context.Canceled) }

func (t *Turn) give(ctx context.Context, cause error) error {
	t.stop(cause)
	defer t.c.nudge(t.chat)
	return t.base.release(ctx, t.what, t.key, t.value)
}

// Turn waits for a turn of a chat, in the order in which all replicas asked. ctx is
// for the waiting only: see Turn.Context. When the waiting ends without a turn its
// ticket is given back.
//
// The next in line asks after 5, 10, 20, 40 ms and then every 50 ms; one with n
// others before it, n+1 times as rarely and at least every 500 ms. Turns released
// by this coordinator are noticed at once. A replica that dies in its turn keeps it
// for up to TurnTTL, and one that dies in line is skipped when its heartbeat is
// over, after HeartbeatTTL.
func (c *Coordinator) Turn(ctx context.Context, chat string) (*Turn, error) {
	if err := needed("chat", chat); err != nil {
		return nil, err
	}
	ctx, done, err := c.use(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	released := c.watch(chat)
	defer c.unwatch(chat, released)

	t := &Turn{c: c, ticket: c.ticket(), chat: chat}
	if err := t.wait(ctx, released); err != nil {
		ctx, cancel := cleanup(ctx)
		defer cancel()
		if left := c.leave(ctx, chat, t.ticket); left != nil {
			c.log.Warn("layoutkit: a ticket was not given back", "chat", chat, "error", left)
		}
		c.nudge(chat)
		return nil, fmt.Errorf("waiting for a turn of chat %q: %w", chat, err)
	}
	c.hold(t.tenure, func(ctx context.Context) error { return t.give(ctx, ErrClosed) })
	return t, nil
}

// wait asks until the turn is owned.
func (t *Turn) wait(ctx context.Context, released <-chan struct{}) error {
	ttl := t.c.options.TurnTTL
	var line queue
	var answered time.Time
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		sent := time.Now()
		reply, err := t.c.enter(ctx, t.chat, t.ticket)
		switch {
		case err == nil && reply.owned:
			t.fence = reply.number
			t.tenure = t.c.newTenure(ctx, fmt.Sprintf("the turn of chat %q", t.chat),
				t.c.names.turn(t.chat, "owner"), heldValue(t.fence, t.ticket), ttl, sent)
			return nil
		case err == nil:
			answered = sent
			err = t.c.skipDead(ctx, t.chat, reply.called)
		}
		if err != nil && ctx.Err() == nil && !patience(err, answered, queueTTLs*ttl) {
			return err
		}
		select {
		case <-ctx.Done():
		case <-released:
		case <-time.After(line.pause(reply.before)):
		}
	}
}

// patience reports whether to ask again after an error: if none came of the
// question itself, and what was answered to an earlier one can still be true.
// Questions are made to be asked again, so lost replies do not matter.
func patience(err error, answered time.Time, valid time.Duration) bool {
	var lost *shim.LostReplyError
	var refused *shim.NotRunError
	return (errors.As(err, &lost) || errors.As(err, &refused)) && time.Since(answered) < valid
}

// standing is what turn_enter answers.
type standing struct {
	owned  bool
	number int64  // of the turn
	before int64  // tickets before this one
	called string // the ticket that is called
}

func (c *Coordinator) turnKeys(chat string, parts ...string) []string {
	keys := make([]string, len(parts))
	for i, part := range parts {
		keys[i] = c.names.turn(chat, part)
	}
	return keys
}

// enter takes the ticket, or asks again with it.
func (c *Coordinator) enter(ctx context.Context, chat, ticket string) (standing, error) {
	keys := c.turnKeys(chat, "seq", "tix", "serving", "owner", "last")
	ttl := c.options.TurnTTL.Milliseconds()
	reply, err := c.script(ctx, turnEnterScript, keys, ticket, ttl, queueTTLs*ttl, numbersKept.Milliseconds()).Slice()
	if err != nil {
		return standing{}, failed("asking for a turn", err)
	}
	number, _ := reply[1].(int64)
	if owned, _ := reply[0].(int64); owned == 1 {
		return standing{owned: true, number: number}, nil
	}
	called, _ := reply[2].(string)
	return standing{before: number, called: called}, nil
}

// skipDead skips a ticket that is called, if its replica is dead.
func (c *Coordinator) skipDead(ctx context.Context, chat, ticket string) error {
	replica, ok := replicaOf(ticket)
	if !ok {
		return nil
	}
	alive, err := c.Alive(ctx, replica)
	if err != nil || alive {
		return err
	}
	err = c.script(ctx, turnSkipScript, c.turnKeys(chat, "tix", "owner"), ticket).Err()
	if err != nil {
		return failed("skipping a dead replica", err)
	}
	c.nudge(chat)
	return nil
}

// leave gives a ticket back, and the turn if it was owned without word of it.
func (c *Coordinator) leave(ctx context.Context, chat, ticket string) error {
	return c.script(ctx, turnLeaveScript, c.turnKeys(chat, "tix", "owner"), ticket).Err()
}

// watch is told when a turn of the chat may be had because of this coordinator.
func (c *Coordinator) watch(chat string) chan struct{} {
	released := make(chan struct{}, 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watchers[chat] == nil {
		c.watchers[chat] = map[chan struct{}]bool{}
	}
	c.watchers[chat][released] = true
	return released
}

func (c *Coordinator) unwatch(chat string, released chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.watchers[chat], released)
	if len(c.watchers[chat]) == 0 {
		delete(c.watchers, chat)
	}
}

// nudge makes those of this coordinator who wait for the chat ask at once.
func (c *Coordinator) nudge(chat string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for released := range c.watchers[chat] {
		select {
		case released <- struct{}{}:
		default:
		}
	}
}

const (
	firstPause = 5 * time.Millisecond
	mostPause  = 50 * time.Millisecond
	rarest     = 500 * time.Millisecond
)

// queue is somebody's way through a line.
type queue struct {
	before int64 // those in front
	asked  int   // how often since that changed
}

// pause is how long to wait before asking again.
func (q *queue) pause(before int64) time.Duration {
	if before != q.before {
		q.before, q.asked = before, 0
	}
	pause := backoff(firstPause, mostPause, q.asked)
	q.asked++
	return min(pause*time.Duration(before+1), rarest)
}

// backoff doubles a pause n times, up to a bound, and lets it differ by up to a
// tenth so that replicas do not ask in step.
func backoff(first, most time.Duration, n int) time.Duration {
	pause := min(first<<min(n, 20), most)
	return pause - time.Duration(rand.Int64N(int64(pause)/10+1))
}
