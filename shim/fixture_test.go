package shim_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/shim"
	"github.com/fakecluster/fakecluster/shim/clustertest"
	"github.com/fakecluster/fakecluster/slots"
	"github.com/fakecluster/fakecluster/tests/redisserver"
	"github.com/redis/go-redis/v9"
)

// cluster is a cluster under test: the emulator's or one of real servers.
type cluster struct {
	t      testing.TB
	addrs  []string // masters first
	dialer shim.Dialer
	nodes  []*redis.Client // bare clients, one per node, that go past the shim

	topology *clustertest.Cluster // moves slots and fails masters over

	emulator *emulator.Cluster    // nil if the servers are real
	servers  *redisserver.Cluster // nil if they are not
}

// kill ends a node as a crash does.
func (c *cluster) kill(node int) {
	if c.emulator != nil {
		c.emulator.Kill(c.emulator.Node(node))
	} else {
		c.servers.Nodes[node].Kill()
	}
}

// nodeTimeout is long enough for a busy machine, and short enough for masters to
// vote again soon.
const nodeTimeout = 5 * time.Second

// eachCluster runs body on the emulator and on real servers, of three masters
// with as many replicas each.
func eachCluster(t *testing.T, replicas int, body func(t *testing.T, c *cluster)) {
	t.Run("emulator", func(t *testing.T) { body(t, emulated(t, replicas)) })
	t.Run("real", func(t *testing.T) {
		servers := redisserver.StartCluster(t, 3, replicas, "--cluster-node-timeout", fmt.Sprint(nodeTimeout.Milliseconds()))
		c := newCluster(t, servers.Addrs(), nil)
		c.servers = servers
		body(t, c)
	})
}

func emulated(t testing.TB, replicas int) *cluster {
	e := emulator.RunT(t, emulator.RedisVersion("7.0"), emulator.Replicas(replicas), emulator.NodeTimeout(nodeTimeout))
	c := newCluster(t, e.Addrs(), e.Dialer())
	c.emulator = e
	return c
}

func newCluster(t testing.TB, addrs []string, dialer shim.Dialer) *cluster {
	c := &cluster{t: t, addrs: addrs, dialer: dialer, topology: clustertest.New(redis.Options{Dialer: dialer}, addrs...)}
	t.Cleanup(func() {
		if err := c.topology.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, addr := range addrs {
		c.nodes = append(c.nodes, c.topology.Node(addr))
	}
	return c
}

// plain is a go-redis client without the shim.
func (c *cluster) plain() *redis.ClusterClient {
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.addrs, Dialer: c.dialer})
	c.t.Cleanup(func() { client.Close() })
	return client
}

// handedIn is a go-redis client that worked before it got the shim.
func (c *cluster) handedIn(o shim.RetryOptions) *redis.ClusterClient {
	c.t.Helper()
	client := c.plain()
	if err := client.Set(context.Background(), "before", "the shim", 0).Err(); err != nil {
		c.t.Fatal(err)
	}
	if err := shim.WithRetry(client, o); err != nil {
		c.t.Fatal(err)
	}
	return client
}

// made is a client made by the shim.
func (c *cluster) made(o shim.Options) *redis.ClusterClient {
	c.t.Helper()
	client, err := shim.NewCluster(redis.ClusterOptions{Addrs: c.addrs, Dialer: c.dialer}, o)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { client.Close() })
	return client
}

// eachClient runs body with a client handed in and with one made by the shim.
func (c *cluster) eachClient(t *testing.T, o shim.RetryOptions, body func(t *testing.T, client *redis.ClusterClient)) {
	t.Run("handed in", func(t *testing.T) { body(t, c.handedIn(o)) })
	t.Run("made", func(t *testing.T) { body(t, c.made(shim.Options{Retry: o})) })
}

// do runs a command at one node.
func (c *cluster) do(node int, args ...any) any {
	c.t.Helper()
	reply, err := c.nodes[node].Do(context.Background(), args...).Result()
	if err != nil {
		c.t.Fatalf("%v at node %d: %v", args, node, err)
	}
	return reply
}

// slotsAt is what a node answers to CLUSTER SLOTS.
func (c *cluster) slotsAt(node int) []redis.ClusterSlot {
	c.t.Helper()
	ctx := context.Background()
	cmd := redis.NewClusterSlotsCmd(ctx, "cluster", "slots")
	if err := c.nodes[node].Process(ctx, cmd); err != nil {
		c.t.Fatal(err)
	}
	return cmd.Val()
}

// owner is the index of the node that owns a slot.
func (c *cluster) owner(slot slots.Slot) int {
	c.t.Helper()
	owner, err := c.topology.Owner(c.t.Context(), slot)
	if err != nil {
		c.t.Fatal(err)
	}
	return c.index(owner.Addr)
}

