package scenarios

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/fakecluster/fakecluster/emulator/control"
	"github.com/fakecluster/fakecluster/slots"
	"github.com/fakecluster/fakecluster/tests/redisserver"
)

// The scenarios of both/ against real servers: what is written there for the
// emulator is what they must say.
func TestReal(t *testing.T) {
	redisserver.Find(t)
	for _, file := range scenarios(t, "both") {
		t.Run(name(file), func(t *testing.T) {
			t.Parallel()
			play(t, file, startReal)
		})
	}
}

// realTimeout is the node timeout of the real clusters.
const realTimeout = time.Second

// real is a cluster of redis-server processes.
type real struct {
	t       *testing.T
	cluster *redisserver.Cluster
	dead    map[int]bool
	moves   map[string]realMove
}

type realMove struct{ from, to int }

func startReal(t *testing.T, d *datadriven.TestData) target {
	masters, replicas := 3, 1
	if d.HasArg("masters") {
		d.ScanArgs(t, "masters", &masters)
	}
	if d.HasArg("replicas") {
		d.ScanArgs(t, "replicas", &replicas)
	}
	c := redisserver.StartCluster(t, masters, replicas,
		"--cluster-node-timeout", strconv.FormatInt(realTimeout.Milliseconds(), 10), "--repl-ping-replica-period", "1")
	r := &real{t: t, cluster: c, dead: map[int]bool{}, moves: map[string]realMove{}}
	r.await("knowledge of the replicas' offsets", r.listsReplicas)
	return r
}

// listsReplicas reports whether CLUSTER SLOTS shows all nodes at all nodes: it
// leaves out replicas of which no offset is known.
func (r *real) listsReplicas() bool {
	for i := range r.cluster.Nodes {
		listed := 0
		for _, v := range r.ask(i, "CLUSTER SLOTS").items {
			listed += len(v.items) - 2
		}
		if listed < len(r.cluster.Nodes) {
			return false
		}
	}
	return true
}

func (r *real) nodes() map[string]string {
	addrs := map[string]string{}
	for i, n := range r.cluster.Nodes {
		addrs[nodeName(i)] = n.Addr()
	}
	return addrs
}

func (r *real) ids() map[string]string {
	ids := map[string]string{}
	for i, id := range r.cluster.IDs {
		ids[nodeName(i)] = id
	}
	return ids
}

func nodeName(i int) string { return "n" + strconv.Itoa(i+1) }

func (r *real) dial(addr string) (net.Conn, error) {
	return net.DialTimeout("tcp", addr, 5*time.Second)
}

func (r *real) calm() { time.Sleep(200 * time.Millisecond) }

func (r *real) patience() time.Duration { return 3 * time.Second }

// node is the position of a node in the cluster.
func (r *real) node(name string) (int, error) {
	i, err := strconv.Atoi(strings.TrimPrefix(name, "n"))
	if err != nil || i < 1 || i > len(r.cluster.Nodes) {
		return 0, fmt.Errorf("there is no node %q; nodes lists them", name)
	}
	return i - 1, nil
}

func (r *real) do(i int, args ...string) string {
	r.t.Helper()
	reply, err := r.cluster.Nodes[i].Do(args...)
	if err != nil {
		r.t.Fatalf("%v at %s: %v", args, nodeName(i), err)
	}
	return reply
}

// verb does what the verb of that name does to an emulated cluster.
func (r *real) verb(words ...string) (string, error) {
	verb, args := words[0], words[1:]
	switch verb {
	case "settle":
		return r.settle()
	case "migrate", "migrate-keys", "migrate-finish", "move":
		return r.migrate(verb, args)
	}
	i, err := r.node(args[0])
	if err != nil {
		return "", err
	}
	switch verb {
	case "kill":
		r.cluster.Nodes[i].Kill()
		r.dead[i] = true
	case "pause":
		return "OK", syscall.Kill(r.cluster.Nodes[i].Pid(), syscall.SIGSTOP)
	case "resume":
		return "OK", syscall.Kill(r.cluster.Nodes[i].Pid(), syscall.SIGCONT)
	case "failover":
		return r.failover(i, args[1:]...)
	default:
		return "", fmt.Errorf("a real cluster cannot %s", verb)
	}
	return "OK", nil
}

// failover makes replica i take over and waits until all know.
func (r *real) failover(i int, mode ...string) (string, error) {
	if _, err := r.cluster.Nodes[i].Do(append([]string{"CLUSTER", "FAILOVER"}, mode...)...); err != nil {
		return "", fmt.Errorf("emulator: failover: %w", err)
	}
	r.await("the failover", func() bool { return r.isMaster(i) })
	return r.settle()
}

func (r *real) isMaster(i int) bool {
	return strings.Contains(r.do(i, "INFO", "replication"), "role:master")
}

func (r *real) await(what string, done func() bool) {
	r.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			r.t.Fatalf("%s does not come about; the nodes believe\n%s", what, r.beliefs())
		}
	}
}

// settle waits until all nodes that live agree, know who is dead, and nothing
// has changed for some node timeouts.
func (r *real) settle() (string, error) {
	last, since := "", time.Time{}
	r.await("agreement", func() bool {
		now, agreed := r.agreement()
		if !agreed || now != last {
			last, since = now, time.Now()
		}
		return agreed && time.Since(since) > 3*realTimeout
	})
	return "OK", nil
}

