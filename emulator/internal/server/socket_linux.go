package server

import (
	"cmp"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/fakecluster/fakecluster/emulator/internal/lock"
	"github.com/fakecluster/fakecluster/emulator/internal/resp"
)

// socketReader reads a socket once for what has arrived. A read through net.Conn
// begins with asking for what is not there yet: a system call in vain for every
// request of a client that waits for each reply, as most do. To wait first, one
// must not have let go of the socket since the last read, lest something that came
// meanwhile is missed; so what has been read is run while the socket is held.
//
// An end that comes with bytes is reported together with them, once, and would be
// missed, too. Telling that is what hangups are for.
type socketReader struct {
	conn    *net.TCPConn
	raw     syscall.RawConn
	hangups *hangups
	fd      int

	ended atomic.Bool // the peer sends no more: read to the end
	mu    lock.Mutex[lock.Leaf]
	held  bool // by read
}

// read feeds the parser as often as something arrives, and returns when mayWait
// has, after one of these, not said that there is nothing else to do.
func (r *socketReader) read(parser *resp.Parser, mayWait func() (bool, error)) error {
	r.hold(true)
	defer r.hold(false)
	var problem error
	step := func(fd uintptr) (done bool) {
		for {
			_, err := parser.Read(r)
			if errors.Is(err, syscall.EAGAIN) {
				return false
			}
			full := parser.Room() == 0
			wait := false
			if err == nil {
				wait, err = mayWait()
			}
			if problem = err; !wait {
				return true
			}
			if !full && !r.ended.Load() {
				return false
			}
		}
	}
	for {
		err := r.raw.Read(step)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return cmp.Or(problem, err)
		}
		r.conn.SetReadDeadline(time.Time{}) // it was only to wake us
	}
}

// hold begins or ends the time in which hungUp may wake the reader.
func (r *socketReader) hold(yes bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held = yes
	if !yes && r.ended.Load() {
		r.conn.SetReadDeadline(time.Time{})
	}
}

// hungUp makes the reader look for the end.
func (r *socketReader) hungUp() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended.Store(true)
	if r.held {
		r.conn.SetReadDeadline(aLongTimeAgo)
	}
}

// Read is one read of the socket, which does not wait.
func (r *socketReader) Read(b []byte) (int, error) {
	for {
		n, err := syscall.Read(r.fd, b)
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

// shut ends both ways of the connection, whoever reads or writes. An error would be
// that they have ended.
func (r *socketReader) shut() {
	r.raw.Control(func(fd uintptr) { syscall.Shutdown(int(fd), syscall.SHUT_RDWR) })
}

// reset is shut so that the peer is told of a reset. What does that at once is to
// connect with nobody.
func (r *socketReader) reset() {
	nobody := syscall.RawSockaddr{Family: syscall.AF_UNSPEC}
	r.raw.Control(func(fd uintptr) {
		syscall.RawSyscall(syscall.SYS_CONNECT, fd, uintptr(unsafe.Pointer(&nobody)), unsafe.Sizeof(nobody))
	})
}

// leave makes nobody tell the reader anything more.
func (r *socketReader) leave() {
	if r != nil {
		r.hangups.remove(int32(r.fd), r)
	}
}

// hangups tells sessions that their peers will send no more.
type hangups struct{ *poller[socketReader] }

// newHangups returns nil where the system has no epoll instance left.
func newHangups() *hangups {
	p := newPoller[socketReader]()
	if p == nil {
		return nil
	}
	go p.run(func(r *socketReader, _ uint32) { r.hungUp() })
	return &hangups{p}
}

// close is for when all sessions have ended.
func (h *hangups) close() {
	if h != nil {
		h.poller.close()
	}
}

// newReader returns nil if conn is no socket, or cannot be watched.
func (h *hangups) newReader(conn net.Conn) *socketReader {
	c, ok := conn.(*net.TCPConn)
	if h == nil || !ok {
		return nil
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return nil
	}
	r := &socketReader{conn: c, raw: raw, hangups: h}
	var watched error
	err = raw.Control(func(fd uintptr) {
		r.fd = int(fd)
		h.add(int32(fd), r)
		watched = h.arm(syscall.EPOLL_CTL_ADD, int32(fd), syscall.EPOLLRDHUP|edgeTriggered)
	})
	if err != nil || watched != nil {
		r.leave()
		return nil
	}
	return r
}
