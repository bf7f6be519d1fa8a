package server

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/resp"
)

// waiter is a blocked client: the command to try again, and the keys it waits
// for. It is answered by whoever ends the wait, under the node's lock, with
// bytes put straight into the client's queue.
type waiter struct {
	session *session
	wait    *command.Wait // nil for a client that waits for something else than keys
	keys    []dbKey       // copies of those in wait, whose bytes are gone after the call
	spec    *command.Spec
	args    [][]byte
	db      int
	// deadline is zero when the client waits for ever.
	deadline time.Time
	// again makes the client execute args itself when the wait ends: a command
	// put off by CLIENT PAUSE.
	again bool
	// spoil is a fault that strikes when the reply is there.
	spoil *Fault
	// onTimeout answers when the deadline has come.
	onTimeout func(resp.Sink)
	// ready ends a wait that is not for keys; see recheck.
	ready func() bool
	done  chan struct{}
	ended bool
}

// blocking is who waits for which key, first come first served.
type blocking struct {
	queues map[dbKey][]*waiter
	// waiting counts those who wait for a key of each kind.
	waiting [keyspace.KindStream + 1]int
	// touched lists keys that became ready since the last look, oldest first.
	touched []dbKey
	// others wait for something that is not a key.
	others []*waiter
}

// park registers the session as waiting for what its command asked for.
func (s *session) park(c *command.Call) {
	w := c.Waiting()
	wt := s.newWaiter(c)
	wt.wait, wt.onTimeout = w, w.OnTimeout
	if w.Timeout > 0 {
		wt.deadline = s.node.clock.Now().Add(w.Timeout)
	}
	b := &s.node.blocked
	if b.queues == nil {
		b.queues = map[dbKey][]*waiter{}
	}
	b.waiting[w.Kind]++
	wt.keys = waitKeys(wt.db, w.Keys)
	for _, key := range wt.keys {
		b.queues[key] = append(b.queues[key], wt)
	}
}

// parkFor makes the session wait until ready is true, or the timeout has
// passed if it is not 0, and then be answered by reply.
func (s *session) parkFor(c *command.Call, timeout time.Duration, ready func() bool, reply func(resp.Sink)) {
	wt := s.newWaiter(c)
	wt.ready, wt.onTimeout = ready, reply
	if timeout > 0 {
		wt.deadline = s.node.clock.Now().Add(timeout)
	}
	s.node.blocked.others = append(s.node.blocked.others, wt)
}

func (s *session) newWaiter(c *command.Call) *waiter {
	wt := &waiter{session: s, spec: c.Spec, db: c.DB.ID(), done: make(chan struct{})}
	for _, arg := range c.Args {
		wt.args = append(wt.args, bytes.Clone(arg))
	}
	s.waiting, s.parked = wt, wt
	return wt
}

