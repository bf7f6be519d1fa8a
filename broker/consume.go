package broker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// settleWithin bounds what settles a message, retries included. It does not end when
// the app stops.
const settleWithin = 60 * time.Second

// Settled is what became of a message.
type Settled string

// What can become of a message.
const (
	Acked       Settled = "ack"         // it is done
	Retried     Settled = "retry"       // it is in its queue again
	Delayed     Settled = "delay"       // it waits for its retry
	Dropped     Settled = "drop"        // it is deleted
	Buried      Settled = "dead letter" // it is a dead letter
	Uncommitted Settled = "uncommitted" // its window was refused; it stays pending
	Unsettled   Settled = "unsettled"   // settling it failed, or its reply was lost
)

// Handled tells of a message that was handled and settled.
type Handled struct {
	Subscription string
	Delivery     Delivery
	Payload      []byte
	// Outcome is what the handler said, or the broker in its place.
	Outcome Outcome
	// Settled is what became of it, and Err what went wrong with that.
	Settled Settled
	Err     error
	// Took is how long the handler took.
	Took time.Duration
}

// run consumes until taking ends, and returns when nothing is in work any more.
// Handlers get working's values and end.
func (s *Subscription) run(taking, working context.Context) {
	queue := make(chan *delivery, cap(s.tokens))
	var workers sync.WaitGroup
	for range s.workers {
		workers.Go(func() {
			for d := range queue {
				s.process(working, d)
				<-s.tokens
			}
		})
	}
	var sweeper sync.WaitGroup
	sweeper.Go(func() { s.sweep(taking) })
	s.fetch(taking, queue)
	close(queue)
	workers.Wait()
	close(s.stopping)
	s.waiting.Wait()
	sweeper.Wait()
}

// fetch takes messages for as long as it may. Reads are never cut off, but by a
// failing connection: they could have taken something.
func (s *Subscription) fetch(taking context.Context, queue chan<- *delivery) {
	ctx := context.WithoutCancel(taking)
	pause := 10 * time.Millisecond
	for {
		n := s.acquire(taking)
		if n == 0 {
			return
		}
		deliveries, err := s.t.fetch(ctx, n)
		for range n - len(deliveries) {
			<-s.tokens
		}
		for _, d := range deliveries {
			queue <- d
		}
		if err == nil {
			pause = 10 * time.Millisecond
			continue
		}
		s.log.WarnContext(ctx, "fetching failed", "error", err)
		s.b.metrics.fetchErrors.WithLabelValues(s.name).Inc()
		if sleep(taking, pause) != nil {
			return
		}
		pause = min(2*pause, time.Second)
	}
}

// acquire waits for a token and takes all that are there, or none when taking ends.
func (s *Subscription) acquire(taking context.Context) (n int) {
	select {
	case <-taking.Done():
		return 0
	default:
	}
	select {
	case <-taking.Done():
		return 0
	case s.tokens <- struct{}{}:
	}
	for n = 1; n < cap(s.tokens); n++ {
		select {
		case s.tokens <- struct{}{}:
		default:
			return n
		}
	}
	return n
}

func (s *Subscription) sweep(taking context.Context) {
	ctx := context.WithoutCancel(taking)
	for sleep(taking, sweepEvery) == nil {
		if err := s.t.sweep(ctx); err != nil {
			s.log.WarnContext(ctx, "returning messages to the queue failed, it is tried again", "error", err)
		}
	}
}

// process handles and settles a message, or gives it back if the app is stopping.
func (s *Subscription) process(working context.Context, d *delivery) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(working), settleWithin)
	defer cancel()
	if isStopping(working) {
		if err := s.t.giveBack(ctx, d); err != nil {
			s.log.ErrorContext(ctx, "a message could not be given back", "message", d.ID(), "entry", d.id, "error", err)
		}
		return
	}
	s.b.metrics.inFlight.WithLabelValues(s.name).Inc()
	defer s.b.metrics.inFlight.WithLabelValues(s.name).Dec()
	if s.maxDeliveries > 0 && d.count > s.maxDeliveries {
		outcome := Drop(fmt.Errorf("delivered %d times, at most %d", d.count, s.maxDeliveries))
		settled, err := s.settle(ctx, d, nil, handled{outcome: outcome})
		s.report(ctx, d, Handled{Outcome: outcome, Settled: settled, Err: err})
		return
	}

	began := time.Now()
	handling, end := s.startHandling(working, d)
	handling, stop := s.limit(handling)
	handling = context.WithValue(handling, deliveryKey{}, s.describe(d))
	var w *Window
	if s.atomic {
		w = s.b.newWindow(handling)
	}
	h := s.handle(handling, d, w)
	stop()
	took := time.Since(began)

	// What settles it belongs to the span, but not to the handler's time.
	ctx, cancelSettling := context.WithTimeout(context.WithoutCancel(handling), settleWithin)
	defer cancelSettling()
	settled, err := s.settle(ctx, d, w, h)
	end(h.outcome, settled, err)
	s.report(ctx, d, Handled{Outcome: h.outcome, Settled: settled, Err: err, Took: took})
}

