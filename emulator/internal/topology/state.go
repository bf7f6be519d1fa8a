package topology

import "github.com/fakecluster/fakecluster/slots"

const (
	// writableDelay is how long a master waits after its start before it calls
	// the cluster ok, so that the others can tell it that it is no master any
	// more.
	writableDelay = 2000 // ms
	// A master that was in a minority waits for the node timeout, within these
	// limits, before it accepts writes again.
	minRejoinDelay = 500  // ms
	maxRejoinDelay = 5000 // ms
)

// updateState computes cluster_state: ok when the slots are covered (or need
// not be) and most masters are reachable.
func (n *Node) updateState() {
	n.stateOutdated = false
	if n.firstUpdate == 0 {
		n.firstUpdate = n.now
	}
	if n.self.isMaster() && !n.ok && n.now-n.firstUpdate < writableDelay {
		n.stateOutdated = true
		return
	}
	ok := !n.Settings.RequireFullCoverage || n.assigned == slots.Count
	n.size = 0
	for _, p := range n.peers {
		if p == nil || p.numSlots == 0 {
			continue
		}
		if p.has(flagFail) && n.Settings.RequireFullCoverage {
			ok = false
		}
		if p.isMaster() {
			n.size++
		}
	}
	if n.reachableMasters() < n.quorum() {
		ok = false
		n.minorityTime = n.now
	}
	if ok == n.ok {
		return
	}
	delay := min(max(n.Settings.NodeTimeout, minRejoinDelay), maxRejoinDelay)
	if ok && n.self.isMaster() && n.now-n.minorityTime < delay {
		n.stateOutdated = true
		return
	}
	n.ok = ok
	n.changes++
}

// reachableMasters counts the masters with slots that do not fail.
func (n *Node) reachableMasters() int {
	count := 0
	for _, p := range n.peers {
		if p != nil && p.isMaster() && p.numSlots > 0 && !p.failing() {
			count++
		}
	}
	return count
}

// quorum is the number of masters that are a majority.
func (n *Node) quorum() int { return n.size/2 + 1 }

// maxEpoch is the greatest epoch this node has heard of.
func (n *Node) maxEpoch() uint64 {
	epoch := n.currentEpoch
	for _, p := range n.peers {
		if p != nil {
			epoch = max(epoch, p.epoch)
		}
	}
	return epoch
}

// bumpEpoch takes a new config epoch without asking anybody, unless the node's
// is already the greatest of all.
func (n *Node) bumpEpoch() bool {
	top := n.maxEpoch()
	if n.self.epoch != 0 && n.self.epoch == top {
		return false
	}
	n.currentEpoch++
	n.self.epoch = n.currentEpoch
	n.changes++
	return true
}
