// Package pipe is TCP without a network: a net.Listener and the net.Conns
// dialled from it, in one process, for servers that tests start by the
// thousand.
//
// Unlike net.Pipe a connection is buffered, as a socket is: a write returns
// when the bytes fit, so neither end waits for the other to look. Errors,
// deadlines, half-close and reset are those of TCP. Waiting is done on
// conditions and channels only and nothing is shared between listeners, so all
// of it works inside a testing/synctest bubble, on the bubble's clock.
package pipe

import (
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// Conn is one end of a connection. All methods may be called at any time from
// any goroutine; the bytes of two concurrent Writes are never mixed.
type Conn struct {
	in, out       *stream
	local, remote net.Addr
	closed        atomic.Bool
}

var _ net.Conn = (*Conn)(nil)

// newPair returns the two ends of a connection. At most limit bytes wait in
// either direction.
func newPair(client, server net.Addr, limit int) (dialled, accepted *Conn) {
	pair := new(struct {
		up, down          stream
		dialled, accepted Conn
	})
	pair.up.init(limit)
	pair.down.init(limit)
	pair.dialled.in, pair.dialled.out = &pair.down, &pair.up
	pair.accepted.in, pair.accepted.out = &pair.up, &pair.down
	pair.dialled.local, pair.dialled.remote = client, server
	pair.accepted.local, pair.accepted.remote = server, client
	return &pair.dialled, &pair.accepted
}

// Read waits for bytes and returns those there are. After the peer has closed
// and everything it wrote has been read, Read returns io.EOF; after it has
// reset the connection, ECONNRESET.
func (c *Conn) Read(b []byte) (int, error) {
	if c.closed.Load() {
		return 0, c.failed("read", net.ErrClosed)
	}
	n, err := c.in.read(b)
	if err != nil && err != io.EOF {
		err = c.failed("read", err)
	}
	return n, err
}

// Write returns when the peer's buffer has taken all of b. It fails with EPIPE
// once the peer has closed and ECONNRESET once it has reset the connection.
func (c *Conn) Write(b []byte) (int, error) {
	n, err := c.out.write(b)
	if err != nil {
		err = c.failed("write", err)
	}
	return n, err
}

// WriteNonblock writes what fits at once and returns how much that was, which
// may be nothing. Falling short is not an error.
func (c *Conn) WriteNonblock(b []byte) (int, error) {
	n, err := c.out.writeNow(b)
	if err != nil {
		err = c.failed("write", err)
	}
	return n, err
}

// Close closes both directions. What has been written before stays readable
// for the peer.
func (c *Conn) Close() error {
	if c.closed.Swap(true) {
		return c.failed("close", net.ErrClosed)
	}
	c.out.end(io.EOF, net.ErrClosed, false)
	c.in.end(net.ErrClosed, syscall.EPIPE, true)
	return nil
}

// CloseWrite ends the outgoing direction: the peer reads io.EOF after what has
// been written, and may go on writing.
func (c *Conn) CloseWrite() error {
	if c.closed.Load() {
		return c.failed("close", net.ErrClosed)
	}
	c.out.end(io.EOF, syscall.EPIPE, false)
	return nil
}

// Reset closes the connection as a crash or a firewall does: what was under
// way is lost, and the peer's reads and writes fail with ECONNRESET.
func (c *Conn) Reset() error {
	if c.closed.Swap(true) {
		return c.failed("close", net.ErrClosed)
	}
	c.reset()
	return nil
}

func (c *Conn) reset() {
	c.out.end(syscall.ECONNRESET, net.ErrClosed, true)
	c.in.end(net.ErrClosed, syscall.ECONNRESET, true)
}

// LocalAddr is the address of this end.
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr is the address of the other end.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline is SetReadDeadline and SetWriteDeadline.
func (c *Conn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// SetReadDeadline makes Read fail with os.ErrDeadlineExceeded from t on. The
// zero time takes the deadline away.
func (c *Conn) SetReadDeadline(t time.Time) error {
	if c.closed.Load() {
		return c.failed("set", net.ErrClosed)
	}
	c.in.setReadDeadline(t)
	return nil
}

// SetWriteDeadline makes Write fail with os.ErrDeadlineExceeded from t on. The
// zero time takes the deadline away.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	if c.closed.Load() {
		return c.failed("set", net.ErrClosed)
	}
	c.out.setWriteDeadline(t)
	return nil
}

// failed dresses err as the net package does.
func (c *Conn) failed(op string, err error) error {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		err = os.NewSyscallError(op, errno)
	}
	return &net.OpError{Op: op, Net: c.local.Network(), Source: c.local, Addr: c.remote, Err: err}
}
