package server

import (
	"math"
	"math/rand/v2"
	"strings"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
)

// lolwut answers with the version, below a picture where LOLWUT VERSION asks
// for one of the two that Redis still draws.
func lolwut(c *command.Call) {
	rng := c.Client.(*session).node.rand
	end := "Redis ver. " + c.Version().String() + "\n"
	args, picture := c.Args[1:], int64(0)
	if len(args) >= 2 && is(args[0], "version") {
		var ok bool
		if picture, ok = number.ParseInt(args[1]); !ok {
			c.Reply.Error(errNotInteger)
			return
		}
		args = args[2:]
	}
	switch picture {
	case 5:
		size, ok := sizes(c, args, []int64{66, 8, 12}, []int64{1000, 200, 200})
		if ok {
			c.Reply.Verbatim("txt", schotter(rng, size[0], size[1], size[2])+
				"\nGeorg Nees - schotter, plotter on paper, 1968. "+end)
		}
	case 6:
		size, ok := sizes(c, args, []int64{80, 20}, []int64{1000, 1000})
		if ok {
			c.Reply.Verbatim("txt", skyline(rng, size[0], size[1])+
				"Dedicated to the 8 bit game developers of past and present.\n"+
				"Original 8 bit image from Plaguemon by hikikomori. "+end)
		}
	default:
		c.Reply.Verbatim("txt", end)
	}
}

// sizes reads the measures of a picture, at least 1 and at most most.
func sizes(c *command.Call, args [][]byte, initial, most []int64) (size []int, ok bool) {
	for i := range initial {
		n := initial[i]
		if i < len(args) {
			if n, ok = number.ParseInt(args[i]); !ok {
				c.Reply.Error(errNotInteger)
				return nil, false
			}
		}
		size = append(size, int(min(max(n, 1), most[i])))
	}
	return size, true
}

// canvas is a picture of dots.
type canvas struct {
	width, height int
	dots          []byte
}

func newCanvas(width, height int) *canvas {
	return &canvas{width, height, make([]byte, width*height)}
}

func (p *canvas) set(x, y int, color byte) {
	if x >= 0 && x < p.width && y >= 0 && y < p.height {
		p.dots[y*p.width+x] = color
	}
}

func (p *canvas) at(x, y int) byte {
	if x < 0 || x >= p.width || y < 0 || y >= p.height {
		return 0
	}
	return p.dots[y*p.width+x]
}

// line draws from one point to another (Bresenham's algorithm).
func (p *canvas) line(x, y, toX, toY int) {
	dx, dy := abs(toX-x), -abs(toY-y)
	stepX, stepY := sign(toX-x), sign(toY-y)
	for slack := dx + dy; ; {
		p.set(x, y, 1)
		if x == toX && y == toY {
			return
		}
		twice := 2 * slack
		if twice >= dy {
			slack, x = slack+dy, x+stepX
		}
		if twice <= dx {
			slack, y = slack+dx, y+stepY
		}
	}
}

func abs(n int) int { return max(n, -n) }

func sign(n int) int {
	switch {
	case n > 0:
		return 1
	case n < 0:
		return -1
	}
	return 0
}

// schotter is Georg Nees' plot: rows of squares that lose their order downwards.
// Columns are characters, each two dots wide and four high.
func schotter(rng *rand.Rand, columns, perRow, rows int) string {
	width := columns * 2
	padding := 0
	if width > 4 {
		padding = 2
	}
	side := float64(width-padding*2) / float64(perRow)
	p := newCanvas(width, int(side*float64(rows))+padding*2)
	for y := range rows {
		for x := range perRow {
			centerX := int(float64(x)*side + side/2 + float64(padding))
			centerY := int(float64(y)*side + side/2 + float64(padding))
			angle := 0.0
			if y > 1 {
				disorder := func() float64 {
					r := rng.Float64() / float64(rows) * float64(y)
					if rng.IntN(2) == 0 {
						return -r
					}
					return r
				}
				angle = disorder()
				centerX += int(disorder() * side / 3)
				centerY += int(disorder() * side / 3)
			}
			p.square(centerX, centerY, side, angle)
		}
	}
	return p.braille()
}

func (p *canvas) square(x, y int, side, angle float64) {
	radius := math.Round(side / math.Sqrt2)
	corner := func(i int) (int, int) {
		a := math.Pi/4 + angle + float64(i)*math.Pi/2
		return int(math.Round(math.Sin(a)*radius)) + x, int(math.Round(math.Cos(a)*radius)) + y
	}
	for i := range 4 {
		fromX, fromY := corner(i)
		toX, toY := corner(i + 1)
		p.line(fromX, fromY, toX, toY)
	}
}

// braille prints 2×4 dots as one character of Unicode's braille patterns.
func (p *canvas) braille() string {
	bits := [4][2]rune{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}
	var b strings.Builder
	for y := 0; y < p.height; y += 4 {
		for x := 0; x < p.width; x += 2 {
			char := rune(0x2800)
			for dy := range 4 {
				for dx := range 2 {
					if p.at(x+dx, y+dy) != 0 {
						char |= bits[dy][dx]
					}
				}
			}
			b.WriteRune(char)
		}
		if y+4 < p.height {
			b.WriteByte('\n')
		}
	}
	return b.String() + "\n"
}

// The grays of a terminal, dark to light.
var grays = [4]string{"0;30;40m", "0;90;100m", "0;37;47m", "0;97;107m"}

// skyline is a city at night: houses in two ranks, the nearer ones darker and
// with windows, under a light sky.
func skyline(rng *rand.Rand, width, height int) string {
	p := newCanvas(width, height)
	for i := range p.dots {
		p.dots[i] = 3
	}
	for _, color := range []byte{2, 1, 0} { // the farther, the lighter and higher
		for x := -rng.IntN(10); x < width; {
			houseWidth := 5 + rng.IntN(10)
			p.house(rng, x, houseWidth, height*(2+int(color))/6+rng.IntN(height/4+1), color)
			x += houseWidth + rng.IntN(4)
		}
	}
	var b strings.Builder
	for y := range height {
		for x := range width {
			b.WriteString("\x1b[" + grays[p.at(x, y)] + " \x1b[0m")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// house draws a house that stands on the lower edge.
func (p *canvas) house(rng *rand.Rand, x, width, height int, color byte) {
	for dy := range height {
		y := p.height - 1 - dy
		for dx := range width {
			shade := color
			if color < 2 && dx%3 == 1 && dy%2 == 1 && rng.IntN(2) == 0 {
				shade = color + 1
			}
			p.set(x+dx, y, shade)
		}
	}
}
