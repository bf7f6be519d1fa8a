package main

import (
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	out := "Testing unit/type/incr\n" +
		"[\x1b[0;32;49mok\x1b[0m]: INCR against non existing key (3 ms)\n" +
		"[ok]: name (in brackets) (12 ms)\n" +
		"[ignore]: not run: Not supported on external server\n" +
		"[err]: Fails in two lines in tests/unit/type/incr.tcl\nExpected '1' to be equal to '2'\n" +
		"*** [err]: Fails in two lines in tests/unit/type/incr.tcl\n"
	ok, bad := parse([]byte(out))
	if want := []string{"INCR against non existing key", "name (in brackets)"}; !slices.Equal(ok, want) {
		t.Errorf("passed: %q, want %q", ok, want)
	}
	if want := []string{"Fails in two lines"}; !slices.Equal(bad, want) {
		t.Errorf("failed: %q, want %q", bad, want)
	}
}

func TestFilesAreWellFormed(t *testing.T) {
	lines, err := readExpected()
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) != 32 {
		t.Errorf("expected.tsv has %d units, the goal 32", len(lines))
	}
	for _, l := range lines {
		for _, mode := range []string{cluster, standalone} {
			if l.passed[mode] == 0 || l.all[mode] == 0 {
				t.Errorf("%s has no line for %s", l.unit, mode)
			}
		}
	}
	impossible, err := readImpossible()
	if err != nil {
		t.Fatal(err)
	}
	for test, reason := range impossible {
		if !slices.ContainsFunc(lines, func(l expected) bool { return l.unit == test.unit }) || reason == "" {
			t.Errorf("impossible.tsv: %q has no such unit or no reason", test)
		}
	}
}

func TestCompare(t *testing.T) {
	lines := []expected{{"quit", map[string]int{cluster: 2}, map[string]int{cluster: 3}}}
	reasons := map[test]string{{"quit", "c"}: "there is no C here"}
	for _, tc := range []struct {
		name   string
		result result
		says   []string
		fails  bool
	}{
		{"as expected", result{mode: cluster, unit: "quit", passed: []string{"a", "b"}, failed: []string{"c"}}, []string{"there is no C here"}, false},
		{"better", result{mode: cluster, unit: "quit", passed: []string{"a", "b", "c"}}, []string{"take it out"}, false},
		{"worse", result{mode: cluster, unit: "quit", passed: []string{"a"}, failed: []string{"b"}}, []string{"below its line", "failed: b"}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var out strings.Builder
			if err := compare([]result{tc.result}, lines, reasons, &out); (err != nil) != tc.fails {
				t.Errorf("compare: %v", err)
			}
			for _, want := range tc.says {
				if !strings.Contains(out.String(), want) {
					t.Errorf("it does not say %q:\n%s", want, &out)
				}
			}
		})
	}
}
