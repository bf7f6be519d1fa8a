package server

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/lock"
	"github.com/fakecluster/fakecluster/emulator/internal/topology"
	"github.com/fakecluster/fakecluster/slots"
)

// BusPortOffset is how far a node's bus port, a name here, is above its port.
const BusPortOffset = 10000

// Cluster joins nodes to a cluster: it lets their topologies exchange messages,
// in the process and at once, and time pass for them.
//
// Lock order: the cluster's lock before a node's. Commands run under a node's
// lock, so what they change is carried to the other nodes after it is released.
type Cluster struct {
	clock  *Clock
	origin origin
	nodes  atomic.Pointer[[]*Node] // see members
	cuts   cuts

	mu      lock.Mutex[lock.Network]
	network *topology.Network
	timer   *time.Timer
	closed  bool
}

// guard is a node's lock as the network takes it.
type guard Node

func (g *guard) Lock()   { (*Node)(g).lock() }
func (g *guard) Unlock() { (*Node)(g).unlock() }

// unsettled makes what a command changed known to the other nodes as soon as
// the node's lock is released.
func (n *Node) unsettled() {
	if !n.unsettledNow {
		n.unsettledNow = true
		n.later(n.cluster.exchange)
	}
}

// heartbeat is after how long the other nodes hear of changes that Redis does
// not hurry to tell.
const heartbeat = 500 * time.Millisecond

// unsettledSoon makes what a command changed known to the other nodes with the
// next heartbeat: "redis-cli --cluster fix" gives a slot to another node, in a
// transaction and with BUMPEPOCH, and counts on it that the old owner, which
// would drop its keys, does not know before they have been moved.
func (n *Node) unsettledSoon() {
	c := n.cluster
	n.later(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		switch {
		case c.closed:
		case c.timer == nil:
			c.timer = time.AfterFunc(heartbeat, c.run)
		default:
			c.timer.Reset(heartbeat)
		}
	})
}

// exchange lets all nodes hear from each other.
func (c *Cluster) exchange() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.network.Exchange(c.clock.Now().UnixMilli())
	c.arm()
}

// run brings the network up to the present.
func (c *Cluster) run() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.network.Run(c.clock.Now().UnixMilli())
	c.arm()
}

// arm wakes the cluster when the network next has something to do. While all
// nodes agree it has nothing to do.
func (c *Cluster) arm() {
	at, ok := c.network.Next()
	if !ok {
		if c.timer != nil {
			c.timer.Stop()
		}
		return
	}
	wait := max(0, time.UnixMilli(at).Sub(c.clock.Now()))
	if c.timer == nil {
		c.timer = time.AfterFunc(wait, c.run)
	} else {
		c.timer.Reset(wait)
	}
}

// Settle lets the cluster's own time run until nothing changes any more:
// failures are noticed, elections held. It returns whether all nodes that can
// reach each other agree.
func (c *Cluster) Settle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	settled := c.network.Settle(c.clock.Now().UnixMilli())
	c.arm()
	return settled
}

// ClockMoved brings the cluster up to a time that has been advanced.
func (c *Cluster) ClockMoved() { c.run() }

// Close stops the network; the nodes are closed on their own.
func (c *Cluster) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.timer != nil {
		c.timer.Stop()
	}
}

// byID returns a node by its id in the topology.
func (c *Cluster) byID(id string) *Node {
	for _, n := range c.members() {
		if n.topologyID() == id {
			return n
		}
	}
	return nil
}

// topologyHost is a node as its topology sees it.
type topologyHost Node

func (h *topologyHost) Keys() int {
	n, keys := (*Node)(h), 0
	for i := range n.ks.Databases() {
		keys += n.ks.DB(i).Len()
	}
	return keys
}

func (h *topologyHost) KeysInSlot(slot slots.Slot) int {
	return (*Node)(h).ks.DB(0).CountInSlot(slot)
}

func (h *topologyHost) DeleteKeysInSlot(slot slots.Slot) {
	n := (*Node)(h)
	for _, key := range n.ks.DB(0).KeysInSlot(slot, n.ks.DB(0).CountInSlot(slot)) {
		n.ks.DB(0).Delete([]byte(key))
		n.ks.DB(0).Modified([]byte(key))
		n.effects.add(0, [][]byte{[]byte("DEL"), []byte(key)})
	}
}

func (h *topologyHost) EmptyData() {
	n := (*Node)(h)
	for i := range n.ks.Databases() {
		n.ks.DB(i).Clear()
	}
}

func (h *topologyHost) ReplicationOffset() int64 { return (*Node)(h).writeOffset() }

func (h *topologyHost) ReplicaDataAge() int64 { return (*Node)(h).dataAge() }

func (h *topologyHost) Follow(master string) { (*Node)(h).follow(master) }

func (h *topologyHost) PauseWrites(until int64) {
	n := (*Node)(h)
	n.failoverPause = pause{}
	if until != 0 {
		n.failoverPause = pause{until: time.UnixMilli(until), writeOnly: true}
	}
}

