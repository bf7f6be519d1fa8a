// Package facts holds the emulator against what real servers of three versions
// answered and said of themselves; see README.md. It has tests only.
package facts

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/emulator"
)

var versions = []string{"7.0", "7.2", "7.4"}

// exchange is a command of a transcript with its reply, which is escaped.
type exchange struct {
	line           int
	command, reply string
}

func readTranscript(t *testing.T, version string, proto int) []exchange {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "redis-"+version, fmt.Sprintf("transcript-resp%d.txt", proto)))
	if err != nil {
		t.Fatal(err)
	}
	var all []exchange
	for i, line := range strings.Split(string(text), "\n") {
		if command, ok := strings.CutPrefix(line, "> "); ok {
			all = append(all, exchange{line: i + 1, command: command})
		} else if reply, ok := strings.CutPrefix(line, "  "); ok {
			all[len(all)-1].reply = reply
		}
	}
	return all
}

// masks are the parts of replies that vary from run to run, by the beginning of
// the command.
var masks = []struct {
	command string
	varies  *regexp.Regexp
	becomes string
}{
	// Idle milliseconds of each entry, behind the consumer.
	{"XPENDING st g - + 10", regexp.MustCompile(`(\$2\\r\\nc1\\r\\n):\d+`), "$1:0"},
	{"HELLO 3", regexp.MustCompile(`(\$2\\r\\nid\\r\\n):\d+`), "$1:0"},
}

func masked(command, reply string) string {
	for _, m := range masks {
		if strings.HasPrefix(command, m.command) {
			reply = m.varies.ReplaceAllString(reply, m.becomes)
		}
	}
	return reply
}

func TestTranscripts(t *testing.T) {
	for _, version := range versions {
		for _, proto := range []int{2, 3} {
			t.Run(fmt.Sprintf("%s/RESP%d", version, proto), func(t *testing.T) {
				exchanges := readTranscript(t, version, proto)
				if len(exchanges) < 150 {
					t.Fatalf("the transcript has only %d commands", len(exchanges))
				}
				fake := emulator.RunT(t, emulator.Standalone(), emulator.RedisVersion(version))
				c := dial(t, fake.Dialer(), fake.Addrs()[0])
				if proto == 3 {
					c.do("HELLO", "3")
				}
				for _, e := range exchanges {
					got := c.do(words(t, e.command)...)
					if masked(e.command, got) != masked(e.command, e.reply) {
						t.Errorf("line %d: %s\n got %s\nwant %s", e.line, e.command, got, e.reply)
					}
				}
			})
		}
	}
}

// client speaks the protocol itself: replies are compared byte for byte.
type client struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

// dialer is what connects to a server.
type dialer func(ctx context.Context, network, addr string) (net.Conn, error)

func dial(t *testing.T, to dialer, addr string) *client {
	t.Helper()
	conn, err := to(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(time.Minute))
	return &client{t, conn, bufio.NewReader(conn)}
}

// do sends a command and returns its reply, escaped.
func (c *client) do(args ...string) string {
	c.t.Helper()
	request := fmt.Appendf(nil, "*%d\r\n", len(args))
	for _, arg := range args {
		request = fmt.Appendf(request, "$%d\r\n%s\r\n", len(arg), arg)
	}
	if _, err := c.conn.Write(request); err != nil {
		c.t.Fatal(err)
	}
	var reply bytes.Buffer
	if err := c.read(&reply); err != nil {
		c.t.Fatalf("%q: %v", args, err)
	}
	return escape(reply.Bytes())
}

// read copies one whole reply.
func (c *client) read(to *bytes.Buffer) error {
	line, err := c.in.ReadString('\n')
	if err != nil {
		return err
	}
	to.WriteString(line)
	items := 0
	switch n, _ := strconv.Atoi(strings.TrimSpace(line[1:])); line[0] {
	case '$', '=', '!':
		if n >= 0 {
			_, err = io.CopyN(to, c.in, int64(n)+2)
		}
	case '*', '~', '>':
		items = n
	case '%':
		items = 2 * n
	}
	for range items {
		if err == nil {
			err = c.read(to)
		}
	}
	return err
}

func escape(b []byte) string {
	var s strings.Builder
	for _, c := range b {
		switch {
		case c == '\r':
			s.WriteString(`\r`)
		case c == '\n':
			s.WriteString(`\n`)
		case c < ' ' || c > '~':
			fmt.Fprintf(&s, `\x%02x`, c)
		default:
			s.WriteByte(c)
		}
	}
	return s.String()
}

// words splits a command as a shell would: what is between double quotes is one
// word, and \n in it a newline.
func words(t *testing.T, command string) []string {
	t.Helper()
	var args []string
	for rest := strings.TrimLeft(command, " "); rest != ""; rest = strings.TrimLeft(rest, " ") {
		if rest[0] != '"' {
			word, after, _ := strings.Cut(rest, " ")
			args, rest = append(args, word), after
			continue
		}
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		word, err := strconv.Unquote(quoted)
		if err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		args, rest = append(args, word), rest[len(quoted):]
	}
	return args
}
