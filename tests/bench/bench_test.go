// Package bench measures the emulator against real Redis and against miniredis,
// side by side in one run. What it says are ratios, because machines differ and
// are never idle: the servers are measured in turns, so that whatever else the
// machine does meets all of them, and the median of the turns counts.
//
// TestMeasure measures what docs/benchmarks.md shows, a section after the other,
// and writes that page; TestGuard is the short form that CI runs, which compares
// ratios with those on record in testdata. Both are asked for with an environment
// variable, since they want a machine that is not busy with other tests.
package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// Environment variables.
const (
	// modeEnv says what to measure: "full", "brief" (a quarter of an hour: fewer
	// turns and requests), "quick" (small sizes, the figures mean nothing) or
	// "guard".
	modeEnv = "FAKECLUSTER_BENCH"
	// roleEnv makes this test binary a server instead; see TestMain.
	roleEnv = "FAKECLUSTER_BENCH_ROLE"
)

func TestMain(m *testing.M) {
	if os.Getenv(roleEnv) == "miniredis" {
		serveMiniredis()
		return
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		binaries.remove()
		os.Exit(code)
	}))
}

// mode is how thoroughly to measure.
type mode string

const (
	full  mode = "full"
	brief mode = "brief"
	quick mode = "quick"
)

// pick returns what is meant for the mode.
func pick[T any](m mode, thorough, small T) T {
	if m == quick {
		return small
	}
	return thorough
}

// pickBrief is pick where a brief run differs, too.
func pickBrief[T any](m mode, thorough, shorter, small T) T {
	if m == brief {
		return shorter
	}
	return pick(m, thorough, small)
}

// sections are the targets, in the order of the page.
var sections = []struct {
	name    string
	measure func(*testing.T, mode) result
}{
	{"start", measureStart},
	{"in-process", measureInProcess},
	{"tcp", measureTCP},
	{"big-keys", measureBigKeys},
	{"memory", measureMemory},
	{"crowds", measureCrowds},
	{"garbage", measureGarbage},
}

// TestMeasure measures every section and writes the page. What has been measured
// is kept in dist/bench, so that a run which was broken off goes on where it was;
// a complete one clears it.
func TestMeasure(t *testing.T) {
	m := mode(os.Getenv(modeEnv))
	if m != full && m != brief && m != quick {
		t.Skip("measured by make bench: " + modeEnv + "=full, brief or quick")
	}
	root := filepath.Join("..", "..")
	kept, docs := filepath.Join(root, "dist", "bench"), filepath.Join(root, "docs")
	if m == quick {
		kept, docs = t.TempDir(), t.TempDir()
	}
	p, complete := page{machine: thisMachine(), mode: m}, true
	for _, s := range sections {
		var r result
		file := filepath.Join(kept, s.name+".json")
		done, err := load(file, &r)
		if err != nil {
			t.Fatal(err)
		}
		ok := t.Run(s.name, func(t *testing.T) {
			if done {
				t.Logf("measured before, see %s", file)
				return
			}
			began := time.Now()
			r = s.measure(t, m)
			r.Seconds = time.Since(began).Seconds()
			r.Machine = thisMachine()
			if err := save(file, r); err != nil {
				t.Fatal(err)
			}
			for _, l := range r.Lines {
				t.Log(l)
			}
		})
		if !ok || r.Title == "" { // failed, or not chosen by -run
			complete = false
			continue
		}
		p.results = append(p.results, r)
	}
	if !complete {
		return
	}
	if err := p.write(docs); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(kept); err != nil {
		t.Fatal(err)
	}
}

// load reads what a section has measured, if it has.
func load(file string, r *result) (bool, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read what was measured: %w", err)
	}
	if err := json.Unmarshal(text, r); err != nil {
		return false, fmt.Errorf("%s: %w; remove it to measure again", file, err)
	}
	return true, nil
}

func save(file string, v any) error {
	text, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		return fmt.Errorf("keep what was measured: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("keep what was measured: %w", err)
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}
