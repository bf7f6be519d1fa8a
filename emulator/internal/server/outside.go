package server

import (
	"slices"
	"strings"
	"sync"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/version"
)

// Outside is a command that whoever embeds the nodes gives them. It is executed
// without any lock held, by args without the command's own name, and answers
// with text.
type Outside func(args []string) (string, error)

// outsideTables holds the tables with commands from outside: like those
// without, they are dear to build.
var outsideTables sync.Map

// tableWith is the table of a version with hidden commands of these names,
// which are lower case.
func tableWith(v version.Version, outside map[string]Outside) *command.Table {
	table := tableFor(v)
	if len(outside) == 0 {
		return table
	}
	var names []string
	for name := range outside {
		names = append(names, name)
	}
	slices.Sort(names)
	type key struct {
		version version.Version
		names   string
	}
	k := key{v, strings.Join(names, " ")}
	if t, ok := outsideTables.Load(k); ok {
		return t.(*command.Table)
	}
	var specs []*command.Spec
	for _, name := range names {
		specs = append(specs, &command.Spec{
			Name: name, Arity: -1, Group: "server", Since: v, Handler: callOutside,
			Categories: outsideCategories(),
			Flags:      command.Admin | command.NoScript | command.NoMulti | command.Loading | command.Stale | command.AllowBusy | command.SkipMonitor | command.SkipSlowlog,
		})
	}
	t, _ := outsideTables.LoadOrStore(k, table.WithHidden(specs...))
	return t.(*command.Table)
}

// outsideCategories are those that Redis gives a command with the flag admin, so
// that who may not administer the server may not steer it either.
func outsideCategories() (all command.Categories) {
	for _, name := range []string{"admin", "dangerous", "slow"} {
		category, _ := command.Category(name)
		all |= category
	}
	return all
}

// callOutside runs a command from outside once the node's lock is released: it
// may do to this node whatever it likes.
func callOutside(c *command.Call) {
	s := c.Client.(*session)
	run := s.node.options.Outside[c.Spec.Name]
	args := make([]string, 0, len(c.Args)-1)
	for _, arg := range c.Args[1:] {
		args = append(args, string(arg))
	}
	s.finishLater(c.Spec.Name, func() {
		reply := s.newReply()
		text, err := run(args)
		switch {
		case err != nil:
			reply.Error("ERR " + err.Error())
		case text == "OK":
			reply.Status(text)
		default:
			reply.Verbatim("txt", text)
		}
		s.answerLate(reply)
	})
}
