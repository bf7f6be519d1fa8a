package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/fakecluster/fakecluster/cmd/fakecluster/internal/survey"
	"github.com/fakecluster/fakecluster/tests/freeport"
)

// runAt runs a subcommand against the node at a port.
func runAt(t *testing.T, port int, subcommand string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	args = append([]string{subcommand, "--addr", fmt.Sprintf("127.0.0.1:%d", port)}, args...)
	code = run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestStatus(t *testing.T) {
	port := freeport.InARow(t, 6)
	start(t, "redis-cli", "--port", strconv.Itoa(port), "--replicas", "1")
	do(t, port, "SET", "{3}", "x") // slot 1584
	ctlOutput(port, "migrate", "42", "n2")
	code, out, errs := runAt(t, port+4, "status")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	lines := strings.Split(out, "\n")
	if lines[0] != "state ok, 16384 of 16384 slots owned, 3 masters, 3 replicas, 1 key" {
		t.Errorf("summary: %s", lines[0])
	}
	for i, want := range []string{
		fmt.Sprintf(`^n1 +127\.0\.0\.1:%d +master +ok +1 +5461 +1 +\S+[KM] +\d+ +\d+ +- +0-5460 \[42→n2\]$`, port),
		fmt.Sprintf(`^n4 +127\.0\.0\.1:%d +replica +ok +1 +0 +1 +\S+[KM] +\d+ +\d+ +\d+ +of n1$`, port+3),
		fmt.Sprintf(`^n2 +127\.0\.0\.1:%d +master +ok +2 +5462 +0 .* 5461-10922 \[42←n1\]$`, port+1),
		`^n5 .* of n2$`,
		`^n3 .* 10923-16383$`,
		`^n6 .* of n3$`,
	} {
		if got := lines[3+i]; !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("node %d: %s\nwant %s", i, got, want)
		}
	}
	code, out, _ = runAt(t, port, "status", "--json")
	var seen survey.Survey
	if err := json.Unmarshal([]byte(out), &seen); err != nil || code != 0 || len(seen.Nodes) != 6 || seen.Nodes[2].Name != "n2" {
		t.Errorf("exit code %d, %v: %s", code, err, out)
	}
}

// Nodes that are in no state to answer are listed all the same, and CI learns of
// a cluster that is down.
func TestStatusOfAnUnwellCluster(t *testing.T) {
	port := freeport.InARow(t, 3)
	start(t, "redis-cli", "--port", strconv.Itoa(port))
	ctlOutput(port, "pause", "n3")
	code, out, _ := runAt(t, port, "status", "--timeout", "300ms")
	if code != 0 || !strings.Contains(out, "no answer") || !strings.Contains(out, "1 node unwell") {
		t.Errorf("with a paused node: exit code %d\n%s", code, out)
	}
	ctlOutput(port, "resume", "n3")
	ctlOutput(port, "kill", "n3")
	ctlOutput(port, "settle")
	code, out, _ = runAt(t, port, "status")
	if code != 1 || !strings.HasPrefix(out, "state fail") || !regexp.MustCompile(`n3 .* fail `).MatchString(out) {
		t.Errorf("with a dead master: exit code %d\n%s", code, out)
	}
	if code, _, errs := runAt(t, freeport.InARow(t, 1), "status"); code != 2 || !strings.Contains(errs, "no node at --addr") {
		t.Errorf("where nobody is: %d, %s", code, errs)
	}
}

func TestStatusOfAStandaloneServer(t *testing.T) {
	port := freeport.InARow(t, 1)
	start(t, "redis-cli", "--port", strconv.Itoa(port), "--standalone", "--password", "pw")
	code, out, errs := runAt(t, port, "status", "--password", "pw")
	if code != 0 || !strings.Contains(out, "0-16383") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
}

