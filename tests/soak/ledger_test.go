package soak

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
)

// ledger holds what became of all that disturbers did. A disturbance that is
// always refused disturbs nothing, and all that is proved under it is not.
type ledger struct {
	verbs map[string]*outcomes
	hits  int // commands struck by faults
}

// outcomes are what became of a verb that was said.
type outcomes struct {
	done, refused int
	refusal       error // the last
}

func (l *ledger) note(verb string, err error) {
	o := l.verbs[verb]
	if o == nil {
		o = new(outcomes)
		l.verbs[verb] = o
	}
	if err == nil {
		o.done++
		return
	}
	o.refused++
	o.refusal = err
}

// enough is how often something must have been tried before its never being done
// tells of a fault: each verb makes sense in a third of the states, or in more, so
// that by chance it happens once in 10^10.
const enough = 60

// judge fails the test if a verb, in one of its forms or in all of them, disturbs
// nothing, or faults strike nobody.
func (l *ledger) judge(t testing.TB) {
	all := maps.Clone(l.verbs)
	for form, o := range l.verbs {
		word, _, _ := strings.Cut(form, " ")
		sum := outcomes{refusal: o.refusal}
		if before := all[word]; before != nil {
			sum.done, sum.refused = before.done, before.refused
		}
		sum.done += o.done
		sum.refused += o.refused
		if word != form {
			all[word] = &sum
		}
	}
	for verb, o := range all {
		if o.done == 0 && o.refused >= enough {
			t.Errorf("%q was never done and refused %d times, at last: %v", verb, o.refused, o.refusal)
		}
	}
	if faults := all["fault"]; faults != nil && faults.done >= enough && l.hits == 0 {
		t.Errorf("none of %d faults struck a command", faults.done)
	}
}

// table shows what became of each verb, those refused the most first.
func (l *ledger) table() string {
	verbs := slices.SortedFunc(maps.Keys(l.verbs), func(a, b string) int {
		return cmp.Or(l.verbs[b].refused-l.verbs[a].refused, cmp.Compare(a, b))
	})
	var b strings.Builder
	var done, refused int
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, verb := range verbs {
		o := l.verbs[verb]
		done += o.done
		refused += o.refused
		last := ""
		if o.refusal != nil {
			last = o.refusal.Error()
		}
		fmt.Fprintf(w, "%d\t%d\t%s\t%s\n", o.done, o.refused, verb, last)
	}
	fmt.Fprintf(w, "%d\t%d\ttogether\t\n", done, refused)
	w.Flush()
	return b.String()
}

// The judgement itself must be able to say no.
func TestLedgerSeesWhatIsNeverDone(t *testing.T) {
	broken := fmt.Errorf("broken")
	for name, c := range map[string]struct {
		note   func(l *ledger)
		faults bool
	}{
		"a form never done": {func(l *ledger) {
			for range enough {
				l.note("failover %s", broken)
				l.note("failover %s force", nil)
			}
		}, true},
		"a verb never done": {func(l *ledger) {
			for range enough / 2 {
				l.note("failover %s", broken)
				l.note("failover %s force", broken)
			}
		}, true},
		"a verb once done": {func(l *ledger) {
			for range enough {
				l.note("failover %s", broken)
			}
			l.note("failover %s", nil)
		}, false},
		"faults that strike nobody": {func(l *ledger) {
			for range enough {
				l.note("fault on times 3 refuse", nil)
			}
		}, true},
		"faults that strike": {func(l *ledger) {
			for range enough {
				l.note("fault on times 3 refuse", nil)
			}
			l.hits = 1
		}, false},
	} {
		l := &ledger{verbs: map[string]*outcomes{}}
		c.note(l)
		seen := &recorded{TB: t}
		l.judge(seen)
		if seen.failed != c.faults {
			t.Errorf("%s: judged a fault: %v", name, seen.failed)
		}
	}
}

// recorded is a test that only notes that it failed.
type recorded struct {
	testing.TB
	failed bool
}

func (r *recorded) Errorf(string, ...any) { r.failed = true }
