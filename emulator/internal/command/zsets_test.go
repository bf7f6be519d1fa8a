package command

import (
	"fmt"
	"testing"
)

func TestZAdd(t *testing.T) {
	diff(t, `
		ZADD z 1 a 2 b 3 c
		ZADD z 1 a 5 b
		ZADD z CH 1 a 6 b 7 d
		ZADD z NX 9 a 1 e
		ZADD z XX 9 a 1 f
		ZADD z XX CH 8 a 1 f
		ZADD z GT CH 1 a 100 b
		ZADD z LT CH 1 a 1000 b
		ZADD z GT XX CH 100 a 100 new
		ZADD z GT 5 new2
		ZADD z INCR 1 a
		ZADD z INCR NX 1 a
		ZADD z INCR XX 1 missing
		ZADD z INCR GT -1 a
		ZADD z INCR LT 1 a
		ZADD z INCR 1 a 2 b
		ZADD z NX XX 1 a
		ZADD z NX GT 1 a
		ZADD z LT NX 1 a
		ZADD z GT LT 1 a
		ZADD z GT LT NX XX 1 a
		ZADD z 1
		ZADD z 1 a 2
		ZADD z nx xx gt ch
		ZADD z x a
		ZADD z 1 a x b
		ZADD z nan a
		ZADD z " 1" a
		ZADD z "1 " a
		ZADD z "" a
		ZADD z 0x1F hex
		ZADD z +inf p -inf m inf p2
		ZADD z infinity q
		ZADD z INCR -inf p
		ZADD z INCR nan p
		ZADD z 1e400 big
		ZADD z 1e-400 small
		ZADD z 5e-324 denormal
		ZADD z -0 negzero
		ZADD z 0 zero
		ZADD z -0 zero
		ZADD z 1.1 x1 0.1 x2 1e21 x3 123456789012345678 x4 9007199254740993 x5 -1.5e-7 x6
		ZRANGE z 0 -1 WITHSCORES
		ZADD missing XX 1 a
		ZADD missing XX INCR 1 a
		EXISTS missing
		ZINCRBY z 1.5 a
		ZINCRBY z x a
		ZINCRBY z nx a
		ZINCRBY zi 3 new
		ZINCRBY zi -3 new
		ZINCRBY zi 0 new
		ZINCRBY zi inf new
		ZINCRBY zi -inf new
		SET s v
		ZADD s 1 a
		ZADD s x a
		ZADD s XX 1 a
		ZINCRBY s 1 a
		ZADD z 5 "" 5 "\x00\xff" 5 "\xff"
		ZRANGE z 0 -1
		ZADD i 1 100 1 20 1 -3 1 007 1 5 1 a
		ZRANGE i 0 -1 WITHSCORES
		ZSCORE i 20
		ZSCORE i 020
		ZADD big 1 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
		ZADD big 1 b
		ZRANGE big 0 -1
	`)
}

func TestZSetReads(t *testing.T) {
	diff(t, zsetReads)
}

// TestZSetReadsOfSkiplists runs the same on the other encoding.
func TestZSetReadsOfSkiplists(t *testing.T) {
	diff(t, "CONFIG SET zset-max-listpack-entries 0\n"+zsetReads+"\nCONFIG SET zset-max-listpack-entries 128")
}

