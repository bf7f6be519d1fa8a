package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"go.uber.org/goleak"

	"github.com/fakecluster/fakecluster/tests/freeport"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		os.RemoveAll(builtIn)
		os.Exit(code)
	}))
}

// output collects what is printed and tells when a text has appeared.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
	grew chan struct{}
}

func newOutput() *output { return &output{grew: make(chan struct{}, 1)} }

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case o.grew <- struct{}{}:
	default:
	}
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// running is the program at work.
type running struct {
	stdout, stderr *output
	stop           func() int // ends it and returns its exit code
}

// start runs the program until it printed ready.
func start(t *testing.T, ready string, args ...string) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{stdout: newOutput(), stderr: newOutput()}
	code := make(chan int, 1)
	go func() { code <- run(ctx, args, r.stdout, r.stderr) }()
	r.stop = sync.OnceValue(func() int { cancel(); return <-code })
	t.Cleanup(func() { r.stop() })
	deadline := time.After(time.Minute)
	for !strings.Contains(r.stdout.String(), ready) {
		select {
		case <-r.stdout.grew:
		case c := <-code:
			code <- c
			t.Fatalf("exit code %d: %s", c, r.stderr)
		case <-deadline:
			t.Fatalf("not ready after a minute; printed %q", r.stdout)
		}
	}
	return r
}

func do(t *testing.T, port int, command string, args ...any) string {
	t.Helper()
	conn, err := redis.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	reply, err := redis.String(conn.Do(command, args...))
	if err != nil {
		return err.Error()
	}
	return reply
}

func TestServe(t *testing.T) {
	port := freeport.InARow(t, 6)
	readyFile := filepath.Join(t.TempDir(), "ready")
	r := start(t, "redis-cli", "--port", strconv.Itoa(port), "--replicas", "1", "--ready-file", readyFile)
	want := fmt.Sprintf(`master   127.0.0.1:%d  0-5460
master   127.0.0.1:%d  5461-10922
master   127.0.0.1:%d  10923-16383
replica  127.0.0.1:%d  -
replica  127.0.0.1:%d  -
replica  127.0.0.1:%d  -

  redis-cli -c -p %d

`, port, port+1, port+2, port+3, port+4, port+5, port)
	if got := r.stdout.String(); got != want {
		t.Errorf("banner:\n%s\nwant:\n%s", got, want)
	}
	for i := range 6 {
		if got := do(t, port+i, "PING"); got != "PONG" {
			t.Errorf("node %d answers PING with %s", i, got)
		}
	}
	content, err := os.ReadFile(readyFile)
	if err != nil || !json.Valid(content) || bytes.Count(content, []byte(`"addr"`)) != 6 {
		t.Errorf("ready file: %s, %v", content, err)
	}
	if code := r.stop(); code != 0 {
		t.Errorf("exit code %d: %s", code, r.stderr)
	}
	if _, err := os.Stat(readyFile); err == nil {
		t.Error("the ready file is still there")
	}
}

func TestReadyLine(t *testing.T) {
	port := freeport.InARow(t, 3)
	r := start(t, "}\n", "serve", "--port", strconv.Itoa(port), "--log-format", "json", "--announce-host", "localhost", "--announce-port-base", "9000")
	lines := strings.Split(strings.TrimSpace(r.stdout.String()), "\n")
	var ready struct {
		Event string
		Nodes []struct {
			ID, Addr, Role string
			Slots          []string
		}
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &ready); err != nil {
		t.Fatalf("%s: %v", lines[len(lines)-1], err)
	}
	if ready.Event != "ready" || len(ready.Nodes) != 3 {
		t.Fatalf("ready line: %+v", ready)
	}
	n := ready.Nodes[1]
	if len(n.ID) != 40 || n.Addr != "localhost:9001" || n.Role != "master" || fmt.Sprint(n.Slots) != "[5461-10922]" {
		t.Errorf("second node: %+v", n)
	}
	if id := do(t, port+1, "CLUSTER", "MYID"); id != n.ID {
		t.Errorf("CLUSTER MYID is %s, the ready line says %s", id, n.ID)
	}
}