func (s *Subscription) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.timeout > 0 {
		return context.WithTimeout(ctx, s.timeout)
	}
	return ctx, func() {}
}

func (s *Subscription) describe(d *delivery) Delivery {
	return Delivery{Headers: d.Headers, Source: d.channel, Entry: d.id, Count: d.count, Idle: d.idle}
}

// settle makes true what the handler decided.
func (s *Subscription) settle(ctx context.Context, d *delivery, w *Window, h handled) (Settled, error) {
	if h.outcome.IsAck() && h.reply != nil {
		if err := s.b.Publish(ctx, h.reply).To(s.publishes[0]); err != nil {
			h.outcome = Retry(fmt.Errorf("the reply: %w", err))
		}
	}
	switch {
	case h.outcome.IsAck() && w != nil:
		return s.commit(ctx, d, w)
	case h.outcome.IsAck():
		return orUnsettled(Acked, s.t.ack(ctx, d))
	case h.outcome.IsRetry() && (s.maxDeliveries <= 0 || d.count < s.maxDeliveries):
		return s.again(ctx, d, h.outcome.after)
	}
	reason := h.outcome.reason()
	if h.outcome.IsRetry() {
		reason = fmt.Sprintf("delivered %d times: %s", d.count, reason)
	}
	settled := Buried
	if s.deadLetters == "" {
		settled = Dropped
	}
	return orUnsettled(settled, s.t.bury(ctx, d, reason))
}

func orUnsettled(settled Settled, err error) (Settled, error) {
	if err != nil {
		return Unsettled, err
	}
	return settled, nil
}

func (s *Subscription) commit(ctx context.Context, d *delivery, w *Window) (Settled, error) {
	t := s.t.(*streamTransport) // windows are of streams
	defer t.forget(d)
	err := w.commit(ctx, t, d)
	switch {
	case err == nil:
		return Acked, nil
	case errors.Is(err, ErrUnknown):
		return Unsettled, err
	}
	return Uncommitted, err
}

// again makes a message come again.
func (s *Subscription) again(ctx context.Context, d *delivery, after time.Duration) (Settled, error) {
	if after <= 0 {
		return orUnsettled(Retried, s.t.retry(ctx, d, 0))
	}
	if s.t.delays() {
		return orUnsettled(Delayed, s.t.retry(ctx, d, after))
	}
	s.waiting.Go(func() {
		timer := time.NewTimer(after)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-s.stopping:
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleWithin)
		defer cancel()
		if err := s.t.retry(ctx, d, 0); err != nil {
			s.log.ErrorContext(ctx, "a message that waited could not be retried", "message", d.ID(), "error", err)
		}
	})
	return Delayed, nil
}

// report tells of a message that was settled.
func (s *Subscription) report(ctx context.Context, d *delivery, h Handled) {
	h.Subscription, h.Delivery, h.Payload = s.name, s.describe(d), d.Payload
	s.b.metrics.onHandled(h)
	level, text := slog.LevelWarn, "a message is not done"
	switch {
	case h.Err != nil:
		level, text = slog.LevelError, "a message could not be settled"
	case h.Outcome.IsAck():
		level, text = slog.LevelDebug, "a message is done"
	}
	if s.log.Enabled(ctx, level) {
		s.log.Log(ctx, level, text, "message", d.ID(), "entry", d.id, "count", d.count, "took", h.Took,
			"outcome", h.Outcome.String(), "settled", string(h.Settled), "error", h.Err)
	}
	if s.b.o.Observe != nil {
		s.b.o.Observe(h)
	}
}
