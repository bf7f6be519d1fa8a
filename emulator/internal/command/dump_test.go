package command

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/fakecluster/fakecluster/emulator/internal/rdb"
	"github.com/fakecluster/fakecluster/tests/redisserver"
)

// Values that Redis keeps in order are dumped as the same bytes.
func TestDump(t *testing.T) {
	words := strings.Repeat("the quick brown fox jumps over the lazy dog ", 40)
	diff(t, fmt.Sprintf(`
		DUMP nosuch
		SET s hello
		DUMP s
		SET s ""
		DUMP s
		SET s 0
		DUMP s
		SET s -128
		DUMP s
		SET s 128
		DUMP s
		SET s 32767
		DUMP s
		SET s -32769
		DUMP s
		SET s 2147483647
		DUMP s
		SET s 2147483648
		DUMP s
		SET s -9223372036854775808
		DUMP s
		APPEND a 12
		DUMP a
		SET s aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
		DUMP s
		SET s "%s"
		DUMP s
		SETRANGE z 20000 x
		DUMP z
		SETRANGE z 100 abcdefghijklmnopqrstuvwxyz
		DUMP z
		RPUSH l a b 1 2 300 70000 -5
		DUMP l
		RPUSH l "%s" "%s"
		DUMP l
		CONFIG SET list-max-listpack-size 3
		RPUSH m a b c d e f g h
		DUMP m
		SADD i 1 2 3 70000
		DUMP i
		SADD i 5000000000
		DUMP i
		ZADD y 1 a 2.5 b -3 c inf d
		DUMP y
		CONFIG SET zset-max-listpack-entries 2
		ZADD y2 1 a 2.5 b -3 c inf d 0.1 e
		DUMP y2
		HSET h a 1 b two c 3.5
		DUMP h
		SADD one member
		DUMP one
		PFADD hll a b c d e f
		DUMP hll
	`, words, words, words))
}

func TestDumpStream(t *testing.T) {
	diff(t, `
		XADD x 1-1 a 1 b 2
		XADD x 1-2 a 3 b 4
		XADD x 5-0 c 3
		DUMP x
		XDEL x 1-2
		DUMP x
		XGROUP CREATE x g 0
		XGROUP CREATE x h $
		DUMP x
		CONFIG SET stream-node-max-entries 2
		XADD x 6-1 a 1
		XADD x 6-2 a 1
		XADD x 6-3 a 1
		DUMP x
		XDEL x 1-1 5-0 6-1 6-2 6-3
		DUMP x
	`)
}

// Random compressible and incompressible strings: the compressor takes the same
// decisions.
func TestDumpCompression(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	var script strings.Builder
	for range 300 {
		alphabet := 1 + rng.IntN(40)
		var s strings.Builder
		for size := rng.IntN(1200); s.Len() < size; {
			if s.Len() > 0 && rng.IntN(4) == 0 {
				from := rng.IntN(s.Len())
				s.WriteString(s.String()[from:min(s.Len(), from+rng.IntN(400))])
			} else {
				s.WriteByte(byte('A' + rng.IntN(alphabet)))
			}
		}
		fmt.Fprintf(&script, "SET s %q\nDUMP s\n", s.String())
	}
	diff(t, script.String())
}

