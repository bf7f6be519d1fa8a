package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// shell runs a script with exec and returns what it printed.
func shell(t *testing.T, script string, flags ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	args := append(append([]string{"exec"}, flags...), "--", "sh", "-c", script)
	code = run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestExecTellsWhereTheNodesAre(t *testing.T) {
	code, out, errs := shell(t, `echo "$REDIS_CLUSTER_URL $REDIS_CLUSTER_NODES $REDIS_URL"`, "--masters", "2", "--replicas", "1", "--password", "p w")
	fields := strings.Fields(out)
	if code != 0 || len(fields) != 2 {
		t.Fatalf("exit code %d, %q, %s", code, out, errs)
	}
	nodes := strings.Split(fields[1], ",")
	if len(nodes) != 4 || fields[0] != "redis://:p%20w@"+nodes[0] {
		t.Errorf("URL %s, nodes %q", fields[0], nodes)
	}
	code, out, errs = shell(t, `echo "$REDIS_CLUSTER_NODES $REDIS_URL"`, "--standalone")
	if fields = strings.Fields(out); code != 0 || len(fields) != 2 || fields[1] != "redis://"+fields[0] {
		t.Errorf("standalone: exit code %d, %q, %s", code, out, errs)
	}
}

// With a certificate the cluster speaks TLS, and the URL says so; users are those
// of the file.
func TestExecOverTLS(t *testing.T) {
	a := newAuthority(t)
	cert, key := a.issue(t, "server")
	users := filepath.Join(t.TempDir(), "users.acl")
	if err := os.WriteFile(users, []byte("user alice on >pw ~* +@all\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	binary := built(t)
	code, out, errs := shell(t, fmt.Sprintf(`echo "$REDIS_CLUSTER_URL"; %q status --addr "${REDIS_CLUSTER_NODES%%%%,*}" --tls-ca %q`, binary, a.file),
		"--tls-cert", cert, "--tls-key", key, "--users", users)
	if code != 0 || !strings.HasPrefix(out, "rediss://127.0.0.1:") || !strings.Contains(out, "\nstate ok, ") {
		t.Errorf("exit code %d, %s%s", code, out, errs)
	}
	if code, _, errs := shell(t, "true", "--tls-key", key); code != exitUsage || !strings.Contains(errs, "--tls-cert") {
		t.Errorf("a key without its certificate: %d, %s", code, errs)
	}
}

// The nodes answer while the command runs, and are gone afterwards.
func TestExecServesMeanwhile(t *testing.T) {
	port := 0
	script := fmt.Sprintf(`%q -test.run=^TestExecClient$ -test.v && echo "$REDIS_CLUSTER_NODES"`, os.Args[0])
	t.Setenv("FAKECLUSTER_TEST_CLIENT", "1")
	code, out, errs := shell(t, script)
	if code != 0 || !strings.Contains(out, "PASS: TestExecClient") {
		t.Fatalf("exit code %d\n%s\n%s", code, out, errs)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if _, err := fmt.Sscanf(lines[len(lines)-1], "127.0.0.1:%d,", &port); err != nil {
		t.Fatalf("%q: %v", lines[len(lines)-1], err)
	}
	if code, _, errs := ctlOutput(port, "nodes"); code != exitUsage {
		t.Errorf("a node still answers: %d, %s", code, errs)
	}
}

// TestExecClient is what TestExecServesMeanwhile runs with exec.
func TestExecClient(t *testing.T) {
	if os.Getenv("FAKECLUSTER_TEST_CLIENT") == "" {
		t.Skip("runs below exec only")
	}
	for addr := range strings.SplitSeq(os.Getenv("REDIS_CLUSTER_NODES"), ",") {
		var port int
		fmt.Sscanf(addr, "127.0.0.1:%d", &port)
		if got := do(t, port, "PING"); got != "PONG" {
			t.Errorf("%s answers PING with %s", addr, got)
		}
	}
}

func TestExecReturnsTheExitCode(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"true"}, 0, ""},
		{[]string{"--", "false"}, 1, ""},
		{[]string{"sh", "-c", "exit 42"}, 42, ""},
		{[]string{"sh", "-c", "kill -KILL $$"}, 137, ""},
		{[]string{"nosuchprogram"}, 127, "not found"},
		{[]string{"/nosuch/program"}, 127, "no such file"},
		{[]string{plain}, 126, "permission denied"},
		{[]string{"--"}, 2, "npm test"},
		{[]string{}, 2, "command"},
		{[]string{"--masters", "0", "true"}, 2, "0 masters"},
		{[]string{"--redis-version", "5", "true"}, 2, "6.2"},
	} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), append([]string{"exec"}, c.args...), &stdout, &stderr)
		if code != c.code || !strings.Contains(stderr.String(), c.says) || c.says == "" && stderr.Len() > 0 {
			t.Errorf("exec %q: exit code %d, %q; want %d and %q", c.args, code, &stderr, c.code, c.says)
		}
	}
}

// A signal reaches the command, which ends as it likes; the program waits for it.
func TestExecPassesSignalsOn(t *testing.T) {
	binary := built(t)
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGUSR1} {
		cmd := exec.Command(binary, "exec", "--", "sh", "-c",
			`trap 'echo got it; exit 5' TERM INT USR1; echo ready; while :; do sleep 0.05; done`)
		printed, _ := endedBy(t, signal, cmd, "ready")
		if code := cmd.ProcessState.ExitCode(); code != 5 || !strings.Contains(printed, "got it") {
			t.Errorf("after %v: exit code %d, %q", signal, code, printed)
		}
	}
}
