package broker_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/broker"
	"github.com/fakecluster/fakecluster/broker/brokertest"
	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/shim"
	"github.com/fakecluster/fakecluster/slots"
	"github.com/redis/go-redis/v9"
)

// What the guide says that this broker follows, sentence by sentence.
func init() {
	bodies["every form works with the service's tags"] = everyForm
	bodies["a reliable list without a tag does not start"] = untaggedList
	bodies["a stream works under any name"] = untaggedStream
	bodies["a block over two slots commits nothing"] = crossSlotWindow
	bodies["classic and sharded never meet"] = modesNeverMeet
	bodies["one seed of two is enough"] = oneSeed
	bodies["transactional publishing does not start on a cluster"] = noTransactions
	bodies["refusals name what to do"] = refusals
	bodies["patterns are classic"] = patterns
}

// everyForm is the guide's shop.
func everyForm(t *testing.T, on brokertest.Option) {
	jobs, events := record(), record()
	invoice := func(ctx context.Context, order *job, w *broker.Window) broker.Outcome {
		w.LPush(ctx, "{orders}:invoices", order.ID)
		return broker.Ack()
	}
	h := brokertest.Start(t, app(
		broker.Subscribe(broker.List("{jobs}").Reliable(), jobs.ack),
		broker.Atomic(broker.Stream("{orders}").Group("billing"), invoice),
		broker.Subscribe(broker.PubSub("events").Sharded(), events.ack),
	), on)
	h.Clear("{orders}:invoices")
	h.Publish(job{ID: 1}, broker.List("{jobs}"))
	h.Publish(job{ID: 2}, broker.Stream("{orders}"))
	h.Publish(job{ID: 3}, broker.PubSub("events").Sharded())

	if got := jobs.next(t).ID; got != 1 {
		t.Errorf("job %d was run", got)
	}
	if got := events.next(t).ID; got != 3 {
		t.Errorf("event %d was received", got)
	}
	h.Settled("{orders}", broker.Acked, 1)
	h.Settled("{jobs}", broker.Acked, 1)
	if got := h.Client().LRange(within(t), "{orders}:invoices", 0, -1).Val(); len(got) != 1 || got[0] != "2" {
		t.Errorf("the invoices are %v", got)
	}
	if h.Pending("{orders}") != 0 || h.Pending("{jobs}") != 0 {
		t.Error("something is pending")
	}
}

func untaggedList(t *testing.T, on brokertest.Option) {
	err := brokertest.Refused(t, app(broker.Subscribe(broker.List("jobs").Reliable(), record().ack)), on)
	var refusal *broker.Refusal
	if !errors.As(err, &refusal) {
		t.Fatalf("it was refused with %v", err)
	}
	if !strings.Contains(err.Error(), "{jobs}") || refusal.Tag != "jobs" {
		t.Errorf("the error does not name {jobs}: %v", err)
	}
	want := []slots.Slot{slots.OfString("jobs"), slots.OfString("jobs.processing")}
	if len(refusal.Slots) != 2 || refusal.Slots[0] != want[0] || refusal.Slots[1] != want[1] {
		t.Errorf("the slots are %v and not %v", refusal.Slots, want)
	}
	if refusal.Keys[0] != "jobs" || refusal.Keys[1] != "jobs.processing" || refusal.Subscription != "jobs" {
		t.Errorf("keys %v of subscription %q", refusal.Keys, refusal.Subscription)
	}
}

func untaggedStream(t *testing.T, on brokertest.Option) {
	got := record()
	h := brokertest.Start(t, app(broker.Subscribe(broker.Stream("any name").Group("g"), got.ack)), on)
	h.Publish(job{ID: 4}, broker.Stream("any name"))
	if id := got.next(t).ID; id != 4 {
		t.Errorf("message %d", id)
	}
}

