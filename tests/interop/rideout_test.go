package interop

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/slots"
	"github.com/fakecluster/fakecluster/tests/redisserver"
)

// The JavaScript clients go on counting, without a count too many and without an
// error but one that node-redis makes by itself (see rideout.mjs), while a
// thousand slots move and two masters are failed over.
func TestNodeClientsRideOutMovesAndFailovers(t *testing.T) {
	node := need(t, "node")
	for _, module := range []string{"ioredis", "redis", "redis4"} {
		t.Run(module, func(t *testing.T) {
			if _, err := os.Stat(filepath.Join("node", "node_modules", module)); err != nil {
				missing(t, "the npm package %s is not in tests/interop/node/node_modules", module)
			}
			t.Run("fakecluster", func(t *testing.T) {
				c := emulator.RunT(t, emulator.Replicas(1), emulator.TCP("127.0.0.1", 0))
				rideOut(t, ourCluster{c}, node, module)
			})
			t.Run("redis", func(t *testing.T) {
				rideOut(t, newRealCluster(t), node, module)
			})
		})
	}
}

// shifting is a cluster of three masters, with a replica each, whose slots move.
type shifting interface {
	addrs() []string
	// moveSlots moves slots that master from owned in the beginning.
	moveSlots(from, to int, list []slots.Slot) error
	// failover lets the replica of a master take over by hand.
	failover(master int) error
}

type ourCluster struct{ *emulator.Cluster }

func (c ourCluster) addrs() []string { return c.Addrs() }

func (c ourCluster) moveSlots(from, to int, list []slots.Slot) error {
	return c.MoveSlots(c.Node(from), c.Node(to), list...)
}

func (c ourCluster) failover(master int) error { return c.Failover(c.Node(master)) }

type realCluster struct {
	*redisserver.Cluster
	ctx   context.Context
	nodes []*redis.Client
}

func newRealCluster(t *testing.T) *realCluster {
	c := &realCluster{Cluster: redisserver.StartCluster(t, 3, 1), ctx: t.Context()}
	for _, addr := range c.Addrs() {
		node := redis.NewClient(&redis.Options{Addr: addr})
		t.Cleanup(func() { node.Close() })
		c.nodes = append(c.nodes, node)
	}
	return c
}

func (c *realCluster) addrs() []string { return c.Addrs() }

// moveSlots does what redis-cli does for each slot.
func (c *realCluster) moveSlots(from, to int, list []slots.Slot) error {
	for _, slot := range list {
		for _, step := range []struct {
			node int
			args []any
		}{
			{to, []any{"IMPORTING", c.IDs[from]}},
			{from, []any{"MIGRATING", c.IDs[to]}},
			{to, []any{"NODE", c.IDs[to]}},
			{from, []any{"NODE", c.IDs[to]}},
		} {
			if step.args[0] == "NODE" && step.node == to {
				if err := c.moveKeys(from, to, slot); err != nil {
					return err
				}
			}
			args := append([]any{"CLUSTER", "SETSLOT", int(slot)}, step.args...)
			if err := c.nodes[step.node].Do(c.ctx, args...).Err(); err != nil {
				return fmt.Errorf("%v at node %d: %w", args, step.node, err)
			}
		}
	}
	return nil
}

func (c *realCluster) moveKeys(from, to int, slot slots.Slot) error {
	keys, err := c.nodes[from].ClusterGetKeysInSlot(c.ctx, int(slot), 1000).Result()
	if err != nil || len(keys) == 0 {
		return err
	}
	args := []any{"MIGRATE", "127.0.0.1", c.Nodes[to].Port, "", 0, 5000, "KEYS"}
	for _, key := range keys {
		args = append(args, key)
	}
	return c.nodes[from].Do(c.ctx, args...).Err()
}

func (c *realCluster) failover(master int) error {
	replica := c.nodes[len(c.nodes)/2+master]
	if err := replica.ClusterFailover(c.ctx).Err(); err != nil {
		return err
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		before, err := c.nodes[master].Info(c.ctx, "replication").Result()
		if err != nil {
			return err
		}
		if strings.Contains(before, "role:slave") {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("master %d is not failed over:\n%s", master, before)
		}
	}
}

func rideOut(t *testing.T, c shifting, node, module string) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, "rideout.mjs", strings.Join(c.addrs()[:2], ","), module)
	cmd.Dir = "node"
	var errs strings.Builder
	cmd.Stderr = &errs
	stop, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(pipe)
	if line, err := out.ReadString('\n'); line != "under way\n" {
		t.Fatalf("%q, %v\n%s", line, err, &errs)
	}
	for from := range 2 {
		first, _ := redisserver.SlotRange(from, 3)
		var list []slots.Slot
		for slot := first; slot < first+500; slot++ {
			list = append(list, slots.Slot(slot))
		}
		if err := c.moveSlots(from, 2, list); err != nil {
			t.Fatal(err)
		}
	}
	for master := range 2 {
		if err := c.failover(master); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(100 * time.Millisecond) // let it work with the new masters
	stop.Close()
	rest, _ := io.ReadAll(out)
	if err := cmd.Wait(); err != nil || !strings.Contains(string(rest), "increments without an error") {
		t.Errorf("%v\n%s%s", err, rest, &errs)
	}
}
