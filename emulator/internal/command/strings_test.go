package command

import (
	"testing"

	"github.com/fakecluster/fakecluster/emulator/internal/version"
)

func TestSet(t *testing.T) {
	diff(t, `
		SET k v
		GET k
		SET k v NX
		SET n v NX
		SET n w XX
		SET missing w XX
		SET k v2 GET
		SET missing v GET
		SET missing2 v XX GET
		SET k v3 NX GET
		SET k v3 XX GET
		GET k
		SET k v EX 100
		TTL k
		SET k v2 KEEPTTL
		TTL k
		SET k v2
		TTL k
		SET k v PX 100000
		TTL k
		SET k v EXAT 4102444800
		EXPIRETIME k
		SET k v PXAT 4102444800001
		PEXPIRETIME k
		SET k v EX 0
		SET k v EX -1
		SET k v PX -1
		SET k v EXAT 0
		SET k v PXAT -1
		SET k v EX notanumber
		SET k v EX 9223372036854775807
		SET k v EX 9223372036854775
		SET k v EX 9223372036854776
		SET k v PX 9223372036854775807
		SET k v EXAT 9223372036854775807
		SET k v PXAT 9223372036854775807
		PEXPIRETIME k
		SET k v EX
		SET k v EX 10 PX 10
		SET k v EX 10 KEEPTTL
		SET k v KEEPTTL EX 10
		SET k v NX XX
		SET k v XX NX
		SET k v NX NX
		SET k v GET GET
		SET k v PERSIST
		SET k v foo
		SET k v EXAT 1
		GET k
		EXISTS k
		SET k v PXAT 1000
		EXISTS k
		SET k v ex 10 get
		LPUSH s a
		SET s v GET
		SET s v NX GET
		GET s
		SET s v
		TYPE s
		SET "" empty
		GET ""
		SET k ""
		GET k
		SET k "a\x00b\r\n"
		GET k
		SET k 10 XX GET EX 10
		SET k 11 XX GET KEEPTTL
		SET k 12 XX GET
		SET k 11 GET PXAT 4102444800001
		set k 11 pxat 4102444800001
		set k 11 keepttl
	`)
}

func TestStringEncoding(t *testing.T) {
	diff(t, `
		SET k 1
		OBJECT ENCODING k
		SET k 9223372036854775807
		OBJECT ENCODING k
		SET k 9223372036854775808
		OBJECT ENCODING k
		SET k -9223372036854775808
		OBJECT ENCODING k
		SET k 01
		OBJECT ENCODING k
		SET k -0
		OBJECT ENCODING k
		SET k " 1"
		OBJECT ENCODING k
		SET k 12345678901234567890123456789012345678901234
		OBJECT ENCODING k
		SET k 123456789012345678901234567890123456789012345
		OBJECT ENCODING k
		SET k ""
		OBJECT ENCODING k
		APPEND k a
		OBJECT ENCODING k
		APPEND new 12
		OBJECT ENCODING new
		APPEND new 3
		OBJECT ENCODING new
		GET new
		INCR new
		OBJECT ENCODING new
		INCRBYFLOAT new 1
		OBJECT ENCODING new
		GET new
		SETRANGE new 0 7
		OBJECT ENCODING new
		SETRANGE new2 2 7
		OBJECT ENCODING new2
		GETSET new 12
		OBJECT ENCODING new
		MSET a 1 b x
		OBJECT ENCODING a
		OBJECT ENCODING b
		SETNX c 12
		OBJECT ENCODING c
		SETEX c 10 13
		OBJECT ENCODING c
		COPY new new3
		OBJECT ENCODING new3
		OBJECT REFCOUNT new3
		INCRBY new3 0
		OBJECT REFCOUNT new3
		SET k 10000
		OBJECT REFCOUNT k
		SET k 9999
		OBJECT REFCOUNT k
		SET k -1
		OBJECT REFCOUNT k
		SET k abc
		OBJECT REFCOUNT k
		INCRBY n 5
		OBJECT REFCOUNT n
		DECRBY n 6
		OBJECT REFCOUNT n
		INCRBY n 10
		OBJECT REFCOUNT n
	`)
}

