package brokertest

import (
	"context"
	"testing"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/shim/clustertest"
	"github.com/fakecluster/fakecluster/slots"
)

// Cluster is the cluster under a service, in process or real. Its methods return when
// all nodes know, and must not run at the same time: see clustertest for why.
type Cluster struct {
	t        testing.TB
	emulator *emulator.Cluster
	nodes    *clustertest.Cluster
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
	ctx, cancel := context.WithTimeout(context.Background(), 2*Patience)
	defer cancel()
	owner, err := c.nodes.Owner(ctx, slots.OfString(key))
	if err == nil {
		err = c.nodes.Failover(ctx, owner.Addr)
	}
	if err != nil {
		c.t.Fatalf("failing over the master of %s: %v", key, err)
	}
}

// MoveSlot moves a key's slot with all of its keys to another master, the one that it
// left longest ago, and not before it was away from there for clustertest.Rest.
func (c *Cluster) MoveSlot(key string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*Patience)
	defer cancel()
	slot := slots.OfString(key)
	to, err := c.nodes.Elsewhere(ctx, slot)
	if err == nil {
		err = c.nodes.Move(ctx, slot, to)
	}
	if err != nil {
		c.t.Fatalf("moving slot %d: %v", slot, err)
	}
}
