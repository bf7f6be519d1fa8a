package emulator_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/slots"
)

// What a node says of itself that must be the same after a reset.
func portrait(t testing.TB, c *emulator.Cluster) string {
	t.Helper()
	var b strings.Builder
	for _, n := range c.Nodes() {
		for _, command := range []string{
			"CLUSTER SHARDS", "CLUSTER SLOTS", "CLUSTER NODES", "DBSIZE", "ACL LIST", "CONFIG GET maxmemory", "SCRIPT EXISTS 6b1bf486c81ceb7edf3c093f4c48582e38c0e791",
			"FUNCTION LIST", "ROLE", "CLUSTER INFO",
		} {
			reply, err := n.Do(strings.Fields(command)...)
			text := fmt.Sprint(reply, err)
			if command == "CLUSTER NODES" {
				text = withoutTimes(text)
			}
			if command == "CLUSTER INFO" {
				text, _, _ = strings.Cut(text, "cluster_stats_messages")
			}
			fmt.Fprintln(&b, n, command, text)
		}
	}
	return b.String()
}

func withoutTimes(nodes string) string {
	var b strings.Builder
	for line := range strings.Lines(nodes) {
		fields := strings.Fields(line)
		if len(fields) > 5 {
			fields[4], fields[5] = "T", "T"
		}
		b.WriteString(strings.Join(fields, " ") + "\n")
	}
	return b.String()
}

func TestResetMakesEverythingNew(t *testing.T) {
	for name, options := range map[string][]emulator.Option{
		"in process": {emulator.Replicas(1)},
		"tcp":        {emulator.Replicas(1), emulator.TCP("127.0.0.1", 0)},
		"apart":      {emulator.Empty()},
		"standalone": {emulator.Servers(2)},
		"password":   {emulator.Replicas(1), emulator.Password("secret")},
	} {
		t.Run(name, func(t *testing.T) {
			c := emulator.RunT(t, options...)
			before, addrs := portrait(t, c), c.Addrs()
			kept := dial(t, c, 1)
			if name == "password" {
				kept.do("+OK", "AUTH", "secret")
			}
			for range 3 {
				spoil(t, c, kept)
				must(t, c.Reset())
				if after := portrait(t, c); after != before {
					t.Fatalf("after the reset (+) and before (-):\n%s", cmp.Diff(strings.Split(before, "\n"), strings.Split(after, "\n")))
				}
				if got := c.Addrs(); fmt.Sprint(got) != fmt.Sprint(addrs) {
					t.Fatalf("addresses %v, were %v", got, addrs)
				}
				if d := time.Until(c.Now()); d > time.Second {
					t.Errorf("the clock is %v ahead", d)
				}
				kept.do("+PONG", "PING")
				dial(t, c, 0).send("PING\r\n")
				c.Settle()
			}
		})
	}
}

// spoil changes all it can.
func spoil(t testing.TB, c *emulator.Cluster, w *wire) {
	t.Helper()
	for _, command := range []string{
		"SET b 1", "CONFIG SET maxmemory 100mb", "ACL SETUSER ann on nopass +@all ~*", "SCRIPT LOAD return(1)",
	} {
		if _, err := c.Node(1).Do(strings.Fields(command)...); err != nil {
			t.Fatal(err)
		}
	}
	c.Inject(emulator.Rule{Commands: []string{"ping"}, Action: emulator.ReplyWith("ERR no")})
	c.Trace(10)
	c.Advance(time.Hour)
	if len(c.Nodes()) == 6 {
		must(t, c.Failover(c.Node(0)))
		must(t, c.MoveSlots(c.Node(1), c.Node(2), 6000, 6001))
		must(t, c.Partition(c.Nodes()[:2]))
		_, err := c.AddMaster()
		must(t, err)
		must(t, c.Remove(c.Node(5)))
	}
	c.Kill(c.Node(0))
	w.send("PING\r\n")
	w.reply()
	c.Pause(c.Node(1))
}

// In a bubble, so that the machine's load does not decide how much time passes
// between two steps.
func TestTwoClustersOfOneSeedAreEqual(t *testing.T) {
	synctest.Test(t, testOneSeed)
}

func testOneSeed(t *testing.T) {
	history := func(c *emulator.Cluster) string {
		c.Kill(c.Node(1))
		c.Settle()
		must(t, c.Failover(c.Node(0)))
		for i := range 20 {
			if _, err := c.NodeForKey("b").Do("SADD", "b", fmt.Sprint(i)); err != nil {
				t.Fatal(err)
			}
		}
		popped, err := c.NodeForKey("b").Do("SPOP", "b", "5")
		must(t, err)
		return fmt.Sprint(popped) + portrait(t, c)
	}
	c := emulator.RunT(t, emulator.Replicas(2), emulator.Seed(7))
	first := history(c)
	if second := history(emulator.RunT(t, emulator.Replicas(2), emulator.Seed(7))); second != first {
		t.Errorf("two clusters of one seed:\n%s", cmp.Diff(strings.Split(first, "\n"), strings.Split(second, "\n")))
	}
	must(t, c.Reset())
	if again := history(c); again != first {
		t.Errorf("after a reset (+) and before (-):\n%s", cmp.Diff(strings.Split(first, "\n"), strings.Split(again, "\n")))
	}
}

func BenchmarkReset(b *testing.B) {
	c := emulator.RunT(b, emulator.Replicas(1))
	for b.Loop() {
		must(b, c.Reset())
	}
}

func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		c, err := emulator.Start(emulator.Replicas(1))
		must(b, err)
		must(b, c.Close())
	}
}

func BenchmarkFailover(b *testing.B) {
	c := emulator.RunT(b, emulator.Replicas(1))
	for b.Loop() {
		must(b, c.Failover(c.Node(0)))
		b.StopTimer()
		must(b, c.Reset())
		b.StartTimer()
	}
}

func BenchmarkElection(b *testing.B) {
	c := emulator.RunT(b, emulator.Replicas(1))
	for b.Loop() {
		c.Kill(c.Node(0))
		if !c.Settle() || c.NodeForSlot(0) != c.Node(3) {
			b.Fatal("the replica was not elected")
		}
		b.StopTimer()
		must(b, c.Reset())
		b.StartTimer()
	}
}

func BenchmarkMoveSlots(b *testing.B) {
	c := emulator.RunT(b, emulator.Replicas(1))
	var list []slots.Slot
	for slot := range slots.Slot(1000) {
		list = append(list, slot)
	}
	from, to := c.Node(0), c.Node(1)
	for b.Loop() {
		must(b, c.MoveSlots(from, to, list...))
		from, to = to, from
	}
}
