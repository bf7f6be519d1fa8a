package server

import (
	"fmt"
	"strings"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
)

// serverCommands concern the node as a whole.
var serverCommands = map[string]command.Handler{
	"info":             info,
	"time":             timeCommand,
	"lolwut":           lolwut,
	"shutdown":         shutdown,
	"wait":             wait,
	"waitaof":          waitAOF,
	"role":             role,
	"config|get":       configGet,
	"config|set":       configSet,
	"config|resetstat": configResetStat,
	"config|rewrite":   configRewrite,
	"config|help":      help,
	"memory|usage":     memoryUsage,
	"memory|doctor":    memoryDoctor,
	"memory|purge":     func(c *command.Call) { c.Reply.Status("OK") },
	"memory|help":      help,
}

func timeCommand(c *command.Call) {
	now := c.Client.(*session).node.now
	c.Reply.Array(2)
	c.Reply.BulkString(fmt.Sprint(now.Unix()))
	c.Reply.BulkString(fmt.Sprint(now.Nanosecond() / 1000))
}

// shutdown asks whoever started the node to end it; the client sees its
// connection close, as with Redis, and gets no reply.
func shutdown(c *command.Call) {
	s := c.Client.(*session)
	abort, save := false, ""
	for i, arg := range c.Args[1:] {
		switch word := strings.ToLower(string(arg)); {
		case (word == "nosave" || word == "save") && (save == "" || save == word):
			save = word
		case (word == "now" || word == "force") && c.Version().AtLeast(7, 0):
		case word == "abort" && c.Version().AtLeast(7, 0) && i == 0 && len(c.Args) == 2:
			abort = true
		default:
			c.Reply.Error(errSyntax)
			return
		}
	}
	switch {
	case abort:
		c.Reply.Error("ERR No shutdown in progress.")
	case s.node.scripts.slow && save != "nosave":
		c.Reply.Error(s.node.scripts.running.busyError())
	case s.node.onShutdown == nil:
		c.Reply.Error("ERR Errors trying to SHUTDOWN. Check logs.")
	case save == "save" && s.node.save() != nil:
		c.Reply.Error("ERR Errors trying to SHUTDOWN. Check logs.")
	default:
		s.closing = true
		go s.node.onShutdown()
	}
}

func configGet(c *command.Call) {
	n := c.Client.(*session).node
	globs := make([]string, 0, len(c.Args)-2)
	for _, arg := range c.Args[2:] {
		globs = append(globs, string(arg))
	}
	found := n.config.Get(globs...)
	c.Reply.Map(len(found))
	for _, p := range found {
		c.Reply.BulkString(p.Name)
		c.Reply.BulkString(p.Value)
	}
}

func configSet(c *command.Call) {
	n := c.Client.(*session).node
	redactParameters(c)
	pairs := make([]string, 0, len(c.Args)-2)
	for _, arg := range c.Args[2:] {
		pairs = append(pairs, string(arg))
	}
	if err := n.config.Set(pairs...); err != nil {
		c.Reply.Error(err.Error())
		return
	}
	n.applyConfig()
	if n.topo != nil {
		n.unsettled() // its address may be another
	}
	c.Reply.Status("OK")
}

// redactParameters hides the values of parameters that are secrets.
func redactParameters(c *command.Call) {
	for i := 2; i+1 < len(c.Args); i += 2 {
		switch strings.ToLower(string(c.Args[i])) {
		case "requirepass", "masterauth", "masteruser", "tls-key-file-pass", "tls-client-key-file-pass":
			c.Redact(i + 1)
		}
	}
}

func configResetStat(c *command.Call) {
	n := c.Client.(*session).node
	n.stats.reset()
	n.ks.Stats = keyspace.Stats{}
	c.Reply.Status("OK")
}

func configRewrite(c *command.Call) {
	c.Reply.Error("ERR The server is running without a config file")
}

func memoryDoctor(c *command.Call) {
	c.Reply.Verbatim("txt", "Hi Sam, this instance is empty or is using very little memory, my issues detector can't be used in these conditions. Please, leave for your mission on Earth and fill it with some data. The new Sam and I will be back to our programming as soon as I finished rebooting.\n")
}

func memoryUsage(c *command.Call) {
	for i := 3; i < len(c.Args); i += 2 {
		if !is(c.Args[i], "samples") || i+1 == len(c.Args) {
			c.Reply.Error(errSyntax)
			return
		}
		samples, ok := number.ParseInt(c.Args[i+1])
		if !ok {
			c.Reply.Error(errNotInteger)
			return
		}
		if samples < 0 {
			c.Reply.Error(errSyntax)
			return
		}
	}
	value := c.DB.Peek(c.Args[2])
	if value == nil {
		c.Reply.Null()
		return
	}
	c.Reply.Int(keyspace.EntryOverhead + int64(len(c.Args[2])) + value.Memory())
}

// parseWait reads the arguments of WAIT.
func parseWait(c *command.Call) (replicas int64, timeout time.Duration, ok bool) {
	replicas, ok = number.ParseInt(c.Args[1])
	if !ok {
		c.Reply.Error(errNotInteger)
		return 0, 0, false
	}
	timeout, msg := parseTimeoutMs(c.Args[2])
	if msg != "" {
		c.Reply.Error(msg)
		return 0, 0, false
	}
	return replicas, timeout, true
}
