package layoutkit_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/layoutkit"
)

// mixture writes some records of every kind, the same for a seed, in the legacy
// layout, so many of each.
func mixture(t testing.TB, x *target, seed uint64, n int) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 1))
	p := x.client.Pipeline()
	ctx := context.Background()
	ttl := func() time.Duration { return time.Duration(random.IntN(2)) * time.Hour }
	for i := range n {
		id := fmt.Sprintf("%d", random.IntN(1000))
		chat := fmt.Sprintf("c%d", random.IntN(1+n/4))
		p.Set(ctx, x.key("chat:"+id), "1 "+id, 0)
		p.Set(ctx, x.key("contact:"+id), "2 "+id, 0)
		p.Set(ctx, x.key("checkpoint:"+id), "3 "+id, ttl())
		p.Set(ctx, x.key("user:u"+id[:1]+":n:"+id), id, ttl())
		if random.IntN(3) == 0 {
			p.Set(ctx, x.key("schedule:"+id), id+" -", 0)
		} else {
			p.Set(ctx, x.key("schedule:"+id), id+" 100 {}", 0)
		}
		p.Set(ctx, x.key("fence:"+id), id, 0)
		p.Set(ctx, x.key("co:leader:"+id+":term"), id, 0)
		p.ZAdd(ctx, x.key("msg:"+chat), redis.Z{Score: float64(i), Member: "m" + id})
		p.Set(ctx, x.key("msg:"+chat+":m"+id), chat+" "+id, 0)
		p.Set(ctx, x.key("conv:"+id), "1 "+id, time.Hour)
		p.HSet(ctx, x.key("{durable:t}:entries"), id, "0 * 1")
	}
	p.Set(ctx, x.key("msg:c0:orphan"), "c0 {}", 0)
	p.Set(ctx, x.key("foreign"), "x", 0)
	if _, err := p.Exec(ctx); err != nil {
		t.Fatal(err)
	}
}

// aPass is a pass to be killed, and what must be there before it.
type aPass struct {
	name    string
	prepare func(t *testing.T, r *route)
	options func(r *route) layoutkit.MigrateOptions
}

var passesToKill = []aPass{
	{"forward", func(*testing.T, *route) {}, (*route).forward},
	{"forward, deleting", func(*testing.T, *route) {}, func(r *route) layoutkit.MigrateOptions {
		o := r.forward()
		o.DeleteSource = true
		return o
	}},
	{"back", diverge, (*route).back},
	{"back, deleting", diverge, func(r *route) layoutkit.MigrateOptions {
		o := r.back()
		o.DeleteSource = true
		return o
	}},
}

// diverge migrates, and lets both sides change.
func diverge(t *testing.T, r *route) {
	migrated(t, r.forward())
	r.cluster.write(t, "{ch:12}:r:a", "9 9", 0)
	r.cluster.write(t, "{sc:12}:r:a", "5 100 7", 0)
	r.legacy.write(t, "chat:b", "1 1", 0)
	r.legacy.write(t, "schedule:b", "3 100 1", 0)
	r.legacy.write(t, "schedule:a", "7 100 1", 0)
	r.legacy.message(t, "c0", "new", 1, "1")
	if err := r.cluster.client.Del(t.Context(), r.cluster.key("{m:c1}:z")).Err(); err != nil {
		t.Fatal(err)
	}
}

// both are the contents of both sides.
func (r *route) both(t testing.TB) map[string]string {
	all := make(map[string]string)
	for rest, text := range r.legacy.contents(t) {
		all["legacy "+rest] = text
	}
	for rest, text := range r.cluster.contents(t) {
		all["cluster "+rest] = text
	}
	return all
}

// A pass that is killed at any command and started again ends equal to one that
// never was.
func TestKilledAtARandomCommand(t *testing.T) {
	rounds := rounds(t, "LAYOUTKIT_KILLS", 12)
	for _, name := range []string{"emulator/in-place", "emulator/cluster"} {
		for _, pass := range passesToKill {
			t.Run(name+", "+pass.name, func(t *testing.T) { killSometimes(t, name, pass, rounds) })
		}
	}
}

// rounds is how often something is done, from the environment.
func rounds(t testing.TB, env string, usual int) int {
	text := os.Getenv(env)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", env, err)
	}
	return n
}

