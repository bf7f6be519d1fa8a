package server_test

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/emulator/internal/rdb"
	"github.com/fakecluster/fakecluster/emulator/internal/version"
	"github.com/fakecluster/fakecluster/tests/hostile"
)

// built makes a value of every type and encoding that DUMP writes.
var built = [][]string{
	{"SET", "s", "12"}, {"SET", "s2", "hello"}, {"SET", "s3", strings.Repeat("ab", 60)}, {"RPUSH", "l", "a", "1", "-5000", strings.Repeat("x", 70)},
	{"SADD", "i", "1", "70000", "-5000000000"}, {"SADD", "t", "a", "b", "1"}, {"SADD", "t2", strings.Repeat("m", 70)}, {"HSET", "h", "f", "1", "g", "x"},
	{"HSET", "h2", "f", strings.Repeat("v", 70)}, {"ZADD", "z", "1", "a", "2.5", "b", "-inf", "c"}, {"ZADD", "z2", "1", strings.Repeat("m", 70)},
	{"XADD", "x", "1-1", "f", "v"}, {"XADD", "x", "1-2", "f", "w", "g", "y"}, {"XADD", "x", "5-0", "f", "v"}, {"XDEL", "x", "1-2"},
	{"XGROUP", "CREATE", "x", "g", "0"}, {"XREADGROUP", "GROUP", "g", "c", "COUNT", "1", "STREAMS", "x", ">"}, {"PFADD", "p", "a", "b"},
}

// old are values as versions before 7.0 wrote them: a ziplist, quicklists, a
// zipmap, the plain forms of list, set, sorted set and hash.
var old = []string{
	"0a17170000001200000003000000c0010004c0020004c00300ff", "0e0117170000001200000003000000c0010004c0020004c00300ff",
	"0c1313000000100000000200000000016103f2ff", "0d1313000000100000000200000000016103f2ff", "09080103666f6f030062617200ff",
	"0102016101620163", "0202016101620163", "030201610331" + "2e350162fe", "0502016100000000000" + "0f03f0162000000000000f0bf", "04010161016201",
	"0b0e02000000030000000100020003" + "00", "12010201610c0c000000020081610281620" + "2ff",
}

// bodies are the values of built on a node of a version, without checksums.
func bodies(f *testing.F, c *emulator.Cluster) (all [][]byte) {
	f.Helper()
	n := c.Node(0)
	for _, args := range built {
		if _, err := n.Do(args...); err != nil {
			f.Fatalf("%q: %v", args, err)
		}
	}
	for _, key := range n.Keys() {
		dumped, err := n.Do("DUMP", key)
		if err != nil {
			f.Fatal(err)
		}
		body := dumped.(string)
		all = append(all, []byte(body[:len(body)-10]))
	}
	for _, digits := range old {
		body, err := hex.DecodeString(digits[:len(digits)&^1])
		if err != nil {
			f.Fatal(err)
		}
		all = append(all, body)
	}
	return all
}

var payloadVersions = []string{"7.0", "7.2", "7.4", "6.2"}

// sealed gives a body the checksum and the format version that v accepts.
func sealed(f testing.TB, body []byte, v string) string {
	parsed, err := version.Parse(v)
	if err != nil {
		f.Fatal(err)
	}
	return string(rdb.Seal(bytes.Clone(body), rdb.FormatVersion(parsed)))
}

// FuzzRestore restores payloads whose checksum is right whatever they hold.
// They are refused, or become a value that every command of its type can work
// on, and that can be dumped and restored again.
func FuzzRestore(f *testing.F) {
	for i, v := range payloadVersions {
		c := start(f, emulator.Standalone(), emulator.RedisVersion(v), emulator.ConfigSet("rdbcompression", "no"))
		for _, body := range bodies(f, c) {
			f.Add(body, byte(i))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, which byte) {
		hostile.Bound(t)
		v := payloadVersions[which%4]
		c := start(t, emulator.Logger(hostile.Logger(t)), emulator.Standalone(), emulator.RedisVersion(v), emulator.ConfigSet("proto-max-bulk-len", "1048576"))
		defer c.Close()
		client := connect(t, c)
		defer client.conn.Close()
		reply := client.do("RESTORE", "k", "0", sealed(t, body, v))
		if strings.HasPrefix(reply, "-") {
			if reply != "-ERR Bad data format" && reply != "-ERR DUMP payload version or checksum are wrong" {
				t.Errorf("RESTORE: %q", reply)
			}
			client.expect("+PONG", "PING")
			return
		}
		if client.do("EXISTS", "k") == ":0" {
			return // all its fields had expired
		}
		for range 2 {
			for _, line := range battery[client.do("TYPE", "k")] {
				client.do(strings.Split(line, " ")...)
			}
			dumped := client.do("DUMP", "k")
			if dumped == "(nil)" {
				return
			}
			client.expect("+OK", "RESTORE", "k", "0", dumped, "REPLACE")
		}
	})
}

