package interop

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/slots"
)

// The JavaScript clients go on counting, without an error and without a count
// too many, while a thousand slots move and two masters are failed over.
func TestNodeClientsRideOutMovesAndFailovers(t *testing.T) {
	node := need(t, "node")
	for _, module := range []string{"ioredis", "redis", "redis4"} {
		t.Run(module, func(t *testing.T) {
			if _, err := os.Stat(filepath.Join("node", "node_modules", module)); err != nil {
				missing(t, "the npm package %s is not in tests/interop/node/node_modules", module)
			}
			c := emulator.RunT(t, emulator.Replicas(1), emulator.TCP("127.0.0.1", 0))
			rideOut(t, c, node, module)
		})
	}
}

func rideOut(t *testing.T, c *emulator.Cluster, node, module string) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, "rideout.mjs", strings.Join(c.Addrs()[:2], ","), module)
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
		first := c.Node(from).Slots()[0].First
		var list []slots.Slot
		for slot := first; slot < first+500; slot++ {
			list = append(list, slot)
		}
		if err := c.MoveSlots(c.Node(from), c.Node(2), list...); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 2 {
		if err := c.Failover(c.Node(i)); err != nil {
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
