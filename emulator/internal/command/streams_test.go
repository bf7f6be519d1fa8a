package command

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/version"
)

func TestStreams(t *testing.T) {
	diff(t, `
		XADD s 1-1 a 1 b 2
		XADD s 1-2 a 3 b 4
		XADD s 1-* a 5 b 6
		XADD s 2-* other x
		XADD s 3 a 1 b 2
		XADD s 3 a 1
		XADD s 3-0 a 1
		XADD s 2-7 a 1
		XADD s 0-0 a 1
		XADD s 0 a 1
		XADD s 0-* a 1
		XADD fresh 0-* a 1
		XADD s - a 1
		XADD s + a 1
		XADD s x a 1
		XADD s 5-x a 1
		XADD s 5-1-* a 1
		XADD s x-* a 1
		XADD s 5-** a 1
		XADD s *-5 a 1
		XADD s 5- a 1
		XADD s -5 a 1
		XADD s 99999999999999999999 a 1
		XADD s 18446744073709551615-18446744073709551616 a 1
		XADD s 5 a
		XADD s 5 a 1 b
		XADD s MAXLEN 5 NOMKSTREAM
		XADD s NOMKSTREAM 6 a 1
		XADD nope NOMKSTREAM 6 a 1
		XADD nope NOMKSTREAM nomkstream 6 a 1
		XRANGE s - +
		XRANGE s 1 1
		XRANGE s 1-2 2
		XRANGE s (1-2 +
		XRANGE s - (3
		XRANGE s (1-1 (2
		XRANGE s ( +
		XRANGE s (- +
		XRANGE s + -
		XRANGE s - + COUNT 2
		XRANGE s - + COUNT 0
		XRANGE s - + COUNT -1
		XRANGE s - + COUNT x
		XRANGE s - + COUNT
		XRANGE s - + NOPE 1
		XRANGE s - + COUNT 1 COUNT 3
		XRANGE s x +
		XRANGE s - x
		XRANGE s (18446744073709551615-18446744073709551615 +
		XRANGE s - (0-0
		XRANGE s - (0
		XRANGE missing - +
		XRANGE missing - + COUNT 0
		XREVRANGE s + -
		XREVRANGE s 3 1-2
		XREVRANGE s (3 (1-1 COUNT 2
		XREVRANGE s + - COUNT 1
		XREVRANGE s (0-0 -
		XREVRANGE s + (18446744073709551615-18446744073709551615
		XLEN s
		XLEN missing
		XDEL s 1-2 9-9
		XDEL s 1-2
		XDEL s x
		XDEL s 1-1 x
		XDEL missing x
		XRANGE s - +
		XDEL s 1-1 1-3 2-0
		XINFO STREAM s
		XDEL s 3-0 6
		XINFO STREAM s
		XLEN s
		XADD s 6-0 a 1
		XADD s 6-18446744073709551615 a 1
		XADD s 6-* a 1
		XADD s 18446744073709551615-18446744073709551614 a 1
		XADD s 18446744073709551615-* a 1
		XADD s 18446744073709551615-* a 1
		XADD s * a 1
		XADD s 5 a 1
		XINFO STREAM s
		SET str x
		XADD str 1 a 1
		XADD str NOMKSTREAM 1 a 1
		XADD str 1 a
		XLEN str
		XRANGE str - +
		XRANGE str x +
		XDEL str 1
		XDEL str x
		XTRIM str MAXLEN 1
		XINFO STREAM str
		XINFO GROUPS str
		XINFO STREAM missing
		XINFO CONSUMERS missing g
		XINFO CONSUMERS fresh g
		XINFO GROUPS missing
		XINFO GROUPS fresh
		XINFO STREAM fresh FULL
		XINFO STREAM fresh FULL COUNT 5
		XINFO STREAM fresh FULL COUNT x
		XINFO STREAM fresh FULL COUNT
		XINFO STREAM fresh FULL NOPE 1
		XINFO STREAM fresh NOPE
		XINFO HELP
		XGROUP HELP
	`)
}

