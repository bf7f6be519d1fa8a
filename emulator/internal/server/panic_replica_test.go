package server_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/emulator/internal/server"
)

// A replica at which a command of its master panics copies the master's data anew
// before it serves any, and goes on following it.
func TestPanickingReplica(t *testing.T) {
	t.Cleanup(server.PlantPanicAtReplicas("append"))
	var logged bytes.Buffer
	c, err := emulator.Start(emulator.RedisVersion("7.4"), emulator.Masters(1), emulator.Replicas(1), emulator.Logger(slog.New(slog.NewTextHandler(&logged, nil))))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	conn, err := c.Dialer()(context.Background(), "tcp", c.Node(1).Addr())
	if err != nil {
		t.Fatal(err)
	}
	master, replica := connect(t, c), over(t, conn)
	replica.expect("+OK", "READONLY")
	master.expect("+OK", "SET", "{a}1", "before")
	master.expect(":11", "APPEND", "{a}1", " once")
	master.expect("+OK", "MULTI")
	master.expect("+QUEUED", "APPEND", "{a}1", " and")
	master.expect("+QUEUED", "SET", "{a}2", "behind it")
	master.do("EXEC")
	master.expect(":1", "WAIT", "1", "0")
	got := replica.do("GET", "{a}1")
	for strings.HasPrefix(got, "-LOADING ") { // until it has the copy
		got = replica.do("GET", "{a}1")
	}
	if got != "before once and" {
		t.Errorf("the replica has %q", got)
	}
	replica.expect("behind it", "GET", "{a}2")
	master.expect("+OK", "SET", "{a}3", "afterwards")
	master.expect(":1", "WAIT", "1", "0")
	replica.expect("afterwards", "GET", "{a}3")
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(logged.String(), "boom") || !strings.Contains(logged.String(), "export_test.go") {
		t.Errorf("the log has no stack:\n%s", logged.String())
	}
}
