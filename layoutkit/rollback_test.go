package layoutkit_test

import (
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fakecluster/fakecluster/layoutkit"
)

// clusterData writes a record of every kind in the cluster layout, with the marker.
func clusterData(t *testing.T, x *target) {
	t.Helper()
	x.enlist(t, "{m:a}:z", 1, "m1")
	x.write(t, "{m:a}:i:m1", `a "one"`, 0)
	x.write(t, "{ch:12}:r:a", "1 {}", 0)
	x.enlist(t, "{ch:12}:idx", 0, "a")
	x.write(t, "{ct:5}:r:b", "2 {}", 0)
	x.write(t, "{cp:18}:r:c", "3 {}", time.Hour)
	x.write(t, "{sc:12}:r:a", "4 100 {}", 0)
	x.enlist(t, "{sc:12}:idx", 100, "a")
	x.write(t, "{ud:u}:e:n:k", "5", time.Hour)
	x.write(t, "{lk:l}:f", "6", 0)
	x.write(t, "co:{ld:n}:term", "7", 0)
	x.write(t, "{meta}:layout", "cluster:v1", 0)
}

// asLegacy is what the legacy layout makes of clusterData.
func asLegacy() map[string]string {
	return map[string]string{
		"msg:a": "[{1 m1}]", "msg:a:m1": `a "one"`, "chat:a": "1 {}", "contact:b": "2 {}",
		"checkpoint:c": "3 {} expires", "schedule:a": "4 100 {}", "user:u:n:k": "5 expires",
		"fence:l": "6", "co:leader:n:term": "7",
	}
}

// wantLegacy compares the keys that are none of the cluster layout.
func (r *route) wantLegacy(t *testing.T, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, without(r.legacy.contents(t), isClusterName)); diff != "" {
		t.Errorf("legacy (-want +got):\n%s", diff)
	}
}

func TestRollbackMirrors(t *testing.T) {
	eachRoute(t, func(t *testing.T, r *route) {
		clusterData(t, r.cluster)
		x := r.legacy
		// Older than the source.
		x.write(t, "chat:a", "9 {}", 0)
		x.write(t, "user:u:n:k", "old", 0)
		x.message(t, "a", "m1", 8, `"1"`)
		// No longer in the source.
		x.message(t, "a", "gone", 2, `"gone"`)
		x.message(t, "b", "gone", 2, `"gone"`)
		for _, rest := range []string{"chat:b", "contact:a", "checkpoint:a", "user:u:n:gone", "user:v:n:k"} {
			x.write(t, rest, "1 {}", 0)
		}
		x.write(t, "schedule:b", "5 100 {}", 0)
		x.write(t, "schedule:c", "6 -", 0)
		x.write(t, "fence:m", "8", 0)
		x.write(t, "co:leader:m:term", "9", 0)
		// None of the source's business.
		x.write(t, "msg:a:orphan", `a "orphan"`, 0)
		x.write(t, "foreign", "x", 0)
		x.enlist(t, "chat:zset", 1, "x")

		report := migrated(t, r.back())
		want := asLegacy()
		maps.Copy(want, map[string]string{
			"schedule:b": "5 -", "schedule:c": "6 -", "fence:m": "8", "co:leader:m:term": "9",
			"msg:a:orphan": `a "orphan"`, "foreign": "x", "chat:zset": "[{1 x}]",
		})
		r.wantLegacy(t, want)
		if report.Pruned != 8 || report.LayoutMarker != layoutkit.MarkerDeleted {
			t.Errorf("pruned %d, marker %s", report.Pruned, report.LayoutMarker)
		}
		if got := r.legacy.read(t, "{meta}:layout"); got != "" {
			t.Errorf("the marker is %q", got)
		}
		started(t, layoutkit.Options{Client: x.client, Prefix: x.prefix, Layout: layoutkit.Legacy})
		store, err := layoutkit.New(layoutkit.Options{Client: x.client, Prefix: x.prefix, Layout: layoutkit.Cluster})
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Start(t.Context()); !errors.Is(err, layoutkit.ErrLegacyData) {
			t.Errorf("a store in the cluster layout, started by mistake: %v", err)
		}
	})
}

