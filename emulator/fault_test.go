package emulator_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/slots"
)

// ended checks that the node has closed the connection.
func (w *wire) ended() {
	w.t.Helper()
	if b, err := w.r.ReadByte(); !errors.Is(err, io.EOF) {
		w.t.Fatalf("the connection goes on: %q, %v", b, err)
	}
}

func TestDroppedConnections(t *testing.T) {
	overEachFaultyNetwork(t, func(t *testing.T, c *emulator.Cluster, connect func() *wire) {
		f := c.Inject(emulator.Rule{Commands: []string{"incr"}, Action: emulator.DropBefore(), Times: 1})
		w := connect()
		w.send("PING\r\nINCR n\r\nPING\r\n")
		w.expect("+PONG")
		w.ended()
		if c.Node(0).Exists("n") || f.Hits() != 1 {
			t.Errorf("INCR was executed; %d hits", f.Hits())
		}
		connect().do(":1", "INCR", "n")

		f = c.Inject(emulator.Rule{Commands: []string{"INCR"}, Action: emulator.DropAfter(), Times: 1})
		w = connect()
		w.send("PING\r\nINCR n\r\nPING\r\n")
		w.expect("+PONG")
		w.ended()
		if v, _ := c.Node(0).Get("n"); v != "2" || f.Hits() != 1 {
			t.Errorf("after the lost reply n is %q; %d hits", v, f.Hits())
		}
		connect().do(":3", "INCR", "n")
	})
}

func overEachFaultyNetwork(t *testing.T, test func(t *testing.T, c *emulator.Cluster, connect func() *wire)) {
	for _, network := range []emulator.Option{emulator.Seed(1), emulator.TCP("127.0.0.1", 0)} {
		c := emulator.RunT(t, emulator.Standalone(), network)
		test(t, c, func() *wire { return connectTo(t, c) })
	}
}

func connectTo(t *testing.T, c *emulator.Cluster) *wire {
	t.Helper()
	conn, err := c.Dialer()(t.Context(), "tcp", c.Node(0).Addr())
	if err != nil {
		t.Fatal(err)
	}
	return onWire(t, conn)
}

// A client that waited for an element loses it with its reply.
func TestLostReplyOfABlockedClient(t *testing.T) {
	c := emulator.RunT(t, emulator.Standalone())
	c.Inject(emulator.Rule{Commands: []string{"blpop"}, Action: emulator.DropAfter()})
	w, other := dial(t, c, 0), dial(t, c, 0)
	w.send("BLPOP queue 0\r\n")
	waitForBlocked(other, true)
	other.do(":1", "RPUSH", "queue", "job")
	w.ended()
	other.do(":0", "LLEN", "queue")
}

func TestErrorReplies(t *testing.T) {
	c := emulator.RunT(t, emulator.Standalone())
	w := dial(t, c, 0)
	f := c.Inject(emulator.Rule{Key: "user:*", Action: emulator.ReplyWith("oom"), Nth: 2, Times: 2})
	for i, want := range []string{"+OK", "-OOM", "-OOM", "+OK"} {
		w.send("SET user:%d v\r\n", i)
		if got := w.reply(); !strings.HasPrefix(got, want) {
			t.Errorf("SET %d: %s, want %s", i, got, want)
		}
	}
	w.do("+OK", "SET", "other", "v")
	if f.Hits() != 2 {
		t.Errorf("%d hits", f.Hits())
	}
	f.Remove()
	f.Remove()

	// In a transaction the error spoils it, as Redis' own would.
	c.Inject(emulator.Rule{Commands: []string{"get"}, Action: emulator.ReplyWith("ERR made up")})
	w.do("+OK", "MULTI")
	w.do("-ERR made up", "GET", "a")
	w.do("-EXECABORT Transaction discarded because of previous errors.", "EXEC")
}

func TestFaultsMatchClientsAndNodes(t *testing.T) {
	c := emulator.RunT(t, emulator.Servers(2))
	c.Inject(emulator.Rule{Client: "work*", Nodes: c.Nodes()[1:], Commands: []string{"client|getname"}, Action: emulator.ReplyWith("ERR hit")})
	for _, step := range []struct {
		node       int
		name, want string
	}{{0, "worker", "worker"}, {1, "other", "other"}, {1, "worker", "-ERR hit"}} {
		w := dial(t, c, step.node)
		w.do("+OK", "CLIENT", "SETNAME", step.name)
		w.do(step.want, "CLIENT", "GETNAME")
	}
}

func TestChanceComesFromTheSeed(t *testing.T) {
	run := func(seed uint64) (outcomes string) {
		c := emulator.RunT(t, emulator.Standalone(), emulator.Seed(seed))
		c.Inject(emulator.Rule{Commands: []string{"ping"}, Probability: 0.5, Action: emulator.ReplyWith("ERR hit")})
		w := dial(t, c, 0)
		for range 64 {
			w.send("PING\r\n")
			outcomes += w.reply()[:1]
		}
		return outcomes
	}
	if a, b, other := run(1), run(1), run(2); a != b || a == other || !strings.Contains(a, "+") || !strings.Contains(a, "-") {
		t.Errorf("with one seed: %s and %s; with another: %s", a, b, other)
	}
}

