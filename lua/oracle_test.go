package lua

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// oracle is a real Redis server to compare with.
type oracle struct {
	conn net.Conn
	r    *bufio.Reader
}

// startOracle starts a redis-server of its own for the test.
func startOracle(t testing.TB, args ...string) *oracle {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("FAKECLUSTER_REQUIRE_ORACLES") == "1" {
			t.Fatal("redis-server is required and not in PATH")
		}
		t.Skip("redis-server is not in PATH")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(addr)
	args = append([]string{
		"--port", port, "--save", "", "--dir", t.TempDir(), "--enable-debug-command", "yes",
	}, args...)
	cmd := exec.Command(path, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	deadline := time.Now().Add(10 * time.Second)
	for {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			t.Cleanup(func() { conn.Close() })
			return &oracle{conn, bufio.NewReader(conn)}
		}
		if time.Now().After(deadline) {
			t.Fatal("redis-server did not start: ", err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// do sends a command and returns its reply as it came.
func (o *oracle) do(t testing.TB, args ...string) string {
	t.Helper()
	var b bytes.Buffer
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
	}
	if _, err := o.conn.Write(b.Bytes()); err != nil {
		t.Fatal("the oracle died: ", err)
	}
	var reply strings.Builder
	if err := o.read(&reply); err != nil {
		t.Fatalf("the oracle died on %q: %v", args, err)
	}
	return reply.String()
}

func (o *oracle) read(out *strings.Builder) error {
	line, err := o.r.ReadString('\n')
	if err != nil {
		return err
	}
	out.WriteString(line)
	n, _ := strconv.Atoi(strings.TrimSpace(line[1:]))
	switch line[0] {
	case '$', '=':
		if n >= 0 {
			if _, err := io.CopyN(out, o.r, int64(n)+2); err != nil {
				return err
			}
		}
	case '%':
		n *= 2
		fallthrough
	case '*', '~', '>':
		for range n {
			if err := o.read(out); err != nil {
				return err
			}
		}
	}
	return nil
}

// evalOurs runs a script on the runtime as EVAL would.
func evalOurs(r *Runtime, proto int, source string, keys, argv []string) string {
	out := &transcript{proto: proto}
	s, err := r.Load([]byte(source))
	if err != nil {
		out.Error(err.Error())
		return out.b.String()
	}
	r.Run(s, newKeyspace(), byteSlices(keys), byteSlices(argv), out)
	return out.b.String()
}

func byteSlices(items []string) [][]byte {
	out := make([][]byte, len(items))
	for i, s := range items {
		out[i] = []byte(s)
	}
	return out
}

// readCorpus reads the snippets of a file; a line of dashes ends each.
func readCorpus(t testing.TB, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var snippets []string
	for _, s := range strings.Split(string(data), "\n----\n") {
		if s = strings.TrimSuffix(s, "\n"); s != "" {
			snippets = append(snippets, s)
		}
	}
	return snippets
}

// TestCorpus runs every snippet on a real server and here, in RESP2 and RESP3,
// and compares the replies byte for byte.
func TestCorpus(t *testing.T) {
	snippets := readCorpus(t, "testdata/corpus.lua")
	for proto := 2; proto <= 3; proto++ {
		o := startOracle(t)
		r := New(Options{RedisVersion: "7.0.15"})
		defer r.Close()
		if proto == 3 {
			o.do(t, "HELLO", "3")
		}
		for _, s := range snippets {
			if strings.Contains(s, "redis.") {
				o.do(t, "FLUSHALL")
			}
			want := o.do(t, "EVAL", s, "1", "key1", "arg1", "arg2")
			got := evalOurs(r, proto, s, []string{"key1"}, []string{"arg1", "arg2"})
			if got != want {
				t.Errorf("RESP%d\n%s\nredis: %q\nours:  %q", proto, s, want, got)
			}
		}
	}
}
