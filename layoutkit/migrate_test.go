package layoutkit_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/layoutkit"
)

// Keys are written literally: FNV-1a of "a" is 0xe40c292c, so its bucket is 12; the
// bucket of "b", 0xe70c2de5, is 5, and that of "c", 0xe60c2c52, is 18.

func TestRule1RefusesWhileLive(t *testing.T) {
	for name, alive := range map[string]struct {
		key   string
		write func(t *testing.T, x *target, rest string)
	}{
		"heartbeat":      {"co:rep:r1", func(t *testing.T, x *target, rest string) { x.write(t, rest, "r1", time.Hour) }},
		"legacy ticket":  {"co:turn:a:tix", func(t *testing.T, x *target, rest string) { x.enlist(t, rest, 1, "r1 x") }},
		"cluster ticket": {"co:{t:a}:tix", func(t *testing.T, x *target, rest string) { x.enlist(t, rest, 1, "r1 x") }},
	} {
		t.Run(name, func(t *testing.T) {
			eachRoute(t, func(t *testing.T, r *route) {
				for _, side := range []*target{r.legacy, r.cluster} {
					r.legacy.write(t, "chat:a", "1 {}", 0)
					alive.write(t, side, alive.key)
					before := r.cluster.contents(t)
					for _, o := range []layoutkit.MigrateOptions{r.forward(), r.back()} {
						_, err := layoutkit.Migrate(t.Context(), o)
						if !errors.Is(err, layoutkit.ErrLive) || !strings.Contains(err.Error(), side.key(alive.key)) {
							t.Errorf("%v with %s: %v", o.Direction, alive.key, err)
						}
					}
					r.cluster.wantContents(t, before)
					if err := side.client.Del(t.Context(), side.key(alive.key)).Err(); err != nil {
						t.Fatal(err)
					}
				}
				alive.write(t, r.legacy, alive.key)
				o := r.forward()
				o.AllowLive = true
				migrated(t, o)
				if got := r.cluster.read(t, "{ch:12}:r:a"); got != "1 {}" {
					t.Errorf("with AllowLive the chat is %q", got)
				}
			})
		})
	}
}

// Turns that are over leave numbers behind, which say nothing of replicas at work.
func TestRule1LetsOldTurnsBe(t *testing.T) {
	r := newRoute(t, "emulator/in-place")
	r.legacy.write(t, "co:turn:a:seq", "7", time.Hour)
	r.legacy.write(t, "co:turn:a:last", "7", time.Hour)
	migrated(t, r.forward())
}