func TestStreamIDsFromTheClock(t *testing.T) {
	diff(t, `
		XADD s 18446744073709551614-18446744073709551615 a 1
		XADD s * a 1
		XADD s * a 1
		XADD s 18446744073709551614-* a 1
	`)
	l := newLocal(2)
	for _, line := range []string{"XADD s * a 1", "XADD s NOMKSTREAM * a 1", "XADD s MAXLEN = 1 * a 1", "XADD s MAXLEN ~ 1 * a 1"} {
		before := time.Now().UnixMilli()
		id := bulkOf(l.run(splitArgs(t, line), false).reply)
		var ms, seq int64
		if _, err := fmt.Sscanf(id, "%d-%d", &ms, &seq); err != nil || ms < before || ms > time.Now().UnixMilli() {
			t.Errorf("%s answered %q at %d", line, id, before)
		}
		var want []string
		for _, arg := range splitArgs(t, line) {
			want = append(want, strconv.Quote(strings.NewReplacer("~", "=", "*", id).Replace(string(arg))))
		}
		if got := strings.Join(l.outcome.effects, ";"); strings.Contains(line, "~") {
			continue // the length is what the trimming left
		} else if got != strings.Join(want, " ") {
			t.Errorf("%s propagates %s, want %s", line, got, want)
		}
	}
}

func TestStreamTrimming(t *testing.T) {
	var adds strings.Builder
	for i := range 250 {
		fmt.Fprintf(&adds, "XADD s %d a %d\n", i+1, i)
	}
	diff(t, adds.String()+`
		XTRIM s MAXLEN ~ 240
		XTRIM s MAXLEN 245
		XTRIM s MAXLEN = 240
		XINFO STREAM s
		XTRIM s MINID ~ 50
		XTRIM s MINID 50
		XTRIM s MINID 50
		XINFO STREAM s
		XTRIM s MAXLEN ~ 50 LIMIT 20
		XTRIM s MAXLEN ~ 50 LIMIT 60
		XTRIM s MINID ~ 230 LIMIT 100
		XINFO STREAM s
		XADD s MAXLEN ~ 10 300 a 1
		XADD s MAXLEN ~ 5 LIMIT 0 301 a 1
		XADD s MINID ~ 240 302 a 1
		XADD s MAXLEN = 30 303 a 1
		XADD s MINID 250 304-* a 1
		XADD s MAXLEN 3 305 a 1
		XRANGE s - +
		XADD s MAXLEN 0 306 a 1
		XINFO STREAM s
		XADD s 307 a 1
		XTRIM s MAXLEN 0
		XTRIM s MAXLEN 0
		XTRIM missing MAXLEN 0
		XTRIM s MAXLEN -1
		XTRIM s MAXLEN x
		XTRIM s MAXLEN ~
		XTRIM s MINID x
		XTRIM s MINID -
		XTRIM s MAXLEN 1 MINID 1
		XTRIM s MAXLEN 1 MAXLEN 2
		XTRIM s MAXLEN 1 LIMIT 5
		XTRIM s MAXLEN = 1 LIMIT 5
		XTRIM s MAXLEN ~ 1 LIMIT -1
		XTRIM s MAXLEN ~ 1 LIMIT x
		XTRIM s MAXLEN 1 LIMIT 0
		XTRIM s LIMIT 5
		XTRIM s LIMIT 0
		XTRIM s NOPE 1
		XTRIM s MAXLEN 1 NOPE
		XTRIM s MAXLEN
		XADD s LIMIT 5 400 a 1
		XADD s MAXLEN 5 LIMIT 5 400 a 1
		XADD s LIMIT 0 400 a 1
		CONFIG SET stream-node-max-entries 3
		XADD t 1 a 1
		XADD t 2 a 1
		XADD t 3 a 1
		XADD t 4 a 1
		XADD t 5 b 1
		XDEL t 2
		XINFO STREAM t
		XTRIM t MAXLEN ~ 3
		XTRIM t MAXLEN ~ 2
		XTRIM t MAXLEN 1
		XTRIM t MINID ~ 5
		XTRIM t MINID ~ 6
		XINFO STREAM t
		CONFIG SET stream-node-max-entries 0
		CONFIG SET stream-node-max-bytes 100
		XADD u 1 a xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
		XADD u 2 a xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
		XADD u 3 a xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
		XTRIM u MAXLEN ~ 1
		XINFO STREAM u
	`)
}

