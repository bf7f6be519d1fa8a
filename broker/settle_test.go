package broker_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/broker"
	"github.com/fakecluster/fakecluster/broker/brokertest"
	"github.com/redis/go-redis/v9"
)

// How messages are settled: retries, delays, dead letters, what dead consumers leave.
func init() {
	for _, form := range forms {
		bodies["retry then ack, "+form.name] = func(t *testing.T, on brokertest.Option) { retryThenAck(t, form, on) }
		bodies["dead letters, "+form.name] = func(t *testing.T, on brokertest.Option) { deadLetters(t, form, on) }
		bodies["delayed retry, "+form.name] = func(t *testing.T, on brokertest.Option) { delayedRetry(t, form, on) }
		bodies["a delay in the process, "+form.name] = func(t *testing.T, on brokertest.Option) { delayInProcess(t, form, on) }
		bodies["raw values, "+form.name] = func(t *testing.T, on brokertest.Option) { rawValue(t, form, on) }
	}
	bodies["orphans of a reliable list"] = orphans
	bodies["entries of a dead consumer"] = reclaimed
	bodies["retries on a channel"] = channelRetry
	bodies["replies"] = replies
	bodies["default destinations"] = defaultDestination
	bodies["the second XACK returns 0"] = secondAck
	bodies["stopping gives back what waits"] = givesBack
	bodies["a lost group is made anew"] = lostGroup
	bodies["trimming and expiry"] = bounds
	bodies["readable envelopes"] = readableEnvelopes
	bodies["a slow handler does not starve others"] = noStarving
}

// form is a transport that keeps messages.
type form struct {
	name   string
	source broker.Source
	dead   string
	delay  string
	// push adds a value as an outside client would.
	push func(ctx context.Context, c redis.Cmdable, value string) error
}

var forms = []form{
	{"simple list", broker.List("{f1}"), "{f1}.dead", "{f1}.delay", pushList("{f1}")},
	{"reliable list", broker.List("{f2}").Reliable(), "{f2}.dead", "{f2}.delay", pushList("{f2}")},
	{"claimed list", broker.List("{f3}").Reliable().Claims("{f3}.claims", time.Minute), "{f3}.dead", "{f3}.delay", pushList("{f3}")},
	{"stream", broker.Stream("{f4}").Group("g"), "{f4}.dead", "{f4}.delay", func(ctx context.Context, c redis.Cmdable, value string) error {
		return c.XAdd(ctx, &redis.XAddArgs{Stream: "{f4}", Values: []string{"anything", value}}).Err()
	}},
}

func pushList(key string) func(context.Context, redis.Cmdable, string) error {
	return func(ctx context.Context, c redis.Cmdable, value string) error { return c.LPush(ctx, key, value).Err() }
}

// settled waits until nothing of a form is left in work.
func (f form) settled(h *brokertest.Harness) {
	switch f.source.(type) {
	case broker.ListSource, broker.StreamSource:
		h.Eventually("nothing is pending", func() bool { return h.Pending(f.source.Name()) == 0 })
	}
}

func retryThenAck(t *testing.T, f form, on brokertest.Option) {
	var counts, ids atomic.Value
	h := brokertest.Start(t, app(broker.Subscribe(f.source, func(ctx context.Context, _ *job) broker.Outcome {
		d := broker.DeliveryOf(ctx)
		if d.Count < 3 {
			ids.CompareAndSwap(nil, d.Headers[broker.HeaderID])
			return broker.Retry(errNotYet)
		}
		counts.Store(d.Count)
		if d.Headers[broker.HeaderID] != ids.Load() || d.Headers["color"] != "red" {
			return broker.Drop(fmt.Errorf("the headers became %v", d.Headers))
		}
		return broker.Ack()
	})), on)
	if err := h.Broker().Publish(within(t), job{ID: 1}).Header("color", "red").To(f.source); err != nil {
		t.Fatal(err)
	}
	got := h.Handled(f.source.Name(), 3)
	want := []broker.Settled{broker.Retried, broker.Retried, broker.Acked}
	for i, handled := range got {
		if handled.Settled != want[i] {
			t.Errorf("delivery %d became %s: %v", i+1, handled.Settled, handled.Outcome)
		}
	}
	if !errors.Is(got[0].Outcome.Err(), errNotYet) || counts.Load() != 3 {
		t.Errorf("outcomes %v, count %v", got, counts.Load())
	}
	f.settled(h)
}