// beliefs are the views of all nodes that live.
func (r *real) beliefs() string {
	names := map[string]string{}
	for name, id := range r.ids() {
		names[id] = name
	}
	var b strings.Builder
	for i, n := range r.cluster.Nodes {
		if !r.dead[i] {
			text, err := n.Do("CLUSTER", "NODES")
			fmt.Fprintf(&b, "%s: %v\n%s", nodeName(i), err, control.Readable(text, names))
		}
	}
	return b.String()
}

// agreement is what the nodes believe if they all do, and their own states.
func (r *real) agreement() (beliefs string, agreed bool) {
	names := map[string]string{}
	for name, id := range r.ids() {
		names[id] = name
	}
	agreed = true
	var first, states string
	for i, n := range r.cluster.Nodes {
		if r.dead[i] {
			continue
		}
		text, err := n.Do("CLUSTER", "NODES")
		if err != nil {
			return "", false
		}
		seen := steady(control.Readable(text, names))
		if first == "" {
			first = seen
		}
		agreed = agreed && seen == first && !strings.Contains(seen, "fail?") && !strings.Contains(seen, "handshake")
		for dead := range r.dead {
			agreed = agreed && strings.Contains(line(seen, nodeName(dead)), ",fail")
		}
		info, err := n.Do("CLUSTER", "INFO")
		if err != nil {
			return "", false
		}
		state, _, _ := strings.Cut(info, "\r\n")
		replication, err := n.Do("INFO", "replication")
		if err != nil {
			return "", false
		}
		states += state
		if strings.Contains(replication, "master_link_status:down") {
			states += " link down"
		}
	}
	return first + states, agreed
}

// line is the line of a text that begins with a name.
func line(text, name string) string {
	for l := range strings.Lines(text) {
		if strings.HasPrefix(l, name+" ") {
			return l
		}
	}
	return ""
}

// migrate is what redis-cli does for a resharding, in steps.
func (r *real) migrate(verb string, args []string) (string, error) {
	slot := args[0]
	if verb == "migrate" || verb == "move" {
		to, err := r.node(args[1])
		if err != nil {
			return "", err
		}
		from := r.owner(slot)
		r.do(to, "CLUSTER", "SETSLOT", slot, "IMPORTING", r.cluster.IDs[from])
		r.do(from, "CLUSTER", "SETSLOT", slot, "MIGRATING", r.cluster.IDs[to])
		r.moves[slot] = realMove{from, to}
	}
	m := r.moves[slot]
	switch verb {
	case "migrate-keys":
		limit := 1 << 20
		if len(args) == 2 {
			limit, _ = strconv.Atoi(args[1])
		}
		moved := r.moveKeys(slot, m, limit)
		return fmt.Sprintf("moved %d, %s left", moved, r.do(m.from, "CLUSTER", "COUNTKEYSINSLOT", slot)), nil
	case "migrate-finish", "move":
		r.moveKeys(slot, m, 1<<20)
		r.do(m.to, "CLUSTER", "SETSLOT", slot, "NODE", r.cluster.IDs[m.to])
		r.do(m.from, "CLUSTER", "SETSLOT", slot, "NODE", r.cluster.IDs[m.to])
		r.await("knowledge of the move", func() bool { _, agreed := r.agreement(); return agreed })
	}
	return "OK", nil
}

func (r *real) owner(slot string) int {
	for i := range r.cluster.Nodes {
		if r.dead[i] || !r.isMaster(i) {
			continue
		}
		probe := "{" + tagOf(slot) + "}probe"
		if _, err := r.cluster.Nodes[i].Do("EXISTS", probe); err == nil {
			return i
		}
	}
	r.t.Fatalf("nobody owns slot %s", slot)
	return 0
}

func (r *real) moveKeys(slot string, m realMove, limit int) (moved int) {
	keys := r.list(m.from, "CLUSTER GETKEYSINSLOT "+slot+" "+strconv.Itoa(limit))
	if len(keys) == 0 {
		return 0
	}
	target := r.cluster.Nodes[m.to]
	args := append([]string{"MIGRATE", "127.0.0.1", strconv.Itoa(target.Port), "", "0", "5000", "KEYS"}, keys...)
	r.do(m.from, args...)
	return len(keys)
}

func (r *real) list(i int, line string) (items []string) {
	for _, item := range r.ask(i, line).items {
		items = append(items, item.text)
	}
	return items
}

// ask says something to a node on a connection of its own.
func (r *real) ask(i int, line string) value {
	r.t.Helper()
	conn, err := r.dial(r.cluster.Nodes[i].Addr())
	if err != nil {
		r.t.Fatal(err)
	}
	defer conn.Close()
	c := newConnection(conn, r.patience())
	c.send([][]string{words(line)})
	v, failed := c.next()
	if failed != "" {
		r.t.Fatalf("%s: %s", line, failed)
	}
	return v
}

// tagOf is a hash tag of a slot.
func tagOf(slot string) string {
	n, err := strconv.Atoi(slot)
	if err != nil {
		return ""
	}
	return slots.TagFor(slots.Slot(n))
}
