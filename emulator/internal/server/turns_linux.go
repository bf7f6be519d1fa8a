package server

import (
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Sessions read in the order in which their clients wrote, as in the one event
// loop of Redis. Goroutines that each wait for their own connection promise no
// order, but programs count on one: who says BLPOP on one connection and then
// LPUSH on another expects to be served like this.
//
// So a session waits for its turn instead of in a read, and the next one gets its
// turn when it has run what it read and waits again. Turns do not exclude each
// other: a session that takes long, in a script say, does not hold up the rest.

// patience is how long others wait for a session that has its turn: long enough
// for a thread that the system has put aside. What is known to take long, a slow
// script or a client that is blocked, ends its turn.
const patience = 200 * time.Millisecond

// eventLoop hands out turns by epoll, whose list of what can be read is in the
// order in which it became so.
type eventLoop struct{ *poller[turn] }

// newEventLoop starts an event loop, or returns nil where the system has none left.
func newEventLoop() *eventLoop {
	p := newPoller[turn]()
	if p == nil {
		return nil
	}
	go func() {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		p.run(func(t *turn, events uint32) { t.give(timer, events&hungUp != 0) })
	}()
	return &eventLoop{p}
}

// close ends the loop, after all sessions have.
func (l *eventLoop) close() {
	if l != nil {
		l.poller.close()
	}
}

// join makes a turn for a session, nil if its connection is no socket.
func (l *eventLoop) join(conn net.Conn) *turn {
	tcp, ok := conn.(*net.TCPConn)
	if l == nil || !ok {
		return nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil
	}
	t := &turn{loop: l, raw: raw, begun: make(chan int, 1), over: make(chan int, 1), gone: make(chan struct{})}
	t.watch, t.peek = t.register, t.look
	return t
}

// turn is the place of a session among those that wait for their clients. With
// a nil one it waits for nobody.
type turn struct {
	loop  *eventLoop
	raw   syscall.RawConn
	watch func(fd uintptr)
	peek  func(fd uintptr) bool
	fd    int32 // once it is watched
	more  bool  // what was seen when the turn came: something to read, or the end
	held  bool
	// last is set when the peer is known to send no more. The loop is told that
	// once, perhaps together with bytes, but it takes a read of its own.
	last atomic.Bool

	given int           // turns, by the loop
	taken int           // turn that the session has or had last
	begun chan int      // the loop gives a turn
	over  chan int      // the session ends it
	gone  chan struct{} // the connection is closed
	once  sync.Once     // closes gone
}

// edgeTriggered reports what arrives, at once: asking anew each time would put a
// client that was quick behind one that was slow.
const edgeTriggered = 1 << 31

// hungUp are the events of a peer that sends no more.
const hungUp = syscall.EPOLLRDHUP | syscall.EPOLLHUP | syscall.EPOLLERR

// register lets the loop know when something arrives, and now if something has.
func (t *turn) register(fd uintptr) {
	op := syscall.EPOLL_CTL_MOD
	if t.fd == 0 {
		op, t.fd = syscall.EPOLL_CTL_ADD, int32(fd)
		t.loop.add(t.fd, t)
	}
	if err := t.loop.arm(op, t.fd, syscall.EPOLLIN|syscall.EPOLLRDHUP|edgeTriggered); err != nil {
		t.cancel() // the connection is closed
	}
}

// look finds out whether a read would wait.
func (t *turn) look(fd uintptr) bool {
	var one [1]byte
	_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	t.more = err != syscall.EAGAIN
	return true
}

// give lets the session read and waits until it has run that. last tells that
// there is no more to come than what has arrived.
func (t *turn) give(timer *time.Timer, last bool) {
	if last {
		t.last.Store(true)
	}
	select {
	case t.begun <- t.given + 1:
		t.given++
	default:
		return // it has not taken the last one
	}
	timer.Reset(patience)
	for ended := 0; ended < t.given; {
		select {
		case ended = <-t.over: // perhaps of a turn that took too long
		case <-t.gone:
			return
		case <-timer.C:
			return
		}
	}
}

// wait ends a turn and returns when it is the session's turn again: there is
// something to read, or the connection is closed. unread tells that the last
// read may have left something.
func (t *turn) wait(unread bool) {
	if t == nil {
		return
	}
	t.end()
	if t.fd == 0 || unread || t.last.Load() {
		if err := t.raw.Control(t.watch); err != nil {
			return
		}
	}
	for {
		select {
		case t.taken = <-t.begun:
			t.held = true
		case <-t.gone:
			return
		}
		if err := t.raw.Read(t.peek); err != nil || t.more {
			return
		}
		t.end() // it had read that before
	}
}

// end ends a turn, for a session that is about to do something else than wait.
func (t *turn) end() {
	if t == nil || !t.held {
		return
	}
	t.held = false
	select {
	case <-t.over: // nobody waited for that one
	default:
	}
	t.over <- t.taken
}

// cancel makes wait return for good. Others than the session may call it.
func (t *turn) cancel() {
	if t != nil {
		t.once.Do(func() { close(t.gone) })
	}
}

// leave gives up the place of a session that has ended.
func (t *turn) leave() {
	if t == nil {
		return
	}
	t.cancel()
	t.loop.remove(t.fd, t)
}
