package topology

const (
	// TickPeriod is how often a node wants Tick to be called.
	TickPeriod = 100 // ms

	minHandshakeTimeout = 1000 // ms
	pingEveryTicks      = 10
	pingCandidates      = 5
)

// Tick does what is due with time: links, heartbeats, suspicions, elections.
// It is to be called about every TickPeriod.
func (n *Node) Tick(now int64) {
	n.now = max(n.now, now)
	n.ticks++
	for p := range n.others {
		n.reconnect(p)
	}
	if n.ticks%pingEveryTicks == 0 {
		n.pingSomebody()
	}
	for p := range n.others {
		if !p.has(flagNoAddr | flagHandshake) {
			n.watch(p)
		}
	}
	if n.manual.end != 0 && n.manual.end < n.now {
		n.resetManualFailover()
	}
	if n.self.isReplica() {
		n.advanceManualFailover()
		n.runElection()
		n.migrateToOrphan()
	}
	if !n.ok {
		n.stateOutdated = true
	}
	n.react()
}

// reconnect opens the missing link to p, and gives up handshakes that take too
// long.
func (n *Node) reconnect(p *peer) {
	if p.has(flagNoAddr) {
		return
	}
	if p.has(flagHandshake) && n.now-p.created > max(n.Settings.NodeTimeout, minHandshakeTimeout) {
		n.removePeer(p)
		return
	}
	if p.link == 0 {
		n.open(p)
	}
}

// open opens a link to p and greets it.
func (n *Node) open(p *peer) {
	if n.dial != nil && !n.dial(p.addr.bus()) {
		// Nobody listens: that is as good as a ping without an answer.
		if p.pingSent == 0 {
			p.pingSent = n.now
		}
		return
	}
	p.link = n.now
	if p.has(flagMeet) {
		p.flags &^= flagMeet
		n.send(p, n.heartbeat(Meet))
		return
	}
	// A ping that is unanswered stays so, whatever link it went by.
	sent := p.pingSent
	n.ping(p)
	if sent != 0 {
		p.pingSent = sent
	}
}

func (n *Node) ping(p *peer) {
	p.pingSent = n.now
	n.send(p, n.heartbeat(Ping))
}

// pingSomebody pings, of a few nodes chosen by chance, the one that was heard
// longest ago.
func (n *Node) pingSomebody() {
	var oldest *peer
	for range pingCandidates {
		p := n.peers[1+n.rand.IntN(len(n.peers)-1)]
		if p == nil || p.link == 0 || p.pingSent != 0 || p.has(flagMyself|flagHandshake) {
			continue
		}
		if oldest == nil || p.pongReceived < oldest.pongReceived {
			oldest = p
		}
	}
	if oldest != nil {
		n.ping(oldest)
	}
}

// watch pings p when it has been silent for half the node timeout, replaces a
// link that seems broken, and suspects p when it stays silent.
func (n *Node) watch(p *peer) {
	timeout := n.Settings.NodeTimeout
	if p.link != 0 && n.now-p.link > timeout && p.pingSent != 0 && n.now-p.pingSent > timeout/2 && n.now-p.dataReceived > timeout/2 {
		p.link = 0
	}
	if p.link != 0 && p.pingSent == 0 && n.now-p.pongReceived > timeout/2 {
		n.ping(p)
		return
	}
	if n.manual.end != 0 && n.self.isMaster() && n.manual.replica == p && p.link != 0 {
		n.ping(p)
		return
	}
	if p.pingSent == 0 {
		return
	}
	if min(n.now-p.pingSent, n.now-p.dataReceived) > timeout && !p.failing() {
		p.flags |= flagPFail
		n.changes++
		n.stateOutdated = true
	}
}

// Disconnected tells the node that the links between it and the node at addr
// broke.
func (n *Node) Disconnected(addr BusAddr, now int64) {
	n.now = max(n.now, now)
	for p := range n.others {
		if p.addr.bus() == addr {
			p.link, p.inbound = 0, 0
		}
	}
}

// PingAll makes the node exchange heartbeats with all others now.
func (n *Node) PingAll(now int64) {
	n.now = max(n.now, now)
	for p := range n.others {
		switch {
		case p.has(flagNoAddr):
		case p.link == 0:
			n.open(p)
		case p.pingSent == 0:
			n.ping(p)
		}
	}
}
