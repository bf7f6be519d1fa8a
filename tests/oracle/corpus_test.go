package oracle

import (
	"os"
	"strings"
	"testing"
)

// TestLuaCorpus runs the snippets that the Lua runtime is compared with on its own
// as EVALs of whole servers, so that redis.call meets real commands.
func TestLuaCorpus(t *testing.T) {
	text, err := os.ReadFile("../../lua/testdata/corpus.lua")
	if err != nil {
		t.Fatal(err)
	}
	snippets := strings.Split(string(text), "\n----\n")
	if len(snippets) < 400 {
		t.Fatalf("the corpus has %d snippets", len(snippets))
	}
	eachMode(t, func(t *testing.T, x *Runner) {
		for _, snippet := range snippets {
			// What ran before decides where the sequence stands, and only one of the
			// servers is new; the runtime's own test compares it.
			if strings.Contains(snippet, "math.random(") && !strings.Contains(snippet, "randomseed") {
				continue
			}
			steps := []Step{
				{Conn: 1, Node: 0, Args: []string{"FLUSHALL"}},
				{Conn: 1, Node: routeByKey, Args: []string{"EVAL", strings.TrimSpace(snippet), "1", "key1", "arg1", "arg2"}},
			}
			d, err := x.Run(steps)
			if err != nil {
				t.Fatalf("%s\n%v", snippet, err)
			}
			if d != nil {
				t.Errorf("%s\n%s", snippet, Report(steps, d, x.a.Name, x.b.Name))
			}
		}
	})
}
