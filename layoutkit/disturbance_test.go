package layoutkit_test

import (
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/layoutkit"
	"github.com/fakecluster/fakecluster/shim"
	"github.com/fakecluster/fakecluster/shim/clustertest"
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

// eachChaos runs body on the emulator, and on a real cluster if asked to.
func eachChaos(t *testing.T, body func(t *testing.T, x *target, y *topology)) {
	t.Run("emulator", func(t *testing.T) {
		e := emulator.RunT(t, emulator.RedisVersion("7.0"), emulator.Replicas(1), emulator.DeclaredKeysOnly())
		o := redis.ClusterOptions{Addrs: e.Addrs(), Dialer: e.Dialer()}
		body(t, chaosTarget(t, o, e), newTopology(t, o, e))
	})
	if !slices.ContainsFunc(chaosEnv, func(name string) bool { return os.Getenv(name) == "1" }) {
		return
	}
	t.Run("real", func(t *testing.T) {
		o, ok := named(t)
		if !ok {
			o.Addrs = redisserver.StartCluster(t, 3, 1, "--cluster-node-timeout", "5000").Addrs()
		}
		body(t, chaosTarget(t, o, nil), newTopology(t, o, nil))
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
func disturb(t *testing.T, y *topology, moving []slots.Slot) (moves, failovers int) {
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

// topology is how a cluster's slots and masters are changed. Nothing that it does
// loses a write.
type topology struct {
	nodes     *clustertest.Cluster
	emulator  *emulator.Cluster // nil if the servers are real
	failovers int
}

func newTopology(t testing.TB, o redis.ClusterOptions, e *emulator.Cluster) *topology {
	y := &topology{emulator: e, nodes: clustertest.New(redis.Options{
		Dialer: o.Dialer, Username: o.Username, Password: o.Password, TLSConfig: o.TLSConfig,
	}, o.Addrs...)}
	t.Cleanup(func() {
		if err := y.nodes.Close(); err != nil {
			t.Error(err)
		}
	})
	return y
}

// move moves a slot to another master, a few keys at a time.
func (y *topology) move(t testing.TB, slot slots.Slot) {
	t.Helper()
	ctx := t.Context()
	m := need(y.nodes.Begin(ctx, slot, need(y.nodes.Elsewhere(ctx, slot))(t)))(t)
	keys := need(y.nodes.Node(m.From().Addr).ClusterCountKeysInSlot(ctx, int(slot)).Result())(t)
	for need(m.MigrateSome(ctx, 1+int(keys)/20))(t) > 0 {
		time.Sleep(step)
	}
	if err := m.Finish(ctx); err != nil {
		t.Fatal(err)
	}
}

// failover makes a replica of some master take its place.
func (y *topology) failover(t testing.TB) {
	t.Helper()
	y.failovers++
	slot := slots.Slot(y.failovers % 3 * (slots.Count / 3))
	var err error
	if y.emulator != nil {
		err = y.emulator.Failover(y.emulator.NodeForSlot(slot))
	} else {
		err = y.nodes.Failover(t.Context(), need(y.nodes.Owner(t.Context(), slot))(t).Addr)
	}
	if err != nil {
		t.Fatal(err)
	}
}
