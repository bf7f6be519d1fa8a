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
