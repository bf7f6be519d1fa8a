package emulator_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/emulator"
)

// An observer sees what clients have executed: in the order in which it was
// done, with keys, database and whether it was done by EXEC or a script.
func TestObserve(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	c := emulator.RunT(t, emulator.Standalone(), emulator.Observe(func(e emulator.Executed) {
		mu.Lock()
		defer mu.Unlock()
		line := fmt.Sprintf("%s %s keys=%s db=%d", e.Client, strings.Join(e.Args, " "), strings.Join(e.Keys, ","), e.DB)
		if e.InTransaction {
			line += " exec"
		}
		if e.InScript {
			line += " script"
		}
		if !strings.HasPrefix(e.Command, "client|") && e.Command != "hello" && e.Command != "select" {
			seen = append(seen, line)
		}
	}))
	client := redis.NewClient(&redis.Options{Addr: c.Addrs()[0], Dialer: c.Dialer(), ClientName: "app", DB: 2, Protocol: 2, PoolSize: 1})
	defer client.Close()
	ctx := t.Context()
	client.MSet(ctx, "a", 1, "b", 2)
	client.TxPipelined(ctx, func(p redis.Pipeliner) error { p.Incr(ctx, "c"); return nil })
	client.Eval(ctx, "return redis.call('GET', 'hidden')", []string{"k"}, "v")
	client.Do(ctx, "AUTH", "secret")
	c.Node(0).Do("SET", "past", "clients")

	mu.Lock()
	defer mu.Unlock()
	want := []string{
		"app mset a 1 b 2 keys=a,b db=2",
		"app multi keys= db=2",
		"app incr c keys=c db=2 exec",
		"app exec keys= db=2",
		"app GET hidden keys=hidden db=2 script",
		"app eval return redis.call('GET', 'hidden') 1 k v keys=k db=2",
		"app AUTH (redacted) keys= db=2",
	}
	if !slices.Equal(seen, want) {
		t.Errorf("seen:\n%s\nwant:\n%s", strings.Join(seen, "\n"), strings.Join(want, "\n"))
	}
}
