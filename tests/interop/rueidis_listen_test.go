package interop

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/redis/rueidis"
)

// rueidisListener caches in RESP3 only: in RESP2 the library has no cache.
type rueidisListener struct {
	*stage
	c     rueidis.Client
	proto int
}

func newRueidisListener(s *stage, proto int) *rueidisListener {
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: s.addrs, AlwaysRESP2: proto == 2, DisableCache: proto == 2})
	s.check(err)
	s.t.Cleanup(c.Close)
	return &rueidisListener{s, c, proto}
}

func (r *rueidisListener) listen() {
	r.shardedChannels(r)
	r.keyspaceEvents(r)
	if r.proto == 3 {
		r.clientSideCache(r)
	}
}

func (r *rueidisListener) spublish(channel, message string) error {
	return r.c.Do(r.t.Context(), r.c.B().Spublish().Channel(channel).Message(message).Build()).Error()
}

func (r *rueidisListener) ssubscribe(channel string) (<-chan string, error) {
	return r.receive(r.c, r.c.B().Ssubscribe().Channel(channel).Build(), func(m rueidis.PubSubMessage) string { return m.Message })
}

func (r *rueidisListener) events(addr string) (<-chan string, error) {
	node := r.c.Nodes()[addr]
	if node == nil {
		return nil, fmt.Errorf("rueidis does not know a node at %s", addr)
	}
	return r.receive(node, node.B().Psubscribe().Pattern("__keyevent@0__:*").Build(), func(m rueidis.PubSubMessage) string {
		_, event, _ := strings.Cut(m.Channel, ":")
		return event + " " + m.Message
	})
}

func (r *rueidisListener) receive(c rueidis.Client, subscribe rueidis.Completed, text func(rueidis.PubSubMessage) string) (<-chan string, error) {
	messages, confirmed, ended := make(chan string, 100), make(chan struct{}, 1), make(chan error, 1)
	ctx := rueidis.WithOnSubscriptionHook(r.t.Context(), func(rueidis.PubSubSubscription) {
		select {
		case confirmed <- struct{}{}:
		default: // the end of the subscription
		}
	})
	go func() { ended <- c.Receive(ctx, subscribe, func(m rueidis.PubSubMessage) { messages <- text(m) }) }()
	select {
	case <-confirmed:
		return messages, nil
	case err := <-ended:
		return nil, fmt.Errorf("the subscription ended: %w", err)
	case <-time.After(time.Minute):
		return nil, context.DeadlineExceeded
	}
}

func (r *rueidisListener) cached(key string) (string, bool, error) {
	reply := r.c.DoCache(r.t.Context(), r.c.B().Get().Key(key).Cache(), 24*time.Hour)
	value, err := reply.ToString()
	if rueidis.IsRedisNil(err) {
		err = nil
	}
	return value, reply.IsCacheHit(), err
}
