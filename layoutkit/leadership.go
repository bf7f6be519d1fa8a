package layoutkit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// Leadership is the right of one replica to lead, until it resigns or loses it. It
// is renewed in the background.
type Leadership struct {
	*tenure
	name string
	term int64
}

// Name is what is led.
func (l *Leadership) Name() string { return l.name }

// Term is the number of the leadership; that of a later one is greater. What
// leaders write to should refuse what comes with a smaller one than it saw.
func (l *Leadership) Term() int64 { return l.term }

// Context is for the work of the leader. It ends when the leader resigns, and with
// the cause ErrLost when the leadership is lost: a tenth of the LeaderTTL before
// another replica can have it. It has the values of Campaign's context, but not its
// end.
func (l *Leadership) Context() context.Context { return l.ctx }

// Resign lets another replica lead. The error is ErrLost if the leadership was lost
// before.
func (l *Leadership) Resign(ctx context.Context) error { return l.give(ctx, context.Canceled) }

func (l *Leadership) give(ctx context.Context, cause error) error {
	l.stop(cause)
	return l.base.release(ctx, l.what, l.key, l.value)
}

// Campaign waits until this replica leads. ctx is for the waiting only: see
// Leadership.Context. Of several candidates any may win, also two of one replica.
//
// A candidate asks after 5, 10, 20 ms and so on up to every second, and when the
// leader's time is over. A leader that dies is followed after up to LeaderTTL.
func (c *Coordinator) Campaign(ctx context.Context, name string) (*Leadership, error) {
	if err := needed("leadership", name); err != nil {
		return nil, err
	}
	ctx, done, err := c.use(ctx)
	if err != nil {
		return nil, err
	}
	defer done()

	leader, term := c.names.leader(name)
	ttl, candidate, what := c.options.LeaderTTL, c.ticket(), fmt.Sprintf("the leadership of %q", name)
	number, sent, err := c.awaitAcquired(ctx, []string{leader, term}, candidate, ttl, time.Second)
	if err != nil {
		c.withdraw(ctx, what, []string{leader, term}, candidate)
		return nil, fmt.Errorf("campaigning for %s: %w", what, err)
	}
	t := c.newTenure(ctx, what, leader, heldValue(number, candidate), ttl, sent)
	l := &Leadership{tenure: t, name: name, term: number}
	c.hold(t, func(ctx context.Context) error { return l.give(ctx, ErrClosed) })
	return l, nil
}

// Leader tells who leads, and in which term. The error is ErrNotFound if nobody
// does.
func (c *Coordinator) Leader(ctx context.Context, name string) (replica string, term int64, err error) {
	if err := needed("leadership", name); err != nil {
		return "", 0, err
	}
	leader, _ := c.names.leader(name)
	value, err := c.client.Get(ctx, leader).Result()
	switch {
	case errors.Is(err, redis.Nil):
		return "", 0, fmt.Errorf("%w: a leader of %q", ErrNotFound, name)
	case err != nil:
		return "", 0, failed("reading who leads", err)
	}
	held, err := parseVersioned(value)
	if err != nil {
		return "", 0, err
	}
	replica, ok := replicaOf(held.json)
	if !ok {
		return "", 0, fmt.Errorf("%w: %q names no leader", ErrCorrupt, abridged(value))
	}
	return replica, held.version, nil
}

// awaitAcquired asks for a lock or leadership until it is acquired, at least as often
// as most says. It returns its number, and when the question was sent.
func (b *base) awaitAcquired(ctx context.Context, keys []string, holder string, ttl, most time.Duration) (number int64, sent time.Time, err error) {
	var answered time.Time
	for asked := 0; ; asked++ {
		if ctx.Err() != nil {
			return 0, sent, context.Cause(ctx)
		}
		sent = time.Now()
		number, left, err := b.acquire(ctx, keys, holder, ttl)
		switch {
		case err != nil && ctx.Err() == nil && !patience(err, answered, queueTTLs*ttl):
			return 0, sent, failed("asking for it", err)
		case err == nil && number > 0:
			return number, sent, nil
		case err == nil:
			answered = sent
		}
		pause := backoff(firstPause, most, asked)
		if left > 0 {
			pause = min(pause, left+time.Millisecond)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// withdraw gives back what an attempt may have acquired although its reply was
// lost.
func (b *base) withdraw(ctx context.Context, what string, keys []string, holder string) {
	ctx, cancel := cleanup(ctx)
	defer cancel()
	if err := b.script(ctx, withdrawScript, keys[:1], holder).Err(); err != nil {
		b.log.Warn("layoutkit: not withdrawn", "what", what, "error", err)
	}
}
