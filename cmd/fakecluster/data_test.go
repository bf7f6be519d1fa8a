package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/tests/freeport"
)

// A cluster comes back as it was: keys and their times, ids, roles, slots.
func TestDataAcrossRestarts(t *testing.T) {
	port := freeport.InARow(t, 6)
	dir := filepath.Join(t.TempDir(), "data")
	r := start(t, "redis-cli", "--port", strconv.Itoa(port), "--replicas", "1", "--data", dir)
	if got := do(t, port+2, "SET", "foo", "bar", "PXAT", "4102444800000"); got != "OK" {
		t.Fatal(got)
	}
	ctlOutput(port, "failover", "n3")
	ctlOutput(port, "move", "0-99", "n2")
	_, before, _ := ctlOutput(port, "nodes")
	ids := func() string {
		// Epochs, roles and slots by id; not the times.
		return regexp.MustCompile(` \d+ \d+ (\d+) connected`).ReplaceAllString(
			strings.ReplaceAll(do(t, port, "CLUSTER", "NODES"), "myself,", ""), " $1")
	}
	view := ids()
	if code := r.stop(); code != 0 {
		t.Fatalf("exit code %d: %s", code, r.stderr)
	}

	r = start(t, "redis-cli", "--port", strconv.Itoa(port), "--data", dir, "--load", "/nosuch")
	if _, after, _ := ctlOutput(port, "nodes"); after != before {
		t.Errorf("the nodes are\n%swere\n%s", after, before)
	}
	if again := ids(); !sameLines(again, view) {
		t.Errorf("the view is\n%swas\n%s", again, view)
	}
	if got := do(t, port+5, "GET", "foo"); got != "bar" {
		t.Errorf("foo is %q", got)
	}
	if got := do(t, port+5, "OBJECT", "ENCODING", "foo"); got != "embstr" {
		t.Error(got)
	}
	if code := r.stop(); code != 0 {
		t.Errorf("exit code %d: %s", code, r.stderr)
	}
}

func sameLines(a, b string) bool {
	count := map[string]int{}
	for line := range strings.Lines(a) {
		count[line]++
	}
	for line := range strings.Lines(b) {
		count[line]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

// What a client saves is on disk when it is told so, long before the end.
func TestSaveWritesToTheDirectory(t *testing.T) {
	for _, command := range []string{"SAVE", "BGSAVE"} {
		port := freeport.InARow(t, 3)
		dir := t.TempDir()
		start(t, "redis-cli", "--port", strconv.Itoa(port), "--data", dir, "--data-every", "0")
		file := filepath.Join(dir, fmt.Sprintf("dump-%d.rdb", port+2))
		if _, err := os.Stat(file); err == nil {
			t.Fatalf("%s is there before anything was saved", file)
		}
		do(t, port+2, "SET", "foo", "bar")
		if got := do(t, port+2, command); got != "OK" && got != "Background saving started" {
			t.Fatal(got)
		}
		saved, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		again := emulator.RunT(t)
		if keys, err := again.LoadRDB(saved, nil); keys != 1 || err != nil {
			t.Errorf("%s saved %d keys, %v", command, keys, err)
		}
		if got := do(t, port+2, "INFO", "persistence"); !strings.Contains(got, "rdb_changes_since_last_save:0\r\n") || !strings.Contains(got, "rdb_saves:1\r\n") {
			t.Errorf("INFO after %s: %s", command, got)
		}
	}
}

func TestDataOfAStandaloneServer(t *testing.T) {
	port := freeport.InARow(t, 1)
	dir := t.TempDir()
	args := []string{"--standalone", "--port", strconv.Itoa(port), "--data", dir}
	r := start(t, "redis-cli", args...)
	do(t, port, "SET", "a", "b")
	r.stop()
	start(t, "redis-cli", args...)
	if got := do(t, port, "GET", "a"); got != "b" {
		t.Errorf("a is %q", got)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	commands, dump, broken := filepath.Join(dir, "seed.redis"), filepath.Join(dir, "dump.rdb"), filepath.Join(dir, "broken")
	from := emulator.RunT(t, emulator.Standalone())
	from.Node(0).Set("foo", "dumped")
	for file, content := range map[string][]byte{
		commands: []byte("# seed\nSET foo seeded\n"), dump: from.Node(0).RDB(), broken: []byte("SET foo\n"),
	} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for file, want := range map[string]string{commands: "seeded", dump: "dumped"} {
		port := freeport.InARow(t, 3)
		r := start(t, "redis-cli", "--port", strconv.Itoa(port), "--load", file)
		if got := do(t, port+2, "GET", "foo"); got != want || !strings.Contains(r.stderr.String(), "loaded") {
			t.Errorf("foo is %q, %s", got, r.stderr)
		}
		r.stop()
	}
	out := newOutput()
	if code := run(t.Context(), []string{"--port", strconv.Itoa(freeport.InARow(t, 3)), "--load", broken}, out, out); code != 2 ||
		!strings.Contains(out.String(), "broken: line 1: SET: ERR Invalid number of arguments") {
		t.Errorf("exit code %d, %s", code, out)
	}
	code, text, errs := shell(t, `echo "$REDIS_CLUSTER_URL"`, "--load", commands)
	if code != 0 || !strings.Contains(errs, "loaded") {
		t.Errorf("exec --load: %d, %s%s", code, text, errs)
	}
}
