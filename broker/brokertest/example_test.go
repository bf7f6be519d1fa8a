package brokertest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/fakecluster/fakecluster/broker"
	"github.com/fakecluster/fakecluster/broker/brokertest"
)

type Order struct {
	ID string `json:"id"`
}

var Orders = broker.Stream("{orders}").Group("billing")

// Service is the function that production and tests share.
func Service(b *broker.Broker) *broker.App {
	invoice := func(ctx context.Context, order *Order, w *broker.Window) broker.Outcome {
		if order.ID == "" {
			return broker.Drop(errors.New("no number"))
		}
		w.LPush(ctx, "{orders}:invoices", order.ID)
		return broker.Ack()
	}
	return broker.NewApp("shop", "0.1.0", b, broker.Atomic(Orders, invoice, broker.DeadLetters("{orders}.dead")))
}

// A test starts the service, publishes, waits, and looks; here while the slot of its
// stream moves and the master fails over.
func ExampleStart() {
	testOrders := func(t testing.TB) { // in a file of tests: func TestOrders(t *testing.T)
		h := brokertest.Start(t, Service)
		h.Clear("{orders}:invoices")
		h.Publish(Order{ID: "A-1"}, Orders)
		h.Cluster().MoveSlot("{orders}")
		h.Publish(Order{}, Orders)
		h.Cluster().Failover("{orders}")

		h.Settled("{orders}", broker.Acked, 1)
		h.Settled("{orders}", broker.Buried, 1)
		for _, letter := range h.DeadLetters("{orders}") {
			fmt.Println("dead letter:", letter.Headers[broker.HeaderReason])
		}
		fmt.Println("pending:", h.Pending("{orders}"))
	}
	test(testOrders)
	// Output:
	// dead letter: no number
	// pending: 0
}
