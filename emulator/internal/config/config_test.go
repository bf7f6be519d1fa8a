package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fakecluster/fakecluster/emulator/internal/version"
	"github.com/fakecluster/fakecluster/tests/redisserver"
	"github.com/gomodule/redigo/redis"
)

// ofTheMachine are parameters whose value depends on how and where a server
// runs.
var ofTheMachine = []string{
	"bind", "cluster-enabled", "daemonize", "databases", "dir", "enable-debug-command",
	"enable-protected-configs", "logfile", "pidfile", "port", "unixsocket",
}

// The defaults and names must be those that servers of the versions printed.
func TestDefaultsAreAsRecorded(t *testing.T) {
	for _, v := range []version.Version{version.V7_0, version.V7_2, version.V7_4} {
		file := filepath.Join("testdata", fmt.Sprintf("redis-%d.%d.tsv", v.Major, v.Minor))
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c := New(v)
		recorded := make(map[string]bool)
		for line := range strings.Lines(string(data)) {
			name, want, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			recorded[name] = true
			got := c.Get(name)
			if len(got) != 1 {
				t.Errorf("%v has no %s", v, name)
				continue
			}
			if got[0].Value != want && !slices.Contains(ofTheMachine, name) {
				t.Errorf("%v: %s is %q, recorded %q", v, name, got[0].Value, want)
			}
		}
		for _, pair := range c.Get("*") {
			if !recorded[pair.Name] && !slices.Contains(ofTheMachine, pair.Name) {
				t.Errorf("%v has %s, which is not in %s", v, pair.Name, file)
			}
		}
	}
	c := New(version.V6_2)
	if c.Has("latency-tracking") || !c.Has("maxmemory") || c.Get("latency-tracking") != nil {
		t.Error("6.2 has what came with 7.0, or lacks what it had")
	}
	if !c.Bool("latency-tracking") {
		t.Error("what 6.2 lacks has no default")
	}
}

// candidates are tried on every parameter.
var candidates = []string{
	"", "yes", "NO", "maybe", "0", "1", "-1", "2", "5", "16", "99", "100", "101", "1000", "1001", "01", "+1", " 1", "1 ", "1e2", "1.5",
	"32767", "65535", "65536", "2097152", "2147483647", "2147483648", "4294967295", "-2147483648", "-2147483649",
	"9223372036854775807", "9223372036854775808", "18446744073709551615", "99999999999999999999999",
	"1b", "1k", "3KB", "1mb", "1gb", "1tb", "kb", "1kbx", "1.5gb", "10%", "100%", "101%", "-1%", "0%", "01%", "%",
	"a b", "everysec", "ALWAYS", "allkeys-lru", "hostname", "save", "now force", "default save", "nosave save", "relative",
	"1 2", "1 2 3 4", "3600 1 300 100", "1  2", "0 1", "1 -1", "50 99.9", "-2000 0 2000", "-2001 0 0", "1 2 3", "50 a", "1e1",
	"normal 1kb 2 3", "replica 1 2 3 pubsub 4 5 6", "normal 1 2", "foo 1 2 3", "normal 1 2 -3", "master 1 1 1", "normal x 1 1",
	"A", "KEA", "Ex", "dtK", "mnEK", "g$lshzxetd", "g$lshzxetdn", "KEAz!", "{title}", "{foo}", "x{title}", "{title", "{{x", "{port}", "}",
	"a_b", "a.b-c", "a/b", "é", strings.Repeat("x", 255), strings.Repeat("x", 256),
}

// notTried are parameters that would hurt the server under test or the machine.
var notTried = []string{
	"appendonly", "bind", "bind-source-addr", "dir", "logfile", "maxclients", "port", "protected-mode", "requirepass", "unixsocket",
	// the test must go on with the parameters that follow
	"client-query-buffer-limit", "maxmemory-clients", "proto-max-bulk-len", "timeout",
	// depend on rights of the process, or on a TLS set-up
	"oom-score-adj", "oom-score-adj-values", "tls-cluster", "tls-port", "tls-replication",
}

