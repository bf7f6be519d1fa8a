package broker

import (
	"context"
	"errors"
	"time"

	"github.com/fakecluster/fakecluster/shim"
	"github.com/redis/go-redis/v9"
)

// transport is what differs between lists, streams and channels. All of its methods
// but fetch may be called at the same time.
type transport interface {
	// check refuses what would fail.
	check(c *checker)
	// prepare makes what fetching needs.
	prepare(ctx context.Context) error
	// fetch returns up to n messages. If there are none it waits for a moment, about
	// as long as Options.Block, and returns none.
	fetch(ctx context.Context, n int) ([]*delivery, error)
	ack(ctx context.Context, d *delivery) error
	// retry makes the message come again, after a time only if delays.
	retry(ctx context.Context, d *delivery, after time.Duration) error
	// delays reports whether retry can wait.
	delays() bool
	// bury makes the message a dead letter, or lets it go if there is no place for it.
	bury(ctx context.Context, d *delivery, reason string) error
	// giveBack undoes fetch for a message that was not handled.
	giveBack(ctx context.Context, d *delivery) error
	// sweep does what has become due. It is called every sweepEvery.
	sweep(ctx context.Context) error
	// stop ends what prepare began.
	stop(ctx context.Context) error
}

const (
	sweepEvery = 250 * time.Millisecond
	// sweepMax is how many entries a sweep moves.
	sweepMax = 100
)

// delivery is a message that was fetched.
type delivery struct {
	Message
	entry   string        // the text in a list
	id      string        // of an entry of a stream
	channel string        // that a message of a channel came by
	count   int           // how often it was delivered, this time included
	idle    time.Duration // how long it had been with a consumer that is gone
}

// Delivery is what a handler can know of its message beside the message.
type Delivery struct {
	Headers Headers
	// Source is the key or channel that the message came by.
	Source string
	// Entry is the id of a stream's entry.
	Entry string
	// Count is how often the message was delivered, this time included.
	Count int
	// Idle is how long a message was with a consumer that it was reclaimed from.
	Idle time.Duration
}

type deliveryKey struct{}

// DeliveryOf returns what is known of the message that a handler's context is for.
func DeliveryOf(ctx context.Context) Delivery {
	d, _ := ctx.Value(deliveryKey{}).(Delivery)
	return d
}

// repeatable runs something that does nothing the second time until its reply comes.
func repeatable(ctx context.Context, run func() error) error {
	return insist(ctx, run, func(err error) bool {
		var lost *shim.LostReplyError
		return errors.As(err, &lost) || didNotRun(err)
	})
}

// once runs something until it has run, or perhaps has: then it returns an error.
func once(ctx context.Context, run func() error) error { return insist(ctx, run, didNotRun) }

func didNotRun(err error) bool {
	var notRun *shim.NotRunError
	return errors.As(err, &notRun)
}

func insist(ctx context.Context, run func() error, again func(error) bool) error {
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		err := run()
		if !again(err) || errors.Is(err, redis.ErrClosed) {
			return err
		}
		if sleep(ctx, pause) != nil {
			return err
		}
	}
}

// returnDue moves what is due in a delay queue back, entry by entry.
func returnDue(ctx context.Context, client redis.UniversalClient, key string, back func(entry string) error) error {
	due, err := dueScript.Run(ctx, client, []string{key}, sweepMax).StringSlice()
	if err != nil {
		return err
	}
	for _, entry := range due {
		if err := repeatable(ctx, func() error { return back(entry) }); err != nil {
			return err
		}
	}
	return nil
}
