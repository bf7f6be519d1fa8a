package server

import (
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
)

// Whoever starts a node may keep its data, with Options.Keep. BGSAVE does so
// before it answers: nobody can tell, as it takes no time.
var saveCommands = map[string]command.Handler{
	"save":     save,
	"bgsave":   bgSave,
	"lastsave": func(c *command.Call) { c.Reply.Int(c.Client.(*session).node.lastSave.at.Unix()) },
}

// lastSave is what LASTSAVE and INFO say of saving.
type lastSave struct {
	at      time.Time // when the node's process began, at first
	changes int64     // made until then
	count   int
	failed  bool // the last BGSAVE
}

// save keeps the node's data, if somebody wants it.
func (n *Node) save() error {
	if n.options.Keep != nil {
		if err := n.options.Keep(n.ks.File(n.scripts.functions.code())); err != nil {
			n.log.Error("the data could not be saved", "error", err)
			return err
		}
	}
	n.lastSave.at, n.lastSave.changes = n.now, n.ks.Dirty
	n.lastSave.count++
	return nil
}

func save(c *command.Call) {
	if c.Client.(*session).node.save() != nil {
		c.Reply.Error("ERR")
		return
	}
	c.Reply.Status("OK")
}

func bgSave(c *command.Call) {
	if len(c.Args) > 2 || len(c.Args) == 2 && !is(c.Args[1], "schedule") {
		c.Reply.Error(errSyntax)
		return
	}
	n := c.Client.(*session).node
	n.lastSave.failed = n.save() != nil
	c.Reply.Status("Background saving started")
}
