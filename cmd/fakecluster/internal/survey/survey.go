// Package survey asks a cluster how it is: its topology by CLUSTER NODES of one
// node, and the figures of each by INFO. It speaks nothing but the protocol, so
// a real Redis Cluster, or one server, can be surveyed as well.
package survey

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/fakecluster/fakecluster/slots"
)

// Dial connects to a node.
type Dial func(ctx context.Context, addr string) (redis.Conn, error)

// Survey is what a cluster was like at one time.
type Survey struct {
	At    time.Time
	State string // "ok" or "fail", as the node asked sees it
	Nodes []Node // masters by their slots, each with its replicas behind it
}

// Node is a node and its figures. Those of one that did not answer are 0.
type Node struct {
	Name   string // n1, n2 … if it is a fakecluster's
	ID     string
	Addr   string
	Master string // id of a replica's master
	State  string // "ok", or what is wrong: "fail", "fail?", "handshake", "no answer"
	Epoch  int64
	Slots  []slots.Range
	Open   []string // slots on their way: "42→id", "42←id"

	Keys     int64
	Memory   int64 // bytes
	Clients  int64
	Commands int64 // since it started
	Offset   int64
	Behind   int64            // bytes of the replication stream a replica has not got, -1 unknown
	Errors   map[string]int64 // replies by their code: MOVED, ASK …
}

// Replica reports whether the node is one.
func (n *Node) Replica() bool { return n.Master != "" }

// SlotCount is how many slots the node owns.
func (n *Node) SlotCount() int {
	count := 0
	for _, r := range n.Slots {
		count += r.Len()
	}
	return count
}

// Ranges are the node's slots as text, "-" for none.
func (n *Node) Ranges() string {
	if len(n.Slots) == 0 {
		return "-"
	}
	words := make([]string, len(n.Slots))
	for i, r := range n.Slots {
		words[i] = r.String()
	}
	return strings.Join(words, ",")
}

// Owner is the master that owns a slot, or nil.
func (s *Survey) Owner(slot slots.Slot) *Node {
	for i := range s.Nodes {
		for _, r := range s.Nodes[i].Slots {
			if r.First <= slot && slot <= r.Last {
				return &s.Nodes[i]
			}
		}
	}
	return nil
}

// Label is what to call the node of an id.
func (s *Survey) Label(id string) string {
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.ID == id {
			return cmp.Or(n.Name, n.Addr)
		}
	}
	return id
}

// Take asks the node at addr for the topology and every node for its figures,
// which it has wait to give.
func Take(ctx context.Context, dial Dial, addr string, wait time.Duration) (*Survey, error) {
	s, err := Topology(ctx, dial, addr)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	var asked sync.WaitGroup
	for i := range s.Nodes {
		asked.Go(func() { s.Nodes[i].ask(ctx, dial) })
	}
	asked.Wait()
	offsets := map[string]int64{}
	for _, n := range s.Nodes {
		offsets[n.ID] = n.Offset
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		n.Behind = -1
		if master, known := offsets[n.Master]; known && n.State == "ok" {
			n.Behind = max(master-n.Offset, 0)
		}
	}
	return s, nil
}

// Topology asks the node at addr who is there and who owns what.
func Topology(ctx context.Context, dial Dial, addr string) (*Survey, error) {
	conn, err := dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	s := &Survey{At: time.Now()}
	text, err := redis.String(redis.DoContext(conn, ctx, "CLUSTER", "NODES"))
	var refusal redis.Error
	switch {
	case errors.As(err, &refusal) && strings.Contains(err.Error(), "cluster support disabled"):
		s.State = "ok"
		s.Nodes = []Node{{Addr: addr, State: "ok", Slots: slots.Split(1)}}
		return s, nil
	case err != nil:
		return nil, fmt.Errorf("CLUSTER NODES of %s: %w", addr, err)
	}
	info, err := redis.String(redis.DoContext(conn, ctx, "CLUSTER", "INFO"))
	if err != nil {
		return nil, fmt.Errorf("CLUSTER INFO of %s: %w", addr, err)
	}
	s.State = Fields(info)["cluster_state"]
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	rows, _ := ParseRows(text)
	for _, r := range rows {
		if n, ok := r.node(host); ok {
			s.Nodes = append(s.Nodes, n)
		}
	}
	s.name(ctx, conn)
	s.sort()
	return s, nil
}

