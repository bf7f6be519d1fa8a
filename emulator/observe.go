package emulator

import "github.com/fakecluster/fakecluster/emulator/internal/server"

// Executed is one command that a node has executed for a client, by itself, in a
// transaction or in a script.
type Executed struct {
	Node *Node
	// Client is the name the client gave itself, or else its address.
	Client string
	// Connection tells the connections of a node apart. What EXEC and scripts
	// execute comes before they do, over the same connection.
	Connection int64
	// Command is its name in lower case, with subcommand: "client|list".
	Command string
	Args    []string // the whole command, without secrets
	Keys    []string
	DB      int // database it was executed in
	// InTransaction says that EXEC executed it, InScript that a script or
	// function did.
	InTransaction, InScript bool
}

// Observe shows see every command that clients have had executed. Node.Do and
// replication are left out, as are commands that were refused before they began.
// The node waits while see runs, which therefore must not use the cluster.
func Observe(see func(Executed)) Option {
	return func(o *options) error {
		if see == nil {
			return badOption("there is nobody to observe")
		}
		o.observe = see
		return nil
	}
}

// observer is what the server of a node is told to call, nil if nobody observes.
func (n *Node) observer() func(server.Observed) {
	see := n.cluster.options.observe
	if see == nil {
		return nil
	}
	return func(o server.Observed) {
		see(Executed{
			Node: n, Client: o.Client, Connection: o.Session, Command: o.Spec.Name, Args: texts(o.Args), Keys: texts(o.Keys), DB: o.DB,
			InTransaction: o.InExec, InScript: o.InScript,
		})
	}
}

func texts(list [][]byte) []string {
	if len(list) == 0 {
		return nil
	}
	all := make([]string, len(list))
	for i, b := range list {
		all[i] = string(b)
	}
	return all
}
