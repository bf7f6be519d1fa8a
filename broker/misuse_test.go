package broker_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/broker"
	"github.com/fakecluster/fakecluster/broker/brokertest"
	"github.com/fakecluster/fakecluster/emulator"
)

// What is wrong with an app wherever it runs is said before anything is connected to.
func TestMisuseIsRefused(t *testing.T) {
	ack := record().ack
	list := broker.List("{q}").Reliable()
	stream := broker.Stream("{s}").Group("g")
	window := func(context.Context, *job, *broker.Window) broker.Outcome { return broker.Ack() }
	var noSubscription *broker.Subscription
	for _, c := range []struct {
		name string
		part broker.Part
		want string // in the error
	}{
		{"no part", nil, "part 1 of the app is nil"},
		{"no subscription", noSubscription, "part 1 of the app is nil"},
		{"no source", broker.Subscribe(nil, ack), "no source"},
		{"no handler", broker.Subscribe[job](list, nil), `"{q}": its handler is nil`},
		{"no handler of replies", broker.Reply[job, job](list, list, nil), `"{q}": its handler is nil`},
		{"no handler of windows", broker.Atomic[job](stream, nil), `"{s}": its handler is nil`},
		{"a list without a name", broker.Subscribe(broker.List("").Reliable(), ack), "empty name"},
		{"a stream without a name", broker.Subscribe(broker.Stream("").Group("g"), ack), "empty name"},
		{"a channel without a name", broker.Subscribe(broker.PubSub(""), ack, broker.Name("news")), `"news": its source has an empty name`},
		{"no destination", broker.Atomic(stream, window, broker.Publishes(nil)), "destination without a name"},
		{"no destination for replies", broker.Reply(list, nil, func(context.Context, *job) (*job, broker.Outcome) { return nil, broker.Ack() }), "destination without a name"},
		{"no workers", broker.Subscribe(list, ack, broker.Workers(0)), "at least 1"},
		{"fewer than no workers", broker.Subscribe(list, ack, broker.Workers(-4)), "-4 Workers"},
		{"a negative prefetch", broker.Subscribe(list, ack, broker.Prefetch(-1)), "Prefetch(-1)"},
		{"a negative number of deliveries", broker.Subscribe(list, ack, broker.MaxDeliveries(-1)), "MaxDeliveries(-1)"},
		{"a negative time", broker.Subscribe(list, ack, broker.HandlerTimeout(-time.Second)), "HandlerTimeout(-1s)"},
		{"dead letters in the queue", broker.Subscribe(list, ack, broker.DeadLetters("{q}")), `uses the key "{q}" for two things`},
		{"dead letters in the processing list", broker.Subscribe(list, ack, broker.DeadLetters("{q}.processing")), `uses the key "{q}.processing" for two things`},
		{"delays in the dead letters", broker.Subscribe(stream, ack, broker.DeadLetters("{s}.x"), broker.DelayQueue("{s}.x")), `uses the key "{s}.x" for two things`},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := broker.NewApp("test", "1", broker.Cluster("nowhere.invalid:1"), c.part).Run(t.Context())
			var refusal *broker.Refusal
			if !errors.As(err, &refusal) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("refused with %v, which does not say %q", err, c.want)
			}
		})
	}
	if err := broker.NewApp("test", "1", nil).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "no broker") {
		t.Errorf("without a broker: %v", err)
	}
}

