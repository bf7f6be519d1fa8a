package server

import (
	"bytes"
	"slices"
	"strings"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
)

// transaction is what a client has queued since MULTI, and what it watches.
type transaction struct {
	open      bool // between MULTI and EXEC
	executing bool // within EXEC
	aborted   bool // a command could not be queued: EXEC will refuse
	stale     bool // a watched key was changed: EXEC will do nothing
	queued    []queuedCommand
	watched   []watchedKey
}

type queuedCommand struct {
	spec *command.Spec
	args [][]byte
}

// watchedKey remembers whether the key had expired already when it was watched:
// then its disappearance changes nothing.
type watchedKey struct {
	dbKey
	expired bool
}

var transactionCommands = map[string]command.Handler{
	"multi":   multi,
	"exec":    exec,
	"discard": discard,
	"watch":   watch,
	"unwatch": unwatch,
}

func multi(c *command.Call) {
	s := c.Client.(*session)
	if s.tx.open {
		c.Reply.Error("ERR MULTI calls can not be nested")
		return
	}
	s.tx.open = true
	c.Reply.Status("OK")
}

func discard(c *command.Call) {
	s := c.Client.(*session)
	if !s.tx.open {
		c.Reply.Error("ERR DISCARD without MULTI")
		return
	}
	s.endTransaction()
	c.Reply.Status("OK")
}

func watch(c *command.Call) {
	s := c.Client.(*session)
	if s.tx.open {
		c.Reply.Error("ERR WATCH inside MULTI is not allowed")
		return
	}
	if s.tx.stale {
		c.Reply.Status("OK") // EXEC will fail anyway
		return
	}
	for _, key := range c.Args[1:] {
		s.watch(dbKey{c.DB.ID(), string(key)})
	}
	c.Reply.Status("OK")
}

func (s *session) watch(key dbKey) {
	n := s.node
	if n.watched[key] == nil {
		if n.watched == nil {
			n.watched = map[dbKey]map[*session]struct{}{}
		}
		n.watched[key] = map[*session]struct{}{}
	}
	if _, already := n.watched[key][s]; already {
		return
	}
	n.watched[key][s] = struct{}{}
	s.tx.watched = append(s.tx.watched, watchedKey{key, n.ks.DB(key.db).Stale([]byte(key.key))})
}

func unwatch(c *command.Call) {
	s := c.Client.(*session)
	s.unwatchAll()
	s.tx.stale = false
	c.Reply.Status("OK")
}

func (s *session) unwatchAll() {
	for _, key := range s.tx.watched {
		delete(s.node.watched[key.dbKey], s)
		if len(s.node.watched[key.dbKey]) == 0 {
			delete(s.node.watched, key.dbKey)
		}
	}
	s.tx.watched = nil
}

// touchWatched makes the transactions of those who watch key fail.
func (n *Node) touchWatched(key dbKey) {
	for s := range n.watched[key] {
		if !s.sawExpired(key) || n.ks.DB(key.db).Exists([]byte(key.key)) {
			s.tx.stale = true
		}
	}
}

// touchWatchedDB does so for every key of a database that is emptied, or
// exchanged for another.
func (n *Node) touchWatchedDB(db int, before, after *keyspace.DB) {
	for key, sessions := range n.watched {
		if key.db != db {
			continue
		}
		name := []byte(key.key)
		stale := after != nil && after.Stale(name)
		had := before.Stale(name) || before.Exists(name)
		has := stale || after != nil && after.Exists(name)
		if !had && !has {
			continue
		}
		for s := range sessions {
			s.keyReplaced(key, had, has, stale)
		}
	}
}

// keyReplaced makes the transaction fail because a key it watches comes, goes
// or becomes another. A key that had expired and goes has not changed, nor has
// one that was not there or had expired and now is, but has expired.
func (s *session) keyReplaced(key dbKey, had, has, stale bool) {
	w := s.watchedKey(key)
	switch {
	case w.expired && !has:
		w.expired = false
	case w.expired && stale:
	case !w.expired && !had && stale:
		w.expired = true
	default:
		s.tx.stale = true
	}
}

// watchedKey is what the session remembers of a key it watches.
func (s *session) watchedKey(key dbKey) *watchedKey {
	i := slices.IndexFunc(s.tx.watched, func(w watchedKey) bool { return w.dbKey == key })
	return &s.tx.watched[i]
}

func (s *session) sawExpired(key dbKey) bool { return s.watchedKey(key).expired }

// queue keeps a command for EXEC, unless EXEC is going to refuse anyway.
func (s *session) queue(c *command.Call) {
	if s.tx.aborted || s.tx.stale {
		c.Reply.Status("QUEUED")
		return
	}
	args := make([][]byte, len(c.Args))
	for i, arg := range c.Args {
		args[i] = bytes.Clone(arg)
	}
	s.tx.queued = append(s.tx.queued, queuedCommand{c.Spec, args})
	c.Reply.Status("QUEUED")
}

// endTransaction forgets what was queued and watched.
func (s *session) endTransaction() {
	s.unwatchAll()
	s.tx = transaction{}
}

// abortTransaction makes EXEC refuse because a command could not be queued.
func (s *session) abortTransaction() {
	if s.tx.open {
		s.tx.aborted = true
	}
}

func exec(c *command.Call) {
	s := c.Client.(*session)
	switch {
	case !s.tx.open:
		c.Reply.Error("ERR EXEC without MULTI")
	case s.watchedExpired() || s.tx.stale && !s.tx.aborted:
		s.endTransaction()
		c.Reply.NullArray()
	case s.tx.aborted:
		s.endTransaction()
		c.Reply.Error("EXECABORT Transaction discarded because of previous errors.")
	default:
		s.runQueued(c)
	}
}

// watchedExpired reports whether a watched key's time has come since, which
// counts as a change even if nobody has noticed yet.
func (s *session) watchedExpired() bool {
	if s.tx.aborted {
		return false
	}
	for _, w := range s.tx.watched {
		if !w.expired && s.node.ks.DB(w.db).Stale([]byte(w.key)) {
			return true
		}
	}
	return false
}

func (s *session) runQueued(c *command.Call) {
	queued := s.tx.queued
	s.unwatchAll() // as early as Redis does: commands must not make us stale
	s.tx.executing = true
	n := s.node
	outcome := outcomeOf(c.Reply)
	failures := outcome.Errors
	c.Reply.Array(len(queued))
	for _, q := range queued {
		inner := command.Call{
			Args: q.args, Spec: q.spec, Table: c.Table, Reply: s.sink(), DB: n.ks.DB(s.db), Client: s,
			ClusterEnabled: c.ClusterEnabled, DenyBlocking: true, FromMaster: c.FromMaster,
		}
		if denied := n.permitInExec(s, &inner); denied != "" {
			inner.Reply.Error(denied)
			failures++
			continue
		}
		n.invoke(&inner)
		s.db = inner.DB.ID()
	}
	outcome.Errors = failures // the rest are the commands', not those of EXEC
	s.endTransaction()
	c.DB = n.ks.DB(s.db)
}

// reject answers a command that will not be executed. Within MULTI it spoils
// the transaction; an EXEC that cannot run discards it.
func (s *session) reject(c *command.Call, msg string) {
	if c.Spec != nil {
		s.node.stats.rejected(c.Spec)
	}
	if c.Spec != nil && c.Spec.Name == "exec" {
		s.endTransaction()
		msg = "EXECABORT Transaction discarded because of: " + strings.TrimPrefix(msg, "ERR ")
	} else {
		s.abortTransaction()
	}
	s.node.stats.countError(msg)
	c.Reply.Error(msg)
}
