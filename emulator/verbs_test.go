package emulator_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/slots"
)

// must fails the test for an error of steering.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestFailoverKeepsAllWrites(t *testing.T) {
	c := emulator.RunT(t, emulator.Replicas(1))
	must(t, c.Node(0).Set("b", "1")) // slot 3300
	must(t, c.Failover(c.Node(0)))
	if owner := c.NodeForKey("b"); owner != c.Node(3) || owner.Role() != "master" || c.Node(0).Role() != "replica" {
		t.Fatalf("after the failover %v owns the slot, %v is a %s", owner, c.Node(0), c.Node(0).Role())
	}
	if v, _ := c.Node(3).Get("b"); v != "1" {
		t.Errorf("the new master has %q", v)
	}
	// And the other way, with data that goes back.
	must(t, c.Node(3).Set("b", "2"))
	must(t, c.Failover(c.Node(0)))
	if v, _ := c.NodeForKey("b").Get("b"); v != "2" || c.NodeForKey("b") != c.Node(0) {
		t.Errorf("after the second failover %v has %q", c.NodeForKey("b"), v)
	}
}

func TestKilledMasterIsReplaced(t *testing.T) {
	c := emulator.RunT(t, emulator.Replicas(1))
	must(t, c.Node(0).Set("b", "1"))
	w := dial(t, c, 0)
	w.do("1", "GET", "b")
	c.Kill(c.Node(0))
	if _, err := w.r.ReadByte(); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the connection ends with %v", err)
	}
	if _, err := c.Dialer()(context.Background(), "tcp", c.Node(0).Addr()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a new connection: %v", err)
	}
	if c.Node(3).Role() != "replica" {
		t.Error("the replica was promoted before anybody could have noticed")
	}
	if !c.Settle() {
		t.Error("the nodes do not agree")
	}
	if owner := c.NodeForKey("b"); owner != c.Node(3) {
		t.Fatalf("%v owns the slot", owner)
	}
	dial(t, c, 3).do("1", "GET", "b")
	dial(t, c, 1).do("-MOVED 3300 "+c.Node(3).Addr(), "GET", "b")

	must(t, c.Restart(c.Node(0)))
	if !c.Settle() || c.Node(0).Role() != "replica" {
		t.Fatalf("the old master is a %s", c.Node(0).Role())
	}
	if v, _ := c.Node(0).Get("b"); v != "1" {
		t.Errorf("the old master has %q of its new one", v)
	}
}

func TestRestartedMasterIsEmptyAndSoAreItsReplicas(t *testing.T) {
	c := emulator.RunT(t, emulator.Replicas(1))
	must(t, c.Node(0).Set("b", "1"))
	must(t, c.Restart(c.Node(0)))
	c.Settle()
	for _, i := range []int{0, 3} {
		if c.Node(i).Exists("b") {
			t.Errorf("%v has the key still", c.Node(i))
		}
	}
	dial(t, c, 0).do("+OK", "SET", "b", "2")
	if v, _ := c.Node(3).Get("b"); v != "2" {
		t.Errorf("the replica has %q", v)
	}
}

func TestRestartAnswersLoading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := emulator.RunT(t, emulator.Standalone())
		must(t, c.Restart(c.Node(0), emulator.Loading(time.Second)))
		w := dial(t, c, 0)
		w.do("-LOADING Redis is loading the dataset in memory", "GET", "b")
		time.Sleep(time.Second)
		w.do("(nil)", "GET", "b")
	})
}

func TestRestartAtAnotherPort(t *testing.T) {
	c := emulator.RunT(t, emulator.Replicas(1))
	must(t, c.Restart(c.Node(0), emulator.AtPort(7500)))
	c.Settle()
	dial(t, c, 1).do("-MOVED 3300 127.0.0.1:7500", "GET", "b")
	if c.Addrs()[0] != "127.0.0.1:7500" {
		t.Errorf("addresses: %v", c.Addrs())
	}
}

