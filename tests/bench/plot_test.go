package bench

import (
	"fmt"
	"math"
	"strings"
)

// Places in a plot, in pixels.
const (
	plotWidth, plotHeight = 420, 300
	plotLeft, plotRight   = 62, 400
	plotTop, plotBottom   = 40, 250
)

// strokes are the colours of the servers.
var strokes = []struct{ server, label, colour string }{
	{ours, "fakecluster", "#1f6feb"},
	{real3, "redis-server", "#cf222e"},
	{mini, "miniredis", "#8c959f"},
}

// svg draws a curve with both axes logarithmic, where O(N) is a diagonal and
// O(1) is level.
func (c curve) svg() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">`+"\n", plotWidth, plotHeight)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", plotWidth, plotHeight)
	fmt.Fprintf(&b, `<text x="%d" y="18" font-size="13" font-weight="bold">%s</text>`+"\n", plotLeft, c.Command)
	fmt.Fprintf(&b, `<text x="%d" y="33" fill="#57606a">%s; %s by size</text>`+"\n", plotLeft, c.Complexity, c.Unit)
	x := axis{math.Log10(c.Sizes[0]), math.Log10(c.Sizes[len(c.Sizes)-1]), plotLeft, plotRight}
	y := c.vertical()
	for power := math.Ceil(x.low); power <= x.high+1e-9; power++ {
		at := x.place(power)
		fmt.Fprintf(&b, `<path d="M%.1f %dV%d" stroke="#d8dee4"/><text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n",
			at, plotTop, plotBottom, at, plotBottom+16, thousands(math.Pow(10, power)))
	}
	for power := y.low; power <= y.high; power++ {
		at := y.place(power)
		fmt.Fprintf(&b, `<path d="M%d %.1fH%d" stroke="#d8dee4"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n",
			plotLeft, at, plotRight, plotLeft-6, at+4, tick(power))
	}
	for i, stroke := range strokes {
		times := c.Times[stroke.server]
		if len(times) == 0 {
			continue
		}
		var points []string
		for j, t := range times {
			points = append(points, fmt.Sprintf("%.1f,%.1f", x.place(math.Log10(c.Sizes[j])), y.place(math.Log10(t))))
		}
		fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.Join(points, " "), stroke.colour)
		fmt.Fprintf(&b, `<text x="%d" y="%d" fill="%s">%s</text>`+"\n", plotLeft+i*115, plotHeight-12, stroke.colour, stroke.label)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// axis maps powers of ten to pixels.
type axis struct {
	low, high float64
	from, to  float64
}

func (a axis) place(power float64) float64 {
	return a.from + (power-a.low)/(a.high-a.low)*(a.to-a.from)
}

// vertical is the axis of the times: whole powers of ten around them all.
func (c curve) vertical() axis {
	low, high := math.Inf(1), math.Inf(-1)
	for _, times := range c.Times {
		for _, t := range times {
			low, high = min(low, math.Log10(t)), max(high, math.Log10(t))
		}
	}
	low = math.Floor(low)
	return axis{low, max(math.Ceil(high), low+1), plotBottom, plotTop}
}

// tick prints a power of ten.
func tick(power float64) string {
	if power >= 3 {
		return thousands(math.Pow(10, power))
	}
	return fmt.Sprintf("%g", math.Pow(10, power))
}
