package server

import (
	"net"
	"sync/atomic"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/lock"
)

// What can happen to a node's process: it is killed, started again, frozen.

// life is the state of a node's process.
type life struct {
	down atomic.Bool   // killed
	end  chan struct{} // closed when the node is: ends DEBUG SLEEP
	gate gate

	// The node's lock guards these.
	loadingUntil time.Time
	lag          lag
}

// lag is what has been arranged for the link to the master, whoever that is.
type lag struct {
	delay   time.Duration
	stopped bool // until told otherwise
}

// gate holds up the sessions of a frozen node.
type gate struct {
	closed atomic.Pointer[chan struct{}] // nil while open

	mu      lock.Mutex[lock.Leaf]
	arrived []func() // what came in meanwhile, to be done when it opens
}

// wait returns when the gate is open.
func (g *gate) wait() {
	for ch := g.closed.Load(); ch != nil; ch = g.closed.Load() {
		<-*ch
	}
}

func (g *gate) isClosed() bool { return g.closed.Load() != nil }

func (g *gate) close() {
	ch := make(chan struct{})
	g.closed.CompareAndSwap(nil, &ch)
}

// open lets all pass who wait, after what arrived meanwhile unless it is lost.
func (g *gate) open(lost bool) {
	for {
		g.mu.Lock()
		arrived := g.arrived
		g.arrived = nil
		if len(arrived) == 0 || lost {
			ch := g.closed.Swap(nil)
			g.mu.Unlock()
			if ch != nil {
				close(*ch)
			}
			return
		}
		g.mu.Unlock()
		for _, do := range arrived {
			do()
		}
	}
}

// whenOpen does something now, or when the gate opens.
func (g *gate) whenOpen(do func()) {
	g.mu.Lock()
	closed := g.isClosed()
	if closed {
		g.arrived = append(g.arrived, do)
	}
	g.mu.Unlock()
	if !closed {
		do()
	}
}

// awaken waits while the node is frozen, unless the request is for whoever
// steers the cluster.
func (n *Node) awaken(args [][]byte) {
	if n.life.gate.isClosed() && (args == nil || !n.table.Hidden(args[0])) {
		n.life.gate.wait()
	}
}

// Down reports whether the node has been killed.
func (n *Node) Down() bool { return n.life.down.Load() }

// lockIdle takes the node's lock when no script is half done; one that is, it
// ends.
func (n *Node) lockIdle() {
	for {
		if n.mu.TryLock() {
			if !n.scripts.slow {
				n.entered()
				return
			}
			n.mu.Unlock()
		}
		n.scripts.interrupt()
		time.Sleep(breath)
	}
}

// Kill ends the node as a crash would: its connections are reset, new ones
// refused, and all it had in memory is gone. The other nodes notice when their
// node timeout has passed.
func (n *Node) Kill() {
	if c := n.cluster; c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.network.Kill(n.topologyID())
		defer c.arm()
	}
	n.die()
}

// die is Kill for the node itself.
func (n *Node) die() {
	n.lockIdle()
	if n.life.down.Load() {
		n.unlock()
		return
	}
	n.life.down.Store(true)
	now := n.now.UnixMilli()
	for _, link := range n.replog.Links() {
		link.Break(now)
	}
	if n.replica.link != nil {
		n.replica.link.Detach()
		n.replica = replicaSide{}
	}
	for _, s := range n.clients() {
		s.reset()
		delete(n.sessions, s.id)
	}
	n.forget()
	if n.expiry.timer != nil {
		n.expiry.timer.Stop()
		n.expiry.at = 0
	}
	listeners := n.listeners
	n.listeners = nil
	n.leaving.Add(len(listeners))
	n.unlock()
	n.life.gate.open(true)
	for _, l := range listeners {
		l.stop()
		go func() {
			defer n.leaving.Done()
			l.conns.Wait()
		}()
	}
}

// Start brings a killed node back with empty memory and the cluster it knew, as
// a server without persistence and with its nodes.conf would. It answers
// LOADING for as long as said. Serve it afterwards.
func (n *Node) Start(loading time.Duration) error {
	c := n.cluster
	if c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		defer c.arm()
	}
	n.lock()
	if !n.life.down.Load() {
		n.unlock()
		return nil
	}
	n.life.down.Store(false)
	err := n.begin()
	if loading > 0 {
		n.life.loadingUntil = n.now.Add(loading)
	}
	n.unlock()
	if err != nil || c == nil {
		return err
	}
	c.rejoin(n)
	return nil
}

// rejoin connects a node that has started again with the others. The cluster's
// lock is held.
func (c *Cluster) rejoin(n *Node) {
	followers := c.followersOf(n)
	for _, r := range followers {
		r.lock()
		r.leaveMaster()
		r.unlock()
	}
	n.lock()
	n.replog.Restart(randomHex(n.rand, 20))
	master := n.topo.Master()
	n.announce()
	n.unlock()
	c.network.Start(n.topologyID())
	if master != "" {
		followers = append(followers, n)
	}
	for _, r := range followers {
		r.lock()
		r.follow(r.topo.Master())
		r.unlock()
	}
	c.network.Run(c.clock.Now().UnixMilli())
}

// followersOf are the running nodes that hold n for their master.
func (c *Cluster) followersOf(n *Node) []*Node {
	id := n.topologyID()
	var followers []*Node
	for _, r := range c.members() {
		if r == n {
			continue
		}
		r.lock()
		follows := !r.life.down.Load() && r.topo.Master() == id
		r.unlock()
		if follows {
			followers = append(followers, r)
		}
	}
	return followers
}

// Freeze makes the node accept connections and answer nothing, as SIGSTOP does.
func (n *Node) Freeze() {
	if c := n.cluster; c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.network.Pause(n.topologyID())
		defer c.arm()
	}
	n.life.gate.close()
	n.cluster.checkLinks()
}

// Thaw lets a frozen node go on.
func (n *Node) Thaw() {
	if c := n.cluster; c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		defer c.arm()
	}
	n.life.gate.open(false)
	if c := n.cluster; c != nil {
		c.checkLinks()
		c.network.Resume(n.topologyID())
		c.network.Run(c.clock.Now().UnixMilli())
	}
	n.expireDue()
}

// loading is why a command must wait for a node that has just started, or that
// needs a copy of its master's data.
func (n *Node) loading() bool { return n.now.Before(n.life.loadingUntil) || n.replica.spoiled }

// reset ends the session as a crash of the node does: the peer's next read or
// write fails.
func (s *session) reset() {
	if s.socket != nil {
		s.socket.reset() // at once, which closing it is not
	} else {
		resetConn(s.conn)
	}
	s.disconnect()
}

// resetConn closes a connection so that its peer notices.
func resetConn(conn net.Conn) {
	switch c := conn.(type) {
	case interface{ Reset() error }:
		c.Reset()
	case *net.TCPConn:
		c.SetLinger(0)
		c.Close()
	default:
		c.Close()
	}
}

// Frozen reports whether the node answers nothing.
func (n *Node) Frozen() bool { return n.life.gate.isClosed() }

// MasterID is the id of the master of a replica, "" for a master.
func (n *Node) MasterID() string {
	n.lock()
	defer n.unlock()
	if n.topo == nil {
		return ""
	}
	return n.topo.Master()
}
