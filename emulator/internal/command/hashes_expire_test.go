package command

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/version"
)

func newLocal74() *local {
	l := newLocal(2)
	l.table = NewTable(version.V7_4)
	l.keyspace.Limits = keyspace.DefaultLimits(version.V7_4)
	return l
}

// TestHashFieldExpiryAsRecorded replays what Redis 7.4.1 answered.
func TestHashFieldExpiryAsRecorded(t *testing.T) {
	l := newLocal74()
	for _, step := range [][2]string{
		{"HSET h f v g w", ":2\r\n"},
		{"HEXPIRE h 100 FIELDS 1 f", "*1\r\n:1\r\n"},
		{"HEXPIRE h 100 FIELDS 2 f nope", "*2\r\n:1\r\n:-2\r\n"},
		{"HEXPIRE h 100 NX FIELDS 1 f", "*1\r\n:0\r\n"},
		{"HEXPIRE h 200 GT FIELDS 1 f", "*1\r\n:1\r\n"},
		{"HEXPIRE h 0 FIELDS 1 g", "*1\r\n:2\r\n"},
		{"HEXPIRE nokey 100 FIELDS 1 f", "*1\r\n:-2\r\n"},
		{"HEXPIRE h 100 FIELDS 0 f", "-ERR Parameter `numFields` should be greater than 0\r\n"},
		{"HEXPIRE h 100 FIELDS 2 f", "-ERR The `numfields` parameter must match the number of arguments\r\n"},
		{"HEXPIRE h x FIELDS 1 f", "-ERR value is not an integer or out of range\r\n"},
		{"HEXPIRE h 100 XX NX FIELDS 1 f", "-ERR Mandatory argument FIELDS is missing or not at the right position\r\n"},
		{"HPERSIST h FIELDS 1 f", "*1\r\n:1\r\n"},
		{"HPERSIST h FIELDS 1 f", "*1\r\n:-1\r\n"},
		{"HTTL h FIELDS 2 f nope", "*2\r\n:-1\r\n:-2\r\n"},
		{"HPTTL nokey FIELDS 1 f", "*1\r\n:-2\r\n"},
		{"HEXPIREAT h 33177117420 FIELDS 1 f", "*1\r\n:1\r\n"},
		{"HEXPIRETIME h FIELDS 1 f", "*1\r\n:33177117420\r\n"},
		{"HPEXPIREAT h 33177117420000 FIELDS 1 f", "*1\r\n:1\r\n"},
		{"HPEXPIRETIME h FIELDS 1 f", "*1\r\n:33177117420000\r\n"},
		{"HGETALL h", "*2\r\n$1\r\nf\r\n$1\r\nv\r\n"},
		{"HSCAN h 0 NOVALUES", "*2\r\n$1\r\n0\r\n*1\r\n$1\r\nf\r\n"},
		{"HSET h f again", ":0\r\n"},
		{"HTTL h FIELDS 1 f", "*1\r\n:-1\r\n"},
		{"OBJECT ENCODING h", "$10\r\nlistpackex\r\n"},
	} {
		if got := l.run(splitArgs(t, step[0]), false).reply; got != step[1] {
			t.Errorf("%s: got %q, want %q", step[0], got, step[1])
		}
	}
}

// TestHashFieldExpiryAsDocumented covers what the command pages and the page on
// keyspace notifications say beyond the recording.
func TestHashFieldExpiryAsDocumented(t *testing.T) {
	l := newLocal74()
	run := func(line, reply string, events ...string) {
		t.Helper()
		got := l.run(splitArgs(t, line), false)
		if got.reply != reply {
			t.Errorf("%s: got %q, want %q", line, got.reply, reply)
		}
		if !slices.Equal(got.events, events) {
			t.Errorf("%s: events %q, want %q", line, got.events, events)
		}
	}
	run("HSET h a 1 b 2 c 3 d 4", ":4\r\n", "new h", "hset h")
	run("HEXPIRE h 100 XX FIELDS 1 a", "*1\r\n:0\r\n")
	run("HEXPIRE h 100 GT FIELDS 1 a", "*1\r\n:0\r\n")
	run("HEXPIRE h 100 LT FIELDS 1 a", "*1\r\n:1\r\n", "hexpire h")
	run("HEXPIRE h 50 LT FIELDS 2 a b", "*2\r\n:1\r\n:1\r\n", "hexpire h")
	run("HEXPIRE h 50 XX FIELDS 2 a c", "*2\r\n:1\r\n:0\r\n", "hexpire h")
	run("HTTL h FIELDS 3 a b c", "*3\r\n:50\r\n:50\r\n:-1\r\n")
	run("HINCRBY h a 5", ":6\r\n", "hincrby h")
	run("HINCRBYFLOAT h a 0.5", "$3\r\n6.5\r\n", "hincrbyfloat h")
	run("HTTL h FIELDS 1 a", "*1\r\n:50\r\n")
	run("HPERSIST h FIELDS 2 a c", "*2\r\n:1\r\n:-1\r\n", "hpersist h")
	run("HEXPIREAT h 1 FIELDS 1 d", "*1\r\n:2\r\n", "hdel h")
	run("HEXPIRE h -1 FIELDS 1 a", "-ERR invalid expire time, must be >= 0\r\n")
	run("HEXPIRE h 70368744178 FIELDS 1 a", "-ERR invalid expire time in 'hexpire' command\r\n")
	run("HPEXPIREAT h 70368744177664 FIELDS 1 a", "-ERR invalid expire time in 'hpexpireat' command\r\n")
	run("HTTL h FIELDS 0 a", "-ERR Number of fields must be a positive integer\r\n")
	run("HPERSIST h FIELDS x a", "-ERR Number of fields must be a positive integer\r\n")
	run("HPERSIST h FIELDS 2 a", "-ERR The `numfields` parameter must match the number of arguments\r\n")
	run("HEXPIREAT h 1 FIELDS 3 a b c", "*3\r\n:2\r\n:2\r\n:2\r\n", "hdel h", "del h")
	run("HLEN h", ":0\r\n", "keymiss h")
	run("SET s x", "+OK\r\n", "new s", "set s")
	run("HEXPIRE s x FIELDS 1 a", "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n")
	run("HTTL s x 1 a", "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n")
	run("HPERSIST s x 1 a", "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n")
	run("SCAN 0 NOVALUES", "-ERR NOVALUES option can only be used in HSCAN\r\n")
}