const zsetReads = `
	ZADD z 1 a 2 b 2 bb 3 c 4.5 d inf e -inf f
	SET s v
	ZCARD z
	ZCARD missing
	ZCARD s
	ZSCORE z a
	ZSCORE z d
	ZSCORE z e
	ZSCORE z f
	ZSCORE z missing
	ZSCORE missing a
	ZSCORE s a
	ZMSCORE z a b missing e
	ZMSCORE missing a b
	ZMSCORE s a
	ZRANK z a
	ZRANK z f
	ZRANK z missing
	ZRANK missing a
	ZRANK s a
	ZREVRANK z a
	ZREVRANK z e
	ZREVRANK z missing
	ZREVRANK missing a
	ZREVRANK s a
	ZRANGE z 0 -1
	ZRANGE z 0 -1 WITHSCORES
	ZRANGE z 0 -1 REV WITHSCORES
	ZRANGE z 1 2
	ZRANGE z -2 -1
	ZRANGE z -100 0
	ZRANGE z 5 100
	ZRANGE z 7 100
	ZRANGE z 2 1
	ZRANGE z 1 2 REV
	ZRANGE z -2 100 REV
	ZRANGE z a 1
	ZRANGE z 0 a
	ZRANGE z 0 -1 LIMIT 0 1
	ZRANGE z 0 -1 LIMIT 0 -1
	ZRANGE z 0 -1 LIMIT 1 -1
	ZRANGE z 0 -1 LIMIT a 1
	ZRANGE z 0 -1 LIMIT 0 b
	ZRANGE z 0 -1 LIMIT 0
	ZRANGE z 0 -1 FOO
	ZRANGE z 0 -1 REV REV
	ZRANGE z 0 -1 BYSCORE BYLEX
	ZRANGE z 0 -1 BYLEX WITHSCORES
	ZRANGE z [a [b BYLEX WITHSCORES LIMIT 0 a
	ZRANGE z 1 3 BYSCORE
	ZRANGE z 1 3 BYSCORE WITHSCORES
	ZRANGE z (1 3 BYSCORE
	ZRANGE z 1 (3 BYSCORE
	ZRANGE z 3 1 BYSCORE REV
	ZRANGE z 3 1 BYSCORE
	ZRANGE z -inf +inf BYSCORE LIMIT 1 2
	ZRANGE z -inf +inf BYSCORE LIMIT 1 -1
	ZRANGE z -inf +inf BYSCORE LIMIT 1 -5
	ZRANGE z -inf +inf BYSCORE LIMIT -1 2
	ZRANGE z -inf +inf BYSCORE LIMIT 100 2
	ZRANGE z -inf +inf BYSCORE LIMIT 0 0
	ZRANGE z +inf -inf BYSCORE REV LIMIT 1 2 WITHSCORES
	ZRANGE z (-inf (+inf BYSCORE
	ZRANGE z "" 3 BYSCORE
	ZRANGE z " 1" 3 BYSCORE
	ZRANGE z "1 " 3 BYSCORE
	ZRANGE z nan 3 BYSCORE
	ZRANGE z 1 (nan BYSCORE
	ZRANGE z 1e-400 1e400 BYSCORE
	ZRANGE z "1\x00x" "3\x00" BYSCORE
	ZRANGE z (( 3 BYSCORE
	ZRANGE z ( 3 BYSCORE
	ZRANGE z (2 (2 BYSCORE
	ZRANGE z (2 2 BYSCORE
	ZRANGE missing 0 -1
	ZRANGE missing 0 -1 WITHSCORES
	ZRANGE missing a -1
	ZRANGE s 0 -1
	ZRANGE s a -1
	ZREVRANGE z 0 -1
	ZREVRANGE z 0 1 WITHSCORES
	ZREVRANGE z 0 1 REV
	ZREVRANGE z 0 1 BYSCORE
	ZREVRANGE z 0 1 LIMIT 0 1
	ZRANGEBYSCORE z 1 3
	ZRANGEBYSCORE z 1 3 WITHSCORES LIMIT 1 1
	ZRANGEBYSCORE z 1 3 LIMIT 1 1 WITHSCORES
	ZRANGEBYSCORE z 1 3 REV
	ZRANGEBYSCORE z 1 x
	ZREVRANGEBYSCORE z 3 1
	ZREVRANGEBYSCORE z 1 3
	ZREVRANGEBYSCORE z (3 (1 WITHSCORES
	ZREVRANGEBYSCORE z +inf -inf LIMIT 2 3
	ZCOUNT z 1 3
	ZCOUNT z (1 3
	ZCOUNT z (1 (3
	ZCOUNT z -inf +inf
	ZCOUNT z (-inf (+inf
	ZCOUNT z 3 1
	ZCOUNT z 10 20
	ZCOUNT z x 1
	ZCOUNT z 1 x
	ZCOUNT missing 1 2
	ZCOUNT missing x 2
	ZCOUNT s 1 2
	ZADD l 0 a 0 b 0 c 0 d 0 "" 0 "d\x00" 0 10 0 9
	ZRANGEBYLEX l - +
	ZRANGEBYLEX l + -
	ZRANGEBYLEX l - -
	ZRANGEBYLEX l + +
	ZRANGEBYLEX l [b [c
	ZRANGEBYLEX l (b [c
	ZRANGEBYLEX l [b (c
	ZRANGEBYLEX l (b (c
	ZRANGEBYLEX l (b (b
	ZRANGEBYLEX l [b [b
	ZRANGEBYLEX l [ ( 
	ZRANGEBYLEX l [ + LIMIT 1 2
	ZRANGEBYLEX l ( +
	ZRANGEBYLEX l [d +
	ZRANGEBYLEX l (d +
	ZRANGEBYLEX l [x +
	ZRANGEBYLEX l - (\x00
	ZRANGEBYLEX l b c
	ZRANGEBYLEX l "" [c
	ZRANGEBYLEX l +x -
	ZRANGEBYLEX l "-\x00x" "+\x00"
	ZRANGEBYLEX l - + WITHSCORES
	ZRANGEBYLEX l - + LIMIT -1 2
	ZRANGEBYLEX l - + LIMIT 2 -1
	ZREVRANGEBYLEX l + -
	ZREVRANGEBYLEX l [c [a
	ZREVRANGEBYLEX l (c (a LIMIT 0 1
	ZREVRANGEBYLEX l - +
	ZRANGE l - + BYLEX
	ZRANGE l + - BYLEX REV
	ZRANGE l + - BYLEX REV LIMIT 1 2
	ZLEXCOUNT l - +
	ZLEXCOUNT l [a [c
	ZLEXCOUNT l (a (c
	ZLEXCOUNT l + -
	ZLEXCOUNT l [x [z
	ZLEXCOUNT l x [z
	ZLEXCOUNT missing - +
	ZLEXCOUNT s - +
	ZLEXCOUNT s x y
	ZRANDMEMBER missing
	ZRANDMEMBER missing 3
	ZRANDMEMBER s
	ZRANDMEMBER s 3
	any: ZRANDMEMBER l
	any: ZRANDMEMBER l 2
	unordered: ZRANDMEMBER l 8
	ZRANDMEMBER l 100
	ZRANDMEMBER z 100 WITHSCORES
	ZRANDMEMBER l 0
	ZRANDMEMBER l 0 WITHSCORES
	ZRANDMEMBER l x
	ZRANDMEMBER l 1 FOO
	ZRANDMEMBER l 1 WITHSCORES FOO
	ZRANDMEMBER l -9223372036854775808
	ZRANDMEMBER l -9223372036854775807 WITHSCORES
	ZRANDMEMBER l 9223372036854775807 WITHSCORES
	ZRANDMEMBER l 9223372036854775807
	ZADD one 1 a
	ZRANDMEMBER one
	ZRANDMEMBER one 1
	ZRANDMEMBER one 1 WITHSCORES
	ZRANDMEMBER one -3
	ZRANDMEMBER one -3 WITHSCORES
	ZRANDMEMBER one 3 WITHSCORES
`

