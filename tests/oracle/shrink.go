package oracle

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// shownUnrepeated is how many of the last steps are shown of a difference that
// does not come back.
const shownUnrepeated = 30

// Shrink looks for the shortest list of steps that still ends in a difference
// of the same command, by delta debugging: drop ever smaller pieces of the
// list, then arguments of what is left. It stops where budget ends.
func (x *Runner) Shrink(steps []Step, d *Difference, budget time.Duration) ([]Step, *Difference, error) {
	s := &shrinker{x: x, name: d.name(), best: d, until: time.Now().Add(budget)}
	s.steps = slices.Clone(steps[:d.Index+1])
	if last := &s.steps[d.Index]; last.Verb == vSnapshot && len(d.Step.Args) > 0 {
		*last = d.Step
	}
	limit := x.batchLimit
	defer func() { x.batchLimit = limit }()
	x.batchLimit = 1
	if !s.fails(s.steps) {
		x.batchLimit = limit // it takes a pipeline to show
		s.steps = slices.Clone(steps[:d.Index+1])
		if !s.fails(s.steps) {
			d.What += " (not seen again when repeated)"
			return s.steps[max(0, len(s.steps)-shownUnrepeated):], d, s.err
		}
	}
	s.onlyRelated()
	s.dropSteps()
	s.dropArgs()
	s.dropSteps()
	return s.steps, s.best, s.err
}

type shrinker struct {
	x     *Runner
	name  string
	steps []Step
	best  *Difference
	until time.Time
	err   error
}

// fails reports whether steps still show the difference; if so they become
// the best known list.
func (s *shrinker) fails(steps []Step) bool {
	if s.err != nil || time.Now().After(s.until) || len(steps) == 0 {
		return false
	}
	d, err := s.x.Run(steps)
	if err != nil {
		if err := s.x.alive(nil); err != nil {
			s.err = fmt.Errorf("while shrinking: %w", err)
		}
		return false
	}
	if d == nil || d.name() != s.name {
		return false
	}
	s.best = d
	s.steps = slices.Clone(steps[:d.Index+1])
	return true
}

// onlyRelated tries the steps that share an argument with the last one.
func (s *shrinker) onlyRelated() {
	if len(s.steps) < 2 {
		return
	}
	last := s.steps[len(s.steps)-1]
	var related []Step
	for _, step := range s.steps[:len(s.steps)-1] {
		shares := slices.ContainsFunc(step.Args, func(arg string) bool {
			return len(arg) > 1 && slices.Contains(last.Args[min(1, len(last.Args)):], arg)
		})
		if shares {
			related = append(related, step)
		}
	}
	s.fails(append(related, last))
}

// dropSteps removes pieces of the list, from halves down to single steps,
// until no single step can go.
func (s *shrinker) dropSteps() {
	for size := max(1, len(s.steps)/2); ; {
		removed := false
		for start := 0; start < len(s.steps)-1; {
			end := min(start+size, len(s.steps)-1) // the last step stays
			if s.fails(slices.Concat(s.steps[:start], s.steps[end:])) {
				removed = true
			} else {
				start = end
			}
		}
		if size == 1 && !removed {
			return
		}
		if !removed || size > len(s.steps) {
			size = max(1, size/2)
		}
	}
}

// dropArgs removes runs of arguments, from halves down to single ones, and
// shortens long ones.
func (s *shrinker) dropArgs() {
	for i := 0; i < len(s.steps); i++ {
		for width := len(s.steps[i].Args) / 2; width >= 1; width = nextWidth(width) {
			for at := len(s.steps[i].Args) - width; at >= 1; {
				args := s.steps[i].Args
				if s.try(i, slices.Concat(args[:at], args[at+width:])) && i >= len(s.steps) {
					return // the difference shows earlier now
				}
				at = min(at-max(1, width/2), len(s.steps[i].Args)-width)
			}
		}
		for at := range s.steps[i].Args {
			s.shortenArg(i, at)
			if i >= len(s.steps) {
				return
			}
		}
	}
}

// nextWidth halves down to pairs, then singles: names and values go together.
func nextWidth(width int) int {
	if width > 4 {
		return width / 4 * 2
	}
	if width > 2 {
		return 2
	}
	return width - 1
}

func (s *shrinker) shortenArg(i, at int) {
	for i < len(s.steps) && at < len(s.steps[i].Args) {
		arg := s.steps[i].Args[at]
		if len(arg) < 12 || strings.HasPrefix(arg, "$") {
			return
		}
		args := slices.Clone(s.steps[i].Args)
		args[at] = arg[:len(arg)/2]
		if !s.try(i, args) {
			return
		}
	}
}

func (s *shrinker) try(i int, args []string) bool {
	if i >= len(s.steps) {
		return false
	}
	steps := slices.Clone(s.steps)
	steps[i].Args = args
	return s.fails(steps)
}

// Report writes a difference with the steps that lead to it, ready to be put
// into a script.
func Report(steps []Step, d *Difference, nameA, nameB string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "difference in %s of:\n", d.What)
	for _, step := range steps {
		fmt.Fprintf(&b, "    %s\n", abbreviate(step.String(), 2000))
	}
	if len(steps) == 0 || d.Step.String() != steps[len(steps)-1].String() {
		fmt.Fprintf(&b, "  at\n    %s\n", abbreviate(d.Step.String(), 2000))
	}
	writeSide(&b, nameA, d.A)
	writeSide(&b, nameB, d.B)
	return b.String()
}

func writeSide(b *strings.Builder, name string, replies []Reply) {
	fmt.Fprintf(b, "  %s:\n", name)
	for _, r := range replies {
		for line := range strings.Lines(abbreviate(r.String(), 4000)) {
			fmt.Fprintf(b, "    %s", line)
		}
		b.WriteByte('\n')
	}
}

func abbreviate(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return s[:limit/2] + " … " + s[len(s)-limit/2:]
}
