package interop

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/tests/redisserver"
)

// Everything redis-cli --cluster does, from nodes that have never met to a
// cluster that has grown, was broken and repaired, and has shrunk again.
func TestRedisCLIManagesAClusterFromEmptyNodes(t *testing.T) {
	const nodes = 8
	t.Run("fakecluster", func(t *testing.T) {
		c := emulator.RunT(t, emulator.Empty(), emulator.Masters(nodes), emulator.TCP("127.0.0.1", 0))
		other := emulator.RunT(t, emulator.Standalone(), emulator.TCP("127.0.0.1", 0))
		manage(t, c.Addrs(), other.Addrs()[0])
	})
	t.Run("redis", func(t *testing.T) {
		var addrs []string
		for range nodes {
			addrs = append(addrs, redisserver.StartEmptyNode(t).Addr())
		}
		manage(t, addrs, redisserver.Start(t).Addr())
	})
}

// manager runs redis-cli --cluster.
type manager struct {
	t  *testing.T
	at string
}

func (m manager) run(verb string, args ...string) string {
	m.t.Helper()
	out, err := command(m.t, "redis-cli", m.at, append([]string{"--cluster", verb}, args...)...).withInput("yes\n")
	if err != nil {
		m.t.Fatalf("redis-cli --cluster %s %q: %v\n%s", verb, args, err, out)
	}
	return out
}

// sound checks that the cluster is whole.
func (m manager) sound(after string) {
	m.t.Helper()
	var out string
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		var err error
		out, err = command(m.t, "redis-cli", m.at, "--cluster", "check", m.at).withInput("")
		if err == nil && strings.Contains(out, "[OK] All nodes agree about slots configuration.") &&
			strings.Contains(out, "[OK] All 16384 slots covered.") && !strings.Contains(out, "[WARNING]") {
			return
		}
	}
	m.t.Fatalf("after %s check is not content:\n%s", after, out)
}

// joined waits until nodes know each other and call the cluster ok: a master
// that joins takes some seconds, during which redis-cli cannot move slots to it.
func (m manager) joined(addrs []string) {
	m.t.Helper()
	for _, addr := range addrs {
		await(m.t, addr, "CLUSTER INFO", fmt.Sprintf("cluster_known_nodes:%d\r\n", len(addrs)))
		await(m.t, addr, "CLUSTER INFO", "cluster_state:ok")
	}
}

func manage(t *testing.T, addrs []string, standalone string) {
	m := manager{t, addrs[0]}
	id := func(addr string) string { return strings.TrimSpace(cli(t, addr, "", "CLUSTER", "MYID")) }
	m.run("create", append(addrs[:6:6], "--cluster-replicas", "1", "--cluster-yes")...)
	m.sound("create")
	m.joined(addrs[:6])

	const keys = 100
	var sets strings.Builder
	for i := range keys {
		fmt.Fprintf(&sets, "SET imported:%d v%d\n", i, i)
	}
	cli(t, standalone, sets.String())
	m.run("import", addrs[0], "--cluster-from", standalone, "--cluster-copy")
	if out := m.run("info", addrs[0]); !strings.Contains(out, fmt.Sprintf("[OK] %d keys in 3 masters.", keys)) {
		t.Errorf("info after the import:\n%s", out)
	}

	m.run("add-node", addrs[6], addrs[0])
	m.sound("add-node")
	m.joined(addrs[:7])
	m.run("add-node", addrs[7], addrs[0], "--cluster-slave", "--cluster-master-id", id(addrs[6]))
	m.sound("add-node --cluster-slave")
	m.joined(addrs)
	m.run("reshard", addrs[0], "--cluster-from", id(addrs[0]), "--cluster-to", id(addrs[6]), "--cluster-slots", "40", "--cluster-yes")
	m.sound("reshard")
	m.run("rebalance", addrs[0], "--cluster-weight", id(addrs[6])+"=0.05", "--cluster-threshold", "1")
	m.sound("rebalance")
	if out := m.run("call", addrs[0], "DBSIZE"); strings.Count(out, "127.0.0.1:") < 8 {
		t.Errorf("call:\n%s", out)
	}

	m.breakAndFix(addrs, id)

	m.run("del-node", addrs[0], id(addrs[7]))
	m.run("rebalance", addrs[0], "--cluster-weight", id(addrs[6])+"=0", "--cluster-threshold", "1")
	m.sound("rebalance to nothing")
	m.run("del-node", addrs[0], id(addrs[6]))
	m.sound("del-node")
	var gets, want strings.Builder
	for i := range keys {
		fmt.Fprintf(&gets, "GET imported:%d\n", i)
		fmt.Fprintf(&want, "v%d\n", i)
	}
	if got := cli(t, addrs[1], gets.String(), "-c"); got != want.String() {
		t.Errorf("in the end the values are:\n%s", got)
	}
}

// breakAndFix leaves a slot open with keys on both sides and takes another from
// everybody.
func (m manager) breakAndFix(addrs []string, id func(string) string) {
	t := m.t
	cli(t, addrs[0], "SET {open}1 a\nSET {open}2 b\n", "-c")
	slot := strings.TrimSpace(cli(t, addrs[0], "", "CLUSTER", "KEYSLOT", "open"))
	var from, to string
	for _, addr := range addrs[:3] {
		if strings.HasPrefix(cli(t, addr, "", "GET", "{open}1"), "a") {
			from = addr
		} else {
			to = addr
		}
	}
	cli(t, to, "", "CLUSTER", "SETSLOT", slot, "IMPORTING", id(from))
	cli(t, from, "", "CLUSTER", "SETSLOT", slot, "MIGRATING", id(to))
	host, port, _ := strings.Cut(to, ":")
	cli(t, from, "", "MIGRATE", host, port, "{open}1", "0", "5000")
	m.run("fix", addrs[0])
	m.sound("fix of an open slot")
	if got := cli(t, addrs[0], "GET {open}1\nGET {open}2\n", "-c"); got != "a\nb\n" {
		t.Errorf("after the fix: %q", got)
	}
	for _, addr := range addrs {
		cli(t, addr, "", "CLUSTER", "DELSLOTS", "42")
	}
	m.run("fix", addrs[0])
	m.sound("fix of a slot of nobody's")
}

// await asks until the reply contains a text.
func await(t *testing.T, addr, question, want string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		reply := cli(t, addr, "", strings.Fields(question)...)
		if strings.Contains(reply, want) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s says for 20 s:\n%s", question, reply)
		}
	}
}
