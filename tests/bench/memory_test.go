package bench

import (
	"strconv"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"

	"github.com/fakecluster/fakecluster/emulator"
)

// filling makes key i of a sort.
type filling struct {
	name string
	keys int
	add  func(args []string, i int) []string
}

// members appends ten short members of a small collection.
func members(args []string, i int, between string) []string {
	for k := range 10 {
		if between != "" {
			args = append(args, strconv.Itoa(k))
		}
		args = append(args, "m"+strconv.Itoa(i%1000)+"-"+strconv.Itoa(k))
	}
	return args
}

var value64 = strings.Repeat("v", 64)

var fillings = []filling{
	{"strings of 64 bytes", 1_000_000, func(args []string, i int) []string {
		return append(args, "SET", "key:"+strconv.Itoa(i), value64)
	}},
	{"hashes of 10 fields", 200_000, func(args []string, i int) []string {
		return members(append(args, "HSET", "hash:"+strconv.Itoa(i)), i, "f")
	}},
	{"lists of 10 elements", 200_000, func(args []string, i int) []string {
		return members(append(args, "RPUSH", "list:"+strconv.Itoa(i)), i, "")
	}},
	{"sets of 10 members", 200_000, func(args []string, i int) []string {
		return members(append(args, "SADD", "set:"+strconv.Itoa(i)), i, "")
	}},
	{"sorted sets of 10 members", 200_000, func(args []string, i int) []string {
		return members(append(args, "ZADD", "zset:"+strconv.Itoa(i)), i, "score")
	}},
}

// measureMemory: target 5.
func measureMemory(t *testing.T, m mode) result {
	r := result{Title: "Memory"}
	judge := dial(t, startReal(t, false).addrs[0])
	for _, f := range fillings {
		keys := pick(m, f.keys, 2000)
		r.Lines = append(r.Lines, line{
			What: f.name, Unit: "bytes per key", Goal: goal{ratioAtMost, 1.5},
			Ours: oursPerKey(t, f, keys), Real: realPerKey(judge, f, keys), Mini: miniPerKey(t, f, min(keys, 100_000)),
		})
	}
	return r
}

func (f filling) pour(w *wire, keys int) {
	var args []string
	w.pour(keys, func(b []byte, i int) []byte {
		args = f.add(args[:0], i)
		return appendCommand(b, args...)
	})
}

// oursPerKey is the bytes of live heap that a key takes.
func oursPerKey(t *testing.T, f filling, keys int) float64 {
	c := emulator.RunT(t, emulator.Standalone(), emulator.RedisVersion("7.0"))
	return heapPerKey(dialInProcess(t, c.Dialer(), c.Addrs()[0]), f, keys)
}

func miniPerKey(t *testing.T, f filling, keys int) float64 {
	s := miniredis.RunT(t)
	return heapPerKey(dial(t, s.Addr()), f, keys)
}

// heapPerKey is for servers that run in this process.
func heapPerKey(w *wire, f filling, keys int) float64 {
	f.pour(w, 10)
	before := inUse()
	f.pour(w, keys)
	used := inUse() - before
	w.do("FLUSHALL")
	return used / float64(keys)
}

// realPerKey goes by used_memory, as redis-server itself counts.
func realPerKey(w *wire, f filling, keys int) float64 {
	w.do("FLUSHALL")
	before := usedMemory(w)
	f.pour(w, keys)
	used := usedMemory(w) - before
	w.do("FLUSHALL")
	return used / float64(keys)
}

func usedMemory(w *wire) float64 {
	for line := range strings.Lines(w.text("INFO", "memory")) {
		if text, found := strings.CutPrefix(line, "used_memory:"); found {
			n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil {
				w.tb.Fatal(err)
			}
			return n
		}
	}
	w.tb.Fatal("INFO memory has no used_memory")
	return 0
}
