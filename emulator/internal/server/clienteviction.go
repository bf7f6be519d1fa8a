package server

import "github.com/fakecluster/fakecluster/emulator/internal/command"

// leastClientLimit keeps maxmemory-clients from being so small that nobody could
// talk to the server any more; in bytes.
const leastClientLimit = 128 << 10

// clientLimit is how much all clients together may take in bytes, 0 for any
// amount.
func (n *Node) clientLimit() int64 {
	if !n.version.AtLeast(7, 0) {
		return 0
	}
	limit := n.config.Int("maxmemory-clients")
	if limit < 0 { // percent
		limit = -limit * n.config.Int("maxmemory") / 100
	}
	if limit == 0 {
		return 0
	}
	return max(limit, leastClientLimit)
}

// evictClients ends those clients that take most memory until all are within
// maxmemory-clients, of equals the oldest first. Clients with NO-EVICT count, but
// stay. args is the size of what the running client asks for, if that is still to
// be done.
func (n *Node) evictClients(args int) {
	size := func(s *session) int64 {
		if s == n.running {
			return s.memory() + int64(args)
		}
		return s.memory()
	}
	var used int64
	for _, s := range n.sessions {
		if s.clientType() != typeReplica {
			used += size(s)
		}
	}
	for used > n.set.clientLimit {
		var largest *session
		for _, s := range n.clients() {
			evictable := !s.noEvict && !s.closing && s.clientType() != typeReplica
			if evictable && (largest == nil || size(s) > size(largest)) {
				largest = s
			}
		}
		if largest == nil {
			return
		}
		used -= size(largest)
		n.stats.evictedClients++
		largest.kill()
	}
}

// evicted makes room for the running client's command, and reports whether the
// client itself had to go.
func (s *session) evicted(c *command.Call) bool {
	args := 0
	for _, arg := range c.Args {
		args += len(arg)
	}
	s.node.evictClients(args)
	return s.closing
}

// memory is about what the client takes between commands, in bytes: the buffers
// of both directions, its transaction, and the names it has subscribed to or
// tracks.
func (s *session) memory() int64 {
	const perName = 80
	bytes := max(s.qbuf, queryBuffer) + replyBuffer + s.out.waiting() + s.tx.memory()
	for _, names := range [][]string{s.subs.channels, s.subs.patterns, s.subs.shards, s.tracking.prefixes} {
		for _, name := range names {
			bytes += perName + len(name)
		}
	}
	return int64(bytes)
}
