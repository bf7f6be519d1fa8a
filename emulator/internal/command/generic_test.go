package command

import "testing"

func TestKeys(t *testing.T) {
	diff(t, `
		MSET a 1 b 2 hello 3 hallo 4
		unordered: KEYS *
		unordered: KEYS h?llo
		KEYS h[^e]llo
		KEYS nosuch
		EXISTS a b a nosuch
		TOUCH a b a nosuch
		TYPE a
		TYPE nosuch
		DBSIZE
		DEL a a nosuch b
		UNLINK hello nosuch
		DBSIZE
		RANDOMKEY
		DEL hallo
		RANDOMKEY
		SET "" empty
		KEYS *
		KEYS **
		KEYS ""
		SET a 1 PX 10
		SET b 1 PX 10
		SET c 1 PX 10
		SET d 1 PX 10
		SET e 1 PX 10
		SET f 1 PX 10
		sleep 30ms
		unordered: KEYS *
		DBSIZE
		DEL a
		EXISTS b
		TYPE c
		TOUCH d
		RENAME e x
		SCAN 0
		DBSIZE
	`)
}

func TestExpire(t *testing.T) {
	diff(t, `
		SET k v
		TTL k
		PTTL k
		EXPIRETIME k
		PEXPIRETIME k
		TTL nosuch
		PTTL nosuch
		EXPIRETIME nosuch
		PEXPIRETIME nosuch
		EXPIRE k 100
		TTL k
		EXPIRE k 200 NX
		EXPIRE k 200 XX
		TTL k
		EXPIRE k 100 GT
		EXPIRE k 300 GT
		EXPIRE k 400 LT
		EXPIRE k 100 LT
		TTL k
		EXPIRE k 90 XX GT
		EXPIRE k 200 XX GT
		EXPIRE k 150 xx lt
		PERSIST k
		PERSIST k
		PERSIST nosuch
		EXPIRE k 100 GT
		EXPIRE k 100 LT
		PERSIST k
		EXPIRE k 100 XX
		EXPIRE k 100 NX NX
		PEXPIRE k 100000
		TTL k
		EXPIREAT k 4102444800
		PEXPIREAT k 4102444800001
		PEXPIREAT k 4102444800002 GT
		PEXPIRETIME k
		EXPIRETIME k
		EXPIRE k 100 NX XX
		EXPIRE k 100 NX GT
		EXPIRE k 100 NX LT
		EXPIRE k 100 GT LT
		EXPIRE k 100 FOO
		EXPIRE k 100 "F\x00O"
		EXPIRE k x FOO
		EXPIRE k x
		EXPIRE k 1.5
		EXPIRE k 9223372036854775807
		EXPIRE k 9223372036854776
		EXPIRE k 9223372036854775
		EXPIRE k -9223372036854776
		PEXPIRE k 9223372036854775807
		PEXPIREAT k 9223372036854775807
		PEXPIRETIME k
		EXPIRETIME k
		EXPIREAT k 9223372036854775
		EXPIREAT k 9223372036854776
		EXPIRE nosuch 9223372036854775807
		EXPIRE nosuch 10
		EXPIRE k -1
		EXISTS k
		SET k v
		EXPIRE k 0
		SET k v
		EXPIREAT k 1
		SET k v
		PEXPIREAT k 0 NX
		SET k v
		PEXPIRE k -1 GT
		PEXPIRE k -1 LT
		SET k v
		EXPIRE k 100
		APPEND k w
		TTL k
		SET k v
		TTL k
	`)
}

func TestRename(t *testing.T) {
	diff(t, `
		SET a 1
		RENAME a b
		GET b
		RENAME nosuch b
		RENAME nosuch nosuch
		RENAME b b
		RENAMENX b b
		RENAMENX nosuch b
		SET c 2 EX 100
		RENAMENX c b
		RENAME c b
		TTL b
		GET b
		SET d 1
		RENAME d b
		TTL b
		RENAMENX b e
		TTL e
		RPUSH l x
		RENAME l e
		TYPE e
	`)
}

func TestCopyAndMove(t *testing.T) {
	diff(t, `
		SET a 1 EX 100
		COPY a b
		TTL b
		COPY a b
		COPY a b REPLACE
		COPY a a
		COPY a a REPLACE
		COPY nosuch b
		COPY nosuch b REPLACE
		COPY a a DB 1
		COPY a b DB 1 REPLACE
		COPY a b REPLACE DB 1
		COPY a b DB 16
		COPY a b DB -1
		COPY a b DB x
		COPY a b DB 99999999999
		COPY a b DB
		COPY a b FOO
		COPY a a DB 0
		SELECT 1
		unordered: KEYS *
		TTL a
		SELECT 0
		MOVE a 1
		MOVE a 0
		MOVE a 16
		MOVE a x
		MOVE a -1
		MOVE nosuch 1
		MOVE a 2
		EXISTS a
		SELECT 2
		TTL a
		GET a
		SWAPDB 0 2
		GET a
		SELECT 0
		GET a
		SWAPDB 0 0
		SWAPDB x 1
		SWAPDB 1 x
		SWAPDB 0 16
		SWAPDB -1 0
		SWAPDB 99999999999 0
		RPUSH l a b c
		COPY l l2
		RPUSH l2 d
		LRANGE l 0 -1
		LRANGE l2 0 -1
	`)
}

func TestFlush(t *testing.T) {
	diff(t, `
		SET a 1
		FLUSHDB
		DBSIZE
		FLUSHDB
		MSET a 1 b 2 c 3
		SELECT 1
		MSET a 1 b 2
		FLUSHDB ASYNC
		MSET a 1 b 2
		FLUSHDB SYNC
		FLUSHDB foo
		FLUSHDB SYNC SYNC
		SELECT 0
		DBSIZE
		SELECT 1
		SET a 1
		FLUSHALL ASYNC
		FLUSHALL
		FLUSHALL SYNC
		FLUSHALL foo
		DBSIZE
		SELECT 0
		DBSIZE
	`)
}

func TestScan(t *testing.T) {
	diff(t, `
		MSET a 1 b 2 c 3
		RPUSH l 1
		unordered: SCAN 0 COUNT 100
		SCAN 0 MATCH a COUNT 100
		SCAN 0 COUNT 100 TYPE list
		SCAN 0 COUNT 100 TYPE LIST
		SCAN 0 COUNT 100 TYPE nosuch
		SCAN 0 COUNT 100 TYPE list MATCH a
		SCAN x
		unordered: SCAN "" COUNT 100
		SCAN " 0"
		SCAN +0 MATCH x COUNT 100
		SCAN 1x
		SCAN 18446744073709551616
		SCAN 0 COUNT
		SCAN 0 COUNT 0
		SCAN 0 COUNT -1
		SCAN 0 COUNT x
		SCAN 0 MATCH
		SCAN 0 FOO
		SCAN 0 FOO bar
		SCAN 0 MATCH x COUNT
		SCAN x COUNT x
	`)
}

func TestObject(t *testing.T) {
	diff(t, `
		SET k v
		OBJECT ENCODING nosuch
		OBJECT FREQ nosuch
		OBJECT IDLETIME nosuch
		OBJECT REFCOUNT nosuch
		seconds: OBJECT IDLETIME k
		OBJECT FREQ k
		OBJECT REFCOUNT k
		OBJECT HELP
		OBJECT FOO k
		OBJECT ENCODING
		OBJECT
		CONFIG SET maxmemory-policy allkeys-lfu
		SET n v
		OBJECT FREQ n
		OBJECT IDLETIME n
		OBJECT FREQ nosuch
		SET n w
		OBJECT ENCODING n
	`)
}
