package readiness

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"golang.org/x/net/html"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/slots"
)

// program runs a program against one Redis and returns the report.
func program(t *testing.T, does func(do func(args ...any) any)) *Report {
	t.Helper()
	recorder := NewRecorder()
	c := emulator.RunT(t, emulator.Standalone(), emulator.Observe(recorder.See))
	client := redis.NewClient(&redis.Options{Addr: c.Addrs()[0], Dialer: c.Dialer(), Protocol: 2, DisableIdentity: true})
	defer client.Close()
	conn := client.Conn()
	defer conn.Close()
	do := func(args ...any) any {
		reply, err := conn.Do(t.Context(), args...).Result()
		if err != nil && err != redis.Nil {
			t.Fatalf("%v: %v", args, err)
		}
		return reply
	}
	do("CLIENT", "SETNAME", "shop")
	does(do)
	return recorder.Report()
}

// find returns the only finding of a kind.
func (r *Report) find(t *testing.T, kind Kind) Finding {
	t.Helper()
	var all []Finding
	for _, f := range r.Findings {
		if f.Kind == kind {
			all = append(all, f)
		}
	}
	if len(all) != 1 {
		t.Fatalf("%d findings of kind %s in\n%s", len(all), kind, r.Text())
	}
	return all[0]
}

func TestKinds(t *testing.T) {
	const script = "redis.call('INCR', KEYS[1]) return redis.call('GET', 'stock:' .. ARGV[1])"
	for _, c := range []struct {
		name  string
		does  func(do func(args ...any) any)
		kind  Kind
		sev   Severity
		shape string
		count int64
		fix   string
	}{
		{"keys that share an id", func(do func(...any) any) {
			for i := range 20 {
				do("MGET", fmt.Sprintf("user:%d:name", i), fmt.Sprintf("user:%d:mail", i))
			}
		}, MultiKey, Breaks, "MGET user:#:name user:#:mail", 20, "name the keys user:{#}:name, user:{#}:mail"},
		{"keys that share nothing", func(do func(...any) any) { do("SET", "draft:1", "x"); do("RENAME", "draft:1", "page:2") },
			MultiKey, Breaks, "RENAME draft:# page:#", 1, "one slot at a time"},
		{"keys that could be asked for one by one", func(do func(...any) any) { do("MGET", "u:1", "u:2", "u:3") },
			MultiKey, Breaks, "MGET u:# …", 1, "one command per key"},
		{"an id in several places", func(do func(...any) any) {
			do("SMOVE", "cart:7:items", "order:new:7", "x")
			do("SMOVE", "cart:8:items", "order:new:8", "x")
		}, MultiKey, Breaks, "SMOVE cart:#:items order:new:#", 2, "name the keys cart:{#}:items, order:new:{#}"},
		{"a script over slots", func(do func(...any) any) {
			do("EVAL", "return 1", 2, "a:1", "b:1")
			do("EVAL", "return 1", 2, "a:2", "b:2")
		}, Script, Breaks, "EVAL e0e1f9fa… a:# b:#", 2, "name the keys a:{#}, b:{#}"},
		{"a transaction over slots", func(do func(...any) any) {
			for i := range 2 {
				do("MULTI")
				do("INCR", fmt.Sprint("visits:", i))
				do("SADD", fmt.Sprint("visitors:", i), "ada")
				do("EXEC")
			}
		}, Transaction, Breaks, "MULTI; INCR visits:#; SADD visitors:#; EXEC", 2, "name the keys visits:{#}, visitors:{#}"},
		{"watched keys elsewhere", func(do func(...any) any) {
			do("WATCH", "limit:5")
			do("MULTI")
			do("INCR", "count:5")
			do("EXEC")
		}, Watch, Breaks, "WATCH limit:#; MULTI; INCR count:#; EXEC", 1, "name the keys limit:{#}, count:{#}"},
		{"undeclared keys of a script", func(do func(...any) any) { do("EVAL", script, 1, "stock:1", "1"); do("EVAL", script, 1, "a", "1") },
			Undeclared, Misleads, "EVAL b9ad0f0b… a uses stock:#", 1, "pass every key in KEYS"},
		{"a database", func(do func(...any) any) { do("SELECT", "0"); do("SELECT", "3"); do("SELECT", "0") },
			Database, Breaks, "SELECT 3", 1, "db3:"},
		{"a move between databases", func(do func(...any) any) { do("MOVE", "a", "3") }, Database, Breaks, "MOVE", 1, "database 0"},
		{"a copy between databases", func(do func(...any) any) { do("COPY", "a", "a", "DB", "3") }, Database, Breaks, "COPY … DB", 1, "database 0"},
		{"a swap of databases", func(do func(...any) any) { do("SWAPDB", "0", "3") }, Database, Breaks, "SWAPDB", 1, "database 0"},
		{"all keys", func(do func(...any) any) { do("KEYS", "user:*"); do("KEYS", "user:*") }, OneNode, Misleads, "KEYS user:*", 2, "every master"},
		{"a scan", func(do func(...any) any) { do("SCAN", "0", "COUNT", "5", "MATCH", "a:1*") }, OneNode, Misleads, "SCAN a:#*", 1, "every master"},
		{"a flush", func(do func(...any) any) { do("FLUSHALL") }, OneNode, Misleads, "FLUSHALL", 1, "every master"},
		{"a flush of a database", func(do func(...any) any) { do("FLUSHDB") }, OneNode, Misleads, "FLUSHDB", 1, "every master"},
		{"a random key", func(do func(...any) any) { do("RANDOMKEY") }, OneNode, Misleads, "RANDOMKEY", 1, "choose a master"},
		{"the number of keys", func(do func(...any) any) { do("DBSIZE") }, OneNode, Misleads, "DBSIZE", 1, "add up"},
		{"all keys in a script", func(do func(...any) any) { do("EVAL", "return redis.call('KEYS', '*')", 0) },
			OneNode, Misleads, "in a script: KEYS *", 1, "every master"},
		{"messages", func(do func(...any) any) { do("PUBLISH", "room:1", "hello"); do("PUBLISH", "room:2", "you") },
			PubSub, Costs, "PUBLISH room:#", 2, "SPUBLISH"},
		{"a sort by other keys", func(do func(...any) any) { do("SORT", "list", "BY", "weight_*", "LIMIT", "0", "5") },
			SortPattern, Breaks, "SORT BY weight_*", 1, "sort in the program"},
	} {
		t.Run(c.name, func(t *testing.T) {
			report := program(t, c.does)
			f := report.find(t, c.kind)
			if f.Severity != c.sev || f.Count != c.count || !strings.Contains(f.Fix, c.fix) {
				t.Errorf("%+v", f)
			}
			if c.shape != f.Shape && !strings.HasPrefix(c.shape, "EVAL") {
				t.Errorf("shape %q, want %q", f.Shape, c.shape)
			}
			if fields := strings.Fields(c.shape); strings.HasPrefix(c.shape, "EVAL") && !strings.HasSuffix(f.Shape, strings.Join(fields[2:], " ")) {
				t.Errorf("shape %q, want %q", f.Shape, c.shape)
			}
			if len(f.Clients) != 1 || f.Clients[0] != (ClientCount{"shop", c.count}) {
				t.Errorf("clients %v", f.Clients)
			}
			if report.Ready != (c.sev == Costs) {
				t.Errorf("ready is %v", report.Ready)
			}
		})
	}
}

