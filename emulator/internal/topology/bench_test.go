package topology

import (
	"math/rand/v2"
	"testing"

	"github.com/fakecluster/fakecluster/emulator/internal/version"
)

// formed returns a settled cluster whose nodes have ports from 7000 on.
func formed(tb testing.TB, masters, replicas int, v version.Version, now int64) []*Node {
	tb.Helper()
	members := Layout(masters, replicas)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range members {
		members[i].Config = Config{
			Addr:    Addr{Host: "127.0.0.1", Port: 7000 + i, BusPort: 17000 + i},
			Version: v, Settings: DefaultSettings(), Rand: random,
		}
	}
	nodes, err := Form(members, now)
	if err != nil {
		tb.Fatal(err)
	}
	return nodes
}

func BenchmarkForm(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		formed(b, 3, 1, version.V7_0, 1)
	}
}

func BenchmarkRouteServe(b *testing.B) {
	nodes := formed(b, 3, 1, version.V7_0, 1)
	r := Request{Keys: [][]byte{[]byte("bar")}}
	b.ReportAllocs()
	for b.Loop() {
		if nodes[0].Route(&r).Kind != Serve {
			b.Fatal("bar is not served by the first node")
		}
	}
}

func BenchmarkRouteServeMany(b *testing.B) {
	nodes := formed(b, 3, 1, version.V7_0, 1)
	r := Request{Keys: [][]byte{[]byte("{bar}1"), []byte("{bar}2"), []byte("{bar}3"), []byte("{bar}4")}, Write: true}
	b.ReportAllocs()
	for b.Loop() {
		if nodes[0].Route(&r).Kind != Serve {
			b.Fatal("bar is not served by the first node")
		}
	}
}

func BenchmarkFailover(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		s := newSim(b, 3, 1, version.V7_0, 1)
		s.Run(s.now)
		b.StartTimer()
		s.Kill(s.nodes[0].ID())
		if !s.Settle(s.now) || !s.nodes[3].IsMaster() {
			b.Fatal("the replica is not promoted")
		}
	}
}

func BenchmarkPartition(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		s := newSim(b, 3, 1, version.V7_0, 1)
		s.Run(s.now)
		b.StartTimer()
		s.Partition([]string{s.nodes[0].ID()})
		s.Settle(s.now)
		if !s.nodes[3].IsMaster() {
			b.Fatal("the replica is not promoted")
		}
	}
}