// TestLexRangesAcrossScores relies on nothing Redis promises: the listpack's
// answers are merely easy to give.
func TestLexRangesAcrossScores(t *testing.T) {
	diff(t, `
		ZADD z 1 d 2 a 3 c 4 b
		ZRANGEBYLEX z [a [c
		ZREVRANGEBYLEX z [c [a
		ZRANGEBYLEX z [b +
		ZREVRANGEBYLEX z + [b
		ZRANGEBYLEX z - [b
		ZLEXCOUNT z [b +
		ZLEXCOUNT z - [d
		ZREMRANGEBYLEX z [a [a
	`)
}

func TestZSetRemovals(t *testing.T) {
	diff(t, zsetRemovals)
}

func TestZSetRemovalsFromSkiplists(t *testing.T) {
	diff(t, "CONFIG SET zset-max-listpack-entries 0\n"+zsetRemovals+"\nCONFIG SET zset-max-listpack-entries 128")
}

const zsetRemovals = `
	SET s v
	ZADD z 1 a 2 b 3 c 4 d 5 e 6 f 7 g 8 h 9 i 10 j
	ZREM z a missing b
	ZREM z missing
	ZREM missing a
	ZREM s a
	ZREMRANGEBYRANK z 0 1
	ZREMRANGEBYRANK z -1 -1
	ZREMRANGEBYRANK z 5 1
	ZREMRANGEBYRANK z 100 200
	ZREMRANGEBYRANK z x 1
	ZREMRANGEBYRANK z 1 x
	ZREMRANGEBYRANK missing 0 1
	ZREMRANGEBYRANK s 0 1
	ZREMRANGEBYSCORE z (5 6
	ZREMRANGEBYSCORE z 100 200
	ZREMRANGEBYSCORE z x 1
	ZREMRANGEBYSCORE missing 1 1
	ZREMRANGEBYSCORE s 1 1
	ZRANGE z 0 -1 WITHSCORES
	ZREMRANGEBYSCORE z -inf inf
	ZADD z 0 a 0 b 0 c 0 d
	ZREMRANGEBYLEX z [b (d
	ZREMRANGEBYLEX z x y
	ZREMRANGEBYLEX missing - +
	ZREMRANGEBYLEX s - +
	ZREMRANGEBYLEX z [x [y
	ZRANGE z 0 -1
	ZREMRANGEBYLEX z - +
	ZADD z 0 a 0 b
	ZREMRANGEBYRANK z 0 -1
	ZADD z 0 a 0 b
	ZREM z a b c
	EXISTS z
	ZADD z 1 a 2 b 3 c 4 d 5 e 6 f 7 g 8 h 9 i 10 j
	ZPOPMIN z
	ZPOPMAX z
	ZPOPMIN z 2
	ZPOPMAX z 2
	ZPOPMIN z 0
	ZPOPMIN z -1
	ZPOPMIN z x
	ZPOPMIN z 1 2
	ZPOPMIN missing
	ZPOPMIN missing 2
	ZPOPMIN missing 0
	ZPOPMIN s
	ZPOPMIN s 0
	ZPOPMAX z 100
	EXISTS z
	ZADD z 1 a 2 b 3 c 4 d 5 e 6 f 7 g 8 h 9 i 10 j
	ZMPOP 1 z MIN
	ZMPOP 2 missing z MAX COUNT 2
	ZMPOP 2 missing s MAX COUNT 2
	ZMPOP 2 z s MAX
	ZMPOP 1 missing MIN
	ZMPOP 0 z MIN
	ZMPOP x z MIN
	ZMPOP -1 z MIN
	ZMPOP 3 z MIN
	ZMPOP 2 z MIN
	ZMPOP 1 z FOO
	ZMPOP 1 z MIN COUNT
	ZMPOP 1 z MIN COUNT 0
	ZMPOP 1 z MIN COUNT x
	ZMPOP 1 z MIN COUNT 1 COUNT 2
	ZMPOP 1 z MIN FOO 1
	ZMPOP 1 z MIN COUNT 100
	ZADD z 1 a 2 b 3 c 4 d 5 e 6 f 7 g 8 h 9 i 10 j
	BZPOPMIN z 0
	BZPOPMAX missing z 1.5
	BZPOPMAX s z 1
	BZPOPMAX z s 1
	BZPOPMIN z -1
	BZPOPMIN z x
	BZPOPMIN z inf
	BZPOPMIN z -inf
	BZPOPMIN z 1e16
	BZPOPMIN z 9223372036854775
	multi: BZPOPMIN missing 0
	multi: BZPOPMIN missing 1
	multi: BZPOPMAX missing missing2 0
	BZMPOP 0 1 z MIN
	BZMPOP 1 2 missing z MAX COUNT 2
	BZMPOP 1 1 s MAX COUNT 2
	BZMPOP x 1 z MAX
	BZMPOP x 1 z FOO
	BZMPOP -1 1 z MAX
	BZMPOP 1 0 z MAX
	BZMPOP 1 2 z MAX
	multi: BZMPOP 0 1 missing MAX
	BZMPOP 1 1 z MAX COUNT 100
	EXISTS z
	ZADD z 1 a
	BZPOPMIN z 0
`

