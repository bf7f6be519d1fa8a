package command

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestGeo(t *testing.T) {
	diff(t, `
		GEOADD g 13.361389 38.115556 Palermo 15.087269 37.502669 Catania
		GEOADD g CH 13.361389 38.115556 Palermo 15 37.5 Catania
		GEOADD g NX 1 1 Palermo 2 2 New
		GEOADD g XX CH 1 1 Palermo 2 2 Other
		GEOADD g XX 1 1
		GEOADD g NX XX 1 1 a
		GEOADD g XX NX
		GEOADD g CH CH CH
		GEOADD g 1 2
		GEOADD g x 1 a
		GEOADD g 1 x a
		GEOADD g 181 0 a
		GEOADD g 0 86 a
		GEOADD g -181.5 -86.25 a
		GEOADD g inf 0 a
		GEOADD g nan 0 a
		GEOADD g 1 1 ok 200 0 bad
		GEOADD g 180 85.05112878 corner -180 -85.05112878 origin 180 -85.05112878 c3 -180 85.05112878 c4 0 0 zero
		ZRANGE g 0 -1 WITHSCORES
		GEOADD new XX 1 1 a
		EXISTS new
		SET s v
		GEOADD s 1 1 a
		GEOADD s 1 x a
		GEOPOS g Palermo Catania missing corner origin c3 c4 zero
		GEOPOS missing a b
		GEOPOS s a
		GEOHASH g Palermo Catania missing corner origin c3 c4 zero
		GEOHASH missing a b
		GEOHASH s a
		GEODIST g Palermo Catania
		GEODIST g Palermo Catania m
		GEODIST g Palermo Catania KM
		GEODIST g Palermo Catania mi
		GEODIST g Palermo Catania ft
		GEODIST g Palermo Catania x
		GEODIST g Palermo Catania km x
		GEODIST g Palermo Palermo
		GEODIST g Palermo missing
		GEODIST missing a b
		GEODIST missing a b x
		GEODIST s a b
		GEODIST g corner origin
		ZADD odd 1.5 a -1 b 1e300 c -inf d inf e 4503599627370495 f 4503599627370496 g 18446744073709551615 h 9223372036854775808 i -9223372036854775809 j
		GEOPOS odd a b c d e f g h i j
		GEOHASH odd a b c d e f g h i j
		GEODIST odd a f
		GEOPOS g
		GEOHASH g
	`)
}

