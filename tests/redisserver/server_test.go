package redisserver_test

import (
	"strings"
	"testing"

	"github.com/fakecluster/fakecluster/tests/redisserver"
)

func TestStandaloneAnswers(t *testing.T) {
	s := redisserver.Start(t, "--maxmemory", "100mb")
	if _, err := s.Do("SET", "k", "v w"); err != nil {
		t.Fatal(err)
	}
	got, err := s.Do("GET", "k")
	if err != nil || got != "v w" {
		t.Fatalf("GET k = %q, %v; want v w", got, err)
	}
	if _, err := s.Do("NOSUCH"); err == nil || !strings.HasPrefix(err.Error(), "ERR unknown command") {
		t.Fatalf("NOSUCH: %v, want an unknown command error", err)
	}
}

func TestClusterIsComplete(t *testing.T) {
	c := redisserver.StartCluster(t, 3, 1)
	text, err := c.Nodes[1].Do("CLUSTER", "NODES")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"0-5460", "5461-10922", "10923-16383"} {
		if !strings.Contains(text, want) {
			t.Errorf("no master owns %s:\n%s", want, text)
		}
	}
	if got := strings.Count(text, " slave "); got != 3 {
		t.Errorf("%d replicas, want 3:\n%s", got, text)
	}
}

func TestDeadServerIsNoticed(t *testing.T) {
	s := redisserver.Start(t)
	s.Kill()
	if err := s.Alive(); err == nil {
		t.Fatal("Alive returns nil for a killed server")
	}
}