func TestOverTCPAKilledNodeRefusesAndComesBack(t *testing.T) {
	c := emulator.RunT(t, emulator.TCP("127.0.0.1", 0))
	addr := c.Node(0).Addr()
	conn, err := net.Dial("tcp", addr)
	must(t, err)
	w := onWire(t, conn)
	w.do("+PONG", "PING")
	c.Kill(c.Node(0))
	if _, err := w.r.ReadByte(); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the connection ends with %v", err)
	}
	if _, err := net.Dial("tcp", addr); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a new connection: %v", err)
	}
	must(t, c.Restart(c.Node(0)))
	if conn, err = net.Dial("tcp", addr); err != nil {
		t.Fatal(err)
	}
	onWire(t, conn).do("+PONG", "PING")
}

func TestPausedNodeAnswersNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := emulator.RunT(t)
		w := dial(t, c, 0)
		c.Pause(c.Node(0))
		w.send("PING\r\n")
		w.conn.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := w.r.ReadByte(); err == nil {
			t.Fatal("a paused node answered")
		}
		w.conn.SetReadDeadline(time.Time{})
		c.Resume(c.Node(0))
		w.expect("+PONG")
	})
}

// What a replica had received when its master died is what is left.
func TestExactlyTheSuffixIsLost(t *testing.T) {
	c := emulator.RunT(t, emulator.Replicas(1))
	w := dial(t, c, 0)
	w.do("+OK", "SET", "b", "kept")
	c.PauseReplication(c.Node(3))
	w.do("+OK", "SET", "b", "lost")
	w.do(":0", "WAIT", "1", "1")
	c.Kill(c.Node(0))
	c.Settle()
	if owner := c.NodeForKey("b"); owner != c.Node(3) {
		t.Fatalf("%v owns the slot", owner)
	}
	if v, _ := c.Node(3).Get("b"); v != "kept" {
		t.Errorf("the new master has %q", v)
	}
}

func TestLag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := emulator.RunT(t, emulator.Replicas(1))
		c.SetLag(c.Node(3), time.Second)
		w := dial(t, c, 0)
		w.do("+OK", "SET", "b", "1")
		if c.Node(3).Exists("b") {
			t.Error("the replica has it at once")
		}
		w.do(":1", "WAIT", "1", "0")
		if !c.Node(3).Exists("b") {
			t.Error("the replica does not have what it acknowledged")
		}
		w.do("+OK", "SET", "b", "2")
		must(t, c.Failover(c.Node(0)))
		if v, _ := c.NodeForKey("b").Get("b"); v != "2" {
			t.Errorf("the failover lost a write: %q", v)
		}
	})
}

func TestMinorityIsDemotedAndItsWritesAreGone(t *testing.T) {
	c := emulator.RunT(t, emulator.Replicas(1))
	minority := dial(t, c, 0)
	must(t, c.Partition([]*emulator.Node{c.Node(0)}))
	minority.do("+OK", "SET", "b", "minority")
	c.Settle()
	minority.do("-CLUSTERDOWN The cluster is down", "SET", "b", "late")
	majority := dial(t, c, 3)
	majority.do("(nil)", "GET", "b")
	majority.do("+OK", "SET", "b", "majority")
	c.Heal()
	if !c.Settle() || c.Node(0).Role() != "replica" {
		t.Fatalf("after the partition %v is a %s", c.Node(0), c.Node(0).Role())
	}
	if v, _ := c.Node(0).Get("b"); v != "majority" {
		t.Errorf("the old master has %q", v)
	}
}

