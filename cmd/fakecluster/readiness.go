package main

import (
	"fmt"
	"io"

	"github.com/fakecluster/fakecluster/cmd/fakecluster/internal/readiness"
	"github.com/fakecluster/fakecluster/cmd/fakecluster/internal/wholefile"
)

// readinessFlags are the flags of commands that can tell whether a program is
// ready for a cluster.
type readinessFlags struct {
	Readiness     []string `type:"path" placeholder:"FILE" help:"With --standalone: file for a report at the end on what would fail on a cluster, as HTML, or text or JSON by its name."`
	ReadinessFail bool     `help:"Exit with 1 if the report finds what breaks or misleads."`
}

// check refuses what makes no sense.
func (f *readinessFlags) check(standalone bool) error {
	switch {
	case len(f.Readiness) == 0 && f.ReadinessFail:
		return usagef("--readiness-fail needs a report: say --readiness FILE")
	case len(f.Readiness) > 0 && !standalone:
		return usagef("--readiness is for a program that uses one Redis: add --standalone")
	}
	for _, file := range f.Readiness { // now, rather than when all is over
		if err := wholefile.Possible(file); err != nil {
			return usagef("--readiness: %w", err)
		}
	}
	return nil
}

// recorder is what commands are to be shown to, nil if no report is wanted.
func (f *readinessFlags) recorder() *readiness.Recorder {
	if len(f.Readiness) == 0 {
		return nil
	}
	return readiness.NewRecorder()
}

// judge writes the reports and says in one line what they say.
func (f *readinessFlags) judge(recorder *readiness.Recorder, out io.Writer) error {
	if recorder == nil {
		return nil
	}
	report := recorder.Report()
	for _, file := range f.Readiness {
		text, err := report.Format(file)
		if err == nil {
			err = wholefile.Write(file, text)
		}
		if err != nil {
			return fmt.Errorf("--readiness %s: %w", file, err)
		}
	}
	fmt.Fprintln(out, report.Summary())
	if f.ReadinessFail && !report.Ready {
		return exitCode(exitError)
	}
	return nil
}
