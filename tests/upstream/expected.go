package main

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// expectedFile has the number of tests that pass, per unit: of fakecluster and
// of redis-server 7.0.15, each as cluster and standalone.
//
//go:embed expected.tsv
var expectedFile string

// impossibleFile names the tests that cannot pass here and says why.
//
//go:embed impossible.tsv
var impossibleFile string

// expected is a line of expected.tsv.
type expected struct {
	unit        string
	passed, all map[string]int // by mode: fakecluster's tests, and redis-server's
}

// test names a test.
type test struct{ unit, name string }

// readExpected reads expected.tsv: unit, tests passed in cluster mode and
// standalone, and the same of redis-server.
func readExpected() ([]expected, error) {
	rows, err := readTable(expectedFile, 5)
	if err != nil {
		return nil, fmt.Errorf("expected.tsv: %w", err)
	}
	var lines []expected
	for _, row := range rows {
		var n [4]int
		for i := range n {
			if n[i], err = strconv.Atoi(row[i+1]); err != nil {
				return nil, fmt.Errorf("expected.tsv: %w", err)
			}
		}
		lines = append(lines, expected{
			unit:   row[0],
			passed: map[string]int{cluster: n[0], standalone: n[1]},
			all:    map[string]int{cluster: n[2], standalone: n[3]},
		})
	}
	return lines, nil
}

func lineOf(lines []expected, unit string) expected {
	return lines[slices.IndexFunc(lines, func(l expected) bool { return l.unit == unit })]
}

// readImpossible reads impossible.tsv: unit, test, reason.
func readImpossible() (map[test]string, error) {
	rows, err := readTable(impossibleFile, 3)
	if err != nil {
		return nil, fmt.Errorf("impossible.tsv: %w", err)
	}
	reasons := map[test]string{}
	for _, row := range rows {
		reasons[test{row[0], row[1]}] = row[2]
	}
	return reasons, nil
}

// readTable splits lines of columns that are separated by tabs. Lines that start
// with # are comments.
func readTable(text string, columns int) (rows [][]string, err error) {
	lines := bufio.NewScanner(strings.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		row := strings.Split(lines.Text(), "\t")
		if len(row) != columns {
			return nil, fmt.Errorf("line %d has %d columns, not %d", n, len(row), columns)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// compare prints a table of results and fails when a unit passed fewer tests
// than its line says.
func compare(results []result, lines []expected, impossible map[test]string, out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "mode\tunit\tpassed\tfailed\texpected\tredis-server\tseconds\t")
	total := map[string]*[4]int{}
	var below []string
	for _, r := range results {
		line := lineOf(lines, r.unit)
		want, all := line.passed[r.mode], line.all[r.mode]
		verdict := ""
		if len(r.passed) < want {
			verdict = "below its line"
			below = append(below, r.mode+" "+r.unit)
		}
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\t%d\t%.0f\t%s\n", r.mode, r.unit, len(r.passed), len(r.failed), want, all, r.took.Seconds(), verdict)
		sum := total[r.mode]
		if sum == nil {
			sum = new([4]int)
			total[r.mode] = sum
		}
		for i, n := range []int{len(r.passed), len(r.failed), want, all} {
			sum[i] += n
		}
	}
	for _, mode := range slices.Sorted(maps.Keys(total)) {
		n := total[mode]
		fmt.Fprintf(table, "%s\tall\t%d\t%d\t%d\t%d\t\t\n", mode, n[0], n[1], n[2], n[3])
	}
	table.Flush()
	printFailures(results, impossible, out)
	if len(below) > 0 {
		return fmt.Errorf("fewer tests passed than expected: %s", strings.Join(below, ", "))
	}
	return nil
}

// printFailures names the tests that failed, and those that passed although
// impossible.tsv says that they cannot.
func printFailures(results []result, impossible map[test]string, out io.Writer) {
	for _, r := range results {
		if r.err != nil {
			fmt.Fprintf(out, "\n%s %s did not end well: %v\n", r.mode, r.unit, r.err)
		}
		for _, name := range r.failed {
			fmt.Fprintf(out, "\n%s %s failed: %s\n", r.mode, r.unit, name)
			if reason := impossible[test{r.unit, name}]; reason != "" {
				fmt.Fprintf(out, "  cannot pass: %s\n", reason)
			}
		}
		for _, name := range r.passed {
			if impossible[test{r.unit, name}] != "" && !slices.Contains(r.failed, name) {
				fmt.Fprintf(out, "\n%s %s passed: %s\n  take it out of impossible.tsv\n", r.mode, r.unit, name)
			}
		}
	}
}
