package broker

import (
	"context"
	"sync"
	"time"

	"github.com/fakecluster/fakecluster/shim"
	"github.com/redis/go-redis/v9"
)

// pubsubTransport consumes a channel or a pattern. There is nothing to acknowledge.
type pubsubTransport struct {
	PubSubSource
	sub    *Subscription
	client redis.UniversalClient

	classic  *redis.PubSub
	messages <-chan *redis.Message
	shards   *shim.Subscription // on a cluster

	mu    sync.Mutex
	again []*delivery // to be handled again
}

func (p PubSubSource) open(s *Subscription) transport {
	return &pubsubTransport{PubSubSource: p, sub: s}
}

func (t *pubsubTransport) prepare(ctx context.Context) (err error) {
	if t.client, err = t.sub.b.Client(); err != nil {
		return err
	}
	if cluster, ok := t.client.(*redis.ClusterClient); ok && t.sharded {
		t.shards, err = shim.SSubscribe(ctx, cluster, shim.SubscribeOptions{
			Buffer: 1 + t.sub.prefetch, Logger: t.sub.log, Metrics: &t.sub.b.shim,
		}, t.name)
		return err
	}
	switch {
	case t.pattern:
		t.classic = t.client.PSubscribe(ctx, t.name)
	case t.sharded:
		t.classic = t.client.SSubscribe(ctx, t.name)
	default:
		t.classic = t.client.Subscribe(ctx, t.name)
	}
	if _, err := t.classic.Receive(ctx); err != nil {
		return err
	}
	// A reader that is slow holds up the connection, and loses nothing but what the
	// server's buffer does not hold.
	t.messages = t.classic.Channel(redis.WithChannelSize(1+t.sub.prefetch),
		redis.WithChannelSendTimeout(24*time.Hour), redis.WithChannelHealthCheckInterval(3*time.Second))
	return nil
}

func (t *pubsubTransport) fetch(ctx context.Context, n int) ([]*delivery, error) {
	t.mu.Lock()
	if len(t.again) > 0 {
		n = min(n, len(t.again))
		deliveries := t.again[:n]
		t.again = t.again[n:]
		t.mu.Unlock()
		return deliveries, nil
	}
	t.mu.Unlock()
	timer := time.NewTimer(sweepEvery)
	defer timer.Stop()
	if t.shards != nil {
		return t.fetchSharded(ctx, timer.C)
	}
	select {
	case m, ok := <-t.messages:
		if !ok {
			return nil, redis.ErrClosed
		}
		return []*delivery{t.read(m.Channel, m.Payload)}, nil
	case <-timer.C:
	case <-ctx.Done():
	}
	return nil, nil
}

func (t *pubsubTransport) fetchSharded(ctx context.Context, timeout <-chan time.Time) ([]*delivery, error) {
	select {
	case event, ok := <-t.shards.Events():
		switch {
		case !ok:
			return nil, redis.ErrClosed
		case event.Gap:
			t.sub.log.WarnContext(ctx, "messages may have been missed: the channel was subscribed anew")
			return nil, nil
		}
		return []*delivery{t.read(event.Channel, event.Payload)}, nil
	case <-timeout:
	case <-ctx.Done():
	}
	return nil, nil
}

func (t *pubsubTransport) read(channel, payload string) *delivery {
	m := Decode(payload)
	return &delivery{Message: m, channel: channel, count: m.retries() + 1}
}

func (t *pubsubTransport) ack(context.Context, *delivery) error { return nil }

func (t *pubsubTransport) delays() bool { return false }

// retry handles the message again in this process: others have had it.
func (t *pubsubTransport) retry(_ context.Context, d *delivery, _ time.Duration) error {
	next := *d
	next.Message = d.retried()
	next.count++
	t.mu.Lock()
	defer t.mu.Unlock()
	t.again = append(t.again, &next)
	return nil
}

// bury puts dead letters into a list.
func (t *pubsubTransport) bury(ctx context.Context, d *delivery, reason string) error {
	if t.sub.deadLetters == "" {
		return nil
	}
	return t.client.LPush(ctx, t.sub.deadLetters, deadLetter(d.channel, d, reason).encode(t.readable)).Err()
}

func (t *pubsubTransport) giveBack(context.Context, *delivery) error { return nil }

func (t *pubsubTransport) sweep(context.Context) error { return nil }

func (t *pubsubTransport) stop(context.Context) error {
	if t.shards != nil {
		t.shards.Close()
		return nil
	}
	if t.classic != nil {
		return t.classic.Close()
	}
	return nil
}
