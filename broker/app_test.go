package broker_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/broker"
	"github.com/fakecluster/fakecluster/broker/brokertest"
	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/shim"
	"github.com/redis/go-redis/v9"
)

// Stopping ends the contexts of handlers that take too long, and waits for those that
// heed it.
func TestStoppingEndsHandlers(t *testing.T) {
	began := make(chan struct{})
	h := brokertest.Start(t, app(broker.Subscribe(broker.List("{q}").Reliable(), func(ctx context.Context, _ *job) broker.Outcome {
		close(began)
		<-ctx.Done()
		return broker.Retry(ctx.Err())
	})), brokertest.Options(broker.Options{Logger: quiet, StopWithin: 200 * time.Millisecond}))
	h.Publish(job{ID: 1}, broker.List("{q}"))
	<-began
	if err := h.Stop(); err != nil {
		t.Fatal(err)
	}
	if n := h.Client().LLen(within(t), "{q}").Val(); n != 1 || h.Pending("{q}") != 0 {
		t.Errorf("%d wait and %d are pending", n, h.Pending("{q}"))
	}
}

func TestHandlersThatDoNotEndAreAbandoned(t *testing.T) {
	e := emulator.RunT(t)
	began, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	b := over(e, broker.Options{StopWithin: 50 * time.Millisecond})
	a := broker.NewApp("stuck", "1", b, broker.Subscribe(broker.Stream("s").Group("g"), func(context.Context, *job) broker.Outcome {
		close(began)
		<-release
		return broker.Ack()
	}))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	<-a.Ready()
	if err := b.Publish(ctx, job{}).To(broker.Stream("s")); err != nil {
		t.Fatal(err)
	}
	<-began
	stop()
	if err := <-ended; !errors.Is(err, broker.ErrAbandoned) {
		t.Errorf("it ended with %v", err)
	}
}

// over is a broker on a cluster in process.
func over(e *emulator.Cluster, o broker.Options) *broker.Broker {
	o.Logger, o.Block = quiet, 100*time.Millisecond
	o.Redis = func(u *redis.UniversalOptions) { u.Dialer = e.Dialer() }
	return broker.Cluster(e.Addrs()...).With(o)
}

func TestFromClient(t *testing.T) {
	e := emulator.RunT(t)
	newClient := func(change func(*redis.ClusterOptions)) *redis.ClusterClient {
		o := &redis.ClusterOptions{Addrs: e.Addrs(), Dialer: e.Dialer()}
		change(o)
		client := redis.NewClusterClient(o)
		t.Cleanup(func() { client.Close() })
		return client
	}
	block := 100 * time.Millisecond
	run := func(ctx context.Context, client redis.UniversalClient, parts ...broker.Part) error {
		b := broker.FromClient(client).With(broker.Options{Logger: quiet, Block: block})
		return broker.NewApp("handed", "1", b, parts...).Run(ctx)
	}

	t.Run("works and stays open", func(t *testing.T) {
		client := newClient(func(*redis.ClusterOptions) {})
		ctx, stop := context.WithCancel(t.Context())
		source := broker.Stream("{s}").Group("g")
		if err := broker.FromClient(client).Publish(ctx, job{ID: 1}).To(source); err != nil {
			t.Fatal(err)
		}
		err := run(ctx, client, broker.Atomic(source, func(ctx context.Context, j *job, w *broker.Window) broker.Outcome {
			w.Incr(ctx, "{s}:effects")
			time.AfterFunc(50*time.Millisecond, stop)
			return broker.Ack()
		}))
		if err != nil {
			t.Fatal(err)
		}
		if v := client.Get(t.Context(), "{s}:effects").Val(); v != "1" {
			t.Errorf("the effect is %q", v)
		}
	})
	ack := record().ack
	block = 2 * time.Second // long enough for a busy machine to answer in
	for _, c := range []struct {
		name   string
		change func(*redis.ClusterOptions)
		want   string
	}{
		{"reads from replicas", func(o *redis.ClusterOptions) { o.ReadOnly = true }, "ReadOnly"},
		{"too few connections", func(o *redis.ClusterOptions) { o.PoolSize = 1 }, "PoolSize"},
		{"too short a time-out", func(o *redis.ClusterOptions) { o.ReadTimeout = block }, "ReadTimeout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := run(t.Context(), newClient(c.change), broker.Subscribe(broker.List("q"), ack))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("refused with %v", err)
			}
		})
	}
	t.Run("no such client", func(t *testing.T) {
		ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"a": e.Addrs()[0]}, Dialer: e.Dialer()})
		defer ring.Close()
		if err := run(t.Context(), ring); !errors.Is(err, shim.ErrUnsupportedClient) {
			t.Errorf("refused with %v", err)
		}
	})
}