func TestGeoSearchSyntax(t *testing.T) {
	diff(t, `
		SET s v
		GEOADD g 13.361389 38.115556 Palermo 15.087269 37.502669 Catania 13.583333 37.316667 Agrigento 12.758489 38.788135 edge1 17.24151 38.788135 edge2
		GEORADIUS g 15 37 200 km
		GEORADIUS g 15 37 200 km WITHDIST
		GEORADIUS g 15 37 200 km WITHCOORD WITHHASH WITHDIST
		GEORADIUS g 15 37 200 km ASC
		GEORADIUS g 15 37 200 km DESC WITHDIST
		GEORADIUS g 15 37 200 km COUNT 1
		GEORADIUS g 15 37 200 km COUNT 1 DESC
		GEORADIUS g 15 37 200 km COUNT 1 ANY
		GEORADIUS g 15 37 200 km COUNT 2 ANY ASC
		GEORADIUS g 15 37 200 km ANY
		GEORADIUS g 15 37 200 km COUNT 0
		GEORADIUS g 15 37 200 km COUNT -1
		GEORADIUS g 15 37 200 km COUNT x
		GEORADIUS g 15 37 200 km COUNT
		GEORADIUS g 15 37 200 km FOO
		GEORADIUS g 15 37 -200 km
		GEORADIUS g 15 37 x km
		GEORADIUS g 15 37 200 x
		GEORADIUS g 200 37 200 km
		GEORADIUS g 15 x 200 km
		GEORADIUS g 15 37 0 km
		GEORADIUS missing 15 37 200 km
		GEORADIUS missing 15 x 200 km
		GEORADIUS missing 15 37 200 km FOO
		GEORADIUS s 15 37 200 km
		GEORADIUS g 15 37 200 km STORE dst
		ZRANGE dst 0 -1 WITHSCORES
		GEORADIUS g 15 37 200 km STOREDIST dst
		ZRANGE dst 0 -1 WITHSCORES
		GEORADIUS g 15 37 200 km STOREDIST dst STORE dst2
		GEORADIUS g 15 37 200 km STORE dst STOREDIST dst2
		GEORADIUS g 15 37 200 km STORE dst WITHDIST
		GEORADIUS g 15 37 200 km WITHHASH STORE dst
		GEORADIUS g 15 37 200 km STORE
		GEORADIUS g 15 37 200 km STORE dst COUNT 1
		GEORADIUS g -15 -37 200 km STORE dst
		EXISTS dst
		GEORADIUS missing 15 37 200 km STORE dst2
		GEORADIUS missing 15 37 200 km STORE dst2
		GEORADIUS_RO g 15 37 200 km
		GEORADIUS_RO g 15 37 200 km STORE dst
		GEORADIUS_RO g 15 37 200 km STOREDIST dst
		GEORADIUSBYMEMBER g Agrigento 100 km
		GEORADIUSBYMEMBER g Agrigento 100 km WITHDIST WITHCOORD
		GEORADIUSBYMEMBER g missing 100 km
		GEORADIUSBYMEMBER g Agrigento x km
		GEORADIUSBYMEMBER g Agrigento 100 x
		GEORADIUSBYMEMBER missing Agrigento 100 km
		GEORADIUSBYMEMBER missing Agrigento x y
		GEORADIUSBYMEMBER missing Agrigento 100 km STORE dst
		GEORADIUSBYMEMBER missing Agrigento 100 km FOO
		GEORADIUSBYMEMBER s Agrigento 100 km
		GEORADIUSBYMEMBER g Agrigento 100 km STORE dst
		GEORADIUSBYMEMBER g Agrigento 100 km STOREDIST dst
		GEORADIUSBYMEMBER_RO g Agrigento 100 km
		GEORADIUSBYMEMBER_RO g Agrigento 100 km STORE dst
		GEOSEARCH g FROMLONLAT 15 37 BYRADIUS 200 km
		GEOSEARCH g FROMLONLAT 15 37 BYBOX 400 400 km ASC
		GEOSEARCH g FROMLONLAT 15 37 BYBOX 400 400 km ASC WITHCOORD WITHDIST
		GEOSEARCH g FROMMEMBER Palermo BYBOX 400 400 km
		GEOSEARCH g FROMMEMBER missing BYBOX 400 400 km
		GEOSEARCH g FROMMEMBER Palermo FROMLONLAT 1 1 BYBOX 400 400 km
		GEOSEARCH g FROMLONLAT 1 1 FROMMEMBER Palermo BYBOX 400 400 km
		GEOSEARCH g FROMMEMBER Palermo FROMMEMBER Catania BYBOX 40 40 km
		GEOSEARCH g FROMMEMBER Palermo BYBOX 400 400 km BYRADIUS 1 km
		GEOSEARCH g FROMMEMBER Palermo BYRADIUS 1 km BYBOX 400 400 km
		GEOSEARCH g FROMMEMBER Palermo BYRADIUS 1 km BYRADIUS 2 km
		GEOSEARCH g BYBOX 400 400 km
		geosearch g BYBOX 400 400 km
		GEOSEARCH g FROMMEMBER Palermo
		GEOSEARCH g FROMMEMBER Palermo ASC DESC COUNT 3
		GEOSEARCH g FROMMEMBER
		GEOSEARCH g FROMLONLAT 1
		GEOSEARCH g FROMLONLAT 1 x BYRADIUS 1 m
		GEOSEARCH g FROMLONLAT 1 100 BYRADIUS 1 m
		GEOSEARCH g FROMLONLAT 15 37 BYBOX -1 400 km
		GEOSEARCH g FROMLONLAT 15 37 BYBOX 400 -1 km
		GEOSEARCH g FROMLONLAT 15 37 BYBOX x 400 km
		GEOSEARCH g FROMLONLAT 15 37 BYBOX 400 x km
		GEOSEARCH g FROMLONLAT 15 37 BYBOX 400 400 x
		GEOSEARCH g FROMLONLAT 15 37 BYBOX 400 400
		GEOSEARCH g FROMLONLAT 15 37 BYRADIUS 400
		GEOSEARCH g FROMLONLAT 15 37 BYRADIUS -1 km
		GEOSEARCH g FROMLONLAT 15 37 BYRADIUS 200 km STORE dst
		GEOSEARCH g FROMLONLAT 15 37 BYRADIUS 200 km STOREDIST
		GEOSEARCH g FROMLONLAT 15 37 BYRADIUS 200 km ANY
		GEOSEARCH g FROMLONLAT 15 37 BYRADIUS 200 km COUNT 1 ANY
		GEOSEARCH missing FROMMEMBER Palermo BYRADIUS 1 km
		GEOSEARCH missing FROMMEMBER Palermo
		GEOSEARCH missing FROMMEMBER Palermo FROMLONLAT 1 1 BYRADIUS 1 km
		GEOSEARCH missing FROMLONLAT 1 x
		GEOSEARCH s FROMMEMBER Palermo
		GEOSEARCHSTORE dst g FROMLONLAT 15 37 BYRADIUS 200 km
		ZRANGE dst 0 -1 WITHSCORES
		GEOSEARCHSTORE dst g FROMLONLAT 15 37 BYRADIUS 200 km STOREDIST
		GEOSEARCHSTORE dst g FROMLONLAT 15 37 BYRADIUS 200 km STORE
		GEOSEARCHSTORE dst g FROMLONLAT 15 37 BYRADIUS 200 km STOREDIST x
		GEOSEARCHSTORE dst g FROMLONLAT 15 37 BYRADIUS 200 km WITHDIST
		GEOSEARCHSTORE dst g FROMLONLAT 15 37 BYRADIUS 200 km ASC COUNT 1
		GEOSEARCHSTORE dst g FROMLONLAT 15 37 WITHDIST
		GEOSEARCHSTORE dst g BYRADIUS 200 km
		GEOSEARCHSTORE dst g FROMLONLAT -15 37 BYRADIUS 200 km
		GEOSEARCHSTORE dst missing FROMLONLAT 15 37 BYRADIUS 200 km
		GEOSEARCHSTORE s missing FROMLONLAT 15 37 BYRADIUS 200 km
		SET s v
		GEOSEARCHSTORE s g FROMLONLAT 15 37 BYRADIUS 200 km
		TYPE s
		SET s v
		GEOSEARCHSTORE dst s FROMLONLAT 15 37 BYRADIUS 200 km
	`)
}

