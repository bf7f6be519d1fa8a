package glob_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fakecluster/fakecluster/emulator/internal/glob"
	"github.com/fakecluster/fakecluster/tests/redisserver"
	"github.com/gomodule/redigo/redis"
)

// The real server matches patterns against the channels one client listens to.
func TestMatchAsRedis(t *testing.T) {
	server := redisserver.Start(t)
	listener, err := redis.Dial("tcp", server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	asker, err := redis.Dial("tcp", server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer asker.Close()

	random := rand.New(rand.NewPCG(1, 2))
	from := func(alphabet []string, most int) string {
		var b strings.Builder
		for range random.IntN(most + 1) {
			b.WriteString(alphabet[random.IntN(len(alphabet))])
		}
		return b.String()
	}
	channels := []string{"", "*", "[", "]", "\\", "a"}
	for range 60 {
		channels = append(channels, from([]string{"a", "b", "c", "A", "-", "]", "\xff", "^", "\\"}, 5))
	}
	slices.Sort(channels)
	channels = slices.Compact(channels)
	for _, channel := range channels {
		if _, err := listener.Do("SUBSCRIBE", channel); err != nil {
			t.Fatal(err)
		}
	}

	patterns := []string{"", "*", "**", "a*a*a*a*b", "[", "[^", "[a", "[a-", "\\", "*\\", "[\\", "[\\]", "[^]", "[]"}
	for range 5000 {
		patterns = append(patterns, from([]string{
			"a", "b", "*", "?", "[", "]", "^", "-", "\\", "[a-c]", "[^a]", "[c-a]", "[\x01-\xff]", "[\\]a]", "A", "\xff",
		}, 6))
	}
	for _, pattern := range patterns {
		want, err := redis.Strings(asker.Do("PUBSUB", "CHANNELS", pattern))
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(want)
		var got []string
		for _, channel := range channels {
			if glob.Match(pattern, []byte(channel)) {
				got = append(got, channel)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q matches %q, Redis says %q", pattern, got, want)
		}
	}
}

func TestMatchFoldAsRedis(t *testing.T) {
	server := redisserver.Start(t)
	conn, err := redis.Dial("tcp", server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	names, err := redis.Strings(conn.Do("COMMAND", "LIST"))
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"GE*", "[F-H]et", "[^g]ET", "[Z-A]DD", "*[X]Add", "\\GET", "[\\G]ET", "[\\g]ET", "[g-G]et", "x[a-b]DD"} {
		want, err := redis.Strings(conn.Do("COMMAND", "LIST", "FILTERBY", "PATTERN", pattern))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, name := range names {
			if glob.MatchFold(pattern, name) {
				got = append(got, name)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q matches %q, Redis says %q", pattern, got, want)
		}
	}
}

func TestMatchTakesNoExponentialTime(t *testing.T) {
	if glob.Match(strings.Repeat("a*", 40)+"b", strings.Repeat("a", 400)) {
		t.Error("matched without a b")
	}
}
