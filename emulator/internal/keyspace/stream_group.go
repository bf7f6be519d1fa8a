package keyspace

import (
	"encoding/binary"
	"iter"
	"maps"
	"slices"

	"github.com/tidwall/btree"
)

// Group is a consumer group: how far it has read, and which entries were
// delivered to whom and not acknowledged yet.
type Group struct {
	Name string
	// LastID is the ID of the last entry delivered.
	LastID StreamID
	// EntriesRead is how many entries of the stream lie up to LastID, or
	// UnknownEntriesRead.
	EntriesRead int64

	pending   pendingEntries
	consumers map[string]*Consumer
}

// UnknownEntriesRead is Group.EntriesRead when it cannot be told.
const UnknownEntriesRead = -1

// Consumer is a member of a group.
type Consumer struct {
	Name string
	// SeenTime is when the consumer last tried something, in Unix ms.
	SeenTime int64
	// ActiveTime is when it last got an entry, in Unix ms; -1 when never.
	ActiveTime int64

	pending pendingEntries
}

// Pending is an entry that was delivered to a consumer and not acknowledged.
type Pending struct {
	ID            StreamID
	DeliveryTime  int64 // Unix ms
	DeliveryCount int64
	// Consumer is nil only until Assign.
	Consumer *Consumer
}

// pendingEntries are ordered by ID.
type pendingEntries = *btree.BTreeG[*Pending]

func newPendingEntries() pendingEntries {
	less := func(a, b *Pending) bool { return a.ID.Compare(b.ID) < 0 }
	return btree.NewBTreeGOptions(less, btree.Options{NoLocks: true})
}

// key is the ID as Redis uses it for a key: big endian, so that bytes compare
// like IDs.
func (id StreamID) key() (key [16]byte) {
	binary.BigEndian.PutUint64(key[:], id.Ms)
	binary.BigEndian.PutUint64(key[8:], id.Seq)
	return key
}

// Group returns a group by its name, or nil.
func (s *Stream) Group(name []byte) *Group { return s.groups[string(name)] }

// GroupCount is the number of groups.
func (s *Stream) GroupCount() int { return len(s.groups) }

// Groups returns all groups ordered by name.
func (s *Stream) Groups() []*Group {
	groups := make([]*Group, 0, len(s.groups))
	for _, name := range slices.Sorted(maps.Keys(s.groups)) {
		groups = append(groups, s.groups[name])
	}
	return groups
}

// AddGroup adds a group, or returns nil if there is one of that name.
func (s *Stream) AddGroup(name []byte, lastID StreamID, entriesRead int64) *Group {
	if s.groups[string(name)] != nil {
		return nil
	}
	if s.groups == nil {
		s.groups = make(map[string]*Group)
	}
	g := &Group{
		Name: string(name), LastID: lastID, EntriesRead: entriesRead,
		pending: newPendingEntries(), consumers: make(map[string]*Consumer),
	}
	s.groups[g.Name] = g
	return g
}

// DeleteGroup removes a group with all it knows.
func (s *Stream) DeleteGroup(g *Group) { delete(s.groups, g.Name) }

func (g *Group) cloneInto(s *Stream) {
	c := s.AddGroup([]byte(g.Name), g.LastID, g.EntriesRead)
	for name, consumer := range g.consumers {
		copied := c.AddConsumer([]byte(name), consumer.SeenTime)
		copied.ActiveTime = consumer.ActiveTime
	}
	for p := range g.Pending(StreamID{}) {
		copied := *p
		copied.Consumer = nil
		c.pending.Set(&copied)
		c.Assign(&copied, c.consumers[p.Consumer.Name])
	}
}

// Consumer returns a consumer by its name, or nil.
func (g *Group) Consumer(name []byte) *Consumer { return g.consumers[string(name)] }

// ConsumerCount is the number of consumers.
func (g *Group) ConsumerCount() int { return len(g.consumers) }

// Consumers returns all consumers ordered by name.
func (g *Group) Consumers() []*Consumer {
	consumers := make([]*Consumer, 0, len(g.consumers))
	for _, name := range slices.Sorted(maps.Keys(g.consumers)) {
		consumers = append(consumers, g.consumers[name])
	}
	return consumers
}

// AddConsumer adds a consumer that was seen now; it must not exist.
func (g *Group) AddConsumer(name []byte, now int64) *Consumer {
	c := &Consumer{Name: string(name), SeenTime: now, ActiveTime: -1, pending: newPendingEntries()}
	g.consumers[c.Name] = c
	return c
}

// DeleteConsumer removes a consumer together with what is pending for it.
func (g *Group) DeleteConsumer(c *Consumer) {
	for p := range c.Pending(StreamID{}) {
		g.pending.Delete(p)
	}
	delete(g.consumers, c.Name)
}

// PendingCount is the number of pending entries of all consumers.
func (g *Group) PendingCount() int { return g.pending.Len() }

// PendingCount is the number of pending entries of the consumer.
func (c *Consumer) PendingCount() int { return c.pending.Len() }

// Pending yields the pending entries from start on. They must not be added or
// removed during the walk.
func (g *Group) Pending(start StreamID) iter.Seq[*Pending] { return ascend(g.pending, start) }

// Pending yields the consumer's pending entries from start on.
func (c *Consumer) Pending(start StreamID) iter.Seq[*Pending] { return ascend(c.pending, start) }

func ascend(entries pendingEntries, start StreamID) iter.Seq[*Pending] {
	return func(yield func(*Pending) bool) { entries.Ascend(&Pending{ID: start}, yield) }
}

// LastPending returns the ID of the last pending entry; there must be one.
func (g *Group) LastPending() StreamID {
	p, _ := g.pending.Max()
	return p.ID
}

// FindPending returns the pending entry with an ID, or nil.
func (g *Group) FindPending(id StreamID) *Pending {
	p, _ := g.pending.Get(&Pending{ID: id})
	return p
}

// AddPending makes an entry pending that was not, delivered now for the first
// time. It must be assigned to a consumer next.
func (g *Group) AddPending(id StreamID, now int64) *Pending {
	p := &Pending{ID: id, DeliveryTime: now, DeliveryCount: 1}
	g.pending.Set(p)
	return p
}

// Assign makes c the consumer of a pending entry.
func (g *Group) Assign(p *Pending, c *Consumer) {
	if p.Consumer == c {
		return
	}
	if p.Consumer != nil {
		p.Consumer.pending.Delete(p)
	}
	p.Consumer = c
	c.pending.Set(p)
}

// Acknowledge forgets a pending entry.
func (g *Group) Acknowledge(p *Pending) {
	g.pending.Delete(p)
	p.Consumer.pending.Delete(p)
}
