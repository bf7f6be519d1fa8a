package broker

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/fakecluster/fakecluster/shim"
	"github.com/fakecluster/fakecluster/slots"
	"github.com/redis/go-redis/v9"
)

// streamTransport consumes a stream as one consumer of a group: new entries, and,
// with Reclaim, those that dead consumers left.
type streamTransport struct {
	StreamSource
	sub       *Subscription
	client    redis.UniversalClient
	reclaimed time.Time // when it was last looked for what others left

	// Entries that the lost reply of a read took with it are pending for this
	// consumer. They are looked for, last at checked, until once after uncertain.
	uncertain, checked time.Time

	mu       sync.Mutex
	inFlight map[string]bool
	last     string // the newest entry that was fetched
}

// certainAfter is how long a read whose reply was lost may still be on its way to the
// server.
const certainAfter = 15 * time.Second

func (s StreamSource) open(sub *Subscription) transport {
	if s.consumer == "" {
		s.consumer = sub.b.consumerName(sub)
	}
	return &streamTransport{StreamSource: s, sub: sub, inFlight: map[string]bool{}}
}

func (t *streamTransport) prepare(ctx context.Context) (err error) {
	if t.client, err = t.sub.b.Client(); err != nil {
		return err
	}
	return t.makeGroup(ctx)
}

// makeGroup makes the group, and the stream, if they are not there.
func (t *streamTransport) makeGroup(ctx context.Context) error {
	start := "0"
	t.mu.Lock()
	if t.fromEnd {
		start = "$"
		if t.last != "" {
			start = t.last
		}
	}
	t.mu.Unlock()
	return repeatable(ctx, func() error {
		err := t.client.XGroupCreateMkStream(ctx, t.name, t.group, start).Err()
		if redis.HasErrorPrefix(err, "BUSYGROUP") {
			return nil
		}
		return err
	})
}

func (t *streamTransport) fetch(ctx context.Context, n int) ([]*delivery, error) {
	deliveries, err := t.next(ctx, n)
	if redis.HasErrorPrefix(err, "NOGROUP") || redis.HasErrorPrefix(err, "UNBLOCKED") {
		// A failover lost the group, or somebody deleted the stream.
		t.sub.log.WarnContext(ctx, "the consumer group is gone and is made anew", "group", t.group, "error", err)
		return nil, t.makeGroup(ctx)
	}
	var lost *shim.LostReplyError
	if errors.As(err, &lost) {
		t.uncertain, t.checked = time.Now().Add(certainAfter), time.Time{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, d := range deliveries {
		t.inFlight[d.id] = true
	}
	return deliveries, err
}

func (t *streamTransport) next(ctx context.Context, n int) ([]*delivery, error) {
	if t.reclaim && time.Since(t.reclaimed) >= reclaimEvery(t.minIdle) {
		deliveries, err := t.takeOver(ctx, n)
		if len(deliveries) < n {
			t.reclaimed = time.Now() // else there may be more
		}
		if err != nil || len(deliveries) > 0 {
			return deliveries, err
		}
	}
	if !t.uncertain.IsZero() && time.Since(t.checked) >= time.Second {
		began := time.Now()
		deliveries, err := t.own(ctx, n)
		if err != nil || len(deliveries) > 0 {
			return deliveries, err
		}
		t.checked = began
		if began.After(t.uncertain) {
			t.uncertain = time.Time{}
		}
	}
	deliveries, err := t.readGroup(ctx, n)
	if len(deliveries) > 0 {
		t.mu.Lock()
		t.last = deliveries[len(deliveries)-1].id
		t.mu.Unlock()
	}
	return deliveries, err
}

func (t *streamTransport) readGroup(ctx context.Context, n int) ([]*delivery, error) {
	streams, err := t.client.XReadGroup(ctx, &redis.XReadGroupArgs{
		Group: t.group, Consumer: t.consumer, Streams: []string{t.name, ">"}, Count: int64(n), Block: t.sub.b.o.Block,
	}).Result()
	if err != nil {
		return nil, orNothing(err)
	}
	var deliveries []*delivery
	for _, stream := range streams {
		for _, entry := range stream.Messages {
			deliveries = append(deliveries, t.read(entry, 1, 0))
		}
	}
	return deliveries, nil
}

func (t *streamTransport) read(entry redis.XMessage, count int, idle time.Duration) *delivery {
	m := DecodeFields(entry.Values)
	return &delivery{Message: m, id: entry.ID, channel: t.name, count: m.retries() + count, idle: idle}
}

// takeOver claims what consumers have had for too long.
func (t *streamTransport) takeOver(ctx context.Context, n int) ([]*delivery, error) {
	working := t.working()
	pending, err := t.client.XPendingExt(ctx, &redis.XPendingExtArgs{
		Stream: t.name, Group: t.group, Idle: t.minIdle, Start: "-", End: "+", Count: int64(n),
	}).Result()
	if err != nil || len(pending) == 0 {
		return nil, err
	}
	known := map[string]redis.XPendingExt{}
	for _, p := range pending {
		known[p.ID] = p
	}
	entries, _, err := t.client.XAutoClaim(ctx, &redis.XAutoClaimArgs{
		Stream: t.name, Group: t.group, Consumer: t.consumer, MinIdle: t.minIdle, Start: pending[0].ID, Count: int64(n),
	}).Result()
	if err != nil {
		return nil, orNothing(err)
	}
	var deliveries []*delivery
	for _, entry := range entries {
		if working[entry.ID] {
			continue // a slow handler of our own; claiming has renewed its time
		}
		p := known[entry.ID]
		deliveries = append(deliveries, t.read(entry, int(max(p.RetryCount, 1))+1, p.Idle))
		t.sub.b.metrics.reclaimed.WithLabelValues(t.sub.Name()).Inc()
	}
	return deliveries, nil
}

// own are entries that are pending for this consumer and that it does not know of.
func (t *streamTransport) own(ctx context.Context, n int) ([]*delivery, error) {
	working := t.working()
	pending, err := t.client.XPendingExt(ctx, &redis.XPendingExtArgs{
		Stream: t.name, Group: t.group, Start: "-", End: "+", Count: int64(2*cap(t.sub.tokens) + n), Consumer: t.consumer,
	}).Result()
	if err != nil {
		return nil, err
	}
	var deliveries []*delivery
	for _, p := range pending {
		if working[p.ID] || len(deliveries) == n {
			continue
		}
		entries, err := t.client.XRange(ctx, t.name, p.ID, p.ID).Result()
		if err != nil {
			return deliveries, err
		}
		if len(entries) == 0 {
			// Trimmed meanwhile: nobody can handle it.
			if err := t.acknowledge(ctx, p.ID); err != nil {
				return deliveries, err
			}
			continue
		}
		deliveries = append(deliveries, t.read(entries[0], int(max(p.RetryCount, 1)), 0))
	}
	return deliveries, nil
}

// working are the entries in work. What is pending must be compared with those from
// before it was asked: one that is settled meanwhile is in work no more, and would
// seem to be left behind.
func (t *streamTransport) working() map[string]bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.inFlight)
}

