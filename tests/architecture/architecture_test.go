// Package architecture holds the arrows of the design: which package may
// import which, and what each of them must not know. Test files are free.
package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/fakecluster/fakecluster"

// arrows are, for each room, the packages of this module it may import beside
// its own internal ones. "x/..." is x and everything below it; of several rooms
// that fit a package the longest counts.
var arrows = map[string][]string{
	"slots":                          {},
	"lua/...":                        {},
	"emulator":                       {"emulator/internal/...", "lua", "slots"},
	"emulator/internal/...":          {"emulator/internal/...", "lua", "slots"},
	"emulator/internal/number":       {},
	"emulator/internal/glob":         {},
	"emulator/internal/version":      {},
	"emulator/internal/lock":         {},
	"emulator/internal/pipe":         {"emulator/internal/lock"},
	"emulator/internal/rdb":          {"emulator/internal/number", "emulator/internal/version"},
	"emulator/internal/keyspace/...": {"emulator/internal/number", "emulator/internal/rdb", "emulator/internal/version", "slots"},
	"emulator/internal/resp":         {"emulator/internal/number"},
	"emulator/internal/config":       {"emulator/internal/glob", "emulator/internal/number", "emulator/internal/version"},
	"emulator/internal/topology":     {"emulator/internal/version", "slots"},
	"emulator/internal/replication":  {"emulator/internal/lock", "emulator/internal/version"},
	"emulator/internal/command":      {"emulator/internal/glob", "emulator/internal/keyspace/...", "emulator/internal/number", "emulator/internal/rdb", "emulator/internal/resp", "emulator/internal/version", "slots"},
	"emulator/control":               {"emulator", "slots"},
	"shim/...":                       {"slots"},
	"layoutkit/...":                  {"shim/...", "slots"},
	"broker":                         {"shim/...", "slots"},
	"broker/brokertest":              {"broker", "emulator", "shim/...", "slots"},
	"cmd/fakecluster/...":            {"emulator", "emulator/control", "layoutkit/...", "shim/...", "broker", "slots"},
	"examples/...":                   {"emulator", "emulator/control", "layoutkit/...", "shim/...", "broker/...", "slots", "lua"},
	"tests/...":                      {"emulator", "emulator/control", "layoutkit/...", "shim/...", "broker/...", "slots", "lua", "tests/..."},
}

// owners are packages from elsewhere that only some rooms may import: what they
// are about is none of the others' business.
var owners = map[string][]string{
	"github.com/redis/go-redis/...":  {"shim/...", "layoutkit/...", "broker/...", "cmd/fakecluster/...", "examples/...", "tests/..."},
	"github.com/yuin/gopher-lua/...": {}, // only miniredis brings it along; ours is lua
	"github.com/tidwall/redcon":      {"emulator/internal/resp", "emulator/internal/server"},
	"github.com/alecthomas/kong":     {"cmd/fakecluster/..."},
	// Metrics are for programs that run, not for what they are made of.
	"github.com/prometheus/client_golang/...": {"broker/...", "cmd/fakecluster/..."},
	"net/http": {"emulator/control", "cmd/fakecluster/...", "examples/...", "tests/..."},
	"net":      {"emulator", "emulator/control", "emulator/internal/pipe", "emulator/internal/server", "shim/...", "layoutkit/...", "broker/...", "cmd/fakecluster/...", "examples/...", "tests/..."},
}

// timeless are rooms that are told the time and never look at a clock.
var timeless = []string{
	"slots", "emulator/internal/keyspace/...", "emulator/internal/command", "emulator/internal/topology",
	"emulator/internal/replication", "emulator/internal/resp", "emulator/internal/config",
}

// matches reports whether a package is what a pattern names.
func matches(pattern, pkg string) bool {
	if base, ok := strings.CutSuffix(pattern, "/..."); ok {
		return pkg == base || strings.HasPrefix(pkg, base+"/")
	}
	return pkg == pattern
}

func matchesAny(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, pkg) })
}

// roomOf returns the room of a package, the longest that fits.
func roomOf(pkg string) (room string) {
	for candidate := range arrows {
		if matches(candidate, pkg) && len(candidate) > len(room) {
			room = candidate
		}
	}
	return room
}

// verdict says what is wrong with pkg importing imported, or nothing.
func verdict(pkg, imported string) string {
	room := roomOf(pkg)
	if room == "" {
		return "is in no room of the design: give it one in this test"
	}
	if own, inside := strings.CutPrefix(imported, module+"/"); inside {
		base := strings.TrimSuffix(room, "/...")
		itsOwn := own != pkg && (matches(base+"/internal/...", own) || strings.HasSuffix(room, "/...") && matches(room, own))
		if !itsOwn && !matchesAny(arrows[room], own) {
			return "must not import " + own
		}
		return ""
	}
	for pattern, rooms := range owners {
		if matches(pattern, imported) && !matchesAny(rooms, pkg) {
			return "must not import " + imported
		}
	}
	return ""
}

