package emulator_test

import (
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/tests/redisserver"
)

// attack is a published or likely way out of the sandbox of scripts.
type attack struct {
	name string
	// scripts run one after the other: what one leaves behind, the next may see.
	scripts []string
	// want is what they answer, or how that begins.
	want string
	part bool
	// fatal says that redis-server 7.0.15 does not survive it.
	fatal bool
}

// readAttacks reads testdata/escapes.txt: each begins with its name and ends with
// the reply of redis-server 7.0.15 as Debian patches it, "-->", or, where that
// crashes or hangs, with what is right, "--!".
func readAttacks(t *testing.T) []attack {
	t.Helper()
	data, err := os.ReadFile("testdata/escapes.txt")
	if err != nil {
		t.Fatal(err)
	}
	var attacks []attack
	for _, text := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n----\n") {
		name, text, _ := strings.Cut(text, "\n")
		end := strings.LastIndex(text, "\n--")
		if end < 0 {
			t.Fatalf("%s has no reply", name)
		}
		scripts, reply := text[:end], text[end+len("\n--"):]
		quoted, part := strings.CutSuffix(reply[len("> "):], " ...")
		want, err := strconv.Unquote(quoted)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		attacks = append(attacks, attack{
			name: strings.TrimPrefix(name, "-- "), scripts: strings.Split(scripts, "\n=>\n"),
			want: want, part: part, fatal: reply[0] == '!',
		})
	}
	return attacks
}

// exchange sends a command and returns its reply as it came.
func exchange(t *testing.T, w *wire, args ...string) string {
	t.Helper()
	if err := w.conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w.conn, request(args)); err != nil {
		t.Fatal(err)
	}
	var reply strings.Builder
	if err := copyReply(&reply, w.r); err != nil {
		t.Fatalf("%.100q: %v", args, err)
	}
	return reply.String()
}

func (a attack) run(t *testing.T, w *wire) {
	t.Helper()
	exchange(t, w, "FLUSHALL")
	got := ""
	for _, script := range a.scripts {
		got += exchange(t, w, "EVAL", script, "1", "key1", "arg1", "arg2")
	}
	if a.part && strings.HasPrefix(got, a.want) {
		return
	}
	if got != a.want {
		t.Errorf("%q\n  is %.600q\nwant %q", a.scripts, got, a.want)
	}
}

// TestSandbox attacks the sandbox of scripts. All attacks share a server, whose
// state none may spoil for the next.
func TestSandbox(t *testing.T) {
	c := emulator.RunT(t, emulator.Standalone(), emulator.RedisVersion("7.0"))
	w := dial(t, c, 0)
	for _, a := range readAttacks(t) {
		t.Run(a.name, func(t *testing.T) { a.run(t, w) })
	}
}

// TestSandboxOfRedis holds the list to redis-server.
func TestSandboxOfRedis(t *testing.T) {
	server := redisserver.Start(t)
	conn, err := net.Dial("tcp", server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	w := onWire(t, conn)
	for _, a := range readAttacks(t) {
		if !a.fatal {
			t.Run(a.name, func(t *testing.T) { a.run(t, w) })
		}
	}
}
