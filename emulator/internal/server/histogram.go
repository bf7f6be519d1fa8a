package server

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/resp"
)

// The range of a histogram in nanoseconds and its significant digits: those of
// Redis, which the values INFO prints depend on.
const (
	histogramLow    = 1
	histogramHigh   = 1_000_000_000
	histogramDigits = 2
	histogramFirst  = 1024 // LATENCY HISTOGRAM begins here and doubles
)

// record adds an execution to the command's histogram.
func (cs *commandStats) record(spent time.Duration) {
	if cs.histogram == nil {
		cs.histogram = hdrhistogram.New(histogramLow, histogramHigh, histogramDigits)
	}
	usec := spent.Microseconds() * 1000 // Redis measures in microseconds
	// Values within the range cannot fail.
	_ = cs.histogram.RecordValue(min(max(usec, histogramLow), histogramHigh))
}

// writeLatencyStats prints INFO's section of percentiles.
func (n *Node) writeLatencyStats(b *strings.Builder) {
	if !n.set.observing.histograms {
		return
	}
	percentiles := strings.Fields(n.config.String("latency-tracking-info-percentiles"))
	for _, spec := range n.table.Rows() {
		h := n.stats.perCommand[spec.ID].histogram
		if h == nil {
			continue
		}
		fmt.Fprintf(b, "latency_percentiles_usec_%s:", spec.Name)
		for i, text := range percentiles {
			p, err := strconv.ParseFloat(text, 64)
			if err != nil {
				continue // the parameter's parser has let numbers only pass
			}
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(b, "p%s=%.3f", text, float64(h.ValueAtPercentile(p))/1000)
		}
		b.WriteString("\r\n")
	}
}

// latencyHistogram answers LATENCY HISTOGRAM [command …].
func latencyHistogram(c *command.Call) {
	n := c.Client.(*session).node
	var shown []*command.Spec
	show := func(spec *command.Spec) {
		if n.stats.perCommand[spec.ID].histogram != nil {
			shown = append(shown, spec)
		}
	}
	if len(c.Args) == 2 {
		for _, spec := range c.Table.Rows() {
			show(spec)
		}
	}
	for _, name := range c.Args[2:] {
		spec := c.Table.LookupName(string(name))
		if spec == nil {
			continue
		}
		show(spec)
		for _, sub := range c.Table.Rows()[spec.ID+1:] {
			if sub.Parent != spec {
				break
			}
			show(sub)
		}
	}
	c.Reply.Map(len(shown))
	for _, spec := range shown {
		c.Reply.BulkString(spec.Name)
		writeHistogram(c.Reply, n.stats.perCommand[spec.ID].histogram)
	}
}

func writeHistogram(reply resp.Sink, h *hdrhistogram.Histogram) {
	reply.Map(2)
	reply.BulkString("calls")
	reply.Int(h.TotalCount())
	reply.BulkString("histogram_usec")
	bars := cumulative(h)
	reply.Map(len(bars))
	for _, bar := range bars {
		reply.Int(bar[0])
		reply.Int(bar[1])
	}
}

// cumulative counts the executions of up to 1, 2, 4, … microseconds, leaving
// out those counts that add nothing.
func cumulative(h *hdrhistogram.Histogram) (bars [][2]int64) {
	level, count, shown := int64(histogramFirst), int64(0), int64(0)
	add := func() {
		if count > shown {
			bars, shown = append(bars, [2]int64{lastEqual(level) / 1000, count}), count
		}
		level *= 2
	}
	for _, bar := range h.Distribution() {
		if bar.Count == 0 {
			continue
		}
		for bar.To > lastEqual(level) {
			add()
		}
		count += bar.Count
	}
	add()
	return bars
}

// lastEqual is the greatest value that a histogram does not tell from level, a
// power of two.
func lastEqual(level int64) int64 { return level + level/128 - 1 }