func TestMigrationStepByStep(t *testing.T) {
	c := emulator.RunT(t)
	tag := "{" + slots.TagFor(100) + "}"
	for i := range 10 {
		must(t, c.Node(0).Set(fmt.Sprint(tag, i), "v"))
	}
	m, err := c.BeginMigration(100, c.Node(1))
	must(t, err)
	source, target := dial(t, c, 0), dial(t, c, 1)
	source.do("-ASK 100 "+c.Node(1).Addr(), "GET", tag+"absent")
	target.do("-MOVED 100 "+c.Node(0).Addr(), "GET", tag+"absent")
	if moved, err := m.MoveKeys(4); moved != 4 || err != nil || m.Left() != 6 {
		t.Fatalf("moved %d, %v, %d are left", moved, err, m.Left())
	}
	source.do("-TRYAGAIN Multiple keys request during rehashing of slot", append([]string{"EXISTS"}, keys(tag, 10)...)...)
	must(t, m.Abort())
	source.do(":10", append([]string{"EXISTS"}, keys(tag, 10)...)...)

	m, err = c.BeginMigration(100, c.Node(1))
	must(t, err)
	must(t, m.Finish())
	target.do(":10", append([]string{"EXISTS"}, keys(tag, 10)...)...)
	dial(t, c, 2).do("-MOVED 100 "+c.Node(1).Addr(), "GET", tag)
}

func keys(tag string, n int) []string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprint(tag, i))
	}
	return names
}

func TestNodesComeAndGo(t *testing.T) {
	c := emulator.RunT(t)
	must(t, c.Node(0).Set("b", "1"))
	master, err := c.AddMaster()
	must(t, err)
	must(t, c.MoveSlots(c.Node(0), master, 3300, 3301))
	if v, _ := c.NodeForKey("b").Get("b"); c.NodeForKey("b") != master || v != "1" {
		t.Fatalf("%v owns the slot, the value is %q", c.NodeForKey("b"), v)
	}
	replica, err := c.AddReplica(master)
	must(t, err)
	if v, _ := replica.Get("b"); v != "1" || replica.Role() != "replica" {
		t.Errorf("the new %s has %q", replica.Role(), v)
	}
	if err := c.Remove(master); !errors.Is(err, emulator.ErrOwnsSlots) {
		t.Errorf("removing a master with slots: %v", err)
	}
	must(t, c.MoveSlots(master, c.Node(1), 3300, 3301))
	must(t, c.Remove(master))
	if text, _ := c.Node(0).Do("CLUSTER", "NODES"); strings.Contains(text.(string), master.Addr()) || strings.Count(text.(string), "\n") != 4 {
		t.Errorf("after the removal n1 knows\n%s", text)
	}
	if len(c.Nodes()) != 4 || replica.Index() != 3 {
		t.Errorf("nodes: %v, the replica is at %d", c.Nodes(), replica.Index())
	}
	if err := c.Remove(master); !errors.Is(err, emulator.ErrForeign) {
		t.Errorf("removing it again: %v", err)
	}
}

func TestAddressTranslation(t *testing.T) {
	c := emulator.RunT(t, emulator.NAT("10.1.2.3", 30001))
	dial(t, c, 1).do("-MOVED 3300 10.1.2.3:30001", "GET", "b")
	if _, err := c.Dialer()(context.Background(), "tcp", "10.1.2.3:30001"); !errors.Is(err, emulator.ErrNoNode) {
		t.Errorf("dialling an announced address: %v", err)
	}
	if at := c.AddressMap()["10.1.2.3:30001"]; at != c.Node(0).Addr() {
		t.Errorf("it is reached at %q", at)
	}
}

func TestEndpoints(t *testing.T) {
	c := emulator.RunT(t, emulator.Hostnames("node-%d.test"), emulator.PreferredEndpoint("hostname"))
	dial(t, c, 1).do("-MOVED 3300 node-1.test:7000", "GET", "b")
	if _, err := c.Dialer()(context.Background(), "tcp", "node-1.test:7000"); err != nil {
		t.Error(err)
	}
	c = emulator.RunT(t, emulator.PreferredEndpoint("unknown-endpoint"))
	dial(t, c, 1).do("-MOVED 3300 :7000", "GET", "b")
}

func TestShapes(t *testing.T) {
	c := emulator.RunT(t, emulator.SlotRanges("0-99,200", "100-199 201-16383", ""))
	if got := fmt.Sprint(c.Node(0).Slots(), c.Node(1).Slots(), c.Node(2).Slots()); got != "[0-99 200] [100-199 201-16383] []" {
		t.Errorf("slots: %s", got)
	}
}
