package topology

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

func (n *Node) resetManualFailover() {
	if n.manual.replica != nil {
		n.host.PauseWrites(0)
	}
	n.manual = manualFailover{masterOffset: -1}
}
