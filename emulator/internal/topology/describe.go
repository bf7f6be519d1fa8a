package topology

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/fakecluster/fakecluster/slots"
)

var flagNames = []struct {
	flag flags
	name string
}{
	{flagMyself, "myself"}, {flagMaster, "master"}, {flagReplica, "slave"}, {flagPFail, "fail?"}, {flagFail, "fail"},
	{flagHandshake, "handshake"}, {flagNoAddr, "noaddr"}, {flagNoFailover, "nofailover"},
}

func (f flags) String() string {
	var b []byte
	for _, named := range flagNames {
		if f&named.flag != 0 {
			if len(b) > 0 {
				b = append(b, ',')
			}
			b = append(b, named.name...)
		}
	}
	if len(b) == 0 {
		return "noflags"
	}
	return string(b)
}

// Nodes is the text CLUSTER NODES replies with.
func (n *Node) Nodes() string {
	var b []byte
	for _, p := range n.peers {
		if p != nil {
			b = append(n.appendLine(b, p), '\n')
		}
	}
	return string(b)
}

// Replicas are the lines CLUSTER REPLICAS (or SLAVES) replies with.
func (n *Node) Replicas(id string) ([]string, error) {
	p := n.lookup(id)
	if p == nil {
		return nil, errorf("Unknown node %s", id)
	}
	if p.isReplica() {
		return nil, errorf("The specified node is not a master")
	}
	lines := make([]string, len(p.replicas))
	for i, r := range p.replicas {
		lines[i] = string(n.appendLine(nil, r))
	}
	return lines, nil
}

// appendLine appends what CLUSTER NODES says of p.
func (n *Node) appendLine(b []byte, p *peer) []byte {
	b = append(b, p.id...)
	b = append(b, ' ')
	b = append(b, p.addr.Host...)
	b = append(b, ':')
	b = strconv.AppendInt(b, int64(p.addr.Port), 10)
	b = append(b, '@')
	b = strconv.AppendInt(b, int64(p.addr.BusPort), 10)
	if p.addr.Hostname != "" && n.version.AtLeast(7, 0) {
		b = append(b, ',')
		b = append(b, p.addr.Hostname...)
	}
	b = append(b, ' ')
	b = append(b, p.flags.String()...)
	b = append(b, ' ')
	if p.master != nil {
		b = append(b, p.master.id...)
	} else {
		b = append(b, '-')
	}
	b = append(b, ' ')
	b = strconv.AppendInt(b, n.shownTime(p.pingSent), 10)
	b = append(b, ' ')
	b = strconv.AppendInt(b, n.shownTime(p.pongReceived), 10)
	b = append(b, ' ')
	b = strconv.AppendUint(b, p.shownEpoch(), 10)
	if p.link != 0 || p == n.self {
		b = append(b, " connected"...)
	} else {
		b = append(b, " disconnected"...)
	}
	if p.numSlots > 0 {
		for _, r := range p.slots.Ranges() {
			b = append(b, ' ')
			b = append(b, r.String()...)
		}
	}
	if p == n.self {
		b = n.appendOpenSlots(b)
	}
	return b
}

// shownTime turns the network's time into the clock clients see.
func (n *Node) shownTime(at int64) int64 { return max(0, at-n.ahead) }

// shownEpoch is the config epoch users see: a replica's is its master's.
func (p *peer) shownEpoch() uint64 {
	if p.isReplica() && p.master != nil {
		return p.master.epoch
	}
	return p.epoch
}

func (n *Node) appendOpenSlots(b []byte) []byte {
	open := make([]slots.Slot, 0, len(n.migrating)+len(n.importing))
	for slot := range n.migrating {
		open = append(open, slot)
	}
	for slot := range n.importing {
		if n.migrating[slot] == nil {
			open = append(open, slot)
		}
	}
	slices.Sort(open)
	for _, slot := range open {
		b = append(b, " ["...)
		b = strconv.AppendUint(b, uint64(slot), 10)
		if p := n.migrating[slot]; p != nil {
			b = append(append(b, "->-"...), p.id...)
		} else {
			b = append(append(b, "-<-"...), n.importing[slot].id...)
		}
		b = append(b, ']')
	}
	return b
}

// Info is the text CLUSTER INFO replies with.
func (n *Node) Info() string {
	var ok, pfail, fail int
	for _, p := range n.peers {
		switch {
		case p == nil:
		case p.has(flagFail):
			fail += p.numSlots
		case p.has(flagPFail):
			pfail += p.numSlots
		default:
			ok += p.numSlots
		}
	}
	state := "fail"
	if n.ok {
		state = "ok"
	}
	b := append([]byte("cluster_state:"), state...)
	b = append(b, "\r\n"...)
	field := func(name string, value int64) {
		b = append(b, name...)
		b = append(b, ':')
		b = strconv.AppendInt(b, value, 10)
		b = append(b, "\r\n"...)
	}
	field("cluster_slots_assigned", int64(n.assigned))
	field("cluster_slots_ok", int64(ok))
	field("cluster_slots_pfail", int64(pfail))
	field("cluster_slots_fail", int64(fail))
	field("cluster_known_nodes", int64(n.known()))
	field("cluster_size", int64(n.size))
	field("cluster_current_epoch", int64(n.currentEpoch))
	field("cluster_my_epoch", int64(n.self.shownEpoch()))
	n.stats.each(field)
	if n.version.AtLeast(7, 0) {
		field("total_cluster_links_buffer_limit_exceeded", 0)
	}
	return string(b)
}