// forget notes that an entry is not in work any more.
func (t *streamTransport) forget(d *delivery) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.inFlight, d.id)
}

func (t *streamTransport) acknowledge(ctx context.Context, id string) error {
	return repeatable(ctx, func() error { return t.client.XAck(ctx, t.name, t.group, id).Err() })
}

func (t *streamTransport) ack(ctx context.Context, d *delivery) error {
	defer t.forget(d)
	return t.acknowledge(ctx, d.id)
}

func (t *streamTransport) delays() bool { return t.sub.delayQueue != "" }

func (t *streamTransport) retry(ctx context.Context, d *delivery, after time.Duration) error {
	next := d.retried()
	if next.ID() == "" {
		next = next.with(HeaderID, newID())
	}
	if after > 0 {
		return t.settle(ctx, d, "delay", t.sub.delayQueue, after, next.encode(false))
	}
	return t.settle(ctx, d, "append", t.name, 0, next.fields()...)
}

// settle acknowledges an entry and does something with its successor, in one script.
func (t *streamTransport) settle(ctx context.Context, d *delivery, action, target string, after time.Duration, successor ...any) error {
	defer t.forget(d)
	args := append([]any{t.group, d.id, action, after.Milliseconds()}, successor...)
	return repeatable(ctx, func() error {
		return settleStreamScript.Run(ctx, t.client, []string{t.name, target}, args...).Err()
	})
}

func (t *streamTransport) bury(ctx context.Context, d *delivery, reason string) error {
	key := t.sub.deadLetters
	if key == "" {
		return t.ack(ctx, d)
	}
	letter := deadLetter(t.name, d, reason).with("entry", d.id)
	if !t.sub.b.cluster || slots.OfString(key) == slots.OfString(t.name) {
		return t.settle(ctx, d, "append", key, 0, letter.fields()...)
	}
	// In two slots: a crash in between leaves the entry pending, and two letters.
	err := once(ctx, func() error {
		return t.client.XAdd(ctx, &redis.XAddArgs{Stream: key, Values: letter.fields()}).Err()
	})
	if err != nil {
		t.forget(d)
		return err
	}
	return t.ack(ctx, d)
}

// giveBack puts an entry at the end of the stream: a group has no other way back.
func (t *streamTransport) giveBack(ctx context.Context, d *delivery) error {
	return t.settle(ctx, d, "append", t.name, 0, d.fields()...)
}

func (t *streamTransport) sweep(ctx context.Context) error {
	if t.sub.delayQueue == "" {
		return nil
	}
	return returnDue(ctx, t.client, t.sub.delayQueue, func(entry string) error {
		args := append([]any{entry}, Decode(entry).fields()...)
		return returnStreamScript.Run(ctx, t.client, []string{t.sub.delayQueue, t.name}, args...).Err()
	})
}

// stop removes the consumer, whose name nobody will use again, unless something is
// pending for it.
func (t *streamTransport) stop(ctx context.Context) error {
	err := leaveScript.Run(ctx, t.client, []string{t.name}, t.group, t.consumer).Err()
	if redis.HasErrorPrefix(err, "NOGROUP") {
		return nil
	}
	return err
}
