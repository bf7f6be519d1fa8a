package emulator

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/server"
	"github.com/fakecluster/fakecluster/emulator/internal/topology"
)

// The reasons why a cluster does not do what it is told.
var (
	// ErrStandalone says that servers on their own have no topology.
	ErrStandalone = errors.New("servers on their own are no cluster")
	// ErrForeign says that a node is of another cluster, or was removed.
	ErrForeign = errors.New("the node is not of this cluster")
	// ErrDown says that a node was killed and not restarted.
	ErrDown = server.ErrDown
	// ErrNotElected says that a replica tried to take over and could not.
	ErrNotElected = server.ErrNotElected
	// ErrReplica says that keys can be carried from masters only.
	ErrReplica = server.ErrReplica
	// ErrOwnsSlots says that a node that owns slots cannot be removed.
	ErrOwnsSlots = server.ErrSlots
)

// check reports what is wrong with steering these nodes.
func (c *Cluster) check(nodes ...*Node) error {
	if c.cluster == nil {
		return fmt.Errorf("emulator: %w", ErrStandalone)
	}
	all := *c.nodes.Load()
	for _, n := range nodes {
		if !slices.Contains(all, n) {
			return fmt.Errorf("emulator: %v: %w", n, ErrForeign)
		}
	}
	return nil
}

func failed(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("emulator: %s: %w", what, err)
}

// Kill ends a node as a crash does: its connections are reset, new ones are
// refused, its data is gone. The others notice when the node timeout has
// passed; see Settle.
func (c *Cluster) Kill(n *Node) { n.kill() }

func (n *Node) kill() { n.server.Kill() }

// Down reports whether the node was killed and not restarted.
func (n *Node) Down() bool { return n.server.Down() }

// RestartOption says how a node is restarted.
type RestartOption func(*restart)

type restart struct {
	loading time.Duration
	port    int
	moved   bool
}

// Loading makes the restarted node answer LOADING for a time.
func Loading(d time.Duration) RestartOption { return func(r *restart) { r.loading = d } }

// AtPort makes the node come back at another port; 0 is a free one over TCP.
func AtPort(port int) RestartOption { return func(r *restart) { r.port, r.moved = port, true } }

// Restart starts a node that was killed, with empty memory and what it knew of
// the cluster; a replica copies its master's data again. One that was not
// killed is killed first.
func (c *Cluster) Restart(n *Node, opts ...RestartOption) error {
	r := restart{port: n.place.Load().port}
	for _, opt := range opts {
		opt(&r)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	n.kill()
	if err := n.reopen(r.port); err != nil {
		return err
	}
	if r.moved {
		n.server.Move(n.topologyAddr())
	}
	if err := n.server.Start(r.loading); err != nil {
		return failed("restart", err)
	}
	return n.serve()
}

// Pause freezes a node: it accepts connections and answers nothing.
func (c *Cluster) Pause(n *Node) { n.server.Freeze() }

// Resume lets a paused node go on.
func (c *Cluster) Resume(n *Node) { n.server.Thaw() }

// Failover makes a replica take over from its master without losing a write, as
// CLUSTER FAILOVER does, or the replica of a master that has received most. It
// returns when the cluster has settled.
func (c *Cluster) Failover(n *Node) error { return c.failover(n, "") }

// ForceFailover does so without the master's help, which may be down: CLUSTER
// FAILOVER FORCE.
func (c *Cluster) ForceFailover(n *Node) error { return c.failover(n, "force") }

// Takeover does so without the votes of the other masters either: CLUSTER
// FAILOVER TAKEOVER.
func (c *Cluster) Takeover(n *Node) error { return c.failover(n, "takeover") }

func (c *Cluster) failover(n *Node, mode string) error {
	if err := c.check(n); err != nil {
		return err
	}
	replica := n.server
	if !replica.IsReplica() {
		if replica = c.cluster.ReplicaToPromote(n.server); replica == nil {
			return fmt.Errorf("emulator: failover: master %v has no running replica", n)
		}
	}
	return failed("failover", c.cluster.Failover(replica, mode))
}

// Settle lets the time of the cluster's bus run until nothing changes any more:
// failures are noticed, elections held. The clock that clients see, and by
// which keys expire, does not move. It reports whether all nodes that run agree
// then; they cannot while some are cut off.
func (c *Cluster) Settle() bool { return c.cluster == nil || c.cluster.Settle() }

// AddMaster starts a master without slots and lets it meet the others.
func (c *Cluster) AddMaster() (*Node, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.add()
}

// AddReplica starts a replica of a master.
func (c *Cluster) AddReplica(master *Node) (*Node, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.check(master); err != nil {
		return nil, err
	}
	n, err := c.add()
	if err != nil {
		return nil, err
	}
	if err := c.cluster.Replicate(n.server, master.server); err != nil {
		return nil, failed("replicate", err)
	}
	c.cluster.Settle()
	return n, nil
}

// add starts a node that knows the others. c.mu is held.
func (c *Cluster) add() (*Node, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	contact := c.running()
	if contact == nil {
		return nil, fmt.Errorf("emulator: nobody is there to meet: %w", ErrDown)
	}
	n, err := c.newNode()
	if err != nil {
		return nil, err
	}
	nodes := append(c.Nodes(), n)
	n.index.Store(int64(len(nodes) - 1))
	c.nodes.Store(&nodes)
	if err := c.cluster.Join(n.server, contact.server, n.topologyAddr()); err != nil {
		return nil, failed("meet", err)
	}
	if err := n.serve(); err != nil {
		return nil, err
	}
	c.cluster.Settle()
	return n, nil
}

func (c *Cluster) running() *Node {
	for _, n := range c.Nodes() {
		if !n.Down() {
			return n
		}
	}
	return nil
}

// Remove makes the others forget a node and ends it, as redis-cli --cluster
// del-node does. A master must have given its slots away; replicas it has are
// given to others.
func (c *Cluster) Remove(n *Node) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.check(n); err != nil {
		return err
	}
	return c.remove(n)
}

