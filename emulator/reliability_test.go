package emulator_test

import (
	"errors"
	"testing"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/slots"
)

// A master that gave its last slot away is the new owner's replica. Keys cannot
// be carried from it any more: both nodes would wait for each other.
func TestNoKeysAreCarriedFromAReplica(t *testing.T) {
	c := emulator.RunT(t, emulator.Masters(2))
	from, to := c.Node(0), c.Node(1)
	last := from.Slots()[0].First
	var others []slots.Slot
	for slot := last + 1; slot <= from.Slots()[0].Last; slot++ {
		others = append(others, slot)
	}
	if err := c.MoveSlots(from, to, others...); err != nil {
		t.Fatal(err)
	}
	key := "{" + slots.TagFor(last) + "}"
	if err := from.Set(key, "1"); err != nil {
		t.Fatal(err)
	}
	m, err := c.BeginMigration(last, to)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Finish(); err != nil {
		t.Fatal(err)
	}
	if !c.Settle() || from.Master() != to {
		t.Fatalf("%v is a %s of %v, want a replica of %v", from, from.Role(), from.Master(), to)
	}
	// Somebody waits at the replica, so its master hurries to tell what it did.
	w := dial(t, c, 0)
	w.send("READONLY\r\nMONITOR\r\n")
	w.expect("+OK", "+OK")
	if _, err := m.MoveKeys(-1); !errors.Is(err, emulator.ErrReplica) {
		t.Errorf("carrying keys from a replica: %v, want ErrReplica", err)
	}
	if got, ok := to.Get(key); !ok || got != "1" {
		t.Errorf("the new owner has %q, %v", got, ok)
	}
}
