package server

import (
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/acl"
	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
	"github.com/fakecluster/fakecluster/emulator/internal/resp"
)

var clientCommands = map[string]command.Handler{
	"client|id":       func(c *command.Call) { c.Reply.Int(c.Client.(*session).id) },
	"client|getname":  clientGetName,
	"client|setname":  clientSetName,
	"client|setinfo":  clientSetInfo,
	"client|list":     clientList,
	"client|info":     clientInfo,
	"client|kill":     clientKill,
	"client|pause":    clientPause,
	"client|unpause":  clientUnpause,
	"client|unblock":  clientUnblock,
	"client|reply":    clientReply,
	"client|no-evict": clientNoEvict,
	"client|no-touch": clientNoTouch,
	"client|help":     help,
}

func clientGetName(c *command.Call) {
	if name := c.Client.(*session).name; name != "" {
		c.Reply.BulkString(name)
	} else {
		c.Reply.Null()
	}
}

func clientSetName(c *command.Call) {
	if !validName(c.Args[2]) {
		c.Reply.Error(errClientName)
		return
	}
	c.Client.(*session).name = string(c.Args[2])
	c.Reply.Status("OK")
}

func clientSetInfo(c *command.Call) {
	s := c.Client.(*session)
	var field *string
	switch {
	case is(c.Args[2], "lib-name"):
		field = &s.libName
	case is(c.Args[2], "lib-ver"):
		field = &s.libVersion
	default:
		c.Reply.Error("ERR Unrecognized option '" + untilNUL(c.Args[2]) + "'")
		return
	}
	if !validName(c.Args[3]) {
		c.Reply.Error("ERR " + untilNUL(c.Args[2]) + " cannot contain spaces, newlines or special characters.")
		return
	}
	*field = string(c.Args[3])
	c.Reply.Status("OK")
}

// onOff reads the argument of a subcommand that switches something.
func onOff(c *command.Call) (on, ok bool) {
	switch {
	case is(c.Args[2], "on"):
		on, ok = true, true
	case is(c.Args[2], "off"):
		ok = true
	default:
		c.Reply.Error(errSyntax)
	}
	return on, ok
}

func clientNoEvict(c *command.Call) {
	if on, ok := onOff(c); ok {
		c.Client.(*session).noEvict = on
		c.Reply.Status("OK")
	}
}

func clientNoTouch(c *command.Call) {
	if on, ok := onOff(c); ok {
		c.Client.(*session).noTouch = on
		c.Reply.Status("OK")
	}
}

func clientReply(c *command.Call) {
	s := c.Client.(*session)
	switch {
	case is(c.Args[2], "on"):
		s.replies, s.skipNext = repliesOn, false
		s.sink().Status("OK")
	case is(c.Args[2], "off"):
		s.replies = repliesOff
	case is(c.Args[2], "skip"):
		if s.replies != repliesOff {
			s.skipNext = true
		}
	default:
		c.Reply.Error(errSyntax)
	}
}

// killFilter is what CLIENT KILL asks for; empty fields match all.
type killFilter struct {
	id                int64
	maxAge            int64 // seconds
	kind              string
	user              *acl.User
	addr, localAddr   string
	skipSelf, oldForm bool
}

func (f *killFilter) matches(s, self *session) bool {
	switch {
	case f.id != 0 && s.id != f.id,
		f.maxAge != 0 && int64(s.node.now.Sub(s.created)/time.Second) < f.maxAge,
		f.kind != "" && s.clientType() != f.kind,
		f.user != nil && s.user != f.user,
		f.addr != "" && s.addr != f.addr,
		f.localAddr != "" && s.localAddr != f.localAddr,
		f.skipSelf && s == self:
		return false
	}
	return true
}

func parseKill(c *command.Call) (f killFilter, err string) {
	if len(c.Args) == 3 {
		return killFilter{addr: string(c.Args[2]), oldForm: true}, ""
	}
	f.skipSelf = true
	for i := 2; i < len(c.Args); i += 2 {
		if i+1 == len(c.Args) {
			return f, errSyntax
		}
		if err := f.add(c, c.Args[i], c.Args[i+1]); err != "" {
			return f, err
		}
	}
	return f, ""
}

func (f *killFilter) add(c *command.Call, option, value []byte) string {
	switch {
	case is(option, "id"):
		id, ok := number.ParseInt(value)
		if !ok || id < 1 {
			return "ERR client-id should be greater than 0"
		}
		f.id = id
	case is(option, "maxage") && c.Version().AtLeast(7, 4):
		age, ok := number.ParseInt(value)
		if !ok {
			return "ERR maxage is not an integer or out of range"
		}
		if age < 1 {
			return "ERR maxage should be greater than 0"
		}
		f.maxAge = age
	case is(option, "type"):
		kind, ok := parseClientType(value)
		if !ok {
			return "ERR Unknown client type '" + string(value) + "'"
		}
		f.kind = kind
	case is(option, "addr"):
		f.addr = string(value)
	case is(option, "laddr"):
		f.localAddr = string(value)
	case is(option, "user"):
		if f.user = c.Client.(*session).node.users.Get(string(value)); f.user == nil {
			return "ERR No such user '" + string(value) + "'"
		}
	case is(option, "skipme") && is(value, "yes"):
		f.skipSelf = true
	case is(option, "skipme") && is(value, "no"):
		f.skipSelf = false
	default:
		return errSyntax
	}
	return ""
}

