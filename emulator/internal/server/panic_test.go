package server

import (
	"bufio"
	"bytes"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/version"
)

// A handler that panics ends its client with an error and leaves a stack in the
// log. Everybody else is served on, whoever was being served when it happened.
func TestPanickingHandler(t *testing.T) {
	boom := func(c *command.Call) { panic("boom") }
	blpop := func(c *command.Call) {
		if c.Resumed {
			panic("boom")
		}
		tableFor(version.V7_0).LookupName("blpop").Handler(c)
	}
	var logged bytes.Buffer
	n := newTestNode(t, Options{Log: slog.New(slog.NewTextHandler(&logged, nil)),
		Outside: map[string]Outside{"boomlater": func([]string) (string, error) { panic("boom") }}})
	n.table = tableFor(version.V7_0).WithHidden(
		&command.Spec{Name: "boom", Arity: 1, Handler: boom},
		&command.Spec{Name: "boomlater", Arity: 1, Handler: callOutside},
		&command.Spec{Name: "boompop", Arity: 3, Handler: blpop, Flags: command.Write | command.Blocking},
	)
	n.stats.init(n.table)
	ln := serveTestNode(t, n)
	dial := func() (net.Conn, *bufio.Reader) {
		conn, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		conn.SetDeadline(time.Now().Add(time.Minute))
		t.Cleanup(func() { conn.Close() })
		return conn, bufio.NewReader(conn)
	}
	other, answers := dial()
	ask := func(line, want string) {
		t.Helper()
		io.WriteString(other, line+"\r\n")
		if got, err := answers.ReadString('\n'); got != want+"\r\n" {
			t.Fatalf("%s, said by another client: %q, %v", line, got, err)
		}
	}
	const internal = "-ERR internal error, see the log of the server\r\n"
	for _, test := range []struct{ sent, want string }{
		{"boom\r\nPING\r\n", internal},
		{"WATCH a\r\nMULTI\r\nSET a 1\r\nboom\r\nEXEC\r\n", "+OK\r\n+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n+OK\r\n" + internal},
		{"EVAL \"return redis.call('boom')\" 0\r\n", internal},
		{"boomlater\r\nPING\r\n", internal},
	} {
		conn, r := dial()
		io.WriteString(conn, test.sent)
		if got, err := io.ReadAll(r); string(got) != test.want || err != nil {
			t.Errorf("%q: %q, %v, want %q", test.sent, got, err, test.want)
		}
		ask("PING", "+PONG")
		ask("EVAL \"return 1\" 0", ":1")
	}
	conn, r := dial()
	io.WriteString(conn, "boompop q 0\r\n")
	for blocked := 0; blocked == 0; {
		n.lock()
		blocked = n.blockedClients()
		n.unlock()
	}
	ask("RPUSH q x", ":1")
	if got, err := io.ReadAll(r); string(got) != internal || err != nil {
		t.Errorf("a blocked command: %q, %v", got, err)
	}
	ask("LPUSH q y", ":2")

	conn, r = dial()
	say := func(line string) {
		io.WriteString(conn, line+"\r\n")
	}
	say("PING")
	r.ReadString('\n')
	n.lock()
	for _, s := range n.sessions {
		if s.addr == conn.LocalAddr().String() {
			s.parser.OnEmpty = func() { panic("boom") }
		}
	}
	n.unlock()
	say("PING") // sees what was planted, as it takes the lock
	say("")
	say("PING")
	if got, err := io.ReadAll(r); string(got) != "+PONG\r\n"+internal || err != nil {
		t.Errorf("the parser: %q, %v", got, err)
	}
	ask("PING", "+PONG")
	n.Close()
	if got := strings.Count(logged.String(), "panic_test.go"); got < 6 {
		t.Errorf("%d of 6 stacks are in the log:\n%s", got, logged.String())
	}
}
