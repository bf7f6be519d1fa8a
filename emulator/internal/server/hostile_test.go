package server_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/fakecluster/fakecluster/emulator"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// forEver is how long a test waits for what must come, before it calls that a
// hang. No test passes because of it.
const forEver = time.Minute

// start starts nodes that end with the test.
func start(t testing.TB, opts ...emulator.Option) *emulator.Cluster {
	t.Helper()
	c, err := emulator.Start(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// client is a bare connection to a node.
type client struct {
	t    testing.TB
	conn net.Conn
	r    *bufio.Reader
}

// connect dials the first node, over TCP if that is where it listens.
func connect(t testing.TB, c *emulator.Cluster) *client {
	t.Helper()
	conn, err := c.Dialer()(context.Background(), "tcp", c.Node(0).Addr())
	if err != nil {
		t.Fatal(err)
	}
	return over(t, conn)
}

func connectTo(t testing.TB, addr string) *client {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return over(t, conn)
}

func over(t testing.TB, conn net.Conn) *client {
	t.Helper()
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(forEver)); err != nil {
		t.Fatal(err)
	}
	return &client{t, conn, bufio.NewReader(conn)}
}

// send writes one command.
func (c *client) send(args ...string) {
	c.t.Helper()
	c.write(request(args...))
}

func (c *client) write(raw string) {
	c.t.Helper()
	if _, err := io.WriteString(c.conn, raw); err != nil {
		c.t.Fatal(err)
	}
}

func request(args ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, arg := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(arg), arg)
	}
	return b.String()
}

// do sends a command and returns its reply.
func (c *client) do(args ...string) string {
	c.t.Helper()
	c.send(args...)
	return c.reply()
}

// expect sends a command and fails the test on another reply.
func (c *client) expect(want string, args ...string) {
	c.t.Helper()
	if got := c.do(args...); got != want {
		c.t.Fatalf("%.200q: %.300q, want %q", args, got, want)
	}
}

// reply reads one reply.
func (c *client) reply() string {
	c.t.Helper()
	r, err := readReply(c.r)
	if err != nil {
		c.t.Fatalf("no reply: %v", failure(err))
	}
	return r
}

// ended reads up to the end of the connection and returns what came before it.
func (c *client) ended() string {
	c.t.Helper()
	rest, err := io.ReadAll(c.r)
	if err != nil && !errors.Is(err, syscall.ECONNRESET) {
		c.t.Fatalf("the connection does not end: %v", failure(err))
	}
	return string(rest)
}

// failure adds to an error of waiting too long where everybody is.
func failure(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		stacks := make([]byte, 1<<20)
		return fmt.Errorf("%w: it hangs\n%s", err, stacks[:runtime.Stack(stacks, true)])
	}
	return err
}

var errMalformed = errors.New("malformed reply")

// readReply reads one reply as it is written. It errs on what is none.
func readReply(r *bufio.Reader) (string, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return line, err
	}
	if len(line) < 3 || !strings.HasSuffix(line, "\r\n") {
		return line, fmt.Errorf("%w: %q", errMalformed, line)
	}
	kind, text := line[0], line[1:len(line)-2]
	switch kind {
	case '+', '-':
		return line[:len(line)-2], nil
	case ':', ',', '(', '#', '_':
		return line[:len(line)-2], nil
	}
	size, err := strconv.Atoi(text)
	if err != nil || size < -1 {
		return line, fmt.Errorf("%w: %q", errMalformed, line)
	}
	switch kind {
	case '$', '=':
		if size < 0 {
			return "(nil)", nil
		}
		b := make([]byte, size+2)
		if _, err := io.ReadFull(r, b); err != nil {
			return line, err
		}
		if string(b[size:]) != "\r\n" {
			return line, fmt.Errorf("%w: behind %q is %q", errMalformed, b[:min(size, 50)], b[size:])
		}
		return string(b[:size]), nil
	case '%':
		size *= 2
	case '*', '~', '>':
	default:
		return line, fmt.Errorf("%w: %q", errMalformed, line)
	}
	items := make([]string, 0, max(0, min(size, 1000)))
	for range size {
		item, err := readReply(r)
		if err != nil {
			return line, err
		}
		items = append(items, item)
	}
	return string(kind) + "[" + strings.Join(items, " ") + "]", nil
}
