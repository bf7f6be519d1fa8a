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
// of Redis 7.0.
//
// Network carries the messages between the Nodes of one process: at once by
// default, with delays, losses and cuts when asked.
//
// Route is the verdict over a command. It is the only place that decides
// between serving, MOVED, ASK, TRYAGAIN, CROSSSLOT and CLUSTERDOWN.
package topology
