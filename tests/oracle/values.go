package oracle

import (
	"strconv"
	"strings"
)

// keyTypes are the types keys are named after: the key h2{a} usually holds a
// hash, so that most commands find what they want and the rest find something
// else.
var keyTypes = []string{"string", "list", "set", "hash", "zset", "stream", "hll", "geo", "bitmap"}

var keyPrefix = map[string]string{
	"string": "s", "list": "l", "set": "t", "hash": "h", "zset": "z", "stream": "x", "hll": "p", "geo": "g", "bitmap": "b",
}

// keysPerType keeps the key space small.
const keysPerType = 3

// key names a key that usually has the given type.
func (g *Generator) key(kind string) string {
	if kind == "any" || g.chance(0.06) {
		kind = g.pick(keyTypes[:6]...)
	}
	tag := g.tag
	if g.scatter && g.chance(0.5) {
		tag = g.pick("{"+clusterTags[0]+"}", "{"+clusterTags[1]+"}", "{"+clusterTags[2]+"}", "", "{}")
	}
	return keyPrefix[kind] + strconv.Itoa(1+g.rnd.IntN(keysPerType)) + tag
}

func (g *Generator) number(from, to int) string { return strconv.Itoa(from + g.rnd.IntN(to-from+1)) }

var extremeInts = []string{
	"9223372036854775807", "-9223372036854775808", "9223372036854775808", "-9223372036854775809", "18446744073709551615",
	"4294967296", "2147483647", "-2147483648", "99999999999999999999",
}

var oddNumbers = []string{"", "abc", "1.5", " 1", "1 ", "+1", "01", "-0", "0x1", "1e3", "nan", "--1", "1_0", "\x001"}

func (g *Generator) integer() string {
	switch {
	case g.chance(0.82):
		return g.number(-3, 12)
	case g.chance(0.4):
		return g.number(-1000, 1000)
	case g.chance(0.5):
		return g.pick(extremeInts...)
	}
	return g.pick(oddNumbers...)
}

func (g *Generator) float() string {
	switch {
	case g.chance(0.6):
		return g.number(-3, 12)
	case g.chance(0.6):
		return g.number(-5, 5) + "." + g.number(0, 999)
	case g.chance(0.7):
		return g.pick("inf", "-inf", "+inf", "1e10", "-1e-7", "1e400", "3.0", "0.1", "-0", "1e21", "123456789012345678", "1.7976931348623157e308", "5e-324", ".5", "5.", "Infinity", "0x1p3", "1e-5", "1234567.891")
	}
	return g.pick(oddNumbers...)
}

func (g *Generator) value() string {
	switch {
	case g.chance(0.4):
		return g.integer()
	case g.chance(0.5):
		return g.pick("a", "b", "c", "d", "foo", "bar", "hello world")
	case g.chance(0.3):
		return g.float()
	case g.chance(0.02):
		return strings.Repeat(g.pick("x", "ab", "\x00"), g.rnd.IntN(5000))
	}
	return g.pick("", "\x00\x01\xff", "line\r\nbreak", "\xc3\xa9", strings.Repeat("v", 44), strings.Repeat("w", 45),
		strings.Repeat("y", 64), strings.Repeat("z", 65), "\"quoted\"", "-1", "1.0", "OK", "mixedCASE")
}

// element is a member of a set, list or sorted set, or a field of a hash.
func (g *Generator) element() string {
	switch {
	case g.chance(0.5):
		return g.pick("a", "b", "c", "d", "e", "f", "g")
	case g.chance(0.6):
		return g.number(-2, 9)
	case g.chance(0.6):
		return "m" + g.number(0, 400)
	}
	return g.value()
}

func (g *Generator) scoreBound() string {
	switch {
	case g.chance(0.2):
		return g.pick("-inf", "+inf", "inf", "(-inf", "(+inf")
	case g.chance(0.25):
		return "(" + g.float()
	}
	return g.float()
}

func (g *Generator) lexBound() string {
	switch {
	case g.chance(0.3):
		return g.pick("-", "+")
	case g.chance(0.05):
		return g.pick("a", "", "[", "(")
	}
	return g.pick("[", "(") + g.element()
}

// futureSeconds is a relative expiry: far away, past, or refused. What is near
// uses milliseconds and is waited for.
func (g *Generator) futureSeconds() string {
	switch {
	case g.chance(0.75):
		return g.number(1000, 100000)
	case g.chance(0.4):
		return g.number(-2, 0)
	case g.chance(0.4):
		return g.pick("9223372036854775807", "9223372036854775", "-9223372036854775808", "9223372036854775808")
	}
	return g.pick(oddNumbers...)
}