func TestZRangeStore(t *testing.T) {
	diff(t, `
		SET s v
		ZADD z 1 a 2 b 3 c 4 d
		ZRANGESTORE dst z 0 -1
		ZRANGE dst 0 -1 WITHSCORES
		ZRANGESTORE dst z 1 2 REV
		ZRANGE dst 0 -1 WITHSCORES
		ZRANGESTORE dst z 3 1 BYSCORE REV LIMIT 0 1
		ZRANGE dst 0 -1 WITHSCORES
		ZRANGESTORE dst z [a [b BYLEX
		ZRANGESTORE dst z 0 -1 WITHSCORES
		ZRANGESTORE dst z 0 -1 LIMIT 0 1
		ZRANGESTORE dst z x 1
		ZRANGESTORE dst z 5 1
		EXISTS dst
		ZRANGESTORE dst z 5 1
		SET dst v
		ZRANGESTORE dst missing 0 -1
		ZRANGESTORE s z 0 -1
		ZRANGE s 0 -1
		SET s v
		ZRANGESTORE dst s 0 -1
		ZRANGESTORE z z 0 1
		ZRANGE z 0 -1
		EXPIRE z 100
		ZRANGESTORE z z 0 1
		TTL z
	`)
}

func TestZCombine(t *testing.T) {
	diff(t, `
		SET s v
		ZADD a 1 x 2 y 3 z
		ZADD b 10 y 20 z 30 w
		ZADD c 5 z
		SADD set x y q
		SADD ints 1 2 3
		ZUNION 2 a b
		ZUNION 2 a b WITHSCORES
		ZUNION 3 a b set WITHSCORES
		ZUNION 2 a b WEIGHTS 2 3 WITHSCORES
		ZUNION 2 a b WEIGHTS 2 3 AGGREGATE MIN WITHSCORES
		ZUNION 2 a b AGGREGATE MAX WITHSCORES
		ZUNION 2 a b AGGREGATE SUM
		ZUNION 2 a b AGGREGATE FOO
		ZUNION 2 a b AGGREGATE
		ZUNION 2 a b WEIGHTS 1
		ZUNION 2 a b WEIGHTS 1 x
		ZUNION 2 a b WEIGHTS 1 nan
		ZUNION 2 a b WEIGHTS 1 2 3
		ZUNION 2 a b WEIGHTS inf -inf WITHSCORES
		ZUNION 2 a b WEIGHTS 0 -0 WITHSCORES
		ZUNION 2 a b LIMIT 1
		ZUNION 2 a b FOO
		ZUNION 2 a missing WITHSCORES
		ZUNION 1 missing
		ZUNION 0 a
		ZUNION -1 a
		ZUNION x a
		ZUNION 3 a b
		ZUNION 2 a s
		ZUNION 2 missing s
		ZUNION 2 a a WITHSCORES
		ZUNION 2 set ints WITHSCORES
		ZINTER 2 a b
		ZINTER 2 a b WITHSCORES
		ZINTER 3 a b c WITHSCORES
		ZINTER 2 a set WITHSCORES
		ZINTER 2 a set WEIGHTS 2 5 AGGREGATE MAX WITHSCORES
		ZINTER 2 a missing
		ZINTER 2 a a WEIGHTS 2 3 WITHSCORES
		ZINTER 2 a b AGGREGATE MIN WITHSCORES
		ZINTER 2 a b WEIGHTS inf -inf WITHSCORES
		ZINTER 2 a s
		ZINTER 0 a
		ZDIFF 2 a b
		ZDIFF 2 a b WITHSCORES
		ZDIFF 3 a b set WITHSCORES
		ZDIFF 2 a set WITHSCORES
		ZDIFF 2 set a WITHSCORES
		ZDIFF 2 a a
		ZDIFF 2 missing a
		ZDIFF 2 a missing WITHSCORES
		ZDIFF 1 ints
		ZDIFF 2 a b WEIGHTS 1 2
		ZDIFF 2 a b AGGREGATE MIN
		ZDIFF 2 a s
		ZDIFF 0 a
		ZUNIONSTORE dst 2 a b
		ZRANGE dst 0 -1 WITHSCORES
		ZUNIONSTORE dst 2 a b WITHSCORES
		ZUNIONSTORE dst 2 a b WEIGHTS 1.1 2.2 AGGREGATE SUM
		ZRANGE dst 0 -1 WITHSCORES
		ZUNIONSTORE dst 1 missing
		EXISTS dst
		ZUNIONSTORE dst 1 missing
		ZUNIONSTORE dst 0 missing
		ZUNIONSTORE dst 2 missing
		ZUNIONSTORE dst x missing
		ZINTERSTORE dst 2 a b
		ZRANGE dst 0 -1 WITHSCORES
		ZINTERSTORE dst 2 a b WEIGHTS 2 2
		ZINTERSTORE dst 2 a missing
		ZINTERSTORE dst 2 a s
		ZDIFFSTORE dst 2 a b
		ZRANGE dst 0 -1 WITHSCORES
		ZDIFFSTORE dst 2 a a
		ZDIFFSTORE dst 2 a a
		ZDIFFSTORE dst 1 a WITHSCORES
		ZUNIONSTORE s 1 a
		TYPE s
		ZUNIONSTORE a 2 a a
		ZRANGE a 0 -1 WITHSCORES
		ZINTERCARD 2 a b
		ZINTERCARD 2 a b LIMIT 1
		ZINTERCARD 2 a b LIMIT 0
		ZINTERCARD 2 a b LIMIT -1
		ZINTERCARD 2 a b LIMIT x
		ZINTERCARD 2 a b LIMIT
		ZINTERCARD 2 a b WITHSCORES
		ZINTERCARD 2 a b WEIGHTS 1 2
		ZINTERCARD 2 a missing
		ZINTERCARD 1 set
		ZINTERCARD 0 a
		ZADD inf1 inf a
		ZADD inf2 -inf a
		ZUNION 2 inf1 inf2 WITHSCORES
		ZINTER 2 inf1 inf2 WITHSCORES
		ZUNION 2 inf1 inf2 WITHSCORES AGGREGATE MIN
		ZUNION 2 inf1 inf2 WITHSCORES AGGREGATE MAX
		ZUNION 1 inf1 WEIGHTS 0 WITHSCORES
		ZINTER 2 inf1 inf1 WEIGHTS 1 0 AGGREGATE MIN WITHSCORES
		ZINTER 2 inf1 inf1 WEIGHTS 0 1 AGGREGATE MIN WITHSCORES
	`)
}

