package server

import (
	"math/rand/v2"
	"net"
	"testing"

	"github.com/fakecluster/fakecluster/emulator/internal/version"
)

// newTestNode makes a server on its own that answers nobody yet.
func newTestNode(t *testing.T, o Options) *Node {
	t.Helper()
	source := rand.NewPCG(1, 2)
	o.Version, o.Source, o.Rand, o.Clock = version.V7_0, source, rand.New(source), new(Clock)
	n, err := NewNode(o)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// serveTestNode lets a node answer on a free port of loopback.
func serveTestNode(t *testing.T, n *Node) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Serve(ln); err != nil {
		t.Fatal(err)
	}
	return ln
}
