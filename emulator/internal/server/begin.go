package server

import (
	"github.com/fakecluster/fakecluster/emulator/internal/acl"
	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
)

// begin makes the node what a process is that has just started: configured as
// its options say, with empty memory.
func (n *Node) begin() error {
	n.runID = randomHex(n.rand, 20)
	n.started = n.clock.Now()
	n.now = n.started
	n.lastSave = lastSave{at: n.started}
	n.ks = keyspace.New(keyspace.Options{
		Databases: databases, Slots: n.clustered, Limits: keyspace.DefaultLimits(n.version), Rand: n.rand, Hooks: (*hooks)(n),
	})
	n.ks.SetNow(n.now.UnixMilli())
	n.ks.KeepExpired = n.isReplica()
	n.stats = stats{}
	n.stats.init(n.table)
	n.slowlog, n.latency, n.aclLog = slowlog{}, latency{}, aclLog{}
	n.pause, n.failoverPause = pause{}, pause{}
	n.expiry.off, n.isFull = false, false
	n.scripts.begin(n)
	return n.configure(n.options)
}

// forget empties the node's memory. Those who watch keys or cache them learn
// that these are gone.
func (n *Node) forget() {
	for i := range n.ks.Databases() {
		db := n.ks.DB(i)
		if db.Len() == 0 {
			continue
		}
		(*hooks)(n).Flushed(db)
		db.Clear()
	}
	n.tracking.readers.Clear()
	n.tracking.items = 0
	n.effects.pending = nil
	n.scripts.begin(n)
}

// begin makes sure that no script or function is loaded.
func (s *scripts) begin(n *Node) {
	if s.runtime == nil {
		s.init(n)
		return
	}
	clear(s.bySHA)
	s.runtime.FlushScripts()
	n.flushFunctions()
}

// renewUsers gives the sessions their users in a new configuration; those of
// users that are no more end.
func (n *Node) renewUsers() {
	for _, s := range n.clients() {
		if s.user == nil {
			continue
		}
		var u *acl.User
		if u = n.users.Get(s.user.Name); u == nil {
			s.disconnect()
			continue
		}
		s.user = u
		s.setAuthenticated(s.authenticated || u.OpenToAll())
	}
}
