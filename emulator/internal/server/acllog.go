package server

import (
	"slices"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/acl"
	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
	"github.com/fakecluster/fakecluster/emulator/internal/resp"
)

// aclLog is what ACL LOG prints: commands and log-ins that were denied, the
// latest first.
type aclLog struct {
	entries []*aclLogEntry
	nextID  int64
	// denials counts by reason, for INFO.
	denials [5]int64
}

type aclLogEntry struct {
	id       int64
	count    int64
	reason   acl.Denial
	context  string
	object   string
	username string
	created  time.Time
	updated  time.Time
	client   string
}

// aclLogGrouping is how long an entry counts repetitions of itself.
const aclLogGrouping = time.Minute

// denied logs a command that may not be run, or an argument it may not have.
func (l *aclLog) denied(n *Node, s *session, c *command.Call, reason acl.Denial, context string, pos int) {
	object := c.Spec.Name
	if reason != acl.DeniedCommand {
		object = string(c.Args[pos])
	}
	l.add(n, s, aclLogEntry{reason: reason, context: context, object: object, username: s.user.Name})
}

// failedLogIn logs a wrong password.
func (l *aclLog) failedLogIn(n *Node, s *session, c *command.Call, context, user string) {
	l.add(n, s, aclLogEntry{reason: acl.DeniedAuth, context: context, object: string(c.Args[0]), username: user})
}

func (l *aclLog) add(n *Node, s *session, e aclLogEntry) {
	l.denials[e.reason]++
	most := int(n.config.Int("acllog-max-len"))
	if most == 0 {
		l.entries = nil
		return
	}
	e.count, e.created, e.updated, e.client = 1, n.now, n.now, s.describe()
	const recent = 10 // entries compared
	for i, old := range l.entries[:min(recent, len(l.entries))] {
		if old.repeats(&e) {
			old.count++
			old.updated, old.client = e.updated, e.client
			l.entries = slices.Insert(slices.Delete(l.entries, i, i+1), 0, old)
			return
		}
	}
	e.id = l.nextID
	l.nextID++
	l.entries = slices.Insert(l.entries, 0, &e)
	if len(l.entries) > most {
		l.entries = l.entries[:most]
	}
}

func (e *aclLogEntry) repeats(other *aclLogEntry) bool {
	return e.reason == other.reason && e.context == other.context && e.object == other.object &&
		e.username == other.username && other.updated.Sub(e.updated) <= aclLogGrouping
}

func aclLogCommand(c *command.Call) {
	n := c.Client.(*session).node
	count := 10
	switch {
	case len(c.Args) > 3:
		aclMisuse(c)
		return
	case len(c.Args) == 3 && is(c.Args[2], "reset"):
		n.aclLog.entries = nil
		c.Reply.Status("OK")
		return
	case len(c.Args) == 3:
		asked, ok := number.ParseInt(c.Args[2])
		if !ok {
			c.Reply.Error(errNotInteger)
			return
		}
		count = int(min(max(asked, 0), int64(len(n.aclLog.entries))))
	}
	shown := n.aclLog.entries[:min(count, len(n.aclLog.entries))]
	c.Reply.Array(len(shown))
	for _, e := range shown {
		e.write(n, c.Reply)
	}
}

func (e *aclLogEntry) write(n *Node, reply resp.Sink) {
	withIDs := n.version.AtLeast(7, 2)
	reply.Map(7 + 3*boolInt(withIDs))
	reply.BulkString("count")
	reply.Int(e.count)
	for _, pair := range [][2]string{
		{"reason", e.reason.String()}, {"context", e.context}, {"object", e.object}, {"username", e.username},
	} {
		reply.BulkString(pair[0])
		reply.BulkString(pair[1])
	}
	reply.BulkString("age-seconds")
	reply.Double(float64(n.now.Sub(e.updated).Milliseconds()) / 1000)
	reply.BulkString("client-info")
	reply.BulkString(e.client)
	if !withIDs {
		return
	}
	reply.BulkString("entry-id")
	reply.Int(e.id)
	reply.BulkString("timestamp-created")
	reply.Int(e.created.UnixMilli())
	reply.BulkString("timestamp-last-updated")
	reply.Int(e.updated.UnixMilli())
}