// The slots are those of the cluster specification and of CLUSTER KEYSLOT.
func TestSlot(t *testing.T) {
	port := freeport.InARow(t, 3)
	start(t, "redis-cli", "--port", strconv.Itoa(port))
	code, out, errs := runAt(t, port, "slot", "foo", "{user:42}:name", "{}a")
	want := fmt.Sprintf("12182  n3 127.0.0.1:%d  foo\n%s  ", port+2, "15880")
	if code != 0 || !strings.HasPrefix(out, want) {
		t.Errorf("exit code %d\n%s%s\nwant %s", code, out, errs, want)
	}
	if _, out, _ = runAt(t, port, "slot", "--color", "always", "x{tag}y", "plain", "{}a"); !strings.Contains(out, "x{\x1b[1;7mtag\x1b[0m}y\n") ||
		strings.Count(out, "\x1b") != 2 {
		t.Errorf("highlighted: %q", out)
	}
	if code, _, _ = runAt(t, port, "slot", "--same", "{a}1", "{a}2"); code != 0 {
		t.Errorf("keys of one slot: exit code %d", code)
	}
	if code, _, _ = runAt(t, port, "slot", "--same", "{a}1", "{b}2"); code != 1 {
		t.Errorf("keys of two slots: exit code %d", code)
	}
	if code, out, errs = runAt(t, freeport.InARow(t, 1), "slot", "foo"); code != 0 || out != "12182  -  foo\n" || !strings.Contains(errs, "owners are unknown") {
		t.Errorf("without a cluster: %d, %q, %q", code, out, errs)
	}
}

func TestWatchInAPipe(t *testing.T) {
	port := freeport.InARow(t, 6)
	start(t, "redis-cli", "--port", strconv.Itoa(port), "--replicas", "1")
	out := newOutput()
	code := make(chan int, 1)
	go func() {
		code <- run(t.Context(), []string{"watch", "--addr", fmt.Sprintf("127.0.0.1:%d", port+1), "--interval", "20ms", "--count", "100"}, out, out)
	}()
	for strings.Count(out.String(), "\n") < 2 {
		<-out.grew
	}
	do(t, port, "GET", "foo") // MOVED
	ctlOutput(port, "failover", "n1")
	if c := <-code; c != 0 {
		t.Fatalf("exit code %d: %s", c, out)
	}
	for _, want := range []string{
		`^\d\d:\d\d:\d\d state ok, 16384 of 16384 slots owned, 3 masters, 3 replicas, 0 keys\n`,
		` MOVED/s`,
		`\d ! n4 is a master, epoch 7\n`,
		`\d ! n4 owns 0-5460\n`,
		`\d ! n1 is a replica of n4\n`,
	} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("control sequences in a pipe")
	}
}

func TestWatchOnAScreen(t *testing.T) {
	port := freeport.InARow(t, 2)
	start(t, "redis-cli", "--port", strconv.Itoa(port), "--masters", "2")
	look := func() *survey.Survey {
		c := contact{Addr: fmt.Sprintf("127.0.0.1:%d", port), Timeout: 1e9}
		seen, err := survey.Take(t.Context(), c.dial, c.Addr, c.Timeout)
		if err != nil {
			t.Fatal(err)
		}
		return seen
	}
	var out bytes.Buffer
	s := &screen{out: &out, size: func() (int, int) { return 42, 12 }}
	first := look()
	s.look(first, nil)
	ctlOutput(port, "move", "100", "n2")
	s.look(look(), first)
	s.end()
	text := out.String()
	if !strings.HasPrefix(text, enterScreen) || strings.Count(text, enterScreen) != 1 || !strings.Contains(text, leaveScreen) {
		t.Errorf("the alternate screen is not entered and left once: %q", text)
	}
	if want := "\x1b[48;5;33m" + strings.Repeat(" ", 20) + "\x1b[48;5;208m" + strings.Repeat(" ", 20) + "\x1b[0m]"; !strings.Contains(text, want) {
		t.Errorf("no bar of two halves in %q", text)
	}
	if !strings.Contains(text, "n2 owns 100,8192-16383") {
		t.Errorf("the move is not told of: %q", text)
	}
	drawing, _, _ := strings.Cut(text, leaveScreen)
	drawing = strings.ReplaceAll(drawing, toTop, "\r\n")
	for row := range strings.SplitSeq(regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`).ReplaceAllString(drawing, ""), "\r\n") {
		if n := len([]rune(row)); n > 42 {
			t.Errorf("a row of %d columns on 42: %q", n, row)
		}
	}
}
