package server

import (
	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
)

// savedData is what DEBUG RELOAD saved last: it stands for the file.
type savedData struct {
	data      *keyspace.Snapshot
	libraries [][]byte // their code
}

// debugReload saves the data unless NOSAVE, removes it unless NOFLUSH, and loads
// what was saved. Data that is still there must be allowed to be replaced with
// MERGE: where Redis would exit because a key is there already, this fails.
func debugReload(n *Node, c *command.Call) {
	save, flush, merge := true, true, false
	for _, option := range c.Args[2:] {
		switch {
		case is(option, "merge"):
			merge = true
		case is(option, "noflush"):
			flush = false
		case is(option, "nosave"):
			save = false
		default:
			c.Reply.Error("ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options.")
			return
		}
	}
	msg := ""
	if save {
		msg = n.saveAndReload(flush || merge)
	} else {
		msg = n.loadSaved(flush, merge)
	}
	if msg != "" {
		c.Reply.Error(msg)
		return
	}
	c.Reply.Status("OK")
}

// saveAndReload has the same outcome whether the data is removed before it is
// loaded or replaced by itself.
func (n *Node) saveAndReload(mayReplace bool) string {
	if !mayReplace && !n.holdsNothing() {
		return n.cannotLoad()
	}
	if err := n.ks.Reload(); err != nil {
		n.log.Error("cannot reload the data", "error", err)
		return n.cannotLoad()
	}
	n.saved = &savedData{data: n.ks.Snapshot(), libraries: n.scripts.functions.code()}
	return ""
}

func (n *Node) loadSaved(flush, merge bool) string {
	if flush {
		for i := range n.ks.Databases() {
			n.ks.DB(i).Clear()
		}
		n.flushFunctions()
	}
	if n.saved == nil || !merge && !n.holdsNothing() {
		return n.cannotLoad()
	}
	for _, code := range n.saved.libraries {
		if _, msg := n.loadLibrary(code, true); msg != "" {
			return n.cannotLoad()
		}
	}
	n.ks.Merge(n.saved.data)
	return ""
}

func (n *Node) cannotLoad() string {
	if n.version.AtLeast(7, 2) {
		return "ERR Error trying to load the RDB dump, check server logs."
	}
	return "ERR Error trying to load the RDB dump"
}

// holdsNothing reports whether there are neither keys nor functions.
func (n *Node) holdsNothing() bool {
	for i := range n.ks.Databases() {
		if n.ks.DB(i).Len() > 0 {
			return false
		}
	}
	return len(n.scripts.functions.libraries) == 0
}