func TestXSetID(t *testing.T) {
	diff(t, `
		XADD s 5-5 a 1
		XSETID s 5-5
		XSETID s 7
		XSETID s 5-4
		XSETID s 10 ENTRIESADDED 20 MAXDELETEDID 9
		XSETID s 8
		XSETID s 10 ENTRIESADDED 0
		XSETID s 10 ENTRIESADDED -1
		XSETID s 10 ENTRIESADDED x
		XSETID s 10 MAXDELETEDID 11
		XSETID s 10 MAXDELETEDID x
		XSETID s x
		XSETID s 11 NOPE 1
		XSETID s 11 ENTRIESADDED
		XINFO STREAM s
		XDEL s 5-5
		XSETID s 9-1 ENTRIESADDED 0
		XINFO STREAM s
		XSETID missing 1
		XSETID missing x
		SET str x
		XSETID str 1
	`)
}

func TestXRead(t *testing.T) {
	diff(t, `
		XADD s 1 a 1
		XADD s 2 b 2
		XADD t 5 c 3 d 4
		XREAD STREAMS s 0
		XREAD STREAMS s t 0 0
		XREAD STREAMS s t 1 5
		XREAD COUNT 1 STREAMS s t 0 0
		XREAD COUNT 0 STREAMS s 0
		XREAD COUNT -3 STREAMS s 0
		XREAD COUNT x STREAMS s 0
		XREAD STREAMS s 2
		XREAD STREAMS s $
		XREAD STREAMS s 1-1
		XREAD STREAMS s 18446744073709551615-18446744073709551615
		XREAD STREAMS missing 0
		XREAD STREAMS missing s 0 0
		XREAD STREAMS missing $
		XREAD STREAMS s x
		XREAD STREAMS s >
		XREAD STREAMS s +
		XREAD STREAMS s -
		XREAD STREAMS s t 0
		XREAD STREAMS s
		XREAD COUNT 1 STREAMS
		XREAD NOPE STREAMS s 0
		XREAD COUNT 1 s 0
		XREAD GROUP g c STREAMS s 0
		XREAD NOACK STREAMS s 0
		XREAD BLOCK 0 STREAMS s 0
		XREAD BLOCK 10 STREAMS s t 0 0
		XREAD BLOCK -1 STREAMS s 0
		XREAD BLOCK x STREAMS s 0
		XREAD BLOCK 1.5 STREAMS s 0
		multi: XREAD BLOCK 0 STREAMS s 2
		multi: XREAD BLOCK 0 STREAMS s $
		XDEL s 2
		XREAD STREAMS s 1
		XREAD STREAMS s 0
		SET str x
		XREAD STREAMS str 0
		XREAD STREAMS s str 0 0
	`)
}