// What a cluster takes as it is is not found.
func TestNothingToFind(t *testing.T) {
	report := program(t, func(do func(...any) any) {
		do("MSET", "{a}1", "x", "{a}2", "y")
		do("WATCH", "{a}1")
		do("MULTI")
		do("INCR", "{a}3")
		do("DEL", "{a}1", "{a}2")
		do("EXEC")
		do("EVAL", "return redis.call('GET', KEYS[1])", 2, "{a}1", "{a}2")
		do("SELECT", "0")
		do("SPUBLISH", "a", "x")
		do("SORT", "list", "LIMIT", "0", "1")
		do("COPY", "{a}1", "{a}2")
		do("WATCH", "x")
		do("UNWATCH")
		do("MULTI")
		do("GET", "y")
		do("EXEC")
	})
	if len(report.Findings) > 0 || !report.Ready || !strings.HasPrefix(report.Summary(), "ready for a cluster: nothing found") {
		t.Errorf("found:\n%s", report.Text())
	}
}

// The tags put right what they are said to put right, by CLUSTER KEYSLOT's rule.
func TestTagsJoinSlots(t *testing.T) {
	report := program(t, func(do func(...any) any) {
		for i := range 300 {
			do("MSET", fmt.Sprintf("user:%d:name", i), "x", fmt.Sprintf("user:%d:{mail}", i), "y")
			do("SADD", fmt.Sprintf("user:%d:friends", i), "z")
			do("SET", fmt.Sprintf("session:9f86d081-884c-4d65-9a2f-%012x", i), "x")
			do("RENAMENX", fmt.Sprintf("session:9f86d081-884c-4d65-9a2f-%012x", i), fmt.Sprintf("ended:9f86d081-884c-4d65-9a2f-%012x", i))
		}
	})
	f := report.Findings[0]
	if len(f.Examples) != 3 {
		t.Fatalf("%+v", f)
	}
	for _, f := range report.Findings {
		for _, e := range f.Examples {
			at := slots.OfString(e.Keys[0].Tagged)
			for _, k := range e.Keys {
				if k.Tagged == "" || slots.OfString(k.Tagged) != at || k.Slot != slots.OfString(k.Name) {
					t.Errorf("%+v", e)
				}
			}
		}
	}
	want := []Tag{
		{"ended:#", "ended:{#}", "ended:{9f86d081-884c-4d65-9a2f-000000000000}"},
		{"session:#", "session:{#}", "session:{9f86d081-884c-4d65-9a2f-000000000000}"},
		{"user:#:name", "user:{#}:name", "user:{0}:name"},
		{"user:#:{mail}", "user:{#}:mail", "user:{0}:mail"},
	}
	if !slices.Equal(report.Tags, want) {
		t.Errorf("tags %v", report.Tags)
	}
	if report.Before.Keys != 1500 || report.After.Keys != 1500 {
		t.Errorf("%d keys before and %d after", report.Before.Keys, report.After.Keys)
	}
	var parts, owned int64
	for _, n := range report.After.Parts {
		parts += n
	}
	for _, n := range report.After.Masters {
		owned += n
		if n < 300 {
			t.Errorf("a master has %d of 1500 keys", n)
		}
	}
	if parts != 1500 || owned != 1500 {
		t.Errorf("the parts have %d keys, the masters %d", parts, owned)
	}
	if report.Before.FullestKeys < 300 || report.After.FullestKeys > 20 {
		t.Errorf("the fullest slot had %d keys ({mail} is a tag), and has %d then", report.Before.FullestKeys, report.After.FullestKeys)
	}
}

