package interop

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/slots"
)

// What node-redis 4.7 is known to do wrongly on a cluster it does wrongly on ours
// as well; what version 6 does with the same is beside it.
var quirks = []struct {
	quirk, module string
	key           string
	owner         int // the master that the key is at
	want          string
}{
	// First, while every master has one range of slots: 4.7 asks one after the
	// other, a master of two ranges twice.
	{"evals", "redis4", "foo", 2, `
eval: 10 done, 20 moved
eval sent with its key: 30 done, 0 moved
`},
	{"evals", "redis", "foo", 2, `
eval: 30 done, 0 moved
eval sent with its key: 30 done, 0 moved
`},
	{"transactions", "redis4", "bar", 0, `
before the move: 1,2
after the move: EXECABORT Transaction discarded because of previous errors.
once more: EXECABORT Transaction discarded because of previous errors.
a command: 2
after a command: 3,4
`},
	{"transactions", "redis", "hello", 0, `
before the move: 1,2
after the move: 3,4
once more: 5,6
a command: 6
after a command: 7,8
`},
	{"discovery", "redis4", "foo", 2, `
before the crash: OK
from a node that lives: All the root nodes are unavailable
from all three: connected, but connect ECONNREFUSED
after the failover: OK
`},
	{"discovery", "redis", "c", 1, `
before the crash: OK
from a node that lives: All the root nodes are unavailable
from all three: All the root nodes are unavailable
after the failover: OK
`},
}

func TestNodeRedisQuirks(t *testing.T) {
	node := need(t, "node")
	show := func(t *testing.T, c crashing) {
		for _, q := range quirks {
			t.Run(q.quirk+"/"+q.module, func(t *testing.T) {
				if _, err := os.Stat(filepath.Join("node", "node_modules", q.module)); err != nil {
					missing(t, "the npm package %s is not in tests/interop/node/node_modules", q.module)
				}
				told := tellOfQuirk(t, c, q.owner, node, "quirks.mjs", strings.Join(c.addrs()[:3], ","), q.module, q.quirk, q.key)
				if want := strings.TrimPrefix(q.want, "\n"); told != want {
					t.Errorf("it tells\n%s\nwant\n%s", told, want)
				}
			})
		}
	}
	t.Run("fakecluster", func(t *testing.T) {
		show(t, ourCluster{emulator.RunT(t, emulator.Replicas(1), emulator.TCP("127.0.0.1", 0))})
	})
	t.Run("redis", func(t *testing.T) { show(t, newRealCluster(t)) })
}

// crashing is a cluster whose masters crash.
type crashing interface {
	shifting
	// kill ends a master, and nothing follows from that yet.
	kill(master int)
	// promote lets the replica of a killed master take over, and returns when
	// the first master knows it.
	promote(master int) error
}

func (c ourCluster) kill(master int) { c.Kill(c.Node(master)) }

func (c ourCluster) promote(master int) error {
	if err := c.Takeover(c.Node(len(c.Nodes())/2 + master)); err != nil {
		return err
	}
	if !c.Settle() {
		return fmt.Errorf("the cluster does not settle")
	}
	return nil
}

func (c realCluster) kill(master int) { c.Nodes[master].Kill() }

func (c realCluster) promote(master int) error {
	replica := len(c.Nodes)/2 + master
	if err := c.do(replica, "CLUSTER", "FAILOVER", "TAKEOVER"); err != nil {
		return err
	}
	return c.awaitMaster(0, replica)
}

// awaitMaster waits until a node tells clients of a new master. That they agree
// altogether, and on the end of the old one, would take a node timeout.
func (c realCluster) awaitMaster(node, master int) error {
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		ranges, err := c.test.Node(c.Nodes[node].Addr()).Do(c.ctx, "CLUSTER", "SLOTS").Slice()
		if err != nil {
			return fmt.Errorf("CLUSTER SLOTS at node %d: %w", node, err)
		}
		// A range is its first slot, its last, its master and the replicas.
		if slices.ContainsFunc(ranges, func(r any) bool { return r.([]any)[2].([]any)[2] == c.IDs[master] }) {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("node %d does not know that node %d is a master: %v", node, master, ranges)
		}
	}
}

// tellOfQuirk runs quirks.mjs, changes the cluster as it asks and returns what it
// tells.
func tellOfQuirk(t *testing.T, c crashing, owner int, node string, args ...string) string {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, args...)
	cmd.Dir = "node"
	var errs, told strings.Builder
	cmd.Stderr = &errs
	answers, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		switch lines.Text() {
		case "please move":
			err = c.moveSlots(owner, (owner+1)%3, []slots.Slot{slots.OfString(args[len(args)-1])})
		case "please crash":
			c.kill(owner)
		case "please promote":
			err = c.promote(owner)
		default:
			fmt.Fprintln(&told, lines.Text())
			continue
		}
		if err != nil {
			t.Error(err)
		}
		fmt.Fprintln(answers, "done")
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, &told, &errs)
	}
	return told.String()
}
