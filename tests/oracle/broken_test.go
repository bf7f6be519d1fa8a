package oracle

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"testing"
)

// broken is real Redis behind a proxy that changes a few bytes on their way:
// the oracle must notice and say where.
type broken struct {
	request, reply [2]string // text and what it becomes
}

func (b broken) Start(tb testing.TB, cluster bool) Endpoint {
	e := RealRedis{}.Start(tb, cluster)
	e.Name = "broken redis"
	dial := e.Dial
	e.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		return &brokenConn{Conn: conn, by: b}, err
	}
	return e
}

type brokenConn struct {
	net.Conn
	by   broken
	rest bytes.Buffer
}

func (c *brokenConn) Write(p []byte) (int, error) {
	changed := strings.ReplaceAll(string(p), c.by.request[0], c.by.request[1])
	if _, err := io.WriteString(c.Conn, changed); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (c *brokenConn) Read(p []byte) (int, error) {
	if c.rest.Len() == 0 {
		chunk := make([]byte, 64<<10)
		n, err := c.Conn.Read(chunk)
		if n == 0 {
			return 0, err
		}
		c.rest.WriteString(strings.ReplaceAll(string(chunk[:n]), c.by.reply[0], c.by.reply[1]))
	}
	return c.rest.Read(p)
}

// The oracle is only worth something if it finds what is wrong.
func TestFindsAndShrinksDifferences(t *testing.T) {
	const never = "\x00never\x00"
	tests := []struct {
		name    string
		by      broken
		family  string
		longest int    // shrunk steps
		last    string // command of the last step
	}{
		{"a changed error text", broken{reply: [2]string{"-WRONGTYPE Operation", "-WRONGTYPE operation"}, request: [2]string{never, ""}}, "lists", 2, ""},
		{"a list created where none may be", broken{request: [2]string{"$6\r\nLPUSHX", "$5\r\nLPUSH"}, reply: [2]string{never, ""}}, "lists", 1, "LPUSHX"},
		{"an element lost on the way", broken{request: [2]string{"$4\r\nm100\r\n", "$4\r\nm101\r\n"}, reply: [2]string{never, ""}}, "sets", 2, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			x, err := NewRunner(RealRedis{}.Start(t, false), test.by.Start(t, false), false, false)
			if err != nil {
				t.Fatal(err)
			}
			defer x.Close()
			for seed := range uint64(40) {
				g, err := NewGenerator(seed, false, false, []string{test.family})
				if err != nil {
					t.Fatal(err)
				}
				steps := g.Session()
				d, err := x.Run(steps)
				if err != nil {
					t.Fatal(err)
				}
				if d == nil {
					continue
				}
				steps, d, err = x.Shrink(steps, d, shrinkBudget)
				if err != nil {
					t.Fatal(err)
				}
				report := Report(steps, d, "redis", "broken redis")
				if len(steps) > test.longest || test.last != "" && d.name() != test.last {
					t.Errorf("shrunk to %d steps ending in %s, want at most %d ending in %s:\n%s", len(steps), d.name(), test.longest, test.last, report)
				}
				return
			}
			t.Error("no difference found")
		})
	}
}

func TestQuoteRoundTrip(t *testing.T) {
	for _, arg := range []string{"", "a", "a b", "\x00\xff\r\n\t", `"\`, "'", "#x", "@1", "%2", "!x", "é", strings.Repeat("x", 100), strings.Repeat("\"", 40)} {
		got, err := splitArgs(quote(arg))
		if err != nil || len(got) != 1 || got[0] != arg {
			t.Errorf("splitArgs(quote(%q)) = %q, %v", arg, got, err)
		}
	}
}

func TestStepRoundTrip(t *testing.T) {
	for _, line := range []string{"SET k v", "@2 GET k", "%1 PING", "@3 %2 !sleep 5ms", "!snapshot", `!raw "*1\r\n"`, "@9 !pushes 3", "%0 !scanall SCAN 0 COUNT 5"} {
		step, ok, err := parseStep(line)
		if err != nil || !ok || step.String() != line {
			t.Errorf("parseStep(%q) = %q, %v, %v", line, step, ok, err)
		}
	}
}
