package topology

import "slices"

// failureReportTTL is how many node timeouts a report of failure counts.
const failureReportTTL = 2

// minGossip is how many other nodes a heartbeat speaks of at least, if there
// are so many; it is a tenth of all nodes in large clusters.
const minGossip = 3

// heartbeat is a Ping, Pong or Meet: the node's claims and gossip about some
// others, and about all that seem to fail.
func (n *Node) heartbeat(kind MessageKind) Message {
	m := n.header(kind)
	var failing, healthy []*peer
	for p := range n.others {
		switch {
		case p.has(flagHandshake | flagNoAddr):
		case p.has(flagPFail):
			failing = append(failing, p)
		case p.link != 0 || p.numSlots > 0:
			healthy = append(healthy, p)
		}
	}
	wanted := min(max(minGossip, n.known()/10), len(healthy))
	m.Gossip = make([]Gossip, 0, wanted+len(failing))
	for i := range wanted {
		j := i
		if wanted < len(healthy) {
			j += n.rand.IntN(len(healthy) - i)
		}
		healthy[i], healthy[j] = healthy[j], healthy[i]
		m.Gossip = append(m.Gossip, gossipAbout(healthy[i]))
	}
	for _, p := range failing {
		m.Gossip = append(m.Gossip, gossipAbout(p))
	}
	return m
}

func gossipAbout(p *peer) Gossip {
	return Gossip{ID: p.id, Addr: p.addr, Flags: p.flags, PingSent: p.pingSent / 1000, PongReceived: p.pongReceived / 1000}
}

// reportFailure notes that from says p fails. It returns true for news.
func (n *Node) reportFailure(p, from *peer) bool {
	for i := range p.reports {
		if p.reports[i].from == from {
			p.reports[i].at = n.now
			return false
		}
	}
	p.reports = append(p.reports, failureReport{from, n.now})
	return true
}

// failureReports counts who says that p fails, forgetting what is too old.
func (n *Node) failureReports(p *peer) int {
	oldest := n.now - n.Settings.NodeTimeout*failureReportTTL
	p.reports = slices.DeleteFunc(p.reports, func(r failureReport) bool { return r.at < oldest })
	return len(p.reports)
}

// learnGossip takes from a heartbeat what its sender says of third nodes.
func (n *Node) learnGossip(m *Message, sender *peer) {
	for i := range m.Gossip {
		g := &m.Gossip[i]
		p := n.lookup(g.ID)
		if p == nil {
			// The sender is of this cluster, so its acquaintances are too.
			if !(g.Flags&flagNoAddr != 0) && !n.blacklisted(g.ID) {
				n.addPeer(g.ID, g.Addr, g.Flags&^(flagMyself|flagMeet))
			}
			continue
		}
		failing := g.Flags&(flagFail|flagPFail) != 0
		if sender.isMaster() && p != n.self {
			if failing {
				n.reportFailure(p, sender)
				n.markFailedByMajority(p)
			} else {
				p.reports = slices.DeleteFunc(p.reports, func(r failureReport) bool { return r.from == sender })
			}
		}
		if !failing && p.pingSent == 0 && len(p.reports) == 0 {
			if pong := g.PongReceived * 1000; pong <= n.now+500 && pong > p.pongReceived {
				p.pongReceived = pong
			}
		}
		if !failing && p.failing() && g.Flags&flagNoAddr == 0 {
			n.updateAddr(p, g.Addr)
		}
	}
}

// markFailedByMajority turns a suspicion into a verdict when most masters
// share it, and tells everybody.
func (n *Node) markFailedByMajority(p *peer) {
	if !p.has(flagPFail) || p.has(flagFail) {
		return
	}
	reports := n.failureReports(p)
	if n.self.isMaster() {
		reports++
	}
	if reports < n.quorum() {
		return
	}
	n.markFailed(p)
	for other := range n.others {
		if other.link != 0 && !other.has(flagHandshake) {
			m := n.header(Fail)
			m.About = p.id
			n.send(other, m)
		}
	}
}

func (n *Node) markFailed(p *peer) {
	p.flags = p.flags&^flagPFail | flagFail
	p.failTime = n.now
	n.changes++
	n.stateOutdated = true
	if p == n.self.master {
		n.electionOutdated = true
	}
}

// failUndo is after how many node timeouts a master that answers again, and
// still owns slots, is no longer held for failed.
const failUndo = 2

// clearFailure ends the suspicion against a node that answered.
func (n *Node) clearFailure(p *peer) {
	switch {
	case p.has(flagPFail):
		p.flags &^= flagPFail
	case p.has(flagFail) && (p.isReplica() || p.numSlots == 0 || n.now-p.failTime > n.Settings.NodeTimeout*failUndo):
		p.flags &^= flagFail
	default:
		return
	}
	n.changes++
	n.stateOutdated = true
}
