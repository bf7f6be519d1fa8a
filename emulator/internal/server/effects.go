package server

import (
	"bytes"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
)

// effects gathers what replicas must execute because of the command, the
// transaction or the script that is running.
type effects struct {
	pending []effect
}

type effect struct {
	db   int
	args [][]byte
}

func (e *effects) add(db int, args [][]byte) {
	copied := make([][]byte, len(args))
	for i, arg := range args {
		copied[i] = bytes.Clone(arg)
	}
	e.pending = append(e.pending, effect{db, copied})
}

// propagateAlways sends a command on though it changes no data, as PUBLISH
// does for the subscribers at replicas.
func (n *Node) propagateAlways(c *command.Call) {
	if n.replicating() && !c.FromMaster {
		n.effects.add(c.DB.ID(), c.Args)
	}
}
