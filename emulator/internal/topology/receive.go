package topology

import "github.com/fakecluster/fakecluster/slots"

// Receive processes one message from the bus.
func (n *Node) Receive(m *Message, now int64) {
	n.now = max(n.now, now)
	n.stats.received[m.Kind]++
	var link *peer // the node at the other end of our own link, when m answers on it
	if !m.Opened {
		if link = n.lookup(m.Link); link == nil || link.link != m.LinkTime {
			return // the link was closed meanwhile
		}
	}
	sender := n.lookup(m.Sender)
	if sender != nil && sender.has(flagHandshake) || sender == n.self {
		sender = nil
	}
	if sender != nil {
		n.hear(sender, m)
	}
	switch m.Kind {
	case Ping, Pong, Meet:
		n.receiveHeartbeat(m, sender, link)
	case Fail:
		n.receiveFail(m, sender)
	case AuthRequest:
		if sender != nil {
			n.vote(m, sender)
		}
	case AuthAck:
		if sender != nil && sender.isMaster() && sender.numSlots > 0 && m.CurrentEpoch >= n.election.epoch {
			n.election.votes++
			n.electionOutdated = true
		}
	case ManualStart:
		n.receiveManualStart(m, sender)
	case Update:
		n.receiveUpdate(m, sender)
	}
	n.react()
}

// hear takes from a message's header what every kind of message tells about
// a known sender.
func (n *Node) hear(sender *peer, m *Message) {
	sender.dataReceived = n.now
	if m.Opened && sender.inbound != m.LinkTime {
		sender.inbound = m.LinkTime
	}
	n.currentEpoch = max(n.currentEpoch, m.CurrentEpoch)
	if m.ConfigEpoch > sender.epoch {
		sender.epoch = m.ConfigEpoch
		n.changes++
	}
	sender.replOffset = m.Offset
	if m.Paused && n.manual.end != 0 && n.manual.masterOffset < 0 && n.self.isReplica() && n.self.master == sender {
		n.manual.masterOffset = m.Offset
		n.electionOutdated = true
	}
}

// receiveHeartbeat processes a Ping, Pong or Meet.
func (n *Node) receiveHeartbeat(m *Message, sender, link *peer) {
	if m.Kind != Pong {
		if m.Kind == Meet && sender == nil {
			// Its administrator told it to meet us. Its id we learn by asking
			// it ourselves.
			n.startHandshake(m.SenderAddr, 0)
		}
		n.answer(m, n.heartbeat(Pong))
	}
	if link != nil {
		if !n.confirmLink(m, sender, link) {
			return
		}
		if sender == nil {
			sender = link // a handshake that has just been completed
		}
	}
	if sender == nil {
		return
	}
	if noFailover := m.Flags & flagNoFailover; sender.flags&flagNoFailover != noFailover {
		sender.flags = sender.flags&^flagNoFailover | noFailover
		n.changes++
	}
	if m.Kind == Ping {
		n.updateAddr(sender, m.SenderAddr)
	}
	if sender.addr.Hostname != m.SenderAddr.Hostname {
		sender.addr.Hostname = m.SenderAddr.Hostname
		n.changes++
	}
	if link != nil && m.Kind == Pong {
		link.pongReceived, link.pingSent = n.now, 0
		n.clearFailure(link)
	}
	n.learnRole(m, sender)
	n.learnSlots(m, sender)
	if n.self.isMaster() && sender.isMaster() && m.ConfigEpoch == n.self.epoch {
		n.resolveCollision(sender)
	}
	n.learnGossip(m, sender)
}

// confirmLink checks that the node that answers on our link is the one we
// opened it for. It returns false when the link leads to another node.
func (n *Node) confirmLink(m *Message, sender, link *peer) bool {
	if !link.has(flagHandshake) {
		if link.id == m.Sender {
			return true
		}
		// Another node has that address now.
		link.flags |= flagNoAddr
		link.addr.Host, link.addr.Port, link.addr.BusPort = "", 0, 0
		link.link = 0
		n.changes++
		return false
	}
	if known := n.lookup(m.Sender); known != nil && known != link {
		if sender != nil {
			n.updateAddr(sender, m.SenderAddr)
		}
		n.removePeer(link)
		return false
	}
	link.id = m.Sender
	link.flags = link.flags&^(flagHandshake|flagMeet) | m.Flags&(flagMaster|flagReplica)
	link.addr, link.shard = m.SenderAddr, m.Shard
	link.epoch = m.ConfigEpoch
	n.hear(link, m)
	n.changes++
	return true
}

// updateAddr follows a node to another address.
func (n *Node) updateAddr(p *peer, addr Addr) {
	if p.addr.Host == addr.Host && p.addr.Port == addr.Port && p.addr.BusPort == addr.BusPort {
		return
	}
	p.addr.Host, p.addr.Port, p.addr.BusPort = addr.Host, addr.Port, addr.BusPort
	p.flags &^= flagNoAddr
	p.link = 0
	n.changes++
	if n.self.isReplica() && n.self.master == p {
		n.host.Follow(p.id)
	}
}

