package server

import (
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
)

// observing is what is asked, with every command, by those who watch a node
// work: SLOWLOG, LATENCY and the histograms of INFO.
type observing struct {
	slowerThan     time.Duration // slowlog-log-slower-than; negative: nothing is logged
	slowlogLength  int
	spikeThreshold time.Duration // latency-monitor-threshold; 0: nothing is recorded
	histograms     bool          // latency-tracking
}

func (n *Node) observingSettings() observing {
	c := n.config
	return observing{
		slowerThan:     time.Duration(min(c.Int("slowlog-log-slower-than"), 1<<50)) * time.Microsecond,
		slowlogLength:  int(c.Int("slowlog-max-len")),
		spikeThreshold: time.Duration(min(c.Int("latency-monitor-threshold"), 1<<40)) * time.Millisecond,
		histograms:     c.Bool("latency-tracking"),
	}
}

// observe keeps the accounts of a command that took some time, and shows it to
// monitors.
func (n *Node) observe(c *command.Call, spent time.Duration, failed bool) {
	o := &n.set.observing
	s, ofClient := c.Client.(*session)
	blocked := c.Waiting() != nil || ofClient && s.waiting != nil && !c.Resumed
	cs := &n.stats.perCommand[c.Spec.ID]
	if !c.Resumed {
		cs.calls++
	}
	cs.spent += spent
	if failed {
		cs.failed++
	}
	if o.spikeThreshold != 0 && !(c.Resumed && blocked) {
		n.spiked(commandEvent(c), spent)
	}
	if !blocked {
		if o.slowerThan >= 0 && spent >= o.slowerThan && !c.Spec.Has(command.SkipSlowlog) {
			n.slowlog.push(n, c, spent)
		}
		if o.histograms {
			cs.record(spent)
		}
	}
	if n.options.Observe != nil {
		n.showObserver(c)
	}
	if len(n.monitors) > 0 && !c.Resumed {
		n.showMonitors(c)
	}
}

// spiked records an event for LATENCY if it took long enough.
func (n *Node) spiked(event string, spent time.Duration) {
	if threshold := n.set.observing.spikeThreshold; threshold != 0 && spent >= threshold {
		n.latency.spike(event, spent, n.now)
	}
}

// commandEvent is the name under which LATENCY keeps a slow command.
func commandEvent(c *command.Call) string {
	switch {
	case c.Resumed:
		return "command-unblocking"
	case c.Spec.Has(command.Fast):
		return "fast-command"
	}
	return "command"
}
