package server

import "github.com/fakecluster/fakecluster/emulator/internal/topology"

// Way is what the way from one node to another is like.
func (c *Cluster) Way(from, to *Node) topology.Condition {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.network.Condition(from.topologyID(), to.topologyID())
}

// Since are the commands recorded after the first seen ones, as far as they are
// kept, the oldest first, and how many have been recorded by now.
func (t *Trace) Since(seen uint64) ([]Traced, uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if seen > t.total { // it was cleared
		seen = 0
	}
	n := int(min(t.total-seen, uint64(len(t.ring))))
	entries := make([]Traced, n)
	oldest := t.next + len(t.ring) - n // of those wanted
	for i := range entries {
		entries[i] = t.ring[(oldest+i)%len(t.ring)]
	}
	return entries, t.total
}
