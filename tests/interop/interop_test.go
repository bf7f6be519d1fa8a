// Package interop runs clients that people use against a fakecluster and, to
// know that the tests ask nothing unusual, against a real Redis Cluster.
package interop

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/tests/redisserver"
)

// onBoth runs a test against three masters of ours and of real Redis, both over
// TCP.
func onBoth(t *testing.T, test func(t *testing.T, addrs []string)) {
	t.Run("fakecluster", func(t *testing.T) {
		c := emulator.RunT(t, emulator.TCP("127.0.0.1", 0))
		test(t, c.Addrs())
	})
	t.Run("redis", func(t *testing.T) {
		test(t, redisserver.StartCluster(t, 3, 0).Addrs())
	})
}

// need returns the path of a program. Without it the test is skipped, or fails
// when oracles are required.
func need(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		missing(t, "%s is not in PATH", program)
	}
	return path
}

func missing(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv(redisserver.RequireEnv) == "1" {
		t.Fatalf(redisserver.RequireEnv+"=1 and "+format, args...)
	}
	t.Skipf(format+`; "make conformance" installs it`, args...)
}

// client is what a Go client library can do with a cluster.
type client interface {
	set(key, value string) error
	get(key string) (value string, found bool, err error)
	incr(key string) (int64, error)
	// pipelinedIncr increments each key in one pipeline.
	pipelinedIncr(keys []string) ([]int64, error)
	// transaction sets first to 5, increments second and gets first, in MULTI.
	transaction(first, second string) ([]string, error)
	// loadScript loads a script at every master.
	loadScript(script string) (sha string, err error)
	evalsha(sha, key, arg string) (string, error)
	// subscribe returns when the subscription is confirmed.
	subscribe(channel string) (<-chan string, error)
	// publishAtEveryMaster publishes text(i) at master i and returns how many
	// masters there are.
	publishAtEveryMaster(channel string, text func(i int) string) (int, error)
}

// exercise does what people do with a cluster.
func exercise(t *testing.T, c client) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	keys := make([]string, 50)
	for i := range keys {
		keys[i] = fmt.Sprintf("interop:%d", i)
		check(c.set(keys[i], "value of "+keys[i]))
	}
	for _, key := range keys {
		value, found, err := c.get(key)
		check(err)
		if !found || value != "value of "+key {
			t.Errorf("GET %s = %q, %v", key, value, found)
		}
	}
	if _, found, err := c.get("interop:missing"); found || err != nil {
		t.Errorf("GET of a missing key: found %v, %v", found, err)
	}
	if _, err := c.incr(keys[0]); err == nil || !strings.Contains(err.Error(), "value is not an integer or out of range") {
		t.Errorf("INCR of text: %v", err)
	}

	counters := make([]string, 100)
	for i := range counters {
		counters[i] = fmt.Sprintf("interop:counter:%d", i%20)
	}
	counts, err := c.pipelinedIncr(counters)
	check(err)
	for i, n := range counts {
		if n != int64(i/20+1) {
			t.Errorf("INCR %d of the pipeline is %d, want %d", i, n, i/20+1)
		}
	}

	results, err := c.transaction("{interop}first", "{interop}second")
	check(err)
	if !slices.Equal(results, []string{"OK", "1", "5"}) {
		t.Errorf("the transaction gives %q", results)
	}

	sha, err := c.loadScript(`redis.call('SET', KEYS[1], ARGV[1]) return redis.call('GET', KEYS[1]) .. '!'`)
	check(err)
	for _, key := range keys {
		if got, err := c.evalsha(sha, key, "lua"); got != "lua!" || err != nil {
			t.Errorf("EVALSHA on %s: %q, %v", key, got, err)
		}
	}

	messages, err := c.subscribe("interop:news")
	check(err)
	masters, err := c.publishAtEveryMaster("interop:news", func(i int) string { return fmt.Sprint("from master ", i) })
	check(err)
	if masters != 3 {
		t.Errorf("the client knows %d masters", masters)
	}
	var got []string
	deadline := time.After(time.Minute)
	for len(got) < masters {
		select {
		case message := <-messages:
			got = append(got, message)
		case <-deadline:
			t.Fatalf("only %q arrived", got)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, []string{"from master 0", "from master 1", "from master 2"}) {
		t.Errorf("messages: %q", got)
	}
}
