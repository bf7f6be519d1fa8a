package command

import (
	"math"
	"slices"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
)

// geoRequest is one of the commands that look for members within a distance:
// GEOSEARCH, the older GEORADIUS (radius), or GEORADIUSBYMEMBER (byMember).
type geoRequest struct {
	radius, byMember, mayStore bool
}

// storeName is what errors call the way to store the result.
func (r geoRequest) storeName() string {
	if r.radius {
		return "STORE option in GEORADIUS"
	}
	return "GEOSEARCHSTORE"
}

// geoQuery is what the arguments say.
type geoQuery struct {
	shape                         geoShape
	withDist, withHash, withCoord bool
	order                         int   // 1 ascending, -1 descending, 0 as found
	count                         int64 // 0 for all
	any                           bool  // any count members will do
	storeKey                      []byte
	storeDist                     bool

	fromMember, fromPoint, byRadius, byBox bool
}

// geoMatch is a member that was found.
type geoMatch struct {
	member   string
	score    float64
	distance float64 // meters
	at       geoPoint
}

func (c *Call) geoSearch(r geoRequest) {
	source := 1
	if !r.radius && r.mayStore {
		source = 2
	}
	zset, ok := c.readZSet(c.Args[source])
	if !ok {
		return
	}
	q, ok := c.parseGeo(r, zset, source)
	if !ok {
		return
	}
	if zset == nil {
		if q.storeKey != nil {
			c.storeZSet(q.storeKey, keyspace.NewZSet(&c.Keyspace().Limits), "", 0)
		} else {
			c.Reply.Array(0)
		}
		return
	}
	matches := q.find(zset)
	if q.storeKey == nil {
		c.replyGeoMatches(&q, matches)
		return
	}
	event := "geosearchstore"
	if r.radius {
		event = "georadiusstore"
	}
	result := keyspace.NewLargeZSet(&c.Keyspace().Limits)
	for _, m := range matches {
		if q.storeDist {
			m.score = m.distance / q.shape.unit
		}
		result.Add([]byte(m.member), m.score, keyspace.AddOptions{})
	}
	result.Compact()
	c.storeZSet(q.storeKey, result, event, len(matches))
}

// parseGeo reads the arguments behind the key. Without a sorted set the
// member whose place is the center need not exist.
func (c *Call) parseGeo(r geoRequest, zset *keyspace.ZSet, source int) (q geoQuery, ok bool) {
	options := source + 1
	switch {
	case r.radius && r.byMember:
		options = 5
		if zset != nil {
			if q.shape.center, ok = c.geoMember(zset, 2); !ok {
				return q, false
			}
			if ok = c.parseRadius(&q.shape, 3); !ok {
				return q, false
			}
		}
	case r.radius:
		options = 6
		if q.shape.center, ok = c.geoPointArg(2); !ok {
			return q, false
		}
		if ok = c.parseRadius(&q.shape, 4); !ok {
			return q, false
		}
	case r.mayStore:
		q.storeKey = c.Args[1]
	}
	for i := options; i < len(c.Args); {
		n, ok := c.parseGeoOption(r, &q, zset, i)
		if !ok {
			return q, false
		}
		i += n
	}
	return q, c.checkGeo(r, &q)
}

// parseGeoOption reads the option at argument i and returns how many arguments
// it takes.
func (c *Call) parseGeoOption(r geoRequest, q *geoQuery, zset *keyspace.ZSet, i int) (n int, ok bool) {
	switch left := c.left(i); {
	case c.is(i, "withdist"):
		q.withDist = true
	case c.is(i, "withhash"):
		q.withHash = true
	case c.is(i, "withcoord"):
		q.withCoord = true
	case c.is(i, "any"):
		q.any = true
	case c.is(i, "asc"):
		q.order = 1
	case c.is(i, "desc"):
		q.order = -1
	case c.is(i, "count") && left >= 1:
		if q.count, ok = c.intArg(i + 1); !ok {
			return 0, false
		}
		if q.count <= 0 {
			return 0, c.fail("ERR COUNT must be > 0")
		}
		return 2, true
	case r.radius && r.mayStore && left >= 1 && (c.is(i, "store") || c.is(i, "storedist")):
		q.storeKey, q.storeDist = c.Args[i+1], c.is(i, "storedist")
		return 2, true
	case !r.radius && r.mayStore && c.is(i, "storedist"):
		q.storeDist = true
	case r.radius:
		return 0, c.fail(errSyntax)
	case c.is(i, "frommember") && left >= 1 && !q.fromPoint:
		q.fromMember = true
		if zset != nil {
			if q.shape.center, ok = c.geoMember(zset, i+1); !ok {
				return 0, false
			}
		}
		return 2, true
	case c.is(i, "fromlonlat") && left >= 2 && !q.fromMember:
		q.fromPoint = true
		q.shape.center, ok = c.geoPointArg(i + 1)
		return 3, ok
	case c.is(i, "byradius") && left >= 2 && !q.byBox:
		q.byRadius = true
		return 3, c.parseRadius(&q.shape, i+1)
	case c.is(i, "bybox") && left >= 3 && !q.byRadius:
		q.byBox = true
		return 4, c.parseBox(&q.shape, i+1)
	default:
		return 0, c.fail(errSyntax)
	}
	return 1, true
}

