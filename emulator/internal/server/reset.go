package server

import (
	"math/rand/v2"
	"slices"

	"github.com/fakecluster/fakecluster/emulator/internal/topology"
)

// Back to the start: what a test suite wants between two tests, with the
// connections it has.

// origin is what a cluster was formed from.
type origin struct {
	nodes   []*Node
	members []topology.Member
	apart   bool
}

// saveSeed remembers where a source of randomness is.
func saveSeed(source *rand.PCG) []byte {
	if source == nil {
		return nil
	}
	state, _ := source.MarshalBinary() // a PCG's can always be told
	return state
}

// Reset makes the cluster what it was when it was formed: topology, data,
// scripts, configuration, users, faults and time. Nodes that joined later must
// have been expelled; connections stay. Nobody else may hold a node's lock and
// wait for another's: so it takes the locks of all.
func (c *Cluster) Reset() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := &c.origin
	for _, n := range o.nodes {
		n.life.gate.open(true)
		n.lockIdle()
	}
	nodes := slices.Clone(o.nodes)
	c.nodes.Store(&nodes)
	err := c.resetLocked()
	for _, n := range nodes {
		n.unlock()
	}
	if err != nil {
		return err
	}
	c.connect()
	if c.timer != nil {
		c.timer.Stop()
	}
	return nil
}

// resetLocked is Reset for what the nodes' locks, which are held, guard.
func (c *Cluster) resetLocked() error {
	c.clock.reset()
	c.cuts.mu.Lock()
	c.cuts.ways = nil
	c.cuts.mu.Unlock()
	for i, n := range c.origin.nodes {
		n.addr = c.origin.members[i].Addr
		n.port = n.addr.Port
		if err := n.resetLocked(); err != nil {
			return err
		}
	}
	return c.form()
}

// Reset makes a server on its own what it was when it started.
func (n *Node) Reset() error {
	n.life.gate.open(true)
	n.lockIdle()
	defer n.unlock()
	n.clock.reset()
	return n.resetLocked()
}

// resetLocked makes the node new, but for its sessions. Its lock is held.
func (n *Node) resetLocked() error {
	if err := n.options.Source.UnmarshalBinary(n.firstSeed); err != nil {
		return err
	}
	if n.replica.link != nil {
		n.replica.link.Detach()
		n.replica = replicaSide{}
	}
	n.forget()
	n.topo = nil // while it is configured
	if err := n.begin(); err != nil {
		return err
	}
	n.replog.Restart(randomHex(n.rand, 20))
	n.life.down.Store(false)
	n.life.lag, n.life.loadingUntil = lag{}, n.started
	n.offsetSeen = 0
	n.renewUsers()
	return nil
}