// The expectations are C's, and the true values correctly rounded as well.
func TestTrigonometry(t *testing.T) {
	for _, test := range []struct {
		name    string
		f       func(float64) float64
		x, want float64
	}{
		{"sine", sine, -0x1.25e9a32b49514p+1, -0x1.7f18dea321fe2p-1},
		{"sine", sine, 0x1.1747f8784aa5dp-2, 0x1.13d4e4f12f3d5p-2},
		{"sine", sine, 0x1.a810af997b60ep-6, 0x1.a80490ab3067ep-6},
		{"sine", sine, -0x1.89c547ec249f8p-9, -0x1.89c5211a9c596p-9},
		{"sine", sine, -0x1.d5b0da16d8e00p-18, -0x1.d5b0da16c867cp-18},
		{"sine", sine, -0x1.44cf0ed130bd8p-17, -0x1.44cf0ed11af42p-17},
		{"cosine", cosine, 0x1.d1b19091c5b1cp-2, 0x1.cbf599e77113ep-1},
		{"cosine", cosine, 0x1.bb7aa4284fb2cp-1, 0x1.4ba5c6cca5e2ep-1},
		{"cosine", cosine, -0x1.37ea74512a6f5p+0, 0x1.6169375538a07p-2},
		{"cosine", cosine, -0x1.6a3aa8ca3dd74p+0, 0x1.3dde153bb10abp-3},
		{"cosine", cosine, 0x1.01de1b056bf10p+0, 0x1.117c00a6d603cp-1},
		{"cosine", cosine, -0x1.9d14422d7cd50p-3, 0x1.f59edd511bc70p-1},
		{"arcsine", arcsine, 0x1.ffffffaa19c47p-1, 0x1.9216709c28b31p+0},
		{"arcsine", arcsine, 0x1.86499331191c5p-5, 0x1.866f693bebd94p-5},
		{"arcsine", arcsine, 0x1.140b6c8886900p-17, 0x1.140b6c8893efap-17},
		{"arcsine", arcsine, 0x1.c81394a2171eap-14, 0x1.c81394b12b3fcp-14},
		{"arcsine", arcsine, 0x1.716db1f3511f8p-17, 0x1.716db1f3712dbp-17},
		{"arcsine", arcsine, 0x1.d481499755d4cp-23, 0x1.d481499755d8dp-23},
	} {
		if got := test.f(test.x); got != test.want {
			t.Errorf("%s(%x) = %x, want %x", test.name, test.x, got, test.want)
		}
	}
	if got := arcsine(1.5); !math.IsNaN(got) {
		t.Errorf("arcsine(1.5) = %v, want NaN", got)
	}
}