func dial(t *testing.T, s *redisserver.Server) redis.Conn {
	t.Helper()
	conn, err := redis.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// configSet returns "OK" or the error's text.
func configSet(t *testing.T, conn redis.Conn, pairs ...string) string {
	t.Helper()
	args := []any{"SET"}
	for _, p := range pairs {
		args = append(args, p)
	}
	reply, err := redis.String(conn.Do("CONFIG", args...))
	var fromServer redis.Error
	if errors.As(err, &fromServer) {
		return err.Error()
	}
	if err != nil {
		t.Fatalf("CONFIG SET %q: %v", pairs, err)
	}
	return reply
}

func ourSet(c *Config, pairs ...string) string {
	if err := c.Set(pairs...); err != nil {
		return err.Error()
	}
	return "OK"
}

func TestSetAndGetAsRedis(t *testing.T) {
	server := redisserver.Start(t)
	conn := dial(t, server)
	ours := New(version.V7_0)
	if err := ours.Override("enable-protected-configs", "yes"); err != nil {
		t.Fatal(err)
	}
	names, err := redis.StringMap(conn.Do("CONFIG", "GET", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for name, initial := range names {
		if slices.Contains(notTried, name) {
			continue
		}
		tried := candidates
		if name == "databases" { // immutable parameters all answer alike
			tried = candidates[:1]
		}
		for _, candidate := range tried {
			want, got := configSet(t, conn, name, candidate), ourSet(ours, name, candidate)
			if got != want {
				t.Errorf("CONFIG SET %s %q:\n got %s\nwant %s", name, candidate, got, want)
			}
			pair, err := redis.Strings(conn.Do("CONFIG", "GET", name))
			if err != nil {
				t.Fatal(err)
			}
			if now := ours.Get(name); now[0].Value != pair[1] && !slices.Contains(ofTheMachine, name) {
				t.Errorf("after CONFIG SET %s %q: %q, want %q", name, candidate, now[0].Value, pair[1])
			}
		}
		configSet(t, conn, name, initial)
		ourSet(ours, name, initial)
	}
}

func TestSetAsRedis(t *testing.T) {
	server := redisserver.Start(t, "--enable-protected-configs", "no")
	conn := dial(t, server)
	ours := New(version.V7_0)
	for _, pairs := range [][]string{
		{"maxmemory", "1", "foo"}, {"maxmemory", "1", "FOO", "x"}, {"Daemonize", "yes", "foo", "x"}, {"foo", "x", "daemonize", "yes"},
		{"MaxMemory", "1", "maxmemory", "2"}, {"maxmemory", "1", "MAXMEMORY", "2"}, {"maxmemory", "1", "hz", "x"}, {"HZ", "x"},
		{"hash-max-ziplist-value", "1", "hash-max-listpack-value", "2"}, {"Hash-Max-Ziplist-Value", "x"}, {"dbfilename", "x"},
		{"dir", "/tmp", "dir", "/tmp"}, {"port", "x"}, {"port", "70000"}, {"requirepass", "", "masterauth", "x"},
		{"maxmemory", "1gb", "hash-max-ziplist-value", "77"}, {"tls-port", "1"}, {"tls-cluster", "yes"}, {"maxmemory", "5", "tls-replication", "yes"},
		{"activedefrag", "yes"}, {"maxmemory-clients", "10%"}, {"maxmemory-clients", "101%"}, {"maxmemory-clients", "-1%"}, {"maxmemory-clients", "0%"},
		{"timeout", "-1"}, {"timeout", "9223372036854775808"}, {"client-query-buffer-limit", "1"}, {"proto-max-bulk-len", "1kb"},
		{"oom-score-adj-values", "1"}, {"oom-score-adj-values", "1 2 x"}, {"oom-score-adj-values", "-2001 1 1"}, {"oom-score-adj", "x"}, {"maxclients", "0"},
	} {
		want, got := configSet(t, conn, pairs...), ourSet(ours, pairs...)
		if got != want {
			t.Errorf("CONFIG SET %q:\n got %s\nwant %s", pairs, got, want)
		}
	}
	for _, patterns := range [][]string{
		{"MAXMEMORY", "maxmemory", "foo", "*-policy", "MAXMEMORY-*"}, {"*ziplist*", "*LISTPACK*"}, {"nosuch"}, {"slave*", "replica-priority"}, {"hz", "h[z]", "?z"},
	} {
		args := []any{"GET"}
		for _, p := range patterns {
			args = append(args, p)
		}
		want, err := redis.StringMap(conn.Do("CONFIG", args...))
		if err != nil {
			t.Fatal(err)
		}
		got := make(map[string]string)
		for _, pair := range ours.Get(patterns...) {
			if _, twice := got[pair.Name]; twice {
				t.Errorf("CONFIG GET %q has %s twice", patterns, pair.Name)
			}
			got[pair.Name] = pair.Value
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("CONFIG GET %q:\n got %v\nwant %v", patterns, got, want)
		}
	}
}

func TestNodesShareDefaultsButNotChanges(t *testing.T) {
	a, b := New(version.V7_2), New(version.V7_2)
	if err := a.Set("maxmemory", "1mb", "appendonly", "yes"); err != nil {
		t.Fatal(err)
	}
	if a.Int("maxmemory") != 1<<20 || !a.Bool("appendonly") || a.String("maxmemory-policy") != "noeviction" {
		t.Errorf("maxmemory is %d, appendonly %v", a.Int("maxmemory"), a.Bool("appendonly"))
	}
	if b.Int("maxmemory") != 0 || b.Bool("appendonly") || New(version.V7_2).Int("maxmemory") != 0 {
		t.Error("another node's configuration changed")
	}
	if n := testing.AllocsPerRun(100, func() { New(version.V7_2) }); n > 1 {
		t.Errorf("New allocates %v times", n)
	}
}

func TestOnChange(t *testing.T) {
	c := New(version.V7_2)
	var seen []int64
	var refuse error
	c.OnChange("timeout", func() error {
		seen = append(seen, c.Int("timeout"))
		return refuse
	})
	c.OnChange("port", func() error { return errors.New("Unable to listen on this port. Check server logs.") })
	if err := c.Set("timeout", "5", "maxmemory", "7"); err != nil {
		t.Fatal(err)
	}
	err := c.Set("maxmemory", "9", "timeout", "6", "port", "1")
	const want = "ERR CONFIG SET failed (possibly related to argument 'port') - Unable to listen on this port. Check server logs."
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if c.Int("maxmemory") != 7 || c.Int("timeout") != 5 || !slices.Equal(seen, []int64{5, 6, 5}) {
		t.Errorf("maxmemory %d, timeout %d, callbacks saw %v", c.Int("maxmemory"), c.Int("timeout"), seen)
	}
}

func BenchmarkInt(b *testing.B) {
	c := New(version.V7_2)
	for b.Loop() {
		c.Int("maxmemory")
	}
}
