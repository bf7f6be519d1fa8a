package layoutkit

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

var (
	acquireScript  = script("acquire", "held", "count")
	renewScript    = script("renew", "held")
	releaseScript  = script("release", "held")
	withdrawScript = script("withdraw", "held")
)

// renewals is how often a time to live is renewed while it lasts.
const renewals = 3

// giveBackWithin bounds the commands that clean up although the caller's context
// is over.
const giveBackWithin = 5 * time.Second

// cleanup is a context for giving back what was taken under ctx.
func cleanup(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), giveBackWithin)
}

// acquire asks once for a lock or leadership. It returns the number of the
// acquisition, or 0 and how long somebody else still holds it unless they renew.
func (b *base) acquire(ctx context.Context, keys []string, holder string, ttl time.Duration) (number int64, left time.Duration, err error) {
	reply, err := b.script(ctx, acquireScript, keys, holder, ttl.Milliseconds()).Int64Slice()
	if err != nil {
		return 0, 0, err
	}
	if reply[0] == 0 {
		return 0, time.Duration(reply[1]) * time.Millisecond, nil
	}
	return reply[1], 0, nil
}

// heldValue is what a key holds for the holder of a number.
func heldValue(number int64, holder string) string {
	return strconv.FormatInt(number, 10) + " " + holder
}

// renew gives what is held another ttl. The error is ErrLost if it is not held.
func (b *base) renew(ctx context.Context, what, key, value string, ttl time.Duration) error {
	return held("renewing "+what, b.script(ctx, renewScript, []string{key}, value, ttl.Milliseconds()))
}

// release ends what is held. The error is ErrLost if it is not held.
func (b *base) release(ctx context.Context, what, key, value string) error {
	return held("releasing "+what, b.script(ctx, releaseScript, []string{key}, value))
}

// held is the error of a script that returns 0 if something is not the caller's.
func held(doing string, cmd *redis.Cmd) error {
	n, err := cmd.Int()
	switch {
	case err != nil:
		return failed(doing, err)
	case n == 0:
		return fmt.Errorf("%w: %s", ErrLost, doing)
	}
	return nil
}

// tenure is a turn or a leadership: held for a time and renewed in the background
// until it is released or lost.
//
// Its context ends before its key can expire: a tenth of the time to live early,
// counted from before the latest renewal that succeeded was sent.
type tenure struct {
	ctx    context.Context
	end    context.CancelCauseFunc
	expiry *time.Timer
	ended  chan struct{} // the renewing goroutine is gone

	base       *base
	what       string
	key, value string
	ttl        time.Duration
}

// newTenure keeps what was acquired by a command sent at a time. The context has
// ctx' values, not its end.
func (b *base) newTenure(ctx context.Context, what, key, value string, ttl time.Duration, sent time.Time) *tenure {
	t := &tenure{base: b, what: what, key: key, value: value, ttl: ttl, ended: make(chan struct{})}
	t.ctx, t.end = context.WithCancelCause(context.WithoutCancel(ctx))
	t.expiry = time.AfterFunc(time.Until(t.until(sent)), func() {
		t.end(fmt.Errorf("%w: %s could not be renewed in time", ErrLost, what))
	})
	go t.keep()
	return t
}

// until is the end of what was acquired or renewed by a command sent at a time.
func (t *tenure) until(sent time.Time) time.Time { return sent.Add(t.ttl - t.ttl/10) }

// keep renews until the context ends.
func (t *tenure) keep() {
	defer close(t.ended)
	defer t.expiry.Stop()
	next := time.NewTimer(t.ttl / renewals)
	defer next.Stop()
	for {
		select {
		case <-t.ctx.Done():
			return
		case <-next.C:
		}
		sent := time.Now()
		err := t.base.renew(t.ctx, t.what, t.key, t.value, t.ttl)
		switch {
		case err == nil:
			t.expiry.Reset(time.Until(t.until(sent)))
			next.Reset(t.ttl / renewals)
		case errors.Is(err, ErrLost):
			t.end(err)
		case t.ctx.Err() == nil:
			t.base.log.Warn("layoutkit: not renewed", "what", t.what, "error", err)
			next.Reset(t.ttl / (4 * renewals))
		}
	}
}

// stop ends the renewing and the context with a cause.
func (t *tenure) stop(cause error) {
	t.end(cause)
	<-t.ended
}
