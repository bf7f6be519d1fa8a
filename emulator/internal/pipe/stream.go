package pipe

import (
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/lock"
)

// Sizes of a stream's ring, in bytes. All are powers of two.
const (
	ringStart = 4 << 10
	ringKeep  = 64 << 10 // a larger ring is given back when it is used little
)

// stream is one direction of a connection: bytes wait in a ring between the
// end that writes and the end that reads.
type stream struct {
	mu       lock.Mutex[lock.Leaf]
	readable sync.Cond // bytes, an end or a deadline came
	writable sync.Cond // room, an end, a deadline or a turn to write came

	ring  []byte // its length is a power of two, or 0
	from  int    // index of the first waiting byte
	size  int    // bytes waiting
	peak  int    // most bytes waiting since the ring was last empty
	limit int

	writing  bool  // a write that does not fit is in the middle of its bytes
	readErr  error // what reads return once the ring is empty
	writeErr error // what writes return

	readDeadline, writeDeadline deadline
}

func (s *stream) init(limit int) {
	s.limit = limit
	s.readable.L, s.writable.L = &s.mu, &s.mu
	s.readDeadline.wakes, s.writeDeadline.wakes = &s.readable, &s.writable
}

func (s *stream) read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.readDeadline.passed():
			return 0, os.ErrDeadlineExceeded
		case len(b) == 0 && s.readErr == nil:
			return 0, nil
		case s.size > 0:
			n := s.take(b)
			s.writable.Broadcast()
			return n, nil
		case s.readErr != nil:
			return 0, s.readErr
		}
		s.readDeadline.wait()
	}
}

func (s *stream) write(b []byte) (written int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	mine := false // it is our bytes that are in the middle
	defer func() {
		if mine {
			s.writing = false
			s.writable.Broadcast()
		}
	}()
	for {
		switch {
		case s.writeErr != nil:
			return written, s.writeErr
		case s.writeDeadline.passed():
			return written, os.ErrDeadlineExceeded
		case mine || !s.writing:
			written += s.put(b[written:])
			if written == len(b) {
				return written, nil
			}
			mine, s.writing = true, true
		}
		s.writeDeadline.wait()
	}
}

// writeNow is write without waiting.
func (s *stream) writeNow(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.writeErr != nil:
		return 0, s.writeErr
	case s.writing:
		return 0, nil
	}
	return s.put(b), nil
}

// take moves waiting bytes to b.
func (s *stream) take(b []byte) int {
	first := s.ring[s.from:min(s.from+s.size, len(s.ring))]
	n := copy(b, first)
	if n == len(first) {
		n += copy(b[n:], s.ring[:s.size-n])
	}
	s.from = (s.from + n) & (len(s.ring) - 1)
	s.size -= n
	if s.size == 0 {
		if len(s.ring) > ringKeep && s.peak < len(s.ring)/4 {
			s.ring = nil
		}
		s.from, s.peak = 0, 0
	}
	return n
}

// put moves as much of b to the ring as the limit allows and wakes the reader.
func (s *stream) put(b []byte) int {
	n := min(len(b), s.limit-s.size)
	if n <= 0 {
		return 0
	}
	if s.size+n > len(s.ring) {
		s.grow(s.size + n)
	}
	end := (s.from + s.size) & (len(s.ring) - 1)
	copied := copy(s.ring[end:], b[:n])
	copy(s.ring, b[copied:n])
	s.size += n
	s.peak = max(s.peak, s.size)
	s.readable.Broadcast()
	return n
}

// grow makes the ring hold at least n bytes.
func (s *stream) grow(n int) {
	size := max(len(s.ring), ringStart)
	for size < n {
		size *= 2
	}
	ring := make([]byte, size)
	first := copy(ring, s.ring[s.from:min(s.from+s.size, len(s.ring))])
	copy(ring[first:], s.ring[:s.size-first])
	s.ring, s.from = ring, 0
}

// end makes reads and writes fail with these errors from now on, reads only
// after the waiting bytes unless drop loses those.
func (s *stream) end(readErr, writeErr error, drop bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readErr = prevailing(s.readErr, readErr)
	s.writeErr = prevailing(s.writeErr, writeErr)
	if drop {
		s.ring, s.from, s.size = nil, 0, 0
	}
	s.readDeadline.stop()
	s.writeDeadline.stop()
	s.readable.Broadcast()
	s.writable.Broadcast()
}

// prevailing chooses between how a stream ended before and how it ends now: an
// end that has closed sees nothing else, and a reset outdoes a close.
func prevailing(before, now error) error {
	switch {
	case before == nil, now == net.ErrClosed, now == syscall.ECONNRESET && before != net.ErrClosed:
		return now
	}
	return before
}

func (s *stream) setReadDeadline(t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readDeadline.set(t)
}

func (s *stream) setWriteDeadline(t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writeDeadline.set(t)
}
