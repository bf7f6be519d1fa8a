package topology

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/google/go-cmp/cmp"

	"github.com/fakecluster/fakecluster/emulator/internal/version"
	"github.com/fakecluster/fakecluster/tests/redisserver"
)

// nodeTimeout is that of the real cluster: long enough for a busy machine.
const nodeTimeout = 3 * time.Second

// twin is a real cluster and a simulated one with the same ids and addresses:
// masters 0 to 2, replicas 3 to 5.
type twin struct {
	*sim
	real  *redisserver.Cluster
	conns []redis.Conn
}

func newTwin(t *testing.T) *twin {
	t.Helper()
	// On a slow machine a replica must not be held for too old to be elected.
	w := &twin{real: redisserver.StartCluster(t, 3, 1, "--repl-ping-replica-period", "1", "--cluster-node-timeout", fmt.Sprint(nodeTimeout.Milliseconds()),
		"--cluster-replica-validity-factor", "0")}
	members := Layout(3, 1)
	random := rand.New(rand.NewPCG(1, 1))
	w.sim = &sim{now: time.Now().UnixMilli(), names: map[string]string{}}
	w.Network = NewNetwork(random, w.now)
	for i := range members {
		w.servers = append(w.servers, newServer())
		members[i].Config = Config{
			ID: w.real.IDs[i], Version: version.V7_0, Settings: DefaultSettings(), Rand: random, Host: w.servers[i],
			Addr: Addr{Host: "127.0.0.1", Port: w.real.Nodes[i].Port, BusPort: busPort(t, w.real.Nodes[i])},
		}
	}
	nodes, err := Form(members, w.now)
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range nodes {
		w.join(n)
		c, err := redis.Dial("tcp", w.real.Nodes[i].Addr())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		w.conns = append(w.conns, c)
	}
	w.Exchange(w.now)
	w.awaitOffsets(t)
	return w
}

// awaitOffsets waits until every real node has heard from every replica that
// it received something: only then it lists it.
func (w *twin) awaitOffsets(t *testing.T) {
	t.Helper()
	w.await(t, "replicas in CLUSTER SLOTS", func() bool {
		listed := 0
		for node := range w.conns {
			reply, _ := w.ask(node, "CLUSTER", "SLOTS")
			for _, r := range reply.([]any) {
				listed += len(r.([]any)) - 3
			}
		}
		return listed == 3*len(w.conns)
	})
}

func (w *twin) await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the real cluster does not reach: %s", what)
		}
	}
}

var busPortOf = regexp.MustCompile(`:\d+@(\d+)\S* \S*myself`)

