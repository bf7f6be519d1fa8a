package emulator

import (
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/server"
)

// Way is what SetWay, SetAllWays and Partition made of the way from one node to
// another. It is the zero Way for servers on their own.
func (c *Cluster) Way(from, to *Node) Way {
	if c.check(from, to) != nil {
		return Way{}
	}
	w := c.cluster.Way(from.server, to.server)
	return Way{Cut: w.Cut, Delay: time.Duration(w.Delay) * time.Millisecond, Loss: w.Loss}
}

// Since returns the commands recorded after the first seen ones, as far as they
// are kept, the oldest first, and how many have been recorded by now: what to
// pass the next time. It is for those who look again and again.
func (t *Trace) Since(seen int) (newer []Traced, recorded int) {
	entries, total := t.trace.Since(uint64(max(0, seen)))
	newer = make([]Traced, len(entries))
	nodes := t.byServer()
	for i, e := range entries {
		newer[i] = traced(e, nodes)
	}
	return newer, int(total)
}

func (t *Trace) byServer() map[*server.Node]*Node {
	nodes := map[*server.Node]*Node{}
	for _, n := range t.cluster.Nodes() {
		nodes[n.server] = n
	}
	return nodes
}

func traced(e server.Traced, nodes map[*server.Node]*Node) Traced {
	return Traced{
		At: e.At, Node: nodes[e.Node], Client: e.Client, Command: e.Name, Text: e.Text, Slot: e.Slot, Keyed: e.Keyed,
		Verdict: e.Verdict, Duration: e.Duration, Redirects: e.Redirects,
	}
}
