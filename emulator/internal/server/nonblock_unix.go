//go:build unix

package server

import (
	"errors"
	"net"
	"syscall"
)

// socketWriter makes one write call on a non-blocking socket and leaves the
// runtime's poller alone. It serves one goroutine at a time.
type socketWriter struct {
	raw   syscall.RawConn
	write func(fd uintptr) bool
	b     []byte
	n     int
	err   error
}

func newSocketWriter(c *net.TCPConn) nonblockingWriter {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil
	}
	w := &socketWriter{raw: raw}
	w.write = func(fd uintptr) bool {
		w.n, w.err = syscall.Write(int(fd), w.b)
		return true // once only: the rest is another goroutine's
	}
	return w
}

func (w *socketWriter) WriteNonblock(b []byte) (int, error) {
	w.b = b
	err := w.raw.Write(w.write)
	w.b = nil
	switch {
	case err != nil:
		return 0, err
	case errors.Is(w.err, syscall.EAGAIN), errors.Is(w.err, syscall.EINTR):
		return 0, nil
	case w.err != nil:
		return 0, w.err
	}
	return w.n, nil
}
