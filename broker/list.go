package broker

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// listTransport consumes a list. A producer pushes left and consumers take from the
// right; what a reliable list's consumer has in work is in the processing list.
type listTransport struct {
	ListSource
	sub    *Subscription
	client redis.UniversalClient
	swept  time.Time // when orphans were last looked for
}

func (l ListSource) open(s *Subscription) transport { return &listTransport{ListSource: l, sub: s} }

func (t *listTransport) prepare(context.Context) (err error) {
	t.client, err = t.sub.b.Client()
	return err
}

func (t *listTransport) fetch(ctx context.Context, n int) ([]*delivery, error) {
	var entries []string
	var err error
	switch {
	case !t.reliable:
		entries, err = t.pop(ctx, n)
	case t.claims != "":
		entries, err = t.take(ctx, n)
	default:
		entries, err = t.move(ctx, n)
	}
	deliveries := make([]*delivery, len(entries))
	for i, entry := range entries {
		deliveries[i] = t.read(entry)
	}
	return deliveries, err
}

func (t *listTransport) read(entry string) *delivery {
	m := Decode(entry)
	return &delivery{Message: m, entry: entry, channel: t.name, count: m.retries() + 1}
}

// pop is for a simple list: one entry that it waits for, and what else is there.
func (t *listTransport) pop(ctx context.Context, n int) ([]string, error) {
	cmd := redis.NewStringSliceCmd(ctx, "brpop", t.name, t.seconds())
	if err := t.client.Process(ctx, cmd); err != nil {
		return nil, orNothing(err)
	}
	first := cmd.Val() // key and entry
	entries := first[1:]
	if n > 1 {
		more, err := t.client.RPopCount(ctx, t.name, n-1).Result()
		return append(entries, more...), orNothing(err)
	}
	return entries, nil
}

// move is for a reliable list without claims.
func (t *listTransport) move(ctx context.Context, n int) ([]string, error) {
	first, err := t.wait(ctx)
	if err != nil {
		return nil, orNothing(err)
	}
	entries := []string{first}
	if n == 1 {
		return entries, nil
	}
	cmds, err := t.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for range n - 1 {
			p.LMove(ctx, t.name, t.Processing(), "RIGHT", "LEFT")
		}
		return nil
	})
	for _, cmd := range cmds {
		if entry, err := cmd.(*redis.StringCmd).Result(); err == nil {
			entries = append(entries, entry)
		}
	}
	return entries, orNothing(err)
}

// take is for a list with claims.
func (t *listTransport) take(ctx context.Context, n int) ([]string, error) {
	entries, err := takeScript.Run(ctx, t.client, []string{t.name, t.Processing(), t.claims}, n).StringSlice()
	if err != nil || len(entries) > 0 {
		return entries, err
	}
	first, err := t.wait(ctx)
	if err != nil {
		return nil, orNothing(err)
	}
	// Without a claim the entry is not lost either: whoever sweeps next writes one.
	return []string{first}, claimScript.Run(ctx, t.client, []string{t.claims}, first).Err()
}

// wait moves one entry as soon as there is one.
func (t *listTransport) wait(ctx context.Context) (string, error) {
	cmd := redis.NewStringCmd(ctx, "blmove", t.name, t.Processing(), "right", "left", t.seconds())
	err := t.client.Process(ctx, cmd)
	return cmd.Val(), err
}

// seconds is how long to wait; go-redis' own methods know whole seconds only.
func (t *listTransport) seconds() float64 { return t.sub.b.o.Block.Seconds() }

// orNothing is err unless it only says that there was no message.
func orNothing(err error) error {
	if errors.Is(err, redis.Nil) {
		return nil
	}
	return err
}

// settle takes an entry out of the processing list and does something with its
// successor. The order of keys is that of the script.
func (t *listTransport) settle(ctx context.Context, d *delivery, action, target, successor string, after time.Duration) error {
	keys := []string{t.Processing()}
	if target != "" {
		keys = append(keys, target)
	}
	claimed := "0"
	if t.claims != "" {
		keys, claimed = append(keys, t.claims), "1"
	}
	run := func() error {
		return settleListScript.Run(ctx, t.client, keys, d.entry, action, successor, after.Milliseconds(), claimed).Err()
	}
	if d.ID() == "" {
		// Entries of outside clients may be the same, and a second try would take
		// another one's away.
		return once(ctx, run)
	}
	return repeatable(ctx, run)
}

