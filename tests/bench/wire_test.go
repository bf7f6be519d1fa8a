package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"testing"
	"time"
)

// wire is a connection without a client library: requests are bytes made
// beforehand, replies are counted and not kept, so that the time is the server's.
type wire struct {
	tb   testing.TB
	conn net.Conn
	in   *bufio.Reader
	out  *bufio.Writer
	left int // replies still to come
}

func dial(tb testing.TB, addr string) *wire {
	tb.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		tb.Fatal(err)
	}
	return newWire(tb, conn)
}

// dialInProcess connects through a cluster's dialer.
func dialInProcess(tb testing.TB, dialer func(context.Context, string, string) (net.Conn, error), addr string) *wire {
	tb.Helper()
	conn, err := dialer(context.Background(), "tcp", addr)
	if err != nil {
		tb.Fatal(err)
	}
	return newWire(tb, conn)
}

func newWire(tb testing.TB, conn net.Conn) *wire {
	tb.Cleanup(func() { conn.Close() })
	return &wire{tb: tb, conn: conn, in: bufio.NewReaderSize(conn, 64<<10), out: bufio.NewWriterSize(conn, 64<<10)}
}

// appendCommand appends a request.
func appendCommand(b []byte, args ...string) []byte {
	b = append(b, '*')
	b = strconv.AppendInt(b, int64(len(args)), 10)
	b = append(b, '\r', '\n')
	for _, arg := range args {
		b = append(b, '$')
		b = strconv.AppendInt(b, int64(len(arg)), 10)
		b = append(b, '\r', '\n')
		b = append(b, arg...)
		b = append(b, '\r', '\n')
	}
	return b
}

// window is how many requests pour has on their way at most: more could fill
// both directions of a connection and wait for ever.
const window = 1000

// pour sends the requests that next appends, count of them, and waits for all
// replies. It returns how long that took.
func (w *wire) pour(count int, next func(b []byte, i int) []byte) time.Duration {
	w.tb.Helper()
	began := time.Now()
	var request []byte
	for i := range count {
		request = next(request[:0], i)
		w.write(request)
		if w.left++; w.left >= window {
			w.drain()
		}
	}
	w.drain()
	return time.Since(began)
}

func (w *wire) write(request []byte) {
	if _, err := w.out.Write(request); err != nil {
		w.tb.Fatal(err)
	}
}

// drain waits for the replies to everything written.
func (w *wire) drain() {
	w.tb.Helper()
	if err := w.out.Flush(); err != nil {
		w.tb.Fatal(err)
	}
	for ; w.left > 0; w.left-- {
		if err := w.skip(); err != nil {
			w.tb.Fatal(err)
		}
	}
}

// skip reads a reply and forgets it. An error reply is an error.
func (w *wire) skip() error {
	text, err := w.in.ReadSlice('\n')
	if err != nil {
		return fmt.Errorf("read a reply: %w", err)
	}
	n := 0
	if c := text[0]; c == '$' || c == '*' {
		if text[1] == '-' { // null
			return nil
		}
		for _, digit := range text[1 : len(text)-2] {
			n = 10*n + int(digit-'0')
		}
	}
	switch text[0] {
	case '-':
		return fmt.Errorf("error reply %q", text)
	case '$':
		_, err = w.in.Discard(n + 2)
	case '*':
		for ; n > 0 && err == nil; n-- {
			err = w.skip()
		}
	}
	return err
}

// head sends a command and returns the first line of its reply.
func (w *wire) head(args ...string) string {
	w.tb.Helper()
	w.write(appendCommand(nil, args...))
	if err := w.out.Flush(); err != nil {
		w.tb.Fatal(err)
	}
	head, err := w.in.ReadString('\n')
	if err != nil {
		w.tb.Fatal(err)
	}
	return head
}

// text sends a command and returns its reply, which must be a status, a number
// or a bulk string.
func (w *wire) text(args ...string) string {
	w.tb.Helper()
	head := w.head(args...)
	switch head[0] {
	case '$':
		n, err := strconv.Atoi(head[1 : len(head)-2])
		if err != nil || n < 0 {
			return ""
		}
		body := make([]byte, n+2)
		if _, err := io.ReadFull(w.in, body); err != nil {
			w.tb.Fatal(err)
		}
		return string(body[:n])
	case '-':
		w.tb.Fatalf("%v: %s", args, head)
	}
	return head[1 : len(head)-2]
}

// do sends a command and waits for its reply.
func (w *wire) do(args ...string) time.Duration {
	w.tb.Helper()
	return w.pour(1, func(b []byte, _ int) []byte { return appendCommand(b, args...) })
}
