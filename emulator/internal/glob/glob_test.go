package glob_test

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fakecluster/fakecluster/emulator/internal/glob"
	"github.com/fakecluster/fakecluster/tests/redisserver"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want, fold bool
	}{
		{"", "", true, true},
		{"*", "", false, false},
		{"*", "anything", true, true},
		{"h?llo", "hello", true, true},
		{"h*o", "HELLO", false, true},
		{"h[a-c]x", "hBx", false, true},
		{"h[^e]llo", "hello", false, false},
		{"a\\*b", "a*b", true, true},
		{"a\\*b", "axb", false, false},
		{"[ab", "b", true, true},
		{"[^", "b", true, true},
		{"[", "b", false, false},
		{"a**b**", "axxb", true, true},
		{"[\\a]", "A", false, false},
	} {
		if got := glob.Match(c.pattern, c.s); got != c.want {
			t.Errorf("Match(%q, %q) = %v", c.pattern, c.s, got)
		}
		if got := glob.MatchFold(c.pattern, []byte(c.s)); got != c.fold {
			t.Errorf("MatchFold(%q, %q) = %v", c.pattern, c.s, got)
		}
	}
}

// What takes exponential time ends only with the patience of go test.
func TestSlowPatternEnds(t *testing.T) {
	glob.Match(strings.Repeat("a*", 100)+"b", strings.Repeat("a", 500))
	glob.Match(strings.Repeat("*?", 5000), strings.Repeat("a", 5000))
}

// Random patterns over a small alphabet match what they match in KEYS.
func TestMatchesAsRedisDoes(t *testing.T) {
	server := redisserver.Start(t)
	conn, err := net.Dial("tcp", server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	call := func(args ...string) string {
		var request strings.Builder
		fmt.Fprintf(&request, "*%d\r\n", len(args))
		for _, arg := range args {
			fmt.Fprintf(&request, "$%d\r\n%s\r\n", len(arg), arg)
		}
		if _, err := conn.Write([]byte(request.String())); err != nil {
			t.Fatal(err)
		}
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return line
	}
	letters := rapid.StringOfN(rapid.SampledFrom([]rune("ab*?[]^-\\\xe9")), 0, 10, -1)
	rapid.Check(t, func(t *rapid.T) {
		pattern, key := letters.Draw(t, "pattern"), letters.Draw(t, "key")
		if pattern == "*" { // KEYS does not even match
			return
		}
		call("FLUSHALL")
		call("SET", key, "x")
		reply := call("KEYS", pattern)
		want := reply == "*1\r\n"
		if want {
			in.ReadString('\n')
			in.ReadString('\n')
		}
		if got := glob.Match(pattern, key); got != want {
			t.Fatalf("Match(%q, %q) = %v", pattern, key, got)
		}
	})
}
