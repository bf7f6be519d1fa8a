package shim

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Script is a Lua script that says which keys it touches.
type Script struct {
	source, digest string
	keys           []string
	more           bool // of the last
}

// NewScript makes a script from its source and the names of its KEYS, in order;
// they are for its reader and for error messages. A last name that ends in "..."
// stands for any number of keys, none included.
func NewScript(source string, keys ...string) *Script {
	sum := sha1.Sum([]byte(source))
	s := &Script{source: source, digest: hex.EncodeToString(sum[:]), keys: keys}
	if len(keys) > 0 {
		s.more = strings.HasSuffix(keys[len(keys)-1], "...")
	}
	return s
}

// ErrKeyCount is wrapped by the error for a script that is run with another
// number of keys than it declares. Nothing was sent.
var ErrKeyCount = errors.New("shim: wrong number of keys for the script")

// Processor is what scripts run on: clients, pipelines, transactions.
type Processor interface {
	Process(ctx context.Context, cmd redis.Cmder) error
}

// Run runs the script: at once on a client, with the others on a pipeline or
// transaction. It goes to the owner of its first key by EVALSHA, and by EVAL
// after a NOSCRIPT; in a transaction by EVAL, because there a NOSCRIPT would come
// too late. In a pipeline of a client without WithRetry a NOSCRIPT stays.
//
// The keys must be as many as declared and, on a cluster, in one slot, else the
// command's error is an ErrKeyCount or a *CrossSlotError and nothing was sent, nor, by
// a client with WithRetry, will be of the pipeline or transaction it was added to.
func (s *Script) Run(ctx context.Context, on Processor, keys []string, args ...any) *redis.Cmd {
	words := make([]any, 0, 3+len(keys)+len(args))
	words = append(words, "evalsha", s.digest, len(keys))
	for _, key := range keys {
		words = append(words, key)
	}
	cmd := &scriptCmd{Cmd: redis.NewCmd(ctx, append(words, args...)...), source: s.source}
	cmd.SetFirstKeyPos(firstScriptKey(keys))
	if err := s.check(on, keys); err != nil {
		cmd = refusedScript(ctx, err)
		if _, later := on.(redis.Pipeliner); later {
			_ = on.Process(ctx, cmd) // it is only added
		}
		cmd.SetErr(err)
		return cmd.Cmd
	}
	if err := on.Process(ctx, cmd); redis.HasErrorPrefix(err, "NOSCRIPT") {
		// A client without the hook that would have done it.
		eval := redis.NewCmd(ctx, cmd.evalArgs()...)
		eval.SetFirstKeyPos(firstScriptKey(keys))
		_ = on.Process(ctx, eval)
		return eval
	}
	return cmd.Cmd
}

// check refuses what cannot be run. In a pipeline it leaves the slots to the
// client's hook, which knows whether it is for a cluster.
func (s *Script) check(on Processor, keys []string) error {
	if declared := len(s.keys); s.more && len(keys) < declared-1 || !s.more && len(keys) != declared {
		return fmt.Errorf("%w: it takes %d (%s), got %d", ErrKeyCount, declared, strings.Join(s.keys, ", "), len(keys))
	}
	if _, cluster := on.(*redis.ClusterClient); cluster {
		return SameSlot(keys...)
	}
	return nil
}

func firstScriptKey(keys []string) int8 {
	if len(keys) == 0 {
		return 0
	}
	return 3
}

// scriptCmd is an EVALSHA that can become an EVAL.
type scriptCmd struct {
	*redis.Cmd
	source  string
	refused error // why it cannot be sent
}

// refusedScript is a script that spoils what it is added to, as a command does that
// go-redis cannot encode.
func refusedScript(ctx context.Context, why error) *scriptCmd {
	return &scriptCmd{Cmd: redis.NewCmd(ctx, "evalsha", unencodable{why}), refused: why}
}

type unencodable struct{ why error }

func (u unencodable) MarshalBinary() ([]byte, error) { return nil, u.why }

func (c *scriptCmd) evalArgs() []any {
	args := append([]any(nil), c.Args()...)
	args[0], args[1] = "eval", c.source
	return args
}
