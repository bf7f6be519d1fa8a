package emulator_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/emulator"
)

// conn is a connection that sends requests as lines.
type lineConn struct {
	t *testing.T
	net.Conn
	in *bufio.Reader
}

func dialLines(t *testing.T, c *emulator.Cluster) *lineConn {
	t.Helper()
	conn, err := c.Dialer()(t.Context(), "tcp", c.Addrs()[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	return &lineConn{t, conn, bufio.NewReader(conn)}
}

// do sends a request and returns its reply, the items of an array joined.
func (c *lineConn) do(request string) string {
	c.t.Helper()
	fmt.Fprint(c, request, "\r\n")
	return c.reply()
}

func (c *lineConn) reply() string {
	c.t.Helper()
	line, err := c.in.ReadString('\n')
	if err != nil {
		c.t.Fatal(err)
	}
	line = strings.TrimSpace(line)
	n, _ := strconv.Atoi(line[1:])
	switch line[0] {
	case '$':
		if n < 0 {
			return "nil"
		}
		b := make([]byte, n+2)
		if _, err := io.ReadFull(c.in, b); err != nil {
			c.t.Fatal(err)
		}
		return string(b[:n])
	case '*':
		var items []string
		for range n {
			items = append(items, c.reply())
		}
		return strings.Join(items, " ")
	}
	return line
}

// attach makes the connection receive the replication stream.
func (c *lineConn) attach() {
	c.t.Helper()
	fmt.Fprint(c, "SYNC\r\n")
	head, err := c.in.ReadString('\n')
	if err != nil || head[0] != '$' {
		c.t.Fatalf("SYNC: %q, %v", head, err)
	}
	size, _ := strconv.Atoi(strings.TrimSpace(head[1:]))
	if _, err := io.CopyN(io.Discard, c.in, int64(size)); err != nil {
		c.t.Fatal(err)
	}
}

// What replicas are sent, as Redis' own suite has it (units expire, multi and
// type/list).
func TestReplicationStream(t *testing.T) {
	for _, tc := range []struct {
		name             string
		before, commands []string
		want             []string
	}{
		{"a flush of nothing", nil, []string{"FLUSHALL", "FLUSHDB"}, []string{"SELECT 0", "FLUSHALL", "FLUSHDB"}},
		{"keys that expire during SCAN are no transaction",
			[]string{"DEBUG SET-ACTIVE-EXPIRE 0", "SET a 1 PX 1", "SET b 1 PX 1", "DEBUG SLEEP 0.01"}, []string{"SCAN 0", "PUBLISH end x"},
			[]string{"SELECT 0", "DEL ?", "DEL ?", "PUBLISH end x"}},
		{"the database is chosen before a transaction", nil, []string{"SELECT 3", "MULTI", "SET a 1", "INCR a", "EXEC"},
			[]string{"SELECT 3", "MULTI", "SET a 1", "INCR a", "EXEC"}},
		{"one write needs no transaction", nil, []string{"MULTI", "SET a 1", "GET a", "EXEC"}, []string{"SELECT 0", "SET a 1"}},
		{"what a transaction wrote before REPLICAOF stays", nil,
			[]string{"SET a 1", "MULTI", "SET a 2", "REPLICAOF localhost 1", "EXEC", "REPLICAOF NO ONE", "SET a 3"},
			[]string{"SELECT 0", "SET a 1", "SET a 3"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := emulator.RunT(t, emulator.Standalone(), emulator.RedisVersion("7.0"))
			client, stream := dialLines(t, c), dialLines(t, c)
			for _, command := range tc.before {
				client.do(command)
			}
			stream.attach()
			for _, command := range tc.commands {
				if reply := client.do(command); reply[0] == '-' {
					t.Fatalf("%s: %s", command, reply)
				}
			}
			var got []string
			for range tc.want {
				got = append(got, stream.reply())
			}
			if !slices.EqualFunc(got, tc.want, matches) {
				t.Errorf("the stream has %q, want %q", got, tc.want)
			}
		})
	}
}

// matches compares a command; a ? stands for a key.
func matches(got, want string) bool {
	if prefix, ok := strings.CutSuffix(want, "?"); ok {
		return strings.HasPrefix(got, prefix)
	}
	return got == want
}

// A blocked client learns that time has passed when a slow transaction made its
// key ready, and that the stream its group reads from was flushed.
func TestServeWaitingClients(t *testing.T) {
	c := emulator.RunT(t, emulator.Standalone(), emulator.RedisVersion("7.0"))
	client, waiting := dialLines(t, c), dialLines(t, c)
	blocked := func() {
		for !strings.Contains(client.do("INFO clients"), "blocked_clients:1") {
			time.Sleep(time.Millisecond)
		}
	}
	client.do("DEBUG SET-ACTIVE-EXPIRE 0")
	fmt.Fprint(waiting, "BLPOP list 0\r\n")
	blocked()
	for _, command := range []string{"MULTI", "RPUSH list a", "PEXPIRE list 5", "DEBUG SLEEP 0.02", "EXEC"} {
		client.do(command)
	}
	blocked() // the element expired before it could be had
	client.do("RPUSH list b")
	if got := waiting.reply(); got != "list b" {
		t.Errorf("BLPOP: %s", got)
	}

	client.do("XGROUP CREATE stream group $ MKSTREAM")
	fmt.Fprint(waiting, "XREADGROUP GROUP group me BLOCK 0 STREAMS stream >\r\n")
	blocked()
	client.do("FLUSHALL")
	if got := waiting.reply(); got != "-UNBLOCKED the stream key no longer exists" {
		t.Errorf("XREADGROUP: %s", got)
	}
}

// A transaction that was queued in better days is refused by a replica without
// a master that must not serve stale data.
func TestStaleTransaction(t *testing.T) {
	c := emulator.RunT(t, emulator.Standalone(), emulator.RedisVersion("7.0"))
	client, other := dialLines(t, c), dialLines(t, c)
	client.do("CONFIG SET replica-serve-stale-data no")
	client.do("MULTI")
	client.do("GET a")
	other.do("REPLICAOF localhost 1")
	want := "-EXECABORT Transaction discarded because of: MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."
	if got := client.do("EXEC"); got != want {
		t.Errorf("EXEC: %s", got)
	}
}

// UNLINK counts what Redis would free in a thread of its own.
func TestLazyFree(t *testing.T) {
	c := emulator.RunT(t, emulator.Standalone(), emulator.RedisVersion("7.0"))
	client := dialLines(t, c)
	client.do("SADD small a b c")
	client.do("EVAL \"for i = 1, 200 do redis.call('SADD', 'large', 'm' .. i) end\" 0")
	client.do("UNLINK small large")
	if info := client.do("INFO memory"); !strings.Contains(info, "lazyfreed_objects:1\r\n") {
		t.Errorf("INFO memory says %s", info)
	}
}