func (c *Cluster) remove(n *Node) error {
	if err := c.cluster.Expel(n.server); err != nil {
		return failed("remove", err)
	}
	c.drop(n)
	return nil
}

// drop takes a node off the list. One that is not to come back is closed, which
// may have to wait for the client that said so.
func (c *Cluster) drop(n *Node) {
	nodes := slices.DeleteFunc(c.Nodes(), func(other *Node) bool { return other == n })
	for i, other := range nodes {
		other.index.Store(int64(i))
	}
	c.nodes.Store(&nodes)
	if !slices.Contains(c.first, n) {
		before, closed := c.gone, make(chan struct{})
		c.gone = closed
		go func() {
			defer close(closed)
			n.close()
			<-before
		}()
	}
}

// Way is the state of the way from one node to another, for the cluster's bus.
// Over a way that is cut nothing else passes either: no replication, no
// messages of publishers, no keys of MIGRATE.
type Way struct {
	Cut   bool
	Delay time.Duration
	Loss  float64 // probability, below 1, that a message must be sent again
}

func (w Way) condition() topology.Condition {
	return topology.Condition{Cut: w.Cut, Delay: w.Delay.Milliseconds(), Loss: w.Loss}
}

// Partition cuts the ways between nodes of different groups; nodes in no group
// form one together. It only cuts: see Settle.
func (c *Cluster) Partition(groups ...[]*Node) error {
	servers := make([][]*server.Node, len(groups))
	for i, group := range groups {
		if err := c.check(group...); err != nil {
			return err
		}
		for _, n := range group {
			servers[i] = append(servers[i], n.server)
		}
	}
	if err := c.check(); err != nil {
		return err
	}
	c.cluster.Partition(servers...)
	return nil
}

// SetWay changes the way from one node to another, in that direction only.
func (c *Cluster) SetWay(from, to *Node, w Way) error {
	if err := c.check(from, to); err != nil {
		return err
	}
	c.cluster.SetWay(from.server, to.server, w.condition())
	return nil
}

// SetAllWays changes all ways that SetWay and Partition have not changed.
func (c *Cluster) SetAllWays(w Way) error {
	if err := c.check(); err != nil {
		return err
	}
	c.cluster.SetAllWays(w.condition())
	return nil
}

// Heal ends everything that Partition, SetWay and SetAllWays did. What had to
// wait arrives; with Settle the nodes agree again.
func (c *Cluster) Heal() {
	if c.cluster != nil {
		c.cluster.Heal()
	}
}

// SetLag makes everything a replica receives from its master, whichever that
// is, travel for a time; 0 ends it. Fractions of a millisecond do not count.
func (c *Cluster) SetLag(replica *Node, lag time.Duration) { replica.server.SetLag(lag, false) }

// PauseReplication keeps everything its master does from now on from a replica;
// what it has received stays. SetLag ends it.
func (c *Cluster) PauseReplication(replica *Node) { replica.server.SetLag(0, true) }

// Reset makes the cluster what it was when it started: topology, data, scripts,
// configuration, users, faults, the trace and time. Nodes that were added are
// ended, those that were killed or removed are back. Connections of the others
// stay.
func (c *Cluster) Reset() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.harness.Reset()
	for _, n := range c.Nodes() {
		if !slices.Contains(c.first, n) {
			n.kill()
			c.drop(n)
		}
	}
	silent := slices.DeleteFunc(slices.Clone(c.first), func(n *Node) bool { return !n.Down() })
	for _, n := range silent {
		if err := n.reopen(n.home); err != nil {
			return err
		}
	}
	if err := c.resetServers(); err != nil {
		return failed("reset", err)
	}
	nodes := slices.Clone(c.first)
	for i, n := range nodes {
		n.index.Store(int64(i))
	}
	c.nodes.Store(&nodes)
	c.made = len(nodes)
	for _, n := range silent {
		if err := n.serve(); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) resetServers() error {
	if c.cluster != nil {
		return c.cluster.Reset()
	}
	for _, n := range c.first {
		if err := n.server.Reset(); err != nil {
			return err
		}
	}
	return nil
}

// Paused reports whether the node was paused and not resumed.
func (n *Node) Paused() bool { return n.server.Frozen() }
