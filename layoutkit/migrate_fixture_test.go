package layoutkit_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/layoutkit"
	"github.com/fakecluster/fakecluster/shim"
)

// route is a way that a migration takes.
type route struct {
	name            string
	legacy, cluster *target // the same if in place
	inPlace         bool
}

// routes are where migrations are tested: on emulated and on real servers, in place
// and to a cluster.
var routes = []struct{ name, legacy, cluster string }{
	{"emulator/in-place", "emulator/single/cluster", ""},
	{"emulator/cluster", "emulator/single/cluster", "emulator/cluster"},
	{"real/in-place", "real/single/cluster", ""},
	{"real/cluster", "real/single/cluster", "real/cluster"},
}

// eachRoute runs body for every route, each time under a fresh prefix.
func eachRoute(t *testing.T, body func(t *testing.T, r *route)) {
	for i := range routes {
		t.Run(routes[i].name, func(t *testing.T) { body(t, newRoute(t, routes[i].name)) })
	}
}

func newRoute(t testing.TB, name string) *route {
	for _, way := range routes {
		if way.name != name {
			continue
		}
		r := &route{name: name, legacy: find(t, way.legacy).target(t), inPlace: way.cluster == ""}
		if r.cluster = r.legacy; !r.inPlace {
			r.cluster = find(t, way.cluster).target(t)
			r.cluster.prefix = r.legacy.prefix
		}
		return r
	}
	t.Fatalf("no route %q", name)
	return nil
}

// forward are the options for the way to the cluster layout.
func (r *route) forward() layoutkit.MigrateOptions {
	return layoutkit.MigrateOptions{Source: r.legacy.client, Target: r.cluster.client, Prefix: r.legacy.prefix}
}

// back are the options for the rollback.
func (r *route) back() layoutkit.MigrateOptions {
	return layoutkit.MigrateOptions{
		Source: r.cluster.client, Target: r.legacy.client, Prefix: r.legacy.prefix, Direction: layoutkit.ClusterToLegacy,
	}
}

// migrated makes a pass that must succeed.
func migrated(t testing.TB, o layoutkit.MigrateOptions) *layoutkit.Report {
	t.Helper()
	report, err := layoutkit.Migrate(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if !report.Complete {
		t.Fatal("the report of a pass without an error is not complete")
	}
	return report
}

func (x *target) write(t testing.TB, rest, value string, ttl time.Duration) {
	t.Helper()
	if err := x.client.Set(t.Context(), x.key(rest), value, ttl).Err(); err != nil {
		t.Fatal(err)
	}
}

func (x *target) enlist(t testing.TB, rest string, score float64, member string) {
	t.Helper()
	if err := x.client.ZAdd(t.Context(), x.key(rest), redis.Z{Score: score, Member: member}).Err(); err != nil {
		t.Fatal(err)
	}
}

// get is the value of a string, "" if it is not there.
func (x *target) read(t testing.TB, rest string) string {
	t.Helper()
	value, err := x.client.Get(t.Context(), x.key(rest)).Result()
	if err != nil && err != redis.Nil {
		t.Fatal(err)
	}
	return value
}

// message writes a message of the legacy layout.
func (x *target) message(t testing.TB, chat, member string, score float64, json string) {
	t.Helper()
	x.enlist(t, "msg:"+chat, score, member)
	x.write(t, "msg:"+chat+":"+member, chat+" "+json, 0)
}

// contents are all keys under the prefix with what they hold, without what
// migrations remember of each other.
func (x *target) contents(t testing.TB) map[string]string {
	t.Helper()
	found := make(map[string]string)
	var batch []string
	flush := func() {
		for i, text := range x.describe(t, batch) {
			found[strings.TrimPrefix(batch[i], x.prefix+":")] = text
		}
		batch = batch[:0]
	}
	for key, err := range shim.Scan(t.Context(), x.client, shim.ScanOptions{Match: x.prefix + ":*"}) {
		if err != nil {
			t.Fatal(err)
		}
		if batch = append(batch, key); len(batch) == 500 {
			flush()
		}
	}
	flush()
	delete(found, "{meta}:migrated")
	delete(found, "{meta}:passes")
	return found
}

// describe is what keys hold, and whether they expire.
func (x *target) describe(t testing.TB, keys []string) []string {
	t.Helper()
	ctx := t.Context()
	p := x.client.Pipeline()
	kinds, left := make([]*redis.StatusCmd, len(keys)), make([]*redis.DurationCmd, len(keys))
	for i, key := range keys {
		kinds[i], left[i] = p.Type(ctx, key), p.PTTL(ctx, key)
	}
	sendAll(t, p)
	values := make([]redis.Cmder, len(keys))
	for i, key := range keys {
		switch kinds[i].Val() {
		case "zset":
			values[i] = p.ZRangeWithScores(ctx, key, 0, -1)
		case "hash":
			values[i] = p.HGetAll(ctx, key)
		default:
			values[i] = p.Get(ctx, key)
		}
	}
	sendAll(t, p)
	texts := make([]string, len(keys))
	for i, value := range values {
		switch value := value.(type) {
		case *redis.ZSliceCmd:
			texts[i] = fmt.Sprint(describeMembers(value.Val()))
		case *redis.MapStringStringCmd:
			texts[i] = fmt.Sprint(value.Val())
		case *redis.StringCmd:
			texts[i] = value.Val()
		}
		if left[i].Val() > 0 {
			texts[i] += " expires"
		}
		if kinds[i].Val() == "none" {
			texts[i] = "gone"
		}
	}
	return texts
}

// sendAll sends a pipeline, in which keys may be missing.
func sendAll(t testing.TB, p redis.Pipeliner) {
	t.Helper()
	if p.Len() == 0 {
		return
	}
	if _, err := p.Exec(t.Context()); err != nil && err != redis.Nil {
		t.Fatal(err)
	}
}

// describeMembers are members with their scores, but for those that are times of
// this year: two passes do not keep them to the millisecond.
func describeMembers(members []redis.Z) []string {
	texts := make([]string, len(members))
	for i, m := range members {
		texts[i] = fmt.Sprint(m)
		if m.Score > 1.7e12 && m.Score < 1e13 {
			texts[i] = fmt.Sprintf("{expires %v}", m.Member)
		}
	}
	slices.Sort(texts)
	return texts
}

// wantContents compares what is under the prefix with what should be.
func (x *target) wantContents(t testing.TB, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, x.contents(t)); diff != "" {
		t.Errorf("under %s (-want +got):\n%s", x.prefix, diff)
	}
}

// without is m without the keys for which drop is true.
func without(m map[string]string, drop func(rest string) bool) map[string]string {
	m = maps.Clone(m)
	maps.DeleteFunc(m, func(rest, _ string) bool { return drop(rest) })
	return m
}

// fullNames are keys with the prefix of a target, sorted.
func (x *target) fullNames(rests ...string) []string {
	keys := make([]string, len(rests))
	for i, rest := range rests {
		keys[i] = x.key(rest)
	}
	slices.Sort(keys)
	return keys
}
