package shim_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/shim"
	"github.com/redis/go-redis/v9"
)

var transfer = shim.NewScript(`
	redis.call('DECRBY', KEYS[1], ARGV[1])
	return redis.call('INCRBY', KEYS[2], ARGV[1])`, "from", "to")

func TestScript(t *testing.T) {
	eachCluster(t, 0, func(t *testing.T, c *cluster) {
		ctx := within(t, 30*time.Second)
		c.eachClient(t, shim.RetryOptions{}, func(t *testing.T, client *redis.ClusterClient) {
			if err := client.ScriptFlush(ctx).Err(); err != nil {
				t.Fatal(err)
			}
			a, b := tagged(9000, t.Name()+"a"), tagged(9000, t.Name()+"b")
			keys := []string{a, b}
			if n, err := transfer.Run(ctx, client, keys, 5).Int(); err != nil || n != 5 {
				t.Errorf("alone: %d, %v", n, err)
			}
			if err := client.ScriptFlush(ctx).Err(); err != nil {
				t.Fatal(err)
			}
			var first, second *redis.Cmd
			_, err := client.Pipelined(ctx, func(p redis.Pipeliner) error {
				first, second = transfer.Run(ctx, p, keys, 1), transfer.Run(ctx, p, keys, 1)
				return nil
			})
			if n, _ := second.Int(); err != nil || n+int(first.Val().(int64)) != 13 {
				t.Errorf("in a pipeline: %v, %v, %v", first, second, err)
			}
			if err := client.ScriptFlush(ctx).Err(); err != nil {
				t.Fatal(err)
			}
			_, err = client.TxPipelined(ctx, func(p redis.Pipeliner) error {
				p.Set(ctx, a, 100, 0)
				first = transfer.Run(ctx, p, keys, 3)
				return nil
			})
			if n, _ := first.Int(); err != nil || n != 10 {
				t.Errorf("in a transaction: %v, %v", first, err)
			}

			// In the middle of a move it waits for the end.
			move := c.half(9000, (c.owner(9000)+1)%3, b)
			finished := c.once(c.tells("TRYAGAIN"), func() { c.finish(move) })
			if n, err := transfer.Run(ctx, client, keys, 2).Int(); err != nil || n != 12 {
				t.Errorf("while the slot moves: %d, %v", n, err)
			}
			finished()
			if n := client.Get(ctx, a).Val(); n != "95" {
				t.Errorf("the other side is %s, want 95", n)
			}

			// The node that is to be asked does not know the script.
			if err := client.ScriptFlush(ctx).Err(); err != nil {
				t.Fatal(err)
			}
			move = c.half(9000, (c.owner(9000)+1)%3, a, b)
			_, err = client.Pipelined(ctx, func(p redis.Pipeliner) error {
				first, second = transfer.Run(ctx, p, keys, 1), transfer.Run(ctx, p, keys, 1)
				return nil
			})
			if n, _ := second.Int(); err != nil || n+int(first.Val().(int64)) != 27 {
				t.Errorf("in a pipeline to the node that is to be asked: %v, %v, %v", first, second, err)
			}
			c.finish(move)

			var cross *shim.CrossSlotError
			if err := transfer.Run(ctx, client, []string{"x", "y"}, 1).Err(); !errors.As(err, &cross) || cross.KeyB != "y" {
				t.Errorf("keys of two slots: %v", err)
			}
			_, err = client.Pipelined(ctx, func(p redis.Pipeliner) error {
				p.Set(ctx, "x", 1, 0)
				transfer.Run(ctx, p, []string{"x", "y"}, 1)
				return nil
			})
			if !errors.As(err, &cross) || client.Exists(ctx, "x", "{x}").Val() != 0 {
				t.Errorf("keys of two slots in a pipeline: %v", err)
			}
			err = transfer.Run(ctx, client, []string{"x"}, 1).Err()
			if !errors.Is(err, shim.ErrKeyCount) || !strings.Contains(err.Error(), "from, to") {
				t.Errorf("a key too few: %v", err)
			}
			spoilt(t, client)
		})
		t.Run("without the hook", func(t *testing.T) {
			client := c.plain()
			count := shim.NewScript(`return #KEYS`, "first", "others...")
			if n, err := count.Run(ctx, client, []string{"{k}1", "{k}2", "{k}3"}).Int(); err != nil || n != 3 {
				t.Errorf("any number of keys: %d, %v", n, err)
			}
			if err := count.Run(ctx, client, nil).Err(); !errors.Is(err, shim.ErrKeyCount) {
				t.Errorf("no key: %v", err)
			}
		})
	})
}