func TestRollbackNeverLowersTokens(t *testing.T) {
	eachRoute(t, func(t *testing.T, r *route) {
		clusterData(t, r.cluster)
		r.legacy.write(t, "schedule:a", "8 200 1", 0)
		r.legacy.write(t, "fence:l", "10", 0)
		r.legacy.write(t, "co:leader:n:term", "5", 0)
		migrated(t, r.back())
		want := asLegacy()
		want["schedule:a"], want["fence:l"] = "8 100 {}", "10"
		r.wantLegacy(t, want)
	})
}

func TestRollbackCopyOnly(t *testing.T) {
	eachRoute(t, func(t *testing.T, r *route) {
		clusterData(t, r.cluster)
		r.legacy.write(t, "chat:a", "9 {}", 0)
		r.legacy.write(t, "chat:b", "1 {}", 0)
		r.legacy.write(t, "schedule:a", "3 200 1", 0) // the greater token wins nevertheless
		r.legacy.write(t, "schedule:b", "5 100 {}", 0)
		o := r.back()
		o.CopyOnly = true
		report := migrated(t, o)
		want := asLegacy()
		want["chat:a"], want["chat:b"], want["schedule:b"] = "9 {}", "1 {}", "5 100 {}"
		r.wantLegacy(t, want)
		if report.Pruned != 0 || report.LayoutMarker != layoutkit.MarkerDeleted {
			t.Errorf("pruned %d, marker %s", report.Pruned, report.LayoutMarker)
		}
	})
}

// Names that both layouts share are mirrored too, if they are other keys.
func TestRollbackMirrorsSharedNames(t *testing.T) {
	eachRoute(t, func(t *testing.T, r *route) {
		clusterData(t, r.cluster)
		want := sharedNames(t, r.cluster)
		maps.Copy(want, asLegacy())
		if !r.inPlace {
			r.legacy.write(t, "conv:a", "1 {}", 0)
			r.legacy.write(t, "conv:b", "1 {}", 0)
			r.legacy.write(t, "{durable:out}:x", "1", 0)
			r.legacy.write(t, "{durable:in}:entries", "1", 0)
		}
		migrated(t, r.back())
		want = without(want, isClusterName)
		r.wantLegacy(t, want)
		if got := r.legacy.describe(t, r.legacy.fullNames("{durable:in}:entries"))[0]; got != "map[k:0 * 1]" {
			t.Errorf("the journal is %q", got)
		}
		if got := r.legacy.describe(t, r.legacy.fullNames("{durable:out}:x"))[0]; got != "gone" {
			t.Errorf("a journal that the source has not is %q", got)
		}
	})
}

func TestRollbackLimitedByInclude(t *testing.T) {
	eachRoute(t, func(t *testing.T, r *route) {
		clusterData(t, r.cluster)
		r.legacy.write(t, "chat:b", "1 {}", 0)
		r.legacy.write(t, "contact:c", "1 {}", 0)
		o := r.back()
		o.Include = []layoutkit.Namespace{layoutkit.NamespaceChats}
		report := migrated(t, o)
		r.wantLegacy(t, map[string]string{"chat:a": "1 {}", "contact:c": "1 {}"})
		if report.LayoutMarker != layoutkit.MarkerUntouched || r.cluster.read(t, "{meta}:layout") != layoutkit.Contract {
			t.Errorf("the marker: %s", report.LayoutMarker)
		}
		o.DeleteSource = true
		if _, err := layoutkit.Migrate(t.Context(), o); !errors.Is(err, layoutkit.ErrInvalid) {
			t.Errorf("deleting a part of the source: %v", err)
		}
	})
}

