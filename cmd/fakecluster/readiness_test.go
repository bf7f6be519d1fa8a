package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/fakecluster/fakecluster/tests/freeport"
)

func TestReadinessReport(t *testing.T) {
	port := freeport.InARow(t, 1)
	dir := t.TempDir()
	page, text := filepath.Join(dir, "report.html"), filepath.Join(dir, "report.txt")
	r := start(t, "redis-cli", "--standalone", "--port", strconv.Itoa(port), "--readiness", page, "--readiness", text, "--readiness-fail")
	do(t, port, "MSET", "user:1:name", "ada", "user:1:mail", "a@b.c")
	if code := r.stop(); code != 1 {
		t.Errorf("exit code %d", code)
	}
	if out := r.stdout.String(); !strings.Contains(out, "not ready for a cluster: findings in 1 commands: 1 breaks, 0 misleads, 0 costs\n") {
		t.Errorf("printed %q", out)
	}
	for _, file := range []string{page, text} {
		content, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(content), "user:{1}:name") {
			t.Errorf("%s: %v\n%s", file, err, content)
		}
	}
}

func TestReadinessOfACommand(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.json")
	const client = `exec 3<>/dev/tcp/${REDIS_CLUSTER_NODES%:*}/${REDIS_CLUSTER_NODES#*:}; `
	for _, c := range []struct {
		script string
		fail   bool
		code   int
	}{
		{`printf 'MSET a 1 b 2\r\n' >&3; read -r reply <&3`, true, 1},
		{`printf 'MSET a 1 b 2\r\n' >&3; read -r reply <&3`, false, 0},
		{`printf 'MSET a 1 b 2\r\n' >&3; read -r reply <&3; exit 9`, true, 9},
		{`printf 'MSET {a} 1 a 2\r\n' >&3; read -r reply <&3`, true, 0},
	} {
		args := []string{"exec", "--standalone", "--readiness", file}
		if c.fail {
			args = append(args, "--readiness-fail")
		}
		stdout, stderr := newOutput(), newOutput()
		if code := run(t.Context(), append(args, "--", "bash", "-c", client+c.script), stdout, stderr); code != c.code {
			t.Errorf("%q, fail %v: exit code %d, %s%s", c.script, c.fail, code, stdout, stderr)
		}
		if !strings.Contains(stderr.String(), "ready for a cluster: ") {
			t.Errorf("%q: %s", c.script, stderr)
		}
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
		os.Remove(file)
	}
}

func TestReadinessNonsense(t *testing.T) {
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"--readiness", "x.html"}, "add --standalone"},
		{[]string{"--standalone", "--readiness-fail"}, "--readiness FILE"},
		{[]string{"exec", "--readiness", "x.html", "true"}, "add --standalone"},
	} {
		out := newOutput()
		if code := run(t.Context(), c.args, out, out); code != 2 || !strings.Contains(out.String(), c.says) {
			t.Errorf("%q: exit code %d, %s", c.args, code, out)
		}
	}
}
