package emulator

import (
	"strconv"
	"sync/atomic"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/server"
	"github.com/fakecluster/fakecluster/slots"
)

// Node is one server of a Cluster. Its methods look at and change the node
// itself, past slots, redirections and passwords: they are for a test's
// assertions, not for the program under test.
type Node struct {
	cluster *Cluster
	server  *server.Node
	number  int // from 1, in the order they came
	home    int // the port it began at
	index   atomic.Int64
	place   atomic.Pointer[place]
}

// Addr is the address clients are told, "host:port"; behind NAT it is the one
// where the node can be reached.
func (n *Node) Addr() string { return n.place.Load().addr() }

// Name is "n1" for the first node, "n2" for the second and so on, in the order
// they came to be.
func (n *Node) Name() string { return "n" + strconv.Itoa(n.number) }

// String is Name.
func (n *Node) String() string { return n.Name() }

// Cluster is the cluster the node belongs to.
func (n *Node) Cluster() *Cluster { return n.cluster }

// Index is the node's position in Cluster.Nodes.
func (n *Node) Index() int { return int(n.index.Load()) }

// ID is the node's id in the cluster, 40 hexadecimal digits; of a standalone
// server it is the run id.
func (n *Node) ID() string { return n.server.ID() }

// Role is "master" or "replica".
func (n *Node) Role() string {
	if n.server.IsReplica() {
		return "replica"
	}
	return "master"
}

// Slots are the slots the node owns, in ascending ranges.
func (n *Node) Slots() []slots.Range { return n.server.Slots() }

// Do runs a command on this node as if it owned every slot, and returns its
// reply: nil, string, int64, float64, bool, []any or map[any]any. An error
// reply is returned as a ReplyError. Commands that would block do not.
func (n *Node) Do(args ...string) (any, error) { return n.DoIn(0, args...) }

// DoIn is Do in another database.
func (n *Node) DoIn(db int, args ...string) (any, error) {
	raw := make([][]byte, len(args))
	for i, arg := range args {
		raw[i] = []byte(arg)
	}
	return parseReply(n.server.ExecuteIn(db, raw))
}

// Keys returns the keys of the node's first database, in no particular order.
func (n *Node) Keys() []string {
	var keys []string
	n.server.Update(func(ks *keyspace.Keyspace) {
		for key := range ks.DB(0).Keys() {
			keys = append(keys, key)
		}
	})
	return keys
}

// Exists reports whether key is in the node's first database.
func (n *Node) Exists(key string) (exists bool) {
	n.server.Update(func(ks *keyspace.Keyspace) { exists = ks.DB(0).Exists([]byte(key)) })
	return exists
}

// Get returns the string value of key, and whether there is one.
func (n *Node) Get(key string) (value string, ok bool) {
	reply, err := n.Do("GET", key)
	if err != nil {
		return "", false
	}
	value, ok = reply.(string)
	return value, ok
}

// Set makes key hold a string.
func (n *Node) Set(key, value string) error {
	_, err := n.Do("SET", key, value)
	return err
}

// Del removes a key and reports whether it was there.
func (n *Node) Del(key string) bool {
	reply, err := n.Do("DEL", key)
	return err == nil && reply == int64(1)
}

// TTL is the time key has left: 0 if it does not expire, and ok is false if it
// is not there.
func (n *Node) TTL(key string) (ttl time.Duration, ok bool) {
	n.server.Update(func(ks *keyspace.Keyspace) {
		var at int64
		if at, ok = ks.DB(0).ExpireAt([]byte(key)); ok && at != 0 {
			ttl = time.Duration(at-ks.Now()) * time.Millisecond
		}
	})
	return ttl, ok
}

// Master is the master of a replica as it sees itself, nil for a master and for
// one that is not of this cluster any more.
func (n *Node) Master() *Node {
	id := n.server.MasterID()
	if id == "" {
		return nil
	}
	for _, other := range n.cluster.Nodes() {
		if other.ID() == id {
			return other
		}
	}
	return nil
}