// Endpoint is a node as CLUSTER SLOTS lists it.
type Endpoint struct {
	// Preferred is what clients shall connect to, null when Unknown is set.
	Preferred string
	Unknown   bool
	Port      int
	ID        string
	// Metadata is the map of further addresses that 7.0 and later add as a
	// fourth element.
	Metadata [][2]string
}

// SlotRange is an entry of CLUSTER SLOTS: the owner of the range first, then
// its replicas.
type SlotRange struct {
	slots.Range
	Nodes []Endpoint
}

// SlotRanges is what CLUSTER SLOTS replies with, in the order of the slots.
func (n *Node) SlotRanges() []SlotRange {
	var ranges []SlotRange
	for first := 0; first < slots.Count; {
		last := first
		for last+1 < slots.Count && n.owners[last+1] == n.owners[first] {
			last++
		}
		if p := n.peers[n.owners[first]]; p != nil {
			r := SlotRange{Range: slots.Range{First: slots.Slot(first), Last: slots.Slot(last)}}
			r.Nodes = append(r.Nodes, n.describeEndpoint(p))
			for _, replica := range p.replicas {
				if !replica.has(flagFail) && n.offset(replica) != 0 {
					r.Nodes = append(r.Nodes, n.describeEndpoint(replica))
				}
			}
			ranges = append(ranges, r)
		}
		first = last + 1
	}
	return ranges
}

func (n *Node) describeEndpoint(p *peer) Endpoint {
	e := Endpoint{Preferred: n.endpoint(p), Port: p.addr.Port, ID: p.id}
	e.Unknown = n.Settings.PreferredEndpoint == EndpointUnknown
	if n.Settings.PreferredEndpoint != EndpointIP {
		e.Metadata = append(e.Metadata, [2]string{"ip", p.addr.Host})
	}
	if n.Settings.PreferredEndpoint != EndpointHostname && p.addr.Hostname != "" {
		e.Metadata = append(e.Metadata, [2]string{"hostname", p.addr.Hostname})
	}
	return e
}

// offset is the replication offset of p as far as this node knows.
func (n *Node) offset(p *peer) int64 {
	if p == n.self {
		return n.host.ReplicationOffset()
	}
	return p.replOffset
}

// ShardNode is a node as CLUSTER SHARDS lists it.
type ShardNode struct {
	ID       string
	Port     int
	IP       string
	Endpoint string // empty for an unknown endpoint
	Hostname string // left out when empty
	Role     string // "master" or "replica"
	Offset   int64
	Health   string // "online", "loading" or "fail"
}

// Shard is an entry of CLUSTER SHARDS: a master's slots, the master and its
// replicas.
type Shard struct {
	Slots []slots.Range
	Nodes []ShardNode
}

// Shards is what CLUSTER SHARDS replies with.
func (n *Node) Shards() []Shard {
	var shards []Shard
	for _, p := range n.peers {
		if p == nil || p.isReplica() {
			continue
		}
		s := Shard{Nodes: []ShardNode{n.describeShardNode(p)}}
		if p.numSlots > 0 {
			s.Slots = p.slots.Ranges()
		}
		for _, r := range p.replicas {
			s.Nodes = append(s.Nodes, n.describeShardNode(r))
		}
		shards = append(shards, s)
	}
	return shards
}

func (n *Node) describeShardNode(p *peer) ShardNode {
	s := ShardNode{
		ID: p.id, Port: p.addr.Port, IP: p.addr.Host, Hostname: p.addr.Hostname,
		Endpoint: n.endpoint(p),
		Role:     "master", Offset: n.offset(p), Health: "online",
	}
	if p.isReplica() {
		s.Role = "replica"
		if s.Offset == 0 {
			s.Health = "loading"
		}
	}
	if p.has(flagFail) {
		s.Health = "fail"
	}
	return s
}

// Link is an entry of CLUSTER LINKS.
type Link struct {
	Direction string // "to" or "from"
	Node      string
	Created   int64  // Unix milliseconds
	Events    string // "r", "w" or both
}

// Links is what CLUSTER LINKS replies with.
func (n *Node) Links() []Link {
	var links []Link
	for p := range n.others {
		if p.link != 0 {
			links = append(links, Link{Direction: "to", Node: p.id, Created: n.shownTime(p.link), Events: "r"})
		}
		if p.inbound != 0 {
			links = append(links, Link{Direction: "from", Node: p.id, Created: n.shownTime(p.inbound), Events: "r"})
		}
	}
	return links
}

// Known is one node in the view of another.
type Known struct {
	ID     string
	Addr   Addr
	Flags  string // as CLUSTER NODES prints them
	Master string // id of a replica's master
	Epoch  uint64
	Slots  []slots.Range
}

// View lists the nodes this node knows, by id.
func (n *Node) View() []Known {
	var known []Known
	for _, p := range n.peers {
		if p == nil {
			continue
		}
		k := Known{ID: p.id, Addr: p.addr, Flags: p.flags.String(), Epoch: p.shownEpoch()}
		if p.master != nil {
			k.Master = p.master.id
		}
		if p.numSlots > 0 {
			k.Slots = p.slots.Ranges()
		}
		known = append(known, k)
	}
	slices.SortFunc(known, func(a, b Known) int { return cmp.Compare(a.ID, b.ID) })
	return known
}
