package emulator_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/emulator"
)

// wire is a bare connection to a node.
type wire struct {
	t    testing.TB
	conn net.Conn
	r    *bufio.Reader
}

func dial(t testing.TB, c *emulator.Cluster, node int) *wire {
	t.Helper()
	conn, err := c.Dialer()(context.Background(), "tcp", c.Node(node).Addr())
	if err != nil {
		t.Fatal(err)
	}
	return onWire(t, conn)
}

func onWire(t testing.TB, conn net.Conn) *wire {
	t.Helper()
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return &wire{t, conn, bufio.NewReader(conn)}
}

func (w *wire) send(format string, args ...any) {
	w.t.Helper()
	if _, err := fmt.Fprintf(w.conn, format, args...); err != nil {
		w.t.Fatal(err)
	}
}

// command sends a command.
func (w *wire) command(words ...string) {
	w.t.Helper()
	w.send("%s", request(words))
}

// request is a command as clients send it.
func request(words []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, word := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(word), word)
	}
	return b.String()
}

// copyReply copies one reply as it is.
func copyReply(to *strings.Builder, from *bufio.Reader) error {
	line, err := from.ReadString('\n')
	to.WriteString(line)
	if err != nil {
		return err
	}
	size, _ := strconv.Atoi(strings.TrimSpace(line[1:]))
	switch line[0] {
	case '$', '=':
		if size >= 0 {
			_, err = io.CopyN(to, from, int64(size)+2)
		}
		return err
	case '%':
		size *= 2
	case '*', '~', '>':
	default:
		size = 0
	}
	for range size {
		if err := copyReply(to, from); err != nil {
			return err
		}
	}
	return nil
}

func (w *wire) line() string {
	w.t.Helper()
	line, err := w.r.ReadString('\n')
	if err != nil {
		w.t.Fatalf("reading: %v (after %q)", err, line)
	}
	return strings.TrimSuffix(line, "\r\n")
}

// reply reads one reply and returns it on one line.
func (w *wire) reply() string {
	w.t.Helper()
	line := w.line()
	switch line[0] {
	case '$':
		n, _ := strconv.Atoi(line[1:])
		if n < 0 {
			return "(nil)"
		}
		b := make([]byte, n+2)
		if _, err := io.ReadFull(w.r, b); err != nil {
			w.t.Fatal(err)
		}
		return string(b[:n])
	case '*', '>', '~':
		n, _ := strconv.Atoi(line[1:])
		items := []string{}
		for range n {
			items = append(items, w.reply())
		}
		return line[:1] + "[" + strings.Join(items, " ") + "]"
	}
	return line
}

func (w *wire) expect(replies ...string) {
	w.t.Helper()
	for _, want := range replies {
		if got := w.reply(); got != want {
			w.t.Fatalf("reply %q, want %q", got, want)
		}
	}
}

// overEachNetwork runs a test in process and over TCP.
func overEachNetwork(t *testing.T, test func(t *testing.T, connect func() *wire)) {
	t.Run("pipe", func(t *testing.T) {
		c := emulator.RunT(t, emulator.Standalone())
		test(t, func() *wire { return dial(t, c, 0) })
	})
	t.Run("tcp", func(t *testing.T) {
		c := emulator.RunT(t, emulator.Standalone(), emulator.TCP("127.0.0.1", 0))
		test(t, func() *wire {
			conn, err := net.Dial("tcp", c.Addrs()[0])
			if err != nil {
				t.Fatal(err)
			}
			return onWire(t, conn)
		})
	})
}

// A client that sends everything before it reads anything must not bring its
// own input to a halt, whatever the buffers in between hold.
func TestOutputNeverBlocksInput(t *testing.T) {
	overEachNetwork(t, func(t *testing.T, connect func() *wire) {
		const commands = 300_000
		w := connect()
		w.send("SET key %s\r\n", strings.Repeat("x", 100))
		w.expect("+OK")
		request := bytes.Repeat([]byte("GET key\r\n"), commands)
		if _, err := w.conn.Write(request); err != nil {
			t.Fatalf("writing %d commands without reading: %v", commands, err)
		}
		for i := range commands {
			if got := w.reply(); len(got) != 100 {
				t.Fatalf("reply %d has %d bytes", i, len(got))
			}
		}
	})
}

// Messages of other clients and replies to one's own commands leave in the
// order of the node: numbers read by GET never overtake those published later.
func TestRepliesAndMessagesKeepOneOrder(t *testing.T) {
	overEachNetwork(t, func(t *testing.T, connect func() *wire) {
		const rounds = 2000
		w := connect()
		w.send("HELLO 3\r\n")
		for w.line() != "*0" { // the reply ends with the empty list of modules
		}
		w.send("SUBSCRIBE news\r\n")
		w.expect(">[subscribe news :1]")

		var publisher sync.WaitGroup
		publisher.Go(func() {
			p := connect()
			for i := 1; i <= rounds; i++ {
				p.send("MULTI\r\nSET n %d\r\nPUBLISH news %d\r\nEXEC\r\n", i, i)
				p.expect("+OK", "+QUEUED", "+QUEUED", "*[+OK :1]")
			}
		})
		published, asked := 0, 0
		for published < rounds {
			if asked == 0 {
				w.send("GET n\r\n")
				asked++
			}
			got := w.reply()
			message, isMessage := strings.CutPrefix(got, ">[message news ")
			n, _ := strconv.Atoi(strings.TrimSuffix(message, "]"))
			switch {
			case isMessage && n != published+1:
				t.Fatalf("message %d after message %d", n, published)
			case isMessage:
				published = n
			case got == "(nil)" || got == "_":
				asked--
			case n != published:
				t.Fatalf("GET says %d between messages %d and %d", n, published, published+1)
			default:
				asked--
			}
		}
		publisher.Wait()
	})
}

