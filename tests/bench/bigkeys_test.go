package bench

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"
)

// big is a sort of key that becomes large.
type big struct {
	kind string
	add  func(b []byte, i int) []byte // the request that adds element i
	ops  []bigOp
}

// bigOp is an operation on a large key.
type bigOp struct {
	name, complexity string
	// exponent bounds how the time may grow with the size: see curve.exponent.
	// Caches that miss make O(1) and O(log N) grow, too.
	exponent float64
	request  func(b []byte, rng *rand.Rand, n int) []byte
}

// Growth of what is documented as constant or logarithmic, and as linear.
const (
	flat   = 0.35
	linear = 1.15
)

func element(i int) string { return "element:" + strconv.Itoa(i) }

var bigs = []big{
	{"zset", func(b []byte, i int) []byte {
		return appendCommand(b, "ZADD", "big", strconv.Itoa(i*7919%1_000_003), element(i))
	}, []bigOp{
		{"ZADD", "O(log N)", flat, func(b []byte, rng *rand.Rand, n int) []byte {
			return appendCommand(b, "ZADD", "big", strconv.Itoa(rng.IntN(1_000_003)), element(rng.IntN(n)))
		}},
		{"ZRANK", "O(log N)", flat, func(b []byte, rng *rand.Rand, n int) []byte {
			return appendCommand(b, "ZRANK", "big", element(rng.IntN(n)))
		}},
		{"ZRANGE, 100 members", "O(log N + M)", flat, func(b []byte, rng *rand.Rand, n int) []byte {
			from := rng.IntN(n - 100)
			return appendCommand(b, "ZRANGE", "big", strconv.Itoa(from), strconv.Itoa(from+99))
		}},
	}},
	{"list", func(b []byte, i int) []byte { return appendCommand(b, "RPUSH", "big", element(i)) }, []bigOp{
		{"LRANGE, 100 elements in the middle", "O(S + N)", linear, func(b []byte, _ *rand.Rand, n int) []byte {
			return appendCommand(b, "LRANGE", "big", strconv.Itoa(n/2-50), strconv.Itoa(n/2+49))
		}},
		{"LINSERT in the middle", "O(N)", linear, func(b []byte, _ *rand.Rand, n int) []byte {
			return appendCommand(b, "LINSERT", "big", "BEFORE", element(n/2), "new")
		}},
	}},
	{"hash", func(b []byte, i int) []byte {
		return appendCommand(b, "HSET", "big", element(i), "value")
	}, []bigOp{
		{"HSET", "O(1)", flat, func(b []byte, rng *rand.Rand, n int) []byte {
			return appendCommand(b, "HSET", "big", element(rng.IntN(2*n)), "value")
		}},
		{"HGET", "O(1)", flat, func(b []byte, rng *rand.Rand, n int) []byte {
			return appendCommand(b, "HGET", "big", element(rng.IntN(n)))
		}},
	}},
	{"stream", func(b []byte, i int) []byte {
		return appendCommand(b, "XADD", "big", "0-"+strconv.Itoa(i+1), "field", "value")
	}, []bigOp{
		{"XADD", "O(1)", flat, func(b []byte, _ *rand.Rand, _ int) []byte {
			return appendCommand(b, "XADD", "big", "*", "field", "value")
		}},
		{"XRANGE, 100 entries", "O(N) of the entries returned", flat, func(b []byte, rng *rand.Rand, n int) []byte {
			return appendCommand(b, "XRANGE", "big", "0-"+strconv.Itoa(1+rng.IntN(n-100)), "+", "COUNT", "100")
		}},
	}},
}

// measureBigKeys: target 4.
func measureBigKeys(t *testing.T, m mode) result {
	sizes := pick(m, []int{1000, 10_000, 100_000, 1_000_000}, []int{1000, 10_000})
	servers := []*server{startOurs(t, false), startReal(t, false), startMini(t)}
	var curves []curve
	for _, b := range bigs {
		curves = append(curves, measureGrowth(t, m, servers, b, sizes)...)
	}
	curves = append(curves, measureScan(t, servers, sizes), measureMigration(t, sizes))
	r := result{Title: "Big keys", Curves: curves}
	for _, c := range curves {
		l := line{What: fmt.Sprintf("%s, of %s", c.Command, thousands(c.Sizes[len(c.Sizes)-1])), Unit: c.Unit, Goal: goal{ratioAtMost, 2}}
		for name, at := range map[string]*float64{ours: &l.Ours, real3: &l.Real, mini: &l.Mini} {
			if times := c.Times[name]; len(times) == len(c.Sizes) {
				*at = times[len(times)-1]
			}
		}
		r.Lines = append(r.Lines, l)
	}
	r.Lines = append(r.Lines, measureScan5M(t, pick(m, 5_000_000, 50_000)))
	for _, c := range curves {
		r.Lines = append(r.Lines, line{
			What: "growth of " + c.Command + ", documented " + c.Complexity, Unit: "exponent",
			Ours: c.exponent(ours), Real: c.exponent(real3), Goal: goal{atMost, allowed(c)},
		})
	}
	return r
}

// allowed is the exponent that a curve's complexity allows.
func allowed(c curve) float64 {
	for _, b := range bigs {
		for _, op := range b.ops {
			if op.name == c.Command {
				return op.exponent
			}
		}
	}
	if c.Complexity == "O(N)" {
		return linear
	}
	return flat
}

