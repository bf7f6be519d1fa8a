package server

import (
	"bytes"
	"log/slog"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// scarce is a listener of a process that has no file descriptors left for some
// while, or for ever.
type scarce struct {
	net.Listener
	fails int
	asked int
}

func (s *scarce) Accept() (net.Conn, error) {
	if s.asked++; s.asked <= s.fails {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: syscall.EMFILE}
	}
	here, _ := net.Pipe()
	return here, nil
}

func TestAcceptWaitsForFileDescriptors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		began := time.Now()
		w := &wrappedListener{&scarce{fails: 20}, &listener{log: slog.New(slog.NewTextHandler(&log, nil)), ending: make(chan struct{})}, func(net.Conn) bool { return false }}
		conn, err := w.Accept()
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
		// 5, 10, 20 … 640 ms and then a second each.
		if waited, want := time.Since(began), 1275*time.Millisecond+12*time.Second; waited != want {
			t.Errorf("20 failures took %v, want %v", waited, want)
		}
		if lines := strings.Count(log.String(), "\n"); lines != 2 || !strings.Contains(log.String(), "failed=20") {
			t.Errorf("the log has %d lines, want the beginning and the end:\n%s", lines, &log)
		}
	})
}

func TestAcceptEndsWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &listener{log: slog.New(slog.DiscardHandler), ending: make(chan struct{})}
		w := &wrappedListener{&scarce{fails: 1 << 30}, l, nil}
		time.AfterFunc(time.Minute, func() { close(l.ending) })
		began := time.Now()
		if _, err := w.Accept(); err != net.ErrClosed || time.Since(began) != time.Minute {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}
