package server

import (
	"errors"
	"net"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/acl"
	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/resp"
	"github.com/fakecluster/fakecluster/emulator/internal/topology"
)

// session is one client: its connection and everything Redis remembers of it.
//
// The goroutine that serves the connection owns the parser, the encoder and
// what is marked as its own. All else, which others may look at or change
// (CLIENT LIST, CLIENT KILL, a publisher, whoever wakes a blocked client), is
// touched under the node's lock only.
type session struct {
	node     *Node
	conn     net.Conn
	listener *listener
	// The peer's address, and the one it connected to.
	addr, localAddr string

	// The serving goroutine's own.
	parser    *resp.Parser
	enc       resp.Encoder // replies not yet in out
	silent    resp.Discard // replies nobody wants
	call      command.Call
	parked    *waiter  // what to wait for next
	postponed [][]byte // a command to be tried again before others

	socket   *socketReader // nil if the connection is none, or there are turns
	turn     *turn
	unread   bool // the last read may have left something
	out      outQueue
	deferred resp.Encoder // messages to itself, held back until the reply is written
	killed   atomic.Bool
	lastRead atomic.Int64 // Unix seconds, where timeout is set

	id      int64
	created time.Time
	// overSince is when more than the soft limit began to wait for the client.
	overSince time.Time
	lastUse   time.Time
	last      *command.Spec

	name, libName, libVersion string
	user                      *acl.User // nil may do everything
	authenticated             bool
	trusted                   atomic.Bool // authenticated, for the parser, which runs without the lock

	db       int
	asking   bool
	readOnly bool
	written  int64 // replication offset behind what the client wrote last
	noTouch  bool
	noEvict  bool
	replies  replyMode
	skipNext bool // CLIENT REPLY SKIP: the next command has no reply
	tx       transaction
	subs     subscriptions
	waiting  *waiter
	delayed  bool              // a fault has put the command off, and lets it pass now
	routed   *topology.Verdict // where the command was sent, for a trace
	tracking clientTracking
	monitor  bool // said MONITOR
	direct   bool // is Execute's, nobody's connection
	stream   bool // said SYNC

	// closing is set when the connection is to end once what is in out has been
	// written.
	closing bool
	// qbuf is the number of bytes read and not yet run, for CLIENT LIST.
	qbuf int
}

type replyMode uint8

const (
	repliesOn replyMode = iota
	repliesOff
	repliesSkip // for the command being run
)

// batchCommands bounds how many pipelined commands run before others get a
// turn at the node.
const batchCommands = 256

func newSession(n *Node, conn net.Conn) *session {
	s := &session{node: n, conn: conn, addr: conn.RemoteAddr().String(), localAddr: conn.LocalAddr().String(), parser: resp.NewParser()}
	s.enc.ShortDoubles = n.version.AtLeast(7, 2)
	s.deferred.ShortDoubles = s.enc.ShortDoubles
	s.out.init(conn)
	s.call.Table = n.table
	s.call.Client = s
	s.call.ClusterEnabled = n.clustered
	s.parser.OnEmpty = s.emptyRequest
	return s
}

// serve answers the connection's commands until it ends.
func (s *session) serve() {
	if !s.node.admit(s) {
		s.out.finish()
		return
	}
	defer s.node.dismiss(s)
	defer s.turn.leave()
	defer s.socket.leave()
	for s.step() {
	}
	if !s.killed.Load() {
		s.out.finish()
	}
}

// step runs what has arrived, and waits for what is to come. It returns false
// when the session is over.
func (s *session) step() bool {
	if s.run() != nil {
		return false
	}
	if s.parked != nil {
		s.turn.end()
		s.unread = true
		return s.awaitService()
	}
	err := s.read()
	switch {
	case err == nil:
		return true
	case errors.Is(err, errClosing):
		return false
	case errors.Is(err, resp.ErrQueryBufferLimit):
		s.node.log.Warn("closing a client that reached the query buffer limit", "addr", s.addr)
		return false
	}
	// What came ahead of the end still runs.
	if s.run() == nil && s.parked != nil {
		s.abandonWait(s.parked)
	}
	return false
}

// run executes the requests at hand, up to one that has to wait.
func (s *session) run() error {
	for more := s.parked == nil; more; more = more && s.parked == nil {
		var err error
		if more, err = s.runBatch(); err != nil {
			return err
		}
		if s.killed.Load() {
			return errClosing
		}
	}
	return nil
}

// read waits until more has arrived. From a socket it goes on reading and running
// until there is something else to do than wait for more.
func (s *session) read() error {
	if s.socket != nil {
		return s.socket.read(s.parser, s.mayWait)
	}
	s.turn.wait(s.unread)
	_, err := s.parser.Read(s.conn)
	s.unread = s.parser.Room() == 0
	return err
}

// mayWait runs what has been read and reports whether it is done with that.
func (s *session) mayWait() (bool, error) {
	err := s.run()
	return err == nil && s.parked == nil, err
}

var errClosing = errors.New("the connection is to be closed")

// next returns the next request at hand, or nil. Should the parser panic, its
// client ends as one does whose command panics.
func (s *session) next() (request [][]byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.node.logPanic(p, "reading a request panicked; closing its client")
			request, err = nil, errors.New(internalError)
		}
	}()
	if args := s.postponed; args != nil {
		s.postponed = nil
		return args, nil
	}
	s.parser.MaxBulk, s.parser.QueryBufferLimit = s.node.maxBulk.Load(), s.node.maxInput.Load()
	s.parser.Authenticated = s.trusted.Load()
	return s.parser.Next()
}

