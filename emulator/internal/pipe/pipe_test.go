package pipe

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/net/nettest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var nodeAddr = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7000}

// connect returns both ends of a new connection.
func connect(tb testing.TB, l *Listener) (client, server *Conn) {
	tb.Helper()
	c, err := l.Dial(context.Background())
	if err != nil {
		tb.Fatal(err)
	}
	s, err := l.Accept()
	if err != nil {
		tb.Fatal(err)
	}
	return c.(*Conn), s.(*Conn)
}

func pair(tb testing.TB, buffer int) (client, server *Conn) {
	tb.Helper()
	l := Listen(nodeAddr)
	l.SetBuffer(buffer)
	client, server = connect(tb, l)
	tb.Cleanup(func() { client.Close(); server.Close(); l.Close() })
	return client, server
}

func TestConformance(t *testing.T) {
	for name, buffer := range map[string]int{"default": DefaultBuffer, "small": 64} {
		t.Run(name, func(t *testing.T) {
			nettest.TestConn(t, func() (c1, c2 net.Conn, stop func(), err error) {
				l := Listen(nodeAddr)
				l.SetBuffer(buffer)
				client, server := connect(t, l)
				return client, server, func() { client.Close(); server.Close(); l.Close() }, nil
			})
		})
	}
}

// ends is a connection over TCP or over a pipe, to hold one against the other.
type ends struct{ client, server net.Conn }

type halfCloser interface {
	net.Conn
	CloseWrite() error
}

func tcpEnds(t *testing.T) ends {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(); server.Close(); l.Close() })
	return ends{client, server}
}

func pipeEnds(t *testing.T) ends {
	client, server := pair(t, DefaultBuffer)
	return ends{client, server}
}

// TestErrorsAsTCP does the same to a TCP connection and to a pipe.
func TestErrorsAsTCP(t *testing.T) {
	past := time.Unix(1, 0)
	read := func(c net.Conn) error { _, err := io.ReadFull(c, make([]byte, 1)); return err }
	write := func(c net.Conn) error { _, err := c.Write([]byte("x")); return err }
	cases := []struct {
		name string
		do   func(t *testing.T, e ends) error
		want error
	}{
		{"read after own close", func(t *testing.T, e ends) error { e.client.Close(); return read(e.client) }, net.ErrClosed},
		{"write after own close", func(t *testing.T, e ends) error { e.client.Close(); return write(e.client) }, net.ErrClosed},
		{"close twice", func(t *testing.T, e ends) error { e.client.Close(); return e.client.Close() }, net.ErrClosed},
		{"deadline after own close", func(t *testing.T, e ends) error { e.client.Close(); return e.client.SetDeadline(past) }, net.ErrClosed},
		{"read after peer's close", func(t *testing.T, e ends) error { e.server.Close(); return read(e.client) }, io.EOF},
		{"bytes before peer's close", func(t *testing.T, e ends) error {
			if err := write(e.server); err != nil {
				return err
			}
			e.server.Close()
			return read(e.client)
		}, nil},
		{"read after peer's half close", func(t *testing.T, e ends) error {
			if err := e.server.(halfCloser).CloseWrite(); err != nil {
				return err
			}
			return read(e.client)
		}, io.EOF},
		{"write after peer's half close", func(t *testing.T, e ends) error {
			if err := e.server.(halfCloser).CloseWrite(); err != nil {
				return err
			}
			if err := write(e.client); err != nil {
				return err
			}
			return read(e.server)
		}, nil},
		{"write after own half close", func(t *testing.T, e ends) error {
			if err := e.client.(halfCloser).CloseWrite(); err != nil {
				return err
			}
			return write(e.client)
		}, syscall.EPIPE},
		{"half close after close", func(t *testing.T, e ends) error {
			e.client.Close()
			return e.client.(halfCloser).CloseWrite()
		}, net.ErrClosed},
		{"read past deadline", func(t *testing.T, e ends) error {
			if err := write(e.server); err != nil {
				return err
			}
			if err := e.client.SetReadDeadline(past); err != nil {
				return err
			}
			return read(e.client)
		}, os.ErrDeadlineExceeded},
		{"write past deadline", func(t *testing.T, e ends) error {
			if err := e.client.SetWriteDeadline(past); err != nil {
				return err
			}
			return write(e.client)
		}, os.ErrDeadlineExceeded},
		{"deadline taken away", func(t *testing.T, e ends) error {
			for _, at := range []time.Time{past, {}} {
				if err := e.client.SetDeadline(at); err != nil {
					return err
				}
			}
			return write(e.client)
		}, nil},
		{"reset by peer", func(t *testing.T, e ends) error {
			if tcp, ok := e.server.(*net.TCPConn); ok {
				if err := tcp.SetLinger(0); err != nil {
					return err
				}
				e.server.Close()
			} else if err := e.server.(*Conn).Reset(); err != nil {
				return err
			}
			return read(e.client)
		}, syscall.ECONNRESET},
		{"write nothing", func(t *testing.T, e ends) error { _, err := e.client.Write(nil); return err }, nil},
		{"read nothing", func(t *testing.T, e ends) error { _, err := e.client.Read(nil); return err }, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			onTCP, onPipe := c.do(t, tcpEnds(t)), c.do(t, pipeEnds(t))
			if !errors.Is(onTCP, c.want) || (c.want == nil) != (onTCP == nil) {
				t.Fatalf("TCP itself says %v, not %v", onTCP, c.want)
			}
			if !errors.Is(onPipe, c.want) || (c.want == nil) != (onPipe == nil) {
				t.Fatalf("got %v, TCP says %v", onPipe, onTCP)
			}
			tcpErr, isOp := errors.AsType[*net.OpError](onTCP)
			pipeErr, isOpToo := errors.AsType[*net.OpError](onPipe)
			if isOp != isOpToo {
				t.Fatalf("got %#v, TCP says %#v", onPipe, onTCP)
			}
			if isOp && (pipeErr.Op != tcpErr.Op || pipeErr.Net != tcpErr.Net ||
				pipeErr.Timeout() != tcpErr.Timeout() || pipeErr.Err.Error() != tcpErr.Err.Error()) {
				t.Errorf("got %v, TCP says %v", pipeErr, tcpErr)
			}
		})
	}
}