func TestStandaloneAndPassword(t *testing.T) {
	port := freeport.InARow(t, 1)
	t.Setenv("FAKECLUSTER_STANDALONE", "true")
	t.Setenv("FAKECLUSTER_PORT", strconv.Itoa(port))
	r := start(t, "redis-cli", "--password", "secret")
	if !strings.Contains(r.stdout.String(), fmt.Sprintf("redis-cli -p %d --askpass\n", port)) {
		t.Errorf("banner: %s", r.stdout)
	}
	if got := do(t, port, "PING"); got != "NOAUTH Authentication required." {
		t.Errorf("PING without a password: %s", got)
	}
	conn, err := redis.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port), redis.DialPassword("secret"), redis.DialDatabase(15))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if info, err := redis.String(conn.Do("INFO", "cluster")); err != nil || !strings.Contains(info, "cluster_enabled:0") {
		t.Errorf("INFO cluster: %q, %v", info, err)
	}
}

func TestEmpty(t *testing.T) {
	port := freeport.InARow(t, 3)
	r := start(t, "redis-cli", "--port", strconv.Itoa(port), "--empty")
	if !strings.Contains(r.stdout.String(), fmt.Sprintf("master   127.0.0.1:%d  -\n", port+2)) {
		t.Errorf("banner: %s", r.stdout)
	}
	if got := do(t, port, "CLUSTER", "NODES"); strings.Count(got, "\n") != 1 {
		t.Errorf("a node that met nobody knows %q", got)
	}
}

func TestGrokzen(t *testing.T) {
	for _, c := range []struct {
		standalone string
		plain      int
	}{
		{"", 0}, {"false", 0}, {"true", 2}, {"1", 1},
	} {
		port := freeport.InARow(t, 6)
		for name, value := range map[string]string{
			"FAKECLUSTER_GROKZEN": "1", "MASTERS": "2", "SLAVES_PER_MASTER": "1", "INITIAL_PORT": strconv.Itoa(port),
			"IP": "0.0.0.0", "STANDALONE": c.standalone, "SENTINEL": "true",
		} {
			t.Setenv(name, value)
		}
		r := start(t, "redis-cli")
		lines := strings.Split(r.stdout.String(), "\n")
		if len(lines) < 6 || !strings.HasPrefix(lines[0], fmt.Sprintf("master   127.0.0.1:%d  0-8191", port)) || !strings.HasPrefix(lines[3], "replica") {
			t.Fatalf("banner: %s", r.stdout)
		}
		for i := range c.plain {
			if got := do(t, port+4+i, "CLUSTER", "MYID"); !strings.Contains(got, "cluster support disabled") {
				t.Errorf("the server on port +%d answers CLUSTER MYID with %s", 4+i, got)
			}
		}
		if nodes := strings.Count(r.stdout.String(), "127.0.0.1:"); nodes != 4+c.plain {
			t.Errorf("STANDALONE=%s: %d nodes", c.standalone, nodes)
		}
		if !strings.Contains(r.stderr.String(), "sentinels are not emulated") {
			t.Errorf("SENTINEL=true is not answered: %s", r.stderr)
		}
		if code, out, errs := ended(t, "healthcheck"); code != 0 || out != fmt.Sprintf("127.0.0.1:%d answers\n", port) {
			t.Errorf("healthcheck: %d, %s%s", code, out, errs)
		}
		r.stop()
	}
	t.Setenv("STANDALONE", "some")
	if code, _, errs := ended(t, "serve"); code != exitUsage || !strings.Contains(errs, "STANDALONE=some") {
		t.Errorf("STANDALONE=some: %d, %s", code, errs)
	}
}

// Without an IP the image announces the address of its container.
func TestGrokzenAnnouncesItsOwnAddress(t *testing.T) {
	own := ownAddress()
	if own == "" {
		t.Skip("this machine has no address but loopback")
	}
	for name, value := range map[string]string{"FAKECLUSTER_GROKZEN": "1", "BIND_ADDRESS": "127.0.0.1", "INITIAL_PORT": strconv.Itoa(freeport.InARow(t, 6))} {
		t.Setenv(name, value)
	}
	if r := start(t, "redis-cli"); strings.Count(r.stdout.String(), " "+own+":") != 6 {
		t.Errorf("%s is not announced:\n%s", own, r.stdout)
	}
}

