package clustertest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/shim/clustertest"
	"github.com/fakecluster/fakecluster/slots"
	"github.com/fakecluster/fakecluster/tests/redisserver"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const slot = slots.Slot(42)

func key(i int) string { return fmt.Sprintf("{%s}%d", slots.TagFor(slot), i) }

// eachCluster runs body on the emulator and on real servers.
func eachCluster(t *testing.T, body func(t *testing.T, c *clustertest.Cluster)) {
	run := func(t *testing.T, o redis.Options, addrs []string) {
		c := clustertest.New(o, addrs...)
		t.Cleanup(func() {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
		body(t, c)
	}
	t.Run("emulator", func(t *testing.T) {
		e := emulator.RunT(t, emulator.RedisVersion("7.0"), emulator.Replicas(1))
		run(t, redis.Options{Dialer: e.Dialer()}, e.Addrs())
	})
	t.Run("real", func(t *testing.T) {
		run(t, redis.Options{}, redisserver.StartCluster(t, 3, 1, "--cluster-node-timeout", "5000").Addrs())
	})
}

// A slot goes round all masters with its keys, and home again only after a rest.
func TestMovesGoRound(t *testing.T) {
	eachCluster(t, func(t *testing.T, c *clustertest.Cluster) {
		ctx := t.Context()
		home, err := c.Owner(ctx, slot)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 250 { // more than one MIGRATE takes
			if err := c.Node(home.Addr).Set(ctx, key(i), i, 0).Err(); err != nil {
				t.Fatal(err)
			}
		}
		left := time.Now()
		visited := []string{home.Addr}
		for range 3 {
			to, err := c.Elsewhere(ctx, slot)
			if err != nil {
				t.Fatal(err)
			}
			m, err := c.Begin(ctx, slot, to)
			if err != nil {
				t.Fatal(err)
			}
			if n, err := m.MigrateSome(ctx, 7); err != nil || n != 7 {
				t.Fatalf("moved %d of 7 keys: %v", n, err)
			}
			if err := m.Finish(ctx); err != nil {
				t.Fatal(err)
			}
			visited = append(visited, to)
		}
		if visited[3] != home.Addr || visited[1] == visited[2] || time.Since(left) < clustertest.Rest {
			t.Errorf("visited %v in %v", visited, time.Since(left))
		}
		if n, err := c.Node(home.Addr).ClusterCountKeysInSlot(ctx, int(slot)).Result(); err != nil || n != 250 {
			t.Errorf("%d of 250 keys came home: %v", n, err)
		}
	})
}

func TestFailoverIsKnownToAll(t *testing.T) {
	eachCluster(t, func(t *testing.T, c *clustertest.Cluster) {
		ctx := t.Context()
		before, err := c.Owner(ctx, slot)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Failover(ctx, before.Addr); err != nil {
			t.Fatal(err)
		}
		nodes, err := c.Nodes(ctx)
		if err != nil {
			t.Fatal(err)
		}
		after := nodes[slices.IndexFunc(nodes, func(n clustertest.Node) bool { return n.Owns(slot) })]
		demoted := nodes[slices.IndexFunc(nodes, func(n clustertest.Node) bool { return n.ID == before.ID })]
		if after.ID == before.ID || demoted.Master != after.ID {
			t.Errorf("after the failover of %s: %v", before, nodes)
		}
	})
}

func TestImpossibleIsRefused(t *testing.T) {
	e := emulator.RunT(t, emulator.Masters(1))
	c := clustertest.New(redis.Options{Dialer: e.Dialer()}, e.Addrs()...)
	defer c.Close()
	ctx := t.Context()
	only := e.Addrs()[0]
	_, elsewhere := c.Elsewhere(ctx, slot)
	for want, err := range map[string]error{
		"there is none that has slots":              elsewhere,
		"the target be another master":              c.Move(ctx, slot, only),
		"move slot 42 to nowhere:1":                 c.Move(ctx, slot, "nowhere:1"),
		"fail " + only + " over: it has no replica": c.Failover(ctx, only),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}
