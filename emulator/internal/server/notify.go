package server

import "fmt"

// notifyKeyspace publishes an event about a key on this node only.
func (n *Node) notifyKeyspace(db int, event, key string) {
	const keyspaceEvents, keyeventEvents = 1, 2
	if n.set.notify&keyspaceEvents != 0 {
		n.deliver(fmt.Appendf(nil, "__keyspace@%d__:%s", db, key), []byte(event))
	}
	if n.set.notify&keyeventEvents != 0 {
		n.deliver(fmt.Appendf(nil, "__keyevent@%d__:%s", db, event), []byte(key))
	}
}
