package command

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/version"
	"github.com/fakecluster/fakecluster/tests/redisserver"
)

// TestBlockedClients lets a client wait on a real server and a call wait here,
// feeds both, and compares what the waiting one gets and what the rest of the
// world learns of it.
func TestBlockedClients(t *testing.T) {
	server := redisserver.Start(t, "--repl-diskless-sync", "no", "--notify-keyspace-events", "EAmn")
	const group = "XADD s 1 a 1\nXGROUP CREATE s g $\n"
	for _, test := range []struct{ setup, wait, feed, key string }{
		{"", "BLPOP a b 0", "RPUSH b x y", "b"},
		{"", "BRPOP a b 0.5", "RPUSH a x y", "a"},
		{"", "BRPOP a 0", "LPUSH a x", "a"},
		{"", "BLMPOP 0 2 a b LEFT COUNT 3", "RPUSH b x y", "b"},
		{"", "BLMPOP 0 1 a RIGHT", "RPUSH a x y", "a"},
		{"", "BLMOVE a b LEFT RIGHT 0", "RPUSH a x y", "a"},
		{"", "BLMOVE a a LEFT RIGHT 0", "RPUSH a x y", "a"},
		{"", "BRPOPLPUSH a b 0", "LPUSH a x", "a"},
		{"SET b str", "BRPOPLPUSH a b 0", "LPUSH a x", "a"},
		{"", "XREAD BLOCK 0 STREAMS s $", "XADD s 5 a 1", "s"},
		{"XADD s 1 a 1", "XREAD BLOCK 0 STREAMS s t $ 0", "XADD s 5 b 2", "s"},
		{"XADD s 1 a 1", "XREAD BLOCK 0 STREAMS s t $ $", "XADD t 3-1 b 2 c 3", "t"},
		{"XADD s 1 a 1", "XREAD BLOCK 0 COUNT 1 STREAMS s 1", "XADD s 5 b 2", "s"},
		{group, "XREADGROUP GROUP g c BLOCK 0 STREAMS s >", "XADD s 5 b 2", "s"},
		{group, "XREADGROUP GROUP g c NOACK BLOCK 0 STREAMS s >", "XADD s 5 b 2", "s"},
		{group + "XGROUP CREATECONSUMER s g c", "XREADGROUP GROUP g c NOACK BLOCK 0 STREAMS s >", "XADD s 5 b 2", "s"},
		{group, "XREADGROUP GROUP g c BLOCK 0 STREAMS s >", "XGROUP DESTROY s g", "s"},
		{group, "XREADGROUP GROUP g c BLOCK 0 STREAMS s >", "DEL s", "s"},
		{group, "XREADGROUP GROUP g c BLOCK 0 STREAMS s >", "SET s str", "s"},
	} {
		for _, proto := range []int{2, 3} {
			want := blockedOnRedis(t, server, proto, test.setup, test.wait, test.feed)
			got := blockedHere(t, proto, test.setup, test.wait, test.feed, test.key)
			got.dirty = want.dirty // counted per command here
			if d := want.differs(got, "exact"); d != "" {
				t.Errorf("RESP%d: %s, then %s\n%s", proto, test.wait, test.feed, d)
			}
		}
	}
}

// blockedOnRedis returns what feed does to a server on which a client waits;
// the reply is that client's.
func blockedOnRedis(t *testing.T, server *redisserver.Server, proto int, setup, wait, feed string) outcome {
	t.Helper()
	real := newRemote(t, server, proto)
	defer real.close()
	for line := range strings.Lines(setup) {
		real.run(t, splitArgs(t, strings.TrimSpace(line)), false)
	}
	waiter := dialRaw(t, server)
	defer waiter.conn.Close()
	waiter.do(t, "HELLO", strconv.Itoa(proto))
	waiter.send(t, splitArgs(t, wait))
	for !strings.Contains(real.commands.do(t, "INFO", "clients"), "blocked_clients:1") {
		time.Sleep(time.Millisecond)
	}
	real.sync(t) // what the waiting command itself did
	o := real.run(t, splitArgs(t, feed), false)
	o.reply = waiter.read(t)
	return o
}

