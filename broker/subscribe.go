package broker

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// Subscription is a handler with its source. It is a part of an App.
type Subscription struct {
	source        Source
	name          string
	codec         Codec
	workers       int
	prefetch      int
	deadLetters   string
	maxDeliveries int
	delayQueue    string
	timeout       time.Duration
	publishes     []Destination
	atomic        bool
	handled       bool // there is a handler

	// handle decodes a message and calls the handler.
	handle func(ctx context.Context, d *delivery, w *Window) handled
	// template is what is wrong with the default destination of the message's type.
	template error

	taken    atomic.Bool // by an app
	b        *Broker
	log      *slog.Logger
	t        transport
	tokens   chan struct{} // one for each message that may be in work or waiting for it
	stopping chan struct{}
	waiting  sync.WaitGroup // retries that wait in this process
}

// handled is what came of calling a handler.
type handled struct {
	outcome     Outcome
	undecodable bool
	reply       any // to be published, if not nil
}

// Option changes a subscription.
type Option func(*Subscription)

// Workers is how many messages are handled at the same time: 1 unless said otherwise.
func Workers(n int) Option { return func(s *Subscription) { s.workers = n } }

// Prefetch is how many messages are fetched beyond those in work: 0 unless said
// otherwise. A subscription never takes more than Workers and Prefetch, so a slow
// handler leaves the rest to others.
func Prefetch(n int) Option { return func(s *Subscription) { s.prefetch = n } }

// WithCodec decodes payloads by another codec than the broker's.
func WithCodec(codec Codec) Option { return func(s *Subscription) { s.codec = codec } }

// DeadLetters is the key where messages go that are dropped, cannot be decoded or have
// come too often: a list, or a stream for a stream. Without it they are deleted.
func DeadLetters(key string) Option { return func(s *Subscription) { s.deadLetters = key } }

// MaxDeliveries is how often a message is delivered before it is given up; without it
// there is no end.
func MaxDeliveries(n int) Option { return func(s *Subscription) { s.maxDeliveries = n } }

// DelayQueue is the key of a sorted set where messages wait for RetryAfter. Without it
// they wait in the process.
func DelayQueue(key string) Option { return func(s *Subscription) { s.delayQueue = key } }

// HandlerTimeout ends a handler's context after d.
func HandlerTimeout(d time.Duration) Option { return func(s *Subscription) { s.timeout = d } }

// Publishes declares what the handler of an atomic window publishes in it, so that
// starting can refuse what a window could not commit.
func Publishes(to ...Destination) Option {
	return func(s *Subscription) { s.publishes = append(s.publishes, to...) }
}

// Name is what logs and metrics call the subscription, instead of the source's name.
func Name(name string) Option { return func(s *Subscription) { s.name = name } }

// Subscribe calls handle with every message of a source.
func Subscribe[T any](source Source, handle func(ctx context.Context, message *T) Outcome, options ...Option) *Subscription {
	s := newSubscription(source, handle != nil, options)
	s.template = checkTemplate[T]()
	s.handle = func(ctx context.Context, d *delivery, _ *Window) handled {
		return decoded(s, d, func(message *T) handled { return handled{outcome: handle(ctx, message)} })
	}
	return s
}

// Reply is Subscribe for a handler whose answer is published to a destination before
// its message is acknowledged. No answer is published with another outcome than Ack,
// nor if it is nil.
func Reply[T, R any](source Source, to Destination, handle func(ctx context.Context, message *T) (*R, Outcome), options ...Option) *Subscription {
	s := newSubscription(source, handle != nil, options)
	s.template = checkTemplate[T]()
	s.publishes = append(s.publishes, to)
	s.handle = func(ctx context.Context, d *delivery, _ *Window) handled {
		return decoded(s, d, func(message *T) handled {
			reply, outcome := handle(ctx, message)
			if reply == nil {
				return handled{outcome: outcome}
			}
			return handled{outcome: outcome, reply: reply}
		})
	}
	return s
}

// Atomic is Subscribe for a stream whose handler also gets a Window: its commands and
// the acknowledgement are executed together or not at all.
//
// They are executed once for each message as long as Reclaim's time exceeds that of
// the handler and of the commit's retries. After an XAUTOCLAIM the blocks of both
// consumers are executed, since Redis does not tie a block to its XACK; the second
// XACK then returns 0, which broker_window_second_acks_total counts.
func Atomic[T any](source StreamSource, handle func(ctx context.Context, message *T, w *Window) Outcome, options ...Option) *Subscription {
	s := newSubscription(source, handle != nil, options)
	s.template = checkTemplate[T]()
	s.atomic = true
	s.handle = func(ctx context.Context, d *delivery, w *Window) handled {
		return decoded(s, d, func(message *T) handled { return handled{outcome: handle(ctx, message, w)} })
	}
	return s
}

