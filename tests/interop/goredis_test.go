package interop

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"
)

func TestGoRedis(t *testing.T) {
	for _, proto := range []int{2, 3} {
		t.Run(fmt.Sprintf("RESP%d", proto), func(t *testing.T) {
			onBoth(t, func(t *testing.T, addrs []string) {
				c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: addrs, Protocol: proto})
				t.Cleanup(func() { c.Close() })
				exercise(t, &goRedis{t, c})
			})
		})
	}
}

type goRedis struct {
	t *testing.T
	c *redis.ClusterClient
}

func (g *goRedis) ctx() context.Context { return g.t.Context() }

func (g *goRedis) set(key, value string) error { return g.c.Set(g.ctx(), key, value, 0).Err() }

func (g *goRedis) get(key string) (string, bool, error) {
	value, err := g.c.Get(g.ctx(), key).Result()
	if errors.Is(err, redis.Nil) {
		return "", false, nil
	}
	return value, err == nil, err
}

func (g *goRedis) incr(key string) (int64, error) { return g.c.Incr(g.ctx(), key).Result() }

func (g *goRedis) pipelinedIncr(keys []string) ([]int64, error) {
	pipe := g.c.Pipeline()
	var replies []*redis.IntCmd
	for _, key := range keys {
		replies = append(replies, pipe.Incr(g.ctx(), key))
	}
	if _, err := pipe.Exec(g.ctx()); err != nil {
		return nil, err
	}
	var counts []int64
	for _, reply := range replies {
		counts = append(counts, reply.Val())
	}
	return counts, nil
}

func (g *goRedis) transaction(first, second string) ([]string, error) {
	var set *redis.StatusCmd
	var incr *redis.IntCmd
	var get *redis.StringCmd
	_, err := g.c.TxPipelined(g.ctx(), func(pipe redis.Pipeliner) error {
		set, incr, get = pipe.Set(g.ctx(), first, 5, 0), pipe.Incr(g.ctx(), second), pipe.Get(g.ctx(), first)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return []string{set.Val(), fmt.Sprint(incr.Val()), get.Val()}, nil
}

func (g *goRedis) loadScript(script string) (sha string, err error) {
	err = g.c.ForEachMaster(g.ctx(), func(ctx context.Context, node *redis.Client) error {
		return node.ScriptLoad(ctx, script).Err()
	})
	return redis.NewScript(script).Hash(), err
}

func (g *goRedis) evalsha(sha, key, arg string) (string, error) {
	return g.c.EvalSha(g.ctx(), sha, []string{key}, arg).Text()
}

func (g *goRedis) subscribe(channel string) (<-chan string, error) {
	subscription := g.c.Subscribe(g.ctx(), channel)
	g.t.Cleanup(func() { subscription.Close() })
	if _, err := subscription.Receive(g.ctx()); err != nil {
		return nil, err
	}
	messages := make(chan string, 10)
	go func() {
		for message := range subscription.Channel() {
			messages <- message.Payload
		}
	}()
	return messages, nil
}

func (g *goRedis) publishAtEveryMaster(channel string, text func(int) string) (int, error) {
	masters := make(chan *redis.Client, 100)
	err := g.c.ForEachMaster(g.ctx(), func(_ context.Context, node *redis.Client) error {
		masters <- node
		return nil
	})
	close(masters)
	n := 0
	for node := range masters {
		if err == nil {
			err = node.Publish(g.ctx(), channel, text(n)).Err()
		}
		n++
	}
	return n, err
}