func TestZSetEncodings(t *testing.T) {
	script := "CONFIG SET zset-max-listpack-entries 4\nCONFIG SET zset-max-listpack-value 5\n"
	for i := range 6 {
		script += fmt.Sprintf("ZADD z %d m%d\nOBJECT ENCODING z\n", i, i)
	}
	script += `
		ZREM z m0 m1 m2 m3
		OBJECT ENCODING z
		ZADD long 1 12345
		OBJECT ENCODING long
		ZADD long 1 123456
		OBJECT ENCODING long
		ZADD first 1 123456
		OBJECT ENCODING first
		ZUNIONSTORE dst 1 z
		OBJECT ENCODING dst
		ZUNIONSTORE dst 1 long
		OBJECT ENCODING dst
		ZUNIONSTORE dst 2 z first
		OBJECT ENCODING dst
		ZADD five 1 a 2 b 3 c 4 d 5 e
		OBJECT ENCODING five
		ZRANGESTORE dst five 0 3
		OBJECT ENCODING dst
		ZRANGESTORE dst five 0 4
		OBJECT ENCODING dst
		ZRANGESTORE dst five 1 5 BYSCORE
		OBJECT ENCODING dst
		ZRANGESTORE dst five 1 4 BYSCORE
		OBJECT ENCODING dst
		COPY five copy
		OBJECT ENCODING copy
		ZRANGE copy 0 -1 WITHSCORES
		CONFIG SET zset-max-listpack-entries 0
		ZADD none 1 a
		OBJECT ENCODING none
		CONFIG SET zset-max-listpack-entries 128
		CONFIG SET zset-max-listpack-value 64
		ZADD none 1 b
		OBJECT ENCODING none
	`
	diff(t, script)
}

