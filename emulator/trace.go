package emulator

import (
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/server"
	"github.com/fakecluster/fakecluster/slots"
)

// Trace is what the clients of a cluster did: the latest commands of all nodes
// in the order in which they were executed. Commands of Node.Do, of scripts and
// of EXEC are not in it.
type Trace struct {
	cluster *Cluster
	trace   *server.Trace
}

// Traced is one command of a client.
type Traced struct {
	At   time.Time
	Node *Node // nil if it was removed
	// Client is the name the client gave itself, or else its address.
	Client string
	// Command is its name in lower case, with subcommand: "client|list".
	Command string
	// Text is the whole command without secrets, cut off when it is long.
	Text string
	// Slot is the slot of its first key if it is Keyed.
	Slot  slots.Slot
	Keyed bool
	// Verdict is "serve", where the command was sent ("MOVED", "ASK"), the code
	// of the error it was answered with ("CROSSSLOT", "WRONGTYPE"), "blocked"
	// when its reply was to come later, and "dropped" when there was none.
	Verdict string
	// Duration is how long the node was busy with it.
	Duration time.Duration
	// Redirects is how often the command has been redirected on its way, this
	// time included.
	Redirects int
}

// String is one line about the command.
func (t Traced) String() string {
	node, slot := "?", "-"
	if t.Node != nil {
		node = t.Node.Name()
	}
	if t.Keyed {
		slot = fmt.Sprint(t.Slot)
	}
	line := fmt.Sprintf("%s %s %s: %s", node, slot, t.Verdict, t.Text)
	if t.Redirects > 0 {
		line += fmt.Sprintf(" (redirected %d times)", t.Redirects)
	}
	return line
}

// Trace begins to record the commands of all clients, and keeps the latest size
// of them. It replaces an earlier trace. While there is none, a command pays a
// load for it.
func (c *Cluster) Trace(size int) *Trace { return &Trace{c, c.harness.Trace(max(1, size))} }

// Untrace ends the recording; what has been recorded stays.
func (c *Cluster) Untrace() { c.harness.Untrace() }

// All yields the recorded commands, the oldest first.
func (t *Trace) All() iter.Seq[Traced] {
	return func(yield func(Traced) bool) {
		nodes := t.byServer()
		for _, e := range t.trace.Entries() {
			more := yield(traced(e, nodes))
			if !more {
				return
			}
		}
	}
}

// Where returns the recorded commands that a test of yours is true for.
func (t *Trace) Where(test func(Traced) bool) []Traced {
	var found []Traced
	for e := range t.All() {
		if test(e) {
			found = append(found, e)
		}
	}
	return found
}

// CrossedSlots are the commands whose keys were in several slots.
func (t *Trace) CrossedSlots() []Traced { return t.Verdict("CROSSSLOT") }

// Verdict are the commands that got one of these verdicts, in any case.
func (t *Trace) Verdict(verdicts ...string) []Traced {
	return t.Where(func(e Traced) bool {
		for _, v := range verdicts {
			if strings.EqualFold(v, e.Verdict) {
				return true
			}
		}
		return false
	})
}

// RedirectedMoreThan are the commands that were redirected more than n times.
func (t *Trace) RedirectedMoreThan(n int) []Traced {
	return t.Where(func(e Traced) bool { return e.Redirects > n })
}

// Total is how many commands have been recorded, those no longer kept too.
func (t *Trace) Total() int { return int(t.trace.Total()) }

// Clear forgets what has been recorded.
func (t *Trace) Clear() { t.trace.Clear() }