func (c *cluster) index(addr string) int {
	c.t.Helper()
	i := slices.Index(c.addrs, addr)
	if i < 0 {
		c.t.Fatalf("%s is none of %v", addr, c.addrs)
	}
	return i
}

// half begins to move a slot to another node: open, with the given keys gone.
func (c *cluster) half(slot slots.Slot, to int, gone ...string) *clustertest.Move {
	c.t.Helper()
	m, err := c.topology.Begin(c.t.Context(), slot, c.addrs[to])
	if err != nil {
		c.t.Fatal(err)
	}
	if err := m.Migrate(c.t.Context(), gone...); err != nil {
		c.t.Fatal(err)
	}
	return m
}

// finish ends a move that half began.
func (c *cluster) finish(m *clustertest.Move) {
	if err := m.Finish(c.t.Context()); err != nil {
		c.t.Error(err)
	}
}

// move moves a whole slot.
func (c *cluster) move(slot slots.Slot, to int) { c.finish(c.half(slot, to)) }

// failover makes a replica of a master take over without losing a write.
func (c *cluster) failover(master int) {
	c.t.Helper()
	if err := c.topology.Failover(c.t.Context(), c.addrs[master]); err != nil {
		c.t.Fatal(err)
	}
}

func (c *cluster) isMaster(node int) bool {
	role, ok := c.do(node, "ROLE").([]any)
	return ok && len(role) > 0 && role[0] == "master"
}

// once does something as soon as a condition holds. The function it returns waits
// until that is done: nothing of it may outlive the test.
func (c *cluster) once(holds func() bool, do func()) (done func()) {
	var work sync.WaitGroup
	work.Go(func() {
		for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				c.t.Error("what was waited for did not happen")
				break
			}
		}
		do()
	})
	return work.Wait
}

// tells returns a condition: that a node has answered with an error since.
func (c *cluster) tells(code string) func() bool {
	field := "errorstat_" + code + ":count"
	before := c.sum("errorstats", field)
	return func() bool { return c.sum("errorstats", field) > before }
}

// blocks is the condition that a client waits for a key.
func (c *cluster) blocks() bool { return c.sum("clients", "blocked_clients") > 0 }

// sum adds up a field of INFO over all nodes that answer.
func (c *cluster) sum(section, field string) (sum int) {
	for _, node := range c.nodes {
		for line := range strings.Lines(node.Info(context.Background(), section).Val()) {
			if text, ok := strings.CutPrefix(strings.TrimSpace(line), field); ok {
				n, _ := strconv.Atoi(text[1:]) // behind a colon or an equals sign
				sum += n
			}
		}
	}
	return sum
}

// lossy is a dialer through which replies can be lost: the command arrives and
// runs, what the node answers does not come back. It can also refuse what is sent
// in the name of the cluster.
type lossy struct {
	dial shim.Dialer
	// They say for the bytes of one write whether it is lost or refused.
	losing, refusing atomic.Pointer[func(sent []byte) bool]
	refused          atomic.Int64
}

func lose(dial shim.Dialer) *lossy {
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	return &lossy{dial: dial}
}

func (l *lossy) when(losing func(sent []byte) bool)     { l.losing.Store(&losing) }
func (l *lossy) refuse(refusing func(sent []byte) bool) { l.refusing.Store(&refusing) }

func (l *lossy) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := l.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &lossyConn{Conn: conn, lossy: l}, nil
}

type lossyConn struct {
	net.Conn
	lossy *lossy

	mu      sync.Mutex
	lost    bool
	answers []byte // to what was refused
}

func (c *lossyConn) Write(b []byte) (int, error) {
	if refusing := c.lossy.refusing.Load(); refusing != nil && (*refusing)(b) {
		if answers := refusals(b); answers != nil {
			c.lossy.refused.Add(1)
			c.mu.Lock()
			defer c.mu.Unlock()
			c.answers = append(c.answers, answers...)
			return len(b), nil
		}
	}
	if losing := c.lossy.losing.Load(); losing != nil && (*losing)(b) {
		c.mu.Lock()
		c.lost = true
		c.mu.Unlock()
	}
	return c.Conn.Write(b)
}

// Read waits for a reply that is to be lost, so that the command has run.
func (c *lossyConn) Read(b []byte) (int, error) {
	c.mu.Lock()
	if n := copy(b, c.answers); n > 0 {
		c.answers = c.answers[n:]
		c.mu.Unlock()
		return n, nil
	}
	c.mu.Unlock()
	n, err := c.Conn.Read(b)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost {
		if err == nil {
			c.Conn.Close()
		}
		return 0, io.EOF
	}
	return n, err
}

