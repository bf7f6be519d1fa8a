package server

import (
	"maps"
	"slices"
	"strings"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/resp"
)

// tracking is what a node remembers for client-side caches: who has read which
// key, and which keys changed under the prefixes others asked for.
type tracking struct {
	clients  int // that have tracking on
	readers  keyspace.Dict[map[int64]struct{}]
	items    int // readers of all keys
	prefixes map[string]*trackedPrefix
	// changed is set when a prefix has changed keys to tell of.
	changed bool
	// byServer is set when the next change is the server's doing, not that of the
	// client it serves: a key expired.
	byServer bool
	// held are messages of the running client to itself, which follow its reply.
	held []heldInvalidation
	// flushed is the invocation that emptied databases last.
	flushed uint64
}

// trackedPrefix is a prefix of broadcast mode: its clients, in the order they
// came, and the keys changed since the last broadcast with who changed each
// last.
type trackedPrefix struct {
	clients []*session
	changed map[string]*session
}

type heldInvalidation struct {
	session *session
	key     string
	all     bool
}

// clientTracking is what CLIENT TRACKING has set for one client.
type clientTracking struct {
	on, broadcast, optIn, optOut, noLoop bool
	// caching is set for the command after CLIENT CACHING.
	caching bool
	// broken is set when the client messages are redirected to has gone.
	broken   bool
	redirect int64
	prefixes []string
}

// invalidationChannel is where RESP2 clients listen.
const invalidationChannel = "__redis__:invalidate"

// rememberKeys notes the keys a client has read by a command.
func (n *Node) rememberKeys(c *command.Call) {
	s := c.Client.(*session)
	t := &s.tracking
	if !t.on || t.broadcast || t.optIn && !t.caching || t.optOut && t.caching {
		return
	}
	switch c.Spec.Name {
	case "eval_ro", "evalsha_ro", "fcall_ro":
		return
	}
	spec, args := c.Spec, c.Args
	if c.FromScript && !n.version.AtLeast(7, 2) {
		// What a script reads, it has declared.
		spec, args = n.scripts.running.outer.Spec, n.scripts.running.outer.Args
	}
	if spec.Has(command.PubSub) {
		return
	}
	for _, ref := range spec.AppendKeys(nil, args) {
		n.tracking.add(args[ref.Pos], s.id)
	}
}

func (t *tracking) add(key []byte, client int64) {
	node := t.readers.Find(key)
	if node == nil {
		node = t.readers.Add(string(key), map[int64]struct{}{})
	}
	if _, known := node.Value[client]; !known {
		node.Value[client] = struct{}{}
		t.items++
	}
}

// invalidate tells those who have read key that it has changed. by is the
// client that changed it, nil for the server itself; broadcast is unset when
// nothing changed and only the table is too full.
func (n *Node) invalidate(key string, by *session, broadcast bool) {
	t := &n.tracking
	if broadcast {
		for prefix, p := range t.prefixes {
			if strings.HasPrefix(key, prefix) {
				p.changed[key] = n.broadcastBy(by)
				t.changed = true
			}
		}
	}
	node := t.readers.Delete(key)
	if node == nil {
		return
	}
	t.items -= len(node.Value)
	for _, id := range slices.Sorted(maps.Keys(node.Value)) {
		s := n.sessions[id]
		switch {
		case s == nil, !s.tracking.on, s.tracking.broadcast, s.tracking.noLoop && s == n.running:
		case s == n.running:
			t.held = append(t.held, heldInvalidation{session: s, key: key})
		default:
			n.sendInvalidation(s, oneKey(key))
		}
	}
}

// changedBy is the client that makes the change just reported.
func (n *Node) changedBy() *session {
	if n.tracking.byServer {
		n.tracking.byServer = false
		return nil
	}
	return n.running
}

// broadcastBy is the client whose change is broadcast, which NOLOOP spares that
// client. Redis takes a script for a client of its own.
func (n *Node) broadcastBy(by *session) *session {
	if n.scripts.running != nil {
		return nil
	}
	return by
}

// invalidateAll tells all clients that track keys to forget everything.
func (n *Node) invalidateAll() {
	t := &n.tracking
	if t.flushed == n.invocations {
		return // FLUSHALL is one event for all databases
	}
	t.flushed = n.invocations
	for _, s := range n.clients() {
		switch {
		case !s.tracking.on:
		case s == n.running:
			t.held = append(t.held, heldInvalidation{session: s, all: true})
		default:
			n.sendInvalidation(s, allKeys)
		}
	}
	t.readers.Clear()
	t.items = 0
}

func oneKey(key string) func(*resp.Encoder) {
	return func(e *resp.Encoder) {
		e.Array(1)
		e.BulkString(key)
	}
}

func allKeys(e *resp.Encoder) { e.Null() }

// releaseInvalidations sends what was held back until the reply was written.
func (n *Node) releaseInvalidations() {
	for _, h := range n.tracking.held {
		if h.all {
			n.sendInvalidation(h.session, allKeys)
		} else {
			n.sendInvalidation(h.session, oneKey(h.key))
		}
	}
	clear(n.tracking.held)
	n.tracking.held = n.tracking.held[:0]
}