func TestConsumerGroups(t *testing.T) {
	diff(t, `
		XGROUP CREATE missing g 0
		XGROUP CREATE missing g $
		XGROUP CREATE s g 0 MKSTREAM
		XGROUP CREATE s g 0 MKSTREAM
		XGROUP CREATE s g x
		XGROUP CREATE s h $ ENTRIESREAD 5
		XGROUP CREATE s h2 $ ENTRIESREAD -1
		XGROUP CREATE s h3 $ ENTRIESREAD -2
		XGROUP CREATE s h3 $ ENTRIESREAD x
		XGROUP CREATE s h3 $ NOPE
		XGROUP CREATE s h3 $ ENTRIESREAD
		XGROUP CREATE s h3 $ MKSTREAM ENTRIESREAD 2
		XGROUP CREATE s h4 $ MKSTREAM ENTRIESREAD 2 MKSTREAM
		XGROUP CREATE s h4 + MKSTREAM
		XGROUP CREATE s h4 -
		XGROUP CREATE new h4 x MKSTREAM
		XGROUP CREATE new h4 5 mkstream
		XINFO STREAM new
		XADD s 1 a 1
		XADD s 2 a 2
		XADD s 3 a 3
		XADD s 4 a 4
		XINFO GROUPS s
		XREADGROUP GROUP g alice COUNT 2 STREAMS s >
		XREADGROUP GROUP g bob STREAMS s >
		XREADGROUP GROUP g bob STREAMS s >
		XREADGROUP GROUP g alice STREAMS s 0
		XREADGROUP GROUP g alice STREAMS s 1
		XREADGROUP GROUP g alice COUNT 1 STREAMS s 0
		XREADGROUP GROUP g carol STREAMS s 0
		XREADGROUP GROUP g dave NOACK STREAMS s >
		XPENDING s g
		XINFO GROUPS s
		XACK s g 1
		XACK s g 1 2-0 9
		XACK s g x
		XACK s nope x
		XACK missing g x
		XPENDING s g
		XREADGROUP GROUP g alice STREAMS s 0
		XDEL s 3
		XREADGROUP GROUP g bob STREAMS s 0
		XADD s 5 a 5
		XREADGROUP GROUP g bob NOACK STREAMS s >
		XPENDING s g
		XINFO GROUPS s
		XGROUP SETID s g 0
		XINFO GROUPS s
		XGROUP SETID s g $
		XINFO GROUPS s
		XGROUP SETID s g 2 ENTRIESREAD 2
		XGROUP SETID s g 2 ENTRIESREAD -2
		XGROUP SETID s g 2 NOPE
		XGROUP SETID s g x
		XGROUP SETID s g -
		XGROUP SETID s g +
		XGROUP SETID s nope 0
		XGROUP SETID missing g 0
		XGROUP SETID s g 0
		XREADGROUP GROUP g alice STREAMS s >
		XPENDING s g
		XGROUP CREATECONSUMER s g eve
		XGROUP CREATECONSUMER s g eve
		XGROUP CREATECONSUMER s nope eve
		XGROUP CREATECONSUMER missing nope eve
		XGROUP DELCONSUMER s g alice
		XGROUP DELCONSUMER s g alice
		XGROUP DELCONSUMER s nope alice
		XPENDING s g
		XINFO GROUPS s
		XGROUP DESTROY s g
		XGROUP DESTROY s g
		XGROUP DESTROY missing g
		XREADGROUP GROUP g alice STREAMS s >
		XREADGROUP GROUP g alice STREAMS missing >
		XREADGROUP GROUP h alice STREAMS s missing > >
		XREADGROUP GROUP h alice STREAMS s $
		XREADGROUP GROUP h alice STREAMS s x
		XREADGROUP GROUP h alice STREAMS s + 0
		XREADGROUP GROUP h alice COUNT 1 BLOCK 1 STREAMS s 0
		XREADGROUP GROUP h alice STREAMS s s > >
		XREADGROUP STREAMS s >
		XREADGROUP COUNT 1 BLOCK 1 STREAMS s >
		XREADGROUP GROUP h alice BLOCK x STREAMS s >
		XREADGROUP GROUP h
		XREADGROUP GROUP h alice COUNT 1
		multi: XREADGROUP GROUP h alice BLOCK 0 STREAMS s >
		SET str x
		XGROUP CREATE str g 0
		XGROUP DESTROY str g
		XGROUP SETID str g 0
		XREADGROUP GROUP g c STREAMS str 0
		XACK str g 0
		XPENDING str g
		XCLAIM str g c 0 1
		XAUTOCLAIM str g c 0 0
	`)
}