func deadLetters(t *testing.T, f form, on brokertest.Option) {
	h := brokertest.Start(t, app(broker.Subscribe(f.source, func(_ context.Context, j *job) broker.Outcome {
		switch j.ID {
		case 1:
			return broker.Drop(errors.New("no such thing"))
		case 2:
			panic("two")
		}
		return broker.Ack()
	}, broker.DeadLetters(f.dead), broker.MaxDeliveries(2))), on)
	name := f.source.Name()
	h.Publish(job{ID: 1}, f.source)
	h.Settled(name, broker.Buried, 1)
	h.Publish(job{ID: 2}, f.source)
	h.Settled(name, broker.Buried, 2)
	if err := h.Broker().Publish(within(t), "no job").Codec(broker.Bytes).To(f.source); err != nil {
		t.Fatal(err)
	}
	h.Settled(name, broker.Buried, 3)
	f.settled(h)
	letters := h.DeadLetters(name)
	if len(letters) != 3 {
		t.Fatalf("the dead letters are %v", letters)
	}
	for i, want := range []struct{ reason, payload, deliveries string }{
		{"no such thing", `{"id":1}`, "1"},
		{"delivered 2 times: the handler panicked: two", `{"id":2}`, "2"},
		{"undecodable", "no job", "1"},
	} {
		got := letters[i]
		if !strings.Contains(got.Headers[broker.HeaderReason], want.reason) || string(got.Payload) != want.payload ||
			got.Headers[broker.HeaderSource] != name || got.Headers[broker.HeaderDeliveries] != want.deliveries {
			t.Errorf("letter %d is %q with %v", i, got.Payload, got.Headers)
		}
	}
}

func delayedRetry(t *testing.T, f form, on brokertest.Option) {
	var first, second atomic.Int64
	h := brokertest.Start(t, app(broker.Subscribe(f.source, func(ctx context.Context, _ *job) broker.Outcome {
		if broker.DeliveryOf(ctx).Count == 1 {
			first.Store(time.Now().UnixMilli())
			return broker.RetryAfter(500*time.Millisecond, errNotYet)
		}
		second.Store(time.Now().UnixMilli())
		return broker.Ack()
	}, broker.DelayQueue(f.delay))), on)
	name := f.source.Name()
	h.Publish(job{ID: 1}, f.source)
	h.Settled(name, broker.Delayed, 1)
	if h.Waiting(name) != 1 || h.Pending(name) != 0 {
		t.Errorf("%d wait and %d are pending", h.Waiting(name), h.Pending(name))
	}
	h.Settled(name, broker.Acked, 1)
	if d := second.Load() - first.Load(); d < 500 {
		t.Errorf("it came again after %d ms", d)
	}
	if h.Waiting(name) != 0 {
		t.Error("it still waits")
	}
	f.settled(h)
}

func delayInProcess(t *testing.T, f form, on brokertest.Option) {
	h := brokertest.Start(t, app(broker.Subscribe(f.source, func(ctx context.Context, _ *job) broker.Outcome {
		if broker.DeliveryOf(ctx).Count == 1 {
			return broker.RetryAfter(50*time.Millisecond, errNotYet)
		}
		return broker.Ack()
	})), on)
	h.Publish(job{ID: 1}, f.source)
	h.Settled(f.source.Name(), broker.Acked, 1)
	f.settled(h)
}

