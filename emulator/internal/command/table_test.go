package command

import (
	"strings"
	"testing"

	"github.com/fakecluster/fakecluster/emulator/internal/version"
)

func words(line string) [][]byte {
	var args [][]byte
	for _, w := range strings.Fields(line) {
		args = append(args, []byte(strings.Trim(w, `"`)))
	}
	return args
}

func TestLookup(t *testing.T) {
	table := NewTable(version.V7_0)
	for line, want := range map[string]string{
		"get a": "get", "GeT a": "get", "object": "object", "OBJECT ENCODING k": "object|encoding",
		"command": "command", "COMMAND count": "command|count", "client no-EVICT on": "client|no-evict",
	} {
		if s := table.Lookup(words(line)); s == nil || s.Name != want {
			t.Errorf("Lookup(%q) = %v, want %s", line, s, want)
		}
	}
	for _, line := range []string{"foo", "object foo", "client|list", strings.Repeat("x", 65), "hexpire k"} {
		if s := table.Lookup(words(line)); s != nil {
			t.Errorf("Lookup(%q) = %s, want none", line, s.Name)
		}
	}
	args := words("OBJECT ENCODING k")
	if n := testing.AllocsPerRun(100, func() { table.Lookup(args) }); n != 0 {
		t.Errorf("Lookup allocates %v times", n)
	}
}

func TestVersions(t *testing.T) {
	for _, c := range []struct {
		v       version.Version
		has     string
		lacks   string
		command int
	}{
		{version.V6_2, "object|help stralgo", "object|nothing zmpop lmpop function sintercard command|docs client|no-evict spublish expiretime lcs", 0},
		{version.V7_0, "zmpop command|docs function|load", "stralgo waitaof client|setinfo hexpire", 240},
		{version.V7_2, "waitaof client|setinfo client|no-touch cluster|myshardid", "hexpire", 241},
		{version.V7_4, "hexpire hpttl", "nothing", 250},
	} {
		table := NewTable(c.v)
		for _, name := range strings.Fields(c.has) {
			if table.LookupName(name) == nil {
				t.Errorf("%v lacks %s", c.v, name)
			}
		}
		for _, name := range strings.Fields(c.lacks) {
			if table.LookupName(name) != nil {
				t.Errorf("%v has %s", c.v, name)
			}
		}
		if c.command != 0 && len(table.commands) != c.command {
			t.Errorf("%v has %d commands, want %d", c.v, len(table.commands), c.command)
		}
		for i, s := range table.Rows() {
			if s.ID != i || table.LookupName(strings.ToUpper(s.Name)) != s {
				t.Errorf("%v: row %d is %s with ID %d", c.v, i, s.Name, s.ID)
			}
		}
	}
}

// Every handler must belong to some version's command.
func TestHandlersHaveRows(t *testing.T) {
	tables := []*Table{NewTable(version.V6_2), NewTable(version.V7_0), NewTable(version.V7_2), NewTable(version.V7_4)}
	for _, family := range families {
		for name := range family {
			known := false
			for _, table := range tables {
				s := table.LookupName(name)
				known = known || s != nil && s.Name == name
			}
			if !known {
				t.Errorf("handler %q belongs to no command", name)
			}
		}
	}
}

func TestHandlersAndExtraCommands(t *testing.T) {
	called := ""
	handler := func(name string) Handler { return func(*Call) { called = name } }
	table := NewTable(version.V7_0, map[string]Handler{"get": handler("first"), "client|list": handler("list")},
		map[string]Handler{"get": handler("second"), "hexpire": handler("later version")})
	table.LookupName("get").Handler(nil)
	if called != "second" {
		t.Errorf("GET is executed by the %q handler, want the last given", called)
	}
	table.LookupName("client|list").Handler(nil)
	if called != "list" {
		t.Errorf("CLIENT LIST is executed by %q", called)
	}
}

func TestHiddenCommandsCanOnlyBeCalled(t *testing.T) {
	table := NewTable(version.V7_2)
	more := table.WithHidden(&Spec{Name: "steer", Arity: -2})
	spec := more.Lookup(words("STEER x"))
	if spec == nil || spec.ID != table.Len() || more.Len() != table.Len()+1 {
		t.Fatalf("the hidden command is %+v in a table of %d rows, %d before", spec, more.Len(), table.Len())
	}
	if table.Lookup(words("steer x")) != nil {
		t.Error("the table it was added to a copy of has it, too")
	}
	if more.LookupName("steer") != nil || len(more.Rows()) != len(table.Rows()) {
		t.Error("it is listed")
	}
}

func BenchmarkNewTable(b *testing.B) {
	for b.Loop() {
		NewTable(version.V7_2)
	}
}

func BenchmarkLookup(b *testing.B) {
	table := NewTable(version.V7_2)
	args := words("OBJECT ENCODING k")
	for b.Loop() {
		table.Lookup(args)
	}
}
