package server

import (
	"strings"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
)

// absentCommands are about what a server inside another process does not have:
// a log on disk, a master elsewhere, modules. They check their arguments as Redis does
// and answer as one that has none of that.
var absentCommands = map[string]command.Handler{
	"bgrewriteaof": func(c *command.Call) { c.Reply.Status("Background append only file rewriting started") },
	"replicaof":    replicaOf,
	"slaveof":      replicaOf,
	"replconf":     replConf,
	"failover":     failover,
	"module|list":  func(c *command.Call) { c.Reply.Array(0) },
	"module|help":  help,
}

func replicaOf(c *command.Call) {
	switch port, ok := number.ParseInt(c.Args[2]); {
	case c.ClusterEnabled:
		c.Reply.Error("ERR REPLICAOF not allowed in cluster mode.")
	case is(c.Args[1], "no") && is(c.Args[2], "one"):
		c.Client.(*session).node.elsewhere = masterElsewhere{}
		c.Reply.Status("OK")
	case !ok || port < 0 || port > 65535:
		c.Reply.Error("ERR Invalid master port")
	default:
		n := c.Client.(*session).node
		n.elsewhere = masterElsewhere{string(c.Args[1]), int(port)}
		n.effects.pending = n.effects.pending[:0] // a replica tells its own none of what a transaction did before
		c.Reply.Status("OK")
	}
}

// masterElsewhere is a master that REPLICAOF named. It is never reached: the
// server is what Redis is as long as its master does not answer, a replica
// whose link is down and that serves the data it has.
type masterElsewhere struct {
	host string
	port int
}

// replConf accepts what a replica says of itself before it asks for the data.
func replConf(c *command.Call) {
	if len(c.Args)%2 == 0 {
		c.Reply.Error(errSyntax)
		return
	}
	for i := 1; i < len(c.Args); i += 2 {
		switch strings.ToLower(string(c.Args[i])) {
		case "listening-port":
			if _, ok := number.ParseInt(c.Args[i+1]); !ok {
				c.Reply.Error(errNotInteger)
				return
			}
		case "ip-address", "capa", "ack", "getack", "rdb-only", "rdb-filter-only":
		default:
			c.Reply.Error("ERR Unrecognized REPLCONF option: " + untilNUL(c.Args[i]))
			return
		}
	}
	c.Reply.Status("OK")
}

func failover(c *command.Call) {
	msg := failoverRefusal(c)
	if msg == "" {
		msg = "ERR FAILOVER requires connected replicas."
	}
	c.Reply.Error(msg)
}

// failoverRefusal is what is wrong with a FAILOVER before it looks at replicas.
func failoverRefusal(c *command.Call) string {
	if c.ClusterEnabled {
		return "ERR FAILOVER not allowed in cluster mode. Use CLUSTER FAILOVER command instead."
	}
	args := c.Args[1:]
	for len(args) > 0 {
		switch {
		case is(args[0], "timeout") && len(args) > 1:
			ms, ok := number.ParseInt(args[1])
			switch {
			case !ok:
				return errNotInteger
			case ms <= 0:
				return "ERR FAILOVER timeout must be greater than 0"
			}
			args = args[2:]
		case is(args[0], "abort") && len(c.Args) == 2:
			return "ERR No failover in progress."
		case is(args[0], "to") && len(args) > 2:
			if _, ok := number.ParseInt(args[2]); !ok {
				return errNotInteger
			}
			args = args[3:]
		case is(args[0], "force"):
			args = args[1:]
		default:
			return errSyntax
		}
	}
	return ""
}

// absent answers for commands this server knows but, like a Redis that has
// them switched off, does not have.
func absent(spec *command.Spec) string {
	return "ERR " + strings.ToUpper(strings.ReplaceAll(spec.Name, "|", " ")) +
		" is not available: this server keeps nothing on disk, loads no modules and follows no master elsewhere"
}
