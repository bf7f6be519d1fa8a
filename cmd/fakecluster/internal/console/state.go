package console

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fakecluster/fakecluster/cmd/fakecluster/internal/survey"
	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/emulator/control"
	"github.com/fakecluster/fakecluster/slots"
)

// State is the cluster at one time.
type State struct {
	Now        time.Time  `json:"now" doc:"the cluster's time"`
	AheadMS    int64      `json:"ahead_ms" doc:"how far its clock was moved forward, in milliseconds"`
	Version    string     `json:"version" doc:"the Redis version emulated"`
	Standalone bool       `json:"standalone" doc:"servers on their own, without slots"`
	ReadOnly   bool       `json:"read_only" doc:"verbs are refused"`
	Ctl        string     `json:"ctl" doc:"what begins a command line that steers this cluster"`
	View       string     `json:"view,omitempty" doc:"whose view roles and slots are; without, the owner of a slot is who claims it with the highest config epoch"`
	Agree      bool       `json:"agree" doc:"all nodes that run believe the same"`
	Nodes      []Node     `json:"nodes"`
	Slots      []Owned    `json:"slots" doc:"the owners of all slots that have one, ascending"`
	Moving     []Moving   `json:"moving" doc:"slots being migrated"`
	Hot        []Hot      `json:"hot" doc:"the slots most used at the moment, the hottest first"`
	Rates      Rates      `json:"rates"`
	Faults     []FaultRow `json:"faults"`
	Recording  bool       `json:"recording" doc:"commands are being traced, which the feed and hot slots need"`
}

// Node is one node of a State.
type Node struct {
	Name     string   `json:"name" doc:"n1, n2 … as verbs call it"`
	ID       string   `json:"id"`
	Addr     string   `json:"addr"`
	Role     string   `json:"role" doc:"master or replica"`
	Master   string   `json:"master,omitempty" doc:"the name of a replica's master"`
	State    string   `json:"state" doc:"up, down, paused, or busy when it did not answer in time"`
	Suspects []string `json:"suspects" doc:"the nodes that hold it for possibly failed"`
	FailedBy []string `json:"failed_by" doc:"the nodes that hold it for failed"`
	Epoch    int64    `json:"epoch" doc:"its config epoch"`
	Slots    int      `json:"slots" doc:"how many slots it owns"`
	Ranges   []string `json:"ranges"`
	Keys     int64    `json:"keys"`
	Memory   int64    `json:"memory" doc:"bytes"`
	Clients  int64    `json:"clients"`
	Ops      float64  `json:"ops" doc:"commands a second"`
	Offset   int64    `json:"offset" doc:"replication offset in bytes"`
	Lag      int64    `json:"lag" doc:"by how many bytes a replica is behind its master"`
	Link     string   `json:"link,omitempty" doc:"a replica's link to its master: up or down"`
	Cut      []string `json:"cut" doc:"the nodes that nothing it sends arrives at"`
}

// Owned is a range of slots with one owner.
type Owned struct {
	First slots.Slot `json:"first"`
	Last  slots.Slot `json:"last"`
	Node  string     `json:"node"`
}

// Moving is a slot that is being moved.
type Moving struct {
	Slot slots.Slot `json:"slot"`
	From string     `json:"from,omitempty" doc:"the node that has it migrating"`
	To   string     `json:"to,omitempty" doc:"the node that has it importing"`
	Left int64      `json:"left" doc:"keys still at the old owner"`
	Done int64      `json:"done" doc:"keys already at the new one"`
}

// Hot is a slot that is used much.
type Hot struct {
	Slot slots.Slot `json:"slot"`
	Ops  float64    `json:"ops" doc:"commands a second"`
}

// Rates are events a second.
type Rates struct {
	Commands    float64 `json:"commands"`
	Moved       float64 `json:"moved"`
	Ask         float64 `json:"ask"`
	TryAgain    float64 `json:"tryagain"`
	CrossSlot   float64 `json:"crossslot"`
	ClusterDown float64 `json:"clusterdown"`
	Other       float64 `json:"other" doc:"all other error replies"`
}

// FaultRow is a fault at work.
type FaultRow struct {
	Number int    `json:"number"`
	Hits   int    `json:"hits"`
	Text   string `json:"text"`
}

// maxHot bounds the hot slots told.
const maxHot = 256

