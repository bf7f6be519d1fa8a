// Package clustertest moves slots and fails masters over in a test, with the commands
// that redis-cli uses and so that nothing that was acknowledged is lost.
//
// The one idea is patience: what loses writes, by Redis' own rules, is haste.
//
//   - A slot that moves on before all nodes know the config epoch of its last owner may
//     be claimed with an epoch that does not outbid it, or with one that two masters
//     have, and then nodes disagree for good. So all of them are heard before and after
//     a move. For the same reason masters that have no part in a move are not told of
//     it by CLUSTER SETSLOT NODE: before they know the new epoch, one late heartbeat of
//     the last owner undoes it. They learn it from the bus.
//   - A client that got ASK may send its command a little later. If the slot has left
//     and come back by then, the node that imports it a second time takes the command
//     in, beside a key that has not arrived yet. So a slot returns to a node only
//     after [Rest].
//   - A failover in the middle of a move makes the new master forget the move. So the
//     methods of a Cluster that change it must not run at the same time.
//
// It works on a real cluster and on the emulator, whose nodes it reaches through a
// Dialer.
package clustertest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/fakecluster/fakecluster/slots"
	"github.com/redis/go-redis/v9"
)

// Rest is how long a slot stays away from a node that it has left: longer than a
// command that was redirected there by ASK is on its way.
const Rest = time.Second

// patience is how long the nodes may take to agree, beyond what a context says.
const patience = time.Minute

// Cluster is a cluster under test.
type Cluster struct {
	node  redis.Options
	addrs []string

	mu    sync.Mutex
	nodes map[string]*redis.Client
	left  map[stay]time.Time
}

// stay is a slot's time at a node.
type stay struct {
	slot slots.Slot
	addr string
}

// New returns the cluster that has these nodes, given as host:port, among others. Each
// node is reached with the options, of which Addr is ignored.
func New(node redis.Options, addrs ...string) *Cluster {
	node.MaxRetries = -1
	if node.ReadTimeout == 0 {
		node.ReadTimeout = patience
	}
	return &Cluster{node: node, addrs: addrs, nodes: map[string]*redis.Client{}, left: map[stay]time.Time{}}
}

// Close closes the connections to the nodes.
func (c *Cluster) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var failures []error
	for addr, client := range c.nodes {
		failures = append(failures, client.Close())
		delete(c.nodes, addr)
	}
	return errors.Join(failures...)
}

// Node is a client of one node, open until Close.
func (c *Cluster) Node(addr string) *redis.Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	client, ok := c.nodes[addr]
	if !ok {
		o := c.node
		o.Addr = addr
		client = redis.NewClient(&o)
		c.nodes[addr] = client
	}
	return client
}

func (c *Cluster) do(ctx context.Context, addr string, args ...any) (any, error) {
	reply, err := c.Node(addr).Do(ctx, args...).Result()
	if err != nil {
		return nil, fmt.Errorf("%v at %s: %w", args, addr, err)
	}
	return reply, nil
}

// Elsewhere is a master that has slots, but not this one: the one that it left longest
// ago.
func (c *Cluster) Elsewhere(ctx context.Context, slot slots.Slot) (addr string, err error) {
	nodes, err := c.Nodes(ctx)
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range nodes {
		if !n.IsMaster() || len(n.Ranges) == 0 || n.Owns(slot) {
			continue
		}
		if addr == "" || c.left[stay{slot, n.Addr}].Before(c.left[stay{slot, addr}]) {
			addr = n.Addr
		}
	}
	if addr == "" {
		return "", fmt.Errorf("find another master for slot %d: there is none that has slots", slot)
	}
	return addr, nil
}

// Move is a slot on its way from one master to another.
type Move struct {
	cluster  *Cluster
	slot     slots.Slot
	from, to Node
}

