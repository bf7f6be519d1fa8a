// Command upstream runs the test suite that Redis' authors wrote against
// fakecluster, as a cluster of one master and as a standalone server, and holds
// the number of tests passed per unit against expected.tsv. Start it with
// tests/upstream/run, which fetches the suite.
//
// Every unit gets a server of its own, so that none suffers from what another
// left behind and several can run at once.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"
)

// unitLimit bounds how long a unit may take; the longest takes under a minute.
const unitLimit = 4 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "upstream:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("upstream", flag.ContinueOnError)
	suite := flags.String("suite", "", "`folder` with runtest and tests of Redis")
	fakecluster := flags.String("fakecluster", "", "`path` of the program to test")
	logs := flags.String("logs", "", "`folder` for what the units print")
	only := flags.String("mode", "", "cluster or standalone; both if not given")
	jobs := flags.Int("jobs", 2, "units that run at once")
	port := flags.Int("port", 12000, "first of the ports that are used")
	real := flags.Bool("real", false, "test redis-server instead, to see what it passes here; needs redis-cli")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}

	lines, err := readExpected()
	if err != nil {
		return err
	}
	impossible, err := readImpossible()
	if err != nil {
		return err
	}
	modes := []string{cluster, standalone}
	if *only != "" {
		if !slices.Contains(modes, *only) {
			return fmt.Errorf("-mode %s is neither cluster nor standalone", *only)
		}
		modes = []string{*only}
	}
	units, err := chosen(lines, flags.Args())
	if err != nil {
		return err
	}
	r := runner{suite: *suite, program: *fakecluster, logs: *logs, port: *port, real: *real}
	return compare(r.runAll(ctx, modes, units, lines, *jobs), lines, impossible, os.Stdout)
}

// chosen returns the lines of the units that were asked for, all by default.
func chosen(lines []expected, names []string) ([]string, error) {
	var units []string
	for _, l := range lines {
		if len(names) == 0 || slices.Contains(names, l.unit) {
			units = append(units, l.unit)
		}
	}
	for _, name := range names {
		if !slices.Contains(units, name) {
			return nil, fmt.Errorf("expected.tsv has no unit %s", name)
		}
	}
	return units, nil
}

// runAll runs units in every mode, jobs of them at once. The results are in the
// order of the modes and units. A unit below its line runs once more: some tests
// measure time, which a busy machine does not have.
func (r runner) runAll(ctx context.Context, modes, units []string, lines []expected, jobs int) []result {
	results := make([]result, len(modes)*len(units))
	next := make(chan int)
	var workers sync.WaitGroup
	for job := range jobs {
		workers.Go(func() {
			for i := range next {
				mode, unit := modes[i/len(units)], units[i%len(units)]
				for attempt := 1; attempt <= 2; attempt++ {
					res := r.run(ctx, job, mode, unit)
					fmt.Fprintf(os.Stderr, "%s %s: %d passed, %d failed, %s\n", mode, unit, len(res.passed), len(res.failed), res.took.Round(time.Second))
					results[i] = res
					if len(res.passed) >= lineOf(lines, unit).passed[mode] || ctx.Err() != nil {
						break
					}
				}
			}
		})
	}
	for i := range results {
		next <- i
	}
	close(next)
	workers.Wait()
	return results
}
