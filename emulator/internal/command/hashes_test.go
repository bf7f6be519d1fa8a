package command

import (
	"strings"
	"testing"
)

func TestHashes(t *testing.T) {
	diff(t, `
		HSET h a 1 b 2 c 3
		HSET h a 10 d 4
		HSET h a
		HSET h a 1 b
		HMSET h e 5 f 6
		HMSET h e
		HMSET h e 5 f
		HSETNX h a x
		HSETNX h g 7
		HSETNX new a 1
		HGETALL h
		HKEYS h
		HVALS h
		HLEN h
		HGET h a
		HGET h nope
		HGET missing a
		HMGET h a nope c a
		HMGET missing a b
		HSTRLEN h a
		HSTRLEN h nope
		HSTRLEN missing a
		HEXISTS h a
		HEXISTS h nope
		HEXISTS missing a
		HDEL h a nope a
		HDEL h nope
		HDEL missing a
		HGETALL h
		HDEL h b c d e f g extra
		HGETALL h
		HKEYS missing
		HVALS missing
		HLEN missing
		HGETALL missing
		SET s x
		HSET s a 1
		HSET s a 1 b
		HMSET s a 1
		HSETNX s a 1
		HGET s a
		HMGET s a
		HDEL s a
		HLEN s
		HSTRLEN s a
		HEXISTS s a
		HKEYS s
		HVALS s
		HGETALL s
		HINCRBY s a 1
		HINCRBY s a x
		HINCRBYFLOAT s a 1
		HINCRBYFLOAT s a x
		HSCAN s 0
		HSCAN s x
		HRANDFIELD s
		HRANDFIELD s 1
		HRANDFIELD s x
	`)
}

func TestHashIncrements(t *testing.T) {
	diff(t, `
		HINCRBY h a 5
		HINCRBY h a -7
		HINCRBY h a 0
		HINCRBY h a 9223372036854775807
		HINCRBY h a 10
		HINCRBY h b -9223372036854775808
		HINCRBY h b -1
		HINCRBY h a x
		HINCRBY h a 1.5
		HINCRBY h a " 1"
		HSET h text abc space " 1" zero 007 float 1.5 empty ""
		HINCRBY h text 1
		HINCRBY h space 1
		HINCRBY h zero 1
		HINCRBY h float 1
		HINCRBY h empty 1
		HINCRBYFLOAT h float 1.5
		HINCRBYFLOAT h float 0.1
		HINCRBYFLOAT h float -3.1
		HINCRBYFLOAT h f2 0.1
		HINCRBYFLOAT h f2 0.2
		HINCRBYFLOAT h f3 5e3
		HINCRBYFLOAT h f3 1e-17
		HINCRBYFLOAT h f3 -5e3
		HINCRBYFLOAT h f4 inf
		HINCRBYFLOAT h f4 nan
		HINCRBYFLOAT h f4 x
		HINCRBYFLOAT h f4 " 1"
		HINCRBYFLOAT h text 1
		HINCRBYFLOAT h space 1
		HINCRBYFLOAT h empty 1
		HSET h huge 1e4900 inf inf
		HINCRBYFLOAT h huge 1e4900
		HINCRBYFLOAT h inf 1
		HINCRBYFLOAT fresh a inf
		HINCRBYFLOAT fresh a nan
		HINCRBYFLOAT fresh a 3.0
		HINCRBYFLOAT h zero 1
		pairs: HGETALL h
		HGETALL fresh
		HINCRBY fresh2 a x
		HLEN fresh2
	`)
}

func TestHashScanAndRandom(t *testing.T) {
	diff(t, `
		HSET h a 1 b 2 c 3 d 4
		HSCAN h 0
		HSCAN h 0 MATCH a*
		HSCAN h 0 COUNT 1
		HSCAN h 0 MATCH ? COUNT 100
		HSCAN h 5
		HSCAN h x
		HSCAN h -1
		HSCAN h 0 COUNT 0
		HSCAN h 0 COUNT x
		HSCAN h 0 MATCH
		HSCAN h 0 NOVALUES
		HSCAN h 0 TYPE hash
		HSCAN missing 0
		HSCAN missing 5
		HSCAN missing x
		HSCAN missing 0 NOPE
		HRANDFIELD h 4
		HRANDFIELD h 10
		HRANDFIELD h 10 WITHVALUES
		HRANDFIELD h 0
		HRANDFIELD h 0 WITHVALUES
		HRANDFIELD h 1 NOPE
		HRANDFIELD h 1 WITHVALUES x
		HRANDFIELD h x
		HRANDFIELD h x y z
		HRANDFIELD h 9223372036854775807
		HRANDFIELD h 9223372036854775807 WITHVALUES
		HRANDFIELD h -9223372036854775808
		HRANDFIELD h -9223372036854775807 WITHVALUES
		HRANDFIELD missing
		HRANDFIELD missing 5
		HRANDFIELD missing 5 WITHVALUES
		HRANDFIELD missing -5
		HSET one a 1
		HRANDFIELD one
		HRANDFIELD one 1
		HRANDFIELD one -3
		HRANDFIELD one -3 WITHVALUES
		HRANDFIELD one 3 WITHVALUES
	`)
}

func TestHashTables(t *testing.T) {
	long := strings.Repeat("x", 65)
	diff(t, `
		HSET h a 1 b 2 c 3 `+long+` 4
		pairs: HGETALL h
		unordered: HKEYS h
		unordered: HVALS h
		HGET h `+long+`
		HSET h a 10
		HMGET h a b c d
		HDEL h a `+long+`
		HINCRBY h b 5
		HINCRBYFLOAT h b 0.5
		HSTRLEN h b
		pairs: HGETALL h
		HRANDFIELD h -100000000000 x
		HDEL h b c
		CONFIG SET hash-max-listpack-entries 2
		HSET k a 1 b 2
		HGETALL k
		HSET k c 3
		pairs: HGETALL k
	`)
}

// TestRandomFields checks what cannot be compared: that random fields are
// fields, distinct for a positive count, and all of them in the long run.
func TestRandomFields(t *testing.T) {
	for _, limit := range []string{"512", "2"} {
		l := newLocal(2)
		run := func(line string) []string {
			var words []string
			for _, word := range splitReply(l.run(splitArgs(t, line), false).reply) {
				words = append(words, bulkOf(word))
			}
			return words
		}
		run("CONFIG SET hash-max-listpack-entries " + limit)
		run("HSET h a 1 b 2 c 3 d 4 e 5 f 6 g 7 h 8 i 9 j 10")
		for _, count := range []string{"2", "3", "5", "9", "-20"} {
			chosen := map[string]bool{}
			for range 200 {
				fields := run("HRANDFIELD h " + count)
				distinct := map[string]bool{}
				for _, field := range fields {
					chosen[field], distinct[field] = true, true
				}
				if count[0] != '-' && len(distinct) != len(fields) {
					t.Fatalf("HRANDFIELD h %s answered %q", count, fields)
				}
			}
			if len(chosen) != 10 {
				t.Errorf("HRANDFIELD h %s: of ten fields only %d were ever chosen", count, len(chosen))
			}
		}
	}
}
