package server

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
)

// slowlog holds the commands that took long, the latest first.
type slowlog struct {
	entries []slowEntry
	nextID  int64
}

type slowEntry struct {
	id    int64
	at    time.Time
	spent time.Duration
	args  [][]byte
	addr  string
	name  string
}

var slowlogCommands = map[string]command.Handler{
	"slowlog|get":   slowlogGet,
	"slowlog|len":   slowlogLen,
	"slowlog|reset": slowlogReset,
	"slowlog|help":  help,
}

// What an entry keeps of a command.
const (
	slowlogMaxArgs  = 32
	slowlogMaxBytes = 128
)

// push logs a command.
func (l *slowlog) push(n *Node, c *command.Call, spent time.Duration) {
	s := c.Client.(*session)
	e := slowEntry{id: l.nextID, at: n.now, spent: spent, args: abridge(c.Shown()), addr: s.addr, name: s.name}
	if c.FromScript {
		e.addr, e.name = "?:0", "" // Redis runs these in the name of a client without a connection
	}
	l.nextID++
	l.entries = slices.Insert(l.entries, 0, e)
	if most := n.set.observing.slowlogLength; len(l.entries) > most {
		l.entries = l.entries[:most]
	}
}

// abridge copies a command, leaving out what is too long.
func abridge(args [][]byte) [][]byte {
	kept := make([][]byte, min(len(args), slowlogMaxArgs))
	for i := range kept {
		switch arg := args[i]; {
		case len(args) > slowlogMaxArgs && i == slowlogMaxArgs-1:
			kept[i] = fmt.Appendf(nil, "... (%d more arguments)", len(args)-slowlogMaxArgs+1)
		case len(arg) > slowlogMaxBytes:
			kept[i] = fmt.Appendf(nil, "%s... (%d more bytes)", arg[:slowlogMaxBytes], len(arg)-slowlogMaxBytes)
		default:
			kept[i] = bytes.Clone(arg)
		}
	}
	return kept
}

func slowlogGet(c *command.Call) {
	entries := c.Client.(*session).node.slowlog.entries
	count := int64(10)
	if len(c.Args) > 3 {
		c.Reply.Error("ERR unknown subcommand or wrong number of arguments for '" + untilNUL(c.Args[1]) + "'. Try SLOWLOG HELP.")
		return
	}
	if len(c.Args) == 3 {
		var ok bool
		if count, ok = number.ParseInt(c.Args[2]); !ok || count < -1 {
			c.Reply.Error("ERR count should be greater than or equal to -1")
			return
		}
	}
	if count == -1 || count > int64(len(entries)) {
		count = int64(len(entries))
	}
	c.Reply.Array(int(count))
	for _, e := range entries[:count] {
		c.Reply.Array(6)
		c.Reply.Int(e.id)
		c.Reply.Int(e.at.Unix())
		c.Reply.Int(e.spent.Microseconds())
		c.Reply.Array(len(e.args))
		for _, arg := range e.args {
			c.Reply.Bulk(arg)
		}
		c.Reply.BulkString(e.addr)
		c.Reply.BulkString(e.name)
	}
}

func slowlogLen(c *command.Call) {
	c.Reply.Int(int64(len(c.Client.(*session).node.slowlog.entries)))
}

func slowlogReset(c *command.Call) {
	c.Client.(*session).node.slowlog.entries = nil
	c.Reply.Status("OK")
}