func TestXReadGroupOfSeveralStreams(t *testing.T) {
	diff(t, `
		XADD a 1 x 1
		XADD a 2 x 2
		XADD b 1 y 1
		XGROUP CREATE a g 0
		XGROUP CREATE b g 0
		XREADGROUP GROUP g c COUNT 1 STREAMS a b > >
		XREADGROUP GROUP g c STREAMS a b > >
		XREADGROUP GROUP g c STREAMS a b 0 0
		XREADGROUP GROUP g c NOACK STREAMS a b > >
		XREADGROUP GROUP g d NOACK STREAMS a b > 0
		XADD a 3 x 3
		XADD b 3 y 3
		XREADGROUP GROUP g d NOACK STREAMS a b > >
		XADD a 4 x 3
		XREADGROUP GROUP g d COUNT 1 STREAMS a a > >
		XADD a 5 x 3
		XADD a 6 x 3
		XREADGROUP GROUP g d COUNT 1 STREAMS a a > >
		XGROUP SETID a g 0
		XREADGROUP GROUP g e COUNT 2 STREAMS a >
		XPENDING a g
		XINFO GROUPS a
		XINFO GROUPS b
	`)
}

func TestXPending(t *testing.T) {
	diff(t, `
		XADD s 1 a 1
		XADD s 2 a 2
		XADD s 3 a 3
		XGROUP CREATE s g 0
		XPENDING s g
		XPENDING s g - + 10
		XREADGROUP GROUP g alice COUNT 2 STREAMS s >
		XREADGROUP GROUP g bob STREAMS s >
		XCLAIM s g alice 0 1 2 TIME 1000
		XCLAIM s g bob 0 3 TIME 1000
		XPENDING s g
		any: XPENDING s g - + 10
		any: XPENDING s g - + 10 bob
		XPENDING s g - + 0
		XPENDING s g - + -5
		XPENDING s g - + 10 nobody
		XPENDING s g 9 + 10
		XPENDING s g IDLE 99999999999999 - + 10
		XPENDING s g IDLE x - + 10
		XPENDING s g IDLE 1 - +
		XPENDING s g IDLE 1 - + 0 alice
		XPENDING s g - + x
		XPENDING s g x + 10
		XPENDING s g - x 10
		XPENDING s g (18446744073709551615-18446744073709551615 + 10
		XPENDING s g - (0-0 10
		XPENDING s g -
		XPENDING s g - +
		XPENDING s g IDLE 1 - + 10 bob extra
		XPENDING s nope
		XPENDING "s\x00t" "g\x00h"
		XGROUP SETID s "n\x00o" 0
		XINFO CONSUMERS s "n\x00o"
		XREADGROUP GROUP "n\x00o" c STREAMS s 0
		XCLAIM s g bob 0 1 "n\x00o"
		XGROUP CREATE s g 0 "n\x00o"
		XPENDING missing g
		XPENDING missing g x + 10
		XPENDING s g (1 (3 0
	`)
}

