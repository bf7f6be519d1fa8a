package interop

import (
	"context"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Debian's clients of other languages, on ours and on a real cluster.
func TestLanguages(t *testing.T) {
	for _, c := range []struct{ name, program, has, script string }{
		{"python", "/usr/bin/python3", "import redis", "cluster.py"},
		{"php", "php", "exit(extension_loaded('redis') ? 0 : 1);", "cluster.php"},
		{"ruby", "ruby", "require 'redis'", "cluster.rb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			program := need(t, c.program)
			flag := map[string]string{"python": "-c", "php": "-r", "ruby": "-e"}[c.name]
			if out, err := exec.Command(program, flag, c.has).CombinedOutput(); err != nil {
				missing(t, "%s has no client: %s", c.name, out)
			}
			onBoth(t, func(t *testing.T, addrs []string) { content(t, addrs, program, c.script) })
		})
	}
	t.Run("hiredis", func(t *testing.T) {
		compiler, program := need(t, "gcc"), filepath.Join(t.TempDir(), "cluster")
		if out, err := exec.Command(compiler, "-o", program, filepath.Join("c", "cluster.c"), "-lhiredis").CombinedOutput(); err != nil {
			missing(t, "hiredis cannot be compiled with: %s", out)
		}
		onBoth(t, func(t *testing.T, addrs []string) {
			_, port, err := net.SplitHostPort(addrs[0])
			if err != nil {
				t.Fatal(err)
			}
			content(t, addrs, program, port)
		})
	})
}

// content runs a program that says so in the end.
func content(t *testing.T, addrs []string, program string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(cmd.Environ(), "REDIS_CLUSTER_URL=redis://"+addrs[0], "REDIS_CLUSTER_NODES="+strings.Join(addrs, ","))
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "is content") {
		t.Errorf("%v\n%s", err, out)
	}
}
