package interop

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/push"
)

type goRedisListener struct {
	t     *testing.T
	c     *redis.ClusterClient
	proto int
	cache *goRedisCache
}

func (g *goRedisListener) spublish(channel, message string) error {
	return g.c.SPublish(g.t.Context(), channel, message).Err()
}

func (g *goRedisListener) ssubscribe(channel string) (<-chan string, error) {
	return g.receive(g.c.SSubscribe(g.t.Context(), channel), func(m *redis.Message) string { return m.Payload })
}

func (g *goRedisListener) events(addr string) (<-chan string, error) {
	node := g.node(addr, g.proto, "")
	return g.receive(node.PSubscribe(g.t.Context(), "__keyevent@0__:*"), func(m *redis.Message) string {
		_, event, _ := strings.Cut(m.Channel, ":")
		return event + " " + m.Payload
	})
}

func (g *goRedisListener) node(addr string, proto int, name string) *redis.Client {
	node := redis.NewClient(&redis.Options{Addr: addr, Protocol: proto, ClientName: name})
	g.t.Cleanup(func() { node.Close() })
	return node
}

func (g *goRedisListener) receive(p *redis.PubSub, text func(*redis.Message) string) (<-chan string, error) {
	g.t.Cleanup(func() { p.Close() })
	if _, err := p.Receive(g.t.Context()); err != nil {
		return nil, err
	}
	messages := make(chan string, 100)
	go func() {
		for m := range p.Channel() {
			messages <- text(m)
		}
	}()
	return messages, nil
}

func (g *goRedisListener) cached(key string) (string, bool, error) {
	if g.cache == nil {
		cache := &goRedisCache{values: map[string]string{}}
		if err := cache.connect(g, key); err != nil {
			return "", false, err
		}
		g.cache = cache
	}
	return g.cache.get(g.t.Context(), key)
}

// goRedisCache is as simple a cache as can be: go-redis leaves that to its users.
type goRedisCache struct {
	conn *redis.Conn

	mu     sync.Mutex
	values map[string]string
}

// connect begins to track: by pushes on the same connection where the protocol
// has them, else through a connection that subscribes.
func (c *goRedisCache) connect(g *goRedisListener, key string) error {
	ctx := g.t.Context()
	master, err := g.c.MasterForKey(ctx, key)
	if err != nil {
		return err
	}
	addr := master.Options().Addr
	c.conn = g.node(addr, g.proto, "").Conn()
	g.t.Cleanup(func() { c.conn.Close() })
	if g.proto == 3 {
		if err := c.conn.RegisterPushNotificationHandler("invalidate", c, false); err != nil {
			return err
		}
		return c.conn.Do(ctx, "CLIENT", "TRACKING", "ON").Err()
	}
	id, err := c.listenAt(g, addr)
	if err != nil {
		return err
	}
	return c.conn.Do(ctx, "CLIENT", "TRACKING", "ON", "REDIRECT", id).Err()
}

// listenAt subscribes to invalidations and returns the subscriber's id.
func (c *goRedisCache) listenAt(g *goRedisListener, addr string) (id string, err error) {
	ctx := g.t.Context()
	p := g.node(addr, 2, "invalidations").Subscribe(ctx, "__redis__:invalidate")
	g.t.Cleanup(func() { p.Close() })
	if _, err := p.Receive(ctx); err != nil {
		return "", err
	}
	go func() {
		for g.t.Context().Err() == nil {
			message, err := p.Receive(ctx)
			if m, ok := message.(*redis.Message); ok {
				c.forget(m.PayloadSlice)
			} else if err != nil && strings.Contains(err.Error(), "unsupported pubsub message payload") {
				c.forget(nil) // go-redis has no word for "all keys"
			}
		}
	}()
	list, err := c.conn.ClientList(ctx).Result()
	for line := range strings.Lines(list) {
		if strings.Contains(line, " name=invalidations ") && strings.Contains(line, " sub=1 ") {
			id, _, _ = strings.Cut(strings.TrimPrefix(line, "id="), " ")
			return id, nil
		}
	}
	return "", fmt.Errorf("no subscriber in CLIENT LIST: %w", err)
}

// HandlePushNotification takes ["invalidate", [key, ...]], or nil for all keys.
func (c *goRedisCache) HandlePushNotification(_ context.Context, _ push.NotificationHandlerContext, notification []any) error {
	keys, _ := notification[1].([]any)
	var names []string
	for _, key := range keys {
		names = append(names, fmt.Sprint(key))
	}
	c.forget(names)
	return nil
}

func (c *goRedisCache) forget(keys []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range keys {
		delete(c.values, key)
	}
	if len(keys) == 0 {
		clear(c.values)
	}
}

func (c *goRedisCache) get(ctx context.Context, key string) (string, bool, error) {
	// go-redis looks for pushes when it uses a connection.
	if err := c.conn.Ping(ctx).Err(); err != nil {
		return "", false, err
	}
	c.mu.Lock()
	value, hit := c.values[key]
	c.mu.Unlock()
	if hit {
		return value, true, nil
	}
	value, err := c.conn.Get(ctx, key).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return "", false, err
	}
	c.mu.Lock()
	c.values[key] = value
	c.mu.Unlock()
	return value, false, nil
}
