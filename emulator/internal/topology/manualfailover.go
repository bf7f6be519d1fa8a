package topology

import "strings"

const (
	manualTimeout = 5000 // ms until a manual failover is given up
	// pauseFactor is how many of those the old master's clients wait at most.
	pauseFactor = 2
)

// manualFailover is a CLUSTER FAILOVER under way, on the replica that wants to
// take over or on its master.
type manualFailover struct {
	end     int64 // when it is given up, 0 for none
	replica *peer // on the master: who asked
	// On the replica: how far the master had written when it paused its
	// clients (-1: not heard yet), and whether all of that has been applied.
	masterOffset int64
	canStart     bool
}

// Failover is CLUSTER FAILOVER; mode is empty, "force" or "takeover".
func (n *Node) Failover(mode string, now int64) error {
	takeover := strings.EqualFold(mode, "takeover")
	force := takeover || strings.EqualFold(mode, "force")
	if mode != "" && !force {
		return errSyntax
	}
	n.setClock(now)
	master := n.self.master
	switch {
	case n.self.isMaster():
		return errorf("You should send CLUSTER FAILOVER to a replica")
	case master == nil:
		return errorf("I'm a replica but my master is unknown to me")
	case !force && (master.has(flagFail) || master.link == 0):
		return errorf("Master is down or failed, please use CLUSTER FAILOVER FORCE")
	}
	n.resetManualFailover()
	n.manual.end = n.now + manualTimeout
	n.changes++
	switch {
	case takeover:
		n.bumpEpoch()
		n.takeOver()
	case force:
		n.manual.canStart = true
		n.electionOutdated = true
	default:
		n.send(master, n.header(ManualStart))
	}
	n.react()
	return nil
}

// receiveManualStart is the master's part: hold the clients' writes, so that
// the replica can catch up.
func (n *Node) receiveManualStart(m *Message, sender *peer) {
	if sender == nil || n.self.isReplica() || sender.master != n.self {
		return
	}
	n.resetManualFailover()
	n.manual.end = n.now + manualTimeout
	n.manual.replica = sender
	n.changes++
	n.host.PauseWrites(n.now - n.ahead + manualTimeout*pauseFactor)
	n.answer(m, n.heartbeat(Ping))
}

// advanceManualFailover lets the election begin once the replica has all that
// its paused master wrote.
func (n *Node) advanceManualFailover() {
	if n.manual.end == 0 || n.manual.canStart || n.manual.masterOffset < 0 || n.self.isMaster() {
		return
	}
	if n.manual.masterOffset == n.host.ReplicationOffset() {
		n.manual.canStart = true
	}
}

func (n *Node) resetManualFailover() {
	if n.manual.end != 0 {
		n.changes++
	}
	if n.manual.replica != nil {
		n.host.PauseWrites(0)
	}
	n.manual = manualFailover{masterOffset: -1}
}