func newSubscription(source Source, handled bool, options []Option) *Subscription {
	s := &Subscription{source: source, handled: handled, workers: 1, stopping: make(chan struct{})}
	if source != nil {
		s.name = source.Name()
	}
	for _, option := range options {
		option(s)
	}
	return s
}

// decoded calls handle with a delivery's message. A handler that panics wants its
// message again.
func decoded[T any](s *Subscription, d *delivery, handle func(*T) handled) (h handled) {
	message := new(T)
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("the handler panicked", "message", d.ID(), "panic", p, "stack", string(debug.Stack()))
			h = handled{outcome: Retry(fmt.Errorf("the handler panicked: %v", p))}
		}
	}()
	if err := s.codec.Unmarshal(d.Payload, message); err != nil {
		return handled{outcome: Drop(fmt.Errorf("undecodable: %w", err)), undecodable: true}
	}
	return handle(message)
}

// Name is what logs and metrics call the subscription.
func (s *Subscription) Name() string { return s.name }

// Source is where its messages come from.
func (s *Subscription) Source() Source { return s.source }

// Keys are the keys it uses.
func (s *Subscription) Keys() []string {
	var keys []string
	switch source := s.source.(type) {
	case ListSource:
		keys = append(keys, source.name)
		if source.reliable {
			keys = append(keys, source.Processing())
		}
		if source.claims != "" {
			keys = append(keys, source.claims)
		}
	case StreamSource:
		keys = append(keys, source.name)
	}
	for _, key := range [...]string{s.deadLetters, s.delayQueue} {
		if key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

func (s *Subscription) join(a *App) {
	wrong := s.misuse()
	for _, reason := range wrong {
		a.refuse(&Refusal{Subscription: cmp.Or(s.name, "(without a name)"), Reason: reason})
	}
	if len(wrong) == 0 {
		a.subscriptions = append(a.subscriptions, s)
	}
}

// misuse is what is wrong with it wherever it runs.
func (s *Subscription) misuse() (reasons []string) {
	note := func(wrong bool, reason string) {
		if wrong {
			reasons = append(reasons, reason)
		}
	}
	note(s.source == nil, "it has no source: give it a List, a Stream, a PubSub or a PubSubPattern")
	note(s.source != nil && s.source.Name() == "", "its source has an empty name")
	note(!s.handled, "its handler is nil")
	note(s.workers < 1, fmt.Sprintf("it has %d Workers, and needs at least 1", s.workers))
	note(s.prefetch < 0, fmt.Sprintf("Prefetch(%d) is negative", s.prefetch))
	note(s.maxDeliveries < 0, fmt.Sprintf("MaxDeliveries(%d) is negative: leave it out to have no end", s.maxDeliveries))
	note(s.timeout < 0, fmt.Sprintf("HandlerTimeout(%v) is negative", s.timeout))
	for _, to := range s.publishes {
		note(to == nil || to.Name() == "", "it publishes to a destination without a name")
	}
	used := map[string]bool{}
	for _, key := range s.Keys() {
		note(used[key], fmt.Sprintf("it uses the key %q for two things: its queue, claims, delay queue and dead letters need keys of their own", key))
		used[key] = true
	}
	return reasons
}

// connections is how many connections it holds for itself.
func (s *Subscription) connections() int {
	switch {
	case s.atomic:
		return 1 + s.workers
	case s.source.kind() == "list", s.source.kind() == "stream":
		return 1
	}
	return 0
}

// attach binds it to a broker.
func (s *Subscription) attach(b *Broker) {
	s.b = b
	s.log = b.o.Logger.With("subscription", s.name)
	if s.codec == nil {
		s.codec = b.o.Codec
	}
	s.tokens = make(chan struct{}, s.workers+s.prefetch)
	s.t = s.source.open(s)
}

// DeadLetters is the key of its dead letters, or empty.
func (s *Subscription) DeadLetters() string { return s.deadLetters }

// DelayQueue is the key of its delay queue, or empty.
func (s *Subscription) DelayQueue() string { return s.delayQueue }
