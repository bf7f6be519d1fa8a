// Package shop is an example of a service on the broker: the back end of a shop,
// which runs jobs from a queue, writes invoices for orders from a stream, and
// listens to events on a sharded channel. Its tests run the service as it is.
package shop

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/fakecluster/fakecluster/broker"
)

// The queues of the shop. The hash tags keep what belongs together in one slot: the
// queue {jobs} and its processing list, the stream {orders} and the invoices.
var (
	Jobs   = broker.List("{jobs}").Reliable().Claims("{jobs}.claims", time.Minute)
	Orders = broker.Stream("{orders}").Group("billing").Reclaim(time.Minute)
	Events = broker.PubSub("events").Sharded()
)

// Invoices is the list of invoices.
const Invoices = "{orders}:invoices"

// Job is something to do.
type Job struct {
	ID   int    `json:"id"`
	Mail string `json:"mail,omitempty"`
}

// Order is something that was bought.
type Order struct {
	ID    string `json:"id"`
	Cents int    `json:"cents"`
}

// Event is something that happened.
type Event struct {
	Kind string `json:"kind"`
}

// Service is the shop, in production and in tests.
func Service(b *broker.Broker) *broker.App {
	return broker.NewApp("shop", "0.1.0", b,
		broker.Subscribe(Jobs, runJob, broker.Workers(4),
			broker.MaxDeliveries(3), broker.DelayQueue("{jobs}.delayed"), broker.DeadLetters("{jobs}.dead")),
		broker.Atomic(Orders, invoice, broker.DeadLetters("{orders}.dead")),
		broker.Subscribe(Events, onEvent),
	)
}

// errNobody is why a job cannot be done.
var errNobody = errors.New("the mail has no address")

func runJob(ctx context.Context, job *Job) broker.Outcome {
	if job.Mail == "" {
		return broker.RetryAfter(time.Minute, errNobody) // perhaps somebody fills it in
	}
	slog.InfoContext(ctx, "job done", "id", job.ID, "delivery", broker.DeliveryOf(ctx).Count)
	return broker.Ack()
}

// invoice writes an invoice, once for each order: it and the acknowledgement are one
// block in the slot of {orders}.
func invoice(ctx context.Context, order *Order, w *broker.Window) broker.Outcome {
	if order.Cents <= 0 {
		return broker.Drop(errors.New("nothing to pay"))
	}
	w.LPush(ctx, Invoices, order.ID)
	return broker.Ack()
}

func onEvent(ctx context.Context, event *Event) broker.Outcome {
	slog.InfoContext(ctx, "event received", "kind", event.Kind)
	return broker.Ack()
}
