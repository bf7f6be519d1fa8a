package command

import (
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/resp"
	"github.com/fakecluster/fakecluster/emulator/internal/version"
)

// Handler executes one command. Arity, permissions, slot ownership and every
// other rule that the table can express have been checked; the node's lock is
// held and the keyspace's time is set. It writes exactly one reply.
type Handler func(c *Call)

// Call is one command on its way through a node: what a Handler works with.
// Args are valid during the call only; what is kept must be copied.
type Call struct {
	Args  [][]byte // the command's name first
	Spec  *Spec
	Table *Table
	Reply resp.Sink
	DB    *keyspace.DB

	// Client is who sent the command. Handlers of data commands have no
	// business with it; the server's own (CLIENT, SUBSCRIBE, MULTI, …) know its
	// concrete type.
	Client any

	// ClusterEnabled is set on nodes of a cluster.
	ClusterEnabled bool
	// DenyBlocking is set where a command must not wait: in MULTI and scripts.
	DenyBlocking bool
	// FromScript is set for the commands of a script.
	FromScript bool
	// Resumed is set when a client that had blocked is tried again because
	// ReadyKey may satisfy it.
	Resumed  bool
	ReadyKey string
	// FromMaster is set when a replica applies its master's effects.
	FromMaster bool
	// KeysRestricted is set when the user may not touch every key.
	KeysRestricted bool

	wait    *Wait
	effects [][][]byte
	replace bool
	forced  bool     // to be propagated whatever it changed
	shown   [][]byte // Args with secrets redacted; nil where there are none
}

// Reset prepares c for the next command of the same client, keeping the
// memory it holds.
func (c *Call) Reset() {
	*c = Call{Table: c.Table, Reply: c.Reply, DB: c.DB, Client: c.Client, ClusterEnabled: c.ClusterEnabled, effects: c.effects[:0]}
}

// Version is the Redis version being emulated.
func (c *Call) Version() version.Version { return c.Table.Version }

// Keyspace is the keyspace of the node that executes the command.
func (c *Call) Keyspace() *keyspace.Keyspace { return c.DB.Keyspace() }

// Now is the time of the command in Unix milliseconds.
func (c *Call) Now() int64 { return c.DB.Keyspace().Now() }

// Changed records that the command changed what key holds: watchers and
// caches learn of it, the event is published, and the change is counted.
// It is signalModifiedKey, notifyKeyspaceEvent and dirty++ in one.
func (c *Call) Changed(key []byte, class keyspace.Class, event string) {
	c.DB.Modified(key)
	c.DB.Event(class, event, key)
	c.DB.Keyspace().Dirty++
}

// Removed records that key is gone because a command emptied it: the event
// "del".
func (c *Call) Removed(key []byte) {
	c.DB.Event(keyspace.ClassGeneric, "del", key)
}

// Propagate makes replicas execute args instead of the command as it was
// sent. Several calls propagate several commands, in order, as one block. args
// are copied.
func (c *Call) Propagate(args ...[]byte) {
	effect := make([][]byte, len(args))
	for i, arg := range args {
		effect[i] = append([]byte(nil), arg...)
	}
	c.effects = append(c.effects, effect)
	c.replace = true
}

// PropagateAlways makes replicas execute the command even if it changed nothing
// here.
func (c *Call) PropagateAlways() { c.forced = true }

// Forced reports whether PropagateAlways was called.
func (c *Call) Forced() bool { return c.forced }

// PropagateNothing keeps the command from replicas.
func (c *Call) PropagateNothing() { c.replace = true }

// Effects returns what replicas must execute because of this call, given that
// it changed something: the commands Propagate was called with, else the
// command itself.
func (c *Call) Effects() [][][]byte {
	if c.replace {
		return c.effects
	}
	return [][][]byte{c.Args}
}

// Wait is what a blocked client waits for.
type Wait struct {
	// Keys are waited for in the client's database; the command is tried again
	// when one of them is Ready with a value of Kind.
	Keys [][]byte
	Kind keyspace.Kind
	// Timeout of 0 waits for ever.
	Timeout time.Duration
	// OnTimeout writes the reply when time is up.
	OnTimeout func(resp.Sink)
	// OnDenied writes the reply where blocking is not allowed; it is OnTimeout
	// unless set.
	OnDenied func(resp.Sink)
	// OnDelete, when set, writes the reply when a key waited for is removed or
	// becomes another type, which then ends the wait.
	OnDelete func(resp.Sink)
}

// Block ends the call without a reply and parks the client until w is
// satisfied: then the handler runs again from the start with Resumed set, and
// may Block again to keep its place in the queue. Where blocking is not
// allowed, OnDenied's reply is written at once.
func (c *Call) Block(w Wait) {
	if c.DenyBlocking {
		if w.OnDenied == nil {
			w.OnDenied = w.OnTimeout
		}
		w.OnDenied(c.Reply)
		return
	}
	c.wait = &w
}

// Waiting returns what the client asked to wait for, or nil.
func (c *Call) Waiting() *Wait { return c.wait }
