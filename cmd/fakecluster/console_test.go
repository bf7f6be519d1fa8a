package main

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/fakecluster/fakecluster/tests/freeport"
)

var consoleURL = regexp.MustCompile(`  (http://\S+)\n`)

// fetch asks the console, with a token unless that is "".
func fetch(t *testing.T, method, url, token, body string) (status int, answer string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	r.Close = true
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(content)
}

func TestConsole(t *testing.T) {
	port := freeport.InARow(t, 3)
	r := start(t, "redis-cli", "--port", strconv.Itoa(port), "--http", "127.0.0.1:0")
	found := consoleURL.FindStringSubmatch(r.stdout.String())
	if found == nil {
		t.Fatalf("the banner lacks the console: %s", r.stdout)
	}
	url := found[1]
	if status, page := fetch(t, "GET", url, "", ""); status != 200 || !strings.Contains(page, "<title>fakecluster</title>") {
		t.Errorf("the page: %d %s", status, page)
	}
	// However a verb comes, it sees what others began.
	if status, answer := fetch(t, "POST", url+"api/v1/verbs/fault", "", `{"args":["on","command","get","drop"]}`); status != 200 {
		t.Errorf("fault: %d %s", status, answer)
	}
	if _, out, errs := ctlOutput(port, "faults"); out != "1 hits=0 on command get drop\n" {
		t.Errorf("faults by ctl: %q, %s", out, errs)
	}
	if status, answer := fetch(t, "POST", url+"api/v1/verbs/nodes", "", `{}`); status != 200 || !strings.Contains(answer, "fakecluster ctl --addr 127.0.0.1:"+strconv.Itoa(port)+" nodes") {
		t.Errorf("nodes: %d %s", status, answer)
	}
}

// Where other machines reach the console, and where clients must log in, it is not
// open to whoever comes.
func TestConsoleWantsAToken(t *testing.T) {
	for _, flags := range [][]string{{"--http", "0.0.0.0:0"}, {"--http", "127.0.0.1:0", "--password", "sesame"}} {
		r := start(t, "redis-cli", append(flags, "--port", strconv.Itoa(freeport.InARow(t, 3)))...)
		found := regexp.MustCompile(`  (http://(?:localhost|127.0.0.1):\d+/)#token=(\S+)\n`).FindStringSubmatch(r.stdout.String())
		if found == nil {
			t.Fatalf("%v: the banner lacks the token: %s", flags, r.stdout)
		}
		for _, path := range []string{"api/v1/state", "metrics"} {
			if status, answer := fetch(t, "GET", found[1]+path, "", ""); status != 401 {
				t.Errorf("%v: %s without the token: %d %s", flags, path, status, answer)
			}
			if status, answer := fetch(t, "GET", found[1]+path, found[2], ""); status != 200 {
				t.Errorf("%v: %s with the token: %d %s", flags, path, status, answer)
			}
		}
	}
}

func TestConsoleFlags(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, c := range []struct {
		says string
		args []string
	}{
		{"exclude each other", []string{"--no-http", "--http", "127.0.0.1:0"}},
		{"address already in use", []string{"--http", taken.Addr().String()}},
		{"missing port", []string{"--http", "localhost"}},
	} {
		var out, errs bytes.Buffer
		args := append([]string{"--port", strconv.Itoa(freeport.InARow(t, 3))}, c.args...)
		if code := run(t.Context(), args, &out, &errs); code != exitUsage || !strings.Contains(errs.String(), c.says) {
			t.Errorf("%v: %d, %s", c.args, code, &errs)
		}
	}
	// Where nobody watches there is none unless asked for.
	if r := start(t, "redis-cli", "--port", strconv.Itoa(freeport.InARow(t, 3))); consoleURL.MatchString(r.stdout.String()) {
		t.Errorf("a console without a terminal: %s", r.stdout)
	}
}
