package topology

import "github.com/fakecluster/fakecluster/slots"

// converged reports whether nothing can happen any more but heartbeats: no
// message is under way, no way between nodes is disturbed, all running nodes
// agree with each other, and those that do not run are known as failed.
func (w *Network) converged() bool {
	if len(w.queue) > 0 || len(w.held) > 0 || !w.undisturbed() {
		return false
	}
	for _, m := range w.members {
		if m.running() && !w.calm(m) {
			return false
		}
	}
	// Only one guard is held at a time, so what nodes believe is noted down.
	var notes []notes
	for _, m := range w.members {
		if m.running() {
			notes = append(notes, m.note())
		}
	}
	for i := range notes {
		for j := range notes {
			if i != j && !notes[i].agree(&notes[j]) {
				return false
			}
		}
	}
	return true
}

// undisturbed reports whether all ways are free and fast.
func (w *Network) undisturbed() bool { return len(w.ways) == 0 && w.general == (Condition{}) }

// calm reports whether a node waits for nothing, is in touch with all nodes
// that run, and holds all others for failed.
func (w *Network) calm(m *member) bool {
	m.guard.Lock()
	defer m.guard.Unlock()
	if m.node.busy() {
		return false
	}
	for p := range m.node.others {
		if p.has(flagNoAddr) {
			continue
		}
		other := w.member(p.id)
		if other == nil || !other.running() {
			if !p.has(flagFail) {
				return false
			}
		} else if p.failing() || p.link == 0 || p.pingSent != 0 || p.addr.bus() != other.bus {
			return false
		}
	}
	return true
}

// notes are what a node believes, the node itself first.
type notes struct {
	epoch   uint64
	beliefs []belief
	byID    map[string]*belief
}

// belief is what a node believes of one node.
type belief struct {
	id, master string
	addr       Addr
	isMaster   bool
	epoch      uint64
	numSlots   int
	slots      *slots.Set
}

func (m *member) note() notes {
	m.guard.Lock()
	defer m.guard.Unlock()
	n := m.node
	v := notes{epoch: n.currentEpoch, beliefs: make([]belief, 1, len(n.peers))}
	v.beliefs[0] = believe(n.self)
	for p := range n.others {
		v.beliefs = append(v.beliefs, believe(p))
	}
	v.byID = make(map[string]*belief, len(v.beliefs))
	for i := range v.beliefs {
		v.byID[v.beliefs[i].id] = &v.beliefs[i]
	}
	return v
}

func believe(p *peer) belief {
	b := belief{
		id: p.id, addr: p.addr, isMaster: p.isMaster(), epoch: p.shownEpoch(),
		numSlots: p.numSlots, slots: p.shareSlots(),
	}
	if p.master != nil {
		b.master = p.master.id
	}
	return b
}

// agree reports whether what v's node believes of other's node, if it knows
// it, is what that believes of itself, and both believe the same of slots.
func (v *notes) agree(other *notes) bool {
	self := &other.beliefs[0]
	known := v.byID[self.id]
	if known == nil {
		return other.byID[v.beliefs[0].id] == nil // strangers
	}
	me := &v.beliefs[0]
	if known.isMaster != self.isMaster || known.master != self.master || known.epoch != self.epoch || known.addr != self.addr ||
		v.epoch != other.epoch || me.isMaster && self.isMaster && me.epoch == self.epoch && me.epoch != 0 {
		return false
	}
	for i := range v.beliefs {
		b := &v.beliefs[i]
		if b.numSlots == 0 {
			continue
		}
		o := other.byID[b.id]
		if o == nil || o.numSlots != b.numSlots || o.slots != b.slots && *o.slots != *b.slots {
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