func (t *listTransport) ack(ctx context.Context, d *delivery) error {
	switch {
	case !t.reliable:
		return nil
	case t.claims != "":
		return t.settle(ctx, d, "forget", "", "", 0)
	}
	run := func() error { return t.client.LRem(ctx, t.Processing(), 1, d.entry).Err() }
	if d.ID() == "" {
		return once(ctx, run)
	}
	return repeatable(ctx, run)
}

func (t *listTransport) delays() bool { return t.sub.delayQueue != "" }

func (t *listTransport) retry(ctx context.Context, d *delivery, after time.Duration) error {
	next := d.retried()
	if next.ID() == "" {
		next = next.with(HeaderID, newID())
	}
	entry := next.encode(t.readable)
	switch {
	case after > 0 && t.reliable:
		return t.settle(ctx, d, "delay", t.sub.delayQueue, entry, after)
	case after > 0:
		return once(ctx, func() error {
			return delayScript.Run(ctx, t.client, []string{t.sub.delayQueue}, entry, after.Milliseconds()).Err()
		})
	case t.reliable:
		return t.settle(ctx, d, "append", t.name, entry, 0)
	}
	return once(ctx, func() error { return t.client.LPush(ctx, t.name, entry).Err() })
}

func (t *listTransport) bury(ctx context.Context, d *delivery, reason string) error {
	if t.sub.deadLetters == "" {
		return t.ack(ctx, d)
	}
	letter := deadLetter(t.name, d, reason).encode(t.readable)
	if t.reliable {
		return t.settle(ctx, d, "append", t.sub.deadLetters, letter, 0)
	}
	return once(ctx, func() error { return t.client.LPush(ctx, t.sub.deadLetters, letter).Err() })
}

// deadLetter is a message with what is to be known of its end.
func deadLetter(source string, d *delivery, reason string) Message {
	return d.with(HeaderReason, reason, HeaderSource, source, HeaderDeliveries, strconv.Itoa(d.count))
}

func (t *listTransport) giveBack(ctx context.Context, d *delivery) error {
	if t.reliable {
		return t.settle(ctx, d, "front", t.name, d.entry, 0)
	}
	return once(ctx, func() error { return t.client.RPush(ctx, t.name, d.entry).Err() })
}

func (t *listTransport) sweep(ctx context.Context) error {
	var errs []error
	if t.sub.delayQueue != "" {
		errs = append(errs, returnDue(ctx, t.client, t.sub.delayQueue, func(entry string) error {
			return returnListScript.Run(ctx, t.client, []string{t.sub.delayQueue, t.name}, entry).Err()
		}))
	}
	if t.claims != "" && time.Since(t.swept) >= reclaimEvery(t.minIdle) {
		t.swept = time.Now()
		errs = append(errs, t.recover(ctx))
	}
	return errors.Join(errs...)
}

// reclaimEvery is how often to look for what dead consumers left.
func reclaimEvery(minIdle time.Duration) time.Duration {
	return min(minIdle/2, time.Second)
}

// recover returns the entries of dead consumers to the queue, as retries.
func (t *listTransport) recover(ctx context.Context) error {
	orphans, err := orphansScript.Run(ctx, t.client, []string{t.Processing(), t.claims}, t.minIdle.Milliseconds(), sweepMax).StringSlice()
	if err != nil {
		return err
	}
	for _, entry := range orphans {
		d := t.read(entry)
		t.sub.b.metrics.reclaimed.WithLabelValues(t.sub.Name()).Inc()
		if max := t.sub.maxDeliveries; max > 0 && d.count >= max {
			err = t.bury(ctx, d, fmt.Sprintf("its consumer died in delivery %d of at most %d", d.count, max))
		} else {
			err = t.retry(ctx, d, 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *listTransport) stop(context.Context) error { return nil }
