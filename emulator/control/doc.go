// Package control is the language in which a cluster is steered: one set of
// verbs ("failover n1", "migrate 42 n2", "partition n1,n2", "clock advance
// 1h"), each with one spelling, one parser and one help text.
//
// How a verb was reached makes no difference: over any Redis connection with
// the command FAKECLUSTER, from a shell with "fakecluster ctl", from a scenario
// file. Verbs are words in, text out; every one of them is a call of a method
// of emulator.Cluster.
//
// Nodes are called n1, n2 and so on, by their address or port, by the beginning
// of their id, as "owner:key" and as "slot:42". "*" is all nodes, and several
// are separated by commas.
package control

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/slots"
)

// Command is the name of the Redis command that takes verbs.
const Command = "FAKECLUSTER"

// ErrUsage is wrapped by errors of those who do not know the language.
var ErrUsage = errors.New("usage")

// Controllers are the Controllers of clusters, one of each: however a verb
// reaches a cluster, it sees what others began. The zero value is ready.
type Controllers struct{ of sync.Map }

// Of returns the Controller of a cluster.
func (cs *Controllers) Of(c *emulator.Cluster) *Controller {
	if known, ok := cs.of.Load(c); ok {
		return known.(*Controller)
	}
	x, _ := cs.of.LoadOrStore(c, New(c))
	return x.(*Controller)
}

// Option gives the nodes of a cluster the command FAKECLUSTER.
func (cs *Controllers) Option() emulator.Option {
	return emulator.Command(Command, func(at *emulator.Node, args []string) (string, error) {
		return cs.Of(at.Cluster()).At(at, args...)
	})
}

// Option gives the nodes of a cluster the command FAKECLUSTER, for a cluster
// that is steered by it alone.
func Option() emulator.Option { return new(Controllers).Option() }

// Controller steers one cluster. It remembers what later verbs refer to: faults
// by number, migrations by slot.
type Controller struct {
	cluster *emulator.Cluster

	mu         sync.Mutex
	faults     map[int]fault
	lastFault  int
	migrations map[slots.Slot]*emulator.Migration
	trace      *emulator.Trace
	tracing    bool
}

type fault struct {
	*emulator.Fault
	text string
}

// New returns a Controller of a cluster.
func New(c *emulator.Cluster) *Controller {
	return &Controller{cluster: c, faults: map[int]fault{}, migrations: map[slots.Slot]*emulator.Migration{}}
}

// verb is one entry of the language.
type verb struct {
	name  string
	usage string // what follows the name
	help  string
	run   func(c *call) (string, error)
}

// call is one use of a verb.
type call struct {
	*Controller
	at   *emulator.Node // who was told; nil if nobody in particular
	args []string
}

// Do executes a verb and returns what there is to say, "OK" if nothing.
func (x *Controller) Do(words ...string) (string, error) { return x.At(nil, words...) }

// At is Do for a verb that a node was told: "." is that node.
func (x *Controller) At(at *emulator.Node, words ...string) (string, error) {
	if len(words) == 0 {
		return Help(), nil
	}
	v := find(words[0])
	if v == nil {
		return "", fmt.Errorf("%w: there is no verb %q; HELP lists them", ErrUsage, words[0])
	}
	text, err := v.run(&call{Controller: x, at: at, args: words[1:]})
	switch {
	case errors.Is(err, ErrUsage):
		return "", fmt.Errorf("%w; usage: %s", err, v.line())
	case err != nil:
		return "", err
	case text == "":
		return "OK", nil
	}
	return text, nil
}

func find(name string) *verb {
	for i := range verbs {
		if strings.EqualFold(verbs[i].name, name) {
			return &verbs[i]
		}
	}
	return nil
}

func (v *verb) line() string { return strings.TrimSpace(v.name + " " + v.usage) }

// Help lists the verbs, one a line.
func Help() string {
	width := 0
	for i := range verbs {
		width = max(width, len(verbs[i].line()))
	}
	var b strings.Builder
	for i := range verbs {
		fmt.Fprintf(&b, "%-*s  %s\n", width, verbs[i].line(), verbs[i].help)
	}
	b.WriteString("\nNODE is n1, n2 …, an address or port, the beginning of an id, owner:KEY, slot:N or . for the node asked; NODES are several with commas, or *.\n")
	b.WriteString("Times are written like 1h30m, 250ms.\n")
	return b.String()
}

func usagef(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrUsage}, args...)...)
}
