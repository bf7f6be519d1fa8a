package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/fakecluster/fakecluster/cmd/fakecluster/internal/survey"
	"github.com/fakecluster/fakecluster/slots"
)

// watch is the command that shows how a cluster is, over and over.
type watch struct {
	contact
	Interval time.Duration `default:"1s" help:"How often to look."`
	Count    int           `default:"0" help:"How often to look altogether, 0 for until interrupted."`
}

// Help is what kong adds to --help.
func (w *watch) Help() string {
	return `In a terminal it draws the nodes, the slots by their owners, rates and what has happened last; Ctrl-C ends it. In a pipe it prints a line per look and one per event.

  fakecluster watch
  fakecluster watch --interval 250ms
  fakecluster watch --count 60 > minute.log`
}

func (w *watch) run(ctx context.Context, stdout, _ io.Writer) error {
	if w.Interval <= 0 {
		return usagef("--interval %v is not positive", w.Interval)
	}
	var show display = &lines{out: stdout}
	if isTerminal(stdout) {
		show = &screen{out: stdout, size: func() (width, height int) {
			width, height, err := term.GetSize(int(stdout.(*os.File).Fd()))
			if err != nil {
				return 80, 24
			}
			return width, height
		}}
	}
	var last *survey.Survey
	ticks := time.NewTicker(w.Interval)
	defer ticks.Stop()
	defer show.end()
	for looks := 1; ; looks++ {
		seen, err := survey.Take(ctx, w.dial, w.Addr, max(w.Interval, time.Second))
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && last == nil:
			return w.unreachable(err)
		case err != nil:
			show.failed(err)
		default:
			show.look(seen, last)
			last = seen
		}
		if looks == w.Count {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticks.C:
		}
	}
}

// display is where looks appear.
type display interface {
	look(now, before *survey.Survey)
	failed(err error)
	end()
}

// lines is a display for a pipe.
type lines struct{ out io.Writer }

const timeOfDay = "15:04:05"

func (l *lines) look(now, before *survey.Survey) {
	stamp := now.At.Format(timeOfDay)
	if before == nil {
		fmt.Fprintf(l.out, "%s %s\n", stamp, now.Summary())
		return
	}
	for _, event := range now.EventsSince(before) {
		fmt.Fprintf(l.out, "%s ! %s\n", stamp, event)
	}
	fmt.Fprintf(l.out, "%s %s, %v\n", stamp, now.Summary(), now.RatesSince(before))
}

func (l *lines) failed(err error) {
	fmt.Fprintf(l.out, "%s ! %v\n", time.Now().Format(timeOfDay), err)
}

func (l *lines) end() {}

// screen is a display for a terminal.
type screen struct {
	out    io.Writer
	size   func() (width, height int)
	begun  bool
	last   *survey.Survey
	rates  survey.Rates
	events []string // the latest
}

// Control sequences of terminals, as ECMA-48 and xterm have them.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l" // the alternate screen, no cursor
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	toTop       = "\x1b[H"
	clearLine   = "\x1b[K"
	clearBelow  = "\x1b[J"
)

// mostEvents is how many events are kept to be shown.
const mostEvents = 100

func (s *screen) look(now, before *survey.Survey) {
	if before != nil {
		s.rates = now.RatesSince(before)
		for _, event := range now.EventsSince(before) {
			s.happened(now.At, event)
		}
	}
	s.last = now
	s.draw()
}

func (s *screen) failed(err error) {
	s.happened(time.Now(), err.Error())
	s.draw()
}

func (s *screen) happened(at time.Time, event string) {
	s.events = append(s.events, at.Format(timeOfDay)+" "+event)
	s.events = s.events[max(0, len(s.events)-mostEvents):]
}

func (s *screen) draw() {
	width, height := s.size()
	text := s.last.Table() + "\n" + slotBar(s.last, width) + "\n\n" + s.rates.String() + "\n"
	rows := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if room := height - len(rows) - 2; room > 0 && len(s.events) > 0 {
		rows = append(append(rows, ""), s.events[max(0, len(s.events)-room):]...)
	}
	var b strings.Builder
	if !s.begun {
		s.begun = true
		b.WriteString(enterScreen)
	}
	b.WriteString(toTop)
	for i, row := range rows[:min(len(rows), height)] {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(clip(row, width) + clearLine)
	}
	b.WriteString(clearBelow)
	io.WriteString(s.out, b.String())
}

// end leaves the last look where the shell goes on.
func (s *screen) end() {
	if s.begun {
		io.WriteString(s.out, leaveScreen+s.last.Table())
	}
}

// clip cuts a row off at the width of the terminal. The bar, which has control
// sequences, fits already.
func clip(row string, width int) string {
	if strings.Contains(row, "\x1b") {
		return row
	}
	if runes := []rune(row); len(runes) > width {
		return string(runes[:width])
	}
	return row
}

// ownerColors are backgrounds of the 256 colours that differ in brightness too.
var ownerColors = []int{33, 208, 35, 161, 220, 99, 45, 130, 120, 205}

// slotBar draws all slots in one row, coloured by owner: every cell is the owner
// of its first slot, marked where a slot is on its way, blank where nobody is.
func slotBar(s *survey.Survey, width int) string {
	width = max(width-2, 1)
	color := map[string]int{}
	open := map[slots.Slot]bool{}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !n.Replica() {
			color[n.ID] = ownerColors[len(color)%len(ownerColors)]
		}
		for _, o := range n.Open {
			var at int
			if _, err := fmt.Sscanf(o, "%d", &at); err == nil {
				open[slots.Slot(at)] = true
			}
		}
	}
	var b strings.Builder
	b.WriteByte('[')
	drawn := stylePlain
	for cell := range width {
		first, end := cell*slots.Count/width, (cell+1)*slots.Count/width
		mark, style := " ", stylePlain
		for at := first; at < end; at++ {
			if open[slots.Slot(at)] {
				mark = "*"
			}
		}
		if n := s.Owner(slots.Slot(first)); n != nil {
			style = fmt.Sprintf("\x1b[48;5;%dm", color[n.ID])
		}
		if style != drawn {
			b.WriteString(style)
			drawn = style
		}
		b.WriteString(mark)
	}
	b.WriteString(stylePlain + "]")
	return b.String()
}
