package server

import (
	"fmt"
	"strings"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
)

// latencyGraph draws the samples of an event as columns of characters.
func latencyGraph(c *command.Call) {
	n := c.Client.(*session).node
	event := string(c.Args[2])
	series := n.latency.events[event]
	if series == nil {
		c.Reply.Error("ERR No samples available for event '" + event + "'")
		return
	}
	low, high := series.samples[0].ms, series.samples[0].ms
	columns := make([]string, len(series.samples))
	for i, sample := range series.samples {
		low, high = min(low, sample.ms), max(high, sample.ms)
		columns[i] = age(n.now.Unix() - sample.second)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s - high %d ms, low %d ms (all time high %d ms)\n", event, high, low, series.max)
	b.WriteString(strings.Repeat("-", 80) + "\n")
	drawColumns(&b, series.samples, columns, low, high)
	c.Reply.Verbatim("txt", b.String())
}

// age is a time span in its greatest unit.
func age(seconds int64) string {
	switch {
	case seconds < 60:
		return fmt.Sprintf("%ds", seconds)
	case seconds < 3600:
		return fmt.Sprintf("%dm", seconds/60)
	case seconds < 3600*24:
		return fmt.Sprintf("%dh", seconds/3600)
	}
	return fmt.Sprintf("%dd", seconds/(3600*24))
}

// Each row of a graph tells as many levels apart as it has characters.
const (
	graphLevels = "_-`"
	graphFill   = "_o#"
	graphRows   = 4
	graphWidth  = 80
)

// drawColumns draws graphs of up to graphWidth columns below each other, every
// column with its label written downwards.
func drawColumns(b *strings.Builder, samples []latencySample, labels []string, low, high int64) {
	for len(samples) > 0 {
		width := min(graphWidth, len(samples))
		longest := 0
		for _, label := range labels[:width] {
			longest = max(longest, len(label))
		}
		for row := range graphRows {
			drawRow(b, samples[:width], row, low, high)
		}
		b.WriteString(strings.Repeat(" ", width) + "\n")
		for i := range longest {
			for _, label := range labels[:width] {
				if i < len(label) {
					b.WriteByte(label[i])
				} else {
					b.WriteByte(' ')
				}
			}
			b.WriteString("\n")
		}
		samples, labels = samples[width:], labels[width:]
	}
}

func drawRow(b *strings.Builder, samples []latencySample, row int, low, high int64) {
	steps := len(graphFill) * graphRows
	for _, sample := range samples {
		span := max(high-low, 1)
		step := int(float64(sample.ms-low) * float64(steps-1) / float64(span))
		at := step - (graphRows-row-1)*len(graphFill)
		switch {
		case at >= 0 && at < len(graphFill):
			b.WriteByte(graphFill[at])
		case at >= len(graphFill):
			b.WriteByte('|')
		default:
			b.WriteByte(' ')
		}
	}
	b.WriteString("\n")
}

// What LATENCY DOCTOR may advise.
const (
	adviceEnableSlowlog  = "- There are latency issues with potentially slow commands you are using. Try to enable the Slow Log Redis feature using the command 'CONFIG SET slowlog-log-slower-than %d'. If the Slow log is disabled Redis is not able to log slow commands execution for you.\n"
	adviceTuneSlowlog    = "- Your current Slow Log configuration only logs events that are slower than your configured latency monitor threshold. Please use 'CONFIG SET slowlog-log-slower-than %d'.\n"
	adviceInspectSlowlog = "- Check your Slow Log to understand what are the commands you are running which are too slow to execute. Please check https://redis.io/commands/slowlog for more information.\n"
	adviceScheduler      = "- The system is slow to execute Redis code paths not containing system calls. This usually means the system does not provide Redis CPU time to run for long periods. You should try to:\n" +
		"  1) Lower the system load.\n" +
		"  2) Use a computer / VM just for Redis if you are running other software in the same system.\n" +
		"  3) Check if you have a \"noisy neighbour\" problem.\n" +
		"  4) Check with 'redis-cli --intrinsic-latency 100' what is the intrinsic latency in your system.\n" +
		"  5) Check if the problem is allocator-related by recompiling Redis with MALLOC=libc, if you are using Jemalloc. However this may create fragmentation problems.\n"
	adviceLargeObjects = "- Deleting, expiring or evicting (because of maxmemory policy) large objects is a blocking operation. If you have very large objects that are often deleted, expired, or evicted, try to fragment those objects into multiple smaller objects.\n"
	adviceEviction     = "- Sudden changes to the 'maxmemory' setting via 'CONFIG SET', or allocation of large objects via sets or sorted sets intersections, STORE option of SORT, Redis Cluster large keys migrations (RESTORE command), may create sudden memory pressure forcing the server to block trying to evict keys. \n"
	adviceHz           = "- In order to make the Redis keys expiring process more incremental, try to set the 'hz' configuration parameter to 100 using 'CONFIG SET hz 100'.\n"
)

func latencyDoctor(c *command.Call) {
	c.Reply.Verbatim("txt", c.Client.(*session).node.latencyReport())
}

func (n *Node) latencyReport() string {
	threshold := n.set.observing.spikeThreshold
	if len(n.latency.events) == 0 {
		if threshold == 0 {
			return "I'm sorry, Dave, I can't do that. Latency monitoring is disabled in this Redis instance. You may use \"CONFIG SET latency-monitor-threshold <milliseconds>.\" in order to enable it. If we weren't in a deep space mission I'd suggest to take a look at https://redis.io/topics/latency-monitor.\n"
		}
		return "Dave, no latency spike was observed during the lifetime of this Redis instance, not in the slightest bit. I honestly think you ought to sit down calmly, take a stress pill, and think things over.\n"
	}
	var b strings.Builder
	b.WriteString("Dave, I have observed latency spikes in this Redis instance. You don't mind talking about it, do you Dave?\n\n")
	for i, name := range n.latency.names() {
		n.latency.events[name].describe(&b, i+1, name, n.now)
	}
	advice := n.latencyAdvice()
	if advice == "" {
		b.WriteString("\nWhile there are latency events logged, I'm not able to suggest any easy fix. Please use the Redis community to get some help, providing this report in your help request.\n")
		return b.String()
	}
	b.WriteString("\nI have a few advices for you:\n\n" + advice)
	return b.String()
}

// describe prints an event's statistics.
func (l *latencySeries) describe(b *strings.Builder, number int, event string, now time.Time) {
	var sum, deviation int64
	for _, sample := range l.samples {
		sum += sample.ms
	}
	count := int64(len(l.samples))
	average := sum / count
	for _, sample := range l.samples {
		deviation += max(average-sample.ms, sample.ms-average)
	}
	period := max(now.Unix()-l.samples[0].second, 1)
	fmt.Fprintf(b, "%d. %s: %d latency spikes (average %dms, mean deviation %dms, period %.2f sec). Worst all time event %dms.\n",
		number, event, count, average, deviation/count, float64(period)/float64(count), l.max)
}

// latencyAdvice is what to do about the events recorded, "" if nothing comes
// to mind.
func (n *Node) latencyAdvice() string {
	o := &n.set.observing
	has := func(event string) bool { return n.latency.events[event] != nil }
	var b strings.Builder
	if has("command") {
		if o.slowerThan < 0 || o.slowlogLength == 0 {
			fmt.Fprintf(&b, adviceEnableSlowlog, o.spikeThreshold.Microseconds())
		} else if o.slowerThan.Milliseconds() > o.spikeThreshold.Milliseconds() {
			fmt.Fprintf(&b, adviceTuneSlowlog, o.spikeThreshold.Microseconds())
		}
		b.WriteString(adviceInspectSlowlog)
	}
	if has("fast-command") {
		b.WriteString(adviceScheduler)
	}
	if has("expire-cycle") {
		b.WriteString(adviceHz)
	}
	if has("command") || has("expire-cycle") || has("eviction-del") || has("eviction-cycle") {
		b.WriteString(adviceLargeObjects)
	}
	if has("eviction-cycle") {
		b.WriteString(adviceEviction)
	}
	return b.String()
}
