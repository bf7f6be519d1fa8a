package server

import (
	"maps"
	"slices"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
)

// latency is what the latency monitor has recorded, by event.
type latency struct {
	events map[string]*latencySeries
}

// latencySeries are the last spikes of one event, the oldest first, at most one
// a second.
type latencySeries struct {
	samples []latencySample
	max     int64 // ms, of all times
}

type latencySample struct {
	second int64
	ms     int64
}

const latencySamples = 160

var latencyCommands = map[string]command.Handler{
	"latency|latest":    latencyLatest,
	"latency|history":   latencyHistory,
	"latency|reset":     latencyReset,
	"latency|graph":     latencyGraph,
	"latency|doctor":    latencyDoctor,
	"latency|histogram": latencyHistogram,
	"latency|help":      help,
}

// spike records that an event took long.
func (l *latency) spike(event string, spent time.Duration, now time.Time) {
	series := l.events[event]
	if series == nil {
		if l.events == nil {
			l.events = map[string]*latencySeries{}
		}
		series = &latencySeries{}
		l.events[event] = series
	}
	ms := spent.Milliseconds()
	series.max = max(series.max, ms)
	if last := len(series.samples) - 1; last >= 0 && series.samples[last].second == now.Unix() {
		series.samples[last].ms = max(series.samples[last].ms, ms)
		return
	}
	series.samples = append(series.samples, latencySample{now.Unix(), ms})
	if len(series.samples) > latencySamples {
		series.samples = series.samples[1:]
	}
}

func (l *latency) names() []string { return slices.Sorted(maps.Keys(l.events)) }

func latencyLatest(c *command.Call) {
	l := &c.Client.(*session).node.latency
	c.Reply.Array(len(l.events))
	for _, name := range l.names() {
		series := l.events[name]
		last := series.samples[len(series.samples)-1]
		c.Reply.Array(4)
		c.Reply.BulkString(name)
		c.Reply.Int(last.second)
		c.Reply.Int(last.ms)
		c.Reply.Int(series.max)
	}
}

func latencyHistory(c *command.Call) {
	series := c.Client.(*session).node.latency.events[string(c.Args[2])]
	if series == nil {
		c.Reply.Array(0)
		return
	}
	c.Reply.Array(len(series.samples))
	for _, sample := range series.samples {
		c.Reply.Array(2)
		c.Reply.Int(sample.second)
		c.Reply.Int(sample.ms)
	}
}

func latencyReset(c *command.Call) {
	l := &c.Client.(*session).node.latency
	if len(c.Args) == 2 {
		c.Reply.Int(int64(len(l.events)))
		l.events = nil
		return
	}
	reset := 0
	for _, name := range c.Args[2:] {
		if l.events[string(name)] != nil {
			delete(l.events, string(name))
			reset++
		}
	}
	c.Reply.Int(int64(reset))
}
