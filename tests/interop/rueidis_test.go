package interop

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/rueidis"
)

func TestRueidis(t *testing.T) {
	onBoth(t, func(t *testing.T, addrs []string) {
		c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: addrs, DisableCache: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		exercise(t, &rueidisClient{t, c})
	})
}

type rueidisClient struct {
	t *testing.T
	c rueidis.Client
}

func (r *rueidisClient) ctx() context.Context { return r.t.Context() }

func (r *rueidisClient) set(key, value string) error {
	return r.c.Do(r.ctx(), r.c.B().Set().Key(key).Value(value).Build()).Error()
}

func (r *rueidisClient) get(key string) (string, bool, error) {
	value, err := r.c.Do(r.ctx(), r.c.B().Get().Key(key).Build()).ToString()
	if rueidis.IsRedisNil(err) {
		return "", false, nil
	}
	return value, err == nil, err
}

func (r *rueidisClient) incr(key string) (int64, error) {
	return r.c.Do(r.ctx(), r.c.B().Incr().Key(key).Build()).AsInt64()
}

func (r *rueidisClient) pipelinedIncr(keys []string) ([]int64, error) {
	var commands rueidis.Commands
	for _, key := range keys {
		commands = append(commands, r.c.B().Incr().Key(key).Build())
	}
	var counts []int64
	for _, reply := range r.c.DoMulti(r.ctx(), commands...) {
		n, err := reply.AsInt64()
		if err != nil {
			return nil, err
		}
		counts = append(counts, n)
	}
	return counts, nil
}

func (r *rueidisClient) transaction(first, second string) ([]string, error) {
	var results []string
	err := r.c.Dedicated(func(c rueidis.DedicatedClient) error {
		replies := c.DoMulti(r.ctx(),
			c.B().Multi().Build(), c.B().Set().Key(first).Value("5").Build(),
			c.B().Incr().Key(second).Build(), c.B().Get().Key(first).Build(), c.B().Exec().Build())
		values, err := replies[len(replies)-1].ToArray()
		if err != nil {
			return err
		}
		for i := range values {
			value, err := values[i].ToAny()
			if err != nil {
				return err
			}
			results = append(results, fmt.Sprint(value))
		}
		return nil
	})
	return results, err
}

func (r *rueidisClient) loadScript(script string) (sha string, err error) {
	for _, node := range r.c.Nodes() {
		sha, err = node.Do(r.ctx(), node.B().ScriptLoad().Script(script).Build()).ToString()
		if err != nil {
			return "", err
		}
	}
	return sha, nil
}

func (r *rueidisClient) evalsha(sha, key, arg string) (string, error) {
	return r.c.Do(r.ctx(), r.c.B().Evalsha().Sha1(sha).Numkeys(1).Key(key).Arg(arg).Build()).ToString()
}

func (r *rueidisClient) subscribe(channel string) (<-chan string, error) {
	dedicated, release := r.c.Dedicate()
	r.t.Cleanup(release)
	messages, confirmed := make(chan string, 10), make(chan struct{}, 1)
	dedicated.SetPubSubHooks(rueidis.PubSubHooks{
		OnMessage:      func(m rueidis.PubSubMessage) { messages <- m.Message },
		OnSubscription: func(rueidis.PubSubSubscription) { confirmed <- struct{}{} },
	})
	if err := dedicated.Do(r.ctx(), dedicated.B().Subscribe().Channel(channel).Build()).Error(); err != nil {
		return nil, err
	}
	select {
	case <-confirmed:
		return messages, nil
	case <-time.After(time.Minute):
		return nil, fmt.Errorf("no subscription after a minute")
	}
}

func (r *rueidisClient) publishAtEveryMaster(channel string, text func(int) string) (int, error) {
	n := 0
	for _, node := range r.c.Nodes() {
		if err := node.Do(r.ctx(), node.B().Publish().Channel(channel).Message(text(n)).Build()).Error(); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
