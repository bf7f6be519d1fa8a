package topology

import (
	"slices"

	"github.com/fakecluster/fakecluster/slots"
)

// flags are what CLUSTER NODES prints of a node, and what messages carry.
type flags uint16

const (
	flagMyself flags = 1 << iota
	flagMaster
	flagReplica
	flagPFail
	flagFail
	flagHandshake
	flagNoAddr
	flagMeet
	flagMigrateTo
	flagNoFailover
)

// peer is one node in another node's view (clusterNode in Redis' terms).
type peer struct {
	id       string
	index    uint16
	flags    flags
	addr     Addr
	shard    string
	epoch    uint64
	master   *peer
	replicas []*peer

	// slots is nil or what the peer owns. It is never changed while shared,
	// that is, after it left this view with a message.
	slots       *slots.Set
	slotsShared bool
	numSlots    int

	created      int64
	pingSent     int64 // 0: no ping waits for its pong
	pongReceived int64
	dataReceived int64
	failTime     int64
	votedTime    int64
	orphanedTime int64
	replOffset   int64
	link         int64 // when the link to it was opened, 0 for none
	inbound      int64 // when it opened its link to us
	reports      []failureReport
}

type failureReport struct {
	from *peer
	at   int64
}

func (p *peer) has(f flags) bool { return p.flags&f != 0 }
func (p *peer) isMaster() bool   { return p.flags&flagMaster != 0 }
func (p *peer) isReplica() bool  { return p.flags&flagReplica != 0 }
func (p *peer) failing() bool    { return p.flags&(flagFail|flagPFail) != 0 }

// removeReplica takes r from p's list of replicas.
func (p *peer) removeReplica(r *peer) {
	if i := slices.Index(p.replicas, r); i >= 0 {
		p.replicas = slices.Delete(p.replicas, i, i+1)
		if len(p.replicas) == 0 {
			p.flags &^= flagMigrateTo
		}
	}
}

func (p *peer) addReplica(r *peer) {
	if !slices.Contains(p.replicas, r) {
		p.replicas = append(p.replicas, r)
		p.flags |= flagMigrateTo
	}
}

// healthyReplicas counts p's replicas that are not failing.
func (p *peer) healthyReplicas() int {
	count := 0
	for _, r := range p.replicas {
		if !r.failing() {
			count++
		}
	}
	return count
}

func (n *Node) lookup(id string) *peer {
	for _, p := range n.peers {
		if p != nil && p.id == id {
			return p
		}
	}
	return nil
}

func (n *Node) addPeer(id string, addr Addr, f flags) *peer {
	p := &peer{id: id, addr: addr, flags: f, created: n.now}
	n.insert(p)
	n.unlinked = true
	return p
}

func (n *Node) insert(p *peer) {
	n.changes++
	for i := 1; i < len(n.peers); i++ {
		if n.peers[i] == nil {
			p.index = uint16(i)
			n.peers[i] = p
			return
		}
	}
	p.index = uint16(len(n.peers))
	n.peers = append(n.peers, p)
}

// others yields the known nodes but this one.
func (n *Node) others(yield func(*peer) bool) {
	for _, p := range n.peers {
		if p != nil && p != n.self && !yield(p) {
			return
		}
	}
}

// known is the number of known nodes, this one too (cluster_known_nodes).
func (n *Node) known() int {
	count := 0
	for _, p := range n.peers {
		if p != nil {
			count++
		}
	}
	return count
}

// removePeer forgets a node: its slots have no owner any more, and nobody is
// its replica or reports failures in its name.
func (n *Node) removePeer(gone *peer) {
	n.releaseSlots(gone)
	for slot, p := range n.migrating {
		if p == gone {
			delete(n.migrating, slot)
		}
	}
	for slot, p := range n.importing {
		if p == gone {
			delete(n.importing, slot)
		}
	}
	for _, p := range n.peers {
		if p != nil {
			p.reports = slices.DeleteFunc(p.reports, func(r failureReport) bool { return r.from == gone })
		}
	}
	for _, r := range gone.replicas {
		r.master = nil
	}
	if gone.master != nil {
		gone.master.removeReplica(gone)
	}
	if n.manual.replica == gone {
		n.manual.replica = nil
	}
	n.peers[gone.index] = nil
	n.changes++
}

func (n *Node) owner(slot slots.Slot) *peer { return n.peers[n.owners[slot]] }

// assign gives slot to p, or to nobody when p is nil.
func (n *Node) assign(slot slots.Slot, p *peer) {
	old := n.owner(slot)
	if old == p {
		return
	}
	if n.ownersShared {
		table := *n.owners
		n.owners, n.ownersShared = &table, false
	}
	n.changes++
	n.unclaimed.Remove(slot)
	if old != nil {
		old.ownSlots().Remove(slot)
		old.numSlots--
		n.assigned--
		n.owners[slot] = 0
	}
	if p == nil {
		return
	}
	p.ownSlots().Add(slot)
	p.numSlots++
	n.assigned++
	n.owners[slot] = p.index
	if p.numSlots == 1 {
		n.markMigrationTarget(p)
	}
}

// markMigrationTarget remembers that a master which gets its first slot while
// other masters have replicas may be given one of theirs.
func (n *Node) markMigrationTarget(p *peer) {
	for _, m := range n.peers {
		if m != nil && m.isMaster() && len(m.replicas) > 0 {
			p.flags |= flagMigrateTo
			return
		}
	}
}

// ownSlots returns a set of p's slots that may be changed.
func (p *peer) ownSlots() *slots.Set {
	if p.slots == nil || p.slotsShared {
		set := slots.Set{}
		if p.slots != nil {
			set = *p.slots
		}
		p.slots, p.slotsShared = &set, false
	}
	return p.slots
}

// shareSlots returns the set of p's slots for a message. It will not change.
func (p *peer) shareSlots() *slots.Set {
	if p.slots == nil {
		return noSlots
	}
	p.slotsShared = true
	return p.slots
}

var noSlots = new(slots.Set)

// releaseSlots takes all its slots from p.
func (n *Node) releaseSlots(p *peer) {
	if p.numSlots == 0 {
		return
	}
	for slot := range p.shareSlots().All() {
		n.assign(slot, nil)
	}
}

// becomeMaster notes that p is a master.
func (n *Node) becomeMaster(p *peer) {
	if p.isMaster() {
		return
	}
	if p.master != nil {
		p.master.removeReplica(p)
		if p != n.self {
			p.flags |= flagMigrateTo
		}
	}
	p.flags &^= flagReplica
	p.flags |= flagMaster
	p.master = nil
	n.changes++
	n.stateOutdated = true
}
