package control

import (
	"maps"
	"slices"

	"github.com/fakecluster/fakecluster/emulator"
)

// Verb describes one verb of the language.
type Verb struct {
	Name  string
	Usage string // what follows the name, "" if nothing does
	Help  string // one sentence
}

// Verbs describes the verbs, in the order of Help.
func Verbs() []Verb {
	described := make([]Verb, len(verbs))
	for i, v := range verbs {
		described[i] = Verb{v.name, v.usage, v.help}
	}
	return described
}

// Fault is a fault at work.
type Fault struct {
	Number int
	Hits   int
	Text   string // what followed the verb "fault"
}

// Faults are the faults at work, in the order of their numbers.
func (x *Controller) Faults() []Fault {
	x.mu.Lock()
	defer x.mu.Unlock()
	faults := make([]Fault, 0, len(x.faults))
	for _, number := range slices.Sorted(maps.Keys(x.faults)) {
		f := x.faults[number]
		faults = append(faults, Fault{number, f.Hits(), f.text})
	}
	return faults
}

// Trace is what "trace on" began, nil if nothing was traced, and whether it
// still records.
func (x *Controller) Trace() (trace *emulator.Trace, recording bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.trace, x.tracing
}