func rawValue(t *testing.T, f form, on brokertest.Option) {
	got := record()
	h := brokertest.Start(t, app(broker.Subscribe(f.source, got.ack)), on)
	for range 2 { // the same twice: outside clients give no identity
		if err := f.push(within(t), h.Client(), `{"id":9}`); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := got.next(t).ID, got.next(t).ID; a != 9 || b != 9 {
		t.Errorf("messages %d and %d", a, b)
	}
	for _, handled := range h.Settled(f.source.Name(), broker.Acked, 2) {
		if len(handled.Delivery.Headers) != 0 {
			t.Errorf("headers %v", handled.Delivery.Headers)
		}
	}
	f.settled(h)
}

// orphans: an entry whose consumer died after it took it, with a claim or before it
// wrote one, goes back to the queue.
func orphans(t *testing.T, on brokertest.Option) {
	got := record()
	source := broker.List("{left}").Reliable().Claims("{left}.claims", 300*time.Millisecond)
	h := brokertest.Start(t, app(broker.Subscribe(source, got.ack, broker.MaxDeliveries(2), broker.DeadLetters("{left}.dead"))), on)
	ctx := within(t)
	if err := h.Client().LPush(ctx, source.Processing(), `{"id":1}`).Err(); err != nil {
		t.Fatal(err)
	}
	if id := got.next(t).ID; id != 1 {
		t.Errorf("job %d", id)
	}
	if count := h.Settled("{left}", broker.Acked, 1)[0].Delivery.Count; count != 2 {
		t.Errorf("it counts as delivery %d", count)
	}
	// One that killed its consumers before is given up.
	letter := broker.Message{Headers: broker.Headers{broker.HeaderRetries: "1"}, Payload: []byte(`{"id":2}`)}
	if err := h.Client().LPush(ctx, source.Processing(), broker.Encode(letter)).Err(); err != nil {
		t.Fatal(err)
	}
	h.Eventually("a dead letter", func() bool { return len(h.DeadLetters("{left}")) == 1 })
	if n := h.Client().ZCard(ctx, "{left}.claims").Val(); n != 0 || h.Pending("{left}") != 0 {
		t.Errorf("%d claims and %d pending are left", n, h.Pending("{left}"))
	}
}

// reclaimed: an entry that another consumer has had for too long is taken over.
func reclaimed(t *testing.T, on brokertest.Option) {
	got := record()
	source := broker.Stream("{left}").Group("g").Reclaim(300 * time.Millisecond)
	h := brokertest.Start(t, app(broker.Subscribe(source, func(ctx context.Context, j *job) broker.Outcome {
		if d := broker.DeliveryOf(ctx); d.Count != 2 || d.Idle < 300*time.Millisecond {
			return broker.Drop(fmt.Errorf("delivery %+v", d))
		}
		return got.ack(ctx, j)
	}, broker.DeadLetters("{left}.dead"))), on)
	ctx := within(t)
	// Added and read in one block, so that the dead consumer gets it.
	_, err := h.Client().TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.XAdd(ctx, &redis.XAddArgs{Stream: "{left}", Values: []string{"payload", `{"id":1}`}})
		p.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "g", Consumer: "dead", Streams: []string{"{left}", ">"}, Block: -1})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if handled := h.Handled("{left}", 1)[0]; handled.Settled != broker.Acked {
		t.Errorf("it became %s: %v", handled.Settled, handled.Outcome)
	}
	if h.Pending("{left}") != 0 {
		t.Error("it is pending")
	}
}

func channelRetry(t *testing.T, on brokertest.Option) {
	h := brokertest.Start(t, app(broker.Subscribe(broker.PubSub("again"), func(ctx context.Context, j *job) broker.Outcome {
		return broker.RetryAfter(10*time.Millisecond, errNotYet)
	}, broker.MaxDeliveries(3), broker.DeadLetters("again.dead"))), on)
	h.Publish(job{ID: 1}, broker.PubSub("again"))
	h.Settled("again", broker.Buried, 1)
	letters := h.DeadLetters("again")
	if len(letters) != 1 || letters[0].Headers[broker.HeaderDeliveries] != "3" {
		t.Errorf("the letters are %v", letters)
	}
}