// learnRole notes whether the sender is a master, or whose replica it is.
func (n *Node) learnRole(m *Message, sender *peer) {
	if m.Shard != "" {
		sender.shard = m.Shard
	}
	if m.MasterID == "" {
		n.becomeMaster(sender)
		return
	}
	if sender.isMaster() {
		n.releaseSlots(sender)
		sender.flags &^= flagMaster | flagMigrateTo
		sender.flags |= flagReplica
		n.changes++
		n.stateOutdated = true
	}
	master := n.lookup(m.MasterID)
	if master != nil && sender.master != master {
		if sender.master != nil {
			sender.master.removeReplica(sender)
		}
		master.addReplica(sender)
		sender.master = master
		n.changes++
	}
}

// learnSlots takes over the slots a sender claims with a greater config epoch
// than their owner's, and tells the sender when its own claim is outdated.
func (n *Node) learnSlots(m *Message, sender *peer) {
	claims := sender
	if sender.isReplica() {
		claims = sender.master
	}
	if claims == nil || claims.slots == m.Slots || claims.slots == nil && m.Slots == noSlots ||
		claims.slots != nil && *claims.slots == *m.Slots {
		return
	}
	if sender.isMaster() {
		n.acceptClaims(sender, m.ConfigEpoch, m.Slots)
	}
	for slot := range m.Slots.All() {
		owner := n.owner(slot)
		if owner == nil || owner == sender || n.unclaimed.Has(slot) || owner.epoch <= m.ConfigEpoch {
			continue
		}
		if sender.link != 0 {
			update := n.header(Update)
			update.About, update.AboutEpoch, update.AboutSlots = owner.id, owner.epoch, owner.shareSlots()
			n.send(sender, update)
		}
		return
	}
}

// acceptClaims gives p the slots it claims with a greater epoch than their
// owners have. A master that loses its last slot this way, and its replicas,
// follow p.
func (n *Node) acceptClaims(p *peer, epoch uint64, claims *slots.Set) {
	if p == n.self {
		return
	}
	mine := n.self
	if n.self.isReplica() {
		mine = n.self.master
	}
	var withKeys []slots.Slot
	lost := 0
	for slot := range claims.All() {
		owner := n.owner(slot)
		if owner == p {
			n.unclaimed.Remove(slot)
			continue
		}
		if n.importing[slot] != nil {
			continue // it changes hands by SETSLOT only
		}
		if owner != nil && owner.epoch >= epoch && !n.unclaimed.Has(slot) {
			continue
		}
		if owner == n.self && n.host.KeysInSlot(slot) > 0 {
			withKeys = append(withKeys, slot)
		}
		if owner != nil && owner == mine {
			lost++
		}
		n.assign(slot, p)
		n.stateOutdated = true
	}
	n.noteUnclaimed(p, claims)
	switch {
	case lost > 0 && mine.numSlots == 0 && (n.Settings.AllowReplicaMigration || claims.Len() == lost):
		n.follow(p)
	case n.self.master != nil && n.self.master.master != nil && n.self.master.master != n.self:
		// The master of a replica became a replica itself: follow its master.
		n.follow(n.self.master.master)
	default:
		for _, slot := range withKeys {
			n.host.DeleteKeysInSlot(slot)
		}
	}
}

// noteUnclaimed remembers which of p's slots p does not claim any more.
func (n *Node) noteUnclaimed(p *peer, claims *slots.Set) {
	if p.slots == nil {
		return
	}
	for slot := range p.slots.All() {
		if !claims.Has(slot) {
			n.unclaimed.Add(slot)
		}
	}
}

// resolveCollision ends the state in which two masters have one config epoch:
// the one with the smaller id takes a new one.
func (n *Node) resolveCollision(other *peer) {
	if other.id <= n.self.id {
		return
	}
	n.currentEpoch++
	n.self.epoch = n.currentEpoch
	n.changes++
}

func (n *Node) receiveFail(m *Message, sender *peer) {
	if sender == nil {
		return
	}
	if p := n.lookup(m.About); p != nil && !p.has(flagFail|flagMyself) {
		n.markFailed(p)
	}
}

func (n *Node) receiveUpdate(m *Message, sender *peer) {
	if sender == nil {
		return
	}
	p := n.lookup(m.About)
	if p == nil || p.epoch >= m.AboutEpoch {
		return
	}
	n.becomeMaster(p)
	p.epoch = m.AboutEpoch
	n.changes++
	n.acceptClaims(p, m.AboutEpoch, m.AboutSlots)
}

// react does what became due while a message, a tick or a command was
// processed.
func (n *Node) react() {
	if n.unlinked {
		n.unlinked = false
		for p := range n.others {
			if p.link == 0 && p.pingSent == 0 && !p.has(flagNoAddr) {
				n.open(p)
			}
		}
	}
	for n.electionOutdated {
		n.electionOutdated = false
		n.advanceManualFailover()
		n.runElection()
	}
	if n.stateOutdated {
		n.updateState()
	}
}
