package server

import (
	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
	"github.com/fakecluster/fakecluster/emulator/internal/resp"
)

// waitAOF waits for what never comes: neither this server nor its replicas
// write a file, so only whoever asks for nothing is answered at once.
func waitAOF(c *command.Call) {
	s := c.Client.(*session)
	local, ok := number.ParseInt(c.Args[1])
	if !ok {
		c.Reply.Error(errNotInteger)
		return
	}
	if local < 0 || local > 1 {
		c.Reply.Error("ERR value is out of range, must be between 0 and 1")
		return
	}
	replicas, ok := number.ParseInt(c.Args[2])
	if !ok || replicas < 0 {
		c.Reply.Error("ERR value is out of range, must be positive")
		return
	}
	timeout, msg := parseTimeoutMs(c.Args[3])
	switch {
	case msg != "":
		c.Reply.Error(msg)
		return
	case s.node.isReplica():
		c.Reply.Error("ERR WAITAOF cannot be used with replica instances. Please also note that writes to replicas are just local and are not propagated.")
		return
	case local > 0:
		c.Reply.Error("ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.")
		return
	}
	none := func(reply resp.Sink) {
		reply.Array(2)
		reply.Int(0)
		reply.Int(0)
	}
	if replicas == 0 || c.DenyBlocking {
		none(c.Reply)
		return
	}
	s.parkFor(c, timeout, func() bool { return false }, none)
}
