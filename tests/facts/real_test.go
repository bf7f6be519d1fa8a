package facts

import (
	"math/rand/v2"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/tests/redisserver"
)

// omissions reads from the README which commands are left out on purpose.
func omissions(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile("(?s)Left out of `COMMAND LIST`: (.*?)\\.\n").FindSubmatch(text)
	if list == nil {
		t.Fatal("the README does not say what is left out of COMMAND LIST")
	}
	var names []string
	for _, name := range regexp.MustCompile("`([^`]+)`").FindAllSubmatch(list[1], -1) {
		names = append(names, strings.ToLower(string(name[1])))
	}
	if len(names) == 0 && string(list[1]) != "nothing" {
		t.Fatalf("%q names no command", list[1])
	}
	return names
}

// commandNames lists all commands of a server but those left out.
func commandNames(t *testing.T, client *redis.Client, without []string) []string {
	t.Helper()
	names, err := client.Do(t.Context(), "COMMAND", "LIST").StringSlice()
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return slices.DeleteFunc(names, func(name string) bool {
		container, _, _ := strings.Cut(name, "|")
		return slices.Contains(without, name) || slices.Contains(without, container)
	})
}

// TestCommandsAreRealRedis compares the command table with that of a real
// server, but for what the README says is missing.
func TestCommandsAreRealRedis(t *testing.T) {
	real := redis.NewClient(&redis.Options{Addr: redisserver.Start(t).Addr()})
	t.Cleanup(func() { real.Close() })
	ours := node(t, "7.0")
	missing := omissions(t)
	if diff := cmp.Diff(commandNames(t, real, missing), commandNames(t, ours, nil)); diff != "" {
		t.Errorf("COMMAND LIST, real and ours:\n%s", diff)
	}
	info := func(client *redis.Client) map[string]row {
		reply, err := client.Do(t.Context(), "COMMAND", "INFO").Slice()
		if err != nil {
			t.Fatal(err)
		}
		rows := rowsOf(reply)
		for _, name := range missing {
			delete(rows, name)
		}
		return rows
	}
	if diff := cmp.Diff(info(real), info(ours)); diff != "" {
		t.Errorf("COMMAND INFO, real and ours:\n%s", diff)
	}
}

// possibleArgs are what commands are asked about with: names, numbers of keys,
// and the words that keys stand behind.
var possibleArgs = []string{
	"a", "b", "c", "{x}d", "0", "1", "2", "3", "-1", "9", "", "STREAMS", "GROUP", "BLOCK", "COUNT", "STORE", "STOREDIST", "KEYS", "AUTH", "AUTH2",
	"GET", "BY", "LIMIT", "WEIGHTS", "AGGREGATE", "FULL", "REPLACE", "COPY", "DB", "INCRBY", "SET", "NX", "MAXLEN", "~", "SAMPLES", "to", "PREFIX",
}

// TestKeysAreRealRedis asks about every command with arguments of many kinds
// which of them are keys, and for what.
func TestKeysAreRealRedis(t *testing.T) {
	server := redisserver.Start(t)
	fake := emulator.RunT(t, emulator.Standalone(), emulator.RedisVersion("7.0"))
	names := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { names.Close() })
	real, ours := dial(t, new(net.Dialer).DialContext, server.Addr()), dial(t, fake.Dialer(), fake.Addrs()[0])
	rnd := rand.New(rand.NewPCG(1, 0))
	const questions = 50
	answered := 0
	for _, name := range commandNames(t, names, omissions(t)) {
		for range questions {
			ask := []string{"COMMAND", "GETKEYS"}
			if rnd.IntN(2) == 0 {
				ask[1] = "GETKEYSANDFLAGS"
			}
			ask = append(ask, strings.Split(name, "|")...)
			for range rnd.IntN(9) {
				ask = append(ask, possibleArgs[rnd.IntN(len(possibleArgs))])
			}
			want, got := real.do(ask...), ours.do(ask...)
			if got != want {
				t.Errorf("%q:\n got %s\nwant %s", ask, got, want)
			}
			if strings.HasPrefix(want, "*") {
				answered++
			}
		}
	}
	if answered < 3000 {
		t.Errorf("only %d questions were about keys", answered)
	}
}
