package topology

// migrationDelay is how long a master is orphaned before it is given a replica.
const migrationDelay = 5000 // ms

// migrateToOrphan makes this node the replica of a master that has none any
// more.
func (n *Node) migrateToOrphan() {
	target := n.orphan()
	for p := range n.others {
		if p != target && !n.orphaned(p) {
			p.orphanedTime = 0
		}
	}
	if target == nil {
		return
	}
	if target.orphanedTime == 0 {
		target.orphanedTime = n.now
	}
	if n.now-target.orphanedTime > migrationDelay {
		n.follow(target)
	}
}

// orphaned reports whether p is a working master that lost its replicas.
func (n *Node) orphaned(p *peer) bool {
	return p.isMaster() && !p.has(flagFail|flagNoAddr|flagHandshake) && p.numSlots > 0 && p.has(flagMigrateTo) &&
		p.healthyReplicas() == 0
}

// orphan is the master that this node shall become a replica of, or nil. The
// one who goes is, of the masters with the most working replicas (more than
// the migration barrier), the replica with the smallest id.
func (n *Node) orphan() *peer {
	mine := n.self.master
	if !n.Settings.AllowReplicaMigration || mine == nil || !n.ok {
		return nil
	}
	var target *peer
	most := 0
	for p := range n.others {
		if target == nil && n.orphaned(p) {
			target = p
		}
		if p.isMaster() && !p.has(flagFail) {
			most = max(most, p.healthyReplicas())
		}
	}
	own := mine.healthyReplicas()
	if target == nil || most < 2 || own != most || own <= n.Settings.MigrationBarrier {
		return nil
	}
	for p := range n.others {
		if p.isMaster() && p.healthyReplicas() == most {
			for _, r := range p.replicas {
				if r.id < n.self.id {
					return nil
				}
			}
		}
	}
	return target
}