func TestXClaim(t *testing.T) {
	diff(t, `
		XADD s 1 a 1
		XADD s 2 a 2
		XADD s 3 a 3
		XADD s 4 a 4
		XGROUP CREATE s g 0
		XREADGROUP GROUP g alice COUNT 3 STREAMS s >
		XCLAIM s g bob 0 1
		XCLAIM s g bob 0 1 2 JUSTID
		XCLAIM s g bob 99999999999 1
		XCLAIM s g bob 0 4
		XCLAIM s g bob 0 4 FORCE
		XCLAIM s g bob 0 9 FORCE
		XCLAIM s g carol 0 3 RETRYCOUNT 7
		XCLAIM s g carol 0 3 IDLE 5 JUSTID
		XCLAIM s g carol 0 3 IDLE -5 JUSTID
		XCLAIM s g carol 0 3 TIME -5 JUSTID
		XCLAIM s g carol 0 3 TIME 99999999999999 JUSTID
		XCLAIM s g carol 0 3 LASTID 9 JUSTID
		XCLAIM s g carol 0 9 LASTID 12
		XCLAIM s g carol 0 9 LASTID 1
		XCLAIM s g carol -5 3 JUSTID
		XPENDING s g
		XCLAIM s g nobody 99999999 1
		XCLAIM s g nobody 0 99
		XINFO GROUPS s
		XDEL s 2
		XCLAIM s g dave 0 2 1
		XCLAIM s g dave 99999999 1
		XINFO GROUPS s
		XCLAIM s g dave 0 1 NOPE
		XCLAIM s g dave 0 1 IDLE
		XCLAIM s g dave 0 1 IDLE x
		XCLAIM s g dave 0 1 TIME x
		XCLAIM s g dave 0 1 RETRYCOUNT x
		XCLAIM s g dave 0 1 LASTID x
		XCLAIM s g dave 0 x
		XCLAIM s g dave x 1
		XCLAIM s nope dave 0 1
		XCLAIM missing g dave 0 1
		XCLAIM missing g dave x 1
		XPENDING s g
	`)
}

func TestXAutoClaim(t *testing.T) {
	diff(t, `
		XADD s 1 a 1
		XADD s 2 a 2
		XADD s 3 a 3
		XADD s 4 a 4
		XADD s 5 a 5
		XGROUP CREATE s g 0
		XAUTOCLAIM s g bob 0 0
		XREADGROUP GROUP g alice STREAMS s >
		XAUTOCLAIM s g bob 0 0 COUNT 2
		XAUTOCLAIM s g bob 0 0 COUNT 576460752303423487
		XAUTOCLAIM s g bob 0 0 COUNT 8796093022208
		XAUTOCLAIM nosuch g bob 0 0 COUNT 576460752303423487
		XAUTOCLAIM s g bob 0 3 COUNT 2 JUSTID
		XAUTOCLAIM s g bob 0 (3
		XAUTOCLAIM s g bob 0 -
		XAUTOCLAIM s g bob 0 +
		XAUTOCLAIM s g bob 999999999 0
		XAUTOCLAIM s g bob 999999999 0 COUNT 1
		XAUTOCLAIM s g nobody 9999999 0
		XINFO GROUPS s
		XDEL s 2 4
		XAUTOCLAIM s g carol 0 0 COUNT 2
		XAUTOCLAIM s g carol 0 3 COUNT 2
		XPENDING s g
		XDEL s 1 3 5
		XAUTOCLAIM s g carol 0 0 COUNT 100
		XPENDING s g
		XADD s 18446744073709551615-18446744073709551615 a 1
		XREADGROUP GROUP g alice STREAMS s 18446744073709551615-18446744073709551615
		XREADGROUP GROUP g alice STREAMS s 18446744073709551615-18446744073709551615
		XAUTOCLAIM s g carol 999999 0
		XAUTOCLAIM s g carol 0 + COUNT 1
		XAUTOCLAIM s g carol x 0
		XAUTOCLAIM s g carol -1 0
		XAUTOCLAIM s g carol 0 x
		XAUTOCLAIM s g carol 0 (18446744073709551615-18446744073709551615
		XAUTOCLAIM s g carol 0 0 COUNT 0
		XAUTOCLAIM s g carol 0 0 COUNT x
		XAUTOCLAIM s g carol 0 0 COUNT 9223372036854775807
		XAUTOCLAIM s g carol 0 0 COUNT
		XAUTOCLAIM s g carol 0 0 NOPE
		XAUTOCLAIM s nope carol 0 0
		XAUTOCLAIM missing g carol 0 0
	`)
}