func busPort(t *testing.T, s *redisserver.Server) int {
	t.Helper()
	text, err := s.Do("CLUSTER", "NODES")
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(busPortOf.FindStringSubmatch(text)[1])
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// do sends words to a real node and returns the error text or "" for any other
// reply.
func (w *twin) do(node int, words ...string) string {
	_, text := w.ask(node, words...)
	return text
}

func (w *twin) ask(node int, words ...string) (any, string) {
	args := make([]any, len(words)-1)
	for i, word := range words[1:] {
		args[i] = word
	}
	reply, err := w.conns[node].Do(words[0], args...)
	if err != nil {
		return nil, err.Error()
	}
	return reply, ""
}

// cluster sends CLUSTER words to node in both worlds and compares the errors.
func (w *twin) cluster(t *testing.T, node int, words ...string) {
	t.Helper()
	want := w.do(node, append([]string{"CLUSTER"}, words...)...)
	got := ""
	if err := w.command(node, words...); err != nil {
		got = err.Error()
	}
	if got == ErrArity.Error() && strings.Contains(want, got) {
		return
	}
	if got != want {
		t.Errorf("node %d: CLUSTER %s: %q, redis says %q", node, strings.Join(words, " "), got, want)
	}
}

// command is CLUSTER in the simulation.
func (s *sim) command(node int, words ...string) error {
	n := s.nodes[node]
	args := make([][]byte, len(words)-1)
	for i, word := range words[1:] {
		args[i] = []byte(word)
	}
	arg := func(i int) string {
		if i < len(args) {
			return string(args[i])
		}
		return ""
	}
	switch words[0] {
	case "ADDSLOTS":
		return n.AddSlots(args, s.now)
	case "DELSLOTS":
		return n.DelSlots(args, s.now)
	case "ADDSLOTSRANGE":
		return n.AddSlotsRange(args, s.now)
	case "DELSLOTSRANGE":
		return n.DelSlotsRange(args, s.now)
	case "FLUSHSLOTS":
		return n.FlushSlots(s.now)
	case "SETSLOT":
		return n.SetSlot(args, s.now)
	case "MEET":
		var bus []byte
		if len(args) > 2 {
			bus = args[2]
		}
		return n.Meet(arg(0), args[1], bus, s.now)
	case "FORGET":
		return n.Forget(arg(0), s.now)
	case "REPLICATE":
		return n.Replicate(arg(0), s.now)
	case "RESET":
		return n.Reset(arg(0), s.now)
	case "SET-CONFIG-EPOCH":
		return n.SetConfigEpoch(args[0], s.now)
	case "BUMPEPOCH":
		n.BumpEpoch(s.now)
		return nil
	case "FAILOVER":
		return n.Failover(arg(0), s.now)
	case "COUNT-FAILURE-REPORTS":
		_, err := n.CountFailureReports(arg(0), s.now)
		return err
	case "REPLICAS":
		_, err := n.Replicas(arg(0))
		return err
	}
	return fmt.Errorf("the simulation has no CLUSTER %s", words[0])
}

func TestAgreesWithRedis(t *testing.T) {
	t.Parallel()
	w := newTwin(t)
	t.Run("errors", w.testErrors)
	t.Run("descriptions", w.testDescriptions)
	t.Run("route", w.testRoute)
	t.Run("changes", w.testChanges)
}

func (w *twin) testErrors(t *testing.T) {
	id := w.real.IDs
	for _, words := range [][]string{
		{"ADDSLOTS", "1", "x"}, {"ADDSLOTS", "1"}, {"ADDSLOTS", "01"}, {"ADDSLOTS", "-1"}, {"ADDSLOTS", "16384"},
		{"ADDSLOTSRANGE", "1"}, {"ADDSLOTSRANGE", "5", "1"}, {"ADDSLOTSRANGE", "1", "5", "9", "8"}, {"ADDSLOTSRANGE", "1", "2", "3"},
		{"DELSLOTS", "x"}, {"DELSLOTS", "1", "1"}, {"DELSLOTSRANGE", "1", "3", "2", "4"}, {"DELSLOTSRANGE", "4", "3"},
		{"SETSLOT", "x", "y"}, {"SETSLOT", "1", "foo"}, {"SETSLOT", "1", "MIGRATING"}, {"SETSLOT", "1", "MIGRATING", "x"},
		{"SETSLOT", "10000", "migrating", "x"}, {"SETSLOT", "1", "importing", "x"}, {"SETSLOT", "10000", "importing", "x"},
		{"SETSLOT", "1", "node", "x"}, {"SETSLOT", "1", "node", id[3]}, {"SETSLOT", "1", "migrating", id[3]},
		{"SETSLOT", "10000", "importing", id[3]}, {"SETSLOT", "1", "stable", "x"}, {"SETSLOT", "1", "stable"},
		{"MEET", "127.0.0.1", "x"}, {"MEET", "127.0.0.1", "70000"}, {"MEET", "localhost", "7000"}, {"MEET", "127.0.0.1", "7000", "x"},
		{"MEET", "127.0.0.1", "60000"}, {"MEET", "0", "7000"}, {"MEET", "127.0.0.1", "0"}, {"MEET", "127.0.0.1", "1", "0"},
		{"FORGET", "x"}, {"FORGET", id[0]}, {"REPLICATE", "x"}, {"REPLICATE", id[0]}, {"REPLICATE", id[1]}, {"REPLICATE", id[3]},
		{"RESET", "foo"}, {"SET-CONFIG-EPOCH", "x"}, {"SET-CONFIG-EPOCH", "-1"}, {"SET-CONFIG-EPOCH", "4"},
		{"FAILOVER"}, {"FAILOVER", "foo"}, {"FAILOVER", "force"}, {"COUNT-FAILURE-REPORTS", "x"}, {"COUNT-FAILURE-REPORTS", id[2]},
		{"REPLICAS", "x"}, {"REPLICAS", id[3]}, {"REPLICAS", id[0]},
	} {
		w.cluster(t, 0, words...)
	}
	for _, words := range [][]string{
		{"SETSLOT", "1", "stable"}, {"FORGET", id[0]}, {"REPLICATE", id[3]}, {"REPLICATE", id[4]}, {"FAILOVER", "x"}, {"FORGET", "x"},
	} {
		w.cluster(t, 3, words...)
	}
	// With a key in the slot of "bar", 5061.
	w.do(0, "SET", "bar", "1")
	w.servers[0].keys[5061] = 1
	for _, words := range [][]string{{"FLUSHSLOTS"}, {"RESET"}, {"RESET", "hard"}, {"SETSLOT", "5061", "NODE", id[1]}} {
		w.cluster(t, 0, words...)
	}
}

// testChanges lets both clusters live through the same, and compares what all
// nodes believe afterwards.
func (w *twin) testChanges(t *testing.T) {
	id := w.real.IDs
	w.do(0, "DEL", "bar")
	w.do(0, "DEL", "{bar}here")
	w.servers[0].keys[5061] = 0
	// Slots that node 0 gave up and took again stay marked as unclaimed at the
	// others, who look closely only when it claims what they did not know; a
	// heartbeat that is late for the failover below would get them back for node 0.
	// So it claims a slot that is nobody's.
	for node := range w.nodes[1:] {
		w.cluster(t, node+1, "DELSLOTS", "3443")
	}
	w.cluster(t, 0, "ADDSLOTS", "3443")
	w.agree(t, "added")
	w.cluster(t, 1, "SETSLOT", "5061", "NODE", id[1])
	w.agree(t, "imported")
	w.cluster(t, 0, "SETSLOT", "5061", "NODE", id[1])
	w.agree(t, "migrated")
	w.cluster(t, 0, "BUMPEPOCH")
	w.agree(t, "bumped")

	w.cluster(t, 3, "FAILOVER")
	elected := time.Now()
	w.agree(t, "manual failover")
	w.cluster(t, 0, "FAILOVER", "TAKEOVER")
	w.agree(t, "takeover")
	// Redis does not forget the votes of an election that is won. A replica whose
	// master fails within auth_timeout, two node timeouts, of its last election
	// counts them again and becomes a master under its old epoch, whose claims
	// nobody believes.
	time.Sleep(time.Until(elected.Add(2 * nodeTimeout)))
	w.signal(t, 0, syscall.SIGSTOP)
	w.Pause(id[0])
	w.agree(t, "a frozen master is replaced")
	w.signal(t, 0, syscall.SIGCONT)
	w.Resume(id[0])
	w.agree(t, "a thawed master follows")
	w.cluster(t, 4, "FAILOVER", "FORCE")
	w.agree(t, "forced failover")
	w.cluster(t, 1, "REPLICATE", id[3])
	w.agree(t, "another master")

	w.kill(5)
	w.agree(t, "a replica dies, its master gets another")
	w.kill(2)
	w.agree(t, "a master dies")
	w.kill(4)
	w.agree(t, "a master without replicas dies")
}

func (w *twin) signal(t *testing.T, node int, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(w.real.Nodes[node].Pid(), s); err != nil {
		t.Fatal(err)
	}
}

func (w *twin) kill(node int) {
	w.real.Nodes[node].Kill()
	w.Kill(w.real.IDs[node])
}

// agree waits until all real nodes that live believe what the simulated ones do
// once they have settled.
func (w *twin) agree(t *testing.T, state string) {
	t.Helper()
	for _, n := range w.nodes {
		n.Settings.NodeTimeout = nodeTimeout.Milliseconds()
	}
	w.now = time.Now().UnixMilli()
	w.Settle(w.now)
	var diff string
	same := func() bool {
		for i, n := range w.nodes {
			if !w.sim.member(n.ID()).running() {
				continue
			}
			reply, _ := w.ask(i, "CLUSTER", "NODES")
			info, _ := w.ask(i, "CLUSTER", "INFO")
			want := append(canonicalNodes(string(reply.([]byte))), strings.Fields(string(info.([]byte)))[:9]...)
			got := append(canonicalNodes(n.Nodes()), strings.Fields(n.Info())[:9]...)
			if diff = cmp.Diff(want, got); diff != "" {
				diff = fmt.Sprintf("node %d (-redis +ours):\n%s", i, diff)
				return false
			}
		}
		return true
	}
	for deadline := time.Now().Add(40 * time.Second); !same(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			// What follows would only wait for its own deadline.
			t.Fatalf("%s: %s\n%s", state, diff, w.logs())
		}
	}
}

