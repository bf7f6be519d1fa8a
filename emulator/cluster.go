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
	"strconv"
	"sync"
	"time"

	"math/rand/v2"

	"github.com/fakecluster/fakecluster/emulator/internal/pipe"
	"github.com/fakecluster/fakecluster/emulator/internal/server"
	"github.com/fakecluster/fakecluster/emulator/internal/topology"
	"github.com/fakecluster/fakecluster/slots"
)

// Cluster is a running cluster, or a number of servers on their own.
type Cluster struct {
	clock   *server.Clock
	cluster *server.Cluster // nil for standalone servers
	nodes   []*Node

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
	c := &Cluster{clock: new(server.Clock), done: make(chan struct{})}
	if err := c.listen(&o); err != nil {
		c.Close()
		return nil, err
	}
	if err := c.start(&o); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// listen opens the nodes' listeners.
func (c *Cluster) listen(o *options) error {
	for i := range o.nodes() {
		n := &Node{cluster: c, index: i}
		port := 0
		if o.port != 0 {
			port = o.port + i
		}
		addr := &net.TCPAddr{IP: net.ParseIP(o.announced()), Port: port}
		if o.tcp {
			ln, err := net.Listen("tcp", net.JoinHostPort(o.bind, strconv.Itoa(port)))
			if err != nil {
				return fmt.Errorf("emulator: listening for node %d: %w", i, err)
			}
			n.tcp = ln
			port = ln.Addr().(*net.TCPAddr).Port
			addr.Port = port
		}
		n.host, n.port = o.announced(), port
		if o.announceBase != 0 {
			n.port = o.announceBase + i
		}
		n.local = pipe.Listen(addr)
		c.nodes = append(c.nodes, n)
	}
	return nil
}

// start builds the nodes' servers, joins them and lets them answer.
func (c *Cluster) start(o *options) error {
	servers := make([]*server.Node, len(c.nodes))
	for i, n := range c.nodes {
		var err error
		n.server, err = server.NewNode(server.Options{
			Version: o.version, Cluster: o.standalone == 0, Password: o.password, Port: n.port,
			Rand: rand.New(rand.NewPCG(o.seed, uint64(i))), Clock: c.clock, Log: o.log.With("node", n.Addr()),
			OnShutdown: func() { n.server.Close() }, Dial: c.reach,
		})
		if err != nil {
			return fmt.Errorf("emulator: node %d: %w", i, err)
		}
		servers[i] = n.server
	}
	if o.standalone == 0 {
		if err := c.form(o, servers); err != nil {
			return err
		}
	}
	for _, n := range c.nodes {
		if err := n.server.Serve(n.local); err != nil {
			return err
		}
		if n.tcp == nil {
			continue
		}
		if err := n.server.Serve(n.tcp); err != nil {
			return err
		}
	}
	return nil
}

// form makes the servers a cluster.
func (c *Cluster) form(o *options, servers []*server.Node) error {
	members := topology.Layout(o.masters, o.replicas)
	for i, n := range c.nodes {
		members[i].Addr = topology.Addr{Host: n.host, Port: n.port, BusPort: n.port + server.BusPortOffset}
	}
	var err error
	c.cluster, err = server.Form(servers, members, c.clock, o.empty)
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
		for _, n := range c.nodes {
			n.close()
		}
	})
	<-c.done
	return nil
}

// Addrs returns the addresses of all nodes, masters first, as clients are told
// them.
func (c *Cluster) Addrs() []string {
	addrs := make([]string, len(c.nodes))
	for i, n := range c.nodes {
		addrs[i] = n.Addr()
	}
	return addrs
}

// Nodes returns all nodes, in the order of Addrs.
func (c *Cluster) Nodes() []*Node { return append([]*Node(nil), c.nodes...) }

// Node returns node i in the order of Addrs. It panics if there is none.
func (c *Cluster) Node(i int) *Node { return c.nodes[i] }

// NodeForKey returns the master that owns the slot of key, or nil if no master
// does.
func (c *Cluster) NodeForKey(key string) *Node {
	return c.NodeForSlot(slots.OfString(key))
}

// NodeForSlot returns the master that owns slot, or nil if no master does. Of
// servers on their own it is the first.
func (c *Cluster) NodeForSlot(slot slots.Slot) *Node {
	if c.cluster == nil {
		return c.nodes[0]
	}
	for _, n := range c.nodes {
		if n.server.Owns(slot) {
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
		if n := c.at(addr); n != nil {
			return n.local.Dial(ctx)
		}
		return nil, &net.OpError{Op: "dial", Net: network, Err: fmt.Errorf("%w: %s (the nodes are at %v)", ErrNoNode, addr, c.Addrs())}
	}
}

// at returns the node at an address, or nil.
func (c *Cluster) at(addr string) *Node {
	for _, n := range c.nodes {
		if n.Addr() == addr {
			return n
		}
	}
	return nil
}

// reach connects to a node in process, or to any other server over TCP.
func (c *Cluster) reach(ctx context.Context, addr string) (net.Conn, error) {
	if n := c.at(addr); n != nil {
		return n.local.Dial(ctx)
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", addr)
}

// Advance moves the cluster's time forward by d: keys expire and timeouts pass
// as if d had gone by. When it returns, what was due has expired.
func (c *Cluster) Advance(d time.Duration) {
	if d <= 0 {
		return
	}
	c.clock.Advance(d)
	if c.cluster != nil {
		c.cluster.ClockMoved()
	}
	for _, n := range c.nodes {
		n.server.ClockMoved()
	}
}

// Now is the cluster's time.
func (c *Cluster) Now() time.Time { return c.clock.Now() }
