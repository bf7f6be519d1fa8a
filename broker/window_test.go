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
	"github.com/fakecluster/fakecluster/slots"
	"github.com/redis/go-redis/v9"
)

// What a window may contain, and what becomes of it.
func init() {
	bodies["a window discards with its outcome"] = windowDiscards
	bodies["a window publishes within its slot"] = windowPublishes
	bodies["a command of a window that fails when it runs"] = windowFailure
	bodies["a command that Redis does not queue"] = windowAbort
	bodies["a window is not executed by hand"] = windowByHand
}

var windowed = broker.Stream("{w}").Group("g")

func windowDiscards(t *testing.T, on brokertest.Option) {
	h := brokertest.Start(t, app(broker.Atomic(windowed, func(ctx context.Context, _ *job, w *broker.Window) broker.Outcome {
		w.Incr(ctx, "{w}:effects")
		switch broker.DeliveryOf(ctx).Count {
		case 1:
			return broker.Retry(errNotYet)
		case 2:
			panic("two")
		}
		return broker.Drop(errNotYet)
	})), on)
	h.Clear("{w}:effects")
	h.Publish(job{}, windowed)
	h.Settled("{w}", broker.Dropped, 1)
	if n := h.Client().Exists(within(t), "{w}:effects").Val(); n != 0 || h.Pending("{w}") != 0 {
		t.Errorf("%d effects, %d pending", n, h.Pending("{w}"))
	}
}

func windowPublishes(t *testing.T, on brokertest.Option) {
	got := record()
	next := broker.List("{w}:next").Reliable()
	h := brokertest.Start(t, app(
		broker.Atomic(windowed, func(_ context.Context, j *job, w *broker.Window) broker.Outcome {
			if err := w.Publish(job{ID: j.ID + 1}).To(next); err != nil {
				return broker.Drop(err)
			}
			w.Do("SET", "{w}:effects", j.ID)
			return broker.Ack()
		}, broker.Publishes(next)),
		broker.Subscribe(next, got.ack),
	), on)
	h.Clear("{w}:effects")
	h.Publish(job{ID: 1}, windowed)
	if id := got.next(t).ID; id != 2 {
		t.Errorf("message %d", id)
	}
	if v := h.Client().Get(within(t), "{w}:effects").Val(); v != "1" {
		t.Errorf("the effect is %q", v)
	}
}

// windowFailure: Redis does not roll back.
func windowFailure(t *testing.T, on brokertest.Option) {
	metrics := newRegistry()
	h := brokertest.Start(t, app(broker.Atomic(windowed, func(ctx context.Context, _ *job, w *broker.Window) broker.Outcome {
		w.Set(ctx, "{w}:text", "x", 0)
		w.LPush(ctx, "{w}:text", "x") // WRONGTYPE
		w.Incr(ctx, "{w}:effects")
		return broker.Ack()
	})), on, brokertest.Options(broker.Options{Logger: quiet, Metrics: metrics}))
	h.Clear("{w}:effects", "{w}:text")
	h.Publish(job{}, windowed)
	h.Settled("{w}", broker.Acked, 1)
	if v := h.Client().Get(within(t), "{w}:effects").Val(); v != "1" {
		t.Errorf("the effect is %q", v)
	}
	if n := metrics.value(t, "broker_window_failed_commands_total"); n != 1 {
		t.Errorf("%d failures were counted", n)
	}
}

func windowAbort(t *testing.T, on brokertest.Option) {
	h := brokertest.Start(t, app(broker.Atomic(windowed, func(ctx context.Context, _ *job, w *broker.Window) broker.Outcome {
		w.Incr(ctx, "{w}:effects")
		w.Do("INCR", "{w}:effects", "too", "many")
		return broker.Ack()
	})), on)
	h.Clear("{w}:effects")
	h.Publish(job{}, windowed)
	got := h.Settled("{w}", broker.Uncommitted, 1)[0]
	if !errors.Is(got.Err, broker.ErrUncommitted) || !strings.Contains(got.Err.Error(), "wrong number of arguments") {
		t.Errorf("it failed with %v", got.Err)
	}
	if n := h.Client().Exists(within(t), "{w}:effects").Val(); n != 0 || h.Pending("{w}") != 1 {
		t.Errorf("%d effects, %d pending", n, h.Pending("{w}"))
	}
}