func TestZScan(t *testing.T) {
	diff(t, `
		SET s v
		ZADD z 1 a 2.5 b 3 ab -0 10 inf p -inf m 1e17 big 0.1 tenth 1e300 huge -9007199254740993 odd
		ZSCAN z 0
		ZSCAN z 0 COUNT 1
		ZSCAN z 0 MATCH a*
		ZSCAN z 0 MATCH * COUNT 1
		ZSCAN z 0 COUNT 0
		ZSCAN z 0 COUNT x
		ZSCAN z 0 TYPE zset
		ZSCAN z 0 MATCH
		ZSCAN z x
		ZSCAN z 5
		ZSCAN missing x
		ZSCAN missing 0
		ZSCAN missing 0 COUNT x
		ZSCAN s 0
		ZSCAN s 0 COUNT x
		CONFIG SET zset-max-listpack-entries 0
		ZADD l 1 a
		ZSCAN l 0
		ZADD l 1 a -0 z 1e17 big 0.1 tenth 1e300 huge -9007199254740993 odd inf p -inf m 1234567890123456 d16
		ZSCAN l 0 MATCH huge COUNT 100
		ZSCAN l 0 MATCH tenth COUNT 100
		ZSCAN l 0 MATCH big COUNT 100
		ZSCAN l 0 MATCH odd COUNT 100
		ZSCAN l 0 MATCH p COUNT 100
		ZSCAN l 0 MATCH m COUNT 100
		ZSCAN l 0 MATCH z COUNT 100
		ZSCAN l 0 MATCH d16 COUNT 100
		CONFIG SET zset-max-listpack-entries 128
	`)
}