// A source without the marker may not be complete: mirroring it would delete what
// was never migrated, or was written after an earlier rollback.
func TestRollbackDemandsTheMarker(t *testing.T) {
	eachRoute(t, func(t *testing.T, r *route) {
		everyKind(t, r.legacy)
		o := r.forward()
		o.Include = []layoutkit.Namespace{layoutkit.NamespaceChats}
		migrated(t, o)
		before := r.legacy.contents(t)
		if _, err := layoutkit.Migrate(t.Context(), r.back()); !errors.Is(err, layoutkit.ErrNoMarker) {
			t.Errorf("rolling back what was migrated in part: %v", err)
		}
		r.legacy.wantContents(t, before)

		migrated(t, r.forward())
		migrated(t, r.back())
		if !r.inPlace {
			return // the source is as complete as before
		}
		r.legacy.write(t, "chat:new", "1 {}", 0)
		if _, err := layoutkit.Migrate(t.Context(), r.back()); !errors.Is(err, layoutkit.ErrNoMarker) {
			t.Errorf("rolling back twice: %v", err)
		}
		back := r.back()
		back.Overwrite = true
		if report := migrated(t, back); report.Pruned != 1 {
			t.Errorf("told to overwrite, it pruned %d", report.Pruned)
		}
	})
}

func TestRollbackThatDeletesItsSource(t *testing.T) {
	eachRoute(t, func(t *testing.T, r *route) {
		clusterData(t, r.cluster)
		r.cluster.write(t, "co:{t:a}:seq", "1", 0)
		r.cluster.write(t, "{lk:l}:l", "6 x", time.Hour)
		shared := sharedNames(t, r.cluster)
		o := r.back()
		o.DeleteSource = true
		migrated(t, o)
		want := asLegacy()
		maps.Copy(want, shared)
		r.legacy.wantContents(t, want)
		if !r.inPlace {
			r.cluster.wantContents(t, map[string]string{})
		}

		// The way forward is free of old cluster records.
		r.legacy.write(t, "chat:a", "2 {}", 0)
		migrated(t, r.forward())
		if got := r.cluster.read(t, "{ch:12}:r:a"); got != "2 {}" {
			t.Errorf("the chat is %q", got)
		}
	})
}

// Deleting the source after a complete rollback does not mirror it once more: the
// legacy replicas have written since.
func TestRollbackDeletesOnlyLater(t *testing.T) {
	eachRoute(t, func(t *testing.T, r *route) {
		clusterData(t, r.cluster)
		migrated(t, r.back())
		want := asLegacy()
		r.legacy.write(t, "chat:a", "2 {}", 0)
		r.legacy.write(t, "chat:new", "1 {}", 0)
		want["chat:a"], want["chat:new"] = "2 {}", "1 {}"
		o := r.back()
		o.DeleteSource = true
		if report := migrated(t, o); !report.DeletedOnly {
			t.Error("it mirrored once more")
		}
		r.legacy.wantContents(t, want)
	})
}

// Without deleting the source on the way back, old cluster records win.
func TestForwardAgainKeepsOldClusterRecords(t *testing.T) {
	eachRoute(t, func(t *testing.T, r *route) {
		clusterData(t, r.cluster)
		migrated(t, r.back())
		r.legacy.write(t, "chat:a", "2 {}", 0)
		migrated(t, r.forward())
		if got := r.cluster.read(t, "{ch:12}:r:a"); got != "1 {}" {
			t.Errorf("the chat is %q", got)
		}
	})
}

func TestRollbackDryRun(t *testing.T) {
	eachRoute(t, func(t *testing.T, r *route) {
		clusterData(t, r.cluster)
		r.legacy.message(t, "a", "gone", 2, `"gone"`)
		r.legacy.write(t, "chat:b", "1 {}", 0)
		r.legacy.write(t, "schedule:b", "5 100 {}", 0)
		legacy, cluster := r.legacy.contents(t), r.cluster.contents(t)
		o := r.back()
		o.DryRun = true
		foreseen := migrated(t, o)
		r.legacy.wantContents(t, legacy)
		r.cluster.wantContents(t, cluster)
		o.DryRun = false
		done := migrated(t, o)
		done.DryRun, done.Elapsed, foreseen.Elapsed = true, 0, 0
		if diff := cmp.Diff(done, foreseen); diff != "" || foreseen.Pruned != 3 {
			t.Errorf("done, and foreseen (-want +got):\n%s", diff)
		}
	})
}
