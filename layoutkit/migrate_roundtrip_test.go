package layoutkit_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/layoutkit"
	"github.com/fakecluster/fakecluster/tests/redisserver"
)

// segment is an id as the contract encodes it in keys.
func segment(id string) string {
	var b strings.Builder
	for i := range len(id) {
		c := id[i]
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_.!~'()", rune(c)) && c < 0x80
		if plain {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// awkwardIDs yields ids of every sort: each byte by itself, what looks encoded,
// braces, glob characters, 1 KiB of bytes, and others by number.
func awkwardIDs(random *rand.Rand) func() string {
	awkward := []string{"%", "%41", "%%", "%zz", "{", "}", "{x}", "{a}:z", "*", "?", "[a-z]", `\`, ":", "::", " ", "\r\n", "ü", "日本", "\xff\xfe", "idx", "z", "i"}
	for b := range 256 {
		awkward = append(awkward, string([]byte{byte(b)}))
	}
	next := 0
	return func() string {
		next++
		switch {
		case next <= len(awkward):
			return awkward[next-1]
		case next%500 == 0:
			long := make([]byte, 1024)
			for i := range long {
				long[i] = byte(random.IntN(256))
			}
			return string(long)
		default:
			return fmt.Sprintf("id-%d", next)
		}
	}
}

// seedLegacy writes so many records in the legacy layout, of every kind, with
// expiries, awkward ids, orphans and foreign keys.
func seedLegacy(t testing.TB, x *target, records int) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 1))
	id := awkwardIDs(random)
	ctx := context.Background()
	p := x.client.Pipeline()
	set := func(rest, value string, ttl time.Duration) { p.Set(ctx, x.key(rest), value, ttl) }
	chat := "first"
	for i := range records {
		name := segment(id())
		ttl := time.Duration(random.IntN(2)) * time.Duration(1+random.IntN(100)) * time.Hour
		json := fmt.Sprintf(`{"n":%d}`, i)
		switch i % 12 {
		case 0, 1, 2:
			if random.IntN(8) == 0 {
				chat = name
			}
			p.ZAdd(ctx, x.key("msg:"+chat), redis.Z{Score: random.NormFloat64() * 1e9, Member: unsegment(name)})
			set("msg:"+chat+":"+name, chat+" "+json, 0)
		case 3:
			set("chat:"+name, "1 "+json, 0)
		case 4:
			set("contact:"+name, "2 "+json, 0)
		case 5:
			set("checkpoint:"+name, "3 "+json, ttl)
		case 6:
			set("schedule:"+name, fmt.Sprintf("%d %d %s", random.Int64(), random.IntN(1e9), json), 0)
		case 7:
			set("schedule:"+name, fmt.Sprintf("%d -", random.Int64()), 0)
		case 8:
			set("user:"+name+":"+segment(fmt.Sprint("n:", i%7))+":"+name, json, ttl)
		case 9:
			set("fence:"+name, fmt.Sprint(random.Int64()), 0)
			set("co:leader:"+name+":term", fmt.Sprint(random.Int64()), 0)
		case 10:
			set("conv:"+name, "4 "+json, ttl)
			set("cursor:"+name, "5 "+json, 0)
			set("lease:"+name, "me", time.Hour)
		case 11:
			table := segment(fmt.Sprint("t:", i%5))
			p.HSet(ctx, x.key("{durable:"+table+"}:entries"), name, "0 * "+json)
			p.ZAdd(ctx, x.key("{durable:"+table+"}:due"), redis.Z{Score: float64(i), Member: name})
		}
		if i%100 == 99 {
			set("msg:"+chat+":"+segment("orphan"+fmt.Sprint(i)), chat+" "+json, 0)
			set("foreign:"+name, json, 0)
			set("chat:"+name+":foreign", json, 0)
		}
		if p.Len() > 1000 {
			sendAll(t, p)
			p = x.client.Pipeline()
		}
	}
	sendAll(t, p)
}

// unsegment is the id of a segment.
func unsegment(segment string) string {
	var b strings.Builder
	for i := 0; i < len(segment); i++ {
		if segment[i] != '%' {
			b.WriteByte(segment[i])
			continue
		}
		var c byte
		if _, err := fmt.Sscanf(segment[i+1:i+3], "%02X", &c); err != nil {
			panic(err)
		}
		b.WriteByte(c)
		i += 2
	}
	return b.String()
}

// isNoRecord reports whether a key is one that no pass copies.
func isNoRecord(rest string) bool {
	return strings.HasPrefix(rest, "foreign:") || strings.HasSuffix(rest, ":foreign") || strings.Contains(rest, ":orphan")
}

// isLayoutName reports whether a key is one that only the cluster layout has.
func isLayoutName(rest string) bool {
	return isClusterName(rest) && !strings.HasPrefix(rest, "{durable:")
}

// A keyspace of every kind of records migrates in place, to a cluster and back, and
// is what it was. LAYOUTKIT_RECORDS says how many records; 200000 in the long form.
func TestRoundTrip(t *testing.T) {
	records := rounds(t, "LAYOUTKIT_RECORDS", 10_000)
	for _, name := range []string{"emulator/cluster", "real/cluster"} {
		t.Run(name, func(t *testing.T) { roundTrip(t, newRoute(t, name), records) })
	}
}

func roundTrip(t *testing.T, r *route, records int) {
	seedLegacy(t, r.legacy, records)
	before := r.legacy.contents(t)
	orphans := 0
	for rest := range before {
		if strings.Contains(rest, ":orphan") {
			orphans++
		}
	}

	inPlace := layoutkit.MigrateOptions{Source: r.legacy.client, Prefix: r.legacy.prefix}
	report := migrated(t, inPlace)
	if len(report.Skipped) != 0 || len(report.Orphans) != orphans {
		t.Errorf("skipped %q, %d orphans, want none and %d", report.Skipped, len(report.Orphans), orphans)
	}
	t.Logf("%d records in place in %v", total(report), report.Elapsed)
	inPlace.Direction = layoutkit.ClusterToLegacy
	if report := migrated(t, inPlace); report.Pruned != 0 {
		t.Errorf("on the way back it pruned %d", report.Pruned)
	}
	if diff := cmp.Diff(before, without(r.legacy.contents(t), isLayoutName)); diff != "" {
		t.Fatalf("in place and back (-before +after):\n%s", diff)
	}
	inPlace.DeleteSource = true
	migrated(t, inPlace)
	if diff := cmp.Diff(before, r.legacy.contents(t)); diff != "" {
		t.Fatalf("the cluster layout deleted (-before +after):\n%s", diff)
	}

	forward := r.forward()
	forward.DeleteSource = true
	report = migrated(t, forward)
	t.Logf("%d records to a cluster in %v", total(report), report.Elapsed)
	if diff := cmp.Diff(without(before, func(rest string) bool { return !isNoRecord(rest) }), r.legacy.contents(t)); diff != "" {
		t.Fatalf("left in the source (-want +got):\n%s", diff)
	}
	wantListed(t, r.cluster, before)
	back := r.back()
	back.DeleteSource = true
	report = migrated(t, back)
	t.Logf("%d records back in %v", total(report), report.Elapsed)
	if diff := cmp.Diff(before, r.legacy.contents(t)); diff != "" {
		t.Fatalf("to a cluster and back (-before +after):\n%s", diff)
	}
	if left := r.cluster.contents(t); len(left) != 0 {
		t.Errorf("%d keys are left on the cluster", len(left))
	}
}

// total is how many records a pass found.
func total(r *layoutkit.Report) (n int64) {
	for _, c := range r.Namespaces {
		n += c.Found
	}
	return n
}

// wantListed compares what a store in the cluster layout lists with legacy contents.
func wantListed(t *testing.T, x *target, legacy map[string]string) {
	t.Helper()
	store := started(t, layoutkit.Options{Client: x.client, Prefix: x.prefix, Layout: layoutkit.Cluster})
	got := make(map[string]bool)
	for chat, err := range layoutkit.Chats[any](store).List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got["chat:"+segment(chat.ID)] = true
	}
	for checkpoint, err := range layoutkit.Checkpoints[any](store).List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got["checkpoint:"+segment(checkpoint.ID)] = true
	}
	want := make(map[string]bool)
	for rest := range legacy {
		if !isNoRecord(rest) && (strings.HasPrefix(rest, "chat:") || strings.HasPrefix(rest, "checkpoint:")) {
			want[rest] = true
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
}

// After a migration in place redis-cli moves the keyspace to a cluster, where a
// store starts and finds everything.
func TestRule9MovedToAClusterByRedisCLI(t *testing.T) {
	cli, err := exec.LookPath("redis-cli")
	if err != nil {
		if os.Getenv(redisserver.RequireEnv) == "1" {
			t.Fatal("redis-cli is not installed")
		}
		t.Skip("redis-cli is not installed")
	}
	for name, open := range map[string]func(t *testing.T) (from *target, to *target){
		"real to real": func(t *testing.T) (*target, *target) {
			return overTCP(t, redisserver.Start(t).Addr()), find(t, "real/cluster").target(t)
		},
		"real to emulator": func(t *testing.T) (*target, *target) {
			return overTCP(t, redisserver.Start(t).Addr()), emulatedOverTCP(t)
		},
		"emulator to emulator": func(t *testing.T) (*target, *target) {
			return overTCP(t, emulator.RunT(t, emulator.Standalone(), emulator.TCP("127.0.0.1", 0)).Addrs()[0]), emulatedOverTCP(t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := open(t)
			from.prefix = to.prefix
			seedLegacy(t, from, 2000)
			before := from.contents(t)
			o := layoutkit.MigrateOptions{Source: from.client, Prefix: from.prefix}
			migrated(t, o)
			o.DeleteSource = true
			migrated(t, o)
			want := from.contents(t)
			out, err := exec.Command(cli, "--cluster", "import", to.anyAddr(t), "--cluster-from", from.anyAddr(t)).CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if diff := cmp.Diff(want, to.contents(t)); diff != "" {
				t.Errorf("moved (-want +got):\n%s", diff)
			}
			wantListed(t, to, before)
		})
	}
}

// overTCP is a single server that was started for a test.
func overTCP(t *testing.T, addr string) *target {
	return &target{client: single(t, redis.Options{Addr: addr})}
}

func emulatedOverTCP(t *testing.T) *target {
	e := emulator.RunT(t, emulator.TCP("127.0.0.1", 0))
	return &target{client: clustered(t, redis.ClusterOptions{Addrs: e.Addrs()}), prefix: freshPrefix(), cluster: true}
}

// anyAddr is the address of a server of the target.
func (x *target) anyAddr(t *testing.T) (addr string) {
	t.Helper()
	switch client := x.client.(type) {
	case *redis.Client:
		return client.Options().Addr
	case *redis.ClusterClient:
		return client.Options().Addrs[0]
	}
	t.Fatalf("no address of a %T", x.client)
	return ""
}
