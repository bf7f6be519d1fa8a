package server

import (
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/config"
)

// What Redis allows a client before it closes the connection: so many bytes of
// replies that it does not read, and so long without a word.

// outputClass is what client-output-buffer-limit tells apart. Monitors are
// ordinary clients to it.
type outputClass int

const (
	normalOutput outputClass = iota
	replicaOutput
	pubsubOutput
	outputClasses
)

// outputLimit is how much may wait for clients of one class: hard at no time,
// soft not for as long as patience. 0 stands for any amount.
type outputLimit struct {
	hard, soft int
	patience   time.Duration
}

// outputLimits reads client-output-buffer-limit, whose classes are in the order
// of outputClass.
func outputLimits(c *config.Config) (limits [outputClasses]outputLimit) {
	words := strings.Fields(c.String("client-output-buffer-limit"))
	for class := range limits {
		of := words[4*class+1 : 4*class+4] // checked when it was set
		limit := &limits[class]
		limit.hard, _ = strconv.Atoi(of[0])
		limit.soft, _ = strconv.Atoi(of[1])
		seconds, _ := strconv.ParseInt(of[2], 10, 32)
		limit.patience = time.Duration(seconds) * time.Second
	}
	if replica := &limits[replicaOutput]; replica.hard != 0 { // what a replica may ask for again may wait for it
		replica.hard = max(replica.hard, int(c.Int("repl-backlog-size")))
	}
	return limits
}

func (s *session) outputClass() outputClass {
	switch {
	case s.stream:
		return replicaOutput
	case s.subs.any() && !s.monitor:
		return pubsubOutput
	}
	return normalOutput
}

// overflowing reports whether more waits for the client than it may, with more
// bytes about to be added.
func (s *session) overflowing(more int) bool {
	limit := &s.node.set.output[s.outputClass()]
	if limit.hard == 0 && limit.soft == 0 {
		return false
	}
	bytes := s.out.waiting() + more - replyBuffer
	if limit.soft == 0 || bytes < limit.soft {
		s.overSince = time.Time{}
	} else if s.overSince.IsZero() {
		s.overSince = s.node.now
		s.node.armWatch()
	}
	return limit.hard != 0 && bytes >= limit.hard ||
		!s.overSince.IsZero() && s.node.now.Sub(s.overSince) > limit.patience
}

// limitOutput ends those of sessions that are not keeping up.
func (n *Node) limitOutput(sessions []*session) {
	for _, s := range sessions {
		if !s.killed.Load() && s.overflowing(0) {
			s.cutOff()
		}
	}
}

// cutOff ends a session for which too much waits; none of that is sent.
func (s *session) cutOff() {
	s.node.log.Warn("closing a client that exceeds its output buffer limit", "addr", s.addr, "name", s.name)
	s.closing = true
	s.disconnect()
}

// watchInterval is how often clients are looked at, as often as Redis does.
const watchInterval = time.Second

// armWatch makes somebody look at the clients before long, if there is anything
// that may happen to them with time. The node's lock is held.
func (n *Node) armWatch() {
	switch {
	case n.closed:
	case n.patrol.timer == nil:
		n.patrol.timer = time.AfterFunc(watchInterval, n.watchClients)
	case !n.patrol.armed:
		n.patrol.timer.Reset(watchInterval)
	}
	n.patrol.armed = !n.closed
}

// patrol is a timer that runs only where clients have limits of time.
type patrol struct {
	timer *time.Timer
	armed bool
}

// watchClients ends clients that have been idle, or slow, for too long.
func (n *Node) watchClients() {
	if n.life.gate.isClosed() {
		n.life.gate.whenOpen(func() { go n.watchClients() })
		return
	}
	n.lock()
	defer n.unlock()
	n.patrol.armed = false
	again := n.set.idleTimeout > 0
	for _, s := range n.clients() {
		switch {
		case s.idleFor() > n.set.idleTimeout && n.set.idleTimeout > 0:
			s.disconnect()
		case s.overflowing(0):
			s.cutOff()
		default:
			again = again || !s.overSince.IsZero()
		}
	}
	if again {
		n.armWatch()
	}
}

// idleFor is how many seconds the client has been silent, 0 for one that waits
// or listens, as silent clients may.
func (s *session) idleFor() int64 {
	if s.waiting != nil || s.subs.any() || s.monitor || s.stream {
		return 0
	}
	return s.node.now.Unix() - max(s.lastUse.Unix(), s.lastRead.Load())
}

// heard notes that bytes have come, for timeout; a whole command is noted anyway.
func (s *session) heard() {
	if s.node.timesIdle.Load() {
		s.lastRead.Store(s.node.clock.Now().Unix())
	}
}

// keepAlive makes the system find out, as tcp-keepalive says, whether silent
// clients are still there.
func (n *Node) keepAlive(conn net.Conn) {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return
	}
	idle := time.Duration(n.config.Int("tcp-keepalive")) * time.Second
	c := net.KeepAliveConfig{Enable: idle > 0, Idle: idle, Interval: max(idle/3, time.Second).Truncate(time.Second), Count: 3}
	if err := tcp.SetKeepAliveConfig(c); err != nil {
		n.log.Warn("tcp-keepalive", "error", err)
	}
}

// crowded is what a client is told that is one too many.
func (n *Node) crowded() string {
	if int64(len(n.sessions)) < n.config.Int("maxclients") {
		return ""
	}
	if n.clustered {
		return "ERR max number of clients + cluster connections reached"
	}
	return "ERR max number of clients reached"
}
