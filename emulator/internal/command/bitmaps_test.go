package command

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestBits(t *testing.T) {
	diff(t, `
		SETBIT b 7 1
		GET b
		SETBIT b 7 1
		SETBIT b 7 0
		SETBIT b 100 0
		STRLEN b
		SETBIT b 100 1
		GETBIT b 100
		GETBIT b 101
		GETBIT b 1000
		GETBIT nosuch 5
		SETBIT b -1 1
		SETBIT b x 1
		SETBIT b "#1" 1
		SETBIT b 4294967296 1
		SETBIT b 4294967295 2
		SETBIT b 1 2
		SETBIT b 1 -1
		SETBIT b 1 x
		SETBIT b x x
		GETBIT b x
		GETBIT b -1
		GETBIT b 4294967296
		GETBIT b 4294967295
		RPUSH l x
		SETBIT l 0 1
		GETBIT l 0
		GETBIT l x
		SETBIT l 0 x
		SET n 12
		GETBIT n 2
		SETBIT n 0 0
		OBJECT ENCODING n
		SETBIT n 7 1
		GET n
		OBJECT ENCODING n
		SETBIT new 0 0
		EXISTS new
	`)
}

func TestBitCount(t *testing.T) {
	diff(t, `
		SET k foobar
		BITCOUNT k
		BITCOUNT k 0 0
		BITCOUNT k 1 1
		BITCOUNT k 1 1 BYTE
		BITCOUNT k 5 30 BIT
		BITCOUNT k 5 5 bit
		BITCOUNT k -1 -2
		BITCOUNT k -1 -2 FOO
		BITCOUNT k -2 -1
		BITCOUNT k -100 -90
		BITCOUNT k 0 -100
		BITCOUNT k 0 -100 BIT
		BITCOUNT k 100 200
		BITCOUNT k 4 2
		BITCOUNT k -10 -3 BIT
		BITCOUNT k 0 -1 FOO
		BITCOUNT k 0
		BITCOUNT k 0 1 BIT BIT
		BITCOUNT k x 1
		BITCOUNT k 0 x
		BITCOUNT k x 1 FOO
		BITCOUNT nosuch
		BITCOUNT nosuch x
		BITCOUNT nosuch x y FOO
		RPUSH l x
		BITCOUNT l
		BITCOUNT l x y
		SET e ""
		BITCOUNT e
		BITCOUNT e 0 -1
		BITCOUNT e 0 -1 BIT
		SET n 123
		BITCOUNT n
	`)
}

func TestBitPos(t *testing.T) {
	diff(t, `
		SET k "\xff\xf0\x00"
		BITPOS k 0
		BITPOS k 1
		BITPOS k 1 2
		BITPOS k 0 0 0
		BITPOS k 0 0 -1
		BITPOS k 0 0
		BITPOS k 1 -1
		BITPOS k 0 5
		BITPOS k 0 7 15 BIT
		BITPOS k 1 12 14 BIT
		BITPOS k 1 7 15 BYTE
		BITPOS k 0 1 1 FOO
		BITPOS k 0 x
		BITPOS k 0 0 x
		BITPOS k 0 0 x FOO
		BITPOS k 0 x 0 FOO
		BITPOS k 0 0 1 BIT FOO
		BITPOS k 2
		BITPOS k -1
		BITPOS k x
		BITPOS nosuch 0
		BITPOS nosuch 1
		BITPOS nosuch 1 x y z
		BITPOS nosuch 2
		SET f "\xff\xff"
		BITPOS f 0
		BITPOS f 0 0
		BITPOS f 0 0 -1
		BITPOS f 0 1
		BITPOS f 0 2
		BITPOS f 0 3 10 BIT
		BITPOS f 1 -3 -1 BIT
		BITPOS f 1 -1 -3
		SET e ""
		BITPOS e 0
		BITPOS e 1
		BITPOS e 0 0 -1 BIT
		RPUSH l x
		BITPOS l 0
		BITPOS l 2
		BITPOS l 0 x
	`)
}

func TestBitOp(t *testing.T) {
	diff(t, `
		MSET a foobar b abcdef c "\x01\xff" e ""
		BITOP AND d a b
		GET d
		BITOP OR d a b c
		GET d
		BITOP xor d a b c
		GET d
		BITOP NOT d c
		GET d
		OBJECT ENCODING d
		BITOP NOT d a b
		BITOP AND d a nosuch
		GET d
		BITOP AND d c a b
		GET d
		BITOP OR d nosuch
		EXISTS d
		BITOP OR d nosuch e
		BITOP AND d a
		GET d
		BITOP FOO d a
		RPUSH l x
		BITOP AND d a l
		BITOP AND l a b
		TYPE l
		SET d x EX 100
		BITOP AND d a b
		TTL d
		BITOP NOT a a
		GET a
	`)
}

