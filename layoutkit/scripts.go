package layoutkit

import (
	"context"
	"embed"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/shim"
)

// scripts are one file per operation. The head of each names its KEYS and ARGV.
// Those that keep an index take it as a last key that may be missing, because the
// Legacy layout has no indexes.
//
//go:embed scripts/*.lua
var scripts embed.FS

// script is the embedded script of an operation, with the names of its keys.
func script(operation string, keys ...string) *shim.Script {
	source, err := scripts.ReadFile("scripts/" + operation + ".lua")
	if err != nil {
		panic(err) // at start: the program was built without it
	}
	return shim.NewScript(string(source), keys...)
}

// script runs s on keys, which must share a slot in the Cluster layout: nothing is
// sent if they do not, even to a single server.
func (b *base) script(ctx context.Context, s *shim.Script, keys []string, args ...any) *redis.Cmd {
	if b.names.layout == Cluster {
		if err := shim.SameSlot(keys...); err != nil {
			cmd := redis.NewCmd(ctx)
			cmd.SetErr(err)
			return cmd
		}
	}
	return s.Run(ctx, b.client, keys, args...)
}
