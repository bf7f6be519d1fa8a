package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/lock"
	"github.com/fakecluster/fakecluster/emulator/internal/topology"
	"github.com/fakecluster/fakecluster/slots"
)

// What a test does to a cluster from outside: it moves slots, fails over, cuts
// ways. All of it goes through the topology's own rules.

// The reasons why a cluster does not do what it is told.
var (
	ErrDown       = errors.New("the node is down")
	ErrNotElected = errors.New("the replica was not elected")
	ErrSlots      = errors.New("the node owns slots")
	ErrReplica    = errors.New("the node is a replica")
)

// members are the nodes of the cluster, in the order they came.
func (c *Cluster) members() []*Node { return *c.nodes.Load() }

// change applies a command to the node's view of the cluster.
func (n *Node) change(do func(t *topology.Node, now int64) error) error {
	n.lock()
	defer n.unlock()
	if n.life.down.Load() {
		return ErrDown
	}
	return do(n.topo, n.now.UnixMilli())
}

func (n *Node) setSlot(slot slots.Slot, words ...string) error {
	args := [][]byte{strconv.AppendUint(nil, uint64(slot), 10)}
	for _, word := range words {
		args = append(args, []byte(word))
	}
	return n.change(func(t *topology.Node, now int64) error { return t.SetSlot(args, now) })
}

// BeginMove opens a slot for its move, at its target first.
func (c *Cluster) BeginMove(slot slots.Slot, from, to *Node) error {
	defer c.exchange()
	if err := to.setSlot(slot, "importing", from.ID()); err != nil {
		return err
	}
	return from.setSlot(slot, "migrating", to.ID())
}

// MoveKeys carries up to limit keys of a slot from one node to another, as
// MIGRATE does, and returns how many.
func (c *Cluster) MoveKeys(slot slots.Slot, from, to *Node, limit int) (moved int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if to.Down() {
		return 0, ErrDown
	}
	from.lock()
	defer from.unlock()
	switch {
	case from.life.down.Load():
		return 0, ErrDown
	case from.isReplica():
		return 0, ErrReplica // whose lock the target would need, to tell it of the keys
	}
	db := from.ks.DB(0)
	for _, name := range db.KeysInSlot(slot, limit) {
		key := []byte(name)
		if value := db.Read(key); value != nil {
			at, _ := db.ExpireAt(key)
			reply := to.Execute([][]byte{
				[]byte("RESTORE"), key, strconv.AppendInt(nil, at, 10), keyspace.Dump(value, &from.ks.Limits),
				[]byte("REPLACE"), []byte("ABSTTL"),
			})
			if reply[0] == '-' {
				return moved, fmt.Errorf("moving %q: %s", name, reply[1:len(reply)-2])
			}
		}
		from.removeMoved(0, key)
		moved++
	}
	return moved, nil
}

// removeMoved deletes a key that another node has now.
func (n *Node) removeMoved(id int, key []byte) {
	db := n.ks.DB(id)
	db.Delete(key)
	db.Modified(key)
	n.ks.Dirty++
	if n.replicating() {
		n.effects.add(id, [][]byte{[]byte("DEL"), key})
	}
}

// FinishMove gives a slot to its target in the view of all masters.
func (c *Cluster) FinishMove(slot slots.Slot, from, to *Node) error {
	defer c.exchange()
	return c.assign(slot, from, to)
}

func (c *Cluster) assign(slot slots.Slot, from, to *Node) error {
	id := to.ID()
	for _, n := range []*Node{to, from} {
		if err := n.setSlot(slot, "node", id); err != nil {
			return err
		}
	}
	return nil
}

// AbortMove closes a slot that was to be moved; its keys must be where they
// were.
func (c *Cluster) AbortMove(slot slots.Slot, from, to *Node) error {
	defer c.exchange()
	return errors.Join(from.setSlot(slot, "stable"), to.setSlot(slot, "stable"))
}

// moveBatch bounds how many keys one hold of the locks carries.
const moveBatch = 1000

// MoveSlots moves whole slots. The other nodes are told at the end.
func (c *Cluster) MoveSlots(from, to *Node, list []slots.Slot) error {
	defer c.exchange()
	fromID, toID := from.ID(), to.ID()
	for _, slot := range list {
		if err := to.setSlot(slot, "importing", fromID); err != nil {
			return err
		}
		if err := from.setSlot(slot, "migrating", toID); err != nil {
			return err
		}
		for more := true; more; {
			moved, err := c.MoveKeys(slot, from, to, moveBatch)
			if err != nil {
				return err
			}
			more = moved == moveBatch
		}
		if err := c.assign(slot, from, to); err != nil {
			return err
		}
	}
	return nil
}