// logs are the ends of what the real nodes wrote: why a cluster does not elect
// is said nowhere else.
func (w *twin) logs() string {
	var text strings.Builder
	for i, s := range w.real.Nodes {
		fmt.Fprintf(&text, "node %d, %s, port %d:\n%s\n", i, w.real.IDs[i], s.Port, s.Log())
	}
	return text.String()
}

var (
	nodeTimes = regexp.MustCompile(` \d+ \d+ (\d+ (?:dis)?connected)`)
	// A link to a node that is held for failed is made anew again and again.
	failedLink = regexp.MustCompile(`(,fail\S* .*) (?:dis)?connected`)
	infoStats  = regexp.MustCompile(`(cluster_stats_messages\w+):\d+`)
)

func (w *twin) testDescriptions(t *testing.T) {
	id := w.real.IDs
	w.cluster(t, 1, "SETSLOT", "5", "IMPORTING", id[0])
	w.cluster(t, 0, "SETSLOT", "5", "MIGRATING", id[1])
	w.cluster(t, 0, "SETSLOT", "9", "MIGRATING", id[2])
	w.cluster(t, 0, "DELSLOTS", "100", "200")
	for _, settings := range []struct {
		words []string
		apply func(*Settings)
	}{
		{[]string{"cluster-preferred-endpoint-type", "ip"}, func(*Settings) {}},
		{[]string{"cluster-preferred-endpoint-type", "hostname"}, func(s *Settings) { s.PreferredEndpoint = EndpointHostname }},
		{[]string{"cluster-preferred-endpoint-type", "unknown-endpoint"}, func(s *Settings) { s.PreferredEndpoint = EndpointUnknown }},
	} {
		for node := range w.nodes {
			if text := w.do(node, append([]string{"CONFIG", "SET"}, settings.words...)...); text != "" {
				t.Fatal(text)
			}
			settings.apply(&w.nodes[node].Settings)
			w.compareNode(t, node, settings.words[1])
		}
	}
	for node := range w.nodes {
		w.do(node, "CONFIG", "SET", "cluster-preferred-endpoint-type", "ip")
		w.nodes[node].Settings.PreferredEndpoint = EndpointIP
	}
	w.cluster(t, 0, "ADDSLOTS", "100", "200")
	w.cluster(t, 0, "SETSLOT", "5", "STABLE")
	w.cluster(t, 0, "SETSLOT", "9", "STABLE")
	w.cluster(t, 1, "SETSLOT", "5", "STABLE")
}

