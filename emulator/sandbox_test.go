package emulator_test

import (
	"bufio"
	"bytes"
	"fmt"
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
func exchange(t *testing.T, conn net.Conn, r *bufio.Reader, args ...string) string {
	t.Helper()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, arg := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(arg), arg)
	}
	if _, err := conn.Write(b.Bytes()); err != nil {
		t.Fatal(err)
	}
	b.Reset()
	for left := 1; left > 0; left-- {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("%.100q: %v", args, err)
		}
		b.WriteString(line)
		n, _ := strconv.Atoi(strings.TrimSpace(line[1:]))
		switch {
		case line[0] == '*':
			left += max(n, 0)
		case line[0] == '%':
			left += 2 * n
		case strings.IndexByte("$=", line[0]) >= 0 && n >= 0:
			if _, err := io.CopyN(&b, r, int64(n)+2); err != nil {
				t.Fatal(err)
			}
		}
	}
	return b.String()
}

func (a attack) run(t *testing.T, conn net.Conn, r *bufio.Reader) {
	t.Helper()
	exchange(t, conn, r, "FLUSHALL")
	got := ""
	for _, script := range a.scripts {
		got += exchange(t, conn, r, "EVAL", script, "1", "key1", "arg1", "arg2")
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
		t.Run(a.name, func(t *testing.T) { a.run(t, w.conn, w.r) })
	}
}

// TestSandboxOfRedis holds the list to redis-server.
func TestSandboxOfRedis(t *testing.T) {
	server := redisserver.Start(t)
	conn, err := net.Dial("tcp", server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	r := bufio.NewReader(conn)
	for _, a := range readAttacks(t) {
		if !a.fatal {
			t.Run(a.name, func(t *testing.T) { a.run(t, conn, r) })
		}
	}
}
