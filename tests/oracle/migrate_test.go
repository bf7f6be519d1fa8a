package oracle

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// fillers make a key of every type and encoding.
var fillers = []string{
	"SET int 42", "SET text hello", "SET long $LONG", "SETRANGE raw 3 x", "PFADD hll a b c", "SETBIT bits 77 1",
	"RPUSH list a b 3", "RPUSH long-list $MANY", "SADD ints 1 2 70000", "SADD set a b c", "SADD large-set $MANY",
	"HSET hash f v g 2", "HSET large-hash $MANY", "ZADD zset 1.5 a -inf b 3 c", "ZADD large-zset $SCORED", "GEOADD geo 13.36 38.11 p",
	"XADD stream 1-1 a 1", "XADD stream 2-5 a 2 b 3", "XGROUP CREATE stream g 1-1", "XDEL stream 1-1", "EXPIREAT text 4102444800",
}

func filler(line string) []string {
	var many, scored []string
	for i := range 600 {
		many = append(many, "m"+strconv.Itoa(i))
		scored = append(scored, strconv.Itoa(i), "m"+strconv.Itoa(i))
	}
	var args []string
	for _, word := range strings.Fields(line) {
		switch word {
		case "$MANY":
			args = append(args, many...)
		case "$SCORED":
			args = append(args, scored...)
		case "$LONG":
			args = append(args, strings.Repeat("long ", 1000))
		default:
			args = append(args, word)
		}
	}
	return args
}

// migrations are sent to the source; T is the target's host and port. A line that
// begins with @ goes to the target.
var migrations = []string{
	"MIGRATE T list 0 5000", "MIGRATE T list 0 5000", "MIGRATE T set 0 5000 COPY", "MIGRATE T set 0 5000 COPY", "MIGRATE T set 0 5000 REPLACE",
	"MIGRATE T text 99 5000", "MIGRATE T int 1 5000", "MIGRATE T text abc 5000", "MIGRATE T text 0 abc", "MIGRATE T text 0 5000 NOSUCH",
	`MIGRATE T "" 0 5000 KEYS nosuch`, `MIGRATE T "" 0 5000 KEYS int text long raw hll bits nosuch`, "MIGRATE T hash 0 5000 KEYS a",
	"@SET ints busy", `MIGRATE T "" 0 5000 KEYS ints hash`, `MIGRATE T "" 0 5000 REPLACE KEYS ints hash`,
	"@CONFIG SET requirepass secret", "MIGRATE T zset 0 5000", "MIGRATE T zset 0 5000 AUTH wrong", "MIGRATE T zset 0 5000 AUTH secret",
	"MIGRATE T geo 0 5000 AUTH2 default wrong", "@ACL SETUSER ann on >pw ~* +@all", "MIGRATE T geo 0 5000 AUTH2 ann pw",
	"MIGRATE T stream 0 5000 AUTH", "MIGRATE T stream 0 5000 AUTH2 ann", "@CONFIG SET requirepass \"\"",
	`MIGRATE T "" 0 5000 KEYS long-list large-set large-hash large-zset stream`, "MIGRATE 127.0.0.1 1 geo 0 100",
}

// migrateAll fills the source and sends its keys to the target, and returns all
// that can be seen of it.
func migrateAll(t *testing.T, source, target Endpoint) []string {
	t.Helper()
	from, err := newSide(source, false)
	if err != nil {
		t.Fatal(err)
	}
	defer from.close()
	to, err := newSide(target, false)
	if err != nil {
		t.Fatal(err)
	}
	defer to.close()
	a, b := from.control[0], to.control[0]
	for _, line := range fillers {
		if r := a.ask(filler(line)...); r.isError() {
			t.Fatalf("%s: %s", line, r)
		}
	}
	seen := contents(a)
	address := "127.0.0.1 " + to.port(0)
	for _, line := range migrations {
		b.ask("CLIENT", "KILL", "TYPE", "normal") // Redis keeps the connection of the last one, and who is logged in there
		client := a
		command, atTarget := strings.CutPrefix(line, "@")
		if atTarget {
			client = b
		}
		args, err := splitArgs(strings.Replace(command, "MIGRATE T ", "MIGRATE "+address+" ", 1))
		if err != nil {
			t.Fatal(err)
		}
		if reply := client.ask(args...); !atTarget {
			seen = append(seen, line+": "+reply.key())
		}
	}
	seen = append(append(seen, "source:"), contents(a)...)
	seen = append(append(seen, "target:"), contents(b)...)
	if r := b.ask("SELECT", "1"); r.isError() {
		t.Fatal(r)
	}
	return append(append(seen, "database 1:"), contents(b)...)
}

// contents are all keys with all there is to say of them.
func contents(c *client) []string {
	var all []string
	keys := c.ask("KEYS", "*").texts()
	slices.Sort(keys)
	for _, key := range keys {
		for _, args := range readsOf(c.ask("TYPE", key).Text, key) {
			reply := c.ask(args...)
			if args[0] == "HGETALL" || args[0] == "SMEMBERS" {
				sortReplies(reply.Items) // the order of a hash table
			}
			if ms, ok := reply.number(); ok && args[0] == "PEXPIRETIME" && ms > 0 {
				reply.Text = strconv.FormatInt((ms+500)/1000, 10) // a TTL travels, not a time
			}
			all = append(all, fmt.Sprintf("%q: %s", args, reply.key()))
		}
	}
	return all
}

// TestMigrateWithRealRedis sends keys of all types from the emulator to a real
// server and back; all must be as between two real servers.
func TestMigrateWithRealRedis(t *testing.T) {
	want := migrateAll(t, RealRedis{}.Start(t, false), RealRedis{}.Start(t, false))
	if len(want) < 150 {
		t.Fatalf("only %d lines to compare", len(want))
	}
	ours := Emulator{TCP: true}
	for _, pair := range []struct {
		name           string
		source, target Endpoint
	}{
		{"to real", ours.Start(t, false), RealRedis{}.Start(t, false)},
		{"from real", RealRedis{}.Start(t, false), ours.Start(t, false)},
		{"among ours", ours.Start(t, false), ours.Start(t, false)},
	} {
		t.Run(pair.name, func(t *testing.T) {
			got := migrateAll(t, pair.source, pair.target)
			for i := range max(len(got), len(want)) {
				if i >= len(got) || i >= len(want) || got[i] != want[i] {
					t.Fatalf("line %d:\n got %.300s\nwant %.300s", i, got[min(i, len(got)-1)], want[min(i, len(want)-1)])
				}
			}
		})
	}
}