// blockedHere does the same with handlers, playing the part of the server.
func blockedHere(t *testing.T, proto int, setup, wait, feed, key string) outcome {
	t.Helper()
	l := newLocal(proto)
	for line := range strings.Lines(setup) {
		l.run(splitArgs(t, strings.TrimSpace(line)), false)
	}
	args := splitArgs(t, wait)
	c := &Call{Args: args, Spec: l.table.Lookup(args), Table: l.table, Reply: l.out, DB: l.keyspace.DB(0)}
	c.Spec.Handler(c)
	w := c.Waiting()
	if w == nil {
		t.Fatalf("%s does not wait", wait)
	}
	l.run(splitArgs(t, feed), false)
	l.out.Reset()
	if value := c.DB.Peek([]byte(key)); value == nil || value.Kind() != w.Kind {
		w.OnDelete(l.out)
	} else {
		resumed := &Call{
			Args: args, Spec: c.Spec, Table: l.table, Reply: l.out, DB: c.DB, Resumed: true, ReadyKey: key,
		}
		c.Spec.Handler(resumed)
		if resumed.Waiting() != nil {
			t.Fatalf("%s goes on waiting after %s", wait, feed)
		}
		for _, effect := range resumed.effects {
			l.outcome.effects = append(l.outcome.effects, quoteArgs(effect))
		}
	}
	l.outcome.reply = string(l.out.Bytes())
	return l.outcome
}

// TestBlockedClientsAreServedInKeyOrderSince72: before, the key that became
// ready first was the one that counted; then the command just ran again.
func TestBlockedClientsAreServedInKeyOrderSince72(t *testing.T) {
	for v, want := range map[version.Version]string{version.V7_0: "b", version.V7_2: "a"} {
		l := newLocal(2)
		l.table = NewTable(v)
		l.keyspace.Limits = keyspace.DefaultLimits(v)
		l.run(splitArgs(t, "RPUSH b x"), false)
		l.run(splitArgs(t, "RPUSH a x"), false)
		l.out.Reset()
		args := splitArgs(t, "BLPOP a b 0")
		c := &Call{
			Args: args, Spec: l.table.Lookup(args), Table: l.table, Reply: l.out, DB: l.keyspace.DB(0),
			Resumed: true, ReadyKey: "b",
		}
		c.Spec.Handler(c)
		if got := string(l.out.Bytes()); got != "*2\r\n$1\r\n"+want+"\r\n$1\r\nx\r\n" {
			t.Errorf("%v: the reply is %q", v, got)
		}
	}
}

func TestBlockedGroupReaderLosesItsStream(t *testing.T) {
	for v, want := range map[version.Version][2]string{
		version.V7_0: {"-UNBLOCKED the stream key no longer exists\r\n", "-UNBLOCKED the stream key no longer exists\r\n"},
		version.V7_2: {
			"-NOGROUP No such key 's' or consumer group 'g' in XREADGROUP with GROUP option\r\n",
			"-WRONGTYPE Operation against a key holding the wrong kind of value\r\n",
		},
	} {
		for i, feed := range []string{"DEL s", "SET s x"} {
			l := newLocal(2)
			l.table = NewTable(v)
			l.run(splitArgs(t, "XGROUP CREATE s g $ MKSTREAM"), false)
			args := splitArgs(t, "XREADGROUP GROUP g c BLOCK 0 STREAMS s >")
			c := &Call{Args: args, Spec: l.table.Lookup(args), Table: l.table, Reply: l.out, DB: l.keyspace.DB(0)}
			c.Spec.Handler(c)
			l.run(splitArgs(t, feed), false)
			l.out.Reset()
			c.Waiting().OnDelete(l.out)
			if got := string(l.out.Bytes()); got != want[i] {
				t.Errorf("%v: after %s the reply is %q", v, feed, got)
			}
		}
	}
}
