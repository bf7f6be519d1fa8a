package redisserver

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// slotCount is the number of hash slots of a cluster.
const slotCount = 16384

// Cluster is a running Redis Cluster of real processes.
type Cluster struct {
	// Nodes holds the masters first, in the order of their slots, then the
	// replicas: replica r of master m is Nodes[masters*(1+r)+m].
	Nodes []*Server
	// IDs holds the node id of each of Nodes.
	IDs []string
}

// Addrs returns the host:port of every node, in the order of Nodes.
func (c *Cluster) Addrs() []string {
	addrs := make([]string, len(c.Nodes))
	for i, node := range c.Nodes {
		addrs[i] = node.Addr()
	}
	return addrs
}

// StartCluster runs a cluster with the slots spread over masters as redis-cli
// --cluster create spreads them, and returns once every node reports
// cluster_state:ok and every replica is in sync. args are further options of
// every server.
func StartCluster(tb testing.TB, masters, replicas int, args ...string) *Cluster {
	tb.Helper()
	c := &Cluster{}
	for range masters * (1 + replicas) {
		c.Nodes = append(c.Nodes, StartEmptyNode(tb, args...))
	}
	if err := c.form(masters); err != nil {
		tb.Fatalf("form a cluster of %d masters with %d replicas each: %v", masters, replicas, err)
	}
	return c
}

// StartEmptyNode runs one server in cluster mode that has met nobody and owns
// no slot.
func StartEmptyNode(tb testing.TB, args ...string) *Server {
	tb.Helper()
	options := []string{
		"--cluster-enabled", "yes", "--cluster-node-timeout", "15000",
		"--repl-diskless-sync-delay", "0",
	}
	return Start(tb, append(options, args...)...)
}

func (c *Cluster) form(masters int) error {
	for i, node := range c.Nodes {
		id, err := node.Do("CLUSTER", "MYID")
		if err != nil {
			return err
		}
		c.IDs = append(c.IDs, id)
		if _, err := node.Do("CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1)); err != nil {
			return err
		}
		if i < masters {
			first, last := SlotRange(i, masters)
			if _, err := node.Do("CLUSTER", "ADDSLOTSRANGE", strconv.Itoa(first), strconv.Itoa(last)); err != nil {
				return err
			}
		}
	}
	if err := c.meet(); err != nil {
		return err
	}
	for i := masters; i < len(c.Nodes); i++ {
		if _, err := c.Nodes[i].Do("CLUSTER", "REPLICATE", c.IDs[i%masters]); err != nil {
			return err
		}
	}
	return c.waitReady(masters)
}

// meet introduces every node to every other: waiting for gossip to do it
// takes seconds.
func (c *Cluster) meet() error {
	for i, node := range c.Nodes {
		for _, other := range c.Nodes[:i] {
			bus, err := other.Do("CLUSTER", "NODES")
			if err != nil {
				return err
			}
			busPort, err := ownBusPort(bus)
			if err != nil {
				return err
			}
			if _, err := node.Do("CLUSTER", "MEET", "127.0.0.1", strconv.Itoa(other.Port), busPort); err != nil {
				return err
			}
		}
	}
	return poll(func() error {
		for _, node := range c.Nodes {
			text, err := node.Do("CLUSTER", "INFO")
			if err != nil {
				return err
			}
			if want := fmt.Sprintf("cluster_known_nodes:%d\r\n", len(c.Nodes)); !strings.Contains(text, want) {
				return fmt.Errorf("%s does not know every node yet", node.Addr())
			}
			text, err = node.Do("CLUSTER", "NODES")
			if err != nil {
				return err
			}
			if strings.Contains(text, "handshake") || strings.Contains(text, "disconnected") {
				return fmt.Errorf("%s still shakes hands", node.Addr())
			}
		}
		return nil
	})
}

// ownBusPort reads the bus port from the line a node prints about itself:
// "id 127.0.0.1:port@bus myself,master ...".
func ownBusPort(clusterNodes string) (string, error) {
	for line := range strings.Lines(clusterNodes) {
		if strings.Contains(line, "myself") {
			_, rest, found := strings.Cut(line, "@")
			port, _, _ := strings.Cut(rest, " ")
			port, _, _ = strings.Cut(port, ",")
			if found {
				return port, nil
			}
		}
	}
	return "", fmt.Errorf("no bus port in %q", clusterNodes)
}

func (c *Cluster) waitReady(masters int) error {
	return poll(func() error {
		for i, node := range c.Nodes {
			if err := node.Alive(); err != nil {
				return permanent{err}
			}
			text, err := node.Do("CLUSTER", "INFO")
			if err != nil {
				return err
			}
			if !strings.Contains(text, "cluster_state:ok") {
				return fmt.Errorf("%s is not ok:\n%s", node.Addr(), text)
			}
			text, err = node.Do("CLUSTER", "NODES")
			if err != nil {
				return err
			}
			if got := strings.Count(text, "slave "); got != len(c.Nodes)-masters {
				return fmt.Errorf("%s knows %d replicas", node.Addr(), got)
			}
			text, err = node.Do("INFO", "replication")
			if err != nil {
				return err
			}
			if i >= masters && !strings.Contains(text, "master_link_status:up") {
				return fmt.Errorf("replica %s is not in sync", node.Addr())
			}
		}
		return nil
	})
}

// SlotRange returns the first and last slot of a master, as redis-cli spreads
// them.
func SlotRange(master, masters int) (first, last int) {
	perNode := float64(slotCount) / float64(masters)
	edge := func(i int) int { return int(float64(i)*perNode + 0.5) }
	if master == masters-1 {
		return edge(master), slotCount - 1
	}
	return edge(master), edge(master+1) - 1
}
