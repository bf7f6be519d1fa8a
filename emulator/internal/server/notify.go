package server

import (
	"fmt"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
)

// notifyKeyspace publishes an event about a key on this node only.
func (n *Node) notifyKeyspace(db int, event, key string) {
	if n.set.notify&keyspace.ClassKeyspace != 0 {
		n.deliver(fmt.Appendf(nil, "__keyspace@%d__:%s", db, key), []byte(event))
	}
	if n.set.notify&keyspace.ClassKeyevent != 0 {
		n.deliver(fmt.Appendf(nil, "__keyevent@%d__:%s", db, event), []byte(key))
	}
}