func TestRestore(t *testing.T) {
	diff(t, `
		RESTORE k 0 "\x00\xc0\n\n\x00n\x9fWE\x0e\xaec\xbb"
		RESTORE k 0 "\x00\xc0\n\n\x00n\x9fWE\x0e\xaec\xbb" REPLACE
		GET k
		RESTORE k 0 "\x00\xc0\n\n\x00n\x9fWE\x0e\xaec\xbc" REPLACE
		RESTORE k 0 short REPLACE
		RESTORE k 0 "" REPLACE
		RESTORE k x junk
		RESTORE n x junk
		RESTORE n -1 junk
		RESTORE n 0 junk FOO
		RESTORE n 0 junk IDLETIME
		RESTORE n 0 junk IDLETIME -1
		RESTORE n 0 junk IDLETIME x
		RESTORE n 0 junk FREQ 256
		RESTORE n 0 junk FREQ -1
		RESTORE n 0 junk FREQ 1 IDLETIME 1
		RESTORE n 100000 "\x00\xc0\n\n\x00n\x9fWE\x0e\xaec\xbb"
		TTL n
		RESTORE n 4102444800000 "\x00\xc0\n\n\x00n\x9fWE\x0e\xaec\xbb" ABSTTL REPLACE
		PEXPIRETIME n
		RESTORE n 1 "\x00\xc0\n\n\x00n\x9fWE\x0e\xaec\xbb" ABSTTL REPLACE
		RESTORE n 1 "\x00\xc0\n\n\x00n\x9fWE\x0e\xaec\xbb" ABSTTL REPLACE
		RESTORE n 1 "\x00\xc0\n\n\x00n\x9fWE\x0e\xaec\xbb" ABSTTL
		EXISTS n
		RESTORE n 0 "\x00\xc0\n\n\x00n\x9fWE\x0e\xaec\xbb" IDLETIME 1000
		seconds: OBJECT IDLETIME n
		CONFIG SET maxmemory-policy allkeys-lfu
		RESTORE n 0 "\x00\xc0\n\n\x00n\x9fWE\x0e\xaec\xbb" FREQ 77 REPLACE
		OBJECT FREQ n
		RESTORE-ASKING q 0 "\x00\xc0\n\n\x00n\x9fWE\x0e\xaec\xbb"
		GET q
	`)
}

// Payloads of old versions, with ziplists and zipmaps, are still taken.
func TestRestoreOldFormats(t *testing.T) {
	ziplist := func(body string, count int) string {
		size := 10 + len(body) + 1
		return string([]byte{byte(size), 0, 0, 0, byte(size - 3), 0, 0, 0, byte(count), 0}) + body + "\xff"
	}
	pairs := ziplist("\x00\x01a\x03\xf2\x02\x01b\x03\xf3", 4)
	var script strings.Builder
	for i, value := range []string{
		"\x0a" + string(byte(len(pairs))) + pairs,
		"\x0c" + string(byte(len(pairs))) + pairs,
		"\x0d" + string(byte(len(pairs))) + pairs,
		"\x0e\x02" + strings.Repeat(string(byte(len(pairs)))+pairs, 2),
		"\x09\x0a\x01\x01f\x02\x00vv\xff",
		"\x09\x09\x01\x01f\x02\x00vv\xff",
		"\x01\x02\x01a\x01b",
		"\x02\x02\x01a\x01b",
		"\x02\x02\x01a\x01a",
		"\x03\x02\x01a\x031.5\x01b\xfe",
		"\x03\x01\x01a\xfd",
		"\x04\x01\x01f\x01v",
		"\x01\x00", "\x02\x00", "\x03\x00", "\x04\x00", "\x0e\x00", "\x12\x00",
		"\x12\x01\x01\x05plain",
		"\x12\x01\x02\x07\x07\x00\x00\x00\x00\x00\xff",
		"\x14\x07\x07\x00\x00\x00\x00\x00\xff",
		"\x63\x00",
	} {
		payload := rdb.Seal([]byte(value), 9)
		fmt.Fprintf(&script, "RESTORE k%d 0 %q\nTYPE k%d\nOBJECT ENCODING k%d\n", i, payload, i, i)
		fmt.Fprintf(&script, "LRANGE k%d 0 -1\nZRANGE k%d 0 -1 WITHSCORES\nHGETALL k%d\nunordered: SMEMBERS k%d\n", i, i, i, i)
	}
	diff(t, script.String())
}

