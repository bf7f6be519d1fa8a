package control

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/slots"
)

// node finds the node that a word names.
func (c *call) node(word string) (*emulator.Node, error) {
	if word == "." && c.at != nil {
		return c.at, nil
	}
	if kind, rest, found := strings.Cut(word, ":"); found {
		switch kind {
		case "owner":
			return owner(c.cluster.NodeForKey(rest), word)
		case "slot":
			n, err := count(rest, 0, slots.Count-1)
			if err != nil {
				return nil, err
			}
			return owner(c.cluster.NodeForSlot(slots.Slot(n)), word)
		}
	}
	const shortest = 4 // digits of an id
	var found []*emulator.Node
	for _, n := range c.cluster.Nodes() {
		addr := n.Addr()
		if strings.EqualFold(n.Name(), word) || addr == word || strings.HasSuffix(addr, ":"+word) {
			return n, nil
		}
		if len(word) >= shortest && strings.HasPrefix(n.ID(), strings.ToLower(word)) {
			found = append(found, n)
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("there is no node %q; nodes lists them", word)
	case 1:
		return found[0], nil
	}
	return nil, fmt.Errorf("%d nodes have ids that begin with %q", len(found), word)
}

func owner(n *emulator.Node, word string) (*emulator.Node, error) {
	if n == nil {
		return nil, fmt.Errorf("%s: no master that runs owns that slot", word)
	}
	return n, nil
}

// nodes finds the nodes that a list names.
func (c *call) nodes(list string) ([]*emulator.Node, error) {
	if list == "*" {
		return c.cluster.Nodes(), nil
	}
	var nodes []*emulator.Node
	for _, word := range strings.Split(list, ",") {
		n, err := c.node(word)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

// byName makes CLUSTER NODES readable.
func (c *call) byName(text string) string {
	names := map[string]string{}
	for _, n := range c.cluster.Nodes() {
		names[n.ID()] = n.Name()
	}
	return Readable(text, names)
}

// Readable makes what CLUSTER NODES says short: names, which names has by id,
// for ids and addresses, and no times. The lines are in the order of the names.
func Readable(clusterNodes string, names map[string]string) string {
	name := func(id string) string {
		if known, ok := names[id]; ok {
			return known
		}
		return id
	}
	type line struct{ name, text string }
	var lines []line
	for raw := range strings.Lines(clusterNodes) {
		fields := strings.Fields(raw)
		if len(fields) < 8 {
			continue
		}
		words := []string{name(fields[0]), strings.TrimPrefix(fields[2], "myself,")}
		if fields[3] != "-" {
			words = append(words, "of", name(fields[3]))
		}
		words = append(words, "epoch", fields[6])
		if fields[7] != "connected" {
			words = append(words, fields[7])
		}
		for _, owned := range fields[8:] {
			for id, known := range names {
				owned = strings.ReplaceAll(owned, id, known)
			}
			words = append(words, owned)
		}
		lines = append(lines, line{words[0], strings.Join(words, " ")})
	}
	slices.SortFunc(lines, func(a, b line) int {
		return cmp.Or(cmp.Compare(len(a.name), len(b.name)), cmp.Compare(a.name, b.name))
	})
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.text + "\n")
	}
	return b.String()
}

func duration(word string) (time.Duration, error) {
	d, err := time.ParseDuration(word)
	if err != nil || d < 0 {
		return 0, usagef("%q is no time such as 250ms or 1h30m", word)
	}
	return d, nil
}

func count(word string, least, most int) (int, error) {
	n, err := strconv.Atoi(word)
	if err != nil || n < least || n > most {
		return 0, usagef("%q is no number from %d to %d", word, least, most)
	}
	return n, nil
}
