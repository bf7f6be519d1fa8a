// Package emulator is a whole Redis Cluster in one process: masters and
// replicas that own hash slots, redirect, migrate and run Lua as real nodes do,
// started in well under a millisecond.
//
// In a test, one line is enough:
//
//	c := emulator.RunT(t)
//	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs(), Dialer: c.Dialer()})
//
// Nodes are reached in process through Cluster.Dialer, without ports, or over
// TCP with the TCP option. Time is time.Now plus what Cluster.Advance added, so
// everything works in a testing/synctest bubble, where an hour of TTL takes no
// time.
package emulator

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/lock"
	"github.com/fakecluster/fakecluster/emulator/internal/server"
	"github.com/fakecluster/fakecluster/slots"
)

// Cluster is a running cluster, or a number of servers on their own.
type Cluster struct {
	clock   *server.Clock
	cluster *server.Cluster // nil for standalone servers
	harness *server.Harness
	options options

	mu    lock.Mutex[lock.Fixture] // held while nodes come and go
	first []*Node                  // those the cluster began with
	gone  chan struct{}            // closed when those that came later and were removed are
	made  int                      // nodes that ever were, for their names
	nodes atomic.Pointer[[]*Node]

	closing sync.Once
	done    chan struct{}
}

// Start starts a cluster: three masters, in process, unless options say
// otherwise. It returns when the nodes answer and agree on the topology. Close
// must be called to stop it.
func Start(opts ...Option) (*Cluster, error) {
	o := defaults()
	for _, opt := range opts {
		if err := opt(&o); err != nil {
			return nil, err
		}
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	c := &Cluster{
		clock: new(server.Clock), harness: server.NewHarness(o.seed), options: o, done: make(chan struct{}),
		gone: make(chan struct{}),
	}
	close(c.gone)
	c.nodes.Store(new([]*Node))
	if err := c.start(); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// start opens the nodes' listeners, joins their servers and lets them answer.
func (c *Cluster) start() error {
	o := &c.options
	for range o.nodes() {
		n, err := c.newNode()
		if err != nil {
			return err
		}
		c.first = append(c.first, n)
	}
	nodes := slices.Clone(c.first)
	c.nodes.Store(&nodes)
	if o.standalone == 0 {
		if err := c.form(); err != nil {
			return err
		}
	}
	for _, n := range nodes {
		if err := n.serve(); err != nil {
			return err
		}
	}
	return nil
}

// form makes the servers a cluster.
func (c *Cluster) form() error {
	members := c.options.members()
	servers := make([]*server.Node, len(c.first))
	for i, n := range c.first {
		servers[i] = n.server
		members[i].Addr = n.topologyAddr()
	}
	var err error
	c.cluster, err = server.Form(servers, members, c.clock, c.options.empty)
	return err
}

// Close stops the cluster and waits until all its goroutines have ended. It may
// be called more than once.
func (c *Cluster) Close() error {
	c.closing.Do(func() {
		defer close(c.done)
		if c.cluster != nil {
			c.cluster.Close()
		}
		nodes, gone := c.everyNode()
		for _, n := range nodes {
			n.close()
		}
		<-gone
	})
	<-c.done
	return nil
}

// Addrs returns the addresses of all nodes, masters first, as clients are told
// them.
func (c *Cluster) Addrs() []string {
	nodes := c.Nodes()
	addrs := make([]string, len(nodes))
	for i, n := range nodes {
		addrs[i] = n.Addr()
	}
	return addrs
}

// Nodes returns all nodes, in the order of Addrs: those that are down too, but
// not those that were removed.
func (c *Cluster) Nodes() []*Node { return slices.Clone(*c.nodes.Load()) }

// Node returns node i in the order of Addrs. It panics if there is none.
func (c *Cluster) Node(i int) *Node { return (*c.nodes.Load())[i] }

// NodeForKey returns the master that owns the slot of key, or nil if no master
// does.
func (c *Cluster) NodeForKey(key string) *Node {
	return c.NodeForSlot(slots.OfString(key))
}

// NodeForSlot returns the master that owns slot, or nil if no master does. Of
// servers on their own it is the first.
func (c *Cluster) NodeForSlot(slot slots.Slot) *Node {
	if c.cluster == nil {
		return c.Node(0)
	}
	for _, n := range c.Nodes() {
		if !n.server.Down() && n.server.Owns(slot) {
			return n
		}
	}
	return nil
}

// ErrNoNode is wrapped by the error of dialling an address where no node of the
// cluster is.
var ErrNoNode = errors.New("no node of this cluster is there")

// Dialer returns a function that connects to the nodes in process, by the
// addresses that Addrs and the cluster itself tell. It fits the Dialer of
// go-redis and rueidis and the DialContext of redigo.
func (c *Cluster) Dialer() func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		if n := c.at(addr, c.options.nat); n != nil {
			return n.dial(ctx)
		}
		return nil, &net.OpError{Op: "dial", Net: network, Err: fmt.Errorf("%w: %s (the nodes are at %v)", ErrNoNode, addr, c.Addrs())}
	}
}

// at returns the node at an address, or nil. Behind NAT only those outside it
// know the addresses that nodes announce.
func (c *Cluster) at(addr string, nat bool) *Node {
	for _, n := range c.Nodes() {
		if n.Addr() == addr || !nat && n.announces(addr) {
			return n
		}
	}
	return nil
}

// reach connects to a node in process, or to any other server over TCP.
func (c *Cluster) reach(ctx context.Context, addr string) (net.Conn, error) {
	if n := c.at(addr, false); n != nil {
		return n.dial(ctx)
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", addr)
}

// Advance moves the cluster's time forward by d: keys expire, timeouts pass and
// scripts become slow (busy-reply-threshold) as if d had gone by. When it
// returns, what was due has expired.
func (c *Cluster) Advance(d time.Duration) {
	if d <= 0 {
		return
	}
	c.clock.Advance(d)
	for _, n := range c.Nodes() {
		n.server.ScriptClockMoved()
	}
	if c.cluster != nil {
		c.cluster.ClockMoved()
	}
	for _, n := range c.Nodes() {
		n.server.ClockMoved()
	}
}

// Now is the cluster's time.
func (c *Cluster) Now() time.Time { return c.clock.Now() }
