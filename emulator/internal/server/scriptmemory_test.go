package server

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/lua"
)

// A script or function that wants more memory than there is for scripts is told
// so. What it did before that stays, others are served, and the next one has all
// the memory again.
func TestScriptMemory(t *testing.T) {
	for _, test := range []struct {
		name, body string
		memory     int
	}{
		{"a string", "return #string.rep('x', 512 * 2^20 + 1)", 0},
		// More than the 512 MB of a node is refused before it is taken.
		{"a reply", "local s, t = ('x'):rep(2^20), {} for i = 1, 513 do t[i] = s end return t", 0},
		{"piece by piece", "local t = {} while true do t[#t + 1] = ('x'):rep(1000) .. #t end", 16 << 20},
		{"doubling", "local s = 'x' while true do s = s .. s end", 16 << 20},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := newTestNode(t, Options{Log: slog.New(slog.DiscardHandler)})
			defer n.Close()
			if test.memory != 0 {
				n.scripts.runtime = lua.New(lua.Options{RedisVersion: n.version.String(), Limits: lua.Limits{Memory: test.memory}})
			}
			ln := serveTestNode(t, n)
			dial := func() func(words ...string) string {
				conn, err := net.Dial("tcp", ln.Addr().String())
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { conn.Close() })
				conn.SetDeadline(time.Now().Add(time.Minute))
				r := bufio.NewReader(conn)
				return func(words ...string) string {
					fmt.Fprintf(conn, "*%d\r\n", len(words))
					for _, word := range words {
						fmt.Fprintf(conn, "$%d\r\n%s\r\n", len(word), word)
					}
					line, err := r.ReadString('\n')
					if size := 0; err == nil && line[0] == '$' {
						fmt.Sscan(line[1:], &size)
						_, err = io.CopyN(io.Discard, r, int64(size)+2)
					}
					if err != nil {
						t.Fatalf("%.60q: %q, %v", words, line, err)
					}
					return strings.TrimSuffix(line, "\r\n")
				}
			}
			greedy, other := dial(), dial()
			body := "redis.call('INCR', 'count') " + test.body
			greedy("FUNCTION", "LOAD", "#!lua name=greedy\nredis.register_function('eat', function() "+body+" end)")
			for i, words := range [][]string{{"EVAL", body, "0"}, {"FCALL", "eat", "0"}, {"EVAL", body, "0"}, {"FCALL", "eat", "0"}} {
				if got := greedy(words...); !strings.HasPrefix(got, "-ERR ") || !strings.Contains(got, "not enough memory") {
					t.Fatalf("%s: %q", words[0], got)
				}
				for _, ask := range []func(...string) string{greedy, other} {
					if got, want := ask("INCRBY", "count", "0"), fmt.Sprintf(":%d", i+1); got != want {
						t.Errorf("after %s: %q, want %q", words[0], got, want)
					}
					if got := ask("EVAL", "return #string.rep('x', 1000000)", "0"); got != ":1000000" {
						t.Errorf("after %s the next script: %q", words[0], got)
					}
				}
			}
		})
	}
}
