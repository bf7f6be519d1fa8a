package bench

import (
	"fmt"
	"math"
	"slices"
)

// result is what a section has measured.
type result struct {
	Title   string
	Lines   []line
	Curves  []curve `json:",omitempty"`
	Seconds float64
	Machine machine
}

// line is one figure of each server. A figure of 0 was not taken.
type line struct {
	What string
	Unit string
	Ours float64
	Real float64 `json:",omitempty"`
	Mini float64 `json:",omitempty"`
	Goal goal
}

// goal is what the figure should be: of ours alone, or of its ratio to real
// Redis'.
type goal struct {
	Kind goalKind
	Than float64
}

type goalKind string

const (
	noGoal       goalKind = ""
	ratioAtMost  goalKind = "ratio at most"
	ratioAtLeast goalKind = "ratio at least"
	atMost       goalKind = "at most"
	atLeast      goalKind = "at least"
)

// toReal is our figure as a multiple of real Redis'.
func (l line) toReal() float64 { return l.Ours / l.Real }

// judged is the number that the goal is about.
func (l line) judged() float64 {
	if l.Goal.Kind == ratioAtMost || l.Goal.Kind == ratioAtLeast {
		return l.toReal()
	}
	return l.Ours
}

// met reports whether the goal is reached.
func (l line) met() bool {
	switch l.Goal.Kind {
	case ratioAtMost, atMost:
		return l.judged() <= l.Goal.Than
	case ratioAtLeast, atLeast:
		return l.judged() >= l.Goal.Than
	}
	return true
}

func (l line) String() string {
	verdict := ""
	if l.Goal.Kind != noGoal {
		verdict = fmt.Sprintf(" (%s %s: %t)", l.Goal.Kind, figure(l.Goal.Than), l.met())
	}
	return fmt.Sprintf("%s [%s]: ours %s, real %s, miniredis %s%s", l.What, l.Unit, figure(l.Ours), figure(l.Real), figure(l.Mini), verdict)
}

// figure prints a number with three significant digits.
func figure(f float64) string {
	switch abs := math.Abs(f); {
	case f == 0:
		return "–"
	case abs >= 100:
		return thousands(f)
	case abs >= 10:
		return fmt.Sprintf("%.1f", f)
	case abs >= 0.095:
		return fmt.Sprintf("%.2f", f)
	}
	return fmt.Sprintf("%.2g", f)
}

// thousands prints a large number with its digits in groups of three.
func thousands(f float64) string {
	digits := fmt.Sprintf("%.0f", f)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// curve is how an operation's time grows with the size of what it works on.
type curve struct {
	Command    string
	Complexity string // as the command's documentation has it
	Unit       string
	Sizes      []float64
	Times      map[string][]float64 // by server; shorter where it took too long
}

// exponent is the power of the size by which the time grows between the first
// and the last size: 0 for O(1), 1 for O(N).
func (c curve) exponent(server string) float64 {
	times := c.Times[server]
	if len(times) < 2 {
		return 0
	}
	last := len(times) - 1
	return math.Log(times[last]/times[0]) / math.Log(c.Sizes[last]/c.Sizes[0])
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// alternate takes a figure of each subject in turns, beginning with another one
// in every round, and returns the medians.
func alternate[S any](rounds int, subjects []S, measure func(S) float64) []float64 {
	figures := make([][]float64, len(subjects))
	for round := range rounds {
		for i := range subjects {
			at := (round + i) % len(subjects)
			figures[at] = append(figures[at], measure(subjects[at]))
		}
	}
	medians := make([]float64, len(subjects))
	for i := range figures {
		medians[i] = median(figures[i])
	}
	return medians
}
