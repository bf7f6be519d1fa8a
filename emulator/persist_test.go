package emulator_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/tests/redisserver"
)

// everyType are commands that make values of all types, small and large ones.
func everyType() [][]string {
	commands := [][]string{
		{"SET", "string", "text"}, {"SET", "number", "-12345"}, {"SET", "long", strings.Repeat("abc", 1000)},
		{"RPUSH", "list", "a", "1", strings.Repeat("x", 100)}, {"SADD", "ints", "1", "2", "70000"}, {"SADD", "set", "a", "b"},
		{"ZADD", "zset", "1.5", "a", "-inf", "b", "3", "c"}, {"HSET", "hash", "f", "v", "n", "1"},
		{"XADD", "stream", "1-1", "f", "v"}, {"XADD", "stream", "2-0", "g", "w"}, {"XGROUP", "CREATE", "stream", "group", "0"},
		{"XREADGROUP", "GROUP", "group", "consumer", "COUNT", "1", "STREAMS", "stream", ">"},
		{"PFADD", "hll", "a", "b", "c"}, {"SETBIT", "bits", "1000", "1"}, {"GEOADD", "geo", "13.4", "52.5", "Berlin"},
		{"SET", "expires", "x"}, {"PEXPIREAT", "expires", "4102444800000"}, {"SET", "\x00\xff binary", "\x00"},
		{"FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('answer', function() return 42 end)"},
	}
	for i := range 300 {
		n := fmt.Sprint(i)
		commands = append(commands, []string{"RPUSH", "biglist", strings.Repeat(n, 50)}, []string{"SADD", "bigset", "member" + n},
			[]string{"ZADD", "bigzset", n, "member" + n}, []string{"HSET", "bighash", "field" + n, strings.Repeat(n, 30)})
	}
	return commands
}

func fill(t *testing.T, do func(args ...string) error) {
	t.Helper()
	for _, args := range everyType() {
		if err := do(args...); err != nil {
			t.Fatalf("%q: %v", args, err)
		}
	}
}

// What a real Redis saved is what we have then, and the other way round: Redis
// itself says so by DEBUG DIGEST.
func TestRDBAndRealRedis(t *testing.T) {
	dir := t.TempDir()
	real := redisserver.Start(t, "--dir", dir, "--enable-debug-command", "yes")
	fill(t, func(args ...string) error { _, err := real.Do(args...); return err })
	for _, args := range [][]string{{"SET", "gone", "x", "PXAT", "1"}, {"SAVE"}, {"DEL", "gone"}} {
		if _, err := real.Do(args...); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.ReadFile(filepath.Join(dir, "dump.rdb"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := real.Do("DEBUG", "DIGEST")
	if err != nil {
		t.Fatal(err)
	}
	c := emulator.RunT(t, emulator.Standalone(), emulator.RedisVersion("7.0"), emulator.ConfigSet("enable-debug-command", "yes"))
	keys, err := c.LoadRDB(file, nil)
	if err != nil || keys != 18 {
		t.Fatalf("%d keys, %v", keys, err)
	}
	digest := func(c *emulator.Cluster) string {
		reply, err := c.Node(0).Do("DEBUG", "DIGEST")
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(reply)
	}
	if got := digest(c); got != want {
		t.Errorf("the digest is %s here and %s there", got, want)
	}
	if reply, err := c.Node(0).Do("FCALL", "answer", "0"); reply != int64(42) {
		t.Errorf("the function answers %v, %v", reply, err)
	}

	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "dump.rdb"), c.Node(0).RDB(), 0o600); err != nil {
		t.Fatal(err)
	}
	again := redisserver.Start(t, "--dir", other, "--enable-debug-command", "yes")
	if got, err := again.Do("DEBUG", "DIGEST"); got != want || err != nil {
		t.Errorf("the digest is %s there once more, %v; want %s", got, err, want)
	}
}

// A file goes to the owners of its keys, whatever their number, and to their
// replicas.
func TestLoadRDBIntoACluster(t *testing.T) {
	for _, version := range []string{"6.2", "7.0", "7.2", "7.4"} {
		t.Run(version, func(t *testing.T) {
			from := emulator.RunT(t, emulator.Standalone(), emulator.RedisVersion(version))
			fill(t, func(args ...string) error {
				if version == "6.2" && args[0] == "FUNCTION" {
					return nil
				}
				_, err := from.Node(0).Do(args...)
				return err
			})
			if version == "7.4" {
				from.Node(0).Do("HEXPIRE", "hash", "10000", "FIELDS", "1", "f")
			}
			file := from.Node(0).RDB()
			to := emulator.RunT(t, emulator.Masters(5), emulator.Replicas(1), emulator.RedisVersion(version))
			keys, err := to.LoadRDB(file, nil)
			if err != nil || keys != 18 {
				t.Fatalf("%d keys, %v", keys, err)
			}
			for _, key := range from.Node(0).Keys() {
				want, _ := from.Node(0).Do("DEBUG", "DIGEST-VALUE", key)
				owner := to.NodeForKey(key)
				if got, err := owner.Do("DEBUG", "DIGEST-VALUE", key); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%q is not the same at its owner: %v", key, err)
				}
				for _, replica := range to.Nodes() {
					if replica.Master() == owner {
						if got, _ := replica.Do("DEBUG", "DIGEST-VALUE", key); fmt.Sprint(got) != fmt.Sprint(want) {
							t.Errorf("%q is not the same at its owner's replica", key)
						}
					}
				}
			}
		})
	}
}