// The end of an app closes its broker, so two must not have the same.
func TestTwoAppsOnOneBroker(t *testing.T) {
	e := emulator.RunT(t)
	b := over(e, broker.Options{})
	first := broker.NewApp("first", "1", b)
	err := broker.NewApp("second", "1", b).Run(t.Context())
	if !errors.Is(err, broker.ErrTaken) {
		t.Errorf("the second: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- first.Run(ctx) }()
	<-first.Ready()
	if err := b.Publish(ctx, job{}).To(broker.List("q")); err != nil {
		t.Errorf("the second has taken the broker from the first: %v", err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestASubscriptionIsOfOneApp(t *testing.T) {
	e := emulator.RunT(t)
	s := broker.Subscribe(broker.List("q"), record().ack)
	err := broker.NewApp("twice", "1", over(e, broker.Options{}), s, s).Run(t.Context())
	if !errors.Is(err, broker.ErrShared) || !strings.Contains(err.Error(), ": q") {
		t.Errorf("twice in one app: %v", err)
	}
	err = broker.NewApp("another", "1", over(e, broker.Options{}), s).Run(t.Context())
	if !errors.Is(err, broker.ErrShared) {
		t.Errorf("in another app: %v", err)
	}
}

// An app may publish before it runs, and a broker that published before it had an app
// may lack connections.
func TestPublishingBeforeRunning(t *testing.T) {
	e := emulator.RunT(t)
	got := record()
	parts := func() broker.Part { return broker.Subscribe(broker.Stream("s").Group("g"), got.ack, broker.Workers(2)) }
	b := over(e, broker.Options{})
	a := broker.NewApp("early", "1", b, parts())
	if err := b.Publish(t.Context(), job{ID: 3}).To(broker.Stream("s")); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	if id := got.next(t).ID; id != 3 {
		t.Errorf("message %d", id)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}

	var many []broker.Part
	for i := range 100 {
		many = append(many, broker.Subscribe(broker.List("q"), got.ack, broker.Name(string(rune('A'+i)))))
	}
	b = over(e, broker.Options{})
	if err := b.Publish(t.Context(), job{}).To(broker.List("elsewhere")); err != nil {
		t.Fatal(err)
	}
	err := broker.NewApp("late", "1", b, many...).Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "call NewApp first") {
		t.Errorf("an app of 100 subscriptions on a broker that was used: %v", err)
	}
}

func TestPublishingNowhere(t *testing.T) {
	b := over(emulator.RunT(t), broker.Options{})
	defer func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}()
	for name, err := range map[string]error{
		"to nothing":         b.Publish(t.Context(), job{}).To(nil),
		"to no name":         b.Publish(t.Context(), job{}).To(broker.List("")),
		"by default":         b.Publish(t.Context(), job{}).Send(),
		"a nil pointer":      b.Publish(t.Context(), (*destined)(nil)).Send(),
		"nothing":            b.Publish(t.Context(), nil).Send(),
		"without a template": b.Publish(t.Context(), destined{}).Send(),
	} {
		if !errors.Is(err, broker.ErrNoDestination) {
			t.Errorf("publishing %s: %v", name, err)
		}
	}
	// The method of a pointer counts for a value, too, and a nil codec is none.
	if err := b.Publish(t.Context(), destined{To: "x"}).Codec(nil).Send(); err != nil {
		t.Error(err)
	}
}

type destined struct{ To string }

func (d *destined) Destination() broker.Destination {
	if d.To == "" {
		return nil
	}
	return broker.List("to-{To}")
}

// Publishers are refused what their subscribers are.
func TestPublishersAreCheckedToo(t *testing.T) {
	reply := func(context.Context, *job) (*job, broker.Outcome) { return nil, broker.Ack() }
	err := brokertest.Refused(t, app(broker.Reply(broker.List("{q}"), broker.PubSub("done").Sharded(), reply)),
		brokertest.Emulator(emulator.RedisVersion("6.2")))
	if !strings.Contains(err.Error(), `"{q}": publishing to the sharded channel "done" (SPUBLISH) needs Redis 7.0`) {
		t.Errorf("before Redis 7: %v", err)
	}
	err = brokertest.Refused(t, app(broker.Reply(broker.List("{q}"), broker.PubSubPattern("d*"), reply)))
	if !errors.Is(err, broker.ErrPattern) || !strings.Contains(err.Error(), "name a channel") {
		t.Errorf("to a pattern: %v", err)
	}
}

// A service that takes a single server for a cluster is told so.
func TestClusterRefusesASingleServer(t *testing.T) {
	e := emulator.RunT(t, emulator.Standalone())
	err := broker.NewApp("test", "1", over(e, broker.Options{StartWithin: 50 * time.Millisecond})).Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "use Standalone") {
		t.Errorf("it ended with %v", err)
	}
}

// A handler that panics is told of with its stack, and its message comes again; so is
// a codec.
func TestPanics(t *testing.T) {
	var log strings.Builder
	panicking := func(ctx context.Context, _ *job) broker.Outcome {
		if broker.DeliveryOf(ctx).Count == 1 {
			panic("at first")
		}
		return broker.Ack()
	}
	h := brokertest.Start(t, app(
		broker.Subscribe(broker.List("{p}").Reliable(), panicking),
		broker.Subscribe(broker.List("{c}").Reliable(), record().ack, broker.WithCodec(badCodec{}), broker.MaxDeliveries(2)),
	), brokertest.Options(broker.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}))
	h.Publish(job{}, broker.List("{p}"))
	h.Publish(job{}, broker.List("{c}"))
	h.Settled("{p}", broker.Acked, 1)
	h.Settled("{c}", broker.Dropped, 1)
	if err := h.Stop(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`panic="at first"`, "TestPanics.func", "bad codec"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, log.String())
		}
	}
}

type badCodec struct{ broker.Codec }

func (badCodec) Unmarshal([]byte, any) error { panic("bad codec") }
