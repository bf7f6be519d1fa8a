package interop

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// binary builds the program as users get it.
func binary(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fakecluster")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", path, "../../cmd/fakecluster")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

// "fakecluster exec -- npm test" in an npm project, and its failure when there
// is no cluster.
func TestExecNpmTest(t *testing.T) {
	npm := need(t, "npm")
	project := filepath.Join("..", "..", "examples", "exec-npm")
	if found, _ := filepath.Glob(filepath.Join(project, "node_modules", "ioredis")); found == nil {
		missing(t, "the npm package ioredis is not in examples/exec-npm/node_modules")
	}
	run := func(args ...string) (string, error) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Dir = project
		cmd.Env = append(cmd.Environ(), "npm_config_update_notifier=false") // it would ask the registry
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run(binary(t), "exec", "--", npm, "test"); err != nil || !strings.Contains(out, "pass 2") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := run(npm, "test"); err == nil || !strings.Contains(out, "fakecluster exec -- npm test") {
		t.Errorf("without a cluster: %v\n%s", err, out)
	}
}