// sources calls f for every Go file of the module that is no test.
func sources(t *testing.T, f func(pkg, file string)) {
	t.Helper()
	goFiles(t, false, f)
}

// testFiles calls f for every Go file of the module that is a test.
func testFiles(t *testing.T, f func(pkg, file string)) {
	t.Helper()
	goFiles(t, true, f)
}

func goFiles(t *testing.T, tests bool, f func(pkg, file string)) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if base := entry.Name(); name != root && (strings.HasPrefix(base, ".") || base == "testdata" || base == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) == ".go" && strings.HasSuffix(name, "_test.go") == tests {
			dir, err := filepath.Rel(root, filepath.Dir(name))
			if err != nil {
				return err
			}
			f(filepath.ToSlash(dir), name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestArrows(t *testing.T) {
	packages := make(map[string]bool)
	sources(t, func(pkg, file string) {
		packages[pkg] = true
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if problem := verdict(pkg, imported); problem != "" {
				t.Errorf("%s: package %s %s", file, pkg, problem)
			}
		}
	})
	for _, expected := range []string{"slots", "emulator", "emulator/internal/command", "cmd/fakecluster"} {
		if !packages[expected] {
			t.Errorf("package %s was not seen", expected)
		}
	}
}

func TestTimelessRoomsLookAtNoClock(t *testing.T) {
	sources(t, func(pkg, file string) {
		if !matchesAny(timeless, pkg) {
			return
		}
		for _, call := range clockCalls(t, file, nil) {
			t.Errorf("%s: package %s calls %s", file, pkg, call)
		}
	})
}

// clockCalls lists the uses of time's functions that depend on the clock.
func clockCalls(t *testing.T, file string, source any) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, source, 0)
	if err != nil {
		t.Fatal(err)
	}
	var calls []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		pkg, ok := selector.X.(*ast.Ident)
		clock := []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick"}
		if ok && pkg.Name == "time" && slices.Contains(clock, selector.Sel.Name) {
			calls = append(calls, "time."+selector.Sel.Name)
		}
		return true
	})
	return calls
}

// The rules themselves: what they must let pass and what not.
func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		pkg, imported string
		allowed       bool
	}{
		{"emulator", module + "/slots", true},
		{"emulator", module + "/emulator/internal/server", true},
		{"emulator", module + "/emulator/control", false},
		{"emulator", module + "/shim", false},
		{"emulator", "github.com/redis/go-redis/v9", false},
		{"emulator/internal/server", module + "/emulator", false},
		{"emulator/internal/server", module + "/emulator/internal/command", true},
		{"emulator/internal/keyspace", module + "/emulator/internal/resp", false},
		{"emulator/internal/keyspace", module + "/emulator/internal/keyspace/listpack", true},
		{"emulator/internal/keyspace/listpack", module + "/emulator/internal/number", true},
		{"emulator/internal/command", "net", false},
		{"emulator/internal/command", "net/netip", true},
		{"emulator/internal/topology", module + "/emulator/internal/command", false},
		{"slots", module + "/lua", false},
		{"lua", module + "/lua/internal/vm", true},
		{"lua/internal/vm", module + "/lua/internal/compile", true},
		{"lua", module + "/emulator", false},
		{"broker", module + "/emulator", false},
		{"broker/brokertest", module + "/emulator", true},
		{"layoutkit/store", module + "/shim", true},
		{"cmd/fakecluster", module + "/emulator/internal/server", false},
		{"somewhere/new", "fmt", false},
	} {
		if problem := verdict(c.pkg, c.imported); (problem == "") != c.allowed {
			t.Errorf("%s importing %s: %q, want allowed %v", c.pkg, c.imported, problem, c.allowed)
		}
	}
	source := "package p\nimport \"time\"\nvar x = time.Now().Add(time.Second)\n"
	if calls := clockCalls(t, "p.go", source); !slices.Equal(calls, []string{"time.Now"}) {
		t.Errorf("clock calls found: %v", calls)
	}
}

func TestEveryRoomHasAPackageComment(t *testing.T) {
	documented := make(map[string]bool)
	sources(t, func(pkg, file string) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			t.Fatal(err)
		}
		documented[pkg] = documented[pkg] || parsed.Doc != nil
	})
	for pkg, ok := range documented {
		if !ok {
			t.Errorf("package %s has no package comment", pkg)
		}
	}
	if _, err := os.Stat("../../go.mod"); err != nil {
		t.Errorf("this is not two folders below the module's root: %v", err)
	}
}
