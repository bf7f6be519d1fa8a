package server

// isReplica reports whether the node serves a master's data.
func (n *Node) isReplica() bool { return n.topo != nil && !n.topo.IsMaster() }

func (n *Node) replicating() bool    { return false }
func (n *Node) commitEffects()       { n.effects.pending = n.effects.pending[:0] }
func (n *Node) enoughReplicas() bool { return true }

type replicaState struct {
	host   string
	port   int
	offset int64
}

func (n *Node) replicas() []replicaState            { return nil }
func (n *Node) writeOffset() int64                  { return 0 }
func (n *Node) replicasAt(offset int64) int         { return 0 }
func (n *Node) masterAddr() (host string, port int) { return "", 0 }
func (n *Node) masterLink() string                  { return "connected" }
func (n *Node) addReplicationInfo(map[string]any)   {}
func (n *Node) follow(master string)                {}
func (n *Node) dataAge() int64                      { return 0 }