// sendInvalidation sends a message to a client, or to the one it redirects to.
func (n *Node) sendInvalidation(s *session, keys func(*resp.Encoder)) {
	to := s
	if id := s.tracking.redirect; id != 0 {
		if to = n.sessions[id]; to == nil {
			s.tracking.broken = true
			if s.enc.Proto() == 3 {
				n.pushTo(s, func(e *resp.Encoder) {
					e.Push(2)
					e.BulkString("tracking-redir-broken")
					e.Int(id)
				})
			}
			return
		}
	}
	switch {
	case to.enc.Proto() == 3:
		n.pushTo(to, func(e *resp.Encoder) {
			e.Push(2)
			e.BulkString("invalidate")
			keys(e)
		})
	case to != s && to.subs.any():
		n.pushTo(to, func(e *resp.Encoder) {
			e.Push(3)
			e.BulkString("message")
			e.BulkString(invalidationChannel)
			keys(e)
		})
	}
}

// broadcastInvalidations tells the clients of each prefix which keys changed,
// all that did since it was done last in one message.
func (n *Node) broadcastInvalidations() {
	n.tracking.changed = false
	for _, name := range slices.Sorted(maps.Keys(n.tracking.prefixes)) {
		p := n.tracking.prefixes[name]
		if len(p.changed) == 0 {
			continue
		}
		all := slices.Sorted(maps.Keys(p.changed))
		for _, s := range p.clients {
			keys := all
			if s.tracking.noLoop {
				keys = slices.DeleteFunc(slices.Clone(all), func(key string) bool { return p.changed[key] == s })
			}
			if len(keys) == 0 {
				continue
			}
			n.sendInvalidation(s, func(e *resp.Encoder) {
				e.Array(len(keys))
				for _, key := range keys {
					e.BulkString(key)
				}
			})
		}
		clear(p.changed)
	}
}

// limitTracking invalidates keys at random when more are remembered than
// tracking-table-max-keys allows.
func (n *Node) limitTracking() {
	most := int(n.config.Int("tracking-table-max-keys"))
	for most != 0 && n.tracking.readers.Len() > most {
		n.invalidate(n.tracking.readers.Random(n.rand).Key(), nil, false)
	}
}

// trackingSettings puts tracking-table-max-keys into effect when the command
// that changed it has been answered.
func (n *Node) trackingSettings() {
	if n.tracking.clients == 0 {
		return
	}
	n.later(func() {
		n.lock()
		n.limitTracking()
		n.unlock()
	})
}

// startTracking turns tracking on, or changes how.
func (s *session) startTracking(t clientTracking) {
	n := s.node
	if !s.tracking.on {
		n.tracking.clients++
	}
	added := t.prefixes
	t.on, t.prefixes, t.caching = true, s.tracking.prefixes, s.tracking.caching
	s.tracking = t
	if !t.broadcast {
		return
	}
	if len(added) == 0 {
		added = []string{""}
	}
	for _, prefix := range added {
		s.trackPrefix(prefix)
	}
}

func (s *session) trackPrefix(prefix string) {
	t := &s.node.tracking
	p := t.prefixes[prefix]
	if p == nil {
		if t.prefixes == nil {
			t.prefixes = map[string]*trackedPrefix{}
		}
		p = &trackedPrefix{changed: map[string]*session{}}
		t.prefixes[prefix] = p
	}
	if !slices.Contains(p.clients, s) {
		p.clients = append(p.clients, s)
		s.tracking.prefixes = append(s.tracking.prefixes, prefix)
		slices.Sort(s.tracking.prefixes)
	}
}

// stopTracking turns tracking off. Keys the client has read stay in the table
// until they change.
func (s *session) stopTracking() {
	if !s.tracking.on {
		return
	}
	t := &s.node.tracking
	t.clients--
	for _, prefix := range s.tracking.prefixes {
		p := t.prefixes[prefix]
		if p.clients = without(p.clients, s); len(p.clients) == 0 {
			delete(t.prefixes, prefix)
		}
	}
	s.tracking = clientTracking{}
}

// active reports whether a change of a key may concern anybody.
func (t *tracking) active() bool { return t.clients > 0 || t.readers.Len() > 0 }

// prefixesCollide reports whether one is a prefix of the other.
func prefixesCollide(a, b string) bool {
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
}

// collision is why the prefixes a client adds cannot be told from others. Redis
// replies so, and yet goes on, when the first of two that were added together is
// not the first of all.
func (s *session) collision(added []string) (msg string, refused bool) {
	for i, prefix := range added {
		for _, have := range s.tracking.prefixes {
			if prefixesCollide(have, prefix) {
				return "ERR Prefix '" + prefix + "' overlaps with an existing prefix '" + have + "'. Prefixes for a single client must not overlap.", true
			}
		}
		for _, other := range added[i+1:] {
			if prefixesCollide(prefix, other) {
				return "ERR Prefix '" + prefix + "' overlaps with another provided prefix '" + other + "'. Prefixes for a single client must not overlap.", i == 0
			}
		}
	}
	return "", false
}
