package topology

// converged reports whether nothing can happen any more but heartbeats: no
// message is under way, no way between nodes is disturbed, all running nodes
// agree with each other, and those that do not run are known as failed.
func (w *Network) converged() bool {
	if len(w.queue) > 0 || len(w.held) > 0 || !w.undisturbed() {
		return false
	}
	for _, m := range w.members {
		m.guard.Lock()
	}
	defer func() {
		for _, m := range w.members {
			m.guard.Unlock()
		}
	}()
	for _, m := range w.members {
		if m.running() && (m.node.busy() || !w.agrees(m.node)) {
			return false
		}
	}
	return true
}

// undisturbed reports whether all ways are free and fast.
func (w *Network) undisturbed() bool { return len(w.ways) == 0 && w.general == (Condition{}) }

// agrees reports whether what n believes of every node it knows is what that
// node believes of itself.
func (w *Network) agrees(n *Node) bool {
	for p := range n.others {
		if p.has(flagNoAddr) {
			continue
		}
		m := w.member(p.id)
		if m == nil || !m.running() {
			if !p.has(flagFail) {
				return false
			}
			continue
		}
		other := m.node
		back := other.lookup(n.self.id)
		if p.failing() || p.link == 0 || p.pingSent != 0 || p.addr != other.self.addr || back == nil ||
			p.isMaster() != other.self.isMaster() || p.masterID() != other.self.masterID() ||
			p.shownEpoch() != other.self.shownEpoch() || n.currentEpoch != other.currentEpoch {
			return false
		}
		if p.isMaster() && n.self.isMaster() && p.epoch == n.self.epoch && p.id < n.self.id != (n.self.id < p.id) && p.epoch != 0 {
			return false
		}
		if !n.sameOwners(other) {
			return false
		}
	}
	return true
}

func (p *peer) masterID() string {
	if p.master == nil {
		return ""
	}
	return p.master.id
}

// sameOwners reports whether two nodes agree on the owner of every slot.
func (n *Node) sameOwners(other *Node) bool {
	if n.assigned != other.assigned {
		return false
	}
	if n.owners == other.owners {
		return true
	}
	for _, p := range n.peers {
		if p == nil || p.numSlots == 0 {
			continue
		}
		q := other.lookup(p.id)
		if q == nil || q.numSlots != p.numSlots || q.slots != p.slots && *q.slots != *p.slots {
			return false
		}
	}
	return true
}

// busy reports whether the node waits for something that time will bring.
func (n *Node) busy() bool {
	if n.stateOutdated || n.electionOutdated || n.unlinked || n.manual.end != 0 || len(n.outbox) > 0 {
		return true
	}
	for p := range n.others {
		if p.has(flagHandshake | flagPFail) {
			return true
		}
	}
	return n.waits()
}

// waits reports whether the node will do something by itself once time has
// passed, however long nothing changed.
func (n *Node) waits() bool {
	for id := range n.blacklist {
		if n.blacklisted(id) {
			return true
		}
	}
	if n.self.isReplica() && n.self.master != nil {
		return n.mayStand(false) && n.reachableMasters() >= n.quorum() || n.orphan() != nil
	}
	return false
}
