package layoutkit

import (
	"context"
	"fmt"
	"strings"
	"sync"

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
	before := m.records()
	err := scanBatches(ctx, s, func(batch []keyClass, keys int64) error {
		if err := m.passes.renew(ctx); err != nil {
			return err
		}
		select {
		case batches <- batch:
		case <-ctx.Done():
			return ctx.Err()
		}
		m.progress(Progress{phase, keys, max(keys, total), m.records() - before})
		return nil
	})
	close(batches)
	workers.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
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
	return err == redis.Nil || redis.HasErrorPrefix(err, "WRONGTYPE") || redis.HasErrorPrefix(err, "BUSYKEY")
}

// sameServer reports whether two clients reach the same database.
func sameServer(ctx context.Context, a, b redis.UniversalClient) (bool, error) {
	if a == b {
		return true, nil
	}
	ofA, err := databases(ctx, a)
	if err != nil {
		return false, err
	}
	ofB, err := databases(ctx, b)
	if err != nil {
		return false, err
	}
	for database := range ofA {
		if ofB[database] {
			return true, nil
		}
	}
	return false, nil
}

// database is one that a client uses.
type database struct {
	run    string // a server's random id
	number int
}

// databases are those of all masters of a client.
func databases(ctx context.Context, client redis.UniversalClient) (map[database]bool, error) {
	var mu sync.Mutex
	found := make(map[database]bool)
	err := shim.ForEachMaster(ctx, client, func(ctx context.Context, node *redis.Client) error {
		info, err := node.Info(ctx, "server").Result()
		if err != nil {
			return err
		}
		_, after, _ := strings.Cut(info, "run_id:")
		run, _, _ := strings.Cut(after, "\r\n")
		if run == "" {
			return fmt.Errorf("INFO server has no run_id")
		}
		mu.Lock()
		defer mu.Unlock()
		found[database{run, node.Options().DB}] = true
		return nil
	})
	return found, err
}