func (g *Generator) futureMillis() string {
	if g.chance(0.15) {
		g.expires = true
		return "1"
	}
	if g.chance(0.5) {
		return g.number(1_000_000, 100_000_000)
	}
	return g.futureSeconds() + "000"
}

// restoreTTL is a TTL, or with ABSTTL a time.
func (g *Generator) restoreTTL() string {
	if g.chance(0.1) {
		g.expires = true
		return "1"
	}
	return g.pick("0", "0", "100000000", "4102444800000", "-1", "abc")
}

// Far in the future of any test run.
const farSecond = 4_102_444_800 // the year 2100

func (g *Generator) timestamp() string {
	switch {
	case g.chance(0.75):
		return strconv.Itoa(farSecond + g.rnd.IntN(1000))
	case g.chance(0.5):
		return g.number(-1, 1000)
	}
	return g.futureSeconds()
}

func (g *Generator) timestampMillis() string {
	if t := g.timestamp(); g.chance(0.9) {
		return t + "000"
	}
	return g.pick(extremeInts...)
}

func (g *Generator) streamID() string {
	switch {
	case g.chance(0.6):
		return g.number(1, 12) + "-" + g.number(0, 3)
	case g.chance(0.6):
		return g.number(0, 12)
	}
	return g.pick("0-0", "0", "0-1", "5-*", "18446744073709551615-18446744073709551615", "18446744073709551615", "1-18446744073709551615",
		"abc", "1-", "-1", "1-2-3", "18446744073709551616", "", "1-*")
}

func (g *Generator) keys(kind string, n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = g.key(kind)
	}
	return keys
}

// countedKeys writes numkeys and the keys, rarely not as many.
func (g *Generator) countedKeys() []string {
	n := 1 + g.rnd.IntN(3)
	g.numkeys = n
	count := strconv.Itoa(n)
	if g.chance(0.04) {
		count = g.pick("0", "-1", "1", "4", "abc", "9223372036854775807")
	}
	return append([]string{count}, g.keys(g.current.keyType, n)...)
}

// one makes a placeholder of a function for one value.
func one(value func(*Generator) string) func(*Generator) []string {
	return func(g *Generator) []string { return []string{value(g)} }
}

// among makes a placeholder that picks from a list.
func among(values ...string) func(*Generator) []string {
	return func(g *Generator) []string { return []string{g.pick(values...)} }
}

// placeholders are the kinds of values the grammar knows.
var placeholders map[string]func(*Generator) []string

