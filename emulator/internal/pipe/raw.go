package pipe

import (
	"errors"
	"io"
	"syscall"
)

// SyscallConn lets a pool of connections ask whether an idle one still lives, as
// pools do of sockets before they give one away: by a read that takes nothing. Its
// Read reports the end of the connection as an error, and calls f only when bytes
// wait. A pool would otherwise hand out one dead connection after the other when a
// node has been killed.
func (c *Conn) SyscallConn() (syscall.RawConn, error) { return (*rawConn)(c), nil }

type rawConn Conn

var _ syscall.Conn = (*Conn)(nil)

// Read calls f with a descriptor that can be looked at for readability and nothing
// else, if bytes wait.
func (r *rawConn) Read(f func(fd uintptr) (done bool)) error {
	c := (*Conn)(r)
	waiting, err := c.in.state()
	switch {
	case err == io.EOF:
		return err
	case err != nil:
		return c.failed("raw-read", err)
	case waiting:
		return lookReadable(f)
	}
	return nil
}

// Write is not supported: there is no descriptor.
func (r *rawConn) Write(func(fd uintptr) (done bool)) error {
	return (*Conn)(r).failed("raw-write", errors.ErrUnsupported)
}

// Control is not supported: there is no descriptor.
func (r *rawConn) Control(func(fd uintptr)) error {
	return (*Conn)(r).failed("raw-control", errors.ErrUnsupported)
}

// state reports whether bytes wait and, if none do, how the stream has ended.
func (s *stream) state() (waiting bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.size > 0 {
		return true, nil
	}
	return false, s.readErr
}