func killSometimes(t *testing.T, name string, pass aPass, rounds int) {
	const size = 30
	r := newRoute(t, name)
	mixture(t, r.legacy, 7, size)
	pass.prepare(t, r)
	traces := []*emulator.Trace{r.cluster.emulator.Trace(1)}
	if !r.inPlace {
		traces = append(traces, r.legacy.emulator.Trace(1))
	}
	migrated(t, pass.options(r))
	commands := 0
	for _, trace := range traces {
		commands = max(commands, trace.Total())
	}
	want := r.both(t)
	if commands < 50 {
		t.Fatalf("the pass took %d commands only", commands)
	}

	random := rand.New(rand.NewPCG(1, 2))
	killed := 0
	for round := range rounds {
		r := newRoute(t, name)
		mixture(t, r.legacy, 7, size)
		pass.prepare(t, r)
		rule := emulator.Rule{Nth: 1 + random.IntN(commands), Times: 1, Action: []emulator.Action{
			emulator.DropAfter(), emulator.DropBefore(), emulator.ReplyWith("OOM"),
		}[round%3]}
		faults := []*emulator.Fault{r.cluster.emulator.Inject(rule)}
		if !r.inPlace {
			faults = append(faults, r.legacy.emulator.Inject(rule))
		}
		_, err := layoutkit.Migrate(t.Context(), pass.options(r))
		for _, f := range faults {
			f.Remove()
		}
		if err != nil { // else it ended before that command: its renewals come by the clock
			killed++
			// A rollback that had ended but for its last reply has nothing to do again.
			if _, again := layoutkit.Migrate(t.Context(), pass.options(r)); again != nil && !errors.Is(again, layoutkit.ErrNoMarker) {
				t.Fatalf("round %d, command %d: started again after %v: %v", round, rule.Nth, err, again)
			}
		}
		if diff := cmp.Diff(want, r.both(t)); diff != "" {
			t.Fatalf("round %d, killed at command %d by %v (-never killed +killed):\n%s", round, rule.Nth, err, diff)
		}
	}
	if killed == 0 {
		t.Error("no pass was killed")
	}
}

// Passes of one direction at once end as one alone does.
func TestTwoMigrationsAtOnce(t *testing.T) {
	eachRoute(t, func(t *testing.T, r *route) {
		mixture(t, r.legacy, 3, 100)
		alone := newRoute(t, r.name)
		mixture(t, alone.legacy, 3, 100)
		for _, o := range []func(*route) layoutkit.MigrateOptions{(*route).forward, (*route).back} {
			migrated(t, o(alone))
			if err := together(t, 3, func() error {
				_, err := layoutkit.Migrate(t.Context(), o(r))
				if errors.Is(err, layoutkit.ErrNoMarker) {
					return nil // another one had rolled back already
				}
				return err
			}); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(alone.both(t), r.both(t)); diff != "" {
				t.Errorf("(-alone +together):\n%s", diff)
			}
		}
	})
}

// together runs fn so many times at once.
func together(t *testing.T, times int, fn func() error) error {
	var (
		all  sync.WaitGroup
		mu   sync.Mutex
		errs []error
	)
	for range times {
		all.Go(func() {
			err := fn()
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// Passes in opposite directions, or that delete what another reads, refuse each
// other; whatever comes of it, nothing is lost.
func TestOppositePassesRefuseEachOther(t *testing.T) {
	eachRoute(t, func(t *testing.T, r *route) {
		mixture(t, r.legacy, 3, 100)
		before := without(r.legacy.contents(t), isClusterName)
		migrated(t, r.forward())
		all := []layoutkit.MigrateOptions{r.forward(), r.back(), r.forward(), r.back()}
		var next sync.Mutex
		if err := together(t, len(all), func() error {
			next.Lock()
			o := all[0]
			all = all[1:]
			next.Unlock()
			_, err := layoutkit.Migrate(t.Context(), o)
			if errors.Is(err, layoutkit.ErrHeld) || errors.Is(err, layoutkit.ErrNoMarker) {
				return nil
			}
			return err
		}); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(before, without(r.legacy.contents(t), isClusterName)); diff != "" {
			t.Errorf("(-before +after):\n%s", diff)
		}
	})
}

func TestDeletingRefusesOthers(t *testing.T) {
	r := newRoute(t, "emulator/cluster")
	mixture(t, r.legacy, 3, 100)
	migrated(t, r.forward())
	inside := make(map[string]error)
	o := r.forward()
	o.DeleteSource = true
	o.Progress = func(p layoutkit.Progress) {
		if p.Phase == layoutkit.PhaseDeleting && len(inside) == 0 {
			for name, other := range map[string]layoutkit.MigrateOptions{"forward": r.forward(), "back": r.back(), "delete": o} {
				other.Progress = nil
				_, inside[name] = layoutkit.Migrate(context.Background(), other)
			}
		}
	}
	migrated(t, o)
	if len(inside) != 3 {
		t.Fatalf("tried %v", inside)
	}
	for name, err := range inside {
		if !errors.Is(err, layoutkit.ErrHeld) {
			t.Errorf("%s meanwhile: %v", name, err)
		}
	}
	if keys := without(r.legacy.contents(t), func(rest string) bool { return rest == "foreign" || rest == "msg:c0:orphan" }); len(keys) != 0 {
		t.Errorf("left are %v", maps.Clone(keys))
	}
}

// Who stops a pass gets what it did, and the next one may start at once.
func TestCancelled(t *testing.T) {
	r := newRoute(t, "emulator/in-place")
	mixture(t, r.legacy, 3, 1000)
	ctx, cancel := context.WithCancel(t.Context())
	o := r.forward()
	o.Progress = func(p layoutkit.Progress) {
		if p.Phase == layoutkit.PhaseCopying {
			cancel()
		}
	}
	report, err := layoutkit.Migrate(ctx, o)
	if !errors.Is(err, context.Canceled) || report == nil || report.Complete || report.LayoutMarker != layoutkit.MarkerUntouched {
		t.Errorf("%+v, %v", report, err)
	}
	if got := r.cluster.read(t, "{meta}:layout"); got != "" {
		t.Errorf("the marker is %q", got)
	}
	migrated(t, r.forward())
	migrated(t, r.back())
}