// KeysInSlot is the number of keys a node holds of a slot.
func (n *Node) KeysInSlot(slot slots.Slot) int {
	n.lock()
	defer n.unlock()
	return n.ks.DB(0).CountInSlot(slot)
}

// Failover makes a replica take over from its master; mode is that of CLUSTER
// FAILOVER: "", "force" or "takeover". It returns when the cluster has settled.
//
// Masters vote about the replicas of one master once in two node timeouts, and
// a replica stands again after four. If that is why it is not elected, the
// cluster's bus lets that time pass and it tries once more.
func (c *Cluster) Failover(r *Node, mode string) error {
	for attempt := range 2 {
		if attempt > 0 {
			c.skip(4*c.nodeTimeout() + 1000)
		}
		r.awaitCopy()
		err := r.change(func(t *topology.Node, now int64) error { return t.Failover(mode, now) })
		if err != nil {
			return err
		}
		c.exchange()
		if mode == "" {
			r.awaitEffects()
		}
		c.Settle()
		if !r.IsReplica() {
			return nil
		}
	}
	return ErrNotElected
}

// skip lets so many milliseconds pass on the bus.
func (c *Cluster) skip(ms int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.network.Skip(c.clock.Now().UnixMilli(), ms)
	c.arm()
}

// nodeTimeout is the longest of all nodes, in milliseconds.
func (c *Cluster) nodeTimeout() (longest int64) {
	for _, n := range c.members() {
		n.lock()
		longest = max(longest, n.topo.Settings.NodeTimeout)
		n.unlock()
	}
	return longest
}

// awaitEffects waits until a replica has what its master, which has paused its
// clients, had written.
func (n *Node) awaitEffects() {
	n.lock()
	travel := n.life.lag.delay
	n.unlock()
	if travel > 0 {
		time.Sleep(travel + time.Millisecond)
	}
}

// ReplicaToPromote is the replica of a master that has received most, nil if
// none is running.
func (c *Cluster) ReplicaToPromote(master *Node) *Node {
	var best *Node
	most := int64(-1)
	for _, r := range c.followersOf(master) {
		r.lock()
		if offset := r.writeOffset(); offset > most {
			best, most = r, offset
		}
		r.unlock()
	}
	return best
}

// Replicate makes a node, which must be empty, a replica of a master.
func (c *Cluster) Replicate(n, master *Node) error {
	id := master.ID()
	err := n.change(func(t *topology.Node, now int64) error { return t.Replicate(id, now) })
	c.exchange()
	return err
}

// Join adds a node, which knows nobody, at an address. It meets the others
// through contact.
func (c *Cluster) Join(n, contact *Node, addr topology.Addr) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.Now().UnixMilli()
	n.lock()
	n.cluster, n.addr = c, addr
	n.topo = topology.NewNode(topology.Config{
		Addr: addr, Version: n.version, Settings: n.topologySettings(), Host: (*topologyHost)(n), Rand: n.forkRand(),
	}, now)
	n.publishID()
	n.announce()
	n.unlock()
	nodes := append(slices.Clone(c.members()), n)
	c.nodes.Store(&nodes)
	c.network.Add(n.topo, (*guard)(n))
	contact.lock()
	met := contact.topo.Addr()
	contact.unlock()
	err := n.change(func(t *topology.Node, now int64) error {
		return t.Meet(met.Host, strconv.AppendInt(nil, int64(met.Port), 10), strconv.AppendInt(nil, int64(met.BusPort), 10), now)
	})
	c.network.Run(now)
	c.arm()
	return err
}

// Expel makes all nodes forget one that owns no slots, and kills it. Its
// replicas are given to the master that has fewest.
func (c *Cluster) Expel(n *Node) error {
	if len(n.Slots()) > 0 && !n.IsReplica() {
		return ErrSlots
	}
	for _, r := range c.followersOf(n) {
		heir := c.poorest(n)
		if heir == nil {
			return fmt.Errorf("there is no other master for the node's replicas")
		}
		if err := c.Replicate(r, heir); err != nil {
			return err
		}
	}
	id := n.ID()
	n.Kill()
	c.mu.Lock()
	c.network.Remove(id)
	nodes := slices.DeleteFunc(slices.Clone(c.members()), func(m *Node) bool { return m == n })
	c.nodes.Store(&nodes)
	c.mu.Unlock()
	for _, other := range nodes {
		// Those that do not know it need not forget it.
		_ = other.change(func(t *topology.Node, now int64) error { return t.Forget(id, now) })
	}
	c.exchange()
	return nil
}