// Begin opens a slot for a move to a master. Its keys stay until Migrate is called.
func (c *Cluster) Begin(ctx context.Context, slot slots.Slot, to string) (*Move, error) {
	nodes, err := c.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	m := &Move{cluster: c, slot: slot}
	for _, n := range nodes {
		if n.Owns(slot) {
			m.from = n
		}
		if n.Addr == to && n.IsMaster() {
			m.to = n
		}
	}
	if m.from.ID == "" || m.to.ID == "" || m.from.ID == m.to.ID {
		return nil, fmt.Errorf("move slot %d to %s: it must have an owner, and the target be another master: %v", slot, to, nodes)
	}
	if err := c.rest(ctx, slot, to); err != nil {
		return nil, err
	}
	if _, err := c.do(ctx, to, "CLUSTER", "SETSLOT", int(slot), "IMPORTING", m.from.ID); err != nil {
		return nil, err
	}
	if _, err := c.do(ctx, m.from.Addr, "CLUSTER", "SETSLOT", int(slot), "MIGRATING", m.to.ID); err != nil {
		return nil, err
	}
	return m, nil
}

// rest waits until a slot may return to a node.
func (c *Cluster) rest(ctx context.Context, slot slots.Slot, to string) error {
	c.mu.Lock()
	since, ok := c.left[stay{slot, to}]
	c.mu.Unlock()
	if !ok {
		return nil
	}
	return pause(ctx, Rest-time.Since(since))
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// From is the master that the slot leaves.
func (m *Move) From() Node { return m.from }

// Migrate moves keys of the slot, as MIGRATE does.
func (m *Move) Migrate(ctx context.Context, keys ...string) error {
	if len(keys) == 0 {
		return nil
	}
	host, port, err := net.SplitHostPort(m.to.Addr)
	if err != nil {
		return fmt.Errorf("migrate keys of slot %d: %w", m.slot, err)
	}
	args := []any{"MIGRATE", host, port, "", 0, 10_000}
	if o := m.cluster.node; o.Username != "" {
		args = append(args, "AUTH2", o.Username, o.Password)
	} else if o.Password != "" {
		args = append(args, "AUTH", o.Password)
	}
	args = append(args, "KEYS")
	for _, key := range keys {
		args = append(args, key)
	}
	_, err = m.cluster.do(ctx, m.from.Addr, args...)
	return err
}

// MigrateSome moves up to n keys and returns how many it was; none is left at 0.
func (m *Move) MigrateSome(ctx context.Context, n int) (int, error) {
	keys, err := m.cluster.Node(m.from.Addr).ClusterGetKeysInSlot(ctx, int(m.slot), n).Result()
	if err != nil {
		return 0, fmt.Errorf("list keys of slot %d at %s: %w", m.slot, m.from.Addr, err)
	}
	return len(keys), m.Migrate(ctx, keys...)
}

// Finish moves what is left of the slot, makes the target its owner and returns when
// all nodes know.
func (m *Move) Finish(ctx context.Context) error {
	for {
		moved, err := m.MigrateSome(ctx, 100)
		if err != nil {
			return err
		}
		if moved == 0 {
			break
		}
	}
	for _, addr := range [...]string{m.to.Addr, m.from.Addr} {
		if _, err := m.cluster.do(ctx, addr, "CLUSTER", "SETSLOT", int(m.slot), "NODE", m.to.ID); err != nil {
			return err
		}
	}
	m.cluster.mu.Lock()
	m.cluster.left[stay{m.slot, m.from.Addr}] = time.Now()
	m.cluster.mu.Unlock()
	return m.cluster.until(ctx, fmt.Sprintf("%s owns slot %d", m.to.Addr, m.slot), func(nodes []Node) bool {
		return ownerOf(nodes, m.slot).ID == m.to.ID
	})
}

// Move moves a slot with all of its keys to another master.
func (c *Cluster) Move(ctx context.Context, slot slots.Slot, to string) error {
	m, err := c.Begin(ctx, slot, to)
	if err != nil {
		return err
	}
	return m.Finish(ctx)
}

// askAgain is how long a node waits for votes after CLUSTER FAILOVER, and its master
// holds writers up: 5 s in Redis.
const askAgain = 5 * time.Second

// Failover makes a replica of a master take over without losing a write, and returns
// when all nodes know.
//
// Masters vote for a replica of one master only once in two node timeouts, so a
// replica that they refuse asks again.
func (c *Cluster) Failover(ctx context.Context, master string) error {
	nodes, err := c.Nodes(ctx)
	if err != nil {
		return err
	}
	old, replica := byAddr(nodes, master), Node{}
	for _, n := range nodes {
		if n.Master == old.ID {
			replica = n
		}
	}
	if replica.ID == "" {
		return fmt.Errorf("fail %s over: it has no replica: %v", master, nodes)
	}
	var asked time.Time
	return c.until(ctx, fmt.Sprintf("%s took over from %s", replica.Addr, master), func(now []Node) bool {
		if byAddr(now, replica.Addr).IsMaster() && byAddr(now, master).Master == replica.ID {
			return true
		}
		if !byAddr(now, replica.Addr).IsMaster() && time.Since(asked) > askAgain {
			if _, err := c.do(ctx, replica.Addr, "CLUSTER", "FAILOVER"); err == nil {
				asked = time.Now()
			} // else it has not caught up yet
		}
		return false
	})
}

// until waits until the nodes agree and what they say holds.
func (c *Cluster) until(ctx context.Context, what string, holds func([]Node) bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("not within %v", patience))
	defer cancel()
	for {
		nodes, err := c.agreed(ctx)
		if err == nil && holds(nodes) {
			return nil
		}
		if pauseErr := pause(ctx, 5*time.Millisecond); pauseErr != nil {
			return fmt.Errorf("wait until %s: %w; now they say %v", what, errors.Join(pauseErr, err), nodes)
		}
	}
}

