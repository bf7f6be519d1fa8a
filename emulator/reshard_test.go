package emulator_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/slots"
)

// do runs a command that must succeed on a node, as a client of it.
func (w *wire) do(want string, words ...string) {
	w.t.Helper()
	w.command(words...)
	if got := w.reply(); got != want {
		w.t.Fatalf("%v: %q, want %q", words, got, want)
	}
}

// move moves a slot by hand with the commands redis-cli uses, and calls half
// when half of its keys have gone.
func move(t testing.TB, c *emulator.Cluster, slot slots.Slot, from, to int, half func()) {
	t.Helper()
	source, target := dial(t, c, from), dial(t, c, to)
	fromID, toID := c.Node(from).ID(), c.Node(to).ID()
	number := fmt.Sprint(slot)
	target.do("+OK", "CLUSTER", "SETSLOT", number, "IMPORTING", fromID)
	source.do("+OK", "CLUSTER", "SETSLOT", number, "MIGRATING", toID)
	host, port, _ := strings.Cut(c.Node(to).Addr(), ":")
	for first := true; ; first = false {
		source.send("CLUSTER GETKEYSINSLOT %s 7\r\n", number)
		list := strings.Trim(source.reply(), "*[]")
		if list == "" {
			break
		}
		keys := strings.Fields(list)
		source.do("+OK", append([]string{"MIGRATE", host, port, "", "0", "5000", "KEYS"}, keys...)...)
		if first {
			half()
		}
	}
	target.do("+OK", "CLUSTER", "SETSLOT", number, "NODE", toID)
	source.do("+OK", "CLUSTER", "SETSLOT", number, "NODE", toID)
	for i := range c.Nodes() {
		if i != from && i != to {
			dial(t, c, i).do("+OK", "CLUSTER", "SETSLOT", number, "NODE", toID)
		}
	}
}

// While slots move to and fro, go-redis keeps writing. Every write it was told
// of must be there in the end, and on the way a bare client sees each of the
// redirections.
func TestMovingSlotsLosesNoAcknowledgedWrite(t *testing.T) {
	const keys = 40
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := emulator.RunT(t)
	// The slot moves so often that go-redis' usual three redirections may not do.
	rdb := redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs(), Dialer: c.Dialer(), MaxRedirects: 30})
	defer rdb.Close()
	tag := "{" + slots.TagFor(100) + "}"
	slot := slots.Slot(100)

	var acknowledged [keys]atomic.Int64
	var load sync.WaitGroup
	// Who has been sent to a node with ASK must get there before that node imports
	// the slot another time: it would create a key that the new source has, by
	// Redis' rules too, and MIGRATE would find it there.
	var underway sync.RWMutex
	incr := func(key int) error {
		underway.RLock()
		defer underway.RUnlock()
		return rdb.Incr(ctx, fmt.Sprint(tag, key)).Err()
	}
	for worker := range 4 {
		load.Go(func() {
			for i := worker; ctx.Err() == nil; i += 4 {
				key := i % keys
				err := incr(key)
				switch {
				case err == nil:
					acknowledged[key].Add(1)
				case !errors.Is(err, context.Canceled):
					t.Errorf("INCR during the move: %v", err)
					return
				}
			}
		})
	}
	seen := map[string]bool{}
	owner := 0
	for round := range 20 {
		from, to := owner, (owner+1)%3
		move(t, c, slot, from, to, func() {
			look(t, c, from, seen, "GET", tag+"absent")
			look(t, c, from, seen, "MGET", tag+"absent", lastKey(t, c, from, slot))
			look(t, c, to, seen, "GET", tag+"0")
		})
		look(t, c, from, seen, "GET", tag+"0")
		// All that was under way has ended when the lock can be had.
		underway.Lock()
		//lint:ignore SA2001 it is for the waiting
		underway.Unlock()
		owner = to
		if round == 19 {
			cancel()
		}
	}
	load.Wait()
	for _, code := range []string{"ASK", "TRYAGAIN", "MOVED"} {
		if !seen[code] {
			t.Errorf("no %s was seen on the way", code)
		}
	}
	for key := range keys {
		name := fmt.Sprint(tag, key)
		value, err := rdb.Get(context.Background(), name).Int64()
		if err != nil && !errors.Is(err, redis.Nil) {
			t.Fatal(err)
		}
		// A reply that was cancelled on its way may have been counted or not.
		if acked := acknowledged[key].Load(); value < acked || value > acked+4 {
			t.Errorf("%s is %d after %d acknowledged increments", name, value, acked)
		}
	}
}