func replies(t *testing.T, on brokertest.Option) {
	got := record()
	h := brokertest.Start(t, app(
		broker.Reply(broker.List("{ask}").Reliable(), broker.Stream("answers"), func(_ context.Context, j *job) (*job, broker.Outcome) {
			return &job{ID: j.ID * 2}, broker.Ack()
		}),
		broker.Subscribe(broker.Stream("answers").Group("g"), got.ack),
	), on)
	h.Publish(job{ID: 21}, broker.List("{ask}"))
	if id := got.next(t).ID; id != 42 {
		t.Errorf("the reply is %d", id)
	}
}

type regional struct {
	Region string `json:"region"`
}

func (regional) Destination() broker.Destination { return broker.List("jobs-{region}") }

func defaultDestination(t *testing.T, on brokertest.Option) {
	h := brokertest.Start(t, app(), on)
	ctx := within(t)
	h.Clear("jobs-north")
	if err := h.Broker().Publish(ctx, regional{"north"}).Send(); err != nil {
		t.Fatal(err)
	}
	if n := h.Client().LLen(ctx, "jobs-north").Val(); n != 1 {
		t.Errorf("%d messages", n)
	}
	if err := h.Broker().Publish(ctx, tagged{}).Send(); !errors.Is(err, broker.ErrTemplate) || !strings.Contains(err.Error(), "{jobs}") {
		t.Errorf("a hash tag in a template: %v", err)
	}
	if err := h.Broker().Publish(ctx, job{}).Send(); !errors.Is(err, broker.ErrNoDestination) {
		t.Errorf("no destination: %v", err)
	}
}

// secondAck: a handler slower than Reclaim's time runs twice, and both blocks are
// executed. What tells of it is the counter.
func secondAck(t *testing.T, on brokertest.Option) {
	metrics := newRegistry()
	release := make(chan struct{})
	source := broker.Stream("{slow}").Group("g").Reclaim(200 * time.Millisecond)
	handle := func(ctx context.Context, _ *job, w *broker.Window) broker.Outcome {
		w.Incr(ctx, "{slow}:effects")
		if broker.DeliveryOf(ctx).Count == 1 {
			<-release
		} else {
			defer close(release)
		}
		return broker.Ack()
	}
	service := func(b *broker.Broker) *broker.App { return app(broker.Atomic(source, handle))(b) }
	h := brokertest.Start(t, service, on, brokertest.Options(broker.Options{Logger: quiet, Metrics: metrics}))
	h.Clear("{slow}:effects")
	other := second(t, h, service)
	h.Publish(job{ID: 1}, source)
	// Whichever has it first, the other takes it over.
	h.Eventually("both windows were committed", func() bool {
		return h.Client().Get(context.Background(), "{slow}:effects").Val() == "2"
	})
	h.Eventually("the second XACK was counted", func() bool {
		return metrics.value(t, "broker_window_second_acks_total")+other.value(t, "broker_window_second_acks_total") == 1
	})
	if h.Pending("{slow}") != 0 {
		t.Error("it is pending")
	}
}

// givesBack: what was fetched and not begun is in the queue when the service has
// stopped, and what was begun is done.
func givesBack(t *testing.T, on brokertest.Option) {
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			began, release := make(chan struct{}, 10), make(chan struct{})
			h := brokertest.Start(t, app(broker.Subscribe(f.source, func(context.Context, *job) broker.Outcome {
				began <- struct{}{}
				<-release
				return broker.Ack()
			}, broker.Prefetch(3))), on)
			for i := range 4 {
				h.Publish(job{ID: i}, f.source)
			}
			<-began
			stopped := make(chan error, 1)
			go func() { stopped <- h.Stop() }()
			time.AfterFunc(50*time.Millisecond, func() { close(release) })
			if err := <-stopped; err != nil {
				t.Fatal(err)
			}
			done := len(h.Handled(f.source.Name(), 1))
			ctx := within(t)
			var left int64
			if _, isStream := f.source.(broker.StreamSource); isStream {
				group := h.Client().XInfoGroups(ctx, f.source.Name()).Val()
				if len(group) != 1 || group[0].Pending != 0 || group[0].Consumers != 0 {
					t.Errorf("the group is %+v", group)
				}
				entries := h.Client().XRange(ctx, f.source.Name(), "("+group[0].LastDeliveredID, "+").Val()
				left = int64(len(entries))
			} else {
				left = h.Client().LLen(ctx, f.source.Name()).Val()
				if n := h.Pending(f.source.Name()); n != 0 {
					t.Errorf("%d are pending", n)
				}
			}
			if done+int(left) != 4 {
				t.Errorf("%d were done and %d are left of 4", done, left)
			}
		})
	}
}