func TestDelayAndTrickle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := emulator.RunT(t, emulator.Standalone())
		w := dial(t, c, 0)
		w.conn.SetDeadline(time.Time{})
		w.do("+OK", "SET", "a", strings.Repeat("x", 95))
		f := c.Inject(emulator.Rule{Commands: []string{"get"}, Action: emulator.Delay(time.Hour)})
		began := time.Now()
		w.send("GET a\r\nPING\r\n")
		w.expect(strings.Repeat("x", 95), "+PONG")
		if took := time.Since(began); took != time.Hour {
			t.Errorf("the delayed command took %v", took)
		}
		f.Remove()
		c.Inject(emulator.Rule{Commands: []string{"get"}, Action: emulator.Trickle(10, time.Second)})
		began = time.Now()
		w.do(strings.Repeat("x", 95), "GET", "a") // 102 bytes
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("the slow reply took %v", took)
		}
		began = time.Now()
		w.do("+PONG", "PING")
		if took := time.Since(began); took > time.Second {
			t.Errorf("the reply after it took %v", took)
		}
	})
}

func TestTruncatedReply(t *testing.T) {
	c := emulator.RunT(t, emulator.Standalone())
	w := dial(t, c, 0)
	w.do("+OK", "SET", "a", "value")
	c.Inject(emulator.Rule{Commands: []string{"get"}, Action: emulator.Truncate(6)})
	w.send("GET a\r\n")
	if b, err := io.ReadAll(w.r); string(b) != "$5\r\nva" || err != nil {
		t.Errorf("read %q, %v", b, err)
	}
}

func TestRefusedConnections(t *testing.T) {
	c := emulator.RunT(t)
	f := c.Inject(emulator.Rule{Nodes: c.Nodes()[:1], Times: 2, Action: emulator.Refuse()})
	for range 2 {
		if _, err := c.Dialer()(t.Context(), "tcp", c.Node(0).Addr()); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("a refused connection: %v", err)
		}
	}
	dial(t, c, 0).do("+PONG", "PING")
	if f.Hits() != 2 {
		t.Errorf("%d hits", f.Hits())
	}

	c = emulator.RunT(t, emulator.TCP("127.0.0.1", 0))
	c.Inject(emulator.Rule{Nodes: c.Nodes()[:1], Times: 1, Action: emulator.Refuse()})
	for i := range 2 {
		conn, err := net.Dial("tcp", c.Node(0).Addr())
		if i == 1 {
			must(t, err)
			onWire(t, conn).do("+PONG", "PING")
			continue
		}
		if err == nil { // the kernel had accepted it
			_, err = onWire(t, conn).r.ReadByte()
		}
		if !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("a refused connection: %v", err)
		}
	}
}

func TestTrace(t *testing.T) {
	c := emulator.RunT(t)
	first, second := dial(t, c, 0), dial(t, c, 1)
	first.do("+OK", "CLIENT", "SETNAME", "app")
	trace := c.Trace(1000)
	first.do("+OK", "SET", "b", "two words")
	first.do("-CROSSSLOT Keys in request don't hash to the same slot", "MGET", "a", "b")
	second.do("-MOVED 3300 "+c.Node(0).Addr(), "GET", "b")
	first.do("two words", "GET", "b")
	first.do("-WRONGTYPE Operation against a key holding the wrong kind of value", "LLEN", "b")

	// n2 holds n1 for the owner of a slot that n1 gives to n2: a loop.
	if err := c.Partition(c.Nodes()[:1]); err != nil {
		t.Fatal(err)
	}
	first.do("+OK", "CLUSTER", "SETSLOT", "100", "NODE", c.Node(1).ID())
	key := slots.TagFor(100)
	for range 2 {
		first.do("-MOVED 100 "+c.Node(1).Addr(), "GET", key)
		second.do("-MOVED 100 "+c.Node(0).Addr(), "GET", key)
	}

	var lines []string
	for e := range trace.All() {
		if e.Command != "cluster|setslot" {
			lines = append(lines, e.String())
		}
	}
	want := fmt.Sprintf(`n1 3300 serve: SET b "two words"
n1 15495 CROSSSLOT: MGET a b
n2 3300 MOVED: GET b (redirected 1 times)
n1 3300 serve: GET b (redirected 1 times)
n1 3300 WRONGTYPE: LLEN b
n1 100 MOVED: GET %[1]s (redirected 1 times)
n2 100 MOVED: GET %[1]s (redirected 2 times)
n1 100 MOVED: GET %[1]s (redirected 3 times)
n2 100 MOVED: GET %[1]s (redirected 4 times)`, key)
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("the trace is\n%s\nwant\n%s", got, want)
	}
	if crossed := trace.CrossedSlots(); len(crossed) != 1 || crossed[0].Client != "app" {
		t.Errorf("crossed slots: %v", crossed)
	}
	if loops := trace.RedirectedMoreThan(1); len(loops) != 3 {
		t.Errorf("redirected more than once: %v", loops)
	}
	trace.Clear()
	c.Untrace()
	first.do("+PONG", "PING")
	if trace.Total() != 0 {
		t.Errorf("%d commands after the end of the trace", trace.Total())
	}
}

func TestTraceKeepsTheLatest(t *testing.T) {
	c := emulator.RunT(t, emulator.Standalone())
	trace := c.Trace(3)
	w := dial(t, c, 0)
	for i := range 5 {
		w.do(fmt.Sprint(i), "ECHO", fmt.Sprint(i))
	}
	var kept string
	for e := range trace.All() {
		kept += e.Text + ";"
	}
	if kept != "ECHO 2;ECHO 3;ECHO 4;" || trace.Total() != 5 {
		t.Errorf("kept %q of %d", kept, trace.Total())
	}
}