func TestWriteFailsAfterPeersClose(t *testing.T) {
	client, server := pair(t, DefaultBuffer)
	server.Close()
	if _, err := client.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("got %v, want EPIPE", err)
	}
	if _, err := client.WriteNonblock([]byte("x")); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("got %v, want EPIPE", err)
	}
}

func TestResetLosesWhatWasUnderWay(t *testing.T) {
	client, server := pair(t, DefaultBuffer)
	for _, c := range []net.Conn{client, server} {
		if _, err := c.Write([]byte("lost")); err != nil {
			t.Fatal(err)
		}
	}
	if err := server.Reset(); err != nil {
		t.Fatal(err)
	}
	if n, err := client.Read(make([]byte, 9)); n != 0 || !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("read %d, %v", n, err)
	}
	if _, err := client.Write([]byte("x")); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("write: %v", err)
	}
	if _, err := server.Read(make([]byte, 9)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("own read: %v", err)
	}
	if err := server.Reset(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("second reset: %v", err)
	}
}

func TestWriteNonblockTakesWhatFits(t *testing.T) {
	client, server := pair(t, 10)
	for _, step := range []struct{ write, want int }{{4, 4}, {4, 4}, {4, 2}, {4, 0}} {
		if n, err := client.WriteNonblock(make([]byte, step.write)); n != step.want || err != nil {
			t.Fatalf("write %d: got %d, %v, want %d", step.write, n, err, step.want)
		}
	}
	if n, err := server.Read(make([]byte, 3)); n != 3 || err != nil {
		t.Fatal(n, err)
	}
	if n, err := client.WriteNonblock(make([]byte, 9)); n != 3 || err != nil {
		t.Fatalf("got %d, %v, want 3", n, err)
	}
}

func TestWriteNonblockKeepsOutOfABlockedWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := pair(t, 4)
		done := make(chan error, 1)
		go func() {
			_, err := client.Write([]byte("abcdef"))
			done <- err
		}()
		synctest.Wait()
		if n, err := server.Read(make([]byte, 1)); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		if n, err := client.WriteNonblock([]byte("x")); n != 0 || err != nil {
			t.Errorf("wrote %d, %v into the middle of a write", n, err)
		}
		rest := make([]byte, 5)
		if _, err := io.ReadFull(server, rest); err != nil || string(rest) != "bcdef" {
			t.Errorf("read %q, %v", rest, err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestConcurrentWritesDoNotMix(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const writers, length = 8, 1000
		client, server := pair(t, 16)
		var all sync.WaitGroup
		for i := range writers {
			all.Go(func() {
				if _, err := client.Write(bytes.Repeat([]byte{byte('a' + i)}, length)); err != nil {
					t.Error(err)
				}
			})
		}
		got := make([]byte, writers*length)
		if _, err := io.ReadFull(server, got); err != nil {
			t.Fatal(err)
		}
		all.Wait()
		for i := 0; i < len(got); i += length {
			if run := got[i : i+length]; !bytes.Equal(run, bytes.Repeat(run[:1], length)) {
				t.Fatalf("writes are mixed: %q", run)
			}
		}
	})
}

