package server

import (
	"errors"
	"os"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/resp"
)

// awaitService waits, without the node's lock, until the session's wait has
// ended, its time is up, or the client has gone. It returns false when the
// session is over.
//
// While it waits it reads ahead what the client sends, to notice that it has
// gone; pipelined requests stay in the parser until their turn.
func (s *session) awaitService() bool {
	wt := s.parked
	s.parked = nil
	gone := make(chan struct{})
	stopped := make(chan struct{})
	go s.readAhead(gone, stopped)
	alive := s.awaitEnd(wt, gone)
	s.conn.SetReadDeadline(aLongTimeAgo) // wake the reader
	<-stopped
	s.conn.SetReadDeadline(time.Time{})
	if !alive || s.killed.Load() {
		return false
	}
	s.out.flush()
	if wt.spoil != nil && s.closing {
		return false
	}
	if wt.again {
		s.postponed = wt.args
	}
	return true
}

var aLongTimeAgo = time.Unix(1, 0)

// awaitEnd waits for the end of wt and enforces its deadline. The cluster's
// clock may be moved while it waits, and then says so on the clock channel.
func (s *session) awaitEnd(wt *waiter, gone <-chan struct{}) (alive bool) {
	for {
		moved := s.node.clock.moved()
		var timeout <-chan time.Time
		if !wt.deadline.IsZero() {
			left := wt.deadline.Sub(s.node.clock.Now())
			if left <= 0 {
				s.expireWait(wt)
				return true
			}
			timer := time.NewTimer(left)
			defer timer.Stop()
			timeout = timer.C
		}
		select {
		case <-wt.done:
			return true
		case <-timeout:
		case <-moved:
		case <-gone:
			s.abandonWait(wt)
			return false
		}
	}
}

func (s *session) expireWait(wt *waiter) {
	s.node.life.gate.wait()
	s.node.lock()
	if !wt.ended {
		s.node.timeOut(wt)
	}
	s.node.unlock()
}

func (s *session) abandonWait(wt *waiter) {
	s.node.lock()
	s.node.endWait(wt)
	s.node.unlock()
}

// readAheadLimit bounds, in bytes, what is read from a blocked client.
const readAheadLimit = 1 << 20

// readAhead reads into the parser until the deadline is moved into the past,
// and closes gone if the client has gone.
func (s *session) readAhead(gone, stopped chan<- struct{}) {
	defer close(stopped)
	for s.parser.Buffered() < readAheadLimit {
		_, err := s.parser.Read(s.conn)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
		if err != nil && !errors.Is(err, resp.ErrQueryBufferLimit) {
			close(gone)
			return
		}
	}
}
