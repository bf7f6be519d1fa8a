package clustertest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fakecluster/fakecluster/slots"
)

// Node is a node of the cluster, as CLUSTER NODES describes it.
type Node struct {
	ID, Addr string
	Master   string // its master's ID, or "" if it is one
	Epoch    string // a master's config epoch
	Ranges   []slots.Range
}

// IsMaster reports whether the node is a master.
func (n Node) IsMaster() bool { return n.ID != "" && n.Master == "" }

// Owns reports whether a slot is the node's.
func (n Node) Owns(slot slots.Slot) bool {
	return slices.ContainsFunc(n.Ranges, func(r slots.Range) bool { return r.First <= slot && slot <= r.Last })
}

// String describes the node in a line.
func (n Node) String() string {
	if !n.IsMaster() {
		return fmt.Sprintf("%.8s %s replica of %.8s", n.ID, n.Addr, n.Master)
	}
	return fmt.Sprintf("%.8s %s master, epoch %s, slots %v", n.ID, n.Addr, n.Epoch, n.Ranges)
}

// parse reads the reply to CLUSTER NODES of the node at addr, by ID. Nodes that have
// failed or have no address are left out; one that only seems to have failed, or has
// not been met yet, is an error.
func parse(addr, text string) (nodes []Node, err error) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 8 {
			return nil, fmt.Errorf("CLUSTER NODES at %s: %q has not eight fields", addr, line)
		}
		flags := strings.Split(fields[2], ",")
		switch {
		case slices.Contains(flags, "fail"), slices.Contains(flags, "noaddr"):
			continue
		case slices.Contains(flags, "fail?"), slices.Contains(flags, "handshake"):
			return nil, fmt.Errorf("%s says that %s is %s", addr, fields[1], fields[2])
		}
		n := Node{ID: fields[0]}
		n.Addr, _, _ = strings.Cut(fields[1], "@")
		if slices.Contains(flags, "slave") {
			n.Master = fields[3]
		} else {
			n.Epoch = fields[6]
		}
		for _, field := range fields[8:] {
			if strings.HasPrefix(field, "[") {
				continue // a slot that moves
			}
			r, err := slots.ParseRange(field)
			if err != nil {
				return nil, fmt.Errorf("CLUSTER NODES at %s: %w", addr, err)
			}
			n.Ranges = append(n.Ranges, r)
		}
		nodes = append(nodes, n)
	}
	slices.SortFunc(nodes, func(a, b Node) int { return strings.Compare(a.ID, b.ID) })
	return nodes, nil
}

func ownerOf(nodes []Node, slot slots.Slot) Node {
	for _, n := range nodes {
		if n.Owns(slot) {
			return n
		}
	}
	return Node{}
}

func byAddr(nodes []Node, addr string) Node {
	for _, n := range nodes {
		if n.Addr == addr {
			return n
		}
	}
	return Node{}
}
