package server

import "github.com/fakecluster/fakecluster/emulator/internal/command"

// Observed is a command that has been executed, for whoever observes a node
// from outside. Its slices are valid during the call only.
type Observed struct {
	Client string // its name, or its address
	// Session is the number of the client's connection.
	Session int64
	Spec    *command.Spec
	Args    [][]byte // without secrets
	Keys    [][]byte
	DB      int
	InExec  bool
	// InScript says that a script or function ran it.
	InScript bool
}

// showObserver tells the observer from outside of a command that has just been
// executed. Replication and resumed commands are not news.
func (n *Node) showObserver(c *command.Call) {
	s, isSession := c.Client.(*session)
	if n.options.Observe == nil || !isSession || s.direct || c.FromMaster || c.Resumed {
		return
	}
	n.refs = c.Spec.AppendKeys(n.refs[:0], c.Args)
	o := Observed{
		Client: s.name, Session: s.id, Spec: c.Spec, Args: c.Shown(), DB: c.DB.ID(),
		InExec: s.tx.executing && c.Spec.Name != "exec", InScript: c.FromScript,
	}
	if o.Client == "" {
		o.Client = s.addr
	}
	for _, ref := range n.refs {
		o.Keys = append(o.Keys, c.Args[ref.Pos])
	}
	n.options.Observe(o)
}
