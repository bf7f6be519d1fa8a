package layoutkit

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/shim"
)

const (
	// batchSize is how many keys are worked on together.
	batchSize = 256
	// parallel is how many batches are.
	parallel = 4
)

// walk hands the keys of a side to fn, in batches, several at the same time.
func (m *migration) walk(ctx context.Context, s side, phase Phase, total int64, fn func(context.Context, []keyClass) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	batches := make(chan []keyClass)
	var workers sync.WaitGroup
	for range parallel {
		workers.Go(func() {
			for batch := range batches {
				if err := fn(ctx, batch); err != nil {
					cancel(fmt.Errorf("layoutkit: %s: %w", phase, err))
				}
			}
		})
	}
	alive := m.passes.keepAlive(ctx, cancel)
	before, seen := m.records(), int64(0)
	report := func(total int64) { m.progress(Progress{phase, seen, total, m.records() - before}) }
	err := scanBatches(ctx, s, func(batch []keyClass, keys int64) error {
		select {
		case batches <- batch:
		case <-ctx.Done():
			return ctx.Err()
		}
		seen = keys
		report(max(seen, total))
		return nil
	})
	close(batches)
	workers.Wait()
	alive()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	report(seen) // what was deleted meanwhile is not seen
	return err
}

func (m *migration) progress(p Progress) {
	if m.o.Progress != nil {
		m.o.Progress(p)
	}
}

// scanBatches walks the keys under the prefix of a side. keys is how many were
// seen.
func scanBatches(ctx context.Context, s side, fn func(batch []keyClass, keys int64) error) error {
	var (
		batch []keyClass
		keys  int64
	)
	for key, err := range shim.Scan(ctx, s.client, shim.ScanOptions{Match: patternOf(s.names.prefix)}) {
		if err != nil {
			return failed("walking the keys", err)
		}
		keys++
		if batch = append(batch, classify(s.names.prefix, key)); len(batch) == batchSize {
			if err := fn(batch, keys); err != nil {
				return err
			}
			batch = nil
		}
	}
	return fn(batch, keys)
}

// pipelined sends what fn queues. Replies that say something about a key, such as
// that it is not there or of another type, are left to the caller; any other error
// is returned.
func pipelined(ctx context.Context, client redis.UniversalClient, fn func(p redis.Pipeliner)) error {
	p := client.Pipeline()
	fn(p)
	if p.Len() == 0 {
		return nil
	}
	cmds, _ := p.Exec(ctx) // its error is that of the first command that has one
	for _, cmd := range cmds {
		if err := cmd.Err(); err != nil && !isAnswer(err) {
			return failed(strings.ToUpper(cmd.Name()), err)
		}
	}
	return nil
}

// isAnswer reports whether an error says what is at a key.
func isAnswer(err error) bool {
	return errors.Is(err, redis.Nil) || redis.HasErrorPrefix(err, "WRONGTYPE") || redis.HasErrorPrefix(err, "BUSYKEY")
}

// sameServer reports whether the clients of two sides, one of which is a single
// server, reach the same database: whether what is published at one is heard at the
// other. Run ids would not do, since emulated servers may share them.
func sameServer(ctx context.Context, a, b side) (same bool, err error) {
	if a.client == b.client {
		return true, nil
	}
	single, other := a, b
	if _, ok := a.client.(*redis.Client); !ok {
		single, other = b, a
	}
	server, ok := single.client.(*redis.Client)
	if !ok {
		return false, nil
	}
	channel := a.names.join("{meta}", rand.Text())
	subscription := server.Subscribe(ctx, channel)
	defer func() { err = errors.Join(err, subscription.Close()) }()
	if _, err := subscription.Receive(ctx); err != nil {
		return false, err
	}
	var heard atomic.Bool
	err = shim.ForEachMaster(ctx, other.client, func(ctx context.Context, node *redis.Client) error {
		n, err := node.Publish(ctx, channel, "").Result()
		if n > 0 && node.Options().DB == server.Options().DB {
			heard.Store(true)
		}
		return err
	})
	return heard.Load(), err
}
