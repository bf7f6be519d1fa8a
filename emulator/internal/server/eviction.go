package server

import (
	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
)

// What a Redis of this kind takes before it holds any data, and for each
// client, in bytes: maxmemory is meant to include them.
const (
	startupMemory = 876 << 10
	clientMemory  = 22 << 10
)

// usedMemory is the approximate size of all that a server would hold in bytes.
func (n *Node) usedMemory() int64 {
	return startupMemory + int64(len(n.sessions))*clientMemory + n.ks.UsedMemory()
}

// memorySettings puts maxmemory and its policy into effect.
func (n *Node) memorySettings() {
	c := n.config
	n.set.eviction = keyspace.ParsePolicy(c.String("maxmemory-policy"))
	n.set.evictionSamples = int(c.Int("maxmemory-samples"))
	n.ks.TrackMemory(n.set.maxMemory != 0)
	n.isFull = n.isFull && n.set.maxMemory != 0
	n.ks.Eviction = keyspace.Eviction{
		LFU:          n.set.eviction.Order == keyspace.LeastFrequent,
		LFULogFactor: int(c.Int("lfu-log-factor")), LFUDecayTime: int(c.Int("lfu-decay-time")),
	}
	if n.overLimit() && n.set.eviction.Order != keyspace.NoEviction {
		n.later(func() {
			n.lock()
			n.makeRoom()
			n.unlock()
		})
	}
}

// overLimit reports whether the data is beyond maxmemory. A replica lets its
// master see to that, unless replica-ignore-maxmemory is no.
func (n *Node) overLimit() bool {
	limit := uint64(n.set.maxMemory)
	if limit == 0 || uint64(n.usedMemory()) <= limit {
		return false
	}
	return !(n.isReplica() && n.config.Bool("replica-ignore-maxmemory"))
}

// makeRoom evicts keys until the data is within maxmemory, if the policy
// allows. Afterwards full tells whether it failed.
func (n *Node) makeRoom() {
	n.isFull = false
	if n.set.maxMemory == 0 || !n.overLimit() {
		return
	}
	began := n.clock.Now()
	for n.overLimit() {
		db, key, ok := n.ks.Victim(n.set.eviction, n.set.evictionSamples)
		if !ok {
			n.isFull = true
			break
		}
		n.evict(db, key)
	}
	n.commitEffects()
	n.releaseInvalidations()
	n.spiked("eviction-cycle", n.clock.Now().Sub(began))
}

func (n *Node) evict(db *keyspace.DB, key string) {
	name := []byte(key)
	db.Delete(name)
	n.stats.evicted++
	n.tracking.byServer = n.tracking.active()
	db.Modified(name)
	n.tracking.byServer = false
	db.Event(keyspace.ClassEvicted, "evicted", name)
	if n.replicating() {
		n.effects.add(db.ID(), [][]byte{[]byte("DEL"), name})
	}
}

// outOfMemory makes room for a command, or refuses it if it may take more.
func (n *Node) outOfMemory(s *session, c *command.Call, nature nature) string {
	n.makeRoom()
	if !n.isFull {
		return ""
	}
	refused := nature.takesMemory || c.Spec.Name == "exec" && s.tx.deniedWhenFull()
	if s.tx.open { // what is queued takes memory, too
		switch c.Spec.Name {
		case "exec", "discard", "quit", "reset":
		default:
			refused = true
		}
	}
	if !refused {
		return ""
	}
	return "OOM command not allowed when used memory > 'maxmemory'."
}

// full reports whether the data was beyond maxmemory when the running command
// began.
func (n *Node) full() bool { return n.isFull }

func (t *transaction) deniedWhenFull() bool {
	for _, q := range t.queued {
		if q.spec.Has(command.DenyOOM) {
			return true
		}
	}
	return false
}