// refusals are the replies of a node whose cluster is down, or whose slot is on the
// move, to the commands of one write; nil if it is not whole or not to be refused.
func refusals(sent []byte) []byte {
	var answers []byte
	r := bufio.NewReader(bytes.NewReader(sent))
	for multi := false; ; {
		var words int
		if _, err := fmt.Fscanf(r, "*%d\r\n", &words); err != nil {
			return answers
		}
		var name string
		for i := range words {
			var size int
			if _, err := fmt.Fscanf(r, "$%d\r\n", &size); err != nil {
				return nil
			}
			word := make([]byte, size+2)
			if _, err := io.ReadFull(r, word); err != nil {
				return nil
			}
			if i == 0 {
				name = string(word[:size])
			}
		}
		switch {
		case name == "asking":
			return nil
		case name == "multi":
			multi = true
			answers = append(answers, "+OK\r\n"...)
		case name == "exec" && multi:
			answers = append(answers, "-EXECABORT Transaction discarded because of previous errors.\r\n"...)
		case len(sent)%2 == 0:
			answers = append(answers, "-TRYAGAIN Multiple keys request during rehashing of slot\r\n"...)
		default:
			answers = append(answers, "-CLUSTERDOWN The cluster is down\r\n"...)
		}
	}
}

// tagged is a key in a slot.
func tagged(slot slots.Slot, name any) string { return fmt.Sprintf("{%s}%v", slots.TagFor(slot), name) }

func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// eachClusterWithAnEmptyNode is eachCluster with a fourth master that has no
// slots.
func eachClusterWithAnEmptyNode(t *testing.T, body func(t *testing.T, c *cluster)) {
	t.Run("emulator", func(t *testing.T) {
		e := emulator.RunT(t, emulator.RedisVersion("7.0"), emulator.Masters(4), emulator.Empty())
		body(t, join(newCluster(t, e.Addrs(), e.Dialer())))
	})
	t.Run("real", func(t *testing.T) {
		var addrs []string
		for range 4 {
			addrs = append(addrs, redisserver.StartEmptyNode(t).Addr())
		}
		body(t, join(newCluster(t, addrs, nil)))
	})
}

// join makes a cluster of fresh nodes, of which the last gets no slots.
func join(c *cluster) *cluster {
	c.t.Helper()
	last := len(c.nodes) - 1
	for i, r := range slots.Split(last) {
		c.do(i, "CLUSTER", "ADDSLOTSRANGE", int(r.First), int(r.Last))
	}
	for i := range c.nodes {
		c.do(i, "CLUSTER", "SET-CONFIG-EPOCH", i+1)
		// Or a master whose last slot goes away becomes a replica.
		c.do(i, "CONFIG", "SET", "cluster-allow-replica-migration", "no")
	}
	for i, addr := range c.addrs[1:] {
		host, port, err := net.SplitHostPort(addr)
		if err != nil {
			c.t.Fatal(err)
		}
		_, bus, _ := strings.Cut(strings.Fields(c.do(i+1, "CLUSTER", "NODES").(string))[1], "@")
		bus, _, _ = strings.Cut(bus, ",")
		for j := range i + 1 {
			c.do(j, "CLUSTER", "MEET", host, port, bus)
		}
	}
	deadline := time.Now().Add(time.Minute)
	for i := range c.nodes {
		for {
			info, nodes := c.do(i, "CLUSTER", "INFO").(string), c.do(i, "CLUSTER", "NODES").(string)
			if strings.Contains(info, "cluster_state:ok") && strings.Count(nodes, " connected") == len(c.nodes) &&
				!strings.Contains(nodes, "handshake") {
				break
			}
			if time.Now().After(deadline) {
				c.t.Fatalf("the nodes did not become a cluster:\n%s%s", info, nodes)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	return c
}

// replicaOf is the index of a master's replica.
func (c *cluster) replicaOf(master int) int {
	c.t.Helper()
	id := c.do(master, "CLUSTER", "MYID")
	for node := range c.nodes {
		if node != master && strings.Fields(c.myself(node))[3] == id {
			return node
		}
	}
	c.t.Fatalf("node %d has no replica", master)
	return -1
}

// listReplicas waits until all nodes tell clients of the replicas, which they do
// once they have heard of an offset.
func (c *cluster) listReplicas() {
	c.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for i := range c.nodes {
		if c.isMaster(i) {
			c.do(i, "PUBLISH", "anything", "something")
		}
		for listed := false; !listed; time.Sleep(10 * time.Millisecond) {
			ranges := c.slotsAt(i)
			listed = true
			for _, r := range ranges {
				listed = listed && len(r.Nodes) > 1
			}
			if time.Now().After(deadline) {
				c.t.Fatalf("node %d lists no replicas: %v", i, ranges)
			}
		}
	}
}

// myself is a node's own line of CLUSTER NODES.
func (c *cluster) myself(node int) string {
	c.t.Helper()
	for line := range strings.Lines(c.do(node, "CLUSTER", "NODES").(string)) {
		if strings.Contains(line, "myself") {
			return line
		}
	}
	c.t.Fatalf("node %d does not list itself", node)
	return ""
}