// runBatch executes the requests at hand under one hold of the node's lock and
// sends their replies. It returns true if more are waiting.
func (s *session) runBatch() (more bool, err error) {
	args, parseErr := s.next()
	if args == nil && parseErr == nil {
		s.heard()
		return false, nil
	}
	n := s.node
	n.awaken(args)
	n.lock()
	if s.killed.Load() {
		n.unlock()
		return false, errClosing
	}
	s.parser.MaxBulk = n.ks.Limits.MaxStringBytes
	for i := 1; ; i++ {
		if parseErr != nil {
			s.enc.Error("ERR " + parseErr.Error())
			s.closing = true
		} else {
			s.guard(args)
		}
		// What has to be done without the lock must precede the next command.
		if s.closing || s.parked != nil || len(n.after) > 0 || i == batchCommands {
			more = true
			break
		}
		if args, parseErr = s.next(); args == nil && parseErr == nil {
			break
		}
	}
	s.qbuf = s.parser.Buffered()
	s.hand()
	closing := s.closing
	if len(n.toFlush) > crowd && len(n.after) == 0 && !n.scripts.slow {
		n.toFlush = slices.Insert(n.toFlush, 0, s)
	}
	n.unlock()
	s.flush()
	if closing {
		return false, errClosing
	}
	return more, nil
}

// crowd is how many messages to others a batch may have put in queues, and its own
// client still gets its replies after them. With more it is answered first, as by
// Redis, and does not wait for ten thousand sockets.
const crowd = 128

// guard executes a command. Should a handler panic, that is a bug which must
// not take the node and its other clients down: it is logged and this client's
// connection ends.
func (s *session) guard(args [][]byte) {
	defer func() {
		if p := recover(); p != nil {
			s.node.logPanic(p, "a command panicked; closing its client", "command", string(args[0]))
			s.node.running, s.node.ks.NoTouch = nil, false
			s.enc.Error(errInternal)
			s.closing = true
		}
	}()
	s.execute(args)
}

// finishLater is later for the rest of a client's command, whose panic ends the
// client as another command's does.
func (s *session) finishLater(command string, do func()) {
	n := s.node
	n.later(func() {
		defer func() {
			if p := recover(); p != nil {
				n.logPanic(p, "a command panicked; closing its client", "command", command)
				reply := s.newReply()
				reply.Error(errInternal)
				s.answerLate(reply)
				s.out.flush()
				n.lock()
				defer n.unlock()
				s.disconnect()
			}
		}()
		do()
	})
}

// logPanic says what became of a panic just recovered from, and where it arose.
func (n *Node) logPanic(p any, what string, about ...any) {
	n.log.Error(what, append(about, "panic", p, "stack", string(debug.Stack()))...)
}

const errInternal = "ERR " + internalError

const internalError = "internal error, see the log of the server"

// invokeGuarded is invoke for a command that runs while another client is being
// served, who must not suffer for its panic. It reports whether there was one.
func (n *Node) invokeGuarded(c *command.Call) (panicked bool) {
	defer func() {
		if p := recover(); p != nil {
			n.logPanic(p, "a blocked command panicked; closing its client", "command", c.Spec.Name)
			panicked = true
		}
	}()
	n.invoke(c)
	return false
}

// hand puts the replies gathered so far into the queue, which decides their
// place among pushed messages. The node's lock is held.
func (s *session) hand() {
	if s.enc.Len() > 0 {
		if s.overflowing(s.enc.Len()) {
			s.cutOff()
			return
		}
		s.out.lend(s.enc.Bytes())
	}
}

// flush sends what hand has put in. The node's lock is not held.
func (s *session) flush() {
	if s.out.flush() {
		s.enc.Take() // somebody else is still writing it
		return
	}
	s.enc.Reset()
}

// newReply returns an encoder for a reply that others write for the session, or
// that is written when the batch it belongs to has been handed over.
func (s *session) newReply() *resp.Encoder {
	e := resp.NewEncoder(s.enc.Proto())
	e.ShortDoubles = s.enc.ShortDoubles
	return e
}

// answerLate sends a reply that had to wait for the node's lock to be released.
func (s *session) answerLate(reply *resp.Encoder) {
	s.node.lock()
	if s.replies == repliesOn {
		s.out.append(reply.Bytes())
	}
	s.node.unlock()
}

// disconnect ends the session from outside, at once: nobody sees it any more.
// The node's lock is held.
func (s *session) disconnect() {
	s.killed.Store(true)
	s.node.forgetSession(s)
	s.out.close()
	s.closeConn()
	s.turn.cancel()
}

// local reports whether the peer is on this machine.
func (s *session) local() bool {
	host, _, err := net.SplitHostPort(s.addr)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// admit registers a new session, unless there are too many clients.
func (n *Node) admit(s *session) bool {
	n.lock()
	defer n.unlock()
	if n.closed || s.listener.ended.Load() {
		return false
	}
	if msg := n.crowded(); msg != "" {
		n.stats.refused++
		s.enc.Error(msg)
		s.hand()
		return false
	}
	if n.denies(s) {
		n.stats.refused++
		s.enc.Error(errDenied)
		s.hand()
		return false
	}
	n.stats.connections++
	n.nextID++
	s.id = n.nextID
	s.created, s.lastUse = n.now, n.now
	n.keepAlive(s.conn)
	s.beDefaultUser()
	n.sessions[s.id] = s
	return true
}

// dismiss forgets a session that has ended.
func (n *Node) dismiss(s *session) {
	s.out.close()
	n.lock()
	defer n.unlock()
	n.forgetSession(s)
}

func (n *Node) forgetSession(s *session) {
	s.unsubscribeAll()
	s.unwatchAll()
	s.stopTracking()
	s.stopMonitoring()
	s.stopStream()
	if s.waiting != nil {
		n.endWait(s.waiting)
	}
	delete(n.sessions, s.id)
}
