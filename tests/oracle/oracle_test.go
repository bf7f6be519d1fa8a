package oracle

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The size of a run, where it starts and what it compares: see the comments.
const (
	envCount    = "ORACLE_N"        // random commands per mode and protocol
	envSeed     = "ORACLE_SEED"     // first seed
	envFamilies = "ORACLE_FAMILIES" // comma separated; all if empty
	envScripts  = "ORACLE_SCRIPTS"  // comma separated names in testdata; all if empty
	envTarget   = "ORACLE_TARGET"   // tcp: the emulator over loopback; redis: a second real server
	envIgnore   = "ORACLE_IGNORE"   // comma separated command names, like OBJECT ENCODING, whose differences are known
	envFind     = "ORACLE_FIND"     // stop after this many differences of different commands; 1 if empty
)

const defaultCount = 3000

// shrinkBudget is the time to shrink one difference of random commands; a
// script is short and has a line to point at.
const (
	shrinkBudget       = 40 * time.Second
	scriptShrinkBudget = 5 * time.Second
)

func setting(t *testing.T, name string, byDefault int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return byDefault
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

func listSetting(name string) []string {
	return strings.FieldsFunc(os.Getenv(name), func(r rune) bool { return r == ',' })
}

// underTest is the target compared with real Redis.
func underTest(t *testing.T) Target {
	t.Helper()
	switch name := os.Getenv(envTarget); name {
	case "":
		return Emulator{}
	case "tcp":
		return Emulator{TCP: true}
	case "redis":
		return RealRedis{}
	default:
		t.Fatalf("%s=%s is not a target", envTarget, name)
		return nil
	}
}

// eachMode runs a test on a standalone server and a cluster, RESP2 and RESP3.
func eachMode(t *testing.T, run func(t *testing.T, x *Runner)) {
	for _, cluster := range []bool{false, true} {
		name := map[bool]string{false: "standalone", true: "cluster"}[cluster]
		t.Run(name, func(t *testing.T) {
			a, b := RealRedis{}.Start(t, cluster), underTest(t).Start(t, cluster)
			for _, resp3 := range []bool{false, true} {
				name := map[bool]string{false: "resp2", true: "resp3"}[resp3]
				t.Run(name, func(t *testing.T) {
					x, err := NewRunner(a, b, cluster, resp3)
					if err != nil {
						t.Fatal(err)
					}
					defer x.Close()
					x.ignored = map[string]bool{}
					for _, name := range listSetting(envIgnore) {
						x.ignored[strings.ToUpper(name)] = true
					}
					run(t, x)
				})
			}
		})
	}
}

func TestRandomCommands(t *testing.T) {
	count, seed, find := setting(t, envCount, defaultCount), setting(t, envSeed, 1), setting(t, envFind, 1)
	eachMode(t, func(t *testing.T, x *Runner) {
		t.Logf("%s=%d %s=%d", envSeed, seed, envCount, count)
		known := map[string]bool{}
		for n := seed; x.sent < count && len(known) < find; n++ {
			g, err := NewGenerator(uint64(n), x.cluster, x.resp3, listSetting(envFamilies))
			if err != nil {
				t.Fatal(err)
			}
			steps := g.Session()
			d, err := x.Run(steps)
			if err != nil {
				t.Fatalf("seed %d: %v", n, err)
			}
			if d == nil || known[d.name()] {
				continue
			}
			known[d.name()] = true
			steps, d, err = x.Shrink(steps, d, shrinkBudget)
			t.Errorf("seed %d: %s", n, Report(steps, d, x.a.Name, x.b.Name))
			if err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("%d commands compared", x.sent)
	})
}

func TestRecordedScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	eachMode(t, func(t *testing.T, x *Runner) {
		for _, file := range files {
			script, err := LoadScript(file)
			if err != nil {
				t.Fatal(err)
			}
			if !script.fits(x.cluster, x.resp3) || !selected(script.Name) {
				continue
			}
			t.Run(script.Name, func(t *testing.T) { replay(t, x, script) })
		}
	})
}

func selected(script string) bool {
	only := listSetting(envScripts)
	for _, name := range only {
		if name == script {
			return true
		}
	}
	return len(only) == 0
}

func replay(t *testing.T, x *Runner, script *Script) {
	limit := x.batchLimit
	defer func() { x.batchLimit = limit }()
	x.batchLimit = 1
	for _, section := range script.Sections {
		replaySection(t, x, script.Name, section)
	}
}

// replaySection reports the differences of a section one by one, each time
// without the lines already reported.
func replaySection(t *testing.T, x *Runner, name string, section Section) {
	const most = 10
	for range most {
		d, err := x.Run(section.Steps)
		if err != nil {
			t.Fatalf("%s:%d: %v", name, section.Line, err)
		}
		if d == nil {
			return
		}
		at := d.Index
		steps, d, err := x.Shrink(section.Steps, d, scriptShrinkBudget)
		t.Errorf("%s.txt:%d: %s", name, section.Lines[at], Report(steps, d, x.a.Name, x.b.Name))
		if err != nil {
			t.Fatal(err)
		}
		section.Steps = slices.Delete(slices.Clone(section.Steps), at, at+1)
		section.Lines = slices.Delete(slices.Clone(section.Lines), at, at+1)
	}
}
