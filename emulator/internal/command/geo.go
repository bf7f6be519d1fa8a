package command

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
)

var geoCommands = map[string]Handler{
	"geoadd":               geoadd,
	"geodist":              geodist,
	"geohash":              geohash,
	"geopos":               geopos,
	"georadius":            func(c *Call) { c.geoSearch(geoRequest{radius: true, mayStore: true}) },
	"georadius_ro":         func(c *Call) { c.geoSearch(geoRequest{radius: true}) },
	"georadiusbymember":    func(c *Call) { c.geoSearch(geoRequest{radius: true, byMember: true, mayStore: true}) },
	"georadiusbymember_ro": func(c *Call) { c.geoSearch(geoRequest{radius: true, byMember: true}) },
	"geosearch":            func(c *Call) { c.geoSearch(geoRequest{}) },
	"geosearchstore":       func(c *Call) { c.geoSearch(geoRequest{mayStore: true}) },
}

// geoPointArg reads arguments i and i+1 as a longitude and a latitude.
func (c *Call) geoPointArg(i int) (p geoPoint, ok bool) {
	if p.lon, ok = c.floatArg(i); !ok {
		return p, false
	}
	if p.lat, ok = c.floatArg(i + 1); !ok {
		return p, false
	}
	if !longitudes.has(p.lon) || !latitudes.has(p.lat) {
		return p, c.fail("ERR invalid longitude,latitude pair " + formatFixed(p.lon, 6) + "," + formatFixed(p.lat, 6))
	}
	return p, true
}

// formatFixed prints f as C's %.<decimals>f does.
func formatFixed(f float64, decimals int) string {
	if s := strconv.FormatFloat(f, 'f', decimals, 64); !strings.HasSuffix(s, "Inf") {
		return s
	}
	return strings.TrimPrefix(strings.ToLower(fmt.Sprint(f)), "+")
}

// geoUnitArg reads argument i as a unit and returns its length in meters.
func (c *Call) geoUnitArg(i int) (meters float64, ok bool) {
	switch {
	case c.is(i, "m"):
		return 1, true
	case c.is(i, "km"):
		return 1000, true
	case c.is(i, "ft"):
		return 0.3048, true
	case c.is(i, "mi"):
		return 1609.34, true
	}
	return 0, c.fail("ERR unsupported unit provided. please use M, KM, FT, MI")
}

// geoadd turns itself into the ZADD it is.
func geoadd(c *Call) {
	var options keyspace.AddOptions
	countChanges := false
	i := 2
options:
	for ; i < len(c.Args); i++ {
		switch {
		case c.is(i, "nx"):
			options.NX = true
		case c.is(i, "xx"):
			options.XX = true
		case c.is(i, "ch"):
			countChanges = true
		default:
			break options
		}
	}
	if len(c.Args[i:])%3 != 0 || options.NX && options.XX {
		c.fail(errSyntax)
		return
	}
	zadd := append([][]byte{[]byte("zadd")}, c.Args[1:i]...)
	first := len(zadd)
	var scores []float64
	for ; i < len(c.Args); i += 3 {
		p, ok := c.geoPointArg(i)
		if !ok {
			return
		}
		bits := geoBits(p)
		scores = append(scores, float64(bits))
		zadd = append(zadd, strconv.AppendUint(nil, bits, 10), c.Args[i+2])
	}
	pairs := zadd[first:]
	if !c.checkAddOptions(options, len(pairs)) {
		return
	}
	before := c.Keyspace().Dirty
	c.addPairs(pairs, scores, options, countChanges)
	if c.Keyspace().Dirty != before {
		c.Propagate(zadd...)
	}
}

// position looks up where a member of zset, which may be nil, is.
func position(zset *keyspace.ZSet, member []byte) (p geoPoint, ok bool) {
	if zset == nil {
		return p, false
	}
	score, ok := zset.Score(member)
	if !ok {
		return p, false
	}
	return geoPosition(score), true
}

func geodist(c *Call) {
	unit := 1.0
	switch {
	case len(c.Args) == 5:
		var ok bool
		if unit, ok = c.geoUnitArg(4); !ok {
			return
		}
	case len(c.Args) > 5:
		c.fail(errSyntax)
		return
	}
	zset, ok := c.readZSet(c.Args[1])
	if !ok {
		return
	}
	from, ok1 := position(zset, c.Args[2])
	to, ok2 := position(zset, c.Args[3])
	if !ok1 || !ok2 {
		c.Reply.Null()
		return
	}
	c.replyDistance(geoDistance(from, to) / unit)
}

// replyDistance prints a distance with the four decimals it is good for. Since
// 7.2 Redis scales it first and rounds the product, which can end differently.
func (c *Call) replyDistance(distance float64) {
	if c.Version().AtLeast(7, 2) {
		const scale = 10000
		n := int64(math.RoundToEven(distance * scale))
		c.Reply.BulkString(fmt.Sprintf("%d.%04d", n/scale, n%scale))
		return
	}
	c.Reply.BulkString(formatFixed(distance, 4))
}

func geohash(c *Call) {
	zset, ok := c.readZSet(c.Args[1])
	if !ok {
		return
	}
	c.Reply.Array(len(c.Args) - 2)
	for _, member := range c.Args[2:] {
		if p, ok := position(zset, member); ok {
			c.Reply.BulkString(geohashString(p))
		} else {
			c.Reply.Null()
		}
	}
}

func geopos(c *Call) {
	zset, ok := c.readZSet(c.Args[1])
	if !ok {
		return
	}
	c.Reply.Array(len(c.Args) - 2)
	for _, member := range c.Args[2:] {
		if p, ok := position(zset, member); ok {
			c.replyPoint(p)
		} else {
			c.Reply.NullArray()
		}
	}
}

func (c *Call) replyPoint(p geoPoint) {
	c.Reply.Array(2)
	c.Reply.Decimal(formatCoordinate(p.lon))
	c.Reply.Decimal(formatCoordinate(p.lat))
}

// formatCoordinate prints up to 17 decimals.
func formatCoordinate(degrees float64) string {
	s := strings.TrimRight(formatFixed(degrees, 17), "0")
	if s = strings.TrimSuffix(s, "."); s == "-0" {
		return "0"
	}
	return s
}
