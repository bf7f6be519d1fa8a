package command

import (
	"math"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
)

// geoShape is a circle or, as box, a rectangle around a center.
type geoShape struct {
	center        geoPoint
	unit          float64 // meters; the lengths below are in units
	radius        float64
	box           bool
	width, height float64
}

// extent is the height and the width of half of the shape, in meters.
func (s *geoShape) extent() (height, width float64) {
	if s.box {
		return s.unit * (s.height / 2), s.unit * (s.width / 2)
	}
	return s.unit * s.radius, s.unit * s.radius
}

// bounds are the longitudes and latitudes the shape lies within.
func (s *geoShape) bounds() (lons, lats coordRange) {
	height, width := s.extent()
	dLat := degrees(height / earthRadius)
	edge := s.center.lat + dLat
	if s.center.lat < 0 {
		edge = s.center.lat - dLat // a degree of longitude is shortest there
	}
	dLon := degrees(width / earthRadius / cosine(radians(edge)))
	return coordRange{s.center.lon - dLon, s.center.lon + dLon}, coordRange{s.center.lat - dLat, s.center.lat + dLat}
}

// reach is the distance of the shape's farthest point in meters.
func (s *geoShape) reach() float64 {
	if s.box {
		w, h := s.width/2, s.height/2
		return math.Sqrt(float64(w*w)+float64(h*h)) * s.unit
	}
	return s.radius * s.unit
}

// has reports whether p is in the shape, and its distance from the center.
func (s *geoShape) has(p geoPoint) (distance float64, ok bool) {
	if !s.box {
		distance = geoDistance(s.center, p)
		return distance, distance <= s.radius*s.unit
	}
	if latitudeDistance(p.lat, s.center.lat) > s.height*s.unit/2 {
		return 0, false
	}
	if geoDistance(p, geoPoint{s.center.lon, p.lat}) > s.width*s.unit/2 {
		return 0, false
	}
	return geoDistance(s.center, p), true
}

// mercatorMax is half of the equator's length on the map, in meters.
const mercatorMax = 20037726.37

// stepsFor is how many steps give cells of which three by three cover a circle
// around a point of that latitude.
func stepsFor(radius, lat float64) int {
	if radius == 0 {
		return maxGeoSteps
	}
	steps := 1
	for radius < mercatorMax {
		radius *= 2
		steps++
	}
	steps -= 2 // so that the circle fits in most cases
	if math.Abs(lat) > 66 {
		steps--
		if math.Abs(lat) > 80 {
			steps-- // a cell is narrow near the poles
		}
	}
	return min(max(steps, 1), maxGeoSteps)
}

// cells are those that have to be searched: the center's and its neighbors, in
// the order in which Redis goes through them. Those that cannot contribute are
// the zero cell.
func (s *geoShape) cells() [9]geoCell {
	lons, lats := s.bounds()
	steps := stepsFor(s.reach(), s.center.lat)
	center := cellOf(s.center, longitudes, latitudes, steps)
	if steps > 1 && !center.surrounds(lons, lats) {
		steps--
		center = cellOf(s.center, longitudes, latitudes, steps)
	}
	moves := [9]struct{ east, north int }{
		{0, 0}, {0, 1}, {0, -1}, {1, 0}, {-1, 0}, {1, 1}, {-1, 1}, {1, -1}, {-1, -1},
	}
	cellLons, cellLats := center.area()
	var cells [9]geoCell
	for i, move := range moves {
		if steps >= 2 && (move.north < 0 && cellLats.min < lats.min || move.north > 0 && cellLats.max > lats.max ||
			move.east < 0 && cellLons.min < lons.min || move.east > 0 && cellLons.max > lons.max) {
			continue
		}
		cells[i] = center.moved(move.east, move.north)
	}
	return cells
}

// surrounds reports whether the cell's neighbors reach as far as the bounds.
func (c geoCell) surrounds(lons, lats coordRange) bool {
	_, north := c.moved(0, 1).area()
	_, south := c.moved(0, -1).area()
	east, _ := c.moved(1, 0).area()
	west, _ := c.moved(-1, 0).area()
	return north.max >= lats.max && south.min <= lats.min && east.max >= lons.max && west.min <= lons.min
}

// search returns up to limit members in the shape, cell after cell.
func (s *geoShape) search(zset *keyspace.ZSet, limit int64) []geoMatch {
	var matches []geoMatch
	last := 0
	cells := s.cells()
	for i, cell := range cells {
		if cell == (geoCell{}) {
			continue
		}
		// Around the whole Earth neighbors are one and the same cell. Redis
		// compares with the one before only, and with the first one never.
		if last != 0 && cell == cells[last] {
			continue
		}
		if int64(len(matches)) >= limit {
			break
		}
		matches = s.searchCell(matches, zset, cell, limit)
		last = i
	}
	return matches
}

func (s *geoShape) searchCell(matches []geoMatch, zset *keyspace.ZSet, cell geoCell, limit int64) []geoMatch {
	low, high := cell.scores()
	start, n := zset.ScoreSpan(keyspace.ScoreRange{Min: low, Max: high, MaxEx: true})
	for member, score := range zset.Range(start, n, false) {
		at := geoPosition(score)
		distance, ok := s.has(at)
		if !ok {
			continue
		}
		matches = append(matches, geoMatch{string(member), score, distance, at})
		if int64(len(matches)) >= limit {
			break
		}
	}
	return matches
}