// checkGeo rejects options that do not go together.
func (c *Call) checkGeo(r geoRequest, q *geoQuery) bool {
	switch {
	case q.storeKey != nil && (q.withDist || q.withHash || q.withCoord):
		return c.fail("ERR " + r.storeName() + " is not compatible with WITHDIST, WITHHASH and WITHCOORD options")
	case !r.radius && !q.fromMember && !q.fromPoint:
		return c.fail("ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for " + string(c.Args[0]))
	case !r.radius && !q.byRadius && !q.byBox:
		return c.fail("ERR exactly one of BYRADIUS and BYBOX can be specified for " + string(c.Args[0]))
	case q.any && q.count == 0:
		return c.fail("ERR the ANY argument requires COUNT argument")
	}
	if q.count != 0 && q.order == 0 && !q.any {
		q.order = 1 // the nearest, that is
	}
	return true
}

// geoMember is the position of the member that argument i names.
func (c *Call) geoMember(zset *keyspace.ZSet, i int) (geoPoint, bool) {
	p, ok := position(zset, c.Args[i])
	if !ok {
		return p, c.fail("ERR could not decode requested zset member")
	}
	return p, true
}

// parseRadius reads a radius and its unit from argument i on.
func (c *Call) parseRadius(s *geoShape, i int) (ok bool) {
	s.box = false
	if s.radius, ok = c.floatArgOr(i, "ERR need numeric radius"); !ok {
		return false
	}
	if s.radius < 0 {
		return c.fail("ERR radius cannot be negative")
	}
	s.unit, ok = c.geoUnitArg(i + 1)
	return ok
}

// parseBox reads width, height and their unit from argument i on.
func (c *Call) parseBox(s *geoShape, i int) (ok bool) {
	s.box = true
	if s.width, ok = c.floatArgOr(i, "ERR need numeric width"); !ok {
		return false
	}
	if s.height, ok = c.floatArgOr(i+1, "ERR need numeric height"); !ok {
		return false
	}
	if s.width < 0 || s.height < 0 {
		return c.fail("ERR height or width cannot be negative")
	}
	s.unit, ok = c.geoUnitArg(i + 2)
	return ok
}

// find returns the members in the query's shape, in the order of the reply.
func (q *geoQuery) find(zset *keyspace.ZSet) []geoMatch {
	limit := int64(math.MaxInt64)
	if q.any {
		limit = q.count
	}
	matches := q.shape.search(zset, limit)
	n := len(matches)
	if q.count != 0 {
		n = int(min(int64(n), q.count))
	}
	byDistance := func(a, b *geoMatch) int {
		switch {
		case a.distance < b.distance:
			return -q.order
		case a.distance > b.distance:
			return q.order
		}
		return 0
	}
	switch {
	case q.order == 0:
	case n == len(matches):
		slices.SortStableFunc(matches, func(a, b geoMatch) int { return byDistance(&a, &b) })
	default:
		partialSort(matches, byDistance, n)
	}
	return matches[:n]
}

// replyGeoMatches replies with members, or arrays of them and what else was asked
// for.
func (c *Call) replyGeoMatches(q *geoQuery, matches []geoMatch) {
	more := 0
	for _, asked := range [...]bool{q.withDist, q.withHash, q.withCoord} {
		if asked {
			more++
		}
	}
	c.Reply.Array(len(matches))
	for _, m := range matches {
		if more > 0 {
			c.Reply.Array(1 + more)
		}
		c.Reply.BulkString(m.member)
		if q.withDist {
			c.replyDistance(m.distance / q.shape.unit)
		}
		if q.withHash {
			c.Reply.Int(int64(m.score))
		}
		if q.withCoord {
			c.replyPoint(m.at)
		}
	}
}
