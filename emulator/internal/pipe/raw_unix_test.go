//go:build unix

package pipe

import (
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
)

var errBytesWait = errors.New("bytes wait")

// peek looks at an idle connection as pools do.
func peek(t *testing.T, c net.Conn) error {
	t.Helper()
	raw, err := c.(syscall.Conn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var seen error
	err = raw.Read(func(fd uintptr) bool {
		n, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		switch {
		case n == 0 && err == nil:
			seen = io.EOF
		case n > 0:
			seen = errBytesWait
		case err != syscall.EAGAIN:
			seen = err
		}
		return true
	})
	return errors.Join(err, seen)
}

// TestLooksAsTCP does the same to a TCP connection and to a pipe.
func TestLooksAsTCP(t *testing.T) {
	write := func(t *testing.T, c net.Conn) {
		if _, err := c.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		do   func(t *testing.T, e ends)
		want error
	}{
		"idle":                     {func(*testing.T, ends) {}, nil},
		"bytes":                    {func(t *testing.T, e ends) { write(t, e.server) }, errBytesWait},
		"peer closed":              {func(t *testing.T, e ends) { e.server.Close() }, io.EOF},
		"bytes before peer closed": {func(t *testing.T, e ends) { write(t, e.server); e.server.Close() }, errBytesWait},
		"closed":                   {func(t *testing.T, e ends) { e.client.Close() }, net.ErrClosed},
		"reset": {func(t *testing.T, e ends) {
			if tcp, ok := e.server.(*net.TCPConn); ok {
				if err := tcp.SetLinger(0); err != nil {
					t.Fatal(err)
				}
				tcp.Close()
			} else if err := e.server.(*Conn).Reset(); err != nil {
				t.Fatal(err)
			}
		}, syscall.ECONNRESET},
	} {
		t.Run(name, func(t *testing.T) {
			for where, e := range map[string]ends{"TCP": tcpEnds(t), "the pipe": pipeEnds(t)} {
				c.do(t, e)
				if err := peek(t, e.client); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
					t.Errorf("on %s: %v, want %v", where, err, c.want)
				}
			}
		})
	}
}