// state makes a State of a sample, as the node view believes, or "".
func (c *Console) state(s *sample, view string) (*State, error) {
	st := &State{
		Now: s.now.UTC(), AheadMS: s.now.Sub(s.at).Round(time.Millisecond).Milliseconds(), Ctl: c.options.Ctl, ReadOnly: c.options.ReadOnly,
		View: view, Agree: s.agree(), Nodes: []Node{}, Slots: []Owned{}, Moving: []Moving{}, Hot: hottest(s.heat), Rates: s.rates(), Faults: faults(c.controller),
	}
	_, st.Recording = c.controller.Trace()
	names := map[string]string{}
	for _, v := range s.nodes {
		names[v.node.ID()] = v.node.Name()
		if v.info["redis_version"] != "" {
			st.Version = v.info["redis_version"]
		}
		st.Standalone = st.Standalone || v.info["cluster_enabled"] == "0"
	}
	for _, v := range s.nodes {
		st.Nodes = append(st.Nodes, c.node(s, v, names))
	}
	owners := s.owners()
	if view != "" {
		seer := s.named(view)
		if seer == nil {
			return nil, notFound("there is no node " + strconv.Quote(view))
		}
		owners = st.asSeen(seer, names)
	}
	st.Slots = ownedRanges(owners)
	st.Moving = s.moving(names)
	return st, nil
}

func (c *Console) node(s *sample, v *sight, names map[string]string) Node {
	n := v.node
	out := Node{
		Name: n.Name(), ID: n.ID(), Addr: n.Addr(), Role: v.role, State: stateOf(v), Suspects: []string{}, FailedBy: []string{}, Ranges: []string{}, Cut: []string{},
		Keys: keysOf(v), Memory: v.number("used_memory"), Clients: v.number("connected_clients"), Ops: v.perSecond, Offset: v.number("master_repl_offset"),
	}
	if v.own != nil {
		out.Epoch = v.own.Epoch
	}
	for _, r := range v.owned {
		out.Slots += r.Len()
		out.Ranges = append(out.Ranges, r.String())
	}
	if master := v.master; master != nil {
		out.Master, out.Link = master.Name(), v.info["master_link_status"]
		out.Offset = v.number("slave_repl_offset")
		if theirs := s.of(master); theirs != nil && !theirs.down && !v.down {
			out.Lag = max(0, theirs.number("master_repl_offset")-out.Offset)
		}
	}
	for _, other := range s.nodes {
		if other == v || other.down {
			continue
		}
		for _, r := range other.rows {
			switch {
			case r.ID != out.ID:
			case r.Has("fail?"):
				out.Suspects = append(out.Suspects, other.node.Name())
			case r.Has("fail"):
				out.FailedBy = append(out.FailedBy, other.node.Name())
			}
		}
		if c.cluster.Way(n, other.node).Cut {
			out.Cut = append(out.Cut, other.node.Name())
		}
	}
	return out
}

func stateOf(v *sight) string {
	switch {
	case v.down:
		return "down"
	case v.node.Paused():
		return "paused"
	case v.late:
		return "busy"
	}
	return "up"
}

// keysOf adds up the keys of a node's databases.
func keysOf(v *sight) (keys int64) {
	for name, value := range v.info {
		if db, found := strings.CutPrefix(name, "db"); !found || strings.Trim(db, "0123456789") != "" {
			continue
		}
		count, _, _ := strings.Cut(strings.TrimPrefix(value, "keys="), ",")
		n, _ := strconv.ParseInt(count, 10, 64)
		keys += n
	}
	return keys
}

func (s *sample) named(name string) *sight {
	for _, v := range s.nodes {
		if v.node.Name() == name {
			return v
		}
	}
	return nil
}

// owners are the names of all slots' owners: of several masters that claim a
// slot the one with the highest epoch, and one that is down only if no other
// does.
func (s *sample) owners() (owners [slots.Count]string) {
	masters := slices.DeleteFunc(slices.Clone(s.nodes), func(v *sight) bool { return v.role != "master" || v.own == nil })
	slices.SortStableFunc(masters, func(a, b *sight) int {
		if a.down != b.down {
			return map[bool]int{true: -1, false: 1}[a.down]
		}
		return cmp.Compare(a.own.Epoch, b.own.Epoch)
	})
	for _, v := range masters {
		for _, r := range v.owned {
			paint(&owners, r, v.node.Name())
		}
	}
	return owners
}

func paint(owners *[slots.Count]string, r slots.Range, name string) {
	for slot := int(r.First); slot <= int(r.Last); slot++ {
		owners[slot] = name
	}
}

