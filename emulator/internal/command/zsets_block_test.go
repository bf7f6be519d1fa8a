package command

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/tests/redisserver"
)

// TestBlockedPops lets a client wait on a real server and a call wait here,
// feeds both, and compares what the waiting one gets and what the rest of the
// world learns of it.
func TestBlockedPops(t *testing.T) {
	server := redisserver.Start(t, "--repl-diskless-sync", "no", "--notify-keyspace-events", "EAmn")
	for _, test := range []struct{ wait, feed, key string }{
		{"BZPOPMIN a b 0", "ZADD b 1 x 2 y", "b"},
		{"BZPOPMAX a b 0", "ZADD a 1 x", "a"},
		{"BZPOPMIN a b 10.5", "ZINCRBY a 3 x", "a"},
		{"BZMPOP 0 2 a b MIN", "ZADD b 1 x 2 y", "b"},
		{"BZMPOP 10 2 a b MAX COUNT 10", "ZADD a 1 x 2 y 3 z", "a"},
		{"BZMPOP 0 1 a MIN COUNT 2", "GEOADD a 1 2 x 3 4 y 5 6 z", "a"},
	} {
		for _, proto := range []int{2, 3} {
			real, ours := newRemote(t, server, proto), newLocal(proto)
			waiter := dialRaw(t, server)
			waiter.do(t, "HELLO", strconv.Itoa(proto))
			waiter.send(t, splitArgs(t, test.wait))
			for !strings.Contains(real.commands.do(t, "INFO", "clients"), "blocked_clients:1") {
				time.Sleep(time.Millisecond)
			}
			want := real.run(t, splitArgs(t, test.feed), false)
			want.reply = waiter.read(t)
			waiter.conn.Close()
			real.close()

			wait := parked(t, ours, test.wait, "")
			if wait == nil || !slices.ContainsFunc(wait.Keys, func(k []byte) bool { return string(k) == test.key }) || wait.Kind != keyspace.KindZSet {
				t.Fatalf("%s does not wait for %s: %+v", test.wait, test.key, wait)
			}
			ours.run(splitArgs(t, test.feed), false)
			ours.out.Reset()
			if wait := parked(t, ours, test.wait, test.key); wait != nil {
				t.Fatalf("%s goes on waiting", test.wait)
			}
			got := ours.outcome
			got.reply = string(ours.out.Bytes())
			got.dirty = want.dirty // counted per command here
			if d := want.differs(got, "exact"); d != "" {
				t.Errorf("RESP%d: %s, then %s\n%s", proto, test.wait, test.feed, d)
			}
		}
	}
}

// parked runs a command that may block, again if ready is the key that woke it,
// and returns what it waits for.
func parked(t *testing.T, l *local, line, ready string) *Wait {
	t.Helper()
	args := splitArgs(t, line)
	c := &Call{
		Args: args, Spec: l.table.Lookup(args), Table: l.table, Reply: l.out, DB: l.keyspace.DB(l.db),
		Resumed: ready != "", ReadyKey: ready,
	}
	c.Spec.Handler(c)
	for _, effect := range c.effects {
		l.outcome.effects = append(l.outcome.effects, quoteArgs(effect))
	}
	return c.Waiting()
}

// TestReadyKeyGone waits again where another client was faster.
func TestReadyKeyGone(t *testing.T) {
	l := newLocal(2)
	if wait := parked(t, l, "BZPOPMIN a b 1.5", "a"); wait == nil || wait.Timeout != 1500*time.Millisecond {
		t.Fatalf("does not wait again: %+v", wait)
	}
	wait := parked(t, l, "BZPOPMIN a b 0", "")
	l.out.Reset()
	wait.OnTimeout(l.out)
	if got := string(l.out.Bytes()); got != "*-1\r\n" {
		t.Errorf("the reply when time is up is %q", got)
	}
}