// ended runs a command line that ends by itself.
func ended(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

// Our own variables and flags win over the image's, and without --grokzen the
// image's mean nothing.
func TestGrokzenPrecedence(t *testing.T) {
	port := freeport.InARow(t, 4)
	t.Setenv("MASTERS", "5")
	t.Setenv("IP", "127.0.0.1")
	t.Setenv("INITIAL_PORT", "1")
	t.Setenv("FAKECLUSTER_PORT", strconv.Itoa(port))
	r := start(t, "redis-cli", "--grokzen", "--masters", "2", "--bind", "127.0.0.1")
	if got := strings.Count(r.stdout.String(), "127.0.0.1:"); got != 4 { // two masters, each with the replica the image gives it
		t.Errorf("%d nodes:\n%s", got, r.stdout)
	}
	if code := r.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	r = start(t, "redis-cli", "--masters", "1")
	if got := strings.Count(r.stdout.String(), "127.0.0.1:"); got != 1 {
		t.Errorf("%d nodes without --grokzen:\n%s", got, r.stdout)
	}
}

func TestNonsenseIsRefused(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"--nosuch"}, "unknown flag --nosuch"},
		{[]string{"nosuch"}, "unexpected argument nosuch"},
		{[]string{"--masters", "0"}, "0 masters"},
		{[]string{"--masters", "many"}, "--masters"},
		{[]string{"--replicas", "-1"}, "--replicas"},
		{[]string{"--port", "0"}, "--port 0"},
		{[]string{"--port", "65535"}, "beyond 65535"},
		{[]string{"--redis-version", "5.0"}, "choose one of 6.2, 7.0, 7.2, 7.4"},
		{[]string{"--log-level", "loud"}, "--log-level"},
		{[]string{"--log-format", "xml"}, "--log-format"},
		{[]string{"--protected-mode", "maybe"}, "--protected-mode"},
		{[]string{"--bind", "0.0.0.0"}, "--protected-mode no"},
		{[]string{"--bind", "::"}, "--protected-mode no"},
		{[]string{"--bind", "nosuch.invalid", "--password", "x"}, "nosuch.invalid"},
		{[]string{"--standalone", "--empty"}, "exclude each other"},
		{[]string{"--standalone", "--replicas", "1"}, "no --replicas"},
		{[]string{"--standalone", "--readiness", "/nosuch/dir/report.html"}, "--readiness"},
		{[]string{"--announce-host", "a b"}, "announced host"},
		{[]string{"--hostnames", "node %d,x"}, "host name"},
		{[]string{"--port", strconv.Itoa(port)}, fmt.Sprintf("127.0.0.1:%d is taken", port)},
		{[]string{"--port", strconv.Itoa(freeport.InARow(t, 3)), "--ready-file", "/nosuch/dir/ready"}, "--ready-file"},
	} {
		var stderr bytes.Buffer
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		code := run(ctx, c.args, io.Discard, &stderr)
		cancel()
		if code != 2 || strings.Count(stderr.String(), "\n") != 1 || !strings.Contains(stderr.String(), c.says) {
			t.Errorf("%q: exit code %d, %q; want 2 and one line with %q", c.args, code, &stderr, c.says)
		}
	}
}

func TestHelpNamesFlagsAndVariables(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := run(context.Background(), []string{"--help"}, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	for _, flag := range []string{
		"masters", "replicas", "port", "bind", "announce-host", "announce-port-base", "standalone", "empty", "password", "seed", "in-order",
		"redis-version", "log-level", "log-format", "ready-file", "protected-mode", "grokzen",
		"nodes", "node-timeout", "hostnames", "preferred-endpoint", "control",
	} {
		variable := "FAKECLUSTER_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
		if !strings.Contains(strings.ReplaceAll(stdout.String(), "[no-]", ""), "--"+flag) || !strings.Contains(stdout.String(), variable) {
			t.Errorf("help lacks --%s or %s:\n%s", flag, variable, &stdout)
		}
	}
}

// built is the program as users get it.
func built(t *testing.T) (binary string) {
	t.Helper()
	binary, err := buildOnce()
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

var builtIn string // the folder of the program, "" before there is one

var buildOnce = sync.OnceValues(func() (binary string, err error) {
	if builtIn, err = os.MkdirTemp("", "fakecluster"); err != nil {
		return "", err
	}
	binary = filepath.Join(builtIn, "fakecluster")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", binary, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return binary, nil
})