// Nodes are the nodes of the cluster that have not failed, once all of them say the
// same of roles, owners and config epochs.
func (c *Cluster) Nodes(ctx context.Context) (nodes []Node, err error) {
	err = c.until(ctx, "all nodes agree", func(now []Node) bool {
		nodes = now
		return true
	})
	return nodes, err
}

// Owner is the master of a slot that all nodes name.
func (c *Cluster) Owner(ctx context.Context, slot slots.Slot) (Node, error) {
	nodes, err := c.Nodes(ctx)
	if err != nil {
		return Node{}, err
	}
	owner := ownerOf(nodes, slot)
	if owner.ID == "" {
		return owner, fmt.Errorf("find the owner of slot %d: it has none: %v", slot, nodes)
	}
	return owner, nil
}

// agreed is what all nodes say, or how they differ.
func (c *Cluster) agreed(ctx context.Context) (nodes []Node, err error) {
	var asked string
	for _, asked = range c.addrs { // one that has failed does not answer
		if nodes, err = c.view(ctx, asked); err == nil {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	first := describe(nodes)
	for _, n := range nodes {
		if n.Addr == asked {
			continue
		}
		view, err := c.view(ctx, n.Addr)
		if err != nil {
			return nodes, err
		}
		if text := describe(view); text != first {
			return nodes, fmt.Errorf("%s says %s", n.Addr, text)
		}
	}
	return nodes, distinct(nodes)
}

// distinct is an error if two masters have the same epoch: one will take another.
func distinct(nodes []Node) error {
	taken := map[string]string{}
	for _, n := range nodes {
		if !n.IsMaster() || len(n.Ranges) == 0 {
			continue
		}
		if other, ok := taken[n.Epoch]; ok {
			return fmt.Errorf("%s and %s have the config epoch %s", other, n.Addr, n.Epoch)
		}
		taken[n.Epoch] = n.Addr
	}
	return nil
}

// view is what a node says of the cluster.
func (c *Cluster) view(ctx context.Context, addr string) ([]Node, error) {
	reply, err := c.do(ctx, addr, "CLUSTER", "NODES")
	if err != nil {
		return nil, err
	}
	text, ok := reply.(string)
	if !ok {
		return nil, fmt.Errorf("CLUSTER NODES at %s: the reply is a %T", addr, reply)
	}
	return parse(addr, text)
}

func describe(nodes []Node) string {
	var b strings.Builder
	for _, n := range nodes {
		fmt.Fprintf(&b, "[%s]", n)
	}
	return b.String()
}
