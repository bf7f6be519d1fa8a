package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"golang.org/x/term"

	"github.com/fakecluster/fakecluster/cmd/fakecluster/internal/survey"
	"github.com/fakecluster/fakecluster/slots"
)

// slot is the command that tells where keys are.
type slot struct {
	contact
	Color string   `default:"auto" enum:"auto,always,never" help:"Whether to highlight hash tags: ${enum}."`
	Same  bool     `help:"Exit with 1 unless all keys are in one slot."`
	Keys  []string `arg:"" name:"key" help:"Keys to look up."`
}

// Help is what kong adds to --help.
func (s *slot) Help() string {
	return `Without a cluster at --addr the owners are left out.

  fakecluster slot user:42
  fakecluster slot --same '{user:42}:name' '{user:42}:mail' && echo "one transaction may use both"`
}

func (s *slot) run(ctx context.Context, stdout, stderr io.Writer) error {
	seen, err := survey.Topology(ctx, s.dial, s.Addr)
	if err != nil {
		fmt.Fprintf(stderr, "fakecluster: owners are unknown: %v\n", err)
	}
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	several := false
	for _, key := range s.Keys {
		at := slots.OfString(key)
		several = several || at != slots.OfString(s.Keys[0])
		// The key is last: what highlights it would count as width.
		fmt.Fprintf(w, "%d\t%s\t%s\n", at, owner(seen, at), highlight(key, s.highlights(stdout)))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	if s.Same && several {
		return exitCode(exitError)
	}
	return nil
}

func owner(seen *survey.Survey, at slots.Slot) string {
	if seen == nil {
		return "-"
	}
	n := seen.Owner(at)
	if n == nil {
		return "nobody"
	}
	return strings.TrimSpace(n.Name + " " + cmp.Or(n.Addr, "?"))
}

func (s *slot) highlights(stdout io.Writer) bool {
	if s.Color == "auto" {
		return isTerminal(stdout)
	}
	return s.Color == "always"
}

// isTerminal reports whether what is written to w is seen at once.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

const (
	styleTag   = "\x1b[1;7m" // bold, inverse
	stylePlain = "\x1b[0m"
)

// highlight marks the part of a key that decides over its slot, unless that is
// the whole key.
func highlight(key string, wanted bool) string {
	tag := slots.TagString(key)
	at := strings.IndexByte(key, '{')
	if !wanted || at < 0 || tag == key {
		return key
	}
	end := at + 1 + len(tag)
	return key[:at+1] + styleTag + tag + stylePlain + key[end:]
}