func windowByHand(t *testing.T, on brokertest.Option) {
	h := brokertest.Start(t, app(broker.Atomic(windowed, func(ctx context.Context, _ *job, w *broker.Window) broker.Outcome {
		if _, err := w.TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.Incr(ctx, "{w}:effects")
			return nil
		}); err != nil {
			return broker.Drop(err) // in a window a pipeline is only kept
		}
		if _, err := w.Pipeline().Exec(ctx); err == nil {
			return broker.Drop(errors.New("a window was executed"))
		}
		w.Incr(ctx, "{w}:effects")
		return broker.Ack()
	})), on)
	h.Clear("{w}:effects")
	h.Publish(job{}, windowed)
	h.Settled("{w}", broker.Acked, 1)
}

// In the middle of a migration a block runs where its keys are, or waits.
func TestWindowDuringMigration(t *testing.T) {
	for _, c := range []struct {
		name string
		keys int // that are carried over before the message is handled
	}{{"none carried over", 0}, {"some carried over", 1}, {"all carried over", -1}} {
		t.Run(c.name, func(t *testing.T) {
			begin := make(chan struct{})
			h := brokertest.Start(t, app(broker.Atomic(windowed, func(ctx context.Context, j *job, w *broker.Window) broker.Outcome {
				<-begin
				w.RPush(ctx, "{w}:effects", j.ID)
				w.Incr(ctx, "{w}:count")
				return broker.Ack()
			})))
			ctx := within(t)
			if err := h.Client().RPush(ctx, "{w}:effects", "first").Err(); err != nil {
				t.Fatal(err)
			}
			h.Publish(job{ID: 1}, windowed)
			h.Eventually("it is taken", func() bool { return h.Pending("{w}") == 1 })
			e := h.Cluster().Emulator()
			from := e.NodeForKey("{w}")
			to := e.Node((from.Index() + 1) % 3)
			migration, err := e.BeginMigration(slots.OfString("{w}"), to)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := migration.MoveKeys(c.keys); err != nil {
				t.Fatal(err)
			}
			close(begin)
			time.AfterFunc(200*time.Millisecond, func() {
				if err := migration.Finish(); err != nil {
					t.Error(err)
				}
			})
			h.Settled("{w}", broker.Acked, 1)
			h.Eventually("the slot has moved", func() bool { return e.NodeForKey("{w}") == to })
			if got := h.Client().LRange(ctx, "{w}:effects", 0, -1).Val(); len(got) != 2 || got[1] != "1" {
				t.Errorf("the effects are %v", got)
			}
			if v := h.Client().Get(ctx, "{w}:count").Val(); v != "1" || h.Pending("{w}") != 0 {
				t.Errorf("the count is %q, %d pending", v, h.Pending("{w}"))
			}
		})
	}
}

// Refusals that time cures are sat out.
func TestWindowSitsOutRefusals(t *testing.T) {
	for _, text := range []string{"TRYAGAIN Multiple keys request during rehashing of slot", "CLUSTERDOWN The cluster is down", "LOADING"} {
		t.Run(strings.Fields(text)[0], func(t *testing.T) {
			h := brokertest.Start(t, app(broker.Atomic(windowed, func(ctx context.Context, j *job, w *broker.Window) broker.Outcome {
				w.Incr(ctx, "{w}:effects")
				return broker.Ack()
			})))
			fault := h.Cluster().Emulator().Inject(emulator.Rule{Commands: []string{"incr"}, Times: 3, Action: emulator.ReplyWith(text)})
			h.Publish(job{}, windowed)
			h.Settled("{w}", broker.Acked, 1)
			if v := h.Client().Get(within(t), "{w}:effects").Val(); v != "1" || fault.Hits() != 3 {
				t.Errorf("the effect is %q after %d refusals", v, fault.Hits())
			}
		})
	}
}