func TestSetVariants(t *testing.T) {
	diff(t, `
		SETNX k a
		SETNX k b
		GET k
		SETEX k 10 v
		TTL k
		SETEX k 0 v
		SETEX k -1 v
		SETEX k x v
		SETEX k 9223372036854775807 v
		PSETEX k 10000 v
		PSETEX k 0 v
		PSETEX k 1.5 v
		PSETEX k 9223372036854775807 v
		GETSET k w
		TTL k
		GETSET new w
		GET new
		GETDEL k
		GETDEL k
		MSET a 1 b 2 a 3
		MGET a b nosuch
		MSETNX a 1 c 2
		MGET a c
		MSETNX d 1 d 2
		GET d
		LPUSH s x
		GET s
		GETSET s v
		GETDEL s
		MGET s a
		MSET s v
		GET s
		MSET a
		MSET a 1 b
		MSETNX a 1 b
		LPUSH s2 x
		SETNX s2 v
		APPEND s2 v
		STRLEN s2
		STRLEN a
		STRLEN nosuch
	`)
}

func TestGetEx(t *testing.T) {
	diff(t, `
		SET k v
		GETEX k
		GETEX nosuch
		GETEX nosuch EX 10
		GETEX k EX 100
		TTL k
		GETEX k
		TTL k
		GETEX k PERSIST
		GETEX k PERSIST
		TTL k
		GETEX k PX 100000
		GETEX k PXAT 4102444800001
		PEXPIRETIME k
		GETEX k EXAT 4102444800
		PEXPIRETIME k
		GETEX k EX 0
		GETEX k EX -1
		GETEX k EX x
		GETEX k EX
		GETEX k EX 10 PX 10
		GETEX k EX 10 PERSIST
		GETEX k PERSIST EX 10
		GETEX k KEEPTTL
		GETEX k NX
		GETEX k GET
		GETEX k EX 9223372036854775807
		GETEX nosuch EX 0
		GETEX nosuch EX x
		GETEX k EXAT 1
		EXISTS k
		LPUSH s a
		GETEX s EX 10
		GETEX s EX x
		GETEX s BAD
	`)
}

func TestAppendAndRanges(t *testing.T) {
	diff(t, `
		APPEND k hello
		APPEND k " world"
		APPEND k ""
		APPEND new ""
		EXISTS new
		GETRANGE k 0 4
		GETRANGE k -5 -1
		GETRANGE k -100 100
		GETRANGE k 5 2
		GETRANGE k -1 -5
		GETRANGE k 100 200
		GETRANGE k -200 -100
		GETRANGE k 0 -200
		GETRANGE k x 0
		GETRANGE k 0 x
		GETRANGE nosuch 0 -1
		GETRANGE nosuch x -1
		GETRANGE k 0 9223372036854775807
		GETRANGE k -9223372036854775808 9223372036854775807
		SUBSTR k 1 3
		SET n 12345
		GETRANGE n 1 -2
		SETRANGE k 6 redis
		GET k
		SETRANGE k 20 x
		GET k
		SETRANGE k 0 ""
		SETRANGE nosuch 0 ""
		SETRANGE nosuch 5 ""
		EXISTS nosuch
		SETRANGE nosuch 5 x
		GET nosuch
		SETRANGE k -1 x
		SETRANGE k x x
		SETRANGE k 536870912 x
		SETRANGE k 536870911 ""
		SETRANGE k 9223372036854775807 x
		SETRANGE nosuch2 9223372036854775807 ""
		SETRANGE n 1 x
		GET n
		LPUSH s a
		GETRANGE s 0 1
		GETRANGE s x 1
		SETRANGE s 0 x
		SETRANGE s -1 x
		SETRANGE s 0 ""
		SETRANGE s 536870912 x
	`)
}

func TestIncrements(t *testing.T) {
	diff(t, `
		INCR n
		INCRBY n 10
		DECR n
		DECRBY n 5
		GET n
		INCRBY n x
		INCRBY n 1.5
		DECRBY n x
		DECRBY n -9223372036854775808
		INCRBY n -9223372036854775808
		SET n 9223372036854775807
		INCR n
		DECRBY n -1
		SET n -9223372036854775808
		DECR n
		INCRBY n -1
		SET n abc
		INCR n
		INCRBY n x
		SET n ""
		INCR n
		SET n " 1"
		INCR n
		SET n 01
		INCR n
		LPUSH s a
		INCR s
		INCRBY s x
		INCRBYFLOAT s 1
		INCRBYFLOAT s x
		SET e 5 EX 100
		INCR e
		TTL e
		INCRBYFLOAT e 0.1
		TTL e
		INCRBYFLOAT f 10.5
		INCRBYFLOAT f 0.1
		INCRBYFLOAT f -5
		INCRBYFLOAT f 5.0e3
		INCRBYFLOAT f x
		INCRBYFLOAT f nan
		INCRBYFLOAT f inf
		INCRBYFLOAT f -inf
		INCRBYFLOAT f 1e4931
		INCRBYFLOAT f 1e4933
		GET f
		SET f 3.0e3
		INCRBYFLOAT f 200
		SET f " 1"
		INCRBYFLOAT f 1
		SET f "1 "
		INCRBYFLOAT f 1
		SET f 0.1
		INCRBYFLOAT f 0.2
		SET f 1e17
		INCRBYFLOAT f 1
		SET f inf
		INCRBYFLOAT f 1
		SET f 0xA
		INCRBYFLOAT f 1
		SET f ""
		INCRBYFLOAT f 1
		SET n 10
		INCRBYFLOAT n ""
		INCRBYFLOAT n 0
		OBJECT ENCODING n
	`)
}