// crossSlotWindow: the shim refuses the block before it is sent, and Redis would.
func crossSlotWindow(t *testing.T, on brokertest.Option) {
	h := brokertest.Start(t, app(
		broker.Atomic(broker.Stream("{orders}").Group("billing"), func(ctx context.Context, _ *job, w *broker.Window) broker.Outcome {
			w.LPush(ctx, "{orders}:invoices", "x")
			w.LPush(ctx, "{elsewhere}:invoices", "x")
			return broker.Ack()
		}),
	), on)
	h.Clear("{orders}:invoices", "{elsewhere}:invoices")
	h.Publish(job{ID: 1}, broker.Stream("{orders}"))
	got := h.Settled("{orders}", broker.Uncommitted, 1)
	var cross *shim.CrossSlotError
	if !errors.As(got[0].Err, &cross) || !errors.Is(got[0].Err, broker.ErrUncommitted) {
		t.Errorf("the window failed with %v", got[0].Err)
	}
	ctx := within(t)
	if n := h.Client().Exists(ctx, "{orders}:invoices").Val() + h.Client().Exists(ctx, "{elsewhere}:invoices").Val(); n != 0 {
		t.Errorf("%d lists were written", n)
	}
	if n := h.Pending("{orders}"); n != 1 {
		t.Errorf("%d entries are pending", n)
	}

	// The same over a bare connection to the stream's owner.
	owner, err := h.Client().(*redis.ClusterClient).MasterForKey(ctx, "{orders}")
	if err != nil {
		t.Fatal(err)
	}
	entry := got[0].Delivery.Entry
	cmds, err := owner.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.LPush(ctx, "{orders}:invoices", "x")
		p.LPush(ctx, "{elsewhere}:invoices", "x")
		p.XAck(ctx, "{orders}", "billing", entry)
		return nil
	})
	if err == nil {
		t.Fatalf("Redis executed a block over two slots: %v", cmds)
	}
	if n := h.Client().Exists(ctx, "{orders}:invoices").Val(); n != 0 || h.Pending("{orders}") != 1 {
		t.Errorf("after Redis refused with %v: %d lists, %d pending", err, n, h.Pending("{orders}"))
	}
}

func modesNeverMeet(t *testing.T, on brokertest.Option) {
	classic, sharded := record(), record()
	h := brokertest.Start(t, app(
		broker.Subscribe(broker.PubSub("news"), classic.ack),
		broker.Subscribe(broker.PubSub("flash").Sharded(), sharded.ack),
	), on)
	// Each is published in the mode that nobody is subscribed in, past the broker, which
	// would refuse; then in the right one. Order shows that the first never came.
	ctx := within(t)
	if n := h.Client().SPublish(ctx, "news", `{"id":1}`).Val(); n != 0 {
		t.Errorf("a sharded message reached %d classic subscribers", n)
	}
	if n := h.Client().Publish(ctx, "flash", `{"id":1}`).Val(); n != 0 {
		t.Errorf("a classic message reached %d sharded subscribers", n)
	}
	h.Publish(job{ID: 2}, broker.PubSub("news"))
	h.Publish(job{ID: 2}, broker.PubSub("flash").Sharded())
	if a, b := classic.next(t).ID, sharded.next(t).ID; a != 2 || b != 2 {
		t.Errorf("messages %d and %d came", a, b)
	}
	for _, wrong := range []broker.Destination{broker.PubSub("news").Sharded(), broker.PubSub("flash")} {
		if err := h.Broker().Publish(ctx, job{}).To(wrong); !errors.Is(err, broker.ErrMode) {
			t.Errorf("publishing to %s in the other mode: %v", wrong.Name(), err)
		}
	}
}

func oneSeed(t *testing.T, on brokertest.Option) {
	h := brokertest.Start(t, app(), on)
	addrs := h.Client().(*redis.ClusterClient).Options().Addrs
	dialer := h.Client().(*redis.ClusterClient).Options().Dialer
	b := broker.Cluster("127.0.0.1:1", addrs[0]).With(broker.Options{
		Redis: func(o *redis.UniversalOptions) { o.Dialer = dialer },
	})
	got := record()
	a := broker.NewApp("seeds", "1", b, broker.Subscribe(broker.Stream("seeds").Group("g"), got.ack))
	h.Clear("seeds")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	<-a.Ready()
	if err := b.Publish(ctx, job{ID: 5}).To(broker.Stream("seeds")); err != nil {
		t.Error(err)
	}
	if id := got.next(t).ID; id != 5 {
		t.Errorf("message %d", id)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func noTransactions(t *testing.T, on brokertest.Option) {
	err := brokertest.Refused(t, app(broker.TransactionalPublish()), on)
	if !strings.Contains(err.Error(), "TransactionalPublish") {
		t.Errorf("refused with %v", err)
	}
}

func refusals(t *testing.T, on brokertest.Option) {
	ack := record().ack
	window := func(context.Context, *job, *broker.Window) broker.Outcome { return broker.Ack() }
	for _, c := range []struct {
		name string
		part broker.Part
		want string // in the error
	}{
		{"dead letters elsewhere", broker.Subscribe(broker.List("{jobs}").Reliable(), ack, broker.DeadLetters("dead")), "{jobs}"},
		{"claims elsewhere", broker.Subscribe(broker.List("{jobs}").Reliable().Claims("claims", time.Second), ack), "{jobs}"},
		{"delay queue elsewhere", broker.Subscribe(broker.List("{jobs}"), ack, broker.DelayQueue("delay")), "{jobs}"},
		{"a stream's delay queue elsewhere", broker.Subscribe(broker.Stream("{orders}").Group("g"), ack, broker.DelayQueue("delay")), "{orders}"},
		{"claims of a simple list", broker.Subscribe(broker.List("{jobs}").Claims("{jobs}.claims", time.Second), ack), "Reliable"},
		{"claims without a time", broker.Subscribe(broker.List("{jobs}").Reliable().Claims("{jobs}.claims", 0), ack), "Claims needs the time"},
		{"reclaim without a time", broker.Subscribe(broker.Stream("s").Group("g").Reclaim(0), ack), "Reclaim needs the time"},
		{"no group", broker.Subscribe(broker.Stream("s"), ack), "Group"},
		{"sharded pattern", broker.Subscribe(broker.PubSubPattern("e*").Sharded(), ack), "pattern"},
		{"a window that publishes elsewhere", broker.Atomic(broker.Stream("{orders}").Group("g"), window, broker.Publishes(broker.PubSub("events").Sharded())), "{orders}"},
		{"a channel's delay queue", broker.Subscribe(broker.PubSub("e"), ack, broker.DelayQueue("d")), "no delay queue"},
		{"a hash tag in a template", broker.Subscribe(broker.List("x"), func(context.Context, *tagged) broker.Outcome { return broker.Ack() }), "names no field"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := brokertest.Refused(t, app(c.part), on)
			var refusal *broker.Refusal
			if !errors.As(err, &refusal) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("refused with %v, which does not say %q", err, c.want)
			}
		})
	}
	t.Run("a window in the other mode", func(t *testing.T) {
		err := brokertest.Refused(t, app(
			broker.Subscribe(broker.PubSub("events"), ack),
			broker.Atomic(broker.Stream("{orders}").Group("g"), window, broker.Publishes(broker.PubSub("events").Sharded())),
		), on)
		if !errors.Is(err, broker.ErrMode) {
			t.Errorf("refused with %v", err)
		}
	})
}

