package emulator_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/fakecluster/fakecluster/emulator"
)

var monitorTime = regexp.MustCompile(`^\+\d+\.\d{6} \[(\d+ )(lua)?[^\]]*\] `)

// The lines are what redis-server 7.0.15 writes: a script ahead of its
// commands, EXEC behind what it runs, nothing of administrators, no secrets.
func TestMonitor(t *testing.T) {
	c := emulator.RunT(t, emulator.Standalone(), emulator.RedisVersion("7.0"))
	m, w := dial(t, c, 0), dial(t, c, 0)
	m.send("MONITOR\r\n")
	m.expect("+OK")
	w.send("SET a \"x\\n\\\"\\x01\"\r\nMULTI\r\nGET a\r\nEXEC\r\nSELECT 3\r\n")
	w.expect("+OK", "+OK", "+QUEUED", "*[x\n\"\x01]", "+OK")
	w.send("EVAL \"return redis.call('incr','n')\" 0\r\nAUTH bob secret\r\nCONFIG GET port\r\nNOSUCH\r\nGET\r\nPING\r\n")
	for range 2 {
		w.reply()
	}
	for range 4 {
		w.reply()
	}
	for _, want := range []string{
		`[0 ] "SET" "a" "x\n\"\x01"`, `[0 ] "MULTI"`, `[0 ] "GET" "a"`, `[0 ] "EXEC"`, `[3 ] "SELECT" "3"`,
		`[3 ] "EVAL" "return redis.call('incr','n')" "0"`, `[3 lua] "incr" "n"`, `[3 ] "AUTH" "(redacted)" "(redacted)"`, `[3 ] "PING"`,
	} {
		if got := monitorTime.ReplaceAllString(m.reply(), "[$1$2] "); got != want {
			t.Errorf("line %s, want %s", got, want)
		}
	}
}

func TestEviction(t *testing.T) {
	c := emulator.RunT(t, emulator.Standalone())
	w, events := dial(t, c, 0), dial(t, c, 0)
	events.send("SUBSCRIBE __keyevent@0__:evicted\r\n")
	events.reply()
	value := strings.Repeat("x", 10_000)
	w.send("CONFIG SET maxmemory 3mb notify-keyspace-events Ee\r\n")
	w.expect("+OK")
	set := func(key, options string) string {
		w.send("SET %s %s%s\r\n", key, value, options)
		return w.reply()
	}
	refused := 0
	for i := range 400 {
		switch reply := set("key:"+string(rune('a'+i%26))+strings.Repeat("i", i/26), ""); reply {
		case "+OK":
		case "-OOM command not allowed when used memory > 'maxmemory'.":
			refused++
		default:
			t.Fatal(reply)
		}
	}
	if refused == 0 || refused > 300 {
		t.Fatalf("%d of 400 commands were refused by noeviction", refused)
	}
	w.send("GET key:a\r\nMULTI\r\n")
	w.expect(value, "+OK")
	w.send("GET key:a\r\nDISCARD\r\n") // whatever is queued takes memory
	w.expect("-OOM command not allowed when used memory > 'maxmemory'.", "+OK")

	w.send("CONFIG SET maxmemory-policy volatile-ttl\r\nFLUSHALL\r\n")
	w.expect("+OK", "+OK")
	for i, key := range []string{"late", "soon"} {
		w.send("SET %s %s EX %d\r\n", key, value, 1000-i*900)
		w.expect("+OK")
	}
	for i := 0; set("fill"+strings.Repeat("i", i), "") == "+OK"; i++ {
	}
	for _, key := range []string{"soon", "late"} {
		if got, want := events.reply(), "*[message __keyevent@0__:evicted "+key+"]"; got != want {
			t.Errorf("event %s, want %s", got, want)
		}
	}
	w.send("CONFIG SET maxmemory-policy allkeys-lru\r\n")
	w.expect("+OK")
	for i := range 300 {
		if reply := set("more"+strings.Repeat("i", i), ""); reply != "+OK" {
			t.Fatalf("%s although every key may go", reply)
		}
	}
}

// A key that expires is nobody's change: NOLOOP does not keep its client from
// hearing of it. (Redis' own suite has found this race.)
func TestBroadcastOfExpiredKey(t *testing.T) {
	c := emulator.RunT(t, emulator.Standalone())
	w := dial(t, c, 0)
	w.send("HELLO 3\r\n")
	for range 14 + 1 { // RESP3's map is one line with the pairs behind it
		w.reply()
	}
	w.send("CLIENT TRACKING on BCAST NOLOOP\r\nSET a v PX 10\r\nSET b v\r\nPING\r\n")
	w.expect("+OK", "+OK", "+OK", "+PONG")
	w.expect(">[invalidate *[a]]")
}
