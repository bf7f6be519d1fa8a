package command

import (
	"strings"
	"testing"
)

func TestSets(t *testing.T) {
	diff(t, `
		SADD s 3 1 2 1
		SADD s 1 2
		SADD s 4
		SMEMBERS s
		SCARD s
		SISMEMBER s 1
		SISMEMBER s 9
		SISMEMBER s a
		SISMEMBER missing a
		SMISMEMBER s 1 a 2
		SMISMEMBER missing 1 a 2
		SADD w a b c 07
		unordered: SMEMBERS w
		SADD s word
		unordered: SMEMBERS s
		SREM s word 1 nope
		SREM s nope
		SREM missing a
		SREM s 2 3 4 5 6
		SCARD s
		SMEMBERS missing
		SCARD missing
		SMOVE w missing nope
		SMOVE w other a
		SMOVE w other a
		SMOVE w w b
		SMOVE w w nope
		SMOVE missing w a
		SADD other b
		SMOVE w other b
		SMOVE w other c
		SMOVE w other 07
		unordered: SMEMBERS other
		SET str x
		SMOVE str other a
		SMOVE other str a
		SMOVE other str nope
		SMOVE missing str a
		SMOVE str str a
		SADD str a
		SREM str a
		SMEMBERS str
		SCARD str
		SISMEMBER str a
		SMISMEMBER str a
		SPOP str
		SPOP str 1
		SPOP str x
		SRANDMEMBER str
		SRANDMEMBER str 1
		SRANDMEMBER str x
		SSCAN str 0
		SSCAN str x
		SINTER str
		SUNION other str
		SDIFF str other
		SINTERSTORE d other str
		SUNIONSTORE d other str
		SDIFFSTORE d other str
		SINTERCARD 1 str
		SINTER missing str
		SINTERCARD 2 missing str
		SINTERSTORE d missing str
	`)
}

func TestSetCombinations(t *testing.T) {
	diff(t, `
		SADD a 1 2 3 4 5
		SADD b 3 4 5 6 7 8
		SADD c 5 9
		SADD w 3 x 5 y z
		SINTER a b
		SINTER a b c
		SINTER a missing
		SINTER missing
		unordered: SINTER w b
		SINTER a a
		SUNION a b
		SUNION a b c missing
		unordered: SUNION a w
		SUNION missing
		SDIFF a b
		SDIFF a b c
		SDIFF a a
		SDIFF a missing
		SDIFF missing a
		unordered: SDIFF w a
		SDIFF a w
		SDIFF c a b w
		SINTERSTORE d a b
		SMEMBERS d
		SINTERSTORE d a b c
		SINTERSTORE d a missing
		SINTERSTORE d a missing
		SINTERSTORE d c missing2
		SUNIONSTORE d a b
		SMEMBERS d
		SUNIONSTORE d missing
		SUNIONSTORE d missing
		SDIFFSTORE d a b
		SMEMBERS d
		SDIFFSTORE d a a
		SDIFFSTORE a a b
		SMEMBERS a
		SINTERSTORE b b c
		SMEMBERS b
		SET str x
		SUNIONSTORE str c b
		SMEMBERS str
		SET str x
		SDIFFSTORE str c c
		SINTERCARD 2 c w
		SINTERCARD 1 w
		SINTERCARD 1 w LIMIT 2
		SINTERCARD 1 w LIMIT 0
		SINTERCARD 1 w LIMIT 100
		SINTERCARD 2 c missing LIMIT 1
		SINTERCARD 1 w LIMIT -1
		SINTERCARD 1 w LIMIT x
		SINTERCARD 1 w LIMIT
		SINTERCARD 1 w NOPE 1
		SINTERCARD 1 w LIMIT 1 LIMIT 2
		SINTERCARD 0 w
		SINTERCARD x w
		SINTERCARD 2 w
		SINTERCARD 9223372036854775807 w
	`)
}

func TestSetScanAndRandom(t *testing.T) {
	diff(t, `
		SADD s 1 2 3 40
		SSCAN s 0
		SSCAN s 0 MATCH 4*
		SSCAN s 0 COUNT 1
		SSCAN s 7
		SSCAN s x
		SSCAN s 0 COUNT 0
		SSCAN s 0 NOPE
		SSCAN missing 0
		SSCAN missing 0 NOPE
		SSCAN missing x
		SRANDMEMBER s 4
		SRANDMEMBER s 100
		SRANDMEMBER s 0
		SRANDMEMBER s x
		SRANDMEMBER s 1 2
		SRANDMEMBER s -9223372036854775808
		SRANDMEMBER missing
		SRANDMEMBER missing 3
		SRANDMEMBER missing -3
		SPOP s 0
		SPOP s -1
		SPOP s x
		SPOP s 1 2
		SPOP s 4
		SPOP s 4
		SPOP s
		SADD s 1 2 3
		SPOP s 100
		SADD s 1
		SPOP s
		SADD s a
		SPOP s
		SADD s a
		SRANDMEMBER s
		SRANDMEMBER s -3
		SRANDMEMBER s 3
		SPOP s 1
		SPOP missing 0
		SADD w a b c
		unordered: SRANDMEMBER w 3
		unordered: SPOP w 5
	`)
}

func TestLargeSets(t *testing.T) {
	var members strings.Builder
	for _, a := range "abcdefghijklmnopqrst" {
		for _, b := range "abcdefghijklmnopqrst" {
			members.WriteString(" " + string(a) + string(b))
		}
	}
	diff(t, `
		SADD s `+members.String()+`
		SADD t aa bb cc dd
		unordered: SMEMBERS s
		unordered: SINTER s t
		unordered: SDIFF s t
		unordered: SDIFF t s
		unordered: SUNION s t
		SINTERCARD 2 s t LIMIT 3
		SUNIONSTORE u s t
		SDIFFSTORE u s t
		CONFIG SET set-max-intset-entries 3
		SADD n 1 2 3
		SMEMBERS n
		SADD n 4
		unordered: SMEMBERS n
	`)
}

// TestRandomMembers checks what cannot be compared: that random members are
// members, distinct for a positive count, and all of them in the long run; and
// that SPOP says what it removed.
func TestRandomMembers(t *testing.T) {
	for _, add := range []string{"SADD s 1 2 3 4 5 6 7 8 9 10", "SADD s a b c d e f g h i j"} {
		l := newLocal(2)
		run := func(line string) []string {
			var words []string
			for _, word := range splitReply(l.run(splitArgs(t, line), false).reply) {
				words = append(words, bulkOf(word))
			}
			return words
		}
		run(add)
		for _, count := range []string{"2", "3", "5", "9", "-20"} {
			chosen := map[string]bool{}
			for range 200 {
				members := run("SRANDMEMBER s " + count)
				distinct := map[string]bool{}
				for _, m := range members {
					chosen[m], distinct[m] = true, true
				}
				if count[0] != '-' && len(distinct) != len(members) {
					t.Fatalf("SRANDMEMBER s %s answered %q", count, members)
				}
			}
			if len(chosen) != 10 {
				t.Errorf("SRANDMEMBER s %s: of ten members only %d were ever chosen", count, len(chosen))
			}
		}
		popped := run("SPOP s 4")
		if want := `"SREM" "s" "` + strings.Join(popped, `";"SREM" "s" "`) + `"`; strings.Join(l.outcome.effects, ";") != want {
			t.Errorf("SPOP propagates %q, want %q", l.outcome.effects, want)
		}
		if left := run("SMEMBERS s"); len(left) != 6 {
			t.Errorf("after SPOP s 4 of ten members there are %q", left)
		}
	}
}