// battery looks at a value from all sides and changes it at every place.
var battery = map[string][]string{
	"+string": {"GET k", "STRLEN k", "INCR k", "APPEND k x", "GETRANGE k 0 -1", "BITCOUNT k", "BITPOS k 1", "PFCOUNT k", "PFADD k a", "SETRANGE k 3 y", "OBJECT ENCODING k"},
	"+list":   {"LLEN k", "LRANGE k 0 -1", "LINDEX k -1", "LPOS k a RANK -1", "LINSERT k BEFORE a z", "LSET k 0 y", "LPUSH k h", "RPUSH k t", "LREM k -1 a", "RPOPLPUSH k k", "LTRIM k 1 -2", "SORT k ALPHA", "OBJECT ENCODING k"},
	"+set":    {"SCARD k", "SMEMBERS k", "SISMEMBER k a", "SRANDMEMBER k -5", "SADD k new 99", "SSCAN k 0", "SINTER k k", "SDIFF k k", "SPOP k", "SREM k a 1", "OBJECT ENCODING k"},
	"+zset":   {"ZCARD k", "ZRANGE k 0 -1 WITHSCORES", "ZRANGE k -inf +inf BYSCORE REV", "ZRANGE k - + BYLEX", "ZRANK k a", "ZADD k 7 new", "ZINCRBY k 1 a", "ZSCAN k 0", "ZRANDMEMBER k -5 WITHSCORES", "ZUNIONSTORE k2 2 k k", "ZPOPMIN k", "ZREMRANGEBYRANK k -1 -1", "GEOHASH k a", "OBJECT ENCODING k"},
	"+hash":   {"HLEN k", "HGETALL k", "HGET k f", "HINCRBY k n 1", "HSET k f v new w", "HSCAN k 0", "HRANDFIELD k -5 WITHVALUES", "HDEL k f", "HSTRLEN k g", "HPEXPIRE k 100000 FIELDS 1 g", "HPTTL k FIELDS 1 g", "HPERSIST k FIELDS 1 g", "OBJECT ENCODING k"},
	"+stream": {"XLEN k", "XRANGE k - +", "XREVRANGE k + -", "XINFO STREAM k FULL", "XINFO GROUPS k", "XPENDING k g", "XPENDING k g - + 10", "XADD k * f v", "XGROUP CREATE k new 0", "XREADGROUP GROUP g c2 COUNT 5 STREAMS k >", "XAUTOCLAIM k g c3 0 0", "XCLAIM k g c3 0 1-1", "XACK k g 1-1", "XDEL k 5-0", "XTRIM k MAXLEN 2", "XSETID k 99-0", "OBJECT ENCODING k"},
}

// FuzzFile loads RDB files whose checksum is right. They are refused, or can be
// saved and loaded once more, with as many keys.
func FuzzFile(f *testing.F) {
	for i, v := range payloadVersions {
		c := start(f, emulator.Standalone(), emulator.RedisVersion(v), emulator.ConfigSet("rdbcompression", "no"))
		all := bodies(f, c)
		for _, body := range all[len(all)-len(old):] {
			f.Add(slices.Concat([]byte("REDIS0009\xfe\x00\xfb\x01\x00"), body[:1], []byte("\x01k"), body[1:], []byte("\xff")), byte(i))
		}
		if v != "6.2" {
			if _, err := c.Node(0).Do("FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', function() return 1 end)"); err != nil {
				f.Fatal(err)
			}
		}
		if _, err := c.Node(0).Do("PEXPIRE", "s", "100000000"); err != nil {
			f.Fatal(err)
		}
		file := c.Node(0).RDB()
		f.Add(file[:len(file)-8], byte(i))
	}
	f.Fuzz(func(t *testing.T, file []byte, which byte) {
		hostile.Bound(t)
		v := payloadVersions[which%4]
		c := start(t, emulator.Logger(hostile.Logger(t)), emulator.Standalone(), emulator.RedisVersion(v))
		defer c.Close()
		sum := rdb.Writer{}
		sum.Raw(file)
		sum.Uint64(rdb.Checksum(file))
		if _, err := c.LoadRDB(sum.Bytes(), func(int) {}); err != nil {
			return
		}
		keys := len(c.Node(0).Keys())
		again := start(t, emulator.Standalone(), emulator.RedisVersion(v))
		defer again.Close()
		if _, err := again.LoadRDB(c.Node(0).RDB(), nil); err != nil || len(again.Node(0).Keys()) > keys {
			t.Errorf("%d keys were loaded, once saved they are %d: %v", keys, len(again.Node(0).Keys()), err)
		}
	})
}

// FuzzFunctionRestore restores libraries of functions.
func FuzzFunctionRestore(f *testing.F) {
	c := start(f, emulator.Standalone(), emulator.RedisVersion("7.0"))
	n := c.Node(0)
	for _, code := range []string{"#!lua name=l\nredis.register_function('f', function() return 1 end)", "#!lua name=m\nredis.register_function{function_name='g', callback=function(k, a) return a end, flags={'no-writes'}}"} {
		if _, err := n.Do("FUNCTION", "LOAD", code); err != nil {
			f.Fatal(err)
		}
		dumped, err := n.Do("FUNCTION", "DUMP")
		if err != nil {
			f.Fatal(err)
		}
		payload := dumped.(string)
		f.Add([]byte(payload[:len(payload)-10]))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if bytes.Contains(body, []byte("while")) || bytes.Contains(body, []byte("for")) || bytes.Contains(body, []byte("repeat")) {
			t.Skip("a library may take its time")
		}
		hostile.Bound(t)
		c := start(t, emulator.Logger(hostile.Logger(t)), emulator.Standalone(), emulator.RedisVersion("7.0"))
		defer c.Close()
		client := connect(t, c)
		defer client.conn.Close()
		for _, policy := range []string{"APPEND", "REPLACE", "FLUSH"} {
			client.do("FUNCTION", "RESTORE", sealed(t, body, "7.0"), policy)
			client.do("FCALL", "f", "0")
			client.do("FUNCTION", "LIST", "WITHCODE")
		}
		client.expect("+PONG", "PING")
	})
}