func TestLCS(t *testing.T) {
	diff(t, `
		MSET a ohmytext b mynewtext
		LCS a b
		LCS a b LEN
		LCS a b IDX
		LCS a b IDX MINMATCHLEN 4
		LCS a b IDX MINMATCHLEN 4 WITHMATCHLEN
		LCS a b WITHMATCHLEN
		LCS a b MINMATCHLEN 0 IDX
		LCS a b MINMATCHLEN -5 IDX
		LCS a b MINMATCHLEN x
		LCS a b MINMATCHLEN
		LCS a b IDX LEN
		LCS a b LEN IDX WITHMATCHLEN
		LCS a b FOO
		LCS a nosuch
		LCS a nosuch LEN
		LCS a nosuch IDX
		LCS nosuch nosuch2 IDX
		LCS a a
		LCS a a IDX WITHMATCHLEN
		SET c abcabcabcabc
		SET d bcacbacbabccb
		LCS c d
		LCS c d IDX
		LCS c d IDX WITHMATCHLEN MINMATCHLEN 2
		SET e ""
		LCS c e IDX
		LCS e e LEN
		SET f 12345
		SET g 2345678
		LCS f g
		LCS f g IDX
		LPUSH s x
		LCS s a
		LCS a s
		LCS nosuch s
		LCS s a FOO
	`)
}

func TestStringsExpire(t *testing.T) {
	diff(t, `
		SET a 1 PX 10
		SET b 2 PX 10
		SET c 3 PX 10
		SET d 4 PX 10
		SET e 5 PX 10
		SET f 6 PX 10
		sleep 30ms
		GET a
		INCR b
		TTL b
		SETNX c x
		APPEND d x
		MSETNX e 1 x 2
		GETDEL f
		SET g 7 PX 10
		SET h 7 PX 10
		SET i 7 PX 10
		sleep 30ms
		SET g 1 KEEPTTL
		TTL g
		SET h 1 GET
		EXPIRE i 10
	`)
}

// TestStralgoOf62 has the examples of the command's page and its errors.
func TestStralgoOf62(t *testing.T) {
	l := newLocal(2)
	l.table = NewTable(version.V6_2)
	for _, step := range [][2]string{
		{"MSET mykey1 ohmytext mykey2 mynewtext", "+OK\r\n"},
		{"STRALGO LCS KEYS mykey1 mykey2", "$6\r\nmytext\r\n"},
		{"STRALGO LCS STRINGS ohmytext mynewtext LEN", ":6\r\n"},
		{"STRALGO LCS IDX MINMATCHLEN 4 KEYS mykey1 mykey2 WITHMATCHLEN",
			"*4\r\n$7\r\nmatches\r\n*1\r\n*3\r\n*2\r\n:4\r\n:7\r\n*2\r\n:5\r\n:8\r\n:4\r\n$3\r\nlen\r\n:6\r\n"},
		{"STRALGO LCS LEN", "-ERR Please specify two strings: STRINGS or KEYS options are mandatory\r\n"},
		{"STRALGO LCS STRINGS a b KEYS a b", "-ERR Either use STRINGS or KEYS\r\n"},
		{"STRALGO LCS STRINGS a", "-ERR syntax error\r\n"},
		{"STRALGO other", "-ERR syntax error\r\n"},
		{"STRALGO LCS STRINGS a b IDX LEN", "-ERR If you want both the length and indexes, please just use IDX.\r\n"},
		{"COMMAND GETKEYS STRALGO LCS KEYS mykey1 mykey2", "*2\r\n$6\r\nmykey1\r\n$6\r\nmykey2\r\n"},
		{"LCS mykey1 mykey2", "-ERR unknown command `LCS`, with args beginning with: `mykey1`, `mykey2`, \r\n"},
	} {
		if got := l.run(splitArgs(t, step[0]), false).reply; got != step[1] {
			t.Errorf("%s: got %q, want %q", step[0], got, step[1])
		}
	}
}
