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
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary(t), "exec", "--", npm, "test")
	cmd.Dir = project
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "pass 2") {
		t.Errorf("%v\n%s", err, out)
	}
	cmd = exec.CommandContext(ctx, npm, "test")
	cmd.Dir = project
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "fakecluster exec -- npm test") {
		t.Errorf("without a cluster: %v\n%s", err, out)
	}
}
