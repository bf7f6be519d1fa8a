package brokertest

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fakecluster/fakecluster/broker"
	"github.com/redis/go-redis/v9"
)

// Publish publishes a message, which must succeed.
func (h *Harness) Publish(message any, to broker.Destination) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	if err := h.broker.Publish(ctx, message).To(to); err != nil {
		h.t.Fatalf("publishing to %s: %v", to.Name(), err)
	}
}

// Handled waits until a subscription has handled and settled n messages, counting
// each delivery, and returns all that it has.
func (h *Harness) Handled(subscription string, n int) []broker.Handled {
	h.t.Helper()
	return h.wait(subscription, n, "handled", func(broker.Handled) bool { return true })
}

// Settled waits until n messages of a subscription were settled in some way, and
// returns all that were.
func (h *Harness) Settled(subscription string, as broker.Settled, n int) []broker.Handled {
	h.t.Helper()
	return h.wait(subscription, n, string(as), func(handled broker.Handled) bool { return handled.Settled == as })
}

func (h *Harness) wait(subscription string, n int, what string, counts func(broker.Handled) bool) []broker.Handled {
	h.t.Helper()
	h.find(subscription)
	deadline := time.After(Patience)
	for {
		found, changed := h.matching(subscription, counts)
		if len(found) >= n {
			return found
		}
		select {
		case <-changed:
		case <-h.ended:
			h.t.Fatalf("the service ended when %d of %d messages of %s were %s%s\nit ended with: %v",
				len(found), n, subscription, what, h.story(subscription), h.err)
		case <-deadline:
			h.t.Fatalf("in %v %d of %d messages of %s were %s%s", Patience, len(found), n, subscription, what, h.story(subscription))
		}
	}
}

func (h *Harness) matching(subscription string, counts func(broker.Handled) bool) ([]broker.Handled, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var found []broker.Handled
	for _, handled := range h.handled {
		if handled.Subscription == subscription && counts(handled) {
			found = append(found, handled)
		}
	}
	return found, h.changed
}

// story tells what a subscription has done, by line.
func (h *Harness) story(subscription string) string {
	all, _ := h.matching(subscription, func(broker.Handled) bool { return true })
	if len(all) == 0 {
		return "; it has handled none"
	}
	const shown = 20
	var story strings.Builder
	fmt.Fprintf(&story, "; it has handled %d:", len(all))
	for _, handled := range all[max(0, len(all)-shown):] {
		fmt.Fprintf(&story, "\n  %s %q delivery %d: %v", handled.Settled, handled.Payload, handled.Delivery.Count, handled.Outcome)
		if handled.Err != nil {
			fmt.Fprintf(&story, " (%v)", handled.Err)
		}
	}
	return story.String()
}

// find returns a subscription by its name.
func (h *Harness) find(name string) *broker.Subscription {
	h.t.Helper()
	var names []string
	for _, s := range h.app.Subscriptions() {
		if s.Name() == name {
			return s
		}
		names = append(names, strconv.Quote(s.Name()))
	}
	h.t.Fatalf("the service has no subscription %q; it has %s", name, cmp.Or(strings.Join(names, ", "), "none"))
	return nil
}

// Eventually waits until a condition holds.
func (h *Harness) Eventually(what string, holds func() bool) {
	h.t.Helper()
	for deadline := time.Now().Add(Patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			h.t.Fatalf("it did not come true in time that %s", what)
		}
	}
}

// Pending is how many messages of a reliable list or a stream were taken and are not
// settled.
func (h *Harness) Pending(subscription string) int {
	h.t.Helper()
	ctx := context.Background()
	var n int64
	var err error
	switch source := h.find(subscription).Source().(type) {
	case broker.ListSource:
		n, err = h.client.LLen(ctx, source.Processing()).Result()
	case broker.StreamSource:
		var pending *redis.XPending
		if pending, err = h.client.XPending(ctx, source.Name(), source.GroupName()).Result(); err == nil {
			n = pending.Count
		}
	}
	if err != nil {
		h.t.Fatalf("what is pending for %s: %v", subscription, err)
	}
	return int(n)
}

// Waiting is how many messages of a subscription wait in its delay queue.
func (h *Harness) Waiting(subscription string) int {
	h.t.Helper()
	key := h.find(subscription).DelayQueue()
	if key == "" {
		h.t.Fatalf("%s has no delay queue", subscription)
	}
	n, err := h.client.ZCard(context.Background(), key).Result()
	if err != nil {
		h.t.Fatalf("the delay queue of %s: %v", subscription, err)
	}
	return int(n)
}

// DeadLetters are the dead letters of a subscription, the oldest first.
func (h *Harness) DeadLetters(subscription string) []broker.Message {
	h.t.Helper()
	s := h.find(subscription)
	key := s.DeadLetters()
	if key == "" {
		h.t.Fatalf("%s has no place for dead letters", subscription)
	}
	ctx := context.Background()
	var letters []broker.Message
	if _, isStream := s.Source().(broker.StreamSource); isStream {
		entries, err := h.client.XRange(ctx, key, "-", "+").Result()
		if err != nil {
			h.t.Fatalf("the dead letters of %s: %v", subscription, err)
		}
		for _, entry := range entries {
			letters = append(letters, broker.DecodeFields(entry.Values))
		}
		return letters
	}
	entries, err := h.client.LRange(ctx, key, 0, -1).Result()
	if err != nil {
		h.t.Fatalf("the dead letters of %s: %v", subscription, err)
	}
	for i := len(entries) - 1; i >= 0; i-- {
		letters = append(letters, broker.Decode(entries[i]))
	}
	return letters
}
