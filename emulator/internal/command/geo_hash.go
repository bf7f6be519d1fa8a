package command

import "math"

// Positions are stored as scores of 52 bits: the longitude and the latitude, 26
// bits each as fractions of their ranges, interleaved. A prefix of those bits
// names a cell, a rectangle on the map, and the members in it lie in one range
// of scores.
//
// Products are converted to float64 before they are added to something, because
// Go may otherwise fuse the two steps on some machines and round only once.

// coordRange is what a coordinate may be, in degrees.
type coordRange struct{ min, max float64 }

func (r coordRange) has(degrees float64) bool { return degrees >= r.min && degrees <= r.max }

// The ranges of the positions that can be stored: those of EPSG:900913, which
// end before the poles.
var (
	longitudes = coordRange{-180, 180}
	latitudes  = coordRange{-85.05112878, 85.05112878}
)

// maxGeoSteps is the number of bits for each coordinate in a score.
const maxGeoSteps = 26

// geoPoint is a position in degrees.
type geoPoint struct{ lon, lat float64 }

// geoCell is the rectangle that 2·steps bits name; the zero value is no cell.
type geoCell struct {
	bits  uint64
	steps int
}

// cellOf is the cell with that many steps around p, within which both ranges
// are divided.
func cellOf(p geoPoint, lons, lats coordRange, steps int) geoCell {
	return geoCell{interleave(fixedPoint(p.lat, lats, steps), fixedPoint(p.lon, lons, steps)), steps}
}

func fixedPoint(degrees float64, r coordRange, steps int) uint32 {
	return uint32((degrees - r.min) / (r.max - r.min) * float64(uint64(1)<<steps))
}

// interleave puts the bits of even at the even and those of odd at the odd
// places.
func interleave(even, odd uint32) uint64 { return spread(even) | spread(odd)<<1 }

func spread(x uint32) uint64 {
	v := uint64(x)
	v = (v | v<<16) & 0x0000ffff0000ffff
	v = (v | v<<8) & 0x00ff00ff00ff00ff
	v = (v | v<<4) & 0x0f0f0f0f0f0f0f0f
	v = (v | v<<2) & 0x3333333333333333
	return (v | v<<1) & evenBits
}

// gather is the reverse of spread.
func gather(v uint64) uint32 {
	v &= evenBits
	v = (v | v>>1) & 0x3333333333333333
	v = (v | v>>2) & 0x0f0f0f0f0f0f0f0f
	v = (v | v>>4) & 0x00ff00ff00ff00ff
	v = (v | v>>8) & 0x0000ffff0000ffff
	return uint32(v | v>>16)
}

// The places of the bits of the latitude and the longitude.
const (
	evenBits uint64 = 0x5555555555555555
	oddBits  uint64 = 0xaaaaaaaaaaaaaaaa
)

// geoBits are the bits of the score of a position. At the eastern and the
// northern end there is one too many.
func geoBits(p geoPoint) uint64 {
	return cellOf(p, longitudes, latitudes, maxGeoSteps).bits
}

// geoPosition is the middle of the cell a score stands for. Any score will do:
// Redis looks at no sorted set's origin.
func geoPosition(score float64) geoPoint {
	lons, lats := geoCell{scoreBits(score), maxGeoSteps}.area()
	return geoPoint{
		lon: min(max((lons.min+lons.max)/2, longitudes.min), longitudes.max),
		lat: min(max((lats.min+lats.max)/2, latitudes.min), latitudes.max),
	}
}

// scoreBits converts a score as C does on x86-64, where Go makes no promise:
// negative ones wrap around, and what is out of range becomes one bit or none.
func scoreBits(score float64) uint64 {
	switch {
	case score >= 1<<64:
		return 0
	case score >= 1<<63:
		return uint64(score-1<<63) + 1<<63
	case score > -1<<63:
		return uint64(int64(score))
	}
	return 1 << 63
}

// area is the rectangle the cell covers.
func (c geoCell) area() (lons, lats coordRange) {
	return part(gather(c.bits>>1), c.steps, longitudes), part(gather(c.bits), c.steps, latitudes)
}

// part is number index of the 2^steps equal parts of r.
func part(index uint32, steps int, r coordRange) coordRange {
	parts, width := float64(uint64(1)<<steps), r.max-r.min
	return coordRange{
		min: r.min + float64(float64(index)/parts*width),
		max: r.min + float64(float64(index+1)/parts*width),
	}
}

// scores are the scores of the cell: from min on and less than max.
func (c geoCell) scores() (min, max float64) {
	shift := 2 * (maxGeoSteps - c.steps)
	return float64(c.bits << shift), float64((c.bits + 1) << shift)
}

// moved is the cell so many cells to the east and to the north; around the ends
// of the ranges it goes on at the other end.
func (c geoCell) moved(east, north int) geoCell {
	return geoCell{c.shift(oddBits, east) | c.shift(evenBits, north), c.steps}
}

// shift adds d, which is -1, 0 or 1, to the coordinate whose bits are at places,
// and returns it alone. The bits between carry from one place to the next.
func (c geoCell) shift(places uint64, d int) uint64 {
	others := ^places >> (64 - 2*c.steps)
	x := c.bits & places
	switch {
	case d > 0:
		x += others + 1
	case d < 0:
		x = (x | others) - (others + 1)
	default:
		return x
	}
	return x & (places >> (64 - 2*c.steps))
}

const geohashAlphabet = "0123456789bcdefghjkmnpqrstuvwxyz"

// geohashString is the standard geohash of a position, whose latitudes range to
// the poles. It has eleven characters for historical reasons; 52 bits leave
// nothing for the last.
func geohashString(p geoPoint) string {
	bits := cellOf(p, coordRange{-180, 180}, coordRange{-90, 90}, maxGeoSteps).bits
	var s [11]byte
	for i := range 10 {
		s[i] = geohashAlphabet[bits>>(52-5*(i+1))&31]
	}
	s[10] = geohashAlphabet[0]
	return string(s[:])
}

// earthRadius is in meters.
const earthRadius = 6372797.560856

// degree is in radians, rounded twice as in C.
const degree = float64(math.Pi) / 180

func radians(degrees float64) float64 { return degrees * degree }

func degrees(radians float64) float64 { return radians / degree }

// geoDistance is the great-circle distance in meters, by the haversine formula.
func geoDistance(a, b geoPoint) float64 {
	v := sine((radians(b.lon) - radians(a.lon)) / 2)
	if v == 0 {
		return latitudeDistance(a.lat, b.lat)
	}
	lat1, lat2 := radians(a.lat), radians(b.lat)
	u := sine((lat2 - lat1) / 2)
	h := float64(u*u) + float64(cosine(lat1)*cosine(lat2)*v*v)
	return 2 * earthRadius * arcsine(math.Sqrt(h))
}

// latitudeDistance is the distance of two points on one meridian.
func latitudeDistance(lat1, lat2 float64) float64 {
	return earthRadius * math.Abs(radians(lat2)-radians(lat1))
}
