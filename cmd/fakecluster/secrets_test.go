package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/fakecluster/fakecluster/tests/freeport"
)

// tells reports whether a text holds one of the secrets of these tests.
func tells(text string) bool { return regexp.MustCompile("s3cret|sesame|t0ken").MatchString(text) }

// What is wrong with a command line is told without the password that it has.
func TestErrorsTellNoSecrets(t *testing.T) {
	port := freeport.InARow(t, 2)
	start(t, "redis-cli", "--port", strconv.Itoa(port), "--standalone", "--password", "sesame")
	here := fmt.Sprintf("127.0.0.1:%d", port)
	nobody := fmt.Sprintf("127.0.0.1:%d", port+1)
	for _, words := range [][]string{
		{"layout", "inspect", "--prefix", "p", "--source", "redis://bot:s3cret@host:port/0"},
		{"layout", "inspect", "--prefix", "p", "--source", "redis://bot:12/s3cret@" + here},
		{"layout", "inspect", "--prefix", "p", "--source", "redis://:s3cret@" + here},
		{"layout", "inspect", "--prefix", "p", "--source", "redis://:s3cret@" + nobody},
		{"layout", "inspect", "--prefix", "p", "--source-cluster", "redis://:s3cret@" + nobody},
		{"layout", "migrate", "--prefix", "p", "--source", "redis://:sesame@" + here, "--target", "s3cret@" + here},
		{"layout", "migrate", "--prefix", "p", "--source", "redis://:sesame@" + here, "--target-cluster", "redis://:s3cret@" + nobody},
		{"layout", "inspect", "--prefix", "p", "--source-cluster", "bot:s3cret@" + nobody},
		{"layout", "inspect", "--prefix", "p", "--source-cluster", "redis://:12,s3cret@" + nobody},
		{"layout", "migrate", "--prefix", "p", "--source", "redis://:sesame@" + here, "--target-cluster", "bot:s3cret@" + nobody},
		{"status", "--addr", "redis://:s3cret@" + nobody},
		{"ctl", "--addr", "bot:s3cret@" + nobody, "nodes"},
		{"status", "--addr", here, "--password", "s3cret"},
		{"status", "--addr", nobody, "--password", "s3cret"},
		{"ctl", "--addr", here, "--password", "s3cret", "nodes"},
		{"--port", strconv.Itoa(port), "--password", "s3cret"},
		{"--masters", "none", "--password", "s3cret"},
		{"--bind", "192.0.2.1", "--password", "s3cret", "--http-token", "s3cret"},
	} {
		out, errs := newOutput(), newOutput()
		if code := run(t.Context(), words, out, errs); code == 0 {
			t.Errorf("%q succeeds: %s", words, out)
		}
		if said := out.String() + errs.String(); tells(said) || errs.String() == "" {
			t.Errorf("%q: %s", words, said)
		}
	}
}

// Neither what the program logs nor what the console shows has passwords or the
// console's token, of those who are refused neither.
func TestLogsAndConsoleTellNoSecrets(t *testing.T) {
	port := freeport.InARow(t, 3)
	r := start(t, `"ready"`, "--port", strconv.Itoa(port), "--password", "sesame", "--http", "127.0.0.1:0", "--http-token", "t0ken",
		"--log-format", "json", "--log-level", "debug")
	console := regexp.MustCompile(`http://[^/"]+/`).FindString(r.stdout.String())
	feed := viewer(t, console+"api/v1/events", "t0ken")
	for _, words := range [][]any{
		{"AUTH", "s3cret"}, {"AUTH", "sesame"}, {"ACL", "SETUSER", "bob", "on", ">s3cret"}, {"CONFIG", "SET", "masterauth", "s3cret"},
		{"HELLO", "2", "AUTH", "bob", "s3cret"}, {"MIGRATE", "127.0.0.1", "1", "k", "0", "1", "AUTH", "s3cret"}, {"AUTH", "x", "s3cret"},
	} {
		conversation(t, port, []any{"AUTH", "sesame"}, words)
	}
	conversation(t, port, []any{"AUTH", "sesame"}, []any{"ECHO", "the end"})
	for line := ""; !strings.Contains(line, "the end"); {
		if !feed.Scan() {
			t.Fatal("the feed ended")
		}
		if line = feed.Text(); tells(line) {
			t.Errorf("the feed has %s", line)
		}
	}
	for _, path := range []string{"api/v1/state?token=s3cret", "api/v1/nodes/s3cret?token=t0ken", "api/v1/clients", "api/v1/commands", "metrics", "healthz"} {
		for _, token := range []string{"t0ken", "s3cret"} {
			status, answer := fetch(t, "GET", console+path, token, "")
			if want := map[bool]int{true: 200, false: 401}[token == "t0ken" || path == "healthz"]; status != want && !strings.Contains(path, "nodes/s3cret") {
				t.Errorf("%s with token %s: %d, want %d", path, token, status, want)
			}
			if tells(strings.ReplaceAll(answer, `there is no node \"s3cret\"`, "")) { // it was asked for by that name
				t.Errorf("%s with token %s: %s", path, token, answer)
			}
		}
	}
	if code := r.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if logged := r.stderr.String(); tells(logged) || !strings.Contains(logged, `"closing"`) {
		t.Errorf("logged:\n%s", logged)
	}
}

// viewer reads a stream of events to the end of the test.
func viewer(t *testing.T, url, token string) *bufio.Scanner {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	return lines
}

// conversation says commands over one connection; errors are among the answers.
func conversation(t *testing.T, port int, commands ...[]any) {
	t.Helper()
	conn, err := redis.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, words := range commands {
		if _, err := conn.Do(words[0].(string), words[1:]...); err != nil {
			var refused redis.Error
			if !errors.As(err, &refused) {
				t.Fatalf("%v: %v", words[0], err)
			}
		}
	}
}
