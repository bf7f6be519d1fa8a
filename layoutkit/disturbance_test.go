package layoutkit_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/layoutkit"
	"github.com/fakecluster/fakecluster/shim"
	"github.com/fakecluster/fakecluster/slots"
	"github.com/fakecluster/fakecluster/tests/redisserver"
)

// chaosEnv asks for chaos on a real cluster too: the one that urlEnv names, or else
// one of its own. The second is the older name.
var chaosEnv = []string{"REDIS_CLUSTER_TEST_CHAOS", "BOTWA_TEST_REDIS_CLUSTER_CHAOS"}

// chaosTimeEnv names how long each chaos test lasts.
const chaosTimeEnv = "FAKECLUSTER_CHAOS"

func chaosTime(t *testing.T) time.Duration {
	text, ok := os.LookupEnv(chaosTimeEnv)
	if !ok {
		return 3 * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("%s: %v", chaosTimeEnv, err)
	}
	return d
}

// topology is how a cluster's slots and masters are changed. Nothing that it does
// loses a write.
type topology interface {
	// move moves a slot to another master, a few keys at a time.
	move(t testing.TB, slot slots.Slot)
	// failover makes a replica of some master take its place.
	failover(t testing.TB)
}

// eachChaos runs body on the emulator, and on a real cluster if asked to.
func eachChaos(t *testing.T, body func(t *testing.T, x *target, y topology)) {
	t.Run("emulator", func(t *testing.T) {
		e := emulator.RunT(t, emulator.RedisVersion("7.0"), emulator.Replicas(1), emulator.DeclaredKeysOnly())
		o := redis.ClusterOptions{Addrs: e.Addrs(), Dialer: e.Dialer()}
		body(t, chaosTarget(t, o, e), &emulatedTopology{cluster: e})
	})
	if !slices.ContainsFunc(chaosEnv, func(name string) bool { return os.Getenv(name) == "1" }) {
		return
	}
	t.Run("real", func(t *testing.T) {
		o, ok := named(t)
		if !ok {
			o.Addrs = redisserver.StartCluster(t, 3, 1, "--cluster-node-timeout", "5000").Addrs()
		}
		body(t, chaosTarget(t, o, nil), newRealTopology(t, o))
	})
}

// patience is 20 s for a slot that moves: on a busy machine, where these tests run
// beside others, a move may take longer than the 2.5 s of the default.
var patience = shim.RetryOptions{Attempts: 13}

// chaosTarget is a target whose clients have patience.
func chaosTarget(t testing.TB, o redis.ClusterOptions, e *emulator.Cluster) *target {
	open := func(testing.TB) *target {
		return &target{emulator: e, dial: func(t testing.TB) redis.UniversalClient {
			return usable(t, need(shim.NewCluster(o, shim.Options{Retry: patience}))(t))
		}}
	}
	return place{"chaos", layoutkit.Cluster, true, open}.target(t)
}

// disturb moves the slots and fails masters over, one after the other, for so long
// and until there was some of each. It returns how often.
func disturb(t *testing.T, y topology, moving []slots.Slot) (moves, failovers int) {
	end := time.Now().Add(chaosTime(t))
	for time.Now().Before(end) || moves < 6 || failovers < 2 {
		for range 3 {
			y.move(t, moving[rand.IntN(len(moving))])
			moves++
		}
		y.failover(t)
		failovers++
	}
	return moves, failovers
}

// slotsOf are the slots of keys of the target.
func (x *target) slotsOf(keys ...string) (all []slots.Slot) {
	for _, key := range keys {
		all = append(all, slots.OfString(x.key(key)))
	}
	return all
}

// step is a pause between two parts of a move: the clients shall meet it halfway.
const step = 5 * time.Millisecond

type emulatedTopology struct {
	cluster   *emulator.Cluster
	failovers int
}

func (y *emulatedTopology) move(t testing.TB, slot slots.Slot) {
	owner := y.cluster.NodeForSlot(slot)
	var others []*emulator.Node
	for _, n := range y.cluster.Nodes() {
		if n.Role() == "master" && n != owner {
			others = append(others, n)
		}
	}
	m, err := y.cluster.BeginMigration(slot, others[rand.IntN(len(others))])
	if err != nil {
		t.Fatal(err)
	}
	parts := 20
	for m.Left() > 0 {
		if _, err := m.MoveKeys(1 + m.Left()/max(1, parts)); err != nil {
			t.Fatal(err)
		}
		parts--
		time.Sleep(step)
	}
	if err := m.Finish(); err != nil {
		t.Fatal(err)
	}
}

func (y *emulatedTopology) failover(t testing.TB) {
	y.failovers++
	third := slots.Slot(y.failovers % 3 * (slots.Count / 3))
	if err := y.cluster.Failover(y.cluster.NodeForSlot(third)); err != nil {
		t.Fatal(err)
	}
}

// realTopology speaks to each node of a real cluster.
type realTopology struct {
	nodes     []*redis.Client
	addrs     []string
	failovers int
}

func newRealTopology(t testing.TB, o redis.ClusterOptions) *realTopology {
	y := &realTopology{}
	for _, addr := range o.Addrs {
		node := redis.NewClient(&redis.Options{
			Addr: addr, Username: o.Username, Password: o.Password, TLSConfig: o.TLSConfig, MaxRetries: -1, ReadTimeout: 30 * time.Second,
		})
		t.Cleanup(func() { node.Close() })
		y.nodes, y.addrs = append(y.nodes, node), append(y.addrs, addr)
	}
	return y
}

func (y *realTopology) do(t testing.TB, node int, args ...any) any {
	t.Helper()
	reply, err := y.nodes[node].Do(context.Background(), args...).Result()
	if err != nil {
		t.Fatalf("%v at %s: %v", args, y.addrs[node], err)
	}
	return reply
}