// waitKeys are the distinct keys waited for.
func waitKeys(db int, names [][]byte) []dbKey {
	keys := make([]dbKey, 0, len(names))
	for _, name := range names {
		if key := (dbKey{db, string(name)}); !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// keys are the keys of a database that somebody waits for, in order, so that
// what follows for them does not depend on chance.
func (b *blocking) keys(db int) []dbKey {
	var keys []dbKey
	for key := range b.queues {
		if key.db == db {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b dbKey) int { return strings.Compare(a.key, b.key) })
	return keys
}

// keyReady notes that key may satisfy somebody. Redis does not look whether
// they wait for a value of this kind, only whether anybody does, for any key;
// that decides which key comes first when it comes to hold another kind later.
func (n *Node) keyReady(key dbKey, kind keyspace.Kind) {
	b := &n.blocked
	if b.waiting[kind] > 0 && len(b.queues[key]) > 0 && !slices.Contains(b.touched, key) {
		b.touched = append(b.touched, key)
	}
}

// streamGone notes that key no longer holds the stream it held, for those who
// want to know. Before 7.2 this was as good as a stream that is ready.
func (n *Node) streamGone(key dbKey) {
	if len(n.blocked.queues) == 0 {
		return
	}
	wants := func(wt *waiter) bool { return wt.wait.OnDelete != nil }
	if !n.version.AtLeast(7, 2) || slices.ContainsFunc(n.blocked.queues[key], wants) {
		n.keyReady(key, keyspace.KindStream)
	}
}

// serveBlocked lets clients have what they waited for, after a command, a
// transaction or a script has run. Serving one can make other keys ready.
func (n *Node) serveBlocked() {
	n.ks.SetNow(n.clock.Now().UnixMilli()) // what made keys ready may have taken long
	for len(n.blocked.touched) > 0 {
		key := n.blocked.touched[0]
		n.blocked.touched = n.blocked.touched[1:]
		for _, wt := range slices.Clone(n.blocked.queues[key]) {
			n.tryToServe(wt, key)
		}
	}
	n.blocked.touched = nil
}

func (n *Node) tryToServe(wt *waiter, key dbKey) {
	if wt.ended {
		return
	}
	db := n.ks.DB(key.db)
	value := db.Peek([]byte(key.key))
	reply := wt.session.newReply()
	if value == nil || value.Kind() != wt.wait.Kind {
		if wt.wait.OnDelete != nil {
			wt.wait.OnDelete(reply)
			n.countWaitFailure(wt, reply)
			n.answer(wt, reply)
		}
		return
	}
	c := command.Call{
		Args: wt.args, Spec: wt.spec, Table: n.table, Reply: reply, DB: db, Client: wt.session,
		ClusterEnabled: n.clustered, Resumed: true, ReadyKey: key.key,
	}
	outer := n.running
	n.running = wt.session
	panicked := n.invokeGuarded(&c)
	n.running = outer
	if panicked {
		reply.Reset()
		reply.Error(errInternal)
		n.answer(wt, reply)
		wt.session.closing = true
		wt.session.out.flush()
		wt.session.disconnect()
		return
	}
	n.commitEffects()
	if c.Waiting() == nil {
		n.answer(wt, reply)
	}
}

// answer ends a wait with a reply.
func (n *Node) answer(wt *waiter, reply *resp.Encoder) {
	b := reply.Bytes()
	if wt.spoil != nil {
		b = b[:wt.spoil.spoil(wt.session, len(b))]
	}
	if wt.session.replies == repliesOn {
		wt.session.out.append(b)
	}
	n.endWait(wt)
}

// endWait takes wt out of every queue and lets its session go on.
func (n *Node) endWait(wt *waiter) {
	if wt.ended {
		return
	}
	wt.ended = true
	if wt.wait != nil {
		n.blocked.waiting[wt.wait.Kind]--
	}
	for _, key := range wt.keys {
		queue := n.blocked.queues[key]
		if i := slices.Index(queue, wt); i >= 0 {
			queue = slices.Delete(queue, i, i+1)
		}
		if len(queue) == 0 {
			delete(n.blocked.queues, key)
		} else {
			n.blocked.queues[key] = queue
		}
	}
	if i := slices.Index(n.blocked.others, wt); i >= 0 {
		n.blocked.others = slices.Delete(n.blocked.others, i, i+1)
	}
	wt.session.waiting = nil
	close(wt.done)
}

// recheck ends the waits of those whose condition has come true.
func (n *Node) recheck() {
	for _, wt := range slices.Clone(n.blocked.others) {
		if wt.ready() {
			n.timeOut(wt)
		}
	}
}

// timeOut ends a wait with the reply that says that nothing came.
func (n *Node) timeOut(wt *waiter) {
	if wt.again {
		n.endWait(wt)
		return
	}
	reply := wt.session.newReply()
	wt.onTimeout(reply)
	n.answer(wt, reply)
}

// countWaitFailure counts the error that ends a wait, if it is one.
func (n *Node) countWaitFailure(wt *waiter, reply *resp.Encoder) {
	if reply.Errors > 0 {
		n.stats.countError(reply.LastError)
		n.stats.perCommand[wt.spec.ID].failed++
	}
}

// unblock ends a wait with an error, as CLIENT UNBLOCK id ERROR does.
func (n *Node) unblock(wt *waiter, msg string) {
	reply := wt.session.newReply()
	reply.Error(msg)
	n.countWaitFailure(wt, reply)
	n.countUnblocked(wt)
	n.answer(wt, reply)
}

// countUnblocked enters a command that another one ended into the histograms,
// which those whose time is up stay out of.
func (n *Node) countUnblocked(wt *waiter) {
	if n.set.observing.histograms {
		n.stats.perCommand[wt.spec.ID].record(0)
	}
}