// spoilt adds a script with a wrong number of keys to pipelines and transactions, of
// which nothing may be sent then.
func spoilt(t *testing.T, client redis.UniversalClient) {
	t.Helper()
	ctx := within(t, 30*time.Second)
	for name, pipelined := range map[string]func(context.Context, func(redis.Pipeliner) error) ([]redis.Cmder, error){
		"pipeline": client.Pipelined, "transaction": client.TxPipelined,
	} {
		var set *redis.StatusCmd
		var script *redis.Cmd
		_, err := pipelined(ctx, func(p redis.Pipeliner) error {
			set = p.Set(ctx, "spoilt", 1, 0)
			script = transfer.Run(ctx, p, []string{"spoilt"}, 1)
			return nil
		})
		if !errors.Is(err, shim.ErrKeyCount) || !errors.Is(set.Err(), shim.ErrKeyCount) || !errors.Is(script.Err(), shim.ErrKeyCount) {
			t.Errorf("%s with a script that lacks a key: %v, %v, %v", name, err, set, script)
		}
		if n, err := client.Exists(ctx, "spoilt").Result(); n != 0 || err != nil {
			t.Errorf("%s with a script that lacks a key was sent: %d, %v", name, n, err)
		}
	}
}

func TestSlotsAreCheckedBeforeSending(t *testing.T) {
	eachCluster(t, 0, func(t *testing.T, c *cluster) {
		ctx := within(t, 30*time.Second)
		checked := c.plain()
		shim.WithSlotCheck(checked)
		for name, client := range map[string]*redis.ClusterClient{
			"check": checked, "retry": c.handedIn(shim.RetryOptions{}),
		} {
			t.Run(name, func(t *testing.T) {
				var cross *shim.CrossSlotError
				if err := client.MSet(ctx, "a", 1, "b", 2).Err(); !errors.As(err, &cross) || cross.KeyA != "a" {
					t.Errorf("MSET: %v", err)
				}
				cmds, err := client.Pipelined(ctx, func(p redis.Pipeliner) error {
					p.Set(ctx, "a", 1, 0)
					p.SUnionStore(ctx, "a", "b")
					return nil
				})
				if !errors.As(err, &cross) || !errors.As(cmds[0].Err(), &cross) {
					t.Errorf("pipeline: %v", err)
				}
				cmds, err = client.TxPipelined(ctx, func(p redis.Pipeliner) error {
					p.Set(ctx, "a", 1, 0)
					p.Set(ctx, "b", 1, 0)
					return nil
				})
				if !errors.As(err, &cross) || !errors.As(cmds[0].Err(), &cross) {
					t.Errorf("transaction: %v", err)
				}
				if n := client.Exists(ctx, "a").Val() + client.Exists(ctx, "b").Val(); n != 0 {
					t.Errorf("%d keys were written", n)
				}
				if _, err := client.TxPipelined(ctx, func(p redis.Pipeliner) error {
					p.Set(ctx, "{t}a", 1, 0)
					p.Publish(ctx, "any", "m")
					p.Set(ctx, "{t}b", 1, 0)
					return nil
				}); err != nil {
					t.Errorf("transaction of one slot and a keyless command: %v", err)
				}
			})
		}
	})
}
