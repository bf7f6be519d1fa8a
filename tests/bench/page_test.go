package bench

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// machine is what the figures were taken on.
type machine struct {
	Processor string
	Cores     int
	Go        string
	Redis     string
	Load      string // of the last minutes, before and after
	Day       string
}

func thisMachine() machine {
	m := machine{Processor: "unknown", Cores: runtime.NumCPU(), Go: runtime.Version(), Day: time.Now().UTC().Format(time.DateOnly)}
	if f, err := os.Open("/proc/cpuinfo"); err == nil {
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if name, found := strings.CutPrefix(lines.Text(), "model name"); found {
				m.Processor = strings.TrimLeft(name, "\t :")
				break
			}
		}
	}
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		m.Load, _, _ = strings.Cut(string(text), " ")
	}
	if out, err := exec.Command("redis-server", "--version").Output(); err == nil {
		for _, field := range strings.Fields(string(out)) {
			if v, found := strings.CutPrefix(field, "v="); found {
				m.Redis = v
			}
		}
	}
	return m
}

// busier reports whether a load, as the system prints it, is higher than another.
func busier(a, b string) bool {
	x, _ := strconv.ParseFloat(a, 64) // 0 where the system does not tell
	y, _ := strconv.ParseFloat(b, 64)
	return x > y
}

// page is docs/benchmarks.md.
type page struct {
	machine machine
	mode    mode
	results []result
}

// write writes the page and its plots below docs.
func (p page) write(docs string) error {
	plots := filepath.Join(docs, "benchmarks")
	if err := os.MkdirAll(plots, 0o755); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	for _, r := range p.results {
		for _, c := range r.Curves {
			if err := os.WriteFile(filepath.Join(plots, c.file()), []byte(c.svg()), 0o644); err != nil {
				return fmt.Errorf("write a plot: %w", err)
			}
		}
	}
	return os.WriteFile(filepath.Join(docs, "benchmarks.md"), []byte(p.String()), 0o644)
}

// file is the name of a curve's plot.
func (c curve) file() string {
	name := strings.ToLower(c.Command)
	name = strings.NewReplacer(" ", "-", ",", "").Replace(name)
	return name + ".svg"
}

func (p page) String() string {
	var b strings.Builder
	p.head(&b)
	p.summary(&b)
	for i, r := range p.results {
		fmt.Fprintf(&b, "\n## %d. %s\n\n%s\n\n", i+1, r.Title, explanations[sections[i].name].how)
		r.table(&b)
		if r.misses() > 0 {
			fmt.Fprintf(&b, "\n%s\n", explanations[sections[i].name].misses)
		}
		for _, c := range r.Curves {
			if strings.HasPrefix(c.Command, "DEL") {
				fmt.Fprintln(&b)
			}
			fmt.Fprintf(&b, "![%s](benchmarks/%s)\n", c.Command, c.file())
		}
	}
	return b.String()
}

func (p page) head(b *strings.Builder) {
	m := p.machine
	low, high := m.Load, m.Load
	for _, r := range p.results {
		if busier(low, r.Machine.Load) {
			low = r.Machine.Load
		}
		if busier(r.Machine.Load, high) {
			high = r.Machine.Load
		}
	}
	fmt.Fprintf(b, `# Speed and size

The emulator beside `+"`redis-server`"+` %s and miniredis 2.40, in one run on one machine; written by `+"`make bench`"+`. What counts
are the ratios. The servers are measured in turns and the median of the turns is shown, because the machine is never
idle: on %s it was %d cores of %s with %s, whose load was between %s and %s.
`, m.Redis, m.Day, m.Cores, m.Processor, m.Go, low, high)
	if p.mode != full {
		fmt.Fprintf(b, "\nThis was a %s run: fewer turns and requests than `make bench` takes, on a machine that others kept busy.\n", p.mode)
	}
	b.WriteByte('\n')
}

func (p page) summary(b *strings.Builder) {
	b.WriteString("| target | goals | met | missed by the most |\n|---|---|---|---|\n")
	for i, r := range p.results {
		goals, worst := 0, ""
		most := 1.0
		for _, l := range r.Lines {
			if l.Goal.Kind == noGoal {
				continue
			}
			goals++
			if by := l.missedBy(); by > most {
				most, worst = by, fmt.Sprintf("%s, %.2f times the goal", l.What, by)
			}
		}
		fmt.Fprintf(b, "| %d. %s | %d | %d | %s |\n", i+1, r.Title, goals, goals-r.misses(), worst)
	}
}

// missedBy is by what factor the goal is missed, at most 1 if it is met.
func (l line) missedBy() float64 {
	switch l.Goal.Kind {
	case ratioAtLeast, atLeast:
		return l.Goal.Than / l.judged()
	case ratioAtMost, atMost:
		return l.judged() / l.Goal.Than
	}
	return 0
}

func (r result) misses() int {
	n := 0
	for _, l := range r.Lines {
		if !l.met() {
			n++
		}
	}
	return n
}

func (r result) table(b *strings.Builder) {
	b.WriteString("| | unit | fakecluster | real | miniredis | to real | to miniredis | goal | |\n|---|---|--:|--:|--:|--:|--:|--:|---|\n")
	for _, l := range r.Lines {
		verdict, aim := "", ""
		if l.Goal.Kind != noGoal {
			aim = map[goalKind]string{ratioAtMost: "≤ %s ×", ratioAtLeast: "≥ %s ×", atMost: "≤ %s", atLeast: "≥ %s"}[l.Goal.Kind]
			aim = fmt.Sprintf(aim, figure(l.Goal.Than))
			verdict = "met"
			if !l.met() {
				verdict = fmt.Sprintf("**missed** by %.0f %%", (l.missedBy()-1)*100)
			}
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", l.What, l.Unit,
			figure(l.Ours), figure(l.Real), figure(l.Mini), ratio(l.Ours, l.Real), ratio(l.Ours, l.Mini), aim, verdict)
	}
}

func ratio(ours, theirs float64) string {
	if theirs == 0 {
		return "–"
	}
	return figure(ours/theirs) + " ×"
}