func clientKill(c *command.Call) {
	self := c.Client.(*session)
	f, msg := parseKill(c)
	if msg != "" {
		c.Reply.Error(msg)
		return
	}
	killed := 0
	for _, s := range self.node.clients() {
		if f.matches(s, self) {
			s.kill()
			killed++
		}
	}
	switch {
	case !f.oldForm:
		c.Reply.Int(int64(killed))
	case killed == 0:
		c.Reply.Error("ERR No such client")
	default:
		c.Reply.Status("OK")
	}
}

// kill ends a session: the running one after its reply, another at once.
func (s *session) kill() {
	if s == s.node.running {
		s.closing = true
		return
	}
	s.disconnect()
}

func clientUnblock(c *command.Call) {
	n := c.Client.(*session).node
	if len(c.Args) > 4 {
		badSubcommand(c)
		return
	}
	withError := false
	if len(c.Args) == 4 {
		switch {
		case is(c.Args[3], "timeout"):
		case is(c.Args[3], "error"):
			withError = true
		default:
			c.Reply.Error("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR")
			return
		}
	}
	id, ok := number.ParseInt(c.Args[2])
	if !ok {
		c.Reply.Error(errNotInteger)
		return
	}
	s := n.sessions[id]
	if s == nil || s.waiting == nil || s.waiting.again {
		c.Reply.Int(0)
		return
	}
	wt := s.waiting
	if withError {
		n.unblock(wt, "UNBLOCKED client unblocked via CLIENT UNBLOCK")
		n.stats.perCommand[c.Spec.ID].failed++ // Redis takes any error sent while a command runs for its own
	} else {
		n.timeOut(wt)
		if !n.version.AtLeast(7, 2) {
			n.countUnblocked(wt)
			n.stats.perCommand[wt.spec.ID].failed++
		}
	}
	c.Reply.Int(1)
}

// pause is what CLIENT PAUSE ordered.
type pause struct {
	until     time.Time
	writeOnly bool
}

func (p *pause) active(now time.Time) bool { return now.Before(p.until) }

// paused reports whether a pause puts a command off.
func (n *Node) paused(s *session, c *command.Call) bool {
	return n.pause.holds(n.now, s, c) || n.failoverPause.holds(n.now, s, c)
}

func (p *pause) holds(now time.Time, s *session, c *command.Call) bool {
	if !p.active(now) || c.FromMaster {
		return false
	}
	if !p.writeOnly {
		return true
	}
	spec := c.Spec
	return spec.Has(command.Write) || spec.Has(command.MayReplicate) || spec.Name == "exec" && s.tx.mayReplicate()
}

func (t *transaction) mayReplicate() bool {
	for _, q := range t.queued {
		if q.spec.Has(command.Write) || q.spec.Has(command.MayReplicate) {
			return true
		}
	}
	return false
}

func clientPause(c *command.Call) {
	n := c.Client.(*session).node
	if len(c.Args) > 4 {
		badSubcommand(c)
		return
	}
	writeOnly := false
	if len(c.Args) == 4 {
		switch {
		case is(c.Args[3], "write"):
			writeOnly = true
		case !is(c.Args[3], "all"):
			c.Reply.Error("ERR CLIENT PAUSE mode must be WRITE or ALL")
			return
		}
	}
	timeout, msg := parseTimeoutMs(c.Args[2])
	if msg != "" {
		c.Reply.Error(msg)
		return
	}
	until := n.now.Add(timeout)
	if n.pause.active(n.now) {
		// A second pause never shortens or weakens the first.
		writeOnly = writeOnly && n.pause.writeOnly
		if until.Before(n.pause.until) {
			until = n.pause.until
		}
	}
	n.pause = pause{until, writeOnly}
	c.Reply.Status("OK")
}

func clientUnpause(c *command.Call) {
	n := c.Client.(*session).node
	n.pause = pause{}
	c.Reply.Status("OK")
}

// postpone makes the client try its command again when the pause is over.
func (s *session) postpone(c *command.Call) {
	n := s.node
	until := n.pause.until
	if n.failoverPause.until.After(until) {
		until = n.failoverPause.until
	}
	ended := func() bool {
		now := n.clock.Now()
		return !n.pause.active(now) && !n.failoverPause.active(now)
	}
	s.parkFor(c, until.Sub(n.now), ended, func(resp.Sink) {})
	s.waiting.again = true
}

// parseTimeoutMs reads a timeout in milliseconds.
func parseTimeoutMs(arg []byte) (time.Duration, string) {
	ms, ok := number.ParseInt(arg)
	switch {
	case !ok:
		return 0, "ERR timeout is not an integer or out of range"
	case ms < 0:
		return 0, "ERR timeout is negative"
	}
	const longest = int64(1<<63-1) / int64(time.Millisecond)
	return time.Duration(min(ms, longest)) * time.Millisecond, ""
}