// TestStreamIsInOrder pushes random pieces through rings that wrap and grow.
func TestStreamIsInOrder(t *testing.T) {
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		client, server := pair(t, 1+rnd.IntN(100_000))
		sent := make([]byte, 300_000)
		for i := range sent {
			sent[i] = byte(rnd.Uint32())
		}
		var written, read []byte
		for len(read) < len(sent) {
			n, err := client.WriteNonblock(sent[len(written):min(len(sent), len(written)+rnd.IntN(20_000))])
			if err != nil {
				t.Fatal(err)
			}
			written = sent[:len(written)+n]
			if len(written) == len(read) {
				continue
			}
			piece := make([]byte, 1+rnd.IntN(20_000))
			n, err = server.Read(piece)
			if err != nil {
				t.Fatal(err)
			}
			read = append(read, piece[:n]...)
		}
		if !bytes.Equal(read, sent) {
			t.Fatalf("seed %d: bytes differ", seed)
		}
	}
}

func TestDeadlinesOnTheBubblesClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := pair(t, 4)
		start := time.Now()
		deadline := func(d time.Duration) time.Time { return start.Add(d) }
		wantTimeout := func(err error, after time.Duration) {
			t.Helper()
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("got %v", err)
			}
			if got := time.Since(start); got != after {
				t.Errorf("after %v, want %v", got, after)
			}
		}

		client.SetReadDeadline(deadline(time.Hour))
		_, err := client.Read(make([]byte, 1))
		wantTimeout(err, time.Hour)

		client.SetWriteDeadline(deadline(2 * time.Hour))
		n, err := client.Write([]byte("123456"))
		wantTimeout(err, 2*time.Hour)
		if n != 4 {
			t.Errorf("wrote %d of the 4 bytes that fit", n)
		}

		// A deadline moved while somebody waits, later and earlier.
		for _, moved := range []time.Duration{5 * time.Hour, 6*time.Hour - time.Minute} {
			server.SetReadDeadline(deadline(moved + 30*time.Minute))
			if _, err := io.ReadFull(server, make([]byte, server.in.size)); err != nil {
				t.Fatal(err)
			}
			go func() {
				time.Sleep(time.Second)
				server.SetReadDeadline(deadline(moved))
			}()
			_, err = server.Read(make([]byte, 1))
			wantTimeout(err, moved)
		}

		// Taken away while somebody waits.
		server.SetReadDeadline(deadline(7 * time.Hour))
		go func() {
			time.Sleep(time.Second)
			server.SetReadDeadline(time.Time{})
			time.Sleep(10 * time.Hour)
			client.SetWriteDeadline(time.Time{})
			client.Write([]byte("x"))
		}()
		if n, err := server.Read(make([]byte, 1)); n != 1 || err != nil {
			t.Errorf("read %d, %v", n, err)
		}
	})
}

func TestCloseWakesEverybody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := pair(t, 1)
		errs := make(chan error, 3)
		go func() { _, err := client.Read(make([]byte, 1)); errs <- err }()
		for range 2 { // one in the middle of its bytes, one waiting for its turn
			go func() { _, err := client.Write([]byte("ab")); errs <- err }()
		}
		synctest.Wait()
		client.Close()
		for range 3 {
			if err := <-errs; !errors.Is(err, net.ErrClosed) {
				t.Errorf("got %v", err)
			}
		}
		if b, err := io.ReadAll(server); string(b) != "a" || err != nil {
			t.Errorf("peer read %q, %v", b, err)
		}
	})
}

func TestLargeRingIsGivenBack(t *testing.T) {
	client, server := pair(t, DefaultBuffer)
	if n, err := client.WriteNonblock(make([]byte, 2*DefaultBuffer)); n != DefaultBuffer || err != nil {
		t.Fatal(n, err)
	}
	if _, err := io.ReadFull(server, make([]byte, DefaultBuffer)); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(server, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if kept := len(server.in.ring); kept > ringKeep {
		t.Errorf("%d bytes kept", kept)
	}
}
