package interop

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/slots"
	"github.com/fakecluster/fakecluster/tests/redisserver"
)

// listener is what a client library hears without having asked for it.
type listener interface {
	spublish(channel, message string) error
	// ssubscribe returns when the subscription to a sharded channel is confirmed.
	ssubscribe(channel string) (<-chan string, error)
	// events are the keyspace events of the node at addr, as "event key".
	events(addr string) (<-chan string, error)
	// cached reads a key through a client-side cache, "" if there is none, and
	// says whether it did without asking the server.
	cached(key string) (value string, hit bool, err error)
}

// stage is a cluster to listen to, and a client to make things happen there.
type stage struct {
	t     *testing.T
	addrs []string
	admin *redis.ClusterClient
	// ttl is how long what expires lives, pass lets so much time go by.
	ttl  time.Duration
	pass func(time.Duration)
}

// onBothStages runs a test against three masters of ours, whose clock is
// advanced, and three of real Redis.
func onBothStages(t *testing.T, test func(s *stage)) {
	t.Run("fakecluster", func(t *testing.T) {
		c := emulator.RunT(t, emulator.TCP("127.0.0.1", 0))
		test(newStage(t, c.Addrs(), time.Hour, c.Advance))
	})
	t.Run("redis", func(t *testing.T) {
		test(newStage(t, redisserver.StartCluster(t, 3, 0).Addrs(), 200*time.Millisecond, time.Sleep))
	})
}

func newStage(t *testing.T, addrs []string, ttl time.Duration, pass func(time.Duration)) *stage {
	s := &stage{t: t, addrs: addrs, ttl: ttl, pass: pass, admin: redis.NewClusterClient(&redis.ClusterOptions{Addrs: addrs})}
	t.Cleanup(func() { s.admin.Close() })
	err := s.admin.ForEachMaster(t.Context(), func(ctx context.Context, node *redis.Client) error {
		return node.ConfigSet(ctx, "notify-keyspace-events", "KEA").Err()
	})
	s.check(err)
	return s
}

func (s *stage) check(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) do(args ...any) {
	s.t.Helper()
	if err := s.admin.Do(s.t.Context(), args...).Err(); err != nil {
		s.t.Fatalf("%v: %v", args, err)
	}
}

// owner is the address of the node that has a key.
func (s *stage) owner(key string) string {
	node, err := s.admin.MasterForKey(s.t.Context(), key)
	s.check(err)
	return node.Options().Addr
}

// hear takes as many messages as are wanted and compares.
func (s *stage) hear(from <-chan string, want ...string) {
	s.t.Helper()
	var got []string
	deadline := time.After(time.Minute)
	for len(got) < len(want) {
		select {
		case message := <-from:
			got = append(got, message)
		case <-deadline:
			s.t.Fatalf("heard only %q of %q", got, want)
		}
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("heard %q, want %q", got, want)
	}
}

// listen does with a client what this file is about.
func (s *stage) listen(c listener) {
	s.shardedChannels(c)
	s.keyspaceEvents(c)
	s.clientSideCache(c)
}

// Sharded channels of all three shards; what is published the classic way does
// not come through them.
func (s *stage) shardedChannels(c listener) {
	for master := range 3 {
		first, _ := redisserver.SlotRange(master, 3)
		channel := "{" + slots.TagFor(slots.Slot(first)) + "}news"
		messages, err := c.ssubscribe(channel)
		s.check(err)
		s.check(c.spublish(channel, "one"))
		s.do("PUBLISH", channel, "to others")
		s.check(c.spublish(channel, "two"))
		s.hear(messages, "one", "two")
	}
}

// The events of one node: of commands, and of a key that expires without being
// looked at.
func (s *stage) keyspaceEvents(c listener) {
	const number, bag, brief = "{watched}number", "{watched}bag", "{watched}brief"
	events, err := c.events(s.owner(number))
	s.check(err)
	s.do("INCR", number)
	s.do("DEL", number)
	s.do("SADD", bag, "member")
	s.do("SPOP", bag)
	s.do("SET", brief, "value", "PX", s.ttl.Milliseconds())
	s.pass(s.ttl)
	s.hear(events,
		"incrby "+number, "del "+number, "sadd "+bag, "spop "+bag, "del "+bag,
		"set "+brief, "expire "+brief, "expired "+brief)
}

// A cached value is served again until the server says that it is another: it
// was written, it expired, everything was flushed.
func (s *stage) clientSideCache(c listener) {
	const key = "{cached}key"
	read := func(want string, wantHit bool) {
		s.t.Helper()
		if value, hit, err := c.cached(key); err != nil || value != want || hit != wantHit {
			s.t.Errorf("read %q (hit %v), %v; want %q (hit %v)", value, hit, err, want, wantHit)
		}
	}
	changed := func(how, want string) {
		s.t.Helper()
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
			value, hit, err := c.cached(key)
			s.check(err)
			if value == want {
				return
			}
			if !hit {
				s.t.Fatalf("%s: read %q from the server, want %q", how, value, want)
			}
			if time.Now().After(deadline) {
				s.t.Fatalf("%s: the cache still has %q, want %q", how, value, want)
			}
		}
	}
	s.do("SET", key, "first")
	read("first", false)
	read("first", true)
	s.do("SET", key, "second")
	changed("written", "second")
	read("second", true)
	s.do("SET", key, "third", "PX", s.ttl.Milliseconds())
	changed("written with a time to live", "third")
	s.pass(s.ttl)
	changed("expired", "")
	s.do("SET", key, "fourth")
	changed("written again", "fourth")
	node, err := s.admin.MasterForKey(s.t.Context(), key)
	s.check(err)
	s.check(node.FlushAll(s.t.Context()).Err())
	changed("flushed", "")
}

func TestGoRedisListens(t *testing.T) {
	for _, proto := range []int{2, 3} {
		t.Run(fmt.Sprintf("RESP%d", proto), func(t *testing.T) {
			onBothStages(t, func(s *stage) {
				c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: s.addrs, Protocol: proto})
				t.Cleanup(func() { c.Close() })
				s.listen(&goRedisListener{t: s.t, c: c, proto: proto})
			})
		})
	}
}

func TestRueidisListens(t *testing.T) {
	for _, proto := range []int{2, 3} {
		t.Run(fmt.Sprintf("RESP%d", proto), func(t *testing.T) {
			onBothStages(t, func(s *stage) { newRueidisListener(s, proto).listen() })
		})
	}
}

// ioredis runs node/listens.mjs.
func TestIORedisListens(t *testing.T) {
	node := need(t, "node")
	if _, err := os.Stat(filepath.Join("node", "node_modules", "ioredis")); err != nil {
		missing(t, "the npm package ioredis is not in tests/interop/node/node_modules")
	}
	for _, proto := range []string{"2", "3"} {
		t.Run("RESP"+proto, func(t *testing.T) {
			onBoth(t, func(t *testing.T, addrs []string) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				cmd := exec.CommandContext(ctx, node, "listens.mjs", strings.Join(addrs, ","), proto)
				cmd.Dir = "node"
				out, err := cmd.CombinedOutput()
				if err != nil || !strings.Contains(string(out), "has heard everything of 3 masters") {
					t.Errorf("%v\n%s", err, out)
				}
			})
		})
	}
}