func TestBlockingReadInScript(t *testing.T) {
	l := newLocal(2)
	l.fromScript = true
	got := l.run(splitArgs(t, "xRead BLOCK 5 STREAMS s 0"), false).reply
	if want := "-ERR xRead command is not allowed with BLOCK option from scripts\r\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestStreamsOf62 has what 7.0 changed; see the histories on the pages of XADD
// and XAUTOCLAIM.
func TestStreamsOf62(t *testing.T) {
	l := newLocal(2)
	l.table = NewTable(version.V6_2)
	l.keyspace.Limits = keyspace.DefaultLimits(version.V6_2)
	for _, step := range [][2]string{
		{"XADD s 1 a 1", "$3\r\n1-0\r\n"},
		{"XADD s 1-* a 1", "-ERR Invalid stream ID specified as stream command argument\r\n"},
		{"XGROUP CREATE s g 0", "+OK\r\n"},
		{"XREADGROUP GROUP g c STREAMS s >", "*1\r\n*2\r\n$1\r\ns\r\n*1\r\n*2\r\n$3\r\n1-0\r\n*2\r\n$1\r\na\r\n$1\r\n1\r\n"},
		{"XDEL s 1", ":1\r\n"},
		{"XAUTOCLAIM s g d 0 0", "*2\r\n$3\r\n0-0\r\n*1\r\n$-1\r\n"},
		{"XINFO GROUPS s", "*1\r\n*8\r\n$4\r\nname\r\n$1\r\ng\r\n$9\r\nconsumers\r\n:2\r\n$7\r\npending\r\n:1\r\n" +
			"$17\r\nlast-delivered-id\r\n$3\r\n1-0\r\n"},
	} {
		if got := l.run(splitArgs(t, step[0]), false).reply; got != step[1] {
			t.Errorf("%s: got %q, want %q", step[0], got, step[1])
		}
	}
}

// TestStreamsAtRandom lets groups read a stream in which entries are deleted,
// which is where the counting of what they have read becomes difficult.
func TestStreamsAtRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	lines := []string{"CONFIG SET stream-node-max-entries 4", "XGROUP CREATE s g0 0 MKSTREAM"}
	last := 0
	for range 300 {
		group := fmt.Sprintf("g%d", rng.IntN(3))
		some := func() int { return 1 + rng.IntN(last+2) }
		switch rng.IntN(12) {
		case 0, 1, 2:
			last += 1 + rng.IntN(2)
			lines = append(lines, fmt.Sprintf("XADD s %d f%d %d", last, rng.IntN(3), rng.IntN(300)-150))
		case 3:
			lines = append(lines, fmt.Sprintf("XDEL s %d %d", some(), some()))
		case 4:
			lines = append(lines, fmt.Sprintf("XREADGROUP GROUP %s c%d COUNT %d STREAMS s >", group, rng.IntN(3), 1+rng.IntN(4)))
		case 5:
			lines = append(lines, fmt.Sprintf("XREADGROUP GROUP %s c%d COUNT %d NOACK STREAMS s >", group, rng.IntN(3), 1+rng.IntN(4)))
		case 6:
			lines = append(lines, fmt.Sprintf("XACK s %s %d %d %d", group, some(), some(), some()))
		case 7:
			lines = append(lines, fmt.Sprintf("XTRIM s MAXLEN %s %d", []string{"=", "~"}[rng.IntN(2)], 5+rng.IntN(20)))
		case 8:
			lines = append(lines, fmt.Sprintf("XGROUP CREATE s %s %d", group, some()))
		case 9:
			lines = append(lines, fmt.Sprintf("XGROUP SETID s %s %d", group, some()))
		case 10:
			lines = append(lines, fmt.Sprintf("XRANGE s %d %d", some(), some()), fmt.Sprintf("XREVRANGE s %d %d COUNT 5", some(), some()))
		case 11:
			lines = append(lines, fmt.Sprintf("XAUTOCLAIM s %s c%d 0 %d COUNT 3", group, rng.IntN(3), some()))
		}
		lines = append(lines, "XINFO GROUPS s", "XINFO STREAM s")
	}
	diff(t, strings.Join(lines, "\n"))
}