func patterns(t *testing.T, on brokertest.Option) {
	got := record()
	h := brokertest.Start(t, app(broker.Subscribe(broker.PubSubPattern("news.*"), got.ack)), on)
	h.Publish(job{ID: 7}, broker.PubSub("news.sport"))
	if id := got.next(t).ID; id != 7 {
		t.Errorf("message %d", id)
	}
	if source := h.Handled("news.*", 1)[0].Delivery.Source; source != "news.sport" {
		t.Errorf("it came by %q", source)
	}
	if err := h.Broker().Publish(within(t), job{}).To(broker.PubSubPattern("news.*")); !errors.Is(err, broker.ErrPattern) {
		t.Errorf("publishing to a pattern: %v", err)
	}
}

func TestShardedNeedsRedis7(t *testing.T) {
	err := brokertest.Refused(t, app(broker.Subscribe(broker.PubSub("events").Sharded(), record().ack)),
		brokertest.Emulator(emulator.RedisVersion("6.2")))
	if !strings.Contains(err.Error(), "needs Redis 7.0 or later") {
		t.Errorf("refused with %v", err)
	}
}

// On a single server what needs one slot on a cluster works under any names.
func TestStandalone(t *testing.T) {
	jobs, events := record(), record()
	h := brokertest.Start(t, app(
		broker.Subscribe(broker.List("jobs").Reliable().Claims("claims", time.Minute), jobs.ack, broker.DeadLetters("dead"), broker.DelayQueue("delayed")),
		broker.Atomic(broker.Stream("orders").Group("billing"), func(ctx context.Context, o *job, w *broker.Window) broker.Outcome {
			w.LPush(ctx, "invoices", o.ID)
			return broker.Ack()
		}),
		broker.Subscribe(broker.PubSub("events").Sharded(), events.ack),
		broker.TransactionalPublish(),
	), brokertest.Standalone())
	ctx := within(t)
	err := h.Broker().Transaction(ctx, func(tx *broker.Transaction) error {
		return errors.Join(
			tx.Publish(ctx, job{ID: 1}).To(broker.List("jobs")),
			tx.Publish(ctx, job{ID: 2}).To(broker.Stream("orders")),
			tx.Publish(ctx, job{ID: 3}).To(broker.PubSub("events").Sharded()))
	})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := jobs.next(t).ID, events.next(t).ID; a != 1 || b != 3 {
		t.Errorf("messages %d and %d", a, b)
	}
	h.Settled("orders", broker.Acked, 1)
	if n := h.Client().LLen(ctx, "invoices").Val(); n != 1 {
		t.Errorf("%d invoices", n)
	}
}

func TestStandaloneRefusesANodeOfACluster(t *testing.T) {
	e := emulator.RunT(t)
	b := broker.Standalone("redis://" + e.Addrs()[0]).With(broker.Options{
		Redis: func(o *redis.UniversalOptions) { o.Dialer = e.Dialer() },
	})
	err := broker.NewApp("test", "1", b).Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "use Cluster(") {
		t.Errorf("it ended with %v", err)
	}
}

type tagged struct{}

func (tagged) Destination() broker.Destination { return broker.List("{jobs}") }