// node is the node of a row, as one whose own host is host tells it.
func (r *Row) node(host string) (n Node, ok bool) {
	at := strings.LastIndexByte(r.Addr, ':')
	if at < 0 {
		return n, false
	}
	n = Node{ID: r.ID, Master: r.Master, State: "ok", Epoch: r.Epoch, Slots: r.Slots, Open: r.open()}
	// A node does not know its own address before it has been told.
	n.Addr = net.JoinHostPort(cmp.Or(r.Addr[:at], host), r.Addr[at+1:])
	for _, flag := range r.Flags {
		switch flag {
		case "fail", "fail?", "handshake", "noaddr":
			n.State = flag
		}
	}
	return n, true
}

// name gives the nodes the names a fakecluster has for them.
func (s *Survey) name(ctx context.Context, conn redis.Conn) {
	list, err := redis.String(redis.DoContext(conn, ctx, "FAKECLUSTER", "nodes"))
	if err != nil {
		return // a real cluster, or one that is not to be steered
	}
	for line := range strings.Lines(list) {
		fields := strings.Fields(line)
		for i := range s.Nodes {
			if len(fields) > 1 && s.Nodes[i].Addr == fields[1] {
				s.Nodes[i].Name = fields[0]
			}
		}
	}
}

// sort puts masters in the order of their slots, replicas behind them.
func (s *Survey) sort() {
	first := map[string]int{}
	for _, n := range s.Nodes {
		first[n.ID] = slots.Count
		if len(n.Slots) > 0 {
			first[n.ID] = int(n.Slots[0].First)
		}
	}
	slices.SortStableFunc(s.Nodes, func(a, b Node) int {
		x, y := cmp.Or(a.Master, a.ID), cmp.Or(b.Master, b.ID)
		return cmp.Or(cmp.Compare(first[x], first[y]), cmp.Compare(x, y), cmp.Compare(a.Master, b.Master), cmp.Compare(a.Addr, b.Addr))
	})
}

// ask gets a node's figures.
func (n *Node) ask(ctx context.Context, dial Dial) {
	conn, err := dial(ctx, n.Addr)
	if err != nil {
		n.silent()
		return
	}
	defer conn.Close()
	text, err := redis.String(redis.DoContext(conn, ctx, "INFO", "everything"))
	if err != nil {
		n.silent()
		return
	}
	// Of slots on their way a node tells only its own.
	if view, err := redis.String(redis.DoContext(conn, ctx, "CLUSTER", "NODES")); err == nil {
		rows, _ := ParseRows(view)
		for _, r := range rows {
			if r.ID == n.ID {
				n.Open = r.open()
			}
		}
	}
	info := Fields(text)
	number := func(field string) int64 {
		v, _ := strconv.ParseInt(info[field], 10, 64)
		return v
	}
	n.Memory, n.Clients, n.Commands = number("used_memory"), number("connected_clients"), number("total_commands_processed")
	n.Offset = number("master_repl_offset")
	if info["role"] == "slave" {
		n.Offset = number("slave_repl_offset")
	}
	n.Errors = map[string]int64{}
	for _, field := range slices.Sorted(maps.Keys(info)) {
		if code, is := strings.CutPrefix(field, "errorstat_"); is {
			n.Errors[code], _ = strconv.ParseInt(strings.TrimPrefix(info[field], "count="), 10, 64)
		}
		if strings.HasPrefix(field, "db") {
			var keys int64
			if _, err := fmt.Sscanf(info[field], "keys=%d", &keys); err == nil {
				n.Keys += keys
			}
		}
	}
}

func (n *Node) silent() {
	if n.State == "ok" {
		n.State = "no answer"
	}
}

// Fields are the lines "name:value" of INFO and its like.
func Fields(text string) map[string]string {
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	return fields
}
