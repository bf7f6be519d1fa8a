package server

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
)

// Client types, by the names CLIENT LIST TYPE and CLIENT KILL TYPE take.
const (
	typeNormal  = "normal"
	typePubSub  = "pubsub"
	typeMaster  = "master"
	typeReplica = "replica"
)

func parseClientType(arg []byte) (string, bool) {
	switch name := strings.ToLower(string(arg)); name {
	case typeNormal, typePubSub, typeMaster, typeReplica:
		return name, true
	case "slave":
		return typeReplica, true
	}
	return "", false
}

func (s *session) clientType() string {
	switch {
	case s.monitor:
		return typeReplica // so Redis has it
	case s.subs.any():
		return typePubSub
	}
	return typeNormal
}

// clients are the sessions in the order they came.
func (n *Node) clients() []*session {
	list := make([]*session, 0, len(n.sessions))
	for _, id := range slices.Sorted(maps.Keys(n.sessions)) {
		list = append(list, n.sessions[id])
	}
	return list
}

func clientList(c *command.Call) {
	n := c.Client.(*session).node
	shown := n.clients()
	switch {
	case len(c.Args) == 4 && is(c.Args[2], "type"):
		kind, ok := parseClientType(c.Args[3])
		if !ok {
			c.Reply.Error("ERR Unknown client type '" + untilNUL(c.Args[3]) + "'")
			return
		}
		shown = slices.DeleteFunc(shown, func(s *session) bool { return s.clientType() != kind })
	case len(c.Args) > 3 && is(c.Args[2], "id"):
		shown = nil
		for _, arg := range c.Args[3:] {
			id, ok := number.ParseInt(arg)
			if !ok {
				c.Reply.Error("ERR Invalid client ID")
				return
			}
			if s := n.sessions[id]; s != nil {
				shown = append(shown, s)
			}
		}
	case len(c.Args) != 2:
		c.Reply.Error(errSyntax)
		return
	}
	var lines strings.Builder
	for _, s := range shown {
		lines.WriteString(s.describe())
		lines.WriteByte('\n')
	}
	c.Reply.Verbatim("txt", lines.String())
}

func clientInfo(c *command.Call) {
	c.Reply.Verbatim("txt", c.Client.(*session).describe()+"\n")
}

// describe is the session's line in CLIENT LIST.
func (s *session) describe() string {
	n := s.node
	var b strings.Builder
	multi := -1
	if s.tx.open {
		multi = len(s.tx.queued)
	}
	fmt.Fprintf(&b, "id=%d addr=%s laddr=%s fd=%d name=%s age=%d idle=%d flags=%s db=%d sub=%d psub=%d",
		s.id, s.addr, s.localAddr, s.id+7, s.name, int(n.now.Sub(s.created).Seconds()),
		int(n.now.Sub(s.lastUse).Seconds()), s.flags(), s.db, len(s.subs.channels), len(s.subs.patterns))
	if n.version.AtLeast(7, 0) {
		fmt.Fprintf(&b, " ssub=%d", len(s.subs.shards))
	}
	waiting := s.out.waiting()
	fmt.Fprintf(&b, " multi=%d", multi)
	if n.version.AtLeast(7, 4) {
		fmt.Fprintf(&b, " watch=%d", len(s.tx.watched))
	}
	qbuf, qbufFree, argvMem := s.inputMemory()
	fmt.Fprintf(&b, " qbuf=%d qbuf-free=%d argv-mem=%d", qbuf, qbufFree, argvMem)
	if n.version.AtLeast(7, 0) {
		fmt.Fprintf(&b, " multi-mem=%d rbs=%d rbp=%d", s.tx.memory(), replyBuffer, min(waiting, replyBuffer))
	}
	fmt.Fprintf(&b, " obl=%d oll=%d omem=%d tot-mem=%d events=r cmd=%s user=%s redir=%d resp=%d",
		min(waiting, replyBuffer), 0, max(0, waiting-replyBuffer), qbuf+qbufFree+waiting+replyBuffer,
		s.lastName(), s.userName(), s.tracking.redirection(), s.enc.Proto())
	if n.version.AtLeast(7, 2) {
		fmt.Fprintf(&b, " lib-name=%s lib-ver=%s", s.libName, s.libVersion)
	}
	return b.String()
}

// queryBuffer is the size of the buffer Redis reads into, which it frees when a
// client is idle; in bytes.
const (
	queryBuffer     = 20474
	queryBufferIdle = 2 * time.Second
)

// inputMemory is the size of what the client has sent and of the buffer's rest,
// and of the arguments of the command that is running.
func (s *session) inputMemory() (qbuf, free, args int) {
	qbuf = s.qbuf
	if s == s.node.running && s.parser != nil {
		qbuf = s.parser.Held()
		for _, arg := range s.call.Args {
			args += len(arg)
		}
	} else if qbuf == 0 && s.node.now.Sub(s.lastUse) > queryBufferIdle {
		return 0, 0, 0
	}
	return qbuf, max(queryBuffer-qbuf, 0), args
}

// replyBuffer is the size of the first buffer Redis puts replies in, in bytes.
const replyBuffer = 16384

func (s *session) lastName() string {
	switch {
	case s.last == nil:
		return "NULL"
	case !s.node.version.AtLeast(7, 0):
		name, _, _ := strings.Cut(s.last.Name, "|")
		return name
	}
	return s.last.Name
}

// flags are the letters of the flags field.
func (s *session) flags() string {
	var b strings.Builder
	for _, f := range []struct {
		set    bool
		letter byte
	}{
		{s.monitor, 'O'},
		{s.subs.any(), 'P'},
		{s.tx.open, 'x'},
		{s.waiting != nil, 'b'},
		{s.tracking.on, 't'},
		{s.tracking.broken, 'R'},
		{s.tracking.broadcast, 'B'},
		{s.tx.stale, 'd'},
		{s.closing, 'c'},
		{s.readOnly, 'r'},
		{s.noEvict, 'e'},
		{s.noTouch, 'T'},
	} {
		if f.set {
			b.WriteByte(f.letter)
		}
	}
	if b.Len() == 0 {
		return "N"
	}
	return b.String()
}

// memory is the size of the queued commands in bytes.
func (t *transaction) memory() int {
	bytes := 0
	for _, q := range t.queued {
		for _, arg := range q.args {
			bytes += len(arg)
		}
	}
	return bytes
}

// is reports whether arg is word, in any case.
func is(arg []byte, word string) bool {
	return len(arg) == len(word) && strings.EqualFold(string(arg), word)
}
