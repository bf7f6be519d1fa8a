package interop

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The JavaScript clients run node/scenario.mjs, and BullMQ its own program; "npm ci" in node/ installs them.
func TestNodeClients(t *testing.T) {
	node := need(t, "node")
	for _, c := range []struct{ name, program, module string }{
		{"redis 4.7", "noderedis.mjs", "redis4"},
		{"redis", "noderedis.mjs", "redis"},
		{"ioredis", "ioredis.mjs", "ioredis"},
		{"iovalkey", "ioredis.mjs", "iovalkey"},
		{"bullmq", "bullmq.mjs", "bullmq"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := os.Stat(filepath.Join("node", "node_modules", c.module)); err != nil {
				missing(t, "the npm package %s is not in tests/interop/node/node_modules", c.module)
			}
			onBoth(t, func(t *testing.T, addrs []string) {
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
				defer cancel()
				cmd := exec.CommandContext(ctx, node, c.program, strings.Join(addrs[:2], ","), c.module)
				cmd.Dir = "node"
				out, err := cmd.CombinedOutput()
				if err != nil || !strings.Contains(string(out), "is content with 3 masters") {
					t.Errorf("%v\n%s", err, out)
				}
			})
		})
	}
}
