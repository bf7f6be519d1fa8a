package server

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/replication"
)

var syncCommands = map[string]command.Handler{"sync": syncCommand}

// syncCommand sends the client all data and from then on every effect, which is
// what a tool that records changes asks for. Nodes of the cluster replicate
// through the log of their master and without bytes; they never come here.
func syncCommand(c *command.Call) {
	s := c.Client.(*session)
	n := s.node
	switch {
	case s.stream:
		return
	case n.isReplica():
		c.Reply.Error("NOMASTERLINK Can't SYNC while not connected with my master")
		return
	}
	file := n.ks.File(n.scripts.functions.code())
	s.enc.Raw(fmt.Appendf(nil, "$%d\r\n", len(file)))
	s.enc.Raw(file)
	s.stream, s.replies = true, repliesOff
	n.streams.sessions = append(n.streams.sessions, s)
	n.streams.selected = -1
}

// streams are the clients that receive the replication stream.
type streams struct {
	sessions []*session
	selected int // database the stream is in, -1 when they must be told again
}

func (s *session) stopStream() {
	if s.stream {
		s.stream = false
		s.node.streams.sessions = without(s.node.streams.sessions, s)
	}
}

// feedStreams sends effects that belong together.
func (n *Node) feedStreams(effects []replication.Effect) {
	var b []byte
	for i, e := range effects {
		if e.DB != n.streams.selected {
			n.streams.selected = e.DB
			b = appendRequest(b, []byte("SELECT"), strconv.AppendInt(nil, int64(e.DB), 10))
		}
		if i == 0 && len(effects) > 1 {
			b = append(b, "*1\r\n$5\r\nMULTI\r\n"...)
		}
		b = appendRequest(b, e.Args...)
	}
	if len(effects) > 1 {
		b = append(b, "*1\r\n$4\r\nEXEC\r\n"...)
	}
	for _, s := range n.streams.sessions {
		s.out.append(b)
	}
	n.toFlush = append(n.toFlush, n.streams.sessions...)
}

func appendRequest(b []byte, args ...[]byte) []byte {
	b = fmt.Appendf(b, "*%d\r\n", len(args))
	for _, arg := range args {
		b = fmt.Appendf(b, "$%d\r\n", len(arg))
		b = append(append(b, arg...), "\r\n"...)
	}
	return b
}

// code is the source of every library, in the order of their names.
func (f *functions) code() [][]byte {
	var names []string
	for name := range f.libraries {
		names = append(names, name)
	}
	slices.Sort(names)
	var code [][]byte
	for _, name := range names {
		code = append(code, f.libraries[name].Code)
	}
	return code
}
