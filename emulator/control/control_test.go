package control_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/emulator/control"
)

// Every verb must refuse what it does not understand and say how it is used.
func TestNonsenseIsRefused(t *testing.T) {
	x := control.New(emulator.RunT(t, emulator.Replicas(1)))
	for _, line := range []string{
		"nosuch", "nodes n1", "view", "view n1 n2", "reset now", "settle down", "move", "move 1", "move x n1",
		"move 16384 n1", "migrate 1", "migrate x n1", "migrate-keys", "migrate-keys x", "migrate-finish", "migrate-abort 1 2", "failover",
		"failover n1 gently", "kill", "kill n1 n2", "restart", "restart n1 loading", "restart n1 loading x", "restart n1 port 70000",
		"restart n1 nosuch x", "pause", "resume", "add-master n1", "add-replica", "remove", "partition", "way n1 n2 cut", "way n1 > n2 broken",
		"way n1 > n2 loss 1", "way n1 > n2 delay", "heal n1", "lag n1", "lag n1 soon", "fault", "fault on", "fault on command get", "fault delay",
		"fault trickle 1", "fault trickle x 1s", "fault truncate x", "fault on nth 0 drop", "fault on chance 2 drop", "faults 1", "fault-remove",
		"fault-remove x", "trace", "trace on x", "trace nosuch", "clock back", "clock advance x", "clock advance -1h",
	} {
		text, err := x.Do(strings.Fields(line)...)
		if !errors.Is(err, control.ErrUsage) {
			t.Errorf("%s: %q, %v", line, text, err)
		}
	}
	for _, line := range []string{
		"kill n9", "kill nosuch", "view 12", "failover slot:99999", "migrate-keys 7", "migrate-finish 7", "fault-remove 7", "trace show",
		"migrate 0 n1", "remove n1",
	} {
		if text, err := x.Do(strings.Fields(line)...); err == nil {
			t.Errorf("%s: %q", line, text)
		}
	}
}

func TestNodesAreFoundByManyNames(t *testing.T) {
	c := emulator.RunT(t)
	x := control.New(c)
	want, err := x.Do("view", "n1")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"N1", "127.0.0.1:7000", "7000", c.Node(0).ID(), c.Node(0).ID()[:8], "owner:b", "slot:0"} {
		if got, err := x.Do("view", name); got != want || err != nil {
			t.Errorf("view %s: %q, %v", name, got, err)
		}
	}
	if got, err := x.At(c.Node(0), "view", "."); got != want || err != nil {
		t.Errorf("view .: %q, %v", got, err)
	}
}

// The command of the nodes is the same language, and nobody lists it.
func TestCommand(t *testing.T) {
	c := emulator.RunT(t, emulator.Replicas(1), control.Option())
	connect := func(i int) redis.Conn {
		conn, err := c.Dialer()(context.Background(), "tcp", c.Node(i).Addr())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return redis.NewConn(conn, 0, 0)
	}
	conn := connect(1)
	do := func(args ...any) string {
		t.Helper()
		reply, err := redis.String(conn.Do("FAKECLUSTER", args...))
		if err != nil {
			return err.Error()
		}
		return reply
	}
	if got := do("nodes"); strings.Count(got, "\n") != 6 || !strings.HasPrefix(got, "n1 127.0.0.1:7000 master 0-5460\n") {
		t.Errorf("nodes: %s", got)
	}
	if got := do("failover", "n1"); got != "OK" {
		t.Errorf("failover: %s", got)
	}
	if got := do("nosuch"); !strings.HasPrefix(got, "ERR usage: there is no verb") {
		t.Errorf("nosuch: %s", got)
	}
	if got := do(); !strings.Contains(got, "failover NODE") {
		t.Errorf("without words: %s", got)
	}
	// A frozen node still hears what it is told by this command.
	if got := do("pause", "."); got != "OK" || !c.Node(1).Paused() {
		t.Errorf("pause: %s", got)
	}
	if got := do("resume", "*"); got != "OK" || c.Node(1).Paused() {
		t.Errorf("resume: %s", got)
	}
	if got := do("reset"); got != "OK" || c.Node(0).Role() != "master" {
		t.Errorf("reset: %s", got)
	}
	names, err := redis.Strings(conn.Do("COMMAND", "LIST"))
	if err != nil || strings.Contains(strings.Join(names, " "), "fakecluster") {
		t.Errorf("COMMAND LIST shows it: %v", err)
	}
	// A node can be told to end itself.
	if _, err := conn.Do("FAKECLUSTER", "kill", "."); err == nil || !c.Node(1).Down() {
		t.Errorf("kill .: %v", err)
	}

	plain := emulator.RunT(t)
	other, err := plain.Dialer()(context.Background(), "tcp", plain.Node(0).Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := redis.NewConn(other, 0, 0).Do("FAKECLUSTER", "nodes"); err == nil || !strings.HasPrefix(err.Error(), "ERR unknown command 'FAKECLUSTER'") {
		t.Errorf("where it is not enabled: %v", err)
	}
}

func TestFaultsAndTracesAreRemembered(t *testing.T) {
	c := emulator.RunT(t)
	x := control.New(c)
	do := func(line, want string) {
		t.Helper()
		if got, err := x.Do(strings.Fields(line)...); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", line, got, err, want)
		}
	}
	do("trace on", "OK")
	do("fault on command get times 1 error OOM", "1")
	do("fault on client x delay 1s", "2")
	conn, err := c.Dialer()(context.Background(), "tcp", c.Node(0).Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	client := redis.NewConn(conn, 0, 0)
	if _, err := client.Do("GET", "b"); err == nil || !strings.HasPrefix(err.Error(), "OOM ") {
		t.Errorf("GET: %v", err)
	}
	do("faults", "1 hits=1 on command get times 1 error OOM\n2 hits=0 on client x delay 1s\n")
	do("fault-remove 2", "OK")
	do("fault-remove *", "OK")
	do("faults", "no faults")
	do("trace show", "n1 3300 OOM: GET b\n")
	do("trace count verdict oom node n1 command get", "1")
	do("trace count redirected 1", "0")
	do("trace show crossed", "nothing")
	do("trace clear", "OK")
	do("trace count", "0")
	do("trace off", "OK")
}
