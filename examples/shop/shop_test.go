package shop_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/broker"
	"github.com/fakecluster/fakecluster/broker/brokertest"
	"github.com/fakecluster/fakecluster/examples/shop"
)

// Every form of the shop works with the tags it has.
func TestShop(t *testing.T) {
	h := brokertest.Start(t, shop.Service)
	invoices := invoices(t, h)
	h.Publish(shop.Job{ID: 1, Mail: "ann@example.com"}, shop.Jobs)
	h.Publish(shop.Order{ID: "A-1", Cents: 1999}, shop.Orders)
	h.Publish(shop.Event{Kind: "opened"}, shop.Events)

	h.Settled("{jobs}", broker.Acked, 1)
	h.Settled("{orders}", broker.Acked, 1)
	h.Settled("events", broker.Acked, 1)
	if got := invoices(); len(got) != 1 || got[0] != "A-1" {
		t.Errorf("the invoices are %v", got)
	}
	if h.Pending("{jobs}") != 0 || h.Pending("{orders}") != 0 {
		t.Error("something is pending")
	}
}

// invoices returns a look at the list of invoices.
func invoices(t *testing.T, h *brokertest.Harness) func() []string {
	t.Helper()
	h.Clear(shop.Invoices)
	return func() []string {
		list, err := h.Client().LRange(t.Context(), shop.Invoices, 0, -1).Result()
		if err != nil {
			t.Error(err)
		}
		return list
	}
}

func TestAnOrderForNothingIsADeadLetter(t *testing.T) {
	h := brokertest.Start(t, shop.Service)
	invoices := invoices(t, h)
	h.Publish(shop.Order{ID: "A-2"}, shop.Orders)
	h.Settled("{orders}", broker.Buried, 1)
	letters := h.DeadLetters("{orders}")
	if len(letters) != 1 || letters[0].Headers[broker.HeaderReason] != "nothing to pay" {
		t.Errorf("the dead letters are %v", letters)
	}
	if got := invoices(); len(got) != 0 {
		t.Errorf("the invoices are %v", got)
	}
}

// A job that waits for two minutes in all, in no time.
func TestAJobWithoutAnAddressIsGivenUp(t *testing.T) {
	h := brokertest.Start(t, shop.Service)
	cluster := h.Cluster().Emulator()
	if cluster == nil {
		t.Skip("the time of a real cluster cannot be advanced")
	}
	h.Publish(shop.Job{ID: 1}, shop.Jobs)
	for n := range 2 {
		h.Settled("{jobs}", broker.Delayed, n+1)
		cluster.Advance(time.Minute)
	}
	h.Settled("{jobs}", broker.Buried, 1)
	letters := h.DeadLetters("{jobs}")
	if len(letters) != 1 || !strings.Contains(letters[0].Headers[broker.HeaderReason], "no address") {
		t.Errorf("the dead letters are %v", letters)
	}
}

// While orders come, their slot moves and its master fails over: every order has
// one invoice.
func TestEveryOrderHasOneInvoice(t *testing.T) {
	h := brokertest.Start(t, shop.Service)
	invoices := invoices(t, h)
	const orders = 60
	for i := range orders {
		switch i {
		case 20:
			h.Cluster().MoveSlot("{orders}")
		case 40:
			h.Cluster().Failover("{orders}")
		}
		h.Publish(shop.Order{ID: strconv.Itoa(i), Cents: 1}, shop.Orders)
	}
	h.Settled("{orders}", broker.Acked, orders)
	seen := map[string]bool{}
	for _, id := range invoices() {
		if seen[id] {
			t.Errorf("order %s has two invoices", id)
		}
		seen[id] = true
	}
	if len(seen) != orders {
		t.Errorf("%d of %d orders have an invoice", len(seen), orders)
	}
}
