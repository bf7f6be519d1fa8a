package shim_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fakecluster/fakecluster/shim"
	"github.com/redis/go-redis/v9"
)

// inBubble runs body in a bubble, with a cluster of which slot 42 stays half moved
// and two keys of it, so that an MGET gets TRYAGAIN for ever.
func inBubble(t *testing.T, body func(t *testing.T, c *cluster, here, there string)) {
	synctest.Test(t, func(t *testing.T) {
		c := emulated(t, 0)
		here, there := tagged(42, "here"), tagged(42, "there")
		owner := c.owner(42)
		c.do(owner, "MSET", here, 1, there, 1)
		c.half(42, 1, there)
		body(t, c, here, there)
	})
}

func TestBackoffDoubles(t *testing.T) {
	for _, test := range []struct {
		o    shim.RetryOptions
		want time.Duration
	}{
		{shim.RetryOptions{}, 2555 * time.Millisecond},
		{shim.RetryOptions{Attempts: 3, Base: time.Second}, 3 * time.Second},
		{shim.RetryOptions{Attempts: 1}, 0},
	} {
		inBubble(t, func(t *testing.T, c *cluster, here, there string) {
			ctx := context.Background()
			client := c.made(shim.Options{Retry: test.o})
			client.Get(ctx, here)
			for name, send := range map[string]func() error{
				"command":  func() error { return client.MGet(ctx, here, there).Err() },
				"pipeline": func() error { _, err := client.Pipelined(ctx, mget(ctx, here, there)); return err },
				"transaction": func() error {
					_, err := client.TxPipelined(ctx, mget(ctx, here, there))
					return err
				},
				"script": func() error {
					return shim.NewScript(`return 1`, "a", "b").Run(ctx, client, []string{here, there}).Err()
				},
			} {
				before := time.Now()
				err := send()
				var notRun *shim.NotRunError
				if !errors.As(err, &notRun) || !redis.IsTryAgainError(err) {
					t.Errorf("%s: %v", name, err)
				}
				if took := time.Since(before); took != test.want {
					t.Errorf("%s with %+v took %v, want %v", name, test.o, took, test.want)
				}
			}
		})
	}
}

func mget(ctx context.Context, keys ...string) func(redis.Pipeliner) error {
	return func(p redis.Pipeliner) error { return p.MGet(ctx, keys...).Err() }
}

func TestContextWinsOverAttempts(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster, here, there string) {
		client := c.made(shim.Options{})
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		before := time.Now()
		err := client.MGet(ctx, here, there).Err()
		var notRun *shim.NotRunError
		if !errors.As(err, &notRun) || !errors.Is(err, context.DeadlineExceeded) || !redis.IsTryAgainError(err) {
			t.Errorf("%v is not the context's error and the last refusal", err)
		}
		if took := time.Since(before); took != 100*time.Millisecond {
			t.Errorf("it took %v, want 100ms", took)
		}
	})
}

// A reply that does not come in time is lost: the command was sent.
func TestContextEndsWaitingForAReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := emulated(t, 0)
		client := c.made(shim.Options{})
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		before := time.Now()
		err := client.BLPop(ctx, time.Hour, "list").Err()
		var lost *shim.LostReplyError
		if !errors.As(err, &lost) || lost.Command != "blpop" {
			t.Errorf("%v is not a lost reply", err)
		}
		if took := time.Since(before); took != time.Second {
			t.Errorf("it took %v, want 1s", took)
		}
	})
}
