package bench

import (
	"encoding/csv"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// traffic is what redis-benchmark is to do.
type traffic struct {
	name string
	args []string
}

// traffics are the commands of target 3. Keys are spread over the slots by
// redis-benchmark's {tag}, and over 100,000 names by -r.
var traffics = []traffic{
	{"SET", []string{"SET", "key:{tag}:__rand_int__", "xxx"}},
	{"GET", []string{"GET", "key:{tag}:__rand_int__"}},
	{"INCR", []string{"INCR", "counter:{tag}:__rand_int__"}},
	{"LPUSH", []string{"LPUSH", "list:{tag}", "xxx"}},
	{"HSET", []string{"HSET", "hash:{tag}", "element:__rand_int__", "xxx"}},
	{"ZADD", []string{"ZADD", "zset:{tag}", "__rand_int__", "element:__rand_int__"}},
	{"XADD", []string{"XADD", "stream:{tag}", "*", "field", "__rand_int__"}},
	{"EVALSHA", []string{"EVALSHA", "", "2", "n:{tag}", "mark:{tag}"}},
}

// words are the command for a server.
func (tr traffic) words(tb testing.TB, s *server) []string {
	words := slices.Clone(tr.args)
	if words[0] == "EVALSHA" {
		words[1] = loadScript(tb, s)
	}
	return words
}

// throughput is what redis-benchmark says.
type throughput struct {
	perSecond, p50, p99 float64 // requests, ms, ms
	cpu                 float64 // µs of the server's processors per request
}

// measureTCP: target 3.
func measureTCP(t *testing.T, m mode) result {
	if _, err := exec.LookPath("redis-benchmark"); err != nil {
		t.Fatal("redis-benchmark is not in PATH; it is in the package redis-tools")
	}
	servers := []*server{startOurs(t, true), startReal(t, true), startMini(t)}
	r := result{Title: "Over TCP"}
	for _, depth := range []int{1, 16} {
		requests := pickBrief(m, map[int]int{1: 300_000, 16: 2_000_000}[depth], map[int]int{1: 30_000, 16: 300_000}[depth], 2000*depth)
		for _, traffic := range traffics[:pick(m, len(traffics), 1)] {
			r.Lines = append(r.Lines, measureTraffic(t, m, servers, traffic, depth, requests)...)
		}
	}
	return r
}

// loadScript teaches every node the script of EVALSHA.
func loadScript(tb testing.TB, s *server) string {
	digest := ""
	for _, addr := range s.addrs {
		w := dial(tb, addr)
		digest = w.text("SCRIPT", "LOAD", smallScriptSource)
		w.conn.Close()
	}
	return digest
}

func measureTraffic(t *testing.T, m mode, servers []*server, traffic traffic, depth, requests int) []line {
	all := map[string][]throughput{}
	alternate(pickBrief(m, 5, 3, 1), servers, func(s *server) float64 {
		flush(t, s)
		n := requests
		if s.name == mini { // slow with pipelines, and its figure is not judged
			n = max(requests/20, 1000)
		}
		got := s.benchmark(t, 50, depth, n, traffic.words(t, s)...)
		all[s.name] = append(all[s.name], got)
		return 0
	})
	figures := func(what, unit string, goal goal, of func(throughput) float64) line {
		l := line{What: traffic.name + " at -P " + strconv.Itoa(depth) + what, Unit: unit, Goal: goal}
		for name, at := range map[string]*float64{ours: &l.Ours, real3: &l.Real, mini: &l.Mini} {
			var values []float64
			for _, tp := range all[name] {
				values = append(values, of(tp))
			}
			*at = median(values)
		}
		return l
	}
	return []line{
		figures("", "per second", goal{ratioAtLeast, 0.9}, func(tp throughput) float64 { return tp.perSecond }),
		figures(", p50", "ms", goal{ratioAtMost, 1}, func(tp throughput) float64 { return tp.p50 }),
		figures(", p99", "ms", goal{ratioAtMost, 1}, func(tp throughput) float64 { return tp.p99 }),
		figures(", processor time of the server", "µs", goal{}, func(tp throughput) float64 { return tp.cpu }),
	}
}

// flush removes all keys.
func flush(tb testing.TB, s *server) {
	for _, addr := range s.addrs {
		w := dial(tb, addr)
		w.text("FLUSHALL")
		w.conn.Close()
	}
}

// benchmark runs redis-benchmark.
func (s *server) benchmark(tb testing.TB, clients, depth, requests int, command ...string) throughput {
	tb.Helper()
	_, port, _ := strings.Cut(s.addrs[0], ":")
	args := []string{"-p", port, "-c", strconv.Itoa(clients), "-P", strconv.Itoa(depth), "-n", strconv.Itoa(requests), "-r", "100000", "--csv"}
	if s.cluster {
		args = append(args, "--cluster")
	}
	before := s.cpu()
	out, err := exec.Command("redis-benchmark", append(args, command...)...).Output()
	if err != nil {
		tb.Fatalf("redis-benchmark on %s: %v\n%s", s.name, err, out)
	}
	tp := throughput{cpu: (s.cpu() - before) * 1e6 / float64(requests)}
	text := string(out)
	rows, err := csv.NewReader(strings.NewReader(text[max(0, strings.Index(text, `"test"`)):])).ReadAll()
	if err != nil || len(rows) < 2 || len(rows[1]) < 7 {
		tb.Fatalf("redis-benchmark on %s said (%v)\n%s", s.name, err, out)
	}
	for column, at := range map[int]*float64{1: &tp.perSecond, 4: &tp.p50, 6: &tp.p99} {
		if *at, err = strconv.ParseFloat(rows[1][column], 64); err != nil {
			tb.Fatalf("redis-benchmark on %s: %v", s.name, err)
		}
	}
	return tp
}
