package interop

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// cli runs redis-cli against addr, with input as what is typed, and returns
// what it prints, except where it tells that it followed a redirection.
func cli(t *testing.T, addr, input string, args ...string) string {
	t.Helper()
	out, err := command(t, "redis-cli", addr, args...).withInput(input)
	if err != nil {
		t.Fatalf("redis-cli %q: %v\n%s", args, err, out)
	}
	var kept strings.Builder
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, "-> Redirected to slot [") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

type process struct{ *exec.Cmd }

// command is a program that takes -h and -p, with a minute to live.
func command(t *testing.T, program, addr string, args ...string) process {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return process{exec.CommandContext(ctx, need(t, program), append([]string{"-h", host, "-p", port}, args...)...)}
}

func (p process) withInput(input string) (string, error) {
	p.Stdin = strings.NewReader(input)
	out, err := p.CombinedOutput()
	return string(out), err
}

func TestRedisCLI(t *testing.T) {
	onBoth(t, func(t *testing.T, addrs []string) {
		addr := addrs[0]
		var script, want strings.Builder
		for i := range 50 {
			fmt.Fprintf(&script, "SET interop:%d v%d\nGET interop:%d\n", i, i, i)
			fmt.Fprintf(&want, "OK\nv%d\n", i)
		}
		if got := cli(t, addr, script.String(), "-c"); got != want.String() {
			t.Errorf("reads and writes:\n%s", got)
		}
		if got := cli(t, addr, "", "GET", "interop:1"); !strings.HasPrefix(got, "MOVED ") && got != "v1\n" {
			t.Errorf("GET without -c: %q", got)
		}

		// The first command takes redis-cli to the node that owns the slot.
		transaction := "EXISTS {interop}a\nMULTI\nSET {interop}a 5\nINCR {interop}b\nGET {interop}a\nEXEC\n"
		if got := cli(t, addr, transaction, "-c"); got != "0\nOK\nQUEUED\nQUEUED\nQUEUED\nOK\n1\n5\n" {
			t.Errorf("transaction:\n%s", got)
		}

		const lua = "return redis.call('GET', KEYS[1]) .. ARGV[1]"
		var sha string
		for _, master := range addrs {
			sha = strings.TrimSpace(cli(t, master, "", "SCRIPT", "LOAD", lua))
		}
		for i := range 10 {
			if got := cli(t, addr, "", "-c", "EVALSHA", sha, "1", fmt.Sprintf("interop:%d", i), "!"); got != fmt.Sprintf("v%d!\n", i) {
				t.Errorf("EVALSHA: %q", got)
			}
		}
		if got := cli(t, addr, "", "-c", "-3", "HSET", "interop:hash", "field", "value"); got != "1\n" {
			t.Errorf("HSET with -3: %q", got)
		}
	})
}

func TestRedisCLIPipe(t *testing.T) {
	onBoth(t, func(t *testing.T, addrs []string) {
		// --pipe talks to one node: use keys it owns.
		slot := strings.TrimSpace(cli(t, addrs[0], "", "CLUSTER", "KEYSLOT", "interop:piped"))
		nodes := cli(t, addrs[0], "", "CLUSTER", "NODES")
		owner := ""
		for _, addr := range addrs {
			if got := cli(t, addr, "", "SET", "interop:piped", "0"); got == "OK\n" {
				owner = addr
			}
		}
		if owner == "" {
			t.Fatalf("nobody owns slot %s:\n%s", slot, nodes)
		}
		out, err := command(t, "redis-cli", owner, "--pipe").withInput(strings.Repeat("*2\r\n$4\r\nINCR\r\n$13\r\ninterop:piped\r\n", 1000))
		if err != nil || !strings.Contains(out, "errors: 0, replies: 1000") {
			t.Errorf("--pipe: %v\n%s", err, out)
		}
		if got := cli(t, owner, "", "GET", "interop:piped"); got != "1000\n" {
			t.Errorf("after 1000 INCR: %s", got)
		}
	})
}

func TestRedisCLISubscribe(t *testing.T) {
	onBoth(t, func(t *testing.T, addrs []string) {
		subscriber := command(t, "redis-cli", addrs[0], "SUBSCRIBE", "interop:news")
		out, err := subscriber.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := subscriber.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() {
			subscriber.Process.Kill()
			subscriber.Wait()
		}()
		lines := bufio.NewScanner(out)
		next := func() string {
			if !lines.Scan() {
				t.Fatalf("the subscriber ended: %v", lines.Err())
			}
			return lines.Text()
		}
		for next() != "1" { // subscribe, the channel, the number of subscriptions
		}
		for i, addr := range addrs {
			cli(t, addr, "", "PUBLISH", "interop:news", fmt.Sprint("from master ", i))
		}
		var got []string
		for range addrs {
			if a, b := next(), next(); a != "message" || b != "interop:news" {
				t.Fatalf("got %q, %q", a, b)
			}
			got = append(got, next())
		}
		slices.Sort(got)
		if !slices.Equal(got, []string{"from master 0", "from master 1", "from master 2"}) {
			t.Errorf("messages: %q", got)
		}
	})
}

func TestRedisCLIClusterCheck(t *testing.T) {
	onBoth(t, func(t *testing.T, addrs []string) {
		for _, check := range [][]string{
			{"--cluster", "check", addrs[1], "--cluster-search-multiple-owners"},
			{"--cluster", "info", addrs[2]},
			{"--cluster", "call", addrs[0], "PING"},
		} {
			out, err := command(t, "redis-cli", addrs[0], check...).withInput("")
			if err != nil {
				t.Errorf("redis-cli %q: %v\n%s", check, err, out)
			}
			if check[1] == "check" && (!strings.Contains(out, "[OK] All nodes agree about slots configuration.") || !strings.Contains(out, "[OK] All 16384 slots covered.")) {
				t.Errorf("check is not content:\n%s", out)
			}
			if check[1] == "call" && strings.Count(out, "PONG") != 3 {
				t.Errorf("PING of every node:\n%s", out)
			}
		}
	})
}

func TestRedisBenchmark(t *testing.T) {
	onBoth(t, func(t *testing.T, addrs []string) {
		const tests = "set,get,incr,lpush,rpush,lpop,rpop,sadd,hset,spop,zadd,zpopmin,lrange_100,mset"
		out, err := command(t, "redis-benchmark", addrs[0],
			"--cluster", "-n", "2000", "-c", "10", "-P", "8", "-r", "1000", "-t", tests, "--csv").withInput("")
		if err != nil || strings.Contains(strings.ToLower(out), "error") {
			t.Errorf("redis-benchmark: %v\n%s", err, out)
		}
		for _, line := range []string{`"SET"`, `"GET"`, `"ZPOPMIN"`, `"MSET (10 keys)"`} {
			if !strings.Contains(out, "\n"+line+",") {
				t.Errorf("no result of %s:\n%s", line, out)
			}
		}
	})
}