// owners are the slots' owners as a node knows them.
func (y *realTopology) owner(t testing.TB, slot slots.Slot) int {
	t.Helper()
	for _, n := range y.view(t, 0) {
		if n.owns(slot) {
			return y.index(t, n.addr)
		}
	}
	t.Fatalf("nobody owns slot %d", slot)
	return -1
}

func (y *realTopology) index(t testing.TB, addr string) int {
	t.Helper()
	i := slices.Index(y.addrs, addr)
	if i < 0 {
		t.Fatalf("%s is none of %v", addr, y.addrs)
	}
	return i
}

// member is a line of CLUSTER NODES.
type member struct {
	id, addr, master, epoch string
	isMaster                bool
	ranges                  [][2]slots.Slot
}

func (m member) owns(slot slots.Slot) bool {
	return slices.ContainsFunc(m.ranges, func(r [2]slots.Slot) bool { return r[0] <= slot && slot <= r[1] })
}

// view is what a node says of all nodes.
func (y *realTopology) view(t testing.TB, node int) (all []member) {
	t.Helper()
	for line := range strings.Lines(y.do(t, node, "CLUSTER", "NODES").(string)) {
		fields := strings.Fields(line)
		addr, _, _ := strings.Cut(fields[1], "@")
		m := member{id: fields[0], addr: addr, master: fields[3], epoch: fields[6], isMaster: strings.Contains(fields[2], "master")}
		for _, field := range fields[8:] {
			var first, last slots.Slot
			if n, _ := fmt.Sscanf(field, "%d-%d", &first, &last); n == 1 {
				last = first
			} else if n == 0 {
				continue // a slot that moves
			}
			m.ranges = append(m.ranges, [2]slots.Slot{first, last})
		}
		all = append(all, m)
	}
	return all
}

// settle waits until all nodes say the same of owners and config epochs: a slot
// that moves on earlier may lose writes by Redis' own rules.
func (y *realTopology) settle(t testing.TB) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(step) {
		views := map[string]bool{}
		for node := range y.nodes {
			var lines []string
			for _, m := range y.view(t, node) {
				epoch := m.epoch
				if !m.isMaster {
					epoch = ""
				}
				lines = append(lines, fmt.Sprint(m.id, m.isMaster, m.master, epoch, m.ranges))
			}
			slices.Sort(lines)
			views[strings.Join(lines, "\n")] = true
		}
		if len(views) == 1 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the nodes do not agree: %v", views)
		}
	}
}

func (y *realTopology) move(t testing.TB, slot slots.Slot) {
	y.settle(t)
	from := y.owner(t, slot)
	var others []member
	var fromID string
	for _, m := range y.view(t, from) {
		switch {
		case m.addr == y.addrs[from]:
			fromID = m.id
		case m.isMaster && len(m.ranges) > 0:
			others = append(others, m)
		}
	}
	target := others[rand.IntN(len(others))]
	to := y.index(t, target.addr)
	y.do(t, to, "CLUSTER", "SETSLOT", int(slot), "IMPORTING", fromID)
	y.do(t, from, "CLUSTER", "SETSLOT", int(slot), "MIGRATING", target.id)
	left := y.do(t, from, "CLUSTER", "COUNTKEYSINSLOT", int(slot)).(int64)
	part := 1 + left/20
	for {
		keys, err := y.nodes[from].ClusterGetKeysInSlot(context.Background(), int(slot), int(part)).Result()
		if err != nil {
			t.Fatal(err)
		}
		if len(keys) == 0 {
			break
		}
		y.migrate(t, from, target.addr, keys)
		time.Sleep(step)
	}
	y.do(t, to, "CLUSTER", "SETSLOT", int(slot), "NODE", target.id)
	y.do(t, from, "CLUSTER", "SETSLOT", int(slot), "NODE", target.id)
	y.settle(t)
}

func (y *realTopology) migrate(t testing.TB, from int, to string, keys []string) {
	t.Helper()
	host, port, err := net.SplitHostPort(to)
	if err != nil {
		t.Fatal(err)
	}
	args := []any{"MIGRATE", host, port, "", 0, 10_000}
	if o := y.nodes[from].Options(); o.Password != "" {
		user := o.Username
		if user == "" {
			user = "default"
		}
		args = append(args, "AUTH2", user, o.Password)
	}
	args = append(args, "KEYS")
	for _, key := range keys {
		args = append(args, key)
	}
	y.do(t, from, args...)
}

// failover asks a replica to take over. Masters vote for a replica of one of them
// only once in two node timeouts, so a replica that is refused is asked again.
func (y *realTopology) failover(t testing.TB) {
	y.settle(t)
	y.failovers++
	old := y.owner(t, slots.Slot(y.failovers%3*(slots.Count/3)))
	var masterID string
	replica := -1
	view := y.view(t, old)
	for _, m := range view {
		if m.addr == y.addrs[old] {
			masterID = m.id
		}
	}
	for _, m := range view {
		if m.master == masterID {
			replica = y.index(t, m.addr)
		}
	}
	if replica < 0 {
		t.Fatalf("%s has no replica: chaos needs one for each master", y.addrs[old])
	}
	for deadline := time.Now().Add(60 * time.Second); ; {
		y.do(t, replica, "CLUSTER", "FAILOVER")
		for again := time.Now().Add(7 * time.Second); time.Now().Before(again); time.Sleep(step) {
			if role, ok := y.do(t, replica, "ROLE").([]any); ok && role[0] == "master" {
				y.settle(t)
				return
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s does not become master", y.addrs[replica])
		}
	}
}
