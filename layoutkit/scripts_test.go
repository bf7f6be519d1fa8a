package layoutkit

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/fakecluster/fakecluster/shim"
)

// The head of each script says what it does, which KEYS and ARGV it takes and what
// it returns; each is used, and no script is asked for that is not there.
func TestScriptsHaveHeads(t *testing.T) {
	files, err := filepath.Glob("scripts/*.lua")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	declared := declaredScripts(t)
	for _, file := range files {
		text, err := scripts.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(string(text), "\n\n")
		for _, word := range []string{"-- KEYS  ", "-- ARGV  ", "-- Returns "} {
			if word == "-- ARGV  " && !strings.Contains(string(text), "ARGV") {
				continue
			}
			if !strings.Contains(head, "\n"+word) {
				t.Errorf("the head of %s has no line %q", file, word)
			}
		}
		operation := strings.TrimSuffix(filepath.Base(file), ".lua")
		if declared[operation] == 0 {
			t.Errorf("%s is not used", file)
		}
		if used := keysUsed(string(text)); used > declared[operation] {
			t.Errorf("%s uses KEYS[%d], but %d are declared", file, used, declared[operation])
		}
	}
}

// In the Cluster layout keys of several slots are refused on a single server too, so
// that what works there works on a cluster. Nothing is sent: nobody is there.
func TestScriptKeysShareASlot(t *testing.T) {
	b, err := newBase(Options{URL: "redis://127.0.0.1:1", Prefix: "p", Layout: Cluster})
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	err = b.script(t.Context(), recordPut, []string{"p:{a}:r", "p:{b}:idx"}).Err()
	if cross := new(shim.CrossSlotError); !errors.As(err, &cross) {
		t.Fatalf("error %v", err)
	}
}

// keysUsed is the greatest constant index of KEYS.
func keysUsed(source string) (most int) {
	for _, after := range strings.Split(source, "KEYS[")[1:] {
		number, _, _ := strings.Cut(after, "]")
		if n, err := strconv.Atoi(number); err == nil {
			most = max(most, n)
		}
	}
	return most
}

// declaredScripts are the calls of script in this package: how many keys each
// operation declares.
func declaredScripts(t *testing.T) map[string]int {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			if f, ok := call.Fun.(*ast.Ident); ok && f.Name == "script" {
				if lit, ok := call.Args[0].(*ast.BasicLit); ok {
					operation, _ := strconv.Unquote(lit.Value)
					found[operation] = len(call.Args) - 1
				}
			}
			return true
		})
	}
	return found
}

// No script looks for keys, which would show it one node's share.
func TestScriptsLookForNoKeys(t *testing.T) {
	files, err := scripts.ReadDir("scripts")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := scripts.ReadFile("scripts/" + file.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, command := range []string{"'KEYS'", "'SCAN'", "'RANDOMKEY'", "'DBSIZE'", "'SORT'"} {
			if strings.Contains(strings.ToUpper(string(text)), command) {
				t.Errorf("%s uses %s", file.Name(), command)
			}
		}
	}
}