func TestBitField(t *testing.T) {
	diff(t, `
		BITFIELD k
		BITFIELD k GET u8 0
		EXISTS k
		BITFIELD k SET u8 0 255
		BITFIELD k SET u8 0 255
		BITFIELD k INCRBY u8 0 10
		BITFIELD k OVERFLOW SAT INCRBY u8 0 300
		BITFIELD k OVERFLOW SAT INCRBY u8 0 -300
		BITFIELD k OVERFLOW FAIL INCRBY u8 0 300
		BITFIELD k OVERFLOW FAIL INCRBY u8 0 0
		BITFIELD k SET i8 #1 -5 GET i8 #1 GET u8 #1 INCRBY i5 100 1 GET u4 0
		BITFIELD k SET i64 0 9223372036854775807 INCRBY i64 0 1
		BITFIELD k SET i64 0 -9223372036854775808 OVERFLOW SAT INCRBY i64 0 -1 OVERFLOW FAIL INCRBY i64 0 -1
		BITFIELD k SET u63 0 9223372036854775807 INCRBY u63 0 1
		BITFIELD k SET u8 0 -1
		BITFIELD k SET i8 0 200 OVERFLOW SAT SET i8 0 200 SET i8 0 -200 OVERFLOW FAIL SET i8 0 200 GET i8 0
		BITFIELD k OVERFLOW SAT SET u8 0 -1 SET u8 0 256 OVERFLOW FAIL SET u8 0 256
		BITFIELD k GET u64 0
		BITFIELD k GET i65 0
		BITFIELD k GET u0 0
		BITFIELD k GET x8 0
		BITFIELD k GET i 0
		BITFIELD k GET "" 0
		BITFIELD k GET u8 x
		BITFIELD k GET u8 -1
		BITFIELD k GET u8 #x
		BITFIELD k GET u8 #
		BITFIELD k GET u8
		BITFIELD k SET u8 0
		BITFIELD k SET u8 0 x
		BITFIELD k OVERFLOW
		BITFIELD k OVERFLOW FOO
		BITFIELD k FOO
		BITFIELD k OVERFLOW SAT
		BITFIELD k GET u8 4294967295
		BITFIELD k GET u8 4294967296
		BITFIELD k GET u8 #536870911
		BITFIELD k GET u8 #536870912
		BITFIELD_RO k GET u8 0
		BITFIELD_RO k SET u8 0 1
		BITFIELD_RO nosuch GET i16 3
		BITFIELD_RO nosuch SET u8 0 1
		RPUSH l x
		BITFIELD l GET u8 0
		BITFIELD l SET u8 0 1
		BITFIELD_RO l SET u8 0 1
		BITFIELD l SET u8 0 x
		SET n 123
		BITFIELD n SET u8 0 49
		OBJECT ENCODING n
		BITFIELD n SET u8 0 50 SET u8 0 50 SET u8 100 0
		GET n
	`)
}

// Random fields and ranges over a few random strings.
func TestBitsAtRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 11))
	var script strings.Builder
	for range 400 {
		key := rng.IntN(3)
		sign, width := "u", 1+rng.IntN(63)
		if rng.IntN(2) == 0 {
			sign, width = "i", 1+rng.IntN(64)
		}
		from, to := rng.IntN(60)-30, rng.IntN(60)-30
		unit := [...]string{"BIT", "BYTE"}[rng.IntN(2)]
		fmt.Fprintf(&script, "BITFIELD k%d OVERFLOW %s INCRBY %s%d %d %d\n", key,
			[...]string{"WRAP", "SAT", "FAIL"}[rng.IntN(3)], sign, width, rng.IntN(70), int64(rng.Uint64())>>rng.IntN(64))
		fmt.Fprintf(&script, "BITFIELD k%d SET %s%d %d %d\n", key, sign, width, rng.IntN(70), int64(rng.Uint64())>>rng.IntN(64))
		fmt.Fprintf(&script, "BITCOUNT k%d %d %d %s\n", key, from, to, unit)
		fmt.Fprintf(&script, "BITPOS k%d %d %d %d %s\n", key, rng.IntN(2), from, to, unit)
		fmt.Fprintf(&script, "BITPOS k%d %d %d\n", key, rng.IntN(2), from)
		fmt.Fprintf(&script, "GET k%d\n", key)
	}
	diff(t, script.String())
}
