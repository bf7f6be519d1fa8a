package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/fakecluster/fakecluster/tests/freeport"
)

// ctlOutput runs "fakecluster ctl" against a port.
func ctlOutput(port int, words ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(context.Background(), append([]string{"ctl", "--addr", fmt.Sprintf("127.0.0.1:%d", port)}, words...), &out, &errs)
	return code, out.String(), errs.String()
}

func TestCtl(t *testing.T) {
	port := freeport.InARow(t, 6)
	start(t, "redis-cli", "--port", strconv.Itoa(port), "--replicas", "1", "--node-timeout", "2s")
	if code, out, _ := ctlOutput(port, "failover", "n1"); code != 0 || out != "OK\n" {
		t.Errorf("failover: %d, %q", code, out)
	}
	if code, out, _ := ctlOutput(port+1, "nodes"); code != 0 || !strings.Contains(out, fmt.Sprintf("n4 127.0.0.1:%d master 0-5460\n", port+3)) {
		t.Errorf("nodes: %d, %q", code, out)
	}
	if code, out, _ := ctlOutput(port, "fault", "on", "command", "get", "error", "OOM"); code != 0 || out != "1\n" {
		t.Errorf("fault: %d, %q", code, out)
	}
	if code, _, errs := ctlOutput(port, "failover", "n99"); code != 1 || !strings.Contains(errs, `there is no node "n99"`) {
		t.Errorf("failover n99: %d, %q", code, errs)
	}
	if code, _, errs := ctlOutput(port, "nosuch"); code != 2 || !strings.Contains(errs, `there is no verb "nosuch"`) {
		t.Errorf("nosuch: %d, %q", code, errs)
	}
	if code, out, _ := ctlOutput(port); code != 0 || !strings.Contains(out, "failover NODE") {
		t.Errorf("without a verb: %d, %q", code, out)
	}
	if code, _, errs := ctlOutput(freeport.InARow(t, 1), "nodes"); code != 2 || !strings.Contains(errs, "no node at --addr") {
		t.Errorf("where nobody is: %d, %q", code, errs)
	}
}

func TestWithoutControl(t *testing.T) {
	port := freeport.InARow(t, 3)
	start(t, "redis-cli", "--port", strconv.Itoa(port), "--no-control")
	if got := do(t, port, "FAKECLUSTER", "nodes"); !strings.HasPrefix(got, "ERR unknown command") {
		t.Errorf("FAKECLUSTER: %s", got)
	}
	if code, _, errs := ctlOutput(port, "nodes"); code != 1 || !strings.Contains(errs, "--no-control") {
		t.Errorf("ctl: %d, %q", code, errs)
	}
}

func TestShapeFromAFile(t *testing.T) {
	const text = `07c37dfeb235213a872192d90877d0cd55635b91 10.0.0.4:30004@31004 slave e7d1eecce10fd6bb5eb35b9f99a514335d9ba9ca 0 1426238317239 4 connected
e7d1eecce10fd6bb5eb35b9f99a514335d9ba9ca 10.0.0.1:30001@31001 myself,master - 0 0 1 connected 0-99 101-16383
67ed2db8d677e59ec4a4cefb06858cf2a1a89fa1 10.0.0.2:30002@31002 master - 0 1426238316232 2 connected 100
`
	file := filepath.Join(t.TempDir(), "nodes.txt")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	port := freeport.InARow(t, 3)
	r := start(t, "redis-cli", "--port", strconv.Itoa(port), "--nodes", file)
	want := fmt.Sprintf("master   127.0.0.1:%d  0-99,101-16383\nmaster   127.0.0.1:%d  100\nreplica  127.0.0.1:%d  -\n", port, port+1, port+2)
	if got := r.stdout.String(); !strings.HasPrefix(got, want) {
		t.Errorf("banner:\n%s\nwant:\n%s", got, want)
	}
	if id := do(t, port, "CLUSTER", "MYID"); id != "e7d1eecce10fd6bb5eb35b9f99a514335d9ba9ca" {
		t.Errorf("the first node is %s", id)
	}
	var stderr bytes.Buffer
	if code := run(t.Context(), []string{"--nodes", "/nosuch"}, &stderr, &stderr); code != 2 || !strings.Contains(stderr.String(), "--nodes") {
		t.Errorf("a file that is not there: %d, %s", code, &stderr)
	}
}