func init() {
	placeholders = map[string]func(*Generator) []string{
		"key":    one(func(g *Generator) string { return g.key(g.current.keyType) }),
		"anykey": one(func(g *Generator) string { return g.key("any") }),
		"lexkey": one(func(g *Generator) string { return "y" + g.number(1, keysPerType) + g.tag }),
		"keys#":  (*Generator).countedKeys,

		"int":      one((*Generator).integer),
		"float":    one((*Generator).float),
		"val":      one((*Generator).value),
		"elem":     one((*Generator).element),
		"small":    one(func(g *Generator) string { return g.number(0, 5) }),
		"index":    one(func(g *Generator) string { return g.indexNumber() }),
		"count":    one(func(g *Generator) string { return g.countNumber() }),
		"rcount":   one(func(g *Generator) string { return g.randomCount() }),
		"offset":   one(func(g *Generator) string { return g.byteOffset() }),
		"bit":      one(func(g *Generator) string { return g.bitOffset() }),
		"bitvalue": among("0", "1", "0", "1", "2", "-1", "abc"),
		"bittype":  among("u1", "u8", "i8", "u16", "i16", "i5", "u63", "i64", "i1", "u64", "i65", "u0", "x8", "u", "i"),
		"bitfieldoffset": one(func(g *Generator) string {
			return g.pick("#", "") + g.bitOffset()
		}),
		"score":    one((*Generator).float),
		"scoremin": one((*Generator).scoreBound),
		"lexmin":   one((*Generator).lexBound),
		"sec":      one((*Generator).futureSeconds),
		"ms":       one((*Generator).futureMillis),
		"ts":       one((*Generator).timestamp),
		"tsms":     one((*Generator).timestampMillis),
		"streamid": one((*Generator).streamID),
		"timeout":  among("0", "0", "0.001", "1000", "0.002", "-1", "abc", "1e400", "inf", "99999999999999999999", "0.0001"),
		"blockms":  among("0", "1", "1000000", "-1", "abc", "9223372036854775807", "2"),
		"cursor":   among("0", "0", "0", "0", "abc", "18446744073709551616", ""),
		"glob":     among("*", "*a*", "[a-c]", "h?llo", "?", "m1*", "\\*", "[^a]*", "s*", "{*}", "*1*", "[", "a*b*c", "", "[z-a]", "??*"),
		"type":     among("string", "list", "set", "zset", "hash", "stream", "STRING", "nosuch"),
		"weight":   one((*Generator).float),
		"weights": func(g *Generator) []string {
			weights := make([]string, g.numkeys)
			for i := range weights {
				weights[i] = g.float()
			}
			return weights
		},
		"channel":      one(func(g *Generator) string { return g.channel() }),
		"shardchannel": one(func(g *Generator) string { return "sc" + g.number(1, 3) + g.tag }),
		"otherport": one(func(g *Generator) string {
			return "$PORT" + strconv.Itoa((g.homeNode()+1+g.rnd.IntN(Masters-1))%Masters)
		}),
		"pattern":     one(func(g *Generator) string { return g.channel()[:2] + g.pick("*", "?", "1", "[12]") }),
		"lon":         among("13.361389", "15.087269", "0", "-180", "180", "2.349", "181", "abc", "-122.4", "13.5", "15.1", "13.4"),
		"lat":         among("38.115556", "37.502669", "0", "85.05112878", "-85.05112878", "48.85", "86", "38.0", "37.6", "38.2"),
		"radius":      among("1", "100", "200", "500", "20000", "0", "-1", "abc", "166.2742", "1e9"),
		"unit":        among("m", "km", "ft", "mi", "KM", "cm"),
		"group":       among("g1", "g2", "g3"),
		"consumer":    among("c1", "c2", "c3", ""),
		"script":      (*Generator).script,
		"lua":         one(func(g *Generator) string { return g.pick(luaScripts...) }),
		"sha":         one(func(g *Generator) string { return shaPrefix + g.pick(luaScripts...) }),
		"scriptargs":  (*Generator).scriptArgs,
		"user":        among("u1", "u2", "u1", "u2", "u3", "nosuch"),
		"word":        among("p1", "p2", "p1", "nosuch", ""),
		"aclrule":     (*Generator).aclRule,
		"aclpassword": among(">p1", ">p2"),
		"aclcategory": among("string", "hash", "keyspace", "read", "write", "dangerous", "scripting", "blocking", "nosuch", "ALL", "@read"),
		"commandline": (*Generator).anyCommand,
		"library":     one((*Generator).library),
		"libname":     among("lib1", "lib2", "lib3", "nosuch"),
		"function":    one((*Generator).functionName),
		"libraries":   among(librariesPlaceholder),
		"dump":        one(func(g *Generator) string { return dumpPlaceholder + g.key(g.current.keyType) }),
		"ttl":         one((*Generator).restoreTTL),
		"prefix":      among("s", "h", "s1", "l", "t", "z", "nosuch"),
		"redirected":  among("$CID10", "$CID10", "$CID10", "$CID8", "0", "99999999", "$CID7"),
		"slot":        one(func(g *Generator) string { return g.slotNumber() }),
		"ownslot":     one(func(g *Generator) string { return g.ownSlot() }),
		"nodeid":      among("$ID0", "$ID1", "$ID2", "$ID1", "0000000000000000000000000000000000000000", "abc"),
		"db":          among("0", "1", "0", "1", "16", "-1", "abc"),
		"name":        among("bob", "carol", "", "with space", "x", "a\nb"),
	}
}

func (g *Generator) indexNumber() string {
	if g.chance(0.85) {
		return g.number(-6, 6)
	}
	return g.integer()
}

func (g *Generator) countNumber() string {
	if g.chance(0.85) {
		return g.number(0, 5)
	}
	return g.integer()
}

// randomCount stays away from counts that would make millions of elements.
func (g *Generator) randomCount() string {
	if g.chance(0.95) {
		return g.number(-8, 8)
	}
	return g.pick("9223372036854775807", "-9223372036854775808", "9223372036854775808", "abc", "1.5", "")
}

// byteOffset stays away from strings of hundreds of megabytes.
func (g *Generator) byteOffset() string {
	if g.chance(0.9) {
		return g.number(-2, 40)
	}
	return g.pick("9223372036854775807", "536870912", "-9223372036854775808", "abc", "100", "1000")
}

func (g *Generator) bitOffset() string {
	if g.chance(0.93) {
		return g.number(0, 70)
	}
	return g.pick("4294967296", "9223372036854775807", "-1", "abc", "1000", "5000")
}

// channel names a channel of the home node: messages to other nodes arrive
// when they please.
func (g *Generator) channel() string {
	return "c" + strconv.Itoa(g.homeNode()) + g.pick("1", "2", "3")
}

func (g *Generator) slotNumber() string {
	if g.chance(0.8) {
		return g.number(0, 16383)
	}
	return g.pick("16384", "-1", "abc", "99999999999999999999", "")
}

func (g *Generator) ownSlot() string {
	if g.tag == "" {
		return g.slotNumber()
	}
	return strconv.Itoa(slotOf(g.tag))
}
