package keyspace

import (
	"slices"

	"github.com/fakecluster/fakecluster/slots"
)

// slotList links the keys of one slot through their entries, the newest first,
// the order in which Redis 7.0 answers CLUSTER GETKEYSINSLOT.
type slotList struct {
	first *Key
	count int
}

func (l *slotList) push(k *Key) {
	k.Value.slotNext = l.first
	if l.first != nil {
		l.first.Value.slotPrev = k
	}
	l.first = k
	l.count++
}

func (l *slotList) unlink(k *Key) {
	prev, next := k.Value.slotPrev, k.Value.slotNext
	if prev != nil {
		prev.Value.slotNext = next
	} else {
		l.first = next
	}
	if next != nil {
		next.Value.slotPrev = prev
	}
	k.Value.slotPrev, k.Value.slotNext = nil, nil
	l.count--
}

func (db *DB) slot(slot slots.Slot) *slotList {
	if db.bySlot == nil {
		db.bySlot = new([slots.Count]slotList)
	}
	return &db.bySlot[slot]
}

// CountInSlot is the number of keys in a slot, expired ones that are still
// there included. The keyspace must have been made with Options.Slots.
func (db *DB) CountInSlot(slot slots.Slot) int {
	if db.bySlot == nil {
		return 0
	}
	return db.bySlot[slot].count
}

// KeysInSlot returns up to limit keys of a slot, the newest first or, before
// 7.0, in the order of their bytes.
func (db *DB) KeysInSlot(slot slots.Slot, limit int) []string {
	if db.bySlot == nil {
		return nil
	}
	l := &db.bySlot[slot]
	sorted, most := !db.keyspace.Limits.Version.AtLeast(7, 0), max(0, min(limit, l.count))
	keys := make([]string, 0, most)
	for k := l.first; k != nil && (sorted || len(keys) < most); k = k.Value.slotNext {
		keys = append(keys, k.key)
	}
	if sorted {
		slices.Sort(keys)
	}
	return keys[:most]
}

// DeleteSlot removes every key of a slot, as a node does with a slot it finds
// it has lost, and returns how many.
func (db *DB) DeleteSlot(slot slots.Slot) int {
	if db.bySlot == nil {
		return 0
	}
	l, n := &db.bySlot[slot], 0
	for l.first != nil {
		k := l.first
		db.remove(k)
		db.Modified([]byte(k.key))
		n++
	}
	return n
}
