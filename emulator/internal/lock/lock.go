// Package lock names the locks of the emulator and the order in which they are
// taken, from the first to the last:
//
//	Fixture  emulator.Cluster: nodes come and go, one at a time
//	Network  server.Cluster: the nodes' topologies, their bus and its timer
//	Node     server.Node: one command at a time
//	Leaf     everything else: queues, links, gates, faults, traces, clocks, pipes
//
// Who holds a lock may take only later ones, and of the leaves only one. There
// is one exception: who holds the network's lock may hold several nodes', for
// whoever else wants two has to wait for that one first.
//
// Mutexes are sync's. With the build tag lockorder they look at every goroutine's
// locks and end the process, saying where, when one is taken against the order:
//
//	go test -tags lockorder ./emulator
package lock

// Fixture, Network, Node and Leaf are the places in the order.
type (
	Fixture struct{}
	Network struct{}
	Node    struct{}
	Leaf    struct{}
)

// Place is where in the order a lock is.
type Place interface {
	Fixture | Network | Node | Leaf
}