// TestRandomGeoSearches looks around in a dense map of a small place, and in a
// thin one of the whole Earth, where cells meet at the date line and end at the
// poles.
func TestRandomGeoSearches(t *testing.T) {
	for seed, world := range []geoGenerator{
		{name: "city", lon: 13.4, lat: 52.5, spread: 0.3, radius: 20000},
		{name: "equator", lon: 0, lat: 0, spread: 0.001, radius: 100},
		{name: "earth", spread: 1000, radius: 2e7},
		{name: "south", lon: 178, lat: -80, spread: 6, radius: 1e6},
	} {
		t.Run(world.name, func(t *testing.T) {
			world.Rand = rand.New(rand.NewPCG(uint64(seed), 3))
			var script strings.Builder
			for i := range 200 {
				lon, lat := world.place()
				fmt.Fprintf(&script, "any: GEOADD g %s %s m%d\n", lon, lat, i)
			}
			for range 800 {
				script.WriteString(world.search() + "\n")
			}
			diff(t, script.String())
		})
	}
}

type geoGenerator struct {
	*rand.Rand
	name             string
	lon, lat, spread float64 // degrees
	radius           float64 // meters
}

// place is a point on a coarse grid, so that distances are often the same.
func (g *geoGenerator) place() (lon, lat string) {
	at := func(center, limit float64) string {
		steps := 20.0
		if g.IntN(2) == 0 {
			steps = 1e6
		}
		offset := float64(int((g.Float64()*2-1)*steps)) / steps * min(g.spread, limit)
		return fmt.Sprintf("%.9f", min(max(center+offset, -limit), limit))
	}
	return at(g.lon, 180), at(g.lat, 85.05)
}

func (g *geoGenerator) maybe(words ...string) string {
	if g.IntN(3) > 0 {
		return ""
	}
	return " " + words[g.IntN(len(words))]
}

func (g *geoGenerator) size() string {
	size := g.radius * g.Float64()
	switch g.IntN(20) {
	case 0:
		return "0"
	case 1, 2:
		size /= 100
	case 3, 4:
		size *= 10
	}
	return fmt.Sprintf("%.3f", size)
}

func (g *geoGenerator) search() string {
	lon, lat := g.place()
	member := fmt.Sprintf("m%d", g.IntN(200))
	if g.IntN(10) == 0 {
		return fmt.Sprintf("GEODIST g %s m%d", member, g.IntN(200))
	}
	if g.IntN(20) == 0 {
		return g.pick("GEOPOS g ", "GEOHASH g ") + member
	}
	options := g.maybe("ASC", "DESC") + g.maybe(fmt.Sprintf("COUNT %d", 1+g.IntN(60)), fmt.Sprintf("COUNT %d ANY", 1+g.IntN(60)))
	with := g.maybe("WITHDIST") + g.maybe("WITHCOORD") + g.maybe("WITHHASH")
	switch g.IntN(6) {
	case 0:
		return fmt.Sprintf("GEORADIUS g %s %s %s m%s%s", lon, lat, g.size(), options, with)
	case 1:
		return fmt.Sprintf("GEORADIUSBYMEMBER g %s %s ft%s%s", member, g.size(), options, with)
	}
	from := fmt.Sprintf("FROMLONLAT %s %s", lon, lat)
	if g.IntN(3) == 0 {
		from = "FROMMEMBER " + member
	}
	by := fmt.Sprintf("BYRADIUS %s m", g.size())
	if g.IntN(2) == 0 {
		by = fmt.Sprintf("BYBOX %s %s m", g.size(), g.size())
	}
	if g.IntN(4) == 0 {
		// The scores of STOREDIST would show where the C library is off by a bit.
		if g.IntN(2) == 0 {
			return fmt.Sprintf("GEOSEARCHSTORE dst g %s %s%s STOREDIST\nZRANGE dst 0 -1", from, by, options)
		}
		return fmt.Sprintf("GEOSEARCHSTORE dst g %s %s%s\nZRANGE dst 0 -1 WITHSCORES", from, by, options)
	}
	return fmt.Sprintf("GEOSEARCH g %s %s%s%s", from, by, options, with)
}

func (g *geoGenerator) pick(choices ...string) string { return choices[g.IntN(len(choices))] }
