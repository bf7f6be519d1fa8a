package command

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestRandomZSetCommands lets a generator that knows the commands' grammar, and
// breaks it now and then, write a long script.
func TestRandomZSetCommands(t *testing.T) {
	for _, entries := range []int{128, 3} {
		g := zsetGenerator{rand.New(rand.NewPCG(uint64(entries), 7))}
		var script strings.Builder
		fmt.Fprintf(&script, "CONFIG SET zset-max-listpack-entries %d\n", entries)
		for range 3000 {
			script.WriteString(g.command() + "\n")
		}
		script.WriteString("CONFIG SET zset-max-listpack-entries 128\n")
		diff(t, script.String())
	}
}

type zsetGenerator struct{ *rand.Rand }

func (g zsetGenerator) pick(choices ...string) string { return choices[g.IntN(len(choices))] }

// some writes a random number, at least least, of what one gives.
func (g zsetGenerator) some(least int, one func() string) string {
	var words []string
	for range least + g.IntN(4) {
		words = append(words, one())
	}
	return strings.Join(words, " ")
}

// maybe writes one of the choices in every third case.
func (g zsetGenerator) maybe(choices ...string) string {
	if g.IntN(3) > 0 {
		return ""
	}
	return " " + g.pick(choices...)
}

func (g zsetGenerator) key() string {
	if g.IntN(60) == 0 {
		return g.pick("string", "missing")
	}
	return g.pick("z1", "z2", "z3", "z4")
}

func (g zsetGenerator) keys() string {
	n := 1 + g.IntN(3)
	words := []string{fmt.Sprint(n)}
	for range n {
		words = append(words, g.key())
	}
	return strings.Join(words, " ")
}

func (g zsetGenerator) member() string {
	return g.pick("a", "b", "c", "d", "e", "ab", "abc", "10", "-7", "007", "100000", `""`, `"\xff\x00"`)
}

func (g zsetGenerator) score() string {
	switch g.IntN(12) {
	case 0:
		return g.pick("inf", "-inf", "-0", "1e300", "-1e300", "x", "5e-324", "9007199254740993")
	case 1:
		return fmt.Sprint(g.NormFloat64())
	case 2:
		return fmt.Sprint(g.Int64() >> g.IntN(63))
	}
	return fmt.Sprint(g.IntN(5))
}

func (g zsetGenerator) bound() string { return g.pick("", "", "(") + g.score() }

func (g zsetGenerator) lexBound() string {
	if g.IntN(4) == 0 {
		return g.pick("-", "+", "x")
	}
	return g.pick("[", "(") + g.pick("a", "b", "c", "ab", "10", "-7", "1", "")
}

func (g zsetGenerator) rank() string { return fmt.Sprint(g.IntN(16) - 8) }

func (g zsetGenerator) limit() string {
	return g.maybe(fmt.Sprintf("LIMIT %d %d", g.IntN(5)-1, g.IntN(5)-1))
}

func (g zsetGenerator) withScores() string { return g.maybe("WITHSCORES") }

func (g zsetGenerator) weights() string {
	return g.maybe("WEIGHTS "+g.some(1, g.score)) + g.maybe("AGGREGATE "+g.pick("SUM", "MIN", "MAX"))
}

func (g zsetGenerator) rangeOf() string {
	switch g.IntN(3) {
	case 0:
		return g.bound() + " " + g.bound() + " BYSCORE" + g.maybe("REV") + g.limit()
	case 1:
		return g.rank() + " " + g.rank() + g.maybe("REV")
	}
	return g.rank() + " " + g.rank() + g.maybe("REV") + g.limit()
}

func (g zsetGenerator) pair() string { return g.score() + " " + g.member() }

func (g zsetGenerator) command() string {
	key, member := g.key(), g.member()
	switch g.IntN(34) {
	case 0, 1, 2, 3, 4, 5, 6:
		return "ZADD " + key + g.maybe("NX", "XX", "GT", "LT") + g.maybe("CH", "INCR", "NX", "XX") + " " + g.some(1, g.pair)
	case 7:
		return "ZINCRBY " + key + " " + g.pair()
	case 8:
		return "ZREM " + key + " " + g.some(1, g.member)
	case 9:
		return "ZRANGE " + key + " " + g.rangeOf() + g.withScores()
	case 10:
		return "ZRANGESTORE " + g.key() + " " + key + " " + g.rangeOf()
	case 11:
		return "ZRANGE " + key + " 0 -1 WITHSCORES"
	case 12:
		return g.pick("ZRANGEBYSCORE ", "ZREVRANGEBYSCORE ") + key + " " + g.bound() + " " + g.bound() + g.limit() + g.withScores()
	case 13:
		return g.pick("ZRANK ", "ZREVRANK ", "ZSCORE ") + key + " " + member
	case 14:
		return "ZMSCORE " + key + " " + g.some(1, g.member)
	case 15:
		return "ZCOUNT " + key + " " + g.bound() + " " + g.bound()
	case 16:
		return g.pick("ZREMRANGEBYRANK ", "ZREVRANGE ") + key + " " + g.rank() + " " + g.rank()
	case 17:
		return "ZREMRANGEBYSCORE " + key + " " + g.bound() + " " + g.bound()
	case 18:
		return g.pick("ZPOPMIN ", "ZPOPMAX ") + key + g.maybe(fmt.Sprint(g.IntN(5)-1))
	case 19:
		return "ZMPOP " + g.keys() + g.pick(" MIN", " MAX") + g.maybe("COUNT "+fmt.Sprint(g.IntN(4)))
	case 20:
		return "multi: BZMPOP 0 " + g.keys() + g.pick(" MIN", " MAX") + g.maybe("COUNT "+fmt.Sprint(g.IntN(4)))
	case 21:
		return "multi: " + g.pick("BZPOPMIN ", "BZPOPMAX ") + key + " " + g.key() + " 0"
	case 22, 23:
		return g.pick("ZUNION ", "ZINTER ") + g.keys() + g.weights() + g.withScores()
	case 24, 25:
		return g.pick("ZUNIONSTORE ", "ZINTERSTORE ") + key + " " + g.keys() + g.weights()
	case 26:
		return "ZDIFF " + g.keys() + g.withScores()
	case 27:
		return "ZDIFFSTORE " + key + " " + g.keys()
	case 28:
		return "ZINTERCARD " + g.keys() + g.maybe("LIMIT "+fmt.Sprint(g.IntN(3)-1))
	case 29:
		return "ZADD lex 0 " + member
	case 30:
		return g.pick("ZRANGEBYLEX lex ", "ZREVRANGEBYLEX lex ") + g.lexBound() + " " + g.lexBound() + g.limit()
	case 31:
		return g.pick("ZLEXCOUNT lex ", "ZREMRANGEBYLEX lex ") + g.lexBound() + " " + g.lexBound()
	case 32:
		return "ZRANGE lex " + g.lexBound() + " " + g.lexBound() + " BYLEX" + g.maybe("REV") + g.limit()
	}
	return g.pick("SET string v", "ZCARD "+key)
}
