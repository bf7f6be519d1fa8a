package emulator_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/fakecluster/fakecluster/emulator"
)

func TestWay(t *testing.T) {
	c := emulator.RunT(t)
	a, b := c.Node(0), c.Node(1)
	slow := emulator.Way{Delay: 20 * time.Millisecond, Loss: 0.25}
	if err := c.SetWay(a, b, slow); err != nil {
		t.Fatal(err)
	}
	if got := c.Way(a, b); got != slow {
		t.Errorf("there: %+v", got)
	}
	if got := c.Way(b, a); got != (emulator.Way{}) {
		t.Errorf("back: %+v", got)
	}
	if err := c.Partition([]*emulator.Node{a}); err != nil {
		t.Fatal(err)
	}
	if !c.Way(a, b).Cut || !c.Way(b, a).Cut || c.Way(b, c.Node(2)).Cut {
		t.Error("the partition is not between n1 and the others")
	}
	c.Heal()
	if got := c.Way(a, b); got != (emulator.Way{}) {
		t.Errorf("healed: %+v", got)
	}
	if got := emulator.RunT(t, emulator.Servers(2)); got.Way(got.Node(0), got.Node(1)) != (emulator.Way{}) {
		t.Error("servers on their own have ways")
	}
}

func TestTraceSince(t *testing.T) {
	c := emulator.RunT(t, emulator.Standalone())
	trace := c.Trace(3)
	client := redigoTo(t, c.Node(0))
	echo := func(n int) {
		t.Helper()
		if _, err := client.Do("ECHO", n); err != nil {
			t.Fatal(err)
		}
	}
	since := func(seen int) string {
		newer, recorded := trace.Since(seen)
		text := fmt.Sprint(recorded)
		for _, e := range newer {
			text += ";" + e.Text
		}
		return text
	}
	expect := func(seen int, want string) {
		t.Helper()
		if got := since(seen); got != want {
			t.Errorf("since %d: %q, want %q", seen, got, want)
		}
	}
	expect(0, "0")
	echo(1)
	echo(2)
	expect(0, "2;ECHO 1;ECHO 2")
	expect(1, "2;ECHO 2")
	echo(3)
	echo(4)
	expect(0, "4;ECHO 2;ECHO 3;ECHO 4")
	expect(2, "4;ECHO 3;ECHO 4")
	expect(4, "4")
	trace.Clear()
	echo(5)
	expect(4, "1;ECHO 5")
}

// Those who look at a node through Node.Do are not seen by its monitors.
func TestMonitorsDoNotSeeWhoLooksOn(t *testing.T) {
	c := emulator.RunT(t, emulator.Standalone())
	n := c.Node(0)
	monitor := redigoTo(t, n)
	if _, err := monitor.Do("MONITOR"); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Do("INFO"); err != nil {
		t.Fatal(err)
	}
	if _, err := redigoTo(t, n).Do("ECHO", "seen"); err != nil {
		t.Fatal(err)
	}
	line, err := redis.String(redis.ReceiveContext(monitor, t.Context()))
	if err != nil || line[len(line)-len(`"ECHO" "seen"`):] != `"ECHO" "seen"` {
		t.Errorf("the first line is %q, %v", line, err)
	}
}

func redigoTo(t *testing.T, n *emulator.Node) redis.Conn {
	t.Helper()
	conn, err := n.Cluster().Dialer()(context.Background(), "tcp", n.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return redis.NewConn(conn, 0, 0)
}
