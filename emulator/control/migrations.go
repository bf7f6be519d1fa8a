package control

import (
	"fmt"
	"math"
	"strings"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/slots"
)

// move moves whole slots, whoever owns them.
func move(c *call) (string, error) {
	if err := c.wants(2, 2); err != nil {
		return "", err
	}
	to, err := c.node(c.args[1])
	if err != nil {
		return "", err
	}
	from := map[*emulator.Node][]slots.Slot{}
	for _, part := range strings.Split(c.args[0], ",") {
		r, err := slots.ParseRange(part)
		if err != nil {
			return "", usagef("%v", err)
		}
		for slot := int(r.First); slot <= int(r.Last); slot++ {
			n, err := owner(c.cluster.NodeForSlot(slots.Slot(slot)), fmt.Sprint("slot ", slot))
			if err != nil {
				return "", err
			}
			if n != to {
				from[n] = append(from[n], slots.Slot(slot))
			}
		}
	}
	for _, n := range c.cluster.Nodes() { // in one order always
		if err := c.cluster.MoveSlots(n, to, from[n]...); err != nil {
			return "", err
		}
	}
	return "", nil
}

func (c *call) slot() (slots.Slot, error) {
	if len(c.args) == 0 {
		return 0, usagef("no slot")
	}
	n, err := count(c.args[0], 0, slots.Count-1)
	return slots.Slot(n), err
}

func migrate(c *call) (string, error) {
	if err := c.wants(2, 2); err != nil {
		return "", err
	}
	slot, err := c.slot()
	if err != nil {
		return "", err
	}
	to, err := c.node(c.args[1])
	if err != nil {
		return "", err
	}
	m, err := c.cluster.BeginMigration(slot, to)
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.migrations[slot] = m
	return "", nil
}

// migration finds the one that the first word names; ended forgets it.
func (c *call) migration(ended bool) (*emulator.Migration, error) {
	slot, err := c.slot()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.migrations[slot]
	if m == nil {
		return nil, fmt.Errorf("slot %d is not being moved by a migrate", slot)
	}
	if ended {
		delete(c.migrations, slot)
	}
	return m, nil
}

func migrateKeys(c *call) (string, error) {
	if err := c.wants(1, 2); err != nil {
		return "", err
	}
	m, err := c.migration(false)
	if err != nil {
		return "", err
	}
	n := -1
	if len(c.args) == 2 {
		if n, err = count(c.args[1], 0, math.MaxInt32); err != nil {
			return "", err
		}
	}
	moved, err := m.MoveKeys(n)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("moved %d, %d left", moved, m.Left()), nil
}

func migrateFinish(c *call) (string, error) {
	if err := c.wants(1, 1); err != nil {
		return "", err
	}
	m, err := c.migration(true)
	if err != nil {
		return "", err
	}
	return "", m.Finish()
}

func migrateAbort(c *call) (string, error) {
	if err := c.wants(1, 1); err != nil {
		return "", err
	}
	m, err := c.migration(true)
	if err != nil {
		return "", err
	}
	return "", m.Abort()
}
