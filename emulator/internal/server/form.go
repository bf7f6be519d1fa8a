package server

import (
	"math/rand/v2"
	"slices"

	"github.com/fakecluster/fakecluster/emulator/internal/topology"
)

// Form joins servers to a settled cluster of the shape that members describe,
// or, when apart is set, to nodes that could meet but have not.
func Form(servers []*Node, members []topology.Member, clock *Clock, apart bool) (*Cluster, error) {
	c := &Cluster{clock: clock, origin: origin{nodes: servers, members: members, apart: apart}}
	nodes := slices.Clone(servers)
	c.nodes.Store(&nodes)
	for i, n := range servers {
		n.cluster, n.addr = c, members[i].Addr
	}
	if err := c.form(); err != nil {
		return nil, err
	}
	c.connect()
	return c, nil
}

// form gives the nodes the views of the cluster they began with.
func (c *Cluster) form() error {
	now := c.clock.Now().UnixMilli()
	servers, members := c.origin.nodes, slices.Clone(c.origin.members)
	// The network's own source: a node's is used under that node's lock.
	c.network = topology.NewNetwork(servers[0].forkRand(), now)
	for i, n := range servers {
		members[i].Config.Version, members[i].Rand = n.version, n.forkRand()
		members[i].Settings, members[i].Host = n.topologySettings(), (*topologyHost)(n)
	}
	if c.origin.apart {
		for i, n := range servers {
			n.topo = topology.NewNode(members[i].Config, now)
		}
	} else {
		formed, err := topology.Form(members, now)
		if err != nil {
			return err
		}
		for i, n := range servers {
			n.topo = formed[i]
		}
	}
	for _, n := range servers {
		n.publishID()
		n.seen = n.topo.Changes()
	}
	for _, n := range servers {
		if master := n.topo.Master(); master != "" {
			n.follow(master)
			n.startEmpty()
		}
	}
	return nil
}

// forkRand returns a source of randomness that depends on the node's seed only:
// how often the topology draws, which depends on time, must not change what
// SPOP picks. The node's lock is held.
func (n *Node) forkRand() *rand.Rand {
	return rand.New(rand.NewPCG(n.rand.Uint64(), n.rand.Uint64()))
}

// connect puts the nodes on the network.
func (c *Cluster) connect() {
	for _, n := range c.origin.nodes {
		c.network.Add(n.topo, (*guard)(n))
	}
}

// publishID tells all who look without the node's lock what its id is.
func (n *Node) publishID() { n.id.Store(n.topo.ID()) }

// topologyID is the node's id in the cluster. No lock is needed.
func (n *Node) topologyID() string {
	id, _ := n.id.Load().(string)
	return id
}

// announce makes the node tell the others the address that its configuration
// says, or the one it listens at.
func (n *Node) announce() {
	addr := n.addr
	if host := n.config.String("cluster-announce-ip"); host != "" {
		addr.Host = host
	}
	if port := n.config.Int("cluster-announce-port"); port != 0 {
		addr.Port = int(port)
	}
	if port := n.config.Int("cluster-announce-bus-port"); port != 0 {
		addr.BusPort = int(port)
	}
	if n.config.Has("cluster-announce-hostname") {
		if name := n.config.String("cluster-announce-hostname"); name != "" {
			addr.Hostname = name
		}
	}
	if addr != n.topo.Addr() {
		n.topo.SetAddr(addr)
	}
}

// Move changes the address of a node that is down.
func (n *Node) Move(addr topology.Addr) {
	n.lock()
	defer n.unlock()
	n.addr, n.port = addr, addr.Port
	if n.topo != nil {
		n.announce()
	}
}
