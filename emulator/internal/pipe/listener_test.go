package pipe

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestAddresses(t *testing.T) {
	v6 := &net.TCPAddr{IP: net.IPv6loopback, Port: 7001}
	for _, c := range []struct {
		listen *net.TCPAddr
		client string
	}{{nodeAddr, "127.0.0.1:32768"}, {v6, "[::1]:32768"}} {
		l := Listen(c.listen)
		defer l.Close()
		client, server := connect(t, l)
		defer client.Close()
		defer server.Close()
		if l.Addr().String() != c.listen.String() ||
			server.LocalAddr().String() != c.listen.String() || client.RemoteAddr().String() != c.listen.String() {
			t.Errorf("listening at %v, the ends say %v and %v", l.Addr(), server.LocalAddr(), client.RemoteAddr())
		}
		if server.RemoteAddr().String() != c.client || client.LocalAddr().String() != c.client {
			t.Errorf("client is %v and %v, want %s", server.RemoteAddr(), client.LocalAddr(), c.client)
		}
		other, _ := connect(t, l)
		defer other.Close()
		if other.LocalAddr().String() == client.LocalAddr().String() {
			t.Errorf("two clients at %v", other.LocalAddr())
		}
	}
}

func TestDialBeforeAccept(t *testing.T) {
	l := Listen(nodeAddr)
	defer l.Close()
	client, err := l.Dial(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.Write([]byte("hi")); err != nil {
		t.Fatal(err)
	}
	client.(*Conn).CloseWrite()
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if b, err := io.ReadAll(server); string(b) != "hi" || err != nil {
		t.Errorf("read %q, %v", b, err)
	}
}

func TestCloseOfListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := Listen(nodeAddr)
		client, server := connect(t, l)
		defer client.Close()
		defer server.Close()
		var queued []net.Conn
		for range backlog {
			c, err := l.Dial(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			queued = append(queued, c)
		}
		pending := make(chan error, 1)
		go func() { _, err := l.Dial(context.Background()); pending <- err }()
		synctest.Wait()

		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-pending; !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("pending dial: %v", err)
		}
		if _, err := l.Dial(context.Background()); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("later dial: %v", err)
		}
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("later accept: %v", err)
		}
		if err := l.Close(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("second close: %v", err)
		}
		for _, c := range queued {
			if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
				t.Fatalf("connection nobody accepted: %v", err)
			}
			c.Close()
		}
		if _, err := client.Write([]byte("x")); err != nil {
			t.Errorf("accepted connection: %v", err)
		}
		if n, err := server.Read(make([]byte, 1)); n != 1 || err != nil {
			t.Errorf("accepted connection: %d, %v", n, err)
		}
	})
}

func TestCloseWakesAccept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := Listen(nodeAddr)
		accepted := make(chan error, 1)
		go func() { _, err := l.Accept(); accepted <- err }()
		synctest.Wait()
		l.Close()
		if err := <-accepted; !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
}

func TestDialEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := Listen(nodeAddr)
		defer l.Close()
		for range backlog {
			if _, err := l.Dial(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := l.Dial(ctx)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if timeout, ok := errors.AsType[net.Error](err); !ok || !timeout.Timeout() {
			t.Errorf("%v is no timeout", err)
		}
		if _, err := l.Dial(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("ended context: %v", err)
		}
	})
}
