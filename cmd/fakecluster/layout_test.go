package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/layoutkit"
	"github.com/fakecluster/fakecluster/tests/freeport"
)

// layoutOutput runs "fakecluster layout".
func layoutOutput(words ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(context.Background(), append([]string{"layout"}, words...), &out, &errs)
	return code, out.String(), errs.String()
}

// words are those of a table.
func words(table string) string { return strings.Join(strings.Fields(table), " ") }

// legacyServer is a server with a bot's data in the legacy layout.
func legacyServer(t *testing.T) (url string, store *layoutkit.Store) {
	t.Helper()
	port := freeport.InARow(t, 1)
	emulator.RunT(t, emulator.Standalone(), emulator.TCP("127.0.0.1", port))
	url = fmt.Sprintf("redis://127.0.0.1:%d", port)
	store = layoutStore(t, layoutkit.Options{URL: url, Prefix: "mybot"})
	for i := range 20 {
		chat := fmt.Sprintf("chat-%d", i)
		if _, err := layoutkit.Chats[int](store).Put(t.Context(), chat, i); err != nil {
			t.Fatal(err)
		}
		message := layoutkit.Message[string]{Member: "m", Score: 1, Value: "hello"}
		if _, err := layoutkit.Messages[string](store).Save(t.Context(), chat, message); err != nil {
			t.Fatal(err)
		}
	}
	return url, store
}

func layoutStore(t *testing.T, o layoutkit.Options) *layoutkit.Store {
	t.Helper()
	store, err := layoutkit.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	if err := store.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return store
}