// patience is how long a server may take to build a key of the next size, which
// is ten times as large.
const patience = 30 * time.Second

// measureGrowth measures the operations on a sort of key at each size, and its
// removal.
func measureGrowth(t *testing.T, m mode, servers []*server, b big, sizes []int) []curve {
	curves := make([]curve, 0, len(b.ops)+2)
	for _, op := range b.ops {
		curves = append(curves, newCurve(op.name, op.complexity, sizes))
	}
	removals := []curve{newCurve("DEL of a "+b.kind, "O(N)", sizes), newCurve("UNLINK of a "+b.kind, "O(1)", sizes)}
	removals[1].Complexity = "O(1), and O(N) elsewhere"
	given := map[string]bool{}
	for _, size := range sizes {
		var able []*wire
		var names []string
		for _, s := range servers {
			if given[s.name] {
				continue
			}
			w := dial(t, s.addrs[0])
			w.do("FLUSHALL")
			if took := w.pour(size, b.add); took*10 > patience {
				given[s.name] = true
			}
			able, names = append(able, w), append(names, s.name)
		}
		for i, op := range b.ops {
			for at, took := range alternate(pick(m, 7, 2), able, func(w *wire) float64 { return w.each(op, size) }) {
				curves[i].Times[names[at]] = append(curves[i].Times[names[at]], took)
			}
		}
		for i, command := range []string{"DEL", "UNLINK"} {
			for at, took := range alternate(pick(m, 3, 1), able, func(w *wire) float64 {
				w.do("COPY", "big", "doomed", "REPLACE")
				time.Sleep(time.Millisecond) // what the copy left to do
				return w.do(command, "doomed").Seconds() * 1e6
			}) {
				removals[i].Times[names[at]] = append(removals[i].Times[names[at]], took)
			}
		}
		for _, w := range able {
			w.do("FLUSHALL")
			w.conn.Close()
		}
	}
	return append(curves, removals...)
}

func newCurve(command, complexity string, sizes []int) curve {
	c := curve{Command: command, Complexity: complexity, Unit: "µs", Times: map[string][]float64{}}
	for _, size := range sizes {
		c.Sizes = append(c.Sizes, float64(size))
	}
	return c
}

// each is the time of an operation in microseconds, as one of as many in a
// pipeline as make a few milliseconds: alone it would vanish in the round trip.
func (w *wire) each(op bigOp, n int) float64 {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	next := func(b []byte, _ int) []byte { return op.request(b, rng, n) }
	const few, many = 8, 512
	for count := 1; ; count *= 2 {
		took := w.pour(count, next)
		if took > 100*time.Millisecond || took > 5*time.Millisecond && count >= few || count >= many {
			return took.Seconds() * 1e6 / float64(count)
		}
	}
}

// measureScan walks keyspaces.
func measureScan(t *testing.T, servers []*server, sizes []int) curve {
	c := newCurve("SCAN COUNT 1000, per key", "O(1) per key", sizes)
	for _, s := range servers {
		for _, size := range sizes {
			if s.name == mini && size > 10_000 { // it sorts all keys for each call
				break
			}
			w := dial(t, s.addrs[0])
			w.do("FLUSHALL")
			fillKeys(w, size)
			c.Times[s.name] = append(c.Times[s.name], median([]float64{w.scan(size), w.scan(size), w.scan(size)}))
			w.do("FLUSHALL")
			w.conn.Close()
		}
	}
	return c
}

func fillKeys(w *wire, n int) {
	const each = 100
	args := make([]string, 1+2*each)
	args[0] = "MSET"
	w.pour(n/each, func(b []byte, i int) []byte {
		for k := range each {
			args[1+2*k], args[2+2*k] = "key:"+strconv.Itoa(i*each+k), "value"
		}
		return appendCommand(b, args...)
	})
}

// scan walks a keyspace and returns the microseconds per key.
func (w *wire) scan(keys int) float64 {
	began := time.Now()
	for cursor := "0"; ; {
		w.write(appendCommand(nil, "SCAN", cursor, "COUNT", "1000"))
		if err := w.out.Flush(); err != nil {
			w.tb.Fatal(err)
		}
		for range 2 { // "*2", "$n"
			if _, err := w.in.ReadSlice('\n'); err != nil {
				w.tb.Fatal(err)
			}
		}
		text, err := w.in.ReadSlice('\n')
		if err != nil {
			w.tb.Fatal(err)
		}
		cursor = string(text[:len(text)-2])
		if err := w.skip(); err != nil {
			w.tb.Fatal(err)
		}
		if cursor == "0" {
			return time.Since(began).Seconds() * 1e6 / float64(keys)
		}
	}
}

func measureScan5M(t *testing.T, keys int) line {
	servers := []*server{startOurs(t, false), startReal(t, false)}
	var wires []*wire
	for _, s := range servers {
		w := dial(t, s.addrs[0])
		fillKeys(w, keys)
		wires = append(wires, w)
	}
	took := alternate(3, wires, func(w *wire) float64 { return w.scan(keys) * float64(keys) / 1e3 })
	for _, w := range wires {
		w.do("FLUSHALL")
	}
	return line{What: fmt.Sprintf("SCAN COUNT 1000 of %s keys", thousands(float64(keys))), Unit: "ms", Ours: took[0], Real: took[1], Goal: goal{ratioAtMost, 2}}
}
