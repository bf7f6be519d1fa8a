package readiness

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"path/filepath"
	"strings"
)

// Format writes the report as the name of its file says: .json, .txt, or a page
// of HTML that needs nothing else.
func (r *Report) Format(file string) ([]byte, error) {
	switch filepath.Ext(file) {
	case ".json":
		text, err := json.MarshalIndent(r, "", "  ")
		return append(text, '\n'), err
	case ".txt", ".md":
		return []byte(r.Text()), nil
	}
	return r.HTML()
}

// Summary is one line.
func (r *Report) Summary() string {
	counts := map[Severity]int{}
	for _, f := range r.Findings {
		counts[f.Severity]++
	}
	if len(r.Findings) == 0 {
		return fmt.Sprintf("ready for a cluster: nothing found in %d commands", r.Commands)
	}
	verdict := "not ready for a cluster"
	if r.Ready {
		verdict = "ready for a cluster"
	}
	return fmt.Sprintf("%s: findings in %d commands: %d breaks, %d misleads, %d costs",
		verdict, r.Commands, counts[Breaks], counts[Misleads], counts[Costs])
}

// Text is the report for a terminal.
func (r *Report) Text() string {
	var b strings.Builder
	fmt.Fprintln(&b, r.Summary())
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "\n%s: %s\n  %d times: %s\n", f.Severity, f.Title, f.Count, f.Shape)
		if f.Bytes > 0 {
			fmt.Fprintf(&b, "  bytes:    %d, to every other node too\n", f.Bytes)
		}
		fmt.Fprintf(&b, "  because:  %s\n", f.Why)
		for _, e := range f.Examples {
			fmt.Fprintf(&b, "  example:  %s\n", e.Command)
			for _, k := range e.Keys {
				fmt.Fprintf(&b, "            slot %-5d %s", k.Slot, k.Name)
				if k.Tagged != "" {
					fmt.Fprintf(&b, " → %s", k.Tagged)
				}
				b.WriteByte('\n')
			}
		}
		fmt.Fprintf(&b, "  clients:  %s\n  fix:      %s\n", clientList(f.Clients), f.Fix)
	}
	if len(r.Tags) > 0 {
		b.WriteString("\nTags:\n")
		for _, t := range r.Tags {
			fmt.Fprintf(&b, "  %s → %s\n", t.Pattern, t.Tagged)
		}
	}
	for _, d := range []Distribution{r.Before, r.After} {
		fmt.Fprintf(&b, "\nKeys %s: %d in %d slots, of three masters %v; fullest is slot %d with %d.\n",
			d.Label, d.Keys, d.UsedSlots, d.Masters, d.Fullest, d.FullestKeys)
	}
	if r.NotKept > 0 {
		fmt.Fprintf(&b, "\n%d findings and keys more were not kept.\n", r.NotKept)
	}
	return b.String()
}

func clientList(clients []ClientCount) string {
	words := make([]string, len(clients))
	for i, c := range clients {
		words[i] = fmt.Sprintf("%s (%d)", c.Client, c.Count)
	}
	return strings.Join(words, ", ")
}

//go:embed report.html
var pageSource string

var page = template.Must(template.New("report").Funcs(template.FuncMap{
	"clients": clientList,
	"bars":    bars,
}).Parse(pageSource))

// HTML is the report as a page that needs nothing else.
func (r *Report) HTML() ([]byte, error) {
	var b bytes.Buffer
	if err := page.Execute(&b, r); err != nil {
		return nil, fmt.Errorf("readiness report: %w", err)
	}
	return b.Bytes(), nil
}

// bar is one part of a distribution, in the coordinates of the drawing.
type bar struct {
	X, Y, Height float64
	Title        string
}

const barsHeight = 100

// bars draws a distribution on the scale of its fullest part.
func bars(d Distribution) []bar {
	var most int64 = 1
	for _, n := range d.Parts {
		most = max(most, n)
	}
	const slotsPerPart = 16384 / Parts
	list := make([]bar, Parts)
	for i, n := range d.Parts {
		height := float64(n) / float64(most) * barsHeight
		list[i] = bar{float64(i), barsHeight - height, height,
			fmt.Sprintf("slots %d-%d: %d keys", i*slotsPerPart, (i+1)*slotsPerPart-1, n)}
	}
	return list
}