// compareNode compares what both nodes say of the cluster.
func (w *twin) compareNode(t *testing.T, node int, state string) {
	t.Helper()
	n := w.nodes[node]
	reply, _ := w.ask(node, "CLUSTER", "NODES")
	if diff := cmp.Diff(canonicalNodes(string(reply.([]byte))), canonicalNodes(n.Nodes())); diff != "" {
		t.Errorf("%s: node %d: CLUSTER NODES (-redis +ours):\n%s", state, node, diff)
	}
	reply, _ = w.ask(node, "CLUSTER", "INFO")
	want, got := infoStats.ReplaceAllString(string(reply.([]byte)), ""), infoStats.ReplaceAllString(n.Info(), "")
	want, got = regexp.MustCompile(`(\r\n)+`).ReplaceAllString(want, "\n"), regexp.MustCompile(`(\r\n)+`).ReplaceAllString(got, "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: node %d: CLUSTER INFO (-redis +ours):\n%s", state, node, diff)
	}
	reply, _ = w.ask(node, "CLUSTER", "SLOTS")
	if diff := cmp.Diff(plain(reply), plainSlots(n.SlotRanges())); diff != "" {
		t.Errorf("%s: node %d: CLUSTER SLOTS (-redis +ours):\n%s", state, node, diff)
	}
	reply, _ = w.ask(node, "CLUSTER", "SHARDS")
	shards := plain(reply).([]any)
	sortShards(shards)
	ours := plainShards(n.Shards())
	sortShards(ours)
	if diff := cmp.Diff(shards, ours); diff != "" {
		t.Errorf("%s: node %d: CLUSTER SHARDS (-redis +ours):\n%s", state, node, diff)
	}
	if node < 3 {
		reply, _ = w.ask(node, "CLUSTER", "REPLICAS", w.real.IDs[node])
		lines, err := n.Replicas(w.real.IDs[node])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(canonicalNodes(fmt.Sprint(plain(reply))), canonicalNodes(fmt.Sprint(lines))); diff != "" {
			t.Errorf("%s: node %d: CLUSTER REPLICAS (-redis +ours):\n%s", state, node, diff)
		}
	}
	w.await(t, fmt.Sprintf("%d links of node %d", len(n.Links()), node), func() bool {
		links, _ := w.ask(node, "CLUSTER", "LINKS")
		return len(links.([]any)) == len(n.Links())
	})
}