// look sends a command to a node and notes the code of its error.
func look(t testing.TB, c *emulator.Cluster, node int, seen map[string]bool, words ...string) {
	t.Helper()
	w := dial(t, c, node)
	w.send("%s\r\n", strings.Join(words, " "))
	if code, _, isError := strings.Cut(w.reply(), " "); isError && code[0] == '-' {
		seen[code[1:]] = true
	}
}

// lastKey is a key of the slot that is still at a node, or one that is not there.
func lastKey(t testing.TB, c *emulator.Cluster, node int, slot slots.Slot) string {
	t.Helper()
	w := dial(t, c, node)
	w.send("CLUSTER GETKEYSINSLOT %d 1\r\n", slot)
	if key := strings.Trim(w.reply(), "*[]"); key != "" {
		return key
	}
	return "none"
}

func TestMigrateKeepsValueTypeAndTTL(t *testing.T) {
	c := emulator.RunT(t)
	source, target := c.Node(0), c.Node(1)
	tag := "{" + slots.TagFor(7) + "}"
	setUp := [][]string{
		{"SET", tag + "string", "value"},
		{"RPUSH", tag + "list", "a", "b", "c"},
		{"HSET", tag + "hash", "field", "value"},
		{"SADD", tag + "set", "1", "2", "three"},
		{"ZADD", tag + "zset", "1.5", "member"},
		{"SET", tag + "volatile", "value", "PX", "100000"},
	}
	for _, command := range setUp {
		if _, err := source.Do(command...); err != nil {
			t.Fatal(err)
		}
	}
	move(t, c, 7, 0, 1, func() {})
	for _, command := range setUp {
		key := command[1]
		if source.Exists(key) {
			t.Errorf("%s is still at its old owner", key)
		}
	}
	for _, check := range []struct {
		command []string
		want    string
	}{
		{[]string{"GET", tag + "string"}, "value"},
		{[]string{"LRANGE", tag + "list", "0", "-1"}, "[a b c]"},
		{[]string{"HGETALL", tag + "hash"}, "map[field:value]"},
		{[]string{"SMISMEMBER", tag + "set", "1", "2", "three", "4"}, "[1 1 1 0]"},
		{[]string{"ZSCORE", tag + "zset", "member"}, "1.5"},
		{[]string{"TTL", tag + "string"}, "-1"},
	} {
		got, err := target.Do(check.command...)
		if err != nil || fmt.Sprint(got) != check.want {
			t.Errorf("%v at the new owner: %v, %v; want %s", check.command, got, err, check.want)
		}
	}
	if ttl, ok := target.TTL(tag + "volatile"); !ok || ttl <= 90*time.Second || ttl > 100*time.Second {
		t.Errorf("time to live at the new owner: %v, %v", ttl, ok)
	}
}

func TestMigrateToAnInstanceThatRefuses(t *testing.T) {
	c := emulator.RunT(t, emulator.Servers(2))
	source := dial(t, c, 0)
	host, port, _ := strings.Cut(c.Node(1).Addr(), ":")
	source.do("+OK", "SET", "key", "here")
	dial(t, c, 1).do("+OK", "SET", "key", "there")
	source.do("-ERR Target instance replied with error: BUSYKEY Target key name already exists.", "MIGRATE", host, port, "key", "0", "1000")
	source.do("here", "GET", "key")
	source.do("-ERR Target instance replied with error: ERR DB index is out of range", "MIGRATE", host, port, "key", "99", "1000")
	source.do("+NOKEY", "MIGRATE", host, port, "absent", "0", "1000")
	source.do("+OK", "MIGRATE", host, port, "key", "3", "1000", "COPY")
	source.do("here", "GET", "key")
	source.do("+OK", "MIGRATE", host, port, "key", "0", "1000", "REPLACE")
	source.do("(nil)", "GET", "key")
	source.do("+OK", "SET", "key", "again")
	source.do("-IOERR error or timeout writing to target instance", "MIGRATE", "127.0.0.1", "1", "key", "0", "1000")
	source.do("again", "GET", "key")
}