// A blocked client that goes away must not take a job with it.
func TestBlockedClientThatLeftGetsNothing(t *testing.T) {
	overEachNetwork(t, func(t *testing.T, connect func() *wire) {
		watcher := connect()
		for range 50 {
			w := connect()
			w.send("BLPOP queue 0\r\n")
			waitForBlocked(watcher, true)
			w.conn.Close()
			waitForBlocked(watcher, false)
			watcher.send("RPUSH queue job\r\nLPOP queue\r\n")
			watcher.expect(":1", "job")
		}
	})
}

// waitForBlocked polls INFO until a client is blocked, or none is.
func waitForBlocked(w *wire, blocked bool) {
	w.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		w.send("INFO clients\r\n")
		if strings.Contains(w.reply(), "blocked_clients:0") != blocked {
			return
		}
	}
	w.t.Fatalf("no client was seen with blocked = %v", blocked)
}

// What a client pipelines behind a blocking command waits for its turn.
func TestPipelineBehindABlockingCommand(t *testing.T) {
	overEachNetwork(t, func(t *testing.T, connect func() *wire) {
		w, other := connect(), connect()
		w.send("BLPOP queue 0\r\nPING\r\nBLPOP queue 0\r\nECHO end\r\n")
		waitForBlocked(other, true)
		other.send("RPUSH queue a\r\n")
		other.expect(":1")
		w.expect("*[queue a]", "+PONG")
		waitForBlocked(other, true)
		other.send("RPUSH queue b\r\n")
		other.expect(":1")
		w.expect("*[queue b]", "end")
	})
}

// Clients are served in the order in which they blocked.
func TestBlockedClientsAreServedInOrder(t *testing.T) {
	c := emulator.RunT(t, emulator.Standalone())
	var waiting []*wire
	watcher := dial(t, c, 0)
	for i := range 10 {
		w := dial(t, c, 0)
		w.send("BLPOP queue 0\r\n")
		for { // until i+1 clients are blocked
			watcher.send("INFO clients\r\n")
			if strings.Contains(watcher.reply(), fmt.Sprintf("blocked_clients:%d\r\n", i+1)) {
				break
			}
		}
		waiting = append(waiting, w)
	}
	watcher.send("RPUSH queue 0 1 2 3 4 5 6 7 8 9\r\n")
	watcher.expect(":10")
	for i, w := range waiting {
		w.expect(fmt.Sprintf("*[queue %d]", i))
	}
}

func TestCommandsAheadOfAProtocolErrorAreAnswered(t *testing.T) {
	overEachNetwork(t, func(t *testing.T, connect func() *wire) {
		w := connect()
		w.send("PING\r\n*1\r\n$4\r\nPING\r\n*1\r\n+\r\n")
		w.expect("+PONG", "+PONG", "-ERR Protocol error: expected '$', got '+'")
		if _, err := w.r.ReadByte(); err != io.EOF {
			t.Errorf("after a protocol error: %v, want EOF", err)
		}
	})
}

func TestLastCommandsOfAClientThatHangsUp(t *testing.T) {
	overEachNetwork(t, func(t *testing.T, connect func() *wire) {
		w, other := connect(), connect()
		w.send("%s", strings.Repeat("INCR n\r\n", 1000))
		if half, ok := w.conn.(interface{ CloseWrite() error }); !ok || half.CloseWrite() != nil {
			t.Fatal("the connection cannot be closed half")
		}
		for i := range 1000 {
			w.expect(fmt.Sprintf(":%d", i+1))
		}
		other.send("GET n\r\n")
		other.expect("1000")
	})
}

func TestClosingEndsBlockedAndIdleClients(t *testing.T) {
	c := emulator.RunT(t, emulator.Standalone(), emulator.TCP("127.0.0.1", 0))
	idle, blocked := dial(t, c, 0), dial(t, c, 0)
	idle.send("PING\r\n")
	idle.expect("+PONG")
	blocked.send("BLPOP queue 0\r\n")
	waitForBlocked(idle, true)
	c.Close()
	for name, w := range map[string]*wire{"idle": idle, "blocked": blocked} {
		if b, err := w.r.ReadByte(); err == nil {
			t.Errorf("the %s client reads %q after the cluster closed", name, b)
		}
	}
}

func TestClientReplyModes(t *testing.T) {
	c := emulator.RunT(t, emulator.Standalone())
	w := dial(t, c, 0)
	w.send("CLIENT REPLY SKIP\r\nSET a 1\r\nGET a\r\nCLIENT REPLY OFF\r\nSET a 2\r\nGET a\r\nCLIENT REPLY ON\r\nGET a\r\n")
	w.expect("1", "+OK", "2")
}

func TestPausedClientsGoOn(t *testing.T) {
	c := emulator.RunT(t, emulator.Standalone())
	w, other := dial(t, c, 0), dial(t, c, 0)
	w.send("CLIENT PAUSE 100000 WRITE\r\n")
	w.expect("+OK")
	other.send("GET a\r\nSET a 1\r\nGET a\r\n")
	other.expect("(nil)")
	waitForBlocked(w, true)
	w.send("GET a\r\nCLIENT UNPAUSE\r\n")
	w.expect("(nil)", "+OK")
	other.expect("+OK", "1")
}
