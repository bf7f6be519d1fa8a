package layoutkit_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"pgregory.net/rapid"

	"github.com/fakecluster/fakecluster/layoutkit"
)

// floors are the greatest tokens, fences and terms that were seen, by what they are
// of: none may ever be smaller again.
type floors struct {
	mu       sync.Mutex
	greatest map[string]int64
	sunk     []string
}

// saw is told of a number that was current after the caller began with began as
// the greatest.
func (f *floors) saw(of string, number, began int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if number < began {
		f.sunk = append(f.sunk, fmt.Sprintf("%s went from %d to %d", of, began, number))
	}
	f.greatest[of] = max(f.greatest[of], number)
}

func (f *floors) of(what string) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.greatest[what]
}

// liveSide is a keyspace in one layout with replicas at work.
type liveSide struct {
	name      string
	x         *target
	schedules layoutkit.ScheduleSet[int]
	locks     *layoutkit.Locks
	record    func(id string) string // of a schedule
	counters  func(id string) (fence, term string)
}

func (r *route) liveSides(t *testing.T) []liveSide {
	legacy, err := layoutkit.New(layoutkit.Options{Client: r.legacy.client, Prefix: r.legacy.prefix, Layout: layoutkit.Legacy})
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := layoutkit.New(layoutkit.Options{Client: r.cluster.client, Prefix: r.cluster.prefix, Layout: layoutkit.Cluster})
	if err != nil {
		t.Fatal(err)
	}
	bucket := map[string]string{"a": "12", "b": "5", "c": "18"}
	return []liveSide{
		{"legacy", r.legacy, layoutkit.Schedules[int](legacy), legacy.Locks(),
			func(id string) string { return "schedule:" + id },
			func(id string) (string, string) { return "fence:" + id, "co:leader:" + id + ":term" }},
		{"cluster", r.cluster, layoutkit.Schedules[int](cluster), cluster.Locks(),
			func(id string) string { return "{sc:" + bucket[id] + "}:r:" + id },
			func(id string) (string, string) { return "{lk:" + id + "}:f", "co:{ld:" + id + "}:term" }},
	}
}

// look reads all numbers of a side.
func (s liveSide) look(ctx context.Context, f *floors) error {
	for _, id := range []string{"a", "b", "c"} {
		fence, term := s.counters(id)
		for _, rest := range []string{fence, term, s.record(id)} {
			began := f.of(s.name + rest)
			text, err := s.x.client.Get(ctx, s.x.key(rest)).Result()
			if errors.Is(err, redis.Nil) {
				text, err = "0", nil
			}
			if err != nil {
				return err
			}
			number, err := strconv.ParseInt(strings.Fields(text)[0], 10, 64)
			if err != nil {
				return err
			}
			f.saw(s.name+rest, number, began)
		}
	}
	return nil
}

// work is one thing that replicas do. Each raises a number, and tells it.
func (s liveSide) work(ctx context.Context, f *floors, what, id string) error {
	fence, term := s.counters(id)
	switch what {
	case "lock":
		began := f.of(s.name + fence)
		lock, err := s.locks.Acquire(ctx, id, time.Minute)
		if errors.Is(err, layoutkit.ErrHeld) {
			return nil
		}
		if err != nil {
			return err
		}
		f.saw(s.name+fence, lock.Fence(), began+1)
		return lock.Release(ctx)
	case "lead":
		began := f.of(s.name + term)
		n, err := s.x.client.Incr(ctx, s.x.key(term)).Result()
		f.saw(s.name+term, n, began+1)
		return err
	case "claim":
		began := f.of(s.name + s.record(id))
		claim, err := s.schedules.Claim(ctx, id, time.Millisecond)
		if err != nil {
			return nil // not due, or not there
		}
		f.saw(s.name+s.record(id), claim.Token, began+1)
		return nil
	case "end":
		_, err := s.schedules.Delete(ctx, id)
		return err
	default:
		began := f.of(s.name + s.record(id))
		token, err := s.schedules.Put(ctx, id, time.Unix(1, 0), 1)
		f.saw(s.name+s.record(id), token, began)
		return err
	}
}

// aMigration draws the options of a pass that deletes no source.
func (r *route) aMigration(t *rapid.T) layoutkit.MigrateOptions {
	o := r.forward()
	if rapid.Bool().Draw(t, "back") {
		o = r.back()
		o.CopyOnly = rapid.Bool().Draw(t, "copy only")
	}
	o.AllowLive = true
	o.Overwrite = rapid.Bool().Draw(t, "overwrite")
	if rapid.Bool().Draw(t, "limited") {
		o.Include = []layoutkit.Namespace{layoutkit.NamespaceSchedules, layoutkit.NamespaceLocks}
	}
	return o
}

// Whatever replicas of both layouts do while migrations run to and fro, no token,
// fence or term of either goes back.
func TestTokensNeverGoBackWhileLive(t *testing.T) {
	for _, name := range []string{"emulator/in-place", "emulator/cluster"} {
		t.Run(name, func(t *testing.T) {
			r := newRoute(t, name)
			rapid.Check(t, func(rt *rapid.T) {
				r.legacy.prefix = freshPrefix()
				r.cluster.prefix = r.legacy.prefix
				r.live(t, rt)
			})
		})
	}
}

func (r *route) live(t *testing.T, rt *rapid.T) {
	ctx := context.Background()
	sides := r.liveSides(t)
	f := &floors{greatest: make(map[string]int64)}
	for range rapid.IntRange(1, 5).Draw(rt, "migrations") {
		o := r.aMigration(rt)
		var all sync.WaitGroup
		failures := make(chan error, 10)
		for writer := range 2 {
			side := sides[writer]
			words := rapid.SliceOfN(rapid.SampledFrom([]string{"lock", "lead", "claim", "end", "put", "put"}), 0, 12).Draw(rt, side.name)
			ids := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), len(words), len(words)).Draw(rt, "of")
			all.Go(func() {
				for i, what := range words {
					if err := side.work(ctx, f, what, ids[i]); err != nil {
						failures <- fmt.Errorf("%s of %s in the %s layout: %w", what, ids[i], side.name, err)
						return
					}
				}
			})
		}
		all.Go(func() {
			if _, err := layoutkit.Migrate(ctx, o); err != nil && !errors.Is(err, layoutkit.ErrNoMarker) {
				failures <- err
			}
		})
		all.Wait()
		close(failures)
		for err := range failures {
			rt.Error(err)
		}
		for _, side := range sides {
			if err := side.look(ctx, f); err != nil {
				rt.Fatal(err)
			}
		}
		for _, sunk := range f.sunk {
			rt.Error(sunk)
		}
	}
}