// asSeen makes roles, epochs and owners those that a node believes in.
func (st *State) asSeen(seer *sight, names map[string]string) (owners [slots.Count]string) {
	for _, r := range seer.rows {
		i := slices.IndexFunc(st.Nodes, func(n Node) bool { return n.ID == r.ID })
		if i < 0 {
			continue
		}
		n := &st.Nodes[i]
		n.Epoch, n.Role, n.Master, n.Slots, n.Ranges = r.Epoch, "master", names[r.Master], 0, []string{}
		if r.Has("slave") {
			n.Role = "replica"
		}
		for _, owned := range r.Slots {
			n.Slots += owned.Len()
			n.Ranges = append(n.Ranges, owned.String())
			paint(&owners, owned, n.Name)
		}
	}
	return owners
}

func ownedRanges(owners [slots.Count]string) []Owned {
	ranges := []Owned{}
	for slot, name := range owners {
		last := len(ranges) - 1
		switch {
		case name == "":
		case last >= 0 && ranges[last].Node == name && int(ranges[last].Last) == slot-1:
			ranges[last].Last = slots.Slot(slot)
		default:
			ranges = append(ranges, Owned{slots.Slot(slot), slots.Slot(slot), name})
		}
	}
	return ranges
}

// moving are the slots open at any of their two nodes.
func (s *sample) moving(names map[string]string) []Moving {
	open := map[slots.Slot]*Moving{}
	for _, v := range s.nodes {
		if v.own == nil || v.down || v.late {
			continue
		}
		for _, o := range v.own.Open {
			m := open[o.Slot]
			if m == nil {
				m = &Moving{Slot: o.Slot}
				open[o.Slot] = m
			}
			keys, _ := strconv.ParseInt(ask(v.node, "CLUSTER", "COUNTKEYSINSLOT", strconv.Itoa(int(o.Slot))), 10, 64)
			if o.Importing {
				m.From, m.To, m.Done = cmp.Or(m.From, names[o.Other]), v.node.Name(), keys
			} else {
				m.From, m.To, m.Left = v.node.Name(), cmp.Or(m.To, names[o.Other]), keys
			}
		}
	}
	list := []Moving{}
	for _, slot := range slices.Sorted(maps.Keys(open)) {
		list = append(list, *open[slot])
	}
	return list
}

// agree reports whether all nodes that run believe the same of roles, slots and
// epochs.
func (s *sample) agree() bool {
	first := ""
	for _, v := range s.nodes {
		if v.down || v.own == nil {
			continue
		}
		belief := beliefOf(v.rows)
		if first == "" {
			first = belief
		}
		if belief != first {
			return false
		}
	}
	return true
}

func beliefOf(rows []*survey.Row) string {
	lines := make([]string, len(rows))
	for i, r := range rows {
		lines[i] = strings.Join([]string{r.ID, strings.Join(r.Flags, ","), r.Master, strconv.FormatInt(r.Epoch, 10)}, " ")
		for _, owned := range r.Slots {
			lines[i] += " " + owned.String()
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func hottest(heat map[slots.Slot]float64) []Hot {
	hot := make([]Hot, 0, len(heat))
	for slot, ops := range heat {
		hot = append(hot, Hot{slot, ops})
	}
	slices.SortFunc(hot, func(a, b Hot) int { return cmp.Or(cmp.Compare(b.Ops, a.Ops), cmp.Compare(a.Slot, b.Slot)) })
	return hot[:min(len(hot), maxHot)]
}

func (s *sample) rates() Rates {
	r := Rates{
		Commands: s.counts["commands"], Moved: s.counts["MOVED"], Ask: s.counts["ASK"], TryAgain: s.counts["TRYAGAIN"],
		CrossSlot: s.counts["CROSSSLOT"], ClusterDown: s.counts["CLUSTERDOWN"],
	}
	for code, n := range s.counts {
		if !slices.Contains([]string{"commands", "MOVED", "ASK", "TRYAGAIN", "CROSSSLOT", "CLUSTERDOWN"}, code) {
			r.Other += n
		}
	}
	return r
}

func faults(x *control.Controller) []FaultRow {
	rows := []FaultRow{}
	for _, f := range x.Faults() {
		rows = append(rows, FaultRow{f.Number, f.Hits, f.Text})
	}
	return rows
}

// nodeNamed returns the node of that name, or nil.
func (c *Console) nodeNamed(name string) *emulator.Node {
	for _, n := range c.cluster.Nodes() {
		if strings.EqualFold(n.Name(), name) {
			return n
		}
	}
	return nil
}