func TestLoadRDBRefuses(t *testing.T) {
	c := emulator.RunT(t, emulator.RedisVersion("7.0"))
	from := emulator.RunT(t, emulator.Standalone(), emulator.RedisVersion("7.0"))
	from.Node(0).Set("a", "b")
	from.Node(0).Do("HSET", "h", "f", "v")
	file := from.Node(0).RDB()
	if keys, err := c.LoadRDB(file, nil); keys != 2 || err != nil {
		t.Fatal(keys, err)
	}
	for i := range file {
		if _, err := c.LoadRDB(file[:i], nil); !errors.Is(err, emulator.ErrRDB) {
			t.Errorf("cut off at %d: %v", i, err)
		}
	}
	damaged := slices.Clone(file)
	damaged[len(damaged)-1]++
	if _, err := c.LoadRDB(damaged, nil); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("a wrong checksum: %v", err)
	}
	newer := emulator.RunT(t, emulator.Standalone(), emulator.RedisVersion("7.4")).Node(0).RDB()
	if _, err := c.LoadRDB(newer, nil); err == nil || !strings.Contains(err.Error(), "version 12, and Redis 7.0.15 reads up to 10") {
		t.Errorf("a newer file: %v", err)
	}
	uncovered := emulator.RunT(t, emulator.SlotRanges("0-10"), emulator.RedisVersion("7.0"))
	if _, err := uncovered.LoadRDB(file, nil); err == nil || !strings.Contains(err.Error(), "owns slot") {
		t.Errorf("a slot that nobody owns: %v", err)
	}
}

// A cluster comes back with its ids, roles, slots, epochs and ports.
func TestRestored(t *testing.T) {
	c := emulator.RunT(t, emulator.Replicas(1))
	if err := c.Failover(c.Node(0)); err != nil {
		t.Fatal(err)
	}
	if err := c.MoveSlots(c.Node(1), c.Node(2), 6000); err != nil {
		t.Fatal(err)
	}
	c.Kill(c.Node(1))
	c.Settle()
	shape := func(c *emulator.Cluster) (lines []string) {
		for _, n := range c.Nodes() {
			master := ""
			if n.Master() != nil {
				master = n.Master().ID()
			}
			lines = append(lines, fmt.Sprint(n.Addr(), n.ID(), n.Role(), master, n.Slots()))
		}
		return lines
	}
	text, err := c.Node(2).Do("CLUSTER", "NODES")
	if err != nil {
		t.Fatal(err)
	}
	again := emulator.RunT(t, emulator.Restored(fmt.Sprint(text)))
	got, want := shape(again), shape(c)
	// Nobody has told the dead node yet that it is to follow the one that took
	// over: it comes back as a master without slots.
	want[1] = fmt.Sprint(c.Node(1).Addr(), c.Node(1).ID(), "master", "", "[]")
	if !slices.Equal(got, want) {
		t.Errorf("restored:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A client that saves learns whether that was possible; LASTSAVE and INFO tell.
func TestOnSave(t *testing.T) {
	var saved []byte
	var refusal error
	c := emulator.RunT(t, emulator.Standalone(), emulator.OnSave(func(n *emulator.Node, rdb []byte) error {
		saved = rdb
		return refusal
	}))
	n := c.Node(0)
	ask := func(command ...string) string {
		t.Helper()
		reply, err := n.Do(command...)
		if err != nil {
			return err.Error()
		}
		return fmt.Sprint(reply)
	}
	began := ask("LASTSAVE")
	c.Advance(time.Hour)
	ask("SET", "a", "b")
	refusal = errors.New("disk full")
	if got := ask("SAVE"); got != "ERR" || ask("LASTSAVE") != began || !strings.Contains(ask("INFO", "persistence"), "rdb_changes_since_last_save:1\r\n") {
		t.Errorf("SAVE that fails: %s, LASTSAVE %s, before %s", got, ask("LASTSAVE"), began)
	}
	if ask("BGSAVE"); !strings.Contains(ask("INFO", "persistence"), "rdb_last_bgsave_status:err\r\n") {
		t.Error("INFO does not tell of the BGSAVE that failed")
	}
	refusal = nil
	if got := ask("SAVE"); got != "OK" || ask("LASTSAVE") == began || !strings.Contains(ask("INFO", "persistence"), "rdb_changes_since_last_save:0\r\n") {
		t.Errorf("SAVE: %s, LASTSAVE %s, before %s", got, ask("LASTSAVE"), began)
	}
	again := emulator.RunT(t, emulator.Standalone())
	if keys, err := again.LoadRDB(saved, nil); keys != 1 || err != nil {
		t.Errorf("%d keys were saved, %v", keys, err)
	}
}
