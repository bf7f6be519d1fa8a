package server

import (
	"github.com/fakecluster/fakecluster/emulator/internal/command"
)

// Execute runs a command past slots, passwords and transactions, as the owner
// of a test would, and returns its reply in RESP3. It never blocks.
func (n *Node) Execute(args [][]byte) []byte { return n.ExecuteIn(0, args) }

// ExecuteIn is Execute in a database.
func (n *Node) ExecuteIn(db int, args [][]byte) []byte {
	n.lock()
	defer n.unlock()
	s := &session{node: n, direct: true, authenticated: true, addr: "127.0.0.1:0", localAddr: "127.0.0.1:0", created: n.now, lastUse: n.now}
	s.enc.SetProto(3)
	c := &command.Call{
		Args: args, Spec: n.table.Lookup(args), Table: n.table, Reply: &s.enc, DB: n.ks.DB(max(0, min(db, n.ks.Databases()-1))), Client: s,
		ClusterEnabled: n.clustered, DenyBlocking: true,
	}
	switch {
	case db < 0 || db >= databases || n.clustered && db != 0:
		s.enc.Error("ERR DB index is out of range")
	case c.Spec == nil:
		s.enc.Error(n.table.LookupError(args))
	case !c.Spec.CheckArity(len(args)):
		s.enc.Error(n.table.ArityError(c.Spec))
	case c.Spec.Handler == nil:
		s.enc.Error(absent(c.Spec))
	default:
		n.running = s
		n.invoke(c)
		n.running = nil
	}
	return s.enc.Bytes()
}