func lostGroup(t *testing.T, on brokertest.Option) {
	got := record()
	h := brokertest.Start(t, app(broker.Subscribe(broker.Stream("{lost}").Group("g"), got.ack)), on)
	ctx := within(t)
	if err := h.Client().XGroupDestroy(ctx, "{lost}", "g").Err(); err != nil {
		t.Fatal(err)
	}
	h.Publish(job{ID: 1}, broker.Stream("{lost}"))
	if id := got.next(t).ID; id != 1 {
		t.Errorf("message %d", id)
	}
	h.Settled("{lost}", broker.Acked, 1)
	if err := h.Client().Del(ctx, "{lost}").Err(); err != nil {
		t.Fatal(err)
	}
	h.Publish(job{ID: 2}, broker.Stream("{lost}"))
	if id := got.next(t).ID; id != 2 {
		t.Errorf("message %d", id)
	}
}

func bounds(t *testing.T, on brokertest.Option) {
	h := brokertest.Start(t, app(), on)
	h.Clear("{bounded}s", "{bounded}l")
	for i := range 300 {
		h.Publish(job{ID: i}, broker.Stream("{bounded}s").MaxLen(100))
	}
	ctx := within(t)
	if n := h.Client().XLen(ctx, "{bounded}s").Val(); n < 100 || n > 250 {
		t.Errorf("the stream has %d entries", n)
	}
	h.Publish(job{}, broker.List("{bounded}l").TTL(time.Minute))
	if d := h.Client().PTTL(ctx, "{bounded}l").Val(); d <= 0 || d > time.Minute {
		t.Errorf("the list expires after %v", d)
	}
}

func readableEnvelopes(t *testing.T, on brokertest.Option) {
	got := record()
	source := broker.List("{readable}").Readable()
	h := brokertest.Start(t, app(), on)
	h.Clear("{readable}")
	if err := h.Broker().Publish(within(t), job{ID: 3, Note: "a b <c>"}).Header(broker.HeaderID, "m1").To(source); err != nil {
		t.Fatal(err)
	}
	text := h.Client().LIndex(within(t), "{readable}", 0).Val()
	if want := `{"headers":{"message-id":"m1"},"payload":{"id":3,"note":"a b \u003cc\u003e"}}`; text != want {
		t.Errorf("the entry is %s, not %s", text, want)
	}
	m := broker.Decode(text)
	if m.ID() != "m1" || string(m.Payload) != `{"id":3,"note":"a b \u003cc\u003e"}` {
		t.Errorf("it reads as %v %s", m.Headers, m.Payload)
	}
	_ = got
}

// noStarving: while the handler of one queue is stuck, others go on, and the stuck one
// takes no more than it can hold.
func noStarving(t *testing.T, on brokertest.Option) {
	release := make(chan struct{})
	got := record()
	slow, fast := broker.List("{slow}").Reliable(), broker.List("{fast}").Reliable()
	h := brokertest.Start(t, app(
		broker.Subscribe(slow, func(context.Context, *job) broker.Outcome { <-release; return broker.Ack() }, broker.Workers(2), broker.Prefetch(1)),
		broker.Subscribe(fast, got.ack),
	), on)
	for i := range 10 {
		h.Publish(job{ID: i}, slow)
	}
	for i := range 10 {
		h.Publish(job{ID: i}, fast)
		if id := got.next(t).ID; id != i {
			t.Errorf("message %d instead of %d", id, i)
		}
	}
	h.Eventually("three are taken", func() bool { return h.Pending("{slow}") == 3 })
	if n := h.Client().LLen(within(t), "{slow}").Val(); n != 7 {
		t.Errorf("%d wait", n)
	}
	close(release)
	h.Settled("{slow}", broker.Acked, 10)
}