func TestLayoutMigrateAndRollBack(t *testing.T) {
	url, legacy := legacyServer(t)
	port := freeport.InARow(t, 3)
	emulator.RunT(t, emulator.TCP("127.0.0.1", port))
	nodes := fmt.Sprintf("127.0.0.1:%d,127.0.0.1:%d", port, port+2)

	code, out, errs := layoutOutput("inspect", "--source", url, "--prefix", "mybot")
	if code != 0 || !strings.Contains(words(out), "messages 40 0 0") || !strings.Contains(out, "marker: none; signs of life: 0") {
		t.Errorf("inspect: %d\n%s%s", code, out, errs)
	}

	migrate := []string{"migrate", "--source", url, "--target-cluster", nodes, "--prefix", "mybot"}
	code, out, errs = layoutOutput(append(migrate, "--dry-run")...)
	if code != 0 || !strings.Contains(words(out), "all 40 40 0") || !strings.Contains(out, "dry run: nothing was written") {
		t.Errorf("dry run: %d\n%s%s", code, out, errs)
	}
	code, out, errs = layoutOutput(migrate...)
	if code != 0 || !strings.Contains(out, "legacy-to-cluster, complete") || !strings.Contains(out, "marker written") {
		t.Errorf("migrate: %d\n%s%s", code, out, errs)
	}
	// The lines in a pipe.
	for _, line := range []string{"checking: 60 keys, 0 records, done\n", "copying: 61 of 61 keys, 40 records, done\n"} {
		if !strings.Contains(errs, line) {
			t.Errorf("no %q in\n%s", line, errs)
		}
	}

	store := layoutStore(t, layoutkit.Options{Cluster: &layoutkit.ClusterOptions{RootNodes: strings.Split(nodes, ",")}, Prefix: "mybot"})
	if _, err := layoutkit.Chats[int](store).Put(t.Context(), "chat-1", 100); err != nil {
		t.Fatal(err)
	}
	if _, err := layoutkit.Chats[int](store).Delete(t.Context(), "chat-2"); err != nil {
		t.Fatal(err)
	}

	rollback := []string{"rollback", "--source-cluster", nodes, "--target", url, "--prefix", "mybot"}
	code, out, errs = layoutOutput(rollback...)
	if code != exitUsage || out != "" || !strings.Contains(errs, "--yes") || !strings.Contains(errs, "legacy records that the source no longer has") {
		t.Errorf("rollback that nobody agreed to: %d\n%s%s", code, out, errs)
	}
	code, out, errs = layoutOutput(append(rollback, "--yes", "--json")...)
	var report struct {
		Complete     bool
		Pruned       int
		LayoutMarker string
		Direction    string
		Namespaces   map[string]map[string]int
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || code != 0 {
		t.Fatalf("rollback: %d, %v\n%s%s", code, err, out, errs)
	}
	if !report.Complete || report.Pruned != 1 || report.LayoutMarker != "deleted" || report.Direction != "cluster-to-legacy" || report.Namespaces["messages"]["copied"] != 20 {
		t.Errorf("rollback: %s", out)
	}
	if chat, err := layoutkit.Chats[int](legacy).Get(t.Context(), "chat-1"); err != nil || chat.Value != 100 {
		t.Errorf("after the rollback chat-1 is %+v, %v", chat, err)
	}
}

func TestLayoutDeleteSourceAndCopyOnlyAsk(t *testing.T) {
	url, _ := legacyServer(t)
	if code, _, errs := layoutOutput("migrate", "--source", url, "--prefix", "mybot"); code != 0 {
		t.Fatalf("%d: %s", code, errs)
	}
	if code, _, errs := layoutOutput("migrate", "--source", url, "--prefix", "mybot", "--delete-source"); code != exitUsage || !strings.Contains(errs, "the source's keys") {
		t.Errorf("without --yes: %d, %s", code, errs)
	}
	if code, _, errs := layoutOutput("rollback", "--source", url, "--prefix", "mybot", "--copy-only"); code != 0 {
		t.Errorf("what deletes nothing asks nothing: %d, %s", code, errs)
	}
	code, out, errs := layoutOutput("migrate", "--source", url, "--prefix", "mybot", "--delete-source", "-y", "--include", "chats,messages")
	if code != 0 || !strings.Contains(out, "marker untouched") {
		t.Errorf("%d: %s%s", code, out, errs)
	}
	code, out, _ = layoutOutput("inspect", "--source", url, "--prefix", "mybot", "--json")
	var found layoutkit.Inspection
	if err := json.Unmarshal([]byte(out), &found); err != nil || code != 0 || len(found.Legacy) != 0 || found.Cluster[layoutkit.NamespaceMessages] != 40 {
		t.Errorf("%d, %v: %s", code, err, out)
	}
}

func TestLayoutRefuses(t *testing.T) {
	url, legacy := legacyServer(t)
	nobody := fmt.Sprintf("redis://127.0.0.1:%d", freeport.InARow(t, 1))
	for _, test := range []struct {
		words []string
		code  int
		says  string
	}{
		{[]string{"migrate", "--prefix", "p"}, exitUsage, "--source"},
		{[]string{"migrate", "--source", url}, exitUsage, "--prefix"},
		{[]string{"migrate", "--source", url, "--source-cluster", "a:1", "--prefix", "p"}, exitUsage, "--source"},
		{[]string{"migrate", "--source", "://", "--prefix", "p"}, exitUsage, "--source"},
		{[]string{"migrate", "--source", url, "--target", "x", "--prefix", "p"}, exitUsage, "--target"},
		{[]string{"migrate", "--source", url, "--prefix", "p", "--include", "cats"}, exitUsage, "cats"},
		{[]string{"migrate", "--source", url, "--prefix", "{p}"}, exitUsage, "brace"},
		{[]string{"rollback", "--source", url, "--prefix", "mybot", "-y"}, exitError, "CopyOnly"},
		{[]string{"inspect", "--source", nobody, "--prefix", "p"}, exitUsage, "--source"},
	} {
		if code, _, errs := layoutOutput(test.words...); code != test.code || !strings.Contains(errs, test.says) {
			t.Errorf("%q: %d, %s", test.words, code, errs)
		}
	}
	c := redis.NewClient(&redis.Options{Addr: strings.TrimPrefix(url, "redis://")})
	defer c.Close()
	if err := c.Set(t.Context(), "mybot:co:rep:r1", "x", 0).Err(); err != nil {
		t.Fatal(err)
	}
	code, out, errs := layoutOutput("migrate", "--source", url, "--prefix", "mybot")
	if code != exitError || !strings.Contains(errs, "replicas are at work") || !strings.Contains(out, "not complete") {
		t.Errorf("while live: %d\n%s%s", code, out, errs)
	}
	if _, err := layoutkit.Chats[int](legacy).Get(t.Context(), "chat-1"); err != nil {
		t.Error(err)
	}
}

func TestLayoutConfirm(t *testing.T) {
	for answer, agreed := range map[string]bool{"y\n": true, "YES\n": true, "y": true, "\n": false, "": false, "no\n": false, "yellow\n": false} {
		var errs bytes.Buffer
		err := confirm("everything", strings.NewReader(answer), true, &errs)
		if (err == nil) != agreed {
			t.Errorf("%q: %v", answer, err)
		}
		if !strings.Contains(errs.String(), "This deletes everything.") || !strings.HasSuffix(errs.String(), "[y/N] ") {
			t.Errorf("the question: %q", errs.String())
		}
	}
}

// asProgram makes the test binary the program itself.
const asProgram = "LAYOUT_TEST_AS_PROGRAM"

func init() {
	if os.Getenv(asProgram) != "" {
		os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
}

// On a terminal the program asks, and shows a bar.
func TestLayoutOnATerminal(t *testing.T) {
	script, err := exec.LookPath("script")
	if err != nil {
		t.Skip("no script(1), which gives a program a terminal")
	}
	url, _ := legacyServer(t)
	for _, test := range []struct {
		answer string
		code   int
		says   []string
	}{
		{"n", exitError, []string{"Go on? [y/N]", "nothing was done"}},
		{"y", exitOK, []string{"Go on? [y/N]", "copying", "100% |", "deleting", "complete"}},
	} {
		command := fmt.Sprintf("%s layout migrate --source %s --prefix mybot --delete-source", os.Args[0], url)
		c := exec.Command(script, "-qec", command, "/dev/null")
		c.Env = append(os.Environ(), "TERM=xterm", asProgram+"=1")
		stdin, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		c.Stdout, c.Stderr = &out, &out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(stdin, test.answer+"\n"); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait()
		if got := c.ProcessState.ExitCode(); got != test.code {
			t.Errorf("answered %s, exit code %d", test.answer, got)
		}
		for _, text := range test.says {
			if !strings.Contains(out.String(), text) {
				t.Errorf("answered %s, no %q in\n%s", test.answer, text, out.String())
			}
		}
	}
}
