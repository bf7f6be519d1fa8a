package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/fakecluster/fakecluster/layoutkit"
)

// layoutProgress shows how far a pass is: as a bar on a terminal, else as a line
// for the beginning and end of each phase and now and then in between.
type layoutProgress struct {
	out      io.Writer
	terminal bool
	bar      *progressbar.ProgressBar
	last     layoutkit.Progress
	printed  time.Time
}

// progressEvery is how often a line is printed.
const progressEvery = 5 * time.Second

func newLayoutProgress(out io.Writer) *layoutProgress {
	return &layoutProgress{out: out, terminal: isTerminal(out)}
}

func (p *layoutProgress) show(now layoutkit.Progress) {
	if p.terminal {
		p.showBar(now)
		p.last = now
		return
	}
	if now.Phase != p.last.Phase {
		p.end()
		p.printed = time.Now()
	}
	p.last = now
	if time.Since(p.printed) >= progressEvery {
		p.printed = time.Now()
		p.line("")
	}
}

func (p *layoutProgress) showBar(now layoutkit.Progress) {
	total := now.Total
	if total == 0 {
		total = -1 // a spinner: that is being found out
	}
	if now.Phase != p.last.Phase {
		p.end()
		p.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(p.out), progressbar.OptionSetDescription(fmt.Sprintf("%-8s", now.Phase)),
			progressbar.OptionSetItsString("keys"), progressbar.OptionShowIts(), progressbar.OptionShowCount(),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionSetWidth(30),
			progressbar.OptionOnCompletion(func() { fmt.Fprintln(p.out) }))
	}
	if total > 0 {
		p.bar.ChangeMax64(total)
	}
	_ = p.bar.Set64(now.Keys) // it says that the terminal cannot be written to
}

// end ends the phase that was shown.
func (p *layoutProgress) end() {
	switch {
	case p.last.Phase == "":
	case p.terminal:
		_ = p.bar.Exit()
	default:
		p.line(", done")
	}
}

func (p *layoutProgress) line(end string) {
	of := ""
	if p.last.Total > 0 {
		of = fmt.Sprintf(" of %d", p.last.Total)
	}
	fmt.Fprintf(p.out, "%s: %d%s keys, %d records%s\n", p.last.Phase, p.last.Keys, of, p.last.Records, end)
}

func printJSON(out io.Writer, report any) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	if err := e.Encode(report); err != nil {
		return fmt.Errorf("printing the report: %w", err)
	}
	return nil
}

// printMigration prints the summary of a pass.
func printMigration(out io.Writer, r *layoutkit.Report) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, strings.Join([]string{"", "found", "copied", "kept", "skipped", "orphans", "pruned", "deleted", ""}, "\t"))
	var all layoutkit.Counts
	for _, ns := range layoutkit.Namespaces {
		c, ok := r.Namespaces[ns]
		if !ok {
			continue
		}
		countsRow(w, string(ns), c)
		all.Found += c.Found
		all.Copied += c.Copied
		all.Kept += c.Kept
		all.Skipped += c.Skipped
		all.Orphans += c.Orphans
		all.Pruned += c.Pruned
		all.Deleted += c.Deleted
	}
	countsRow(w, "all", all)
	if err := w.Flush(); err != nil {
		return fmt.Errorf("printing the report: %w", err)
	}
	printList(out, "orphans, which no log refers to", r.Orphans, all.Orphans)
	printList(out, "skipped, which do not hold what their names say", r.Skipped, all.Skipped)
	marker := string(r.LayoutMarker)
	if r.DryRun && r.LayoutMarker != layoutkit.MarkerUntouched {
		marker = "would be " + marker
	}
	fmt.Fprintf(out, "%s, %s, %v; marker %s\n", r.Direction, outcome(r), r.Elapsed.Round(time.Millisecond), marker)
	return nil
}

// outcome is how a pass ended, in a few words.
func outcome(r *layoutkit.Report) string {
	state := "not complete"
	if r.Complete {
		state = "complete"
	}
	if r.DeletedOnly {
		state += ", only deleted, since a complete pass was made before"
	}
	if r.DryRun {
		state = "dry run: nothing was written"
	}
	return state
}

func countsRow(w io.Writer, name string, c layoutkit.Counts) {
	fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", name, c.Found, c.Copied, c.Kept, c.Skipped, c.Orphans, c.Pruned, c.Deleted)
}

// printList prints the first keys of a list.
func printList(out io.Writer, what string, keys []string, all int64) {
	const most = 10
	if all == 0 {
		return
	}
	fmt.Fprintf(out, "%s:\n", what)
	for _, key := range keys[:min(len(keys), most)] {
		fmt.Fprintf(out, "  %q\n", key)
	}
	if all > most {
		fmt.Fprintf(out, "  … %d in all; --json lists %d\n", all, len(keys))
	}
}

// printInspection prints how many keys each layout has.
func printInspection(out io.Writer, i *layoutkit.Inspection) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\tlegacy\tcluster\tshared\t")
	seen := make(map[layoutkit.Namespace]bool)
	for _, keys := range []map[layoutkit.Namespace]int64{i.Legacy, i.Cluster, i.Shared} {
		for ns := range keys {
			seen[ns] = true
		}
	}
	for _, ns := range slices.Sorted(maps.Keys(seen)) {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t\n", ns, i.Legacy[ns], i.Cluster[ns], i.Shared[ns])
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("printing the report: %w", err)
	}
	printList(out, "foreign, which are none of the kit's", i.ForeignKeys, i.Foreign)
	marker := i.Marker
	if marker == "" {
		marker = "none"
	}
	fmt.Fprintf(out, "marker: %s; signs of life: %d\n", marker, i.Live)
	return nil
}
