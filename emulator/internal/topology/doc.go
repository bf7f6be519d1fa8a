// Package topology is a node's view of its cluster and the rules that change
// it: who owns which slot, who is whose replica, whose config epoch is newer,
// who is failing, who is elected.
//
// A Node is a pure state machine in the manner of etcd-io/raft: commands,
// messages and ticks go in, messages and a changed view come out. It does no
// I/O, starts no goroutine, takes no lock and reads no clock; time comes in as
// Unix milliseconds and randomness from the source it was built with. Nodes
// know nothing of each other but what messages told them, so a partition or a
// frozen node leaves them with different views, as in a real cluster. The
// rules are those of the Redis Cluster specification; where it is silent, those
// of Redis 7.0.15. One flaw is left out: a replica that won an election does
// not win its next one with the votes of the first.
//
// Route is the verdict over a command. It is the only place that decides
// between serving, MOVED, ASK, TRYAGAIN, CROSSSLOT and CLUSTERDOWN.
//
// Network carries the messages between the Nodes of one process: at once by
// default, with delays and cuts when asked. Its server works like this:
//
//	nodes, err := topology.Form(members, now)   // or NewNode for each
//	network.Add(node, guard)                    // guard: the node's lock
//
//	// under the node's lock:
//	err = node.SetSlot(args, now)               // the CLUSTER subcommands
//	verdict := node.Route(&request)
//
//	// under no node's lock, one goroutine at a time:
//	network.Run(now)                            // after a command, and at Next
//	at, ok := network.Next()                    // a timer, while anything is due
//	network.Kill(id); network.Settle(now)       // a death and its consequences
//
// Settle lets network time run ahead of the clock that clients see, so that
// node timeouts pass while their keys do not expire.
package topology