// TestHashFieldExpiryIsPropagated wants absolute times, and deletions for what
// has expired.
func TestHashFieldExpiryIsPropagated(t *testing.T) { synctest.Test(t, hashFieldExpiryIsPropagated) }

func hashFieldExpiryIsPropagated(t *testing.T) {
	l := newLocal74()
	run := func(line string, effects ...string) {
		t.Helper()
		if got := l.run(splitArgs(t, line), false); !slices.Equal(got.effects, effects) {
			t.Errorf("%s: propagates %q, want %q", line, got.effects, effects)
		}
	}
	run("HSET h a 1 b 2 c 3 d 4", `"HSET" "h" "a" "1" "b" "2" "c" "3" "d" "4"`)
	run("HEXPIRE h 100 FIELDS 2 a nope", `"HPEXPIREAT" "h" <a time near now> "FIELDS" "1" "a"`)
	run("HEXPIREAT h 33177117420 NX FIELDS 2 a b", `"HPEXPIREAT" "h" "33177117420000" "NX" "FIELDS" "1" "b"`)
	run("HEXPIRE h 0 FIELDS 2 a b", `"HDEL" "h" "a"`, `"HDEL" "h" "b"`)
	run("HEXPIRE h 100 FIELDS 1 nope")
	run("HPEXPIREAT h 33177117420000 FIELDS 1 c", `"HPEXPIREAT" "h" "33177117420000" "FIELDS" "1" "c"`)
	run("HINCRBYFLOAT h c 1", `"HSET" "h" "c" "4"`, `"HPEXPIREAT" "h" "33177117420000" "FIELDS" "1" "c"`)
	run("HPERSIST h FIELDS 1 c", `"HPERSIST" "h" "FIELDS" "1" "c"`)
	soon := time.Now().Add(500 * time.Millisecond)
	run("HPEXPIREAT h "+strconv.FormatInt(soon.UnixMilli(), 10)+" FIELDS 1 c", `"HPEXPIREAT" "h" <a time near now> "FIELDS" "1" "c"`)
	time.Sleep(time.Until(soon) + time.Millisecond)
	run("HGET h c", `"HDEL" "h" "c"`)
	if !slices.Equal(l.outcome.events, []string{"hexpired h"}) {
		t.Errorf("events %q", l.outcome.events)
	}
}

// TestHashFieldsInListpackAreOrdered by when they expire, those that do not
// last, whichever way they got there.
func TestHashFieldsInListpackAreOrdered(t *testing.T) {
	l := newLocal74()
	run := func(line string) string { return l.run(splitArgs(t, line), false).reply }
	run("HSET h a 1 b 2 c 3 d 4")
	run("HEXPIREAT h 33177117421 FIELDS 1 c")
	run("HEXPIREAT h 33177117420 FIELDS 1 d")
	run("HEXPIREAT h 33177117421 FIELDS 1 a")
	run("HSET h e 5")
	if got := run("HKEYS h"); strings.Join(splitReply(got), "") != "$1\r\nd\r\n$1\r\nc\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\ne\r\n" {
		t.Errorf("fields are %q", got)
	}
	run("HPERSIST h FIELDS 1 d")
	run("HSET h c 3")
	if got := run("HKEYS h"); strings.Join(splitReply(got), "") != "$1\r\na\r\n$1\r\nb\r\n$1\r\ne\r\n$1\r\nd\r\n$1\r\nc\r\n" {
		t.Errorf("fields are %q", got)
	}
	run("HSET h long " + strings.Repeat("x", 65))
	if got := run("OBJECT ENCODING h"); bulkOf(got) != "hashtable" {
		t.Errorf("encoding is %q", got)
	}
	if got := run("HEXPIRETIME h FIELDS 2 a b"); got != "*2\r\n:33177117421\r\n:-1\r\n" {
		t.Errorf("times are %q", got)
	}
}