func TestMisuse(t *testing.T) {
	e := emulator.RunT(t)
	ended, end := context.WithCancel(t.Context())
	end()
	shared := broker.Subscribe(broker.List("q"), record().ack)
	b := over(e, broker.Options{})
	a := broker.NewApp("a", "1", b, shared)
	if err := a.Run(ended); err == nil {
		t.Error("it started although its context had ended")
	}
	if err := a.Run(t.Context()); !errors.Is(err, broker.ErrRunTwice) {
		t.Errorf("the second time: %v", err)
	}
	if err := b.Publish(t.Context(), job{}).To(broker.List("q")); !errors.Is(err, broker.ErrClosed) {
		t.Errorf("publishing when it has ended: %v", err)
	}
	if err := broker.Cluster().Publish(t.Context(), job{}).To(broker.List("q")); err == nil {
		t.Error("a cluster without seeds")
	}
	if err := broker.Standalone("nonsense").Publish(t.Context(), job{}).To(broker.List("q")); err == nil {
		t.Error("a server at no URL")
	}
	unreachable := broker.Cluster("127.0.0.1:1").With(broker.Options{Logger: quiet, StartWithin: 50 * time.Millisecond})
	if err := broker.NewApp("a", "1", unreachable).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "not every master") {
		t.Errorf("nobody there: %v", err)
	}
	both := over(e, broker.Options{})
	twice := broker.NewApp("a", "1", both,
		broker.Subscribe(broker.List("q"), record().ack), broker.Subscribe(broker.List("q"), record().ack))
	if err := twice.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "option Name") {
		t.Errorf("two of one name: %v", err)
	}
}

func TestCodecsAndTimeouts(t *testing.T) {
	var text atomic.Value
	h := brokertest.Start(t, app(
		broker.Subscribe(broker.List("{text}"), func(_ context.Context, s *string) broker.Outcome {
			text.Store(*s)
			return broker.Ack()
		}, broker.WithCodec(broker.Bytes)),
		broker.Subscribe(broker.List("{slow}"), func(ctx context.Context, _ *[]byte) broker.Outcome {
			<-ctx.Done()
			return broker.Drop(ctx.Err())
		}, broker.WithCodec(broker.Bytes), broker.HandlerTimeout(20*time.Millisecond), broker.Name("slow")),
	))
	ctx := within(t)
	for _, to := range []string{"{text}", "{slow}"} {
		if err := h.Broker().Publish(ctx, []byte("\x00raw")).Codec(broker.Bytes).To(broker.List(to)); err != nil {
			t.Fatal(err)
		}
	}
	h.Settled("{text}", broker.Acked, 1)
	if text.Load() != "\x00raw" {
		t.Errorf("the text is %q", text.Load())
	}
	if got := h.Settled("slow", broker.Dropped, 1)[0].Outcome.Err(); !errors.Is(got, context.DeadlineExceeded) {
		t.Errorf("the handler ended with %v", got)
	}
	if err := h.Broker().Publish(ctx, 1).Codec(broker.Bytes).To(broker.List("x")); err == nil {
		t.Error("a number as bytes")
	}
}
