package survey

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Codes are the errors of a cluster that are worth a look while they happen.
var Codes = []string{"MOVED", "ASK", "TRYAGAIN", "CROSSSLOT", "CLUSTERDOWN"}

// Rates are what happened per second between two surveys.
type Rates struct {
	Commands float64
	Errors   map[string]float64 // by code
}

// RatesSince compares with an earlier survey. Nodes that have been started
// since count from then.
func (s *Survey) RatesSince(earlier *Survey) Rates {
	r := Rates{Errors: map[string]float64{}}
	seconds := s.At.Sub(earlier.At).Seconds()
	if seconds <= 0 {
		return r
	}
	before := map[string]Node{}
	for _, n := range earlier.Nodes {
		before[n.Addr] = n
	}
	grown := func(now, then int64) float64 {
		if now < then {
			then = 0
		}
		return float64(now-then) / seconds
	}
	for _, n := range s.Nodes {
		old := before[n.Addr]
		r.Commands += grown(n.Commands, old.Commands)
		for code, total := range n.Errors {
			r.Errors[code] += grown(total, old.Errors[code])
		}
	}
	return r
}

// String is the rates that are not 0, commands always.
func (r Rates) String() string {
	text := fmt.Sprintf("%.0f commands/s", r.Commands)
	codes := append(slices.Clone(Codes), slices.Sorted(maps.Keys(r.Errors))...)
	shown := map[string]bool{}
	for _, code := range codes {
		if rate := r.Errors[code]; rate > 0 && !shown[code] {
			text += fmt.Sprintf(", %.1f %s/s", rate, code)
		}
		shown[code] = true
	}
	return text
}

// EventsSince tells what became different since an earlier survey, one sentence
// each.
func (s *Survey) EventsSince(earlier *Survey) []string {
	var events []string
	if s.State != earlier.State {
		events = append(events, "the cluster's state is "+s.State)
	}
	before := map[string]Node{}
	for _, n := range earlier.Nodes {
		before[n.ID] = n
	}
	for _, n := range s.Nodes {
		label := cmp.Or(n.Name, n.Addr)
		old, known := before[n.ID]
		delete(before, n.ID)
		if !known {
			events = append(events, label+" is new")
			continue
		}
		if n.State != old.State {
			events = append(events, label+" is "+n.State)
		}
		switch {
		case n.Master == old.Master:
		case n.Replica():
			events = append(events, fmt.Sprintf("%s is a replica of %s", label, s.Label(n.Master)))
		default:
			events = append(events, fmt.Sprintf("%s is a master, epoch %d", label, n.Epoch))
		}
		if now, then := n.Ranges(), old.Ranges(); now != then && !n.Replica() {
			events = append(events, fmt.Sprintf("%s owns %s", label, now))
		}
		if !slices.Equal(n.Open, old.Open) {
			open := make([]string, len(n.Open))
			for i, o := range n.Open {
				open[i] = s.openLabel(o)
			}
			events = append(events, label+" has open slots: "+cmp.Or(strings.Join(open, ", "), "none"))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(before)) {
		events = append(events, earlier.Label(id)+" is gone")
	}
	return events
}