func canonicalNodes(text string) []string {
	text = failedLink.ReplaceAllString(nodeTimes.ReplaceAllString(text, " T T $1"), "$1 (dis)connected")
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	slices.Sort(lines)
	return lines
}

// plain turns a reply into strings, numbers and lists. Replication offsets are
// masked.
func plain(reply any) any {
	switch v := reply.(type) {
	case []byte:
		return string(v)
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = plain(v[i])
			if i > 0 && list[i-1] == "replication-offset" {
				list[i] = "offset"
			}
		}
		return list
	}
	return reply
}

func plainSlots(ranges []SlotRange) any {
	var list []any
	for _, r := range ranges {
		entry := []any{int64(r.First), int64(r.Last)}
		for _, e := range r.Nodes {
			var host any = e.Preferred
			if e.Unknown {
				host = nil
			}
			metadata := []any{}
			for _, m := range e.Metadata {
				metadata = append(metadata, m[0], m[1])
			}
			entry = append(entry, []any{host, int64(e.Port), e.ID, metadata})
		}
		list = append(list, entry)
	}
	return list
}

func plainShards(shards []Shard) []any {
	var list []any
	for _, s := range shards {
		owned := []any{}
		for _, r := range s.Slots {
			owned = append(owned, int64(r.First), int64(r.Last))
		}
		var nodes []any
		for _, e := range s.Nodes {
			node := []any{"id", e.ID, "port", int64(e.Port), "ip", e.IP, "endpoint", e.Endpoint}
			if e.Hostname != "" {
				node = append(node, "hostname", e.Hostname)
			}
			nodes = append(nodes, append(node, "role", e.Role, "replication-offset", "offset", "health", e.Health))
		}
		list = append(list, []any{"slots", owned, "nodes", nodes})
	}
	return list
}

func sortShards(shards []any) {
	slices.SortFunc(shards, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
}
