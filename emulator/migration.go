package emulator

import (
	"fmt"
	"math"

	"github.com/fakecluster/fakecluster/slots"
)

// MoveSlots moves slots with their keys from one master to another, as
// redis-cli --cluster reshard does, and returns when all nodes know.
func (c *Cluster) MoveSlots(from, to *Node, list ...slots.Slot) error {
	if err := c.check(from, to); err != nil {
		return err
	}
	return failed("move slots", c.cluster.MoveSlots(from.server, to.server, list))
}

// Migration is a slot on its way from one master to another: both answer with
// ASK and TRYAGAIN as they do in the middle of a resharding.
type Migration struct {
	cluster  *Cluster
	slot     slots.Slot
	from, to *Node
}

// BeginMigration opens slot for its move from its owner to another master: the
// one is migrating it, the other importing.
func (c *Cluster) BeginMigration(slot slots.Slot, to *Node) (*Migration, error) {
	if err := c.check(to); err != nil {
		return nil, err
	}
	from := c.NodeForSlot(slot)
	switch from {
	case nil:
		return nil, fmt.Errorf("emulator: slot %d has no owner that runs", slot)
	case to:
		return nil, fmt.Errorf("emulator: %v owns slot %d already", to, slot)
	}
	if err := c.cluster.BeginMove(slot, from.server, to.server); err != nil {
		return nil, failed("begin migration", err)
	}
	return &Migration{c, slot, from, to}, nil
}

// Slot is the slot that moves.
func (m *Migration) Slot() slots.Slot { return m.slot }

// From is the master that owns the slot until Finish.
func (m *Migration) From() *Node { return m.from }

// To is the master that the slot moves to.
func (m *Migration) To() *Node { return m.to }

// MoveKeys carries up to n keys of the slot over, all that are left if n is
// negative, and returns how many.
func (m *Migration) MoveKeys(n int) (moved int, err error) {
	if n < 0 {
		n = math.MaxInt32
	}
	moved, err = m.cluster.cluster.MoveKeys(m.slot, m.from.server, m.to.server, n)
	return moved, failed("move keys", err)
}

// Left is how many keys of the slot have not been carried over.
func (m *Migration) Left() int { return m.from.server.KeysInSlot(m.slot) }

// Finish carries over what is left and gives the slot to its new owner.
func (m *Migration) Finish() error {
	if _, err := m.MoveKeys(-1); err != nil {
		return err
	}
	return failed("finish migration", m.cluster.cluster.FinishMove(m.slot, m.from.server, m.to.server))
}

// Abort brings the keys back and closes the slot: everything is as before.
func (m *Migration) Abort() error {
	if _, err := m.cluster.cluster.MoveKeys(m.slot, m.to.server, m.from.server, math.MaxInt32); err != nil {
		return failed("abort migration", err)
	}
	return failed("abort migration", m.cluster.cluster.AbortMove(m.slot, m.from.server, m.to.server))
}
