package interop

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/tests/redisserver"
)

// redis-cli makes a cluster of nodes that have never met, and then moves slots
// and the keys in them from one to another.
func TestRedisCLICreatesAndReshards(t *testing.T) {
	t.Run("fakecluster", func(t *testing.T) {
		c := emulator.RunT(t, emulator.Empty(), emulator.TCP("127.0.0.1", 0))
		createAndReshard(t, c.Addrs())
	})
	t.Run("redis", func(t *testing.T) {
		var addrs []string
		for range 3 {
			addrs = append(addrs, redisserver.StartEmptyNode(t).Addr())
		}
		createAndReshard(t, addrs)
	})
}

func createAndReshard(t *testing.T, addrs []string) {
	manage := func(args ...string) string {
		t.Helper()
		out, err := command(t, "redis-cli", addrs[0], append([]string{"--cluster"}, args...)...).withInput("")
		if err != nil {
			t.Fatalf("redis-cli --cluster %q: %v\n%s", args, err, out)
		}
		return out
	}
	out := manage(append(append([]string{"create"}, addrs...), "--cluster-yes")...)
	if !strings.Contains(out, "[OK] All 16384 slots covered.") {
		t.Fatalf("create is not content:\n%s", out)
	}
	// A master takes no writes in the first two seconds of its life.
	deadline := time.Now().Add(20 * time.Second)
	for _, addr := range addrs {
		for !strings.Contains(cli(t, addr, "", "CLUSTER", "INFO"), "cluster_state:ok") {
			if time.Now().After(deadline) {
				t.Fatalf("the cluster is not up after 20 s:\n%s", cli(t, addr, "", "CLUSTER", "INFO"))
			}
		}
	}

	const keys = 200
	var sets, gets, want strings.Builder
	for i := range keys {
		fmt.Fprintf(&sets, "SET {reshard:%d}key v%d\n", i%20, i)
		fmt.Fprintf(&sets, "RPUSH {reshard:%d}list:%d a b c\n", i%20, i)
		fmt.Fprintf(&gets, "LRANGE {reshard:%d}list:%d 0 -1\n", i%20, i)
		want.WriteString("a\nb\nc\n")
	}
	if got := cli(t, addrs[0], sets.String(), "-c"); got != strings.Repeat("OK\n3\n", keys) {
		t.Fatalf("writes after the creation:\n%s", got)
	}
	id := func(addr string) string { return strings.TrimSpace(cli(t, addr, "", "CLUSTER", "MYID")) }
	manage("reshard", addrs[0], "--cluster-from", id(addrs[0]), "--cluster-to", id(addrs[1]), "--cluster-slots", "1500", "--cluster-yes")
	if out := manage("check", addrs[2]); !strings.Contains(out, "[OK] All 16384 slots covered.") || strings.Contains(out, "[WARNING]") {
		t.Errorf("after resharding:\n%s", out)
	}
	if got := cli(t, addrs[0], gets.String(), "-c"); got != want.String() {
		t.Errorf("after resharding the lists are:\n%s", got)
	}
}