// What one side dumps, of any type and encoding, the other restores.
func TestPayloadsCross(t *testing.T) {
	server := redisserver.Start(t, "--hz", "100", "--repl-diskless-sync", "no", "--notify-keyspace-events", "EAmn")
	ours, real := newLocal(2), newRemote(t, server, 2)
	defer real.close()
	for _, build := range crossValues() {
		for _, line := range build {
			args := splitArgs(t, line)
			want, got := sortReply(real.run(t, args, false).reply, 1), sortReply(ours.run(args, false).reply, 1)
			if got != want {
				t.Fatalf("%.60s: %.200q, want %.200q", line, got, want)
			}
		}
	}
	for name, build := range crossValues() {
		dumpArgs := [][]byte{[]byte("DUMP"), []byte(name)}
		fromReal := []byte(bulkOf(real.run(t, dumpArgs, false).reply))
		fromOurs := []byte(bulkOf(ours.run(dumpArgs, false).reply))
		read := splitArgs(t, build[len(build)-1])
		before := sortReply(real.run(t, read, false).reply, 1)
		for _, r := range []struct {
			how, got string
		}{
			{"ours of theirs", ours.run(restoreArgs(name, fromReal), false).reply},
			{"theirs of ours", real.run(t, restoreArgs(name, fromOurs), false).reply},
		} {
			if r.got != "+OK\r\n" {
				t.Errorf("%s: restoring %s: %q", name, r.how, r.got)
			}
		}
		for _, line := range []string{strings.Join([]string{"OBJECT ENCODING", name}, " "), build[len(build)-1]} {
			args := splitArgs(t, line)
			want, got := sortReply(real.run(t, args, false).reply, 1), sortReply(ours.run(args, false).reply, 1)
			if got != want || line == build[len(build)-1] && want != before {
				t.Errorf("%s after crossing: ours %.200q, theirs %.200q, before %.200q", line, got, want, before)
			}
		}
	}
}

func restoreArgs(key string, payload []byte) [][]byte {
	return [][]byte{[]byte("RESTORE"), []byte(key), []byte("0"), payload, []byte("REPLACE")}
}

// crossValues are lines that make a value of each encoding under its name; the
// last one reads all of it.
func crossValues() map[string][]string {
	many := func(format string, n int) string {
		var words []string
		for i := range n {
			words = append(words, fmt.Sprintf(format, i, i))
		}
		return strings.Join(words, " ")
	}
	long := strconv.Quote(strings.Repeat("long ", 100))
	return map[string][]string{
		"int":      {"SET int 1234567", "GET int"},
		"raw":      {"SET raw " + long, "GET raw"},
		"list":     {"RPUSH list a 1 " + long, "LRANGE list 0 -1"},
		"longlist": {"RPUSH longlist " + many("%[1]d-"+strings.Repeat("x", 50), 1000), "LRANGE longlist 0 -1"},
		"intset":   {"SADD intset 1 -7000000000 3", "SMEMBERS intset"},
		"set":      {"SADD set a b 3", "SMEMBERS set"},
		"bigset":   {"SADD bigset " + many("%[1]d", 1000), "SMEMBERS bigset"},
		"zset":     {"ZADD zset 1 a 2.5 b -inf c", "ZRANGE zset 0 -1 WITHSCORES"},
		"bigzset":  {"ZADD bigzset " + many("%d.5 m%[2]d", 500), "ZRANGE bigzset 0 -1 WITHSCORES"},
		"longzset": {"ZADD longzset 3 " + long, "ZRANGE longzset 0 -1 WITHSCORES"},
		"hash":     {"HSET hash a 1 b two", "HGETALL hash"},
		"bighash":  {"HSET bighash " + many("f%d %[2]d", 1000), "HGETALL bighash"},
		"longhash": {"HSET longhash f " + long, "HGETALL longhash"},
		"stream":   {"XADD stream 1-1 a b", "XADD stream 1-5 a c d e", "XDEL stream 1-1", "XGROUP CREATE stream g 0", "XRANGE stream - +"},
		"pending": {
			"XADD pending 1-1 a b", "XADD pending 1-2 a b", "XADD pending 1-3 a b", "XGROUP CREATE pending g 0",
			"XREADGROUP GROUP g alice COUNT 2 STREAMS pending >", "XREADGROUP GROUP g bob COUNT 1 STREAMS pending >",
			"XGROUP CREATECONSUMER pending g carol", "XACK pending g 1-1", "XPENDING pending g",
		},
		"newstream": {"XGROUP CREATE newstream g 0 MKSTREAM", "XINFO STREAM newstream"},
	}
}