// topologyChanged sends away the clients that wait here for what is another
// node's now: subscribers of a shard's channels, and blocked ones.
func (n *Node) topologyChanged() {
	n.leaveLostShards()
	for _, s := range n.clients() {
		if wt := s.waiting; wt != nil && wt.wait != nil {
			n.redirectBlocked(wt)
		}
	}
}

// leaveLostShards ends the subscriptions to channels whose slots have another
// owner now. A replica that has taken over serves its subscribers on.
func (n *Node) leaveLostShards() {
	var lost []string
	for name, owner := range n.pubsub.shardOwners {
		switch now := n.topo.Owner(slots.OfString(name)); now {
		case owner:
		case n.topo.ID():
			n.pubsub.shardOwners[name] = now
		default:
			lost = append(lost, name)
		}
	}
	slices.SortFunc(lost, func(a, b string) int {
		return cmp.Or(cmp.Compare(slots.OfString(a), slots.OfString(b)), strings.Compare(a, b))
	})
	for _, name := range lost {
		n.dropShardSubscribers(name)
	}
}

// redirectBlocked ends the wait of a client for keys that are not served here
// any more.
func (n *Node) redirectBlocked(wt *waiter) {
	r := topology.Request{
		Keys: wt.wait.Keys, Exists: n.existsIn0, Write: wt.spec.Has(command.Write),
		ReadOnly: wt.session.readOnly, Asking: true,
	}
	switch v := n.topo.Route(&r); v.Kind {
	case topology.Moved, topology.DownState, topology.DownReadOnly, topology.DownUnbound:
		n.unblock(wt, v.Error())
	}
}

// topologySettings are the cluster-* parameters.
func (n *Node) topologySettings() topology.Settings {
	s := topology.DefaultSettings()
	s.NodeTimeout = n.config.Int("cluster-node-timeout")
	s.RequireFullCoverage = n.config.Bool("cluster-require-full-coverage")
	s.AllowReadsWhenDown = n.config.Bool("cluster-allow-reads-when-down")
	s.AllowReplicaMigration = n.config.Bool("cluster-allow-replica-migration")
	s.ReplicaNoFailover = n.config.Bool("cluster-replica-no-failover")
	s.ReplicaValidityFactor = int(n.config.Int("cluster-replica-validity-factor"))
	s.MigrationBarrier = int(n.config.Int("cluster-migration-barrier"))
	if n.config.Has("cluster-allow-pubsubshard-when-down") {
		s.AllowPubSubShardWhenDown = n.config.Bool("cluster-allow-pubsubshard-when-down")
	}
	if n.config.Has("cluster-preferred-endpoint-type") {
		switch n.config.String("cluster-preferred-endpoint-type") {
		case "hostname":
			s.PreferredEndpoint = topology.EndpointHostname
		case "unknown-endpoint":
			s.PreferredEndpoint = topology.EndpointUnknown
		}
	}
	return s
}

// spread delivers a published message to the other nodes.
func (n *Node) spread(channel, message []byte) {
	if n.cluster != nil {
		n.deliverAt(n.cluster.members(), channel, message, (*Node).deliver)
	}
}

// spreadShard delivers a message to the nodes of the same shard.
func (n *Node) spreadShard(channel, message []byte) {
	if n.cluster == nil {
		return
	}
	n.deliverAt(n.shard(), channel, message, (*Node).deliverShard)
}

func (n *Node) deliverAt(nodes []*Node, channel, message []byte, deliver func(*Node, []byte, []byte) int) {
	channel, message = bytes.Clone(channel), bytes.Clone(message)
	n.later(func() {
		for _, other := range nodes {
			if other != n && !n.cluster.cuts.between(n, other) {
				other.life.gate.whenOpen(func() {
					other.lock()
					deliver(other, channel, message)
					other.unlock()
				})
			}
		}
	})
}

// shard are the master and the replicas this node belongs to, as it sees them.
func (n *Node) shard() []*Node {
	master := n.topo.ID()
	if m := n.topo.Master(); m != "" {
		master = m
	}
	var nodes []*Node
	for _, k := range n.topo.View() {
		if k.ID == master || k.Master == master {
			if other := n.cluster.byID(k.ID); other != nil {
				nodes = append(nodes, other)
			}
		}
	}
	return nodes
}

// ID is the node's id in its cluster, else its run id.
func (n *Node) ID() string {
	if n.clustered {
		return n.topologyID()
	}
	n.lock()
	defer n.unlock()
	return n.runID
}

// IsReplica reports whether the node is a replica.
func (n *Node) IsReplica() bool {
	n.lock()
	defer n.unlock()
	return n.isReplica()
}

// Owns reports whether the node believes to own slot, as a master.
func (n *Node) Owns(slot slots.Slot) bool {
	n.lock()
	defer n.unlock()
	return n.topo == nil || n.topo.IsMaster() && n.topo.Owns(slot)
}

// Slots are the slots the node believes to own.
func (n *Node) Slots() []slots.Range {
	if !n.clustered {
		return []slots.Range{{First: 0, Last: slots.Count - 1}}
	}
	n.lock()
	defer n.unlock()
	set := n.topo.Slots()
	return set.Ranges()
}
