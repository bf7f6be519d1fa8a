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
	"github.com/fakecluster/fakecluster/shim/clustertest"
	"github.com/fakecluster/fakecluster/slots"
	"github.com/fakecluster/fakecluster/tests/redisserver"
)

// The JavaScript clients go on counting, without a count too many and without an
// error but one that node-redis makes by itself (see rideout.mjs), while a
// thousand slots move and two masters are failed over. With real Redis, whose nodes
// learn of a change one after the other, node-redis was once seen to pass an error
// reply on; there the command is sent again, here it may not happen at all.
func TestNodeClientsRideOutMovesAndFailovers(t *testing.T) {
	node := need(t, "node")
	for _, module := range []string{"ioredis", "redis", "redis4"} {
		t.Run(module, func(t *testing.T) {
			if _, err := os.Stat(filepath.Join("node", "node_modules", module)); err != nil {
				missing(t, "the npm package %s is not in tests/interop/node/node_modules", module)
			}
			t.Run("fakecluster", func(t *testing.T) {
				c := emulator.RunT(t, emulator.Replicas(1), emulator.TCP("127.0.0.1", 0))
				rideOut(t, ourCluster{c}, node, module, "strict")
			})
			t.Run("redis", func(t *testing.T) {
				rideOut(t, newRealCluster(t), node, module, "retry")
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

// realCluster is changed by what redis-cli would send, with the patience that
// clustertest explains.
type realCluster struct {
	*redisserver.Cluster
	ctx  context.Context
	test *clustertest.Cluster
}

func newRealCluster(t *testing.T) realCluster {
	servers := redisserver.StartCluster(t, 3, 1)
	test := clustertest.New(redis.Options{}, servers.Addrs()...)
	t.Cleanup(func() { test.Close() })
	return realCluster{servers, t.Context(), test}
}

func (c realCluster) addrs() []string { return c.Addrs() }

// do sends a command to a node.
func (c realCluster) do(node int, args ...any) error {
	if err := c.test.Node(c.Nodes[node].Addr()).Do(c.ctx, args...).Err(); err != nil {
		return fmt.Errorf("%v at node %d: %w", args, node, err)
	}
	return nil
}

// moveSlots waits for all nodes only before and after all moves: none of the
// slots has been here before, so nothing on its way can meet it.
func (c realCluster) moveSlots(from, to int, list []slots.Slot) error {
	if _, err := c.test.Nodes(c.ctx); err != nil {
		return err
	}
	for _, slot := range list {
		if err := c.moveSlot(from, to, slot); err != nil {
			return err
		}
	}
	_, err := c.test.Nodes(c.ctx)
	return err
}

func (c realCluster) moveSlot(from, to int, slot slots.Slot) error {
	if err := c.do(to, "CLUSTER", "SETSLOT", int(slot), "IMPORTING", c.IDs[from]); err != nil {
		return err
	}
	if err := c.do(from, "CLUSTER", "SETSLOT", int(slot), "MIGRATING", c.IDs[to]); err != nil {
		return err
	}
	keys, err := c.test.Node(c.Nodes[from].Addr()).ClusterGetKeysInSlot(c.ctx, int(slot), 1000).Result()
	if err != nil {
		return fmt.Errorf("keys of slot %d at node %d: %w", slot, from, err)
	}
	if len(keys) > 0 {
		args := []any{"MIGRATE", "127.0.0.1", c.Nodes[to].Port, "", 0, 5000, "KEYS"}
		for _, key := range keys {
			args = append(args, key)
		}
		if err := c.do(from, args...); err != nil {
			return err
		}
	}
	if err := c.do(to, "CLUSTER", "SETSLOT", int(slot), "NODE", c.IDs[to]); err != nil {
		return err
	}
	return c.do(from, "CLUSTER", "SETSLOT", int(slot), "NODE", c.IDs[to])
}

func (c realCluster) failover(master int) error {
	return c.test.Failover(c.ctx, c.Nodes[master].Addr())
}

func rideOut(t *testing.T, c shifting, node, module, refusals string) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, "rideout.mjs", strings.Join(c.addrs()[:2], ","), module, refusals)
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
	stop.Close() // upon which each worker does all its keys once more
	rest, _ := io.ReadAll(out)
	if err := cmd.Wait(); err != nil || !strings.Contains(string(rest), " increments, ") {
		t.Errorf("%v\n%s%s", err, rest, &errs)
	}
	t.Logf("%s%s", rest, &errs)
}