// poorest is the running master with slots, other than n, that has fewest
// replicas.
func (c *Cluster) poorest(n *Node) (best *Node) {
	fewest := 0
	for _, m := range c.members() {
		if m == n || m.Down() || m.IsReplica() || len(m.Slots()) == 0 {
			continue
		}
		if count := len(c.followersOf(m)); best == nil || count < fewest {
			best, fewest = m, count
		}
	}
	return best
}

// cuts are the ways between nodes that nothing passes, for what does not travel
// by the cluster bus.
type cuts struct {
	mu   lock.Mutex[lock.Leaf]
	ways map[[2]*Node]bool
}

func (c *cuts) between(a, b *Node) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ways[[2]*Node{a, b}] || c.ways[[2]*Node{b, a}]
}

// Partition cuts the ways between nodes of different groups. Nodes that are in
// no group form one together.
func (c *Cluster) Partition(groups ...[]*Node) {
	ids := make([][]string, len(groups))
	for i, group := range groups {
		for _, n := range group {
			ids[i] = append(ids[i], n.topologyID())
		}
	}
	c.disturb(func() { c.network.Partition(ids...) })
}

// Heal frees all ways.
func (c *Cluster) Heal() { c.disturb(c.network.Heal) }

// SetWay changes the way from one node to another.
func (c *Cluster) SetWay(from, to *Node, condition topology.Condition) {
	c.disturb(func() { c.network.SetCondition(from.topologyID(), to.topologyID(), condition) })
}

// SetAllWays changes the ways that have not been changed one by one.
func (c *Cluster) SetAllWays(condition topology.Condition) {
	c.disturb(func() { c.network.SetGeneralCondition(condition) })
}

// disturb changes the network and what depends on it.
func (c *Cluster) disturb(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	nodes := c.members()
	ways := map[[2]*Node]bool{}
	for _, a := range nodes {
		for _, b := range nodes {
			if c.network.Condition(a.topologyID(), b.topologyID()).Cut {
				ways[[2]*Node{a, b}] = true
			}
		}
	}
	c.cuts.mu.Lock()
	c.cuts.ways = ways
	c.cuts.mu.Unlock()
	c.checkLinks()
	c.network.Run(c.clock.Now().UnixMilli())
	c.arm()
}

// checkLinks stops the links between masters and replicas that cannot reach
// each other, and lets the others go on.
func (c *Cluster) checkLinks() {
	if c == nil {
		return
	}
	for _, r := range c.members() {
		r.lock()
		r.tuneLink()
		r.unlock()
	}
}

// tuneLink makes the replica's link as slow as has been arranged. The node's
// lock is held.
func (n *Node) tuneLink() {
	link, master := n.replica.link, n.replica.master
	if link == nil {
		return
	}
	link.SetLag(n.life.lag.delay.Milliseconds())
	stopped := n.life.lag.stopped || n.life.gate.isClosed() || master.life.gate.isClosed() || n.cluster.cuts.between(n, master)
	switch {
	case stopped:
		link.Pause(n.now.UnixMilli())
	case link.Paused():
		link.Resume()
		n.later(n.synchronize)
	}
}

// SetLag makes what a replica receives travel for a time, or stops it.
func (n *Node) SetLag(delay time.Duration, stopped bool) {
	n.lock()
	defer n.unlock()
	n.life.lag = lag{delay: delay, stopped: stopped}
	n.tuneLink()
}

// connect dials another server, in vain if the network is cut in between. The
// node's lock is held.
func (n *Node) connect(ctx context.Context, addr string) (net.Conn, error) {
	if n.separated(addr) {
		return nil, os.ErrDeadlineExceeded
	}
	return n.dial(ctx, addr)
}

// separated reports whether a node that this one knows at an address cannot be
// reached. The node's lock is held.
func (n *Node) separated(addr string) bool {
	if n.cluster == nil {
		return false
	}
	for _, k := range n.topo.View() {
		if fmt.Sprintf("%s:%d", k.Addr.Host, k.Addr.Port) == addr {
			other := n.cluster.byID(k.ID)
			return other != nil && n.cluster.cuts.between(n, other)
		}
	}
	return false
}
