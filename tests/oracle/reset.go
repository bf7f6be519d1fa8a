package oracle

import (
	"fmt"
	"strconv"
	"time"
)

// resetParameters are the CONFIG parameters that steps change.
var resetParameters = []string{
	"hash-max-listpack-entries", "hash-max-listpack-value", "list-max-listpack-size", "list-compress-depth",
	"set-max-intset-entries", "zset-max-listpack-entries", "zset-max-listpack-value",
	"stream-node-max-bytes", "stream-node-max-entries", "hll-sparse-max-bytes",
	"notify-keyspace-events", "maxmemory", "maxmemory-policy", "maxmemory-samples", "requirepass", "timeout",
	"slowlog-log-slower-than", "slowlog-max-len", "latency-monitor-threshold", "lua-time-limit",
	"proto-max-bulk-len", "client-query-buffer-limit", "lfu-log-factor", "lfu-decay-time",
	"cluster-allow-reads-when-down", "cluster-allow-pubsubshard-when-down", "cluster-require-full-coverage",
	"tracking-table-max-keys", "acllog-max-len", "lazyfree-lazy-user-del", "lazyfree-lazy-user-flush",
	"activedefrag", "hz", "maxclients", "maxmemory-clients", "busy-reply-threshold", "acl-pubsub-default",
}

func (x *Runner) readDefaults() error {
	for _, name := range resetParameters {
		reply := x.a.control[0].ask("CONFIG", "GET", name)
		if len(reply.Items) != 2 {
			return fmt.Errorf("CONFIG GET %s answers %s", name, reply)
		}
		x.defaults = append(x.defaults, name, reply.Items[1].Text)
	}
	return nil
}

// Reset brings both sides back to an empty state: no connections of ours, no
// keys, scripts, functions or users, slots stable, parameters as at start.
func (x *Runner) Reset() error {
	x.dropPairs()
	x.pairs = map[pairKey]*pair{}
	x.batch = x.batch[:0]
	x.stepwise = false
	for _, s := range []*side{x.a, x.b} {
		for node, c := range s.control {
			if c.closed { // a step may have killed it
				fresh, err := s.open(node)
				if err != nil {
					return err
				}
				s.control[node], c = fresh, fresh
			}
			x.resetNode(c)
			if c.closed {
				return fmt.Errorf("%s closes the connection during the reset of node %d", s.Name, node)
			}
		}
	}
	return x.waitClients()
}

// resetNode sends what cleans a node. The answers do not matter: a target that
// lacks a command fails where a step uses it.
func (x *Runner) resetNode(c *client) {
	users := append([]string{"ACL", "DELUSER", "nobody"}, without(c.ask("ACL", "USERS").texts(), []string{"default"})...)
	commands := [][]string{
		users, {"CLIENT", "UNPAUSE"}, {"FLUSHALL"}, {"SCRIPT", "FLUSH"}, {"FUNCTION", "FLUSH"},
		append([]string{"CONFIG", "SET"}, x.defaults...),
		{"CONFIG", "RESETSTAT"}, {"SLOWLOG", "RESET"}, {"ACL", "LOG", "RESET"},
		{"ACL", "SETUSER", "default", "reset", "on", "nopass", "~*", "&*", "+@all"},
		// Lazy expiry alone is the same on both sides; the cycle's moment is not.
		{"DEBUG", "SET-ACTIVE-EXPIRE", "0"},
	}
	if x.cluster {
		for _, slot := range movableSlots {
			commands = append(commands, []string{"CLUSTER", "SETSLOT", strconv.Itoa(slot), "STABLE"})
		}
	}
	for _, command := range commands {
		c.queue(command)
	}
	c.flush()
	for range commands {
		c.read()
	}
}

// movableSlots are the slots whose migration steps may announce: those of the
// hash tags in clusterTags.
var movableSlots = func() (found []int) {
	for _, tag := range clusterTags {
		found = append(found, slotOf(tag))
	}
	return found
}()

// waitClients waits until both sides have noticed that connections of ours are
// closed: their subscriptions, watches and blocks end with that.
func (x *Runner) waitClients() error {
	deadline := time.Now().Add(replyDeadline)
	for _, s := range []*side{x.a, x.b} {
		for node, ids := range s.leaving {
			if len(ids) == 0 {
				continue
			}
			question := append([]string{"CLIENT", "LIST", "ID"}, ids...)
			for {
				left := s.control[node].ask(question...).Text
				if left == "" {
					break
				}
				if time.Now().After(deadline) {
					return fmt.Errorf("%s: node %d still has clients that closed their connections long ago:\n%s", s.Name, node, left)
				}
				time.Sleep(shortWait)
			}
			s.leaving[node] = s.leaving[node][:0]
		}
	}
	return nil
}
