package emulator

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/topology"
	"github.com/fakecluster/fakecluster/slots"
)

// SlotRanges starts masters that own the given slots, one master per text, such
// as "0-99,200" or "" for a master without any. Slots that nobody is given are
// nobody's, and the cluster is down unless cluster-require-full-coverage is
// "no". It takes the place of Masters.
func SlotRanges(masters ...string) Option {
	return func(o *options) error {
		if len(masters) == 0 {
			return badOption("slots of no master")
		}
		o.masters = len(masters)
		owned := make([][]slots.Range, len(masters))
		for i, text := range masters {
			for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
				r, err := slots.ParseRange(part)
				if err != nil {
					return badOption("slots of master %d: %v", i+1, err)
				}
				owned[i] = append(owned[i], r)
			}
		}
		o.owned = owned
		return nil
	}
}

// FromNodes starts a cluster of the same shape as another: text is what that
// one's CLUSTER NODES replies. Ids, roles, slots and config epochs are taken
// over; the nodes listen where they would otherwise, masters first. Nodes that
// had failed are left out.
func FromNodes(text string) Option {
	return func(o *options) error {
		members, err := topology.ParseNodes(text)
		if err != nil {
			return badOption("%v", err)
		}
		o.shape = mastersFirst(members)
		return nil
	}
}

// mastersFirst sorts members by role and lowest slot.
func mastersFirst(members []topology.Member) []topology.Member {
	rank := func(m topology.Member) int {
		switch {
		case m.ReplicaOf >= 0:
			return slots.Count + 1
		case len(m.Slots) == 0:
			return slots.Count
		}
		return int(m.Slots[0].First)
	}
	return ordered(members, func(a, b topology.Member) int { return cmp.Compare(rank(a), rank(b)) })
}

// ordered sorts members, which know each other by position.
func ordered(members []topology.Member, compare func(a, b topology.Member) int) []topology.Member {
	order := make([]int, len(members))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return compare(members[a], members[b]) })
	position := make([]int, len(members))
	for to, from := range order {
		position[from] = to
	}
	sorted := make([]topology.Member, len(members))
	for to, from := range order {
		sorted[to] = members[from]
		if master := sorted[to].ReplicaOf; master >= 0 {
			sorted[to].ReplicaOf = position[master]
		}
	}
	return sorted
}

// members are the nodes of the cluster to be formed.
func (o *options) members() []topology.Member {
	if o.shape != nil {
		return slices.Clone(o.shape)
	}
	members := topology.Layout(o.masters, o.replicas)
	for i, ranges := range o.owned {
		members[i].Slots = ranges
	}
	return members
}

// NodeTimeout is after how long a node that does not answer is held for failed:
// cluster-node-timeout, 15 s unless said otherwise.
func NodeTimeout(d time.Duration) Option {
	return ConfigSet("cluster-node-timeout", strconv.FormatInt(d.Milliseconds(), 10))
}

// PreferredEndpoint is what redirections and CLUSTER SLOTS tell clients to
// connect to: "ip", "hostname" or "unknown-endpoint", which is where they have
// found the node that tells them. It needs Redis 7.0 or later.
func PreferredEndpoint(kind string) Option {
	return ConfigSet("cluster-preferred-endpoint-type", kind)
}

// ConfigSet starts all nodes with a configuration parameter of another value
// than Redis' own.
func ConfigSet(name, value string) Option {
	return func(o *options) error {
		if o.config == nil {
			o.config = map[string]string{}
		}
		o.config[name] = value
		return nil
	}
}

// Hostnames announces a host name for every node: the format's %d becomes the
// node's number, from 1. Dialer finds the nodes by these names too.
func Hostnames(format string) Option {
	return func(o *options) error {
		if strings.Count(format, "%") != 1 || !strings.Contains(format, "%d") {
			return badOption("host names %q need one %%d for the number of the node", format)
		}
		if err := checkHost("host name", fmt.Sprintf(format, 1)); err != nil {
			return err
		}
		o.hostname = format
		return nil
	}
}

// NAT makes the nodes announce addresses as Announce does, which nobody
// reaches: Addrs and Dialer know only those behind the translation, and clients
// need Cluster.AddressMap.
func NAT(host string, portBase int) Option {
	return func(o *options) error {
		if host == "" && portBase == 0 {
			return badOption("address translation needs another host or other ports")
		}
		o.nat = true
		return Announce(host, portBase)(o)
	}
}

// Command gives all nodes a further command, which no list shows and every
// client may call: run gets its arguments and answers with text; "OK" becomes a
// status. No lock is held meanwhile.
func Command(name string, run func(at *Node, args []string) (string, error)) Option {
	return func(o *options) error {
		if name == "" || run == nil {
			return badOption("a command needs a name and something to run")
		}
		if o.outside == nil {
			o.outside = map[string]func(*Node, []string) (string, error){}
		}
		o.outside[strings.ToLower(name)] = run
		return nil
	}
}

// AddressMap says for every address that the nodes announce where they are
// reached.
func (c *Cluster) AddressMap() map[string]string {
	addrs := map[string]string{}
	for _, n := range c.Nodes() {
		addrs[n.place.Load().announced()] = n.Addr()
	}
	return addrs
}