func TestRule2MessagesAreReadFromLogs(t *testing.T) {
	eachRoute(t, func(t *testing.T, r *route) {
		x := r.legacy
		x.message(t, "a", "m1", 1.5, `"one"`)
		x.message(t, "a", "m%3A2", -3, `"never"`) // the member is "m%3A2", its item is another's
		x.write(t, "msg:a:m%253A2", `a "two"`, 0) // and this is its item
		x.message(t, "a", "m3", 3, `"three"`)
		x.write(t, "msg:a:m3", `b "of another chat"`, 0)
		x.enlist(t, "msg:a", 4, "m4") // without an item
		x.write(t, "msg:b:m5", `b "no log"`, 0)

		report := migrated(t, r.forward())
		want := map[string]string{
			"{m:a}:z":         "[{-3 m%3A2} {1.5 m1}]",
			"{m:a}:i:m1":      `a "one"`,
			"{m:a}:i:m%253A2": `a "two"`,
			"{meta}:layout":   "cluster:v1",
		}
		got := without(r.cluster.contents(t), func(rest string) bool { return strings.HasPrefix(rest, "msg:") })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(x.fullNames("msg:a:m%3A2", "msg:b:m5"), slices.Sorted(slices.Values(report.Orphans))); diff != "" {
			t.Errorf("orphans (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(x.fullNames("msg:a:m3", "msg:a:m4"), slices.Sorted(slices.Values(report.Skipped))); diff != "" {
			t.Errorf("skipped (-want +got):\n%s", diff)
		}
		counts := layoutkit.Counts{Found: 2, Copied: 2, Skipped: 2, Orphans: 2}
		if diff := cmp.Diff(counts, report.Namespaces[layoutkit.NamespaceMessages]); diff != "" {
			t.Errorf("counts (-want +got):\n%s", diff)
		}
	})
}

func TestRule3CheckpointsAndUserDataKeepTheirTTL(t *testing.T) {
	eachRoute(t, func(t *testing.T, r *route) {
		r.legacy.write(t, "checkpoint:a", "3 {}", time.Hour)
		r.legacy.write(t, "checkpoint:b", "1 {}", 0)
		r.legacy.write(t, "user:u:n:k", "7", 2*time.Hour)
		r.legacy.write(t, "user:u:n:l", "8", 0)
		migrated(t, r.forward())
		for _, test := range []struct {
			record, index, member string
			ttl                   time.Duration
		}{
			{"{cp:12}:r:a", "{cp:12}:idx", "a", time.Hour},
			{"{cp:5}:r:b", "{cp:5}:idx", "b", 0},
			{"{ud:u}:e:n:k", "{ud:u}:idx", "n:k", 2 * time.Hour},
			{"{ud:u}:e:n:l", "{ud:u}:idx", "n:l", 0},
		} {
			score, err := r.cluster.client.ZScore(t.Context(), r.cluster.key(test.index), test.member).Result()
			if err != nil {
				t.Fatalf("%s in %s: %v", test.member, test.index, err)
			}
			wantExpiry(t, r.cluster, test.record, test.ttl, score)
		}
	})
}

// wantExpiry is for a record that had so much left a moment ago, and the score of
// its index.
func wantExpiry(t *testing.T, x *target, record string, ttl time.Duration, score float64) {
	t.Helper()
	left, err := x.client.PTTL(t.Context(), x.key(record)).Result()
	if err != nil {
		t.Fatal(err)
	}
	if ttl == 0 {
		if left != -1 || fmt.Sprint(score) != "+Inf" {
			t.Errorf("%s has %v left, its index says %v", record, left, score)
		}
		return
	}
	if left > ttl || left < ttl-time.Minute {
		t.Errorf("%s has %v left, want %v", record, left, ttl)
	}
	at, err := x.client.Do(t.Context(), "PEXPIRETIME", x.key(record)).Int64()
	if err != nil || float64(at) != score {
		t.Errorf("%s expires at %d (%v), its index says %v", record, at, err, score)
	}
}

func TestRule4FencesAndTermsNeverGoBack(t *testing.T) {
	const great, greater = "9007199254740992", "9007199254740993" // 2^53, which a double cannot tell apart
	eachRoute(t, func(t *testing.T, r *route) {
		for i, test := range []struct{ source, target, want string }{
			{"7", "", "7"}, {"7", "6", "7"}, {"7", "7", "7"}, {"7", "8", "8"}, {"10", "9", "10"}, {"9", "10", "10"},
			{greater, great, greater}, {great, greater, greater}, {"9223372036854775807", "1", "9223372036854775807"},
		} {
			lock := fmt.Sprintf("l%d", i)
			r.legacy.write(t, "fence:"+lock, test.source, 0)
			r.legacy.write(t, "co:leader:"+lock+":term", test.source, 0)
			if test.target != "" {
				r.cluster.write(t, "{lk:"+lock+"}:f", test.target, 0)
				r.cluster.write(t, "co:{ld:"+lock+"}:term", test.target, 0)
			}
			for _, overwrite := range []bool{false, true} {
				o := r.forward()
				o.Overwrite = overwrite
				migrated(t, o)
				if got := r.cluster.read(t, "{lk:"+lock+"}:f"); got != test.want {
					t.Errorf("fence %s over %s is %s", test.source, test.target, got)
				}
				if got := r.cluster.read(t, "co:{ld:"+lock+"}:term"); got != test.want {
					t.Errorf("term %s over %s is %s", test.source, test.target, got)
				}
			}
		}
	})
}

func TestRule4TurnsAndHoldersAreNotCopied(t *testing.T) {
	eachRoute(t, func(t *testing.T, r *route) {
		for _, part := range []string{"seq", "serving", "owner", "last"} {
			r.legacy.write(t, "co:turn:a:"+part, "7", 0)
		}
		r.legacy.write(t, "lock:a", "7 x", time.Hour)
		r.legacy.write(t, "co:leader:a", "7 x", time.Hour)
		before := r.legacy.contents(t)
		migrated(t, r.forward())
		want := map[string]string{}
		if r.inPlace {
			want = before
		}
		want["{meta}:layout"] = "cluster:v1"
		r.cluster.wantContents(t, want)
	})
}

func TestRule5SchedulesKeepTheGreaterToken(t *testing.T) {
	const tombstone = "9 -"
	eachRoute(t, func(t *testing.T, r *route) {
		for i, test := range []struct {
			source, target    string
			want, overwritten string
			score             string // after an overwriting pass
		}{
			{"5 100 {}", "", "5 100 {}", "5 100 {}", "100"},
			{tombstone, "", tombstone, tombstone, "+Inf"},
			{"5 100 {}", "4 200 1", "5 100 {}", "5 100 {}", "100"},
			{"5 100 {}", "5 200 1", "5 200 1", "5 100 {}", "100"},
			{"5 100 {}", "6 200 1", "6 200 1", "6 100 {}", "100"},
			{tombstone, "8 200 1", tombstone, tombstone, "+Inf"},
			{tombstone, "10 200 1", "10 200 1", "10 -", "+Inf"},
			{"10 100 {}", tombstone, "10 100 {}", "10 100 {}", "100"},
			{"8 100 {}", tombstone, tombstone, "9 100 {}", "100"},
			{"9007199254740993 1 2", "9007199254740992 1 1", "9007199254740993 1 2", "9007199254740993 1 2", "1"},
			{"10 1 2", "9 1 1", "10 1 2", "10 1 2", "1"},
		} {
			// "a", and as many more as it takes to be in bucket 12 again, are not
			// needed: one id, emptied in between.
			r.legacy.write(t, "schedule:a", test.source, 0)
			r.cluster.client.Del(t.Context(), r.cluster.key("{sc:12}:r:a"), r.cluster.key("{sc:12}:idx"))
			if test.target != "" {
				r.cluster.write(t, "{sc:12}:r:a", test.target, 0)
			}
			migrated(t, r.forward())
			if got := r.cluster.read(t, "{sc:12}:r:a"); got != test.want {
				t.Errorf("%d: %q over %q is %q, want %q", i, test.source, test.target, got, test.want)
			}
			o := r.forward()
			o.Overwrite = true
			migrated(t, o)
			if got := r.cluster.read(t, "{sc:12}:r:a"); got != test.overwritten {
				t.Errorf("%d: %q overwriting %q is %q, want %q", i, test.source, test.target, got, test.overwritten)
			}
			score := r.cluster.client.ZScore(t.Context(), r.cluster.key("{sc:12}:idx"), "a").Val()
			if got := fmt.Sprint(score); got != test.score {
				t.Errorf("%d: the index says %s, want %s", i, got, test.score)
			}
		}
	})
}

// sharedNames writes what has one name in both layouts, and returns it as contents
// tells it.
func sharedNames(t *testing.T, x *target) map[string]string {
	t.Helper()
	x.write(t, "conv:a", "3 {}", time.Hour)
	x.write(t, "cursor:%2A", "1 7", 0)
	x.write(t, "lease:l", "me", time.Hour)
	if err := x.client.HSet(t.Context(), x.key("{durable:in}:entries"), "k", "0 * 1").Err(); err != nil {
		t.Fatal(err)
	}
	x.enlist(t, "{durable:in}:due", 7, "k")
	return map[string]string{
		"conv:a": "3 {} expires", "cursor:%2A": "1 7", "lease:l": "me expires",
		"{durable:in}:entries": "map[k:0 * 1]", "{durable:in}:due": "[{7 k}]",
	}
}

func TestRule6SharedNamesAreCopiedToOtherPlacesOnly(t *testing.T) {
	eachRoute(t, func(t *testing.T, r *route) {
		want := sharedNames(t, r.legacy)
		report := migrated(t, r.forward())
		want["{meta}:layout"] = "cluster:v1"
		r.cluster.wantContents(t, want)
		wantCopied := int64(2)
		if r.inPlace {
			wantCopied = 0
		}
		if got := report.Namespaces[layoutkit.NamespaceJournal].Copied; got != wantCopied {
			t.Errorf("%d keys of journals were copied, want %d", got, wantCopied)
		}
	})
	for _, name := range []string{"emulator/in-place", "real/in-place"} {
		t.Run(name+", another prefix", func(t *testing.T) {
			r := newRoute(t, name)
			want := sharedNames(t, r.legacy)
			r.legacy.write(t, "chat:a", "1 {}", 0)
			other := *r.legacy
			other.prefix = r.legacy.prefix + "-other"
			o := r.forward()
			o.TargetPrefix = other.prefix
			migrated(t, o)
			want["{meta}:layout"] = "cluster:v1"
			want["{ch:12}:r:a"] = "1 {}"
			want["{ch:12}:idx"] = "[{+Inf a}]"
			other.wantContents(t, want)
		})
	}
}

// A second client of the same server is still in place.
func TestRule6KnowsTheSameServer(t *testing.T) {
	for _, name := range []string{"emulator/in-place", "real/in-place"} {
		t.Run(name, func(t *testing.T) {
			r := newRoute(t, name)
			want := sharedNames(t, r.legacy)
			o := r.forward()
			o.Target = r.legacy.dial(t)
			o.DeleteSource = true
			migrated(t, o)
			want["{meta}:layout"] = "cluster:v1"
			r.legacy.wantContents(t, want)
		})
	}
}

// everyKind writes a record of every kind in the legacy layout and returns what
// the cluster layout makes of it.
func everyKind(t *testing.T, x *target) map[string]string {
	t.Helper()
	x.message(t, "a", "m1", 1, `"one"`)
	x.write(t, "chat:a", "1 {}", 0)
	x.write(t, "contact:b", "2 {}", 0)
	x.write(t, "checkpoint:c", "3 {}", 0)
	x.write(t, "schedule:a", "4 100 {}", 0)
	x.write(t, "user:u:n:k", "5", 0)
	x.write(t, "fence:l", "6", 0)
	x.write(t, "co:leader:n:term", "7", 0)
	return map[string]string{
		"{m:a}:z": "[{1 m1}]", "{m:a}:i:m1": `a "one"`,
		"{ch:12}:r:a": "1 {}", "{ch:12}:idx": "[{+Inf a}]",
		"{ct:5}:r:b": "2 {}", "{ct:5}:idx": "[{+Inf b}]",
		"{cp:18}:r:c": "3 {}", "{cp:18}:idx": "[{+Inf c}]",
		"{sc:12}:r:a": "4 100 {}", "{sc:12}:idx": "[{100 a}]",
		"{ud:u}:e:n:k": "5", "{ud:u}:idx": "[{+Inf n:k}]",
		"{lk:l}:f": "6", "co:{ld:n}:term": "7",
		"{meta}:layout": "cluster:v1",
	}
}

// isClusterName reports whether a key is one of the cluster layout.
func isClusterName(rest string) bool {
	return strings.HasPrefix(rest, "{") || strings.HasPrefix(rest, "co:{")
}

func TestRule7WhatIsThereWins(t *testing.T) {
	eachRoute(t, func(t *testing.T, r *route) {
		want := everyKind(t, r.legacy)
		r.cluster.write(t, "{ch:12}:r:a", "8 [1]", 0)
		r.cluster.enlist(t, "{ch:12}:idx", 0, "a")
		r.cluster.write(t, "{m:a}:i:m1", `a "1"`, 0)
		r.cluster.enlist(t, "{m:a}:z", 5, "m1")
		kept := maps.Clone(want)
		kept["{ch:12}:r:a"], kept["{ch:12}:idx"] = "8 [1]", "[{0 a}]"
		kept["{m:a}:i:m1"], kept["{m:a}:z"] = `a "1"`, "[{5 m1}]"

		for range 2 {
			migrated(t, r.forward())
			if diff := cmp.Diff(kept, without(r.cluster.contents(t), func(rest string) bool { return !isClusterName(rest) })); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
		o := r.forward()
		o.Overwrite = true
		migrated(t, o)
		if diff := cmp.Diff(want, without(r.cluster.contents(t), func(rest string) bool { return !isClusterName(rest) })); diff != "" {
			t.Errorf("overwriting (-want +got):\n%s", diff)
		}
	})
}

func TestRule7MarkerIsWrittenByCompletePasses(t *testing.T) {
	eachRoute(t, func(t *testing.T, r *route) {
		want := everyKind(t, r.legacy)
		for _, ns := range layoutkit.Namespaces {
			o := r.forward()
			o.Include = []layoutkit.Namespace{ns}
			if report := migrated(t, o); report.LayoutMarker != layoutkit.MarkerUntouched {
				t.Errorf("a pass limited to %s: %s", ns, report.LayoutMarker)
			}
		}
		if got := r.cluster.read(t, "{meta}:layout"); got != "" {
			t.Errorf("after passes that all were limited the marker is %q", got)
		}
		report := migrated(t, r.forward())
		if report.LayoutMarker != layoutkit.MarkerWritten {
			t.Errorf("a complete pass: %s", report.LayoutMarker)
		}
		for ns, c := range report.Namespaces {
			if c.Copied != 0 || c.Kept == 0 {
				t.Errorf("%s was not copied by the pass limited to it: %+v", ns, c)
			}
		}
		if diff := cmp.Diff(want, without(r.cluster.contents(t), func(rest string) bool { return !isClusterName(rest) })); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		started(t, layoutkit.Options{Client: r.cluster.client, Prefix: r.cluster.prefix, Layout: layoutkit.Cluster})
	})
}

func TestRule8DeleteSourceAfterACompletePass(t *testing.T) {
	eachRoute(t, func(t *testing.T, r *route) {
		want := everyKind(t, r.legacy)
		shared := sharedNames(t, r.legacy)
		r.legacy.write(t, "msg:a:orphan", `a "orphan"`, 0)
		r.legacy.write(t, "co:turn:a:seq", "7", 0)
		r.legacy.write(t, "lock:l", "6 x", time.Hour)
		r.legacy.write(t, "foreign", "x", 0)
		migrated(t, r.forward())

		// Replicas worked with the cluster layout since: what they deleted stays so.
		store := started(t, layoutkit.Options{Client: r.cluster.client, Prefix: r.cluster.prefix, Layout: layoutkit.Cluster})
		if _, err := layoutkit.Chats[any](store).Delete(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		delete(want, "{ch:12}:r:a")
		delete(want, "{ch:12}:idx")

		o := r.forward()
		o.DeleteSource = true
		report := migrated(t, o)
		if !report.DeletedOnly {
			t.Error("the pass copied once more")
		}
		maps.Copy(want, shared)
		left := map[string]string{"msg:a:orphan": `a "orphan"`, "foreign": "x"}
		if r.inPlace {
			maps.Copy(want, left)
		} else {
			r.legacy.wantContents(t, left)
		}
		r.cluster.wantContents(t, want)
	})
}

// A marker alone does not say that this source was copied: a store that was started
// on an empty cluster has written it.
func TestRule8DeleteSourceCopiesWhatNoPassHas(t *testing.T) {
	eachRoute(t, func(t *testing.T, r *route) {
		want := everyKind(t, r.legacy)
		r.cluster.write(t, "{meta}:layout", "cluster:v1", 0)
		o := r.forward()
		o.DeleteSource = true
		if report := migrated(t, o); report.DeletedOnly || report.Deleted == 0 {
			t.Errorf("the pass: %+v", report)
		}
		r.cluster.wantContents(t, want)
		if !r.inPlace {
			r.legacy.wantContents(t, map[string]string{})
		}
	})
}

// A fence or token that grew between copying and deleting is taken along.
func TestRule8DeleteSourceLosesNoToken(t *testing.T) {
	eachRoute(t, func(t *testing.T, r *route) {
		r.legacy.write(t, "fence:l", "6", 0)
		r.legacy.write(t, "co:leader:n:term", "7", 0)
		r.legacy.write(t, "schedule:a", "4 100 {}", 0)
		migrated(t, r.forward())
		r.legacy.write(t, "fence:l", "16", 0)
		r.legacy.write(t, "co:leader:n:term", "17", 0)
		r.legacy.write(t, "schedule:a", "14 -", 0)
		o := r.forward()
		o.DeleteSource = true
		migrated(t, o)
		r.cluster.wantContents(t, map[string]string{
			"{lk:l}:f": "16", "co:{ld:n}:term": "17", "{sc:12}:r:a": "14 -", "{sc:12}:idx": "[{+Inf a}]",
			"{meta}:layout": "cluster:v1",
		})
	})
}

func TestDryRunTouchesNothing(t *testing.T) {
	eachRoute(t, func(t *testing.T, r *route) {
		everyKind(t, r.legacy)
		sharedNames(t, r.legacy)
		r.cluster.write(t, "{ch:12}:r:a", "8 [1]", 0)
		r.cluster.write(t, "{sc:12}:r:a", "3 1 1", 0)
		r.cluster.write(t, "{lk:l}:f", "9", 0)
		legacy, cluster := r.legacy.contents(t), r.cluster.contents(t)
		o := r.forward()
		o.DeleteSource = true
		o.DryRun = true
		foreseen := migrated(t, o)
		r.legacy.wantContents(t, legacy)
		r.cluster.wantContents(t, cluster)
		for _, x := range []*target{r.legacy, r.cluster} {
			if n := x.client.Exists(t.Context(), x.key("{meta}:passes"), x.key("{meta}:migrated")).Val(); n != 0 {
				t.Errorf("a dry run left %d keys", n)
			}
		}
		o.DryRun = false
		done := migrated(t, o)
		done.DryRun, done.Elapsed, foreseen.Elapsed = true, 0, 0
		if diff := cmp.Diff(done, foreseen); diff != "" {
			t.Errorf("done, and foreseen (-want +got):\n%s", diff)
		}
		want := layoutkit.Counts{Found: 1, Kept: 1, Deleted: 1}
		for _, ns := range []layoutkit.Namespace{layoutkit.NamespaceChats, layoutkit.NamespaceLocks} {
			if diff := cmp.Diff(want, foreseen.Namespaces[ns]); diff != "" {
				t.Errorf("%s (-want +got):\n%s", ns, diff)
			}
		}
	})
}

func TestMigrateRefusesBadOptions(t *testing.T) {
	single := find(t, "emulator/single/legacy").target(t).client
	cluster := find(t, "emulator/cluster").target(t).client
	ring := redis.NewRing(&redis.RingOptions{})
	defer ring.Close()
	for name, o := range map[string]layoutkit.MigrateOptions{
		"no source":            {Prefix: "p"},
		"no prefix":            {Source: single},
		"brace":                {Source: single, Prefix: "p{"},
		"brace of target":      {Source: single, Prefix: "p", TargetPrefix: "}"},
		"legacy on a cluster":  {Source: cluster, Prefix: "p"},
		"rollback to cluster":  {Source: single, Target: cluster, Prefix: "p", Direction: layoutkit.ClusterToLegacy},
		"unknown direction":    {Source: single, Prefix: "p", Direction: 7},
		"unknown namespace":    {Source: single, Prefix: "p", Include: []layoutkit.Namespace{"cats"}},
		"ephemeral namespace":  {Source: single, Prefix: "p", Include: []layoutkit.Namespace{layoutkit.NamespaceTurns}},
		"a client of its kind": {Source: ring, Prefix: "p"},
	} {
		if report, err := layoutkit.Migrate(t.Context(), o); !errors.Is(err, layoutkit.ErrInvalid) || report != nil {
			t.Errorf("%s: %v, %v", name, report, err)
		}
	}
	// A legacy prefix may hold braces: the other layout needs another one.
	if _, err := layoutkit.Migrate(t.Context(), layoutkit.MigrateOptions{Source: single, Prefix: "p{", TargetPrefix: "p"}); err != nil {
		t.Error(err)
	}
}

func TestInspect(t *testing.T) {
	eachRoute(t, func(t *testing.T, r *route) {
		everyKind(t, r.legacy)
		sharedNames(t, r.legacy)
		r.legacy.write(t, "foreign", "x", 0)
		r.legacy.write(t, "co:rep:r", "x", time.Hour)
		r.cluster.enlist(t, "co:{t:a}:tix", 1, "x")
		r.cluster.write(t, "{meta}:layout", "cluster:v1", 0)
		got, err := layoutkit.Inspect(t.Context(), layoutkit.InspectOptions{Client: r.legacy.client, Prefix: r.legacy.prefix})
		if err != nil {
			t.Fatal(err)
		}
		want := &layoutkit.Inspection{
			Legacy: map[layoutkit.Namespace]int64{
				"messages": 2, "chats": 1, "contacts": 1, "checkpoints": 1, "schedules": 1, "userdata": 1, "locks": 1, "leadership": 1,
			},
			Cluster: map[layoutkit.Namespace]int64{},
			Shared:  map[layoutkit.Namespace]int64{"conversations": 1, "cursors": 1, "leases": 1, "journal": 2, "heartbeats": 1},
			Foreign: 1, ForeignKeys: []string{r.legacy.key("foreign")}, Live: 1,
		}
		if r.inPlace {
			want.Cluster["turns"], want.Live, want.Marker = 1, 2, "cluster:v1"
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestProgress(t *testing.T) {
	r := newRoute(t, "emulator/cluster")
	for i := range 1000 {
		r.legacy.write(t, fmt.Sprintf("chat:%d", i), "1 {}", 0)
	}
	last := make(map[layoutkit.Phase]layoutkit.Progress)
	o := r.forward()
	o.DeleteSource = true
	o.Progress = func(p layoutkit.Progress) {
		if p.Keys < last[p.Phase].Keys || p.Phase != layoutkit.PhaseChecking && p.Keys > p.Total {
			t.Errorf("%+v after %+v", p, last[p.Phase])
		}
		last[p.Phase] = p
	}
	migrated(t, o)
	for _, phase := range []layoutkit.Phase{layoutkit.PhaseCopying, layoutkit.PhaseDeleting} {
		if p := last[phase]; p.Records != 1000 || p.Keys < 1000 || p.Keys != p.Total {
			t.Errorf("%s ended with %+v", phase, p)
		}
	}
}

// What is in the way on the target is said, and left alone.
func TestKeysOfOtherTypesInTheWay(t *testing.T) {
	eachRoute(t, func(t *testing.T, r *route) {
		everyKind(t, r.legacy)
		r.cluster.write(t, "{m:a}:z", "no log", 0)
		r.cluster.enlist(t, "{lk:l}:f", 1, "no fence")
		report := migrated(t, r.forward())
		if diff := cmp.Diff(r.cluster.fullNames("{lk:l}:f", "{m:a}:i:m1"), report.Skipped); diff != "" {
			t.Errorf("skipped (-want +got):\n%s", diff)
		}
		if got := r.cluster.read(t, "{m:a}:z"); got != "no log" {
			t.Errorf("the log is %q", got)
		}
	})
}

// On a cluster no command crosses slots, and none sees one node only but SCAN, of
// which every master gets its own.
func TestMigrationsKeepToSlots(t *testing.T) {
	r := newRoute(t, "emulator/cluster")
	seedLegacy(t, r.legacy, 500)
	trace := r.cluster.emulator.Trace(100_000)
	migrated(t, r.forward())
	o := r.back()
	o.DeleteSource = true
	migrated(t, o)
	if trace.Total() < 500 {
		t.Fatalf("%d commands were traced", trace.Total())
	}
	for _, c := range trace.CrossedSlots() {
		t.Errorf("crosses slots: %v", c)
	}
	for _, c := range trace.Where(func(c emulator.Traced) bool {
		return strings.EqualFold(c.Command, "multi") || strings.EqualFold(c.Command, "keys")
	}) {
		t.Errorf("must not be used: %v", c)
	}
}
