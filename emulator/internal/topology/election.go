package topology

const (
	minElectionTimeout = 2000 // ms
	electionDelay      = 500  // ms, and up to as much again by chance
	rankDelay          = 1000 // ms for every replica that knows more
)

// election is a replica's attempt to become master.
type election struct {
	at    int64  // when votes are asked for
	sent  bool   // votes have been asked for
	epoch uint64 // of the attempt
	votes int
	rank  int // how many replicas of the same master know more
}

// runElection moves a replica of a failed master, or one that was told to take
// over, towards its election.
func (n *Node) runElection() {
	manual := n.manual.end != 0 && n.manual.canStart
	if !n.mayStand(manual) {
		return
	}
	timeout := max(2*n.Settings.NodeTimeout, minElectionTimeout)
	e := &n.election
	age := n.now - e.at
	if age > 2*timeout {
		n.scheduleElection()
		return
	}
	if !e.sent && n.manual.end == 0 {
		if rank := n.rank(); rank > e.rank {
			e.at += int64(rank-e.rank) * rankDelay
			e.rank = rank
		}
	}
	if n.now < e.at || age > timeout {
		return
	}
	if !e.sent {
		n.currentEpoch++
		e.epoch, e.sent = n.currentEpoch, true
		n.stateOutdated = true
		for p := range n.others {
			if p.link != 0 && !p.has(flagHandshake) {
				m := n.header(AuthRequest)
				m.ForceAck = n.manual.end != 0
				n.send(p, m)
			}
		}
		return
	}
	if e.votes >= n.quorum() {
		n.self.epoch = max(n.self.epoch, e.epoch)
		n.takeOver()
	}
}

// mayStand reports whether this node is a replica that may replace its master.
func (n *Node) mayStand(manual bool) bool {
	master := n.self.master
	if n.self.isMaster() || master == nil || master.numSlots == 0 {
		return false
	}
	if manual {
		return true
	}
	if !master.has(flagFail) || n.Settings.ReplicaNoFailover {
		return false
	}
	age := n.host.ReplicaDataAge()
	if age > n.Settings.NodeTimeout {
		age -= n.Settings.NodeTimeout
	}
	factor := int64(n.Settings.ReplicaValidityFactor)
	return factor == 0 || age <= n.Settings.ReplPingReplicaPeriod+n.Settings.NodeTimeout*factor
}

func (n *Node) scheduleElection() {
	n.election = election{at: n.now + electionDelay + n.rand.Int64N(electionDelay), rank: n.rank(), epoch: n.election.epoch}
	n.election.at += int64(n.election.rank) * rankDelay
	if n.manual.end != 0 {
		n.election.at, n.election.rank = n.now, 0
		n.electionOutdated = true
	}
	// Tell the other replicas our offset, so that their ranks are right.
	for _, r := range n.self.master.replicas {
		if r != n.self && r.link != 0 {
			n.send(r, n.heartbeat(Pong))
		}
	}
}

// rank counts the replicas of the same master that have received more.
func (n *Node) rank() int {
	rank := 0
	mine := n.host.ReplicationOffset()
	for _, r := range n.self.master.replicas {
		if r != n.self && !r.has(flagNoFailover) && r.replOffset > mine {
			rank++
		}
	}
	return rank
}

// vote answers a replica's request: one vote per epoch and master, only for
// replicas of failed masters, and only when nobody claims their slots with a
// greater epoch.
func (n *Node) vote(m *Message, candidate *peer) {
	master := candidate.master
	switch {
	case n.self.isReplica() || n.self.numSlots == 0:
		return
	case m.CurrentEpoch < n.currentEpoch || n.lastVoteEpoch == n.currentEpoch:
		return
	case candidate.isMaster() || master == nil || !master.has(flagFail) && !m.ForceAck:
		return
	case n.now-master.votedTime < 2*n.Settings.NodeTimeout:
		return
	}
	for slot := range m.Slots.All() {
		if owner := n.owner(slot); owner != nil && owner.epoch > m.ConfigEpoch && !n.unclaimed.Has(slot) {
			return
		}
	}
	master.votedTime = n.now
	n.lastVoteEpoch = n.currentEpoch
	if candidate.link != 0 {
		n.send(candidate, n.header(AuthAck))
	}
}

// takeOver makes this replica the master of its master's slots.
func (n *Node) takeOver() {
	old := n.self.master
	n.election = election{}
	n.becomeMaster(n.self)
	n.host.Follow("")
	for slot := range old.shareSlots().All() {
		n.assign(slot, n.self)
	}
	n.updateState()
	n.broadcast(Pong)
	n.resetManualFailover()
}
