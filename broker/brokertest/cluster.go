package brokertest

import (
	"context"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/slots"
	"github.com/redis/go-redis/v9"
)

// Cluster is the cluster under a service, in process or real. Its methods return when
// all nodes know.
type Cluster struct {
	t        testing.TB
	client   redis.UniversalClient
	emulator *emulator.Cluster
}

// Emulator is the cluster in process, with all it can do, or nil if it is real.
func (c *Cluster) Emulator() *emulator.Cluster { return c.emulator }

// Failover makes a replica of the owner of a key's slot take over without losing a
// write.
func (c *Cluster) Failover(key string) {
	c.t.Helper()
	if c.emulator != nil {
		if err := c.emulator.Failover(c.emulator.NodeForKey(key)); err != nil {
			c.t.Fatalf("failing over the master of %s: %v", key, err)
		}
		return
	}
	slot := slots.OfString(key)
	nodes := c.settled()
	master := ownerOf(nodes, slot)
	i := slices.IndexFunc(nodes, func(n node) bool { return n.master == master.id })
	if i < 0 {
		c.t.Fatalf("the master of %s has no replica", key)
	}
	var asked time.Time
	c.until("a replica took over", func() bool {
		if time.Since(asked) > 5*time.Second { // after a vote masters rest for a while
			asked = time.Now()
			_, _ = c.try(nodes[i].addr, "CLUSTER", "FAILOVER") // what came of it, the nodes tell
		}
		now, ok := c.agreed()
		return ok && ownerOf(now, slot).id == nodes[i].id
	})
}

// MoveSlot moves a key's slot with all of its keys to another master.
func (c *Cluster) MoveSlot(key string) {
	c.t.Helper()
	slot := slots.OfString(key)
	if c.emulator != nil {
		from := c.emulator.NodeForKey(key)
		to := c.emulator.NodeForSlot(elsewhere(slot, func(s slots.Slot) bool { return c.emulator.NodeForSlot(s) == from }))
		if err := c.emulator.MoveSlots(from, to, slot); err != nil {
			c.t.Fatalf("moving slot %d: %v", slot, err)
		}
		return
	}
	c.moveReal(slot)
}

// elsewhere is a slot that is not where slot is.
func elsewhere(slot slots.Slot, here func(slots.Slot) bool) slots.Slot {
	for step := range slots.Count {
		if other := (slot + slots.Slot(step)) % slots.Count; !here(other) {
			return other
		}
	}
	return slot
}

// moveReal does what redis-cli --cluster reshard does.
func (c *Cluster) moveReal(slot slots.Slot) {
	c.t.Helper()
	nodes := c.settled()
	from := ownerOf(nodes, slot)
	to := ownerOf(nodes, elsewhere(slot, func(s slots.Slot) bool { return ownerOf(nodes, s).id == from.id }))
	host, port, err := net.SplitHostPort(to.addr)
	if err != nil {
		c.t.Fatal(err)
	}
	c.do(to.addr, "CLUSTER", "SETSLOT", int(slot), "IMPORTING", from.id)
	c.do(from.addr, "CLUSTER", "SETSLOT", int(slot), "MIGRATING", to.id)
	for {
		keys, ok := c.do(from.addr, "CLUSTER", "GETKEYSINSLOT", int(slot), 100).([]any)
		if !ok || len(keys) == 0 {
			break
		}
		c.do(from.addr, append([]any{"MIGRATE", host, port, "", 0, 10000, "KEYS"}, keys...)...)
	}
	c.do(to.addr, "CLUSTER", "SETSLOT", int(slot), "NODE", to.id)
	c.do(from.addr, "CLUSTER", "SETSLOT", int(slot), "NODE", to.id)
	for _, n := range nodes {
		if n.master == "-" && n.id != from.id && n.id != to.id {
			c.do(n.addr, "CLUSTER", "SETSLOT", int(slot), "NODE", to.id)
		}
	}
	// Until all know the new owner's epoch another move could lose keys.
	c.until("all nodes know who owns the slot", func() bool {
		now, ok := c.agreed()
		return ok && ownerOf(now, slot).id == to.id
	})
}

// node is a line of CLUSTER NODES.
type node struct {
	id, addr, master string
	epoch            string
	ranges           []slots.Range
}

// settled are the nodes, once all of them see the same ones.
func (c *Cluster) settled() (nodes []node) {
	c.t.Helper()
	c.until("all nodes agree", func() (ok bool) {
		nodes, ok = c.agreed()
		return ok
	})
	return nodes
}

// agreed reports whether all nodes see the same masters, replicas, slots and epochs,
// and returns them.
func (c *Cluster) agreed() ([]node, bool) {
	text, err := c.client.ClusterNodes(context.Background()).Result()
	if err != nil {
		return nil, false
	}
	nodes := parseNodes(text)
	for _, n := range nodes {
		reply, err := c.try(n.addr, "CLUSTER", "NODES")
		text, ok := reply.(string)
		if err != nil || !ok || !slices.EqualFunc(nodes, parseNodes(text), same) {
			return nil, false
		}
	}
	return nodes, true
}

func same(a, b node) bool {
	return a.id == b.id && a.master == b.master && (a.master != "-" || a.epoch == b.epoch && slices.Equal(a.ranges, b.ranges))
}

func parseNodes(text string) []node {
	var nodes []node
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 8 || strings.Contains(f[2], "fail") || strings.Contains(f[2], "noaddr") {
			continue
		}
		addr, _, _ := strings.Cut(f[1], "@")
		n := node{id: f[0], addr: addr, master: f[3], epoch: f[6]}
		for _, text := range f[8:] {
			if r, err := slots.ParseRange(text); err == nil {
				n.ranges = append(n.ranges, r)
			}
		}
		nodes = append(nodes, n)
	}
	slices.SortFunc(nodes, func(a, b node) int { return strings.Compare(a.id, b.id) })
	return nodes
}

func ownerOf(nodes []node, slot slots.Slot) node {
	for _, n := range nodes {
		for _, r := range n.ranges {
			if r.First <= slot && slot <= r.Last {
				return n
			}
		}
	}
	return node{}
}

// do runs a command at one node, which must succeed.
func (c *Cluster) do(addr string, args ...any) any {
	c.t.Helper()
	reply, err := c.try(addr, args...)
	if err != nil {
		c.t.Fatalf("%v at %s: %v", args, addr, err)
	}
	return reply
}

func (c *Cluster) try(addr string, args ...any) (any, error) {
	bare := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1, ReadTimeout: Patience})
	defer func() { _ = bare.Close() }() // nothing is in flight
	return bare.Do(context.Background(), args...).Result()
}

func (c *Cluster) until(what string, holds func() bool) {
	c.t.Helper()
	for deadline := time.Now().Add(2 * Patience); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.t.Fatalf("it did not come true in time that %s", what)
		}
	}
}
