package topology

import (
	"fmt"

	"github.com/fakecluster/fakecluster/slots"
)

// Member is one node of a cluster to be formed.
type Member struct {
	Config
	// Slots are a master's; a replica has none.
	Slots []slots.Range
	// ReplicaOf is the position of a replica's master among the members, and
	// -1 for a master.
	ReplicaOf int
	// Epoch is the config epoch; 0 takes the member's position, from 1 on.
	Epoch uint64
}

// Layout says who of count members is what in the cluster "redis-cli --cluster
// create" makes of them: the masters come first and share the slots evenly,
// then come the replicas, the first of every master, the second of every
// master and so on.
func Layout(masters, replicas int) []Member {
	members := make([]Member, masters*(1+replicas))
	ranges := slots.Split(masters)
	for i := range members {
		if i < masters {
			members[i].Slots, members[i].ReplicaOf = ranges[i:i+1], -1
		} else {
			members[i].ReplicaOf = i % masters
		}
	}
	return members
}

// Form returns the nodes of a settled cluster, as "redis-cli --cluster create"
// leaves it a while later: all know each other and agree, every master has its
// own config epoch and the first one, the cluster's epoch is the number of
// nodes. It exchanges no message. Members without an ID get one from the first
// member's Rand. Slots claimed twice or a replica of a replica are an error.
func Form(members []Member, now int64) ([]*Node, error) {
	table := new(ownerTable)
	sets := make([]slots.Set, len(members))
	assigned, size := 0, 0
	for i := range members {
		m := &members[i]
		if m.ID == "" {
			m.ID = NewID(members[0].Rand)
		}
		if m.Epoch == 0 {
			m.Epoch = uint64(i + 1)
		}
		if m.ReplicaOf >= 0 && (m.ReplicaOf >= len(members) || members[m.ReplicaOf].ReplicaOf >= 0) {
			return nil, fmt.Errorf("member %d cannot be a replica of member %d, which is not a master", i, m.ReplicaOf)
		}
		for _, r := range m.Slots {
			if m.ReplicaOf >= 0 {
				return nil, fmt.Errorf("member %d is a replica and cannot own slots %v", i, r)
			}
			for slot := r.First; slot <= r.Last; slot++ {
				if table[slot] != 0 {
					return nil, fmt.Errorf("slot %d has two owners: member %d and member %d", slot, table[slot]-1, i)
				}
				table[slot] = uint16(i + 1)
			}
			sets[i].AddRange(r)
			assigned += r.Len()
		}
		if len(m.Slots) > 0 {
			size++
		}
	}
	shards := shardIDs(members)
	nodes := make([]*Node, len(members))
	for i := range members {
		n := viewOf(members, sets, shards, i, now)
		n.owners, n.assigned, n.size = table, assigned, size
		n.ok = size > 0 && (assigned == slots.Count || !n.Settings.RequireFullCoverage)
		nodes[i] = n
	}
	return nodes, nil
}

func shardIDs(members []Member) []string {
	ids := make([]string, len(members))
	for i, m := range members {
		if m.Version.AtLeast(7, 2) && m.ReplicaOf < 0 {
			ids[i] = NewID(members[0].Rand)
		}
	}
	for i, m := range members {
		if m.ReplicaOf >= 0 {
			ids[i] = ids[m.ReplicaOf]
		}
	}
	return ids
}

// firstOffset is the replication offset of a replica that received nothing but
// its master's first PING. One without any would not be listed.
const firstOffset = 14

// viewOf builds member i with its picture of all members.
func viewOf(members []Member, sets []slots.Set, shards []string, i int, now int64) *Node {
	c := members[i].Config
	n := &Node{
		Settings: c.Settings, version: c.Version, host: c.Host, rand: c.Rand, now: now,
		ownersShared: true, firstUpdate: now - writableDelay,
	}
	block := make([]peer, len(members))
	n.peers = make([]*peer, len(members)+1)
	for j := range members {
		p := &block[j]
		*p = peer{
			id: members[j].ID, index: uint16(j + 1), addr: members[j].Addr, shard: shards[j],
			flags: flagMaster, epoch: members[j].Epoch,
			created: now, pongReceived: now, dataReceived: now, link: now, inbound: now,
		}
		n.peers[j+1] = p
		n.currentEpoch = max(n.currentEpoch, p.epoch)
		if len(members[j].Slots) > 0 {
			p.slots, p.slotsShared, p.numSlots = &sets[j], true, sets[j].Len()
		}
	}
	for j, m := range members {
		if m.ReplicaOf >= 0 {
			p, master := &block[j], &block[m.ReplicaOf]
			p.flags, p.master = flagReplica, master
			p.replOffset, master.replOffset = firstOffset, firstOffset
			master.replicas = append(master.replicas, p)
			master.flags |= flagMigrateTo
		}
	}
	n.self = &block[i]
	n.self.flags |= flagMyself
	n.self.link, n.self.inbound = 0, 0
	n.announceSettings()
	return n
}
