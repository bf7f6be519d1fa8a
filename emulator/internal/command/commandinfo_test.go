package command

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/fakecluster/fakecluster/emulator/internal/version"
	"github.com/fakecluster/fakecluster/tests/redisserver"
)

// canonical puts what Redis leaves unordered (subcommands of a container, which
// are elements that are aggregates named by their first element, or pairs in a
// map) into the order of their bytes.
func canonical(reply string) string {
	switch reply[0] {
	case '*', '~', '%':
	default:
		return reply
	}
	head, _, _ := strings.Cut(reply, "\r\n")
	elements := splitReply(reply)
	for i, e := range elements {
		elements[i] = canonical(e)
	}
	group := 1
	if reply[0] == '%' {
		group = 2
	}
	var items []string
	for chunk := range slices.Chunk(elements, group) {
		items = append(items, strings.Join(chunk, ""))
	}
	named := func(item string) bool { return strings.HasPrefix(item, "*10\r\n$") }
	if reply[0] == '%' || !slices.ContainsFunc(items, func(item string) bool { return !named(item) }) {
		sort.Strings(items)
	}
	return head + "\r\n" + strings.Join(items, "")
}

// Every row must be as the real server describes it, in both protocols.
func TestCommandInfoAsRedis(t *testing.T) {
	server := redisserver.Start(t)
	for _, proto := range []int{2, 3} {
		ours, real := newLocal(proto), dialRaw(t, server)
		defer real.conn.Close()
		real.do(t, "HELLO", fmt.Sprint(proto))
		var names []string
		for _, name := range splitReply(real.do(t, "COMMAND", "LIST")) {
			names = append(names, bulkOf(name))
		}
		if n := ours.table.Len(); n != len(names) {
			t.Errorf("the table has %d rows, Redis %d", n, len(names))
		}
		names = append(names, "nosuch", "get|x", "OBJECT|FREQ", "object|", "object|freq|x", "")
		for _, name := range names {
			for _, sub := range []string{"INFO", "DOCS"} {
				want := real.do(t, "COMMAND", sub, name)
				got := ours.run([][]byte{[]byte("COMMAND"), []byte(sub), []byte(name)}, false).reply
				if proto == 2 && sub == "DOCS" && strings.Contains(want, "$11\r\nsubcommands\r\n") {
					continue // pairs cannot be told from elements; RESP3 has the answer
				}
				if canonical(got) != canonical(want) {
					t.Errorf("RESP%d COMMAND %s %s:\n got %q\nwant %q", proto, sub, name, got, want)
				}
			}
		}
		for _, line := range []string{"COMMAND", "COMMAND INFO", "COMMAND DOCS"} {
			if proto == 2 && line == "COMMAND DOCS" {
				continue
			}
			want := real.do(t, strings.Fields(line)...)
			got := ours.run(words(line), false).reply
			if canonical(got) != canonical(want) {
				t.Errorf("RESP%d %s: %d bytes that differ from the %d of Redis", proto, line, len(got), len(want))
			}
		}
	}
}

func TestCommandContainerAsRedis(t *testing.T) {
	diff(t, `
		COMMAND COUNT
		COMMAND COUNT x
		COMMAND HELP
		COMMAND HELP x
		COMMAND FOO
		COMMAND DOCS nosuch
		COMMAND INFO nosuch get nosuch
		unordered: COMMAND LIST
		COMMAND LIST x
		COMMAND LIST FILTERBY
		COMMAND LIST FILTERBY module
		COMMAND LIST FILTERBY module x
		COMMAND LIST FILTERBY module x y
		COMMAND LIST FILTERBY other x
		COMMAND LIST other module x
		unordered: COMMAND LIST FILTERBY aclcat read
		unordered: COMMAND LIST FILTERBY ACLCAT SortedSet
		COMMAND LIST FILTERBY ACLCAT @read
		unordered: COMMAND LIST FILTERBY pattern X*|C*
		COMMAND LIST FILTERBY pattern nosuch
	`)
}

// The facts recorded from 7.2 and 7.4 are what these versions' tables must say.
func TestLaterVersionsAreAsRecorded(t *testing.T) {
	for _, v := range []version.Version{version.V7_0, version.V7_2, version.V7_4} {
		data, err := tableFiles.ReadFile(fmt.Sprintf("tables/redis-%d.%d.json", v.Major, v.Minor))
		if err != nil {
			t.Fatal(err)
		}
		type row struct {
			ACL, Flags, Tips  []string
			Arity             int
			First, Last, Step int
			Since, Group      string
			Subcommands       map[string]row
		}
		var file map[string]row
		if err := json.Unmarshal(data, &file); err != nil {
			t.Fatal(err)
		}
		table := NewTable(v)
		check := func(name string, want row) {
			s := table.LookupName(name)
			if s == nil {
				t.Errorf("%v: no %s", v, name)
				return
			}
			flags, categories := s.Flags.names(), s.Categories.Names()
			slices.Sort(flags)
			for i := range categories {
				categories[i] = "@" + categories[i]
			}
			slices.Sort(categories)
			got := row{categories, flags, s.Tips, s.Arity, s.First, s.Last, s.Step, s.Since.String(), s.Group, nil}
			want.Subcommands = nil
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%v %s: got %v, recorded %v", v, name, got, want)
			}
		}
		for name, r := range file {
			check(name, r)
			for sub, r := range r.Subcommands {
				check(sub, r)
			}
		}
	}
}

// "get\x00" is not among the names: Redis compares them up to the NUL but hashes
// all bytes, with a random seed, so that one server in some hundred finds GET.
func TestErrorsOfLookupAsRedis(t *testing.T) {
	long := strings.Repeat("x", 200)
	server := redisserver.Start(t)
	real := dialRaw(t, server)
	defer real.conn.Close()
	ours := newLocal(2)
	for _, args := range [][]string{
		{"foo"}, {""}, {"foo", "a", "b"}, {"FOO", ""}, {long, long}, {"fo\x00o", "a\r\nb", "c\x00d"},
		{"x", long[:100], long[:100], "a"}, {"x", long[:120], "z", "a"}, {"x", long[:125], "z", "a"}, {"x", long[:126], "z"},
		{"object", "foo"}, {"OBJect", long}, {"object", "e\nn"}, {"object", "a\x00b"}, {"object", ""}, {"cluster", "nodez"},
		{"object"}, {"get"}, {"get", "a", "b"}, {"client", "kill"}, {"CLIENT", "KILL"}, {"multi", "x"}, {"object", "freq"},
		{"object", "FREQ", "a", "b"}, {"command", "count", "x"}, {"set", "a"},
	} {
		request := make([][]byte, len(args))
		for i, arg := range args {
			request[i] = []byte(arg)
		}
		want := real.do(t, args...)
		if got := ours.run(request, false).reply; got != want {
			t.Errorf("%q:\n got %q\nwant %q", args, got, want)
		}
	}
}