// Two findings that want a key tagged differently cannot both have their way:
// the more frequent one has.
func TestConflictingTags(t *testing.T) {
	report := program(t, func(do func(...any) any) {
		for i := range 5 {
			do("MGET", fmt.Sprintf("order:%d:of:%d", i, i+100), fmt.Sprintf("customer:%d", i+100))
		}
		do("MGET", "order:1:of:101", "invoice:1")
		do("MGET", "order:2:of:102", "invoice:2")
	})
	var solved []bool
	for _, f := range report.Findings {
		solved = append(solved, f.Solved)
	}
	if !slices.Equal(solved, []bool{true, false}) || !strings.Contains(report.Findings[1].Fix, "modelled anew") {
		t.Errorf("%v\n%s", solved, report.Text())
	}
}

func TestClientsWithoutANameCountByMachine(t *testing.T) {
	recorder := NewRecorder()
	for _, client := range []string{"127.0.0.1:4000", "127.0.0.1:4001", "[::1]:4000", "app:1"} {
		recorder.See(emulator.Executed{Client: client, Command: "flushall", Args: []string{"flushall"}})
	}
	want := []ClientCount{{"unnamed, at 127.0.0.1", 2}, {"app:1", 1}, {"unnamed, at ::1", 1}}
	if got := recorder.Report().Findings[0].Clients; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestFormats(t *testing.T) {
	report := program(t, func(do func(...any) any) {
		do("MGET", "<b>:1:x", "b&:1")
		do("PUBLISH", "room", "hello")
	})
	text, err := report.Format("report.json")
	var back Report
	if err != nil || json.Unmarshal(text, &back) != nil || back.Findings[0].Examples[0].Keys[0].Name != "<b>:1:x" || back.Findings[1].Bytes != 5 {
		t.Errorf("JSON: %v\n%s", err, text)
	}
	if text, err = report.Format("report.txt"); err != nil || !strings.HasPrefix(string(text), "not ready for a cluster: findings in ") || !strings.Contains(string(text), ": 1 breaks, 0 misleads, 1 costs\n") ||
		!strings.Contains(string(text), "<b>:1:x → <b>:{1}:x") {
		t.Errorf("text: %v\n%s", err, text)
	}
	text, err = report.Format("report.html")
	if err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	elements := map[string]int{}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			elements[n.Data]++
		}
		for _, a := range n.Attr {
			if a.Key == "src" || a.Key == "href" {
				t.Errorf("the page needs %s", a.Val)
			}
		}
	}
	if elements["article"] != 2 || elements["svg"] != 2 || elements["rect"] != 2*Parts || elements["b"] != 0 || elements["script"] != 0 {
		t.Errorf("elements %v", elements)
	}
}
