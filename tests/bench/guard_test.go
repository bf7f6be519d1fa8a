package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/emulator"
)

const (
	// guard compares with what is on record, record puts it there.
	guard  mode = "guard"
	record mode = "record"
)

// slack is by what factor a ratio to real Redis may exceed the one on record, which
// was taken from docs/benchmarks.md. It is wide since ratios differ between machines, too: system calls, which real Redis
// is asked through, cost more on some. What the guard is for is the mistake that
// makes a command several times as expensive, and nothing else fails for.
const slack = 3

var onRecord = filepath.Join("testdata", "guard.json")

// ratios are what is guarded, by name: our cost as a multiple of real Redis'.
type ratios map[string]float64

// TestGuard fails when something has become much more expensive beside real Redis
// than it was. What exceeds the slack is measured twice more, and the median counts.
func TestGuard(t *testing.T) {
	m := mode(os.Getenv(modeEnv))
	if m != guard && m != record {
		t.Skip("compared by make guard: " + modeEnv + "=guard, or record")
	}
	g := newGuarded(t)
	if m == record {
		if err := save(onRecord, medians(g.measure(), g.measure(), g.measure())); err != nil {
			t.Fatal(err)
		}
		return
	}
	recorded, err := readRatios(onRecord)
	if err != nil {
		t.Fatal(err)
	}
	now := g.measure()
	for name, ratio := range now {
		t.Logf("%s: %.2f times real Redis', %.2f on record", name, ratio, recorded[name])
	}
	if len(exceeding(recorded, now)) > 0 {
		now = medians(now, g.measure(), g.measure())
	}
	for _, complaint := range exceeding(recorded, now) {
		t.Error(complaint)
	}
}

func readRatios(file string) (ratios, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the ratios on record: %w", err)
	}
	var r ratios
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("read the ratios on record: %s: %w", file, err)
	}
	return r, nil
}

// exceeding says what of now is beyond the slack, and what only one of both has.
func exceeding(recorded, now ratios) []string {
	var complaints []string
	for _, name := range slices.Sorted(maps.Keys(recorded)) {
		switch ratio, measured := now[name]; {
		case !measured:
			complaints = append(complaints, fmt.Sprintf("%s is on record but was not measured", name))
		case !(ratio <= slack*recorded[name]): // not a number where the system does not tell
			complaints = append(complaints, fmt.Sprintf("%s takes %.2f times as much as real Redis; on record are %.2f", name, ratio, recorded[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if _, known := recorded[name]; !known {
			complaints = append(complaints, fmt.Sprintf("%s is not on record: %s=record puts it there", name, modeEnv))
		}
	}
	return complaints
}

// medians are those of several measurements of the same.
func medians(all ...ratios) ratios {
	middle := ratios{}
	for name := range all[0] {
		var values []float64
		for _, r := range all {
			values = append(values, r[name])
		}
		middle[name] = median(values)
	}
	return middle
}

// guarded is what the guard measures: clients of the emulator in process and of
// real Redis, and both as servers over TCP.
type guarded struct {
	t       *testing.T
	clients []commander
	servers []*server
}

func newGuarded(t *testing.T) *guarded {
	c := emulator.RunT(t, emulator.RedisVersion("7.0"))
	g := &guarded{t: t, servers: []*server{startOurs(t, true), startReal(t, true)}}
	g.clients = []commander{
		redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs(), Dialer: c.Dialer()}),
		redis.NewClusterClient(&redis.ClusterOptions{Addrs: g.servers[1].addrs}),
	}
	for _, client := range g.clients {
		t.Cleanup(func() { client.Close() })
	}
	return g
}

// measure takes the medians of five alternating turns: the time of an operation in
// process, and the processor time of a request over TCP.
func (g *guarded) measure() ratios {
	const turns = 5
	r := ratios{}
	for _, op := range goRedisOperations {
		each := max(20, op.count/2)
		figures := alternate(turns, g.clients, func(client commander) float64 {
			return timeOf(g.t, each, func(ctx context.Context) error { return op.run(ctx, client) })
		})
		r[op.name+" in process"] = figures[0] / figures[1]
	}
	for _, traffic := range traffics {
		for depth, requests := range map[int]int{1: 10_000, 16: 60_000} {
			figures := alternate(turns, g.servers, func(s *server) float64 {
				flush(g.t, s)
				return s.benchmark(g.t, 50, depth, requests, traffic.words(g.t, s)...).cpu
			})
			r[traffic.name+" at -P "+strconv.Itoa(depth)] = figures[0] / figures[1]
		}
	}
	return r
}

// The guard itself must be able to say no.
func TestTheGuardSeesWhatIsWrong(t *testing.T) {
	recorded := ratios{"GET": 0.5, "SET": 1}
	for _, c := range []struct {
		now  ratios
		want int
	}{
		{ratios{"GET": 1.49, "SET": 0.1}, 0},
		{ratios{"GET": 1.51, "SET": 1}, 1},
		{ratios{"GET": 1.51, "SET": 3.01}, 2},
		{ratios{"GET": 0.5}, 1},
		{ratios{"GET": math.NaN(), "SET": 1}, 1},
		{ratios{"GET": 0.5, "SET": 1, "DEL": 1}, 1},
	} {
		if got := exceeding(recorded, c.now); len(got) != c.want {
			t.Errorf("%v after %v: %q, want %d complaints", c.now, recorded, got, c.want)
		}
	}
	if got := medians(ratios{"GET": 3}, ratios{"GET": 1}, ratios{"GET": 2}); got["GET"] != 2 {
		t.Errorf("the median of 3, 1 and 2 is %v", got["GET"])
	}
}
