package server

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidwall/redcon"
)

// redcon accepts connections, keeps account of them and closes them. Its
// parser never meets the network: a connection hands it one made-up request,
// which starts the session, and nothing after that. The session's goroutine is
// then redcon's, for as long as the connection lives.

// handshake is the request redcon is given.
const handshake = "*1\r\n$7\r\nsession\r\n"

// listener is one address a node is served at.
type listener struct {
	ln     net.Listener
	server *redcon.Server
	log    *slog.Logger
	done   chan struct{}
	ending chan struct{} // closed once ended is true
	conns  sync.WaitGroup
	ended  atomic.Bool // it must not admit what it accepted
}

// Serve answers clients of ln until the node is closed. It returns at once.
func (n *Node) Serve(ln net.Listener) error {
	n.lock()
	defer n.unlock()
	if n.closed {
		return fmt.Errorf("serving at %s: %w", ln.Addr(), net.ErrClosed)
	}
	l := &listener{ln: ln, log: n.log, done: make(chan struct{}), ending: make(chan struct{})}
	l.server = redcon.NewServerNetwork(ln.Addr().Network(), ln.Addr().String(),
		func(c redcon.Conn, _ redcon.Command) {
			s := newSession(n, c.NetConn().(*wrappedConn).Conn)
			s.listener, s.turn = l, n.loop.join(s.conn)
			if s.turn == nil {
				s.socket = n.hangups.newReader(s.conn)
			}
			s.serve()
			c.NetConn().Close()
		},
		func(redcon.Conn) bool { return true },
		func(redcon.Conn, error) { l.conns.Done() },
	)
	n.listeners = append(n.listeners, l)
	if n.options.InOrder && n.loop == nil && ln.Addr().Network() == "tcp" {
		n.loop = newEventLoop()
	}
	if _, sockets := ln.(*net.TCPListener); sockets && !n.options.InOrder && n.hangups == nil {
		n.hangups = newHangups()
	}
	go func() {
		defer close(l.done)
		if err := l.server.Serve(&wrappedListener{ln, l, n.refuse}); err != nil && !errors.Is(err, net.ErrClosed) {
			n.log.Error("serving", "addr", ln.Addr(), "error", err)
		}
	}()
	return nil
}

// stop makes new connections fail.
func (l *listener) stop() {
	if !l.ended.Swap(true) {
		close(l.ending)
	}
	l.ln.Close() // ends Serve even if it has not begun; redcon's Close would not
	<-l.done
}

// close stops listening and waits for redcon and every session to end.
func (l *listener) close() {
	l.stop()
	l.conns.Wait()
}

type wrappedListener struct {
	net.Listener
	l      *listener
	refuse func(net.Conn) bool
}

func (w *wrappedListener) Accept() (net.Conn, error) {
	conn, err := w.accept()
	for err == nil && w.refuse(conn) {
		conn, err = w.accept()
	}
	if err != nil {
		return nil, err
	}
	w.l.conns.Add(1)
	return &wrappedConn{Conn: conn}, nil
}

// accept waits while the process has no file descriptors left, which redcon would
// ask for again at once and for ever. The log has the beginning of such a spell and
// its end.
func (w *wrappedListener) accept() (net.Conn, error) {
	var spell struct {
		wait time.Duration
		fail int
	}
	for {
		conn, err := w.Listener.Accept()
		if err == nil && spell.fail > 0 {
			w.l.log.Warn("accepting connections again", "failed", spell.fail)
		}
		if err == nil || errors.Is(err, net.ErrClosed) {
			return conn, err
		}
		if spell.fail == 0 {
			w.l.log.Warn("accepting a connection, which is tried again until it works", "error", err)
		}
		spell.fail++
		spell.wait = min(max(2*spell.wait, 5*time.Millisecond), time.Second)
		select {
		case <-time.After(spell.wait):
		case <-w.l.ending:
			return nil, net.ErrClosed
		}
	}
}

// wrappedConn is what redcon sees of a connection.
type wrappedConn struct {
	net.Conn
	started bool
}

func (w *wrappedConn) Read(b []byte) (int, error) {
	if w.started {
		return 0, io.EOF
	}
	w.started = true
	return copy(b, handshake), nil
}

// closeConn closes the session's connection. Of a socket that takes until the
// session has let go of it, for which it may need the node's lock that is held here;
// the peer sees the end at once.
func (s *session) closeConn() {
	if s.socket == nil {
		s.conn.Close()
		return
	}
	s.socket.shut()
	s.listener.conns.Add(1)
	go func() {
		defer s.listener.conns.Done()
		s.conn.Close()
	}()
}

// Close ends every session and stops listening. It returns when all goroutines
// of the node have ended.
func (n *Node) Close() {
	n.closing.Do(func() { close(n.life.end) })
	n.lockIdle()
	if n.closed {
		n.unlock()
		return
	}
	n.closed = true
	n.life.gate.open(true)
	for _, s := range n.sessions {
		s.disconnect()
	}
	if n.expiry.timer != nil {
		n.expiry.timer.Stop()
	}
	if n.patrol.timer != nil {
		n.patrol.timer.Stop()
	}
	listeners := n.listeners
	n.unlock()
	for _, l := range listeners {
		l.close()
	}
	n.leaving.Wait()
	n.loop.close()
	n.hangups.close()
}
