package server

import (
	"fmt"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
)

var monitorCommands = map[string]command.Handler{"monitor": monitor}

func monitor(c *command.Call) {
	s := c.Client.(*session)
	switch {
	case c.DenyBlocking:
		c.Reply.Error("ERR MONITOR isn't allowed for DENY BLOCKING client")
	case s.monitor:
	default:
		s.monitor = true
		s.node.monitors = append(s.node.monitors, s)
		c.Reply.Status("OK")
	}
}

func (s *session) stopMonitoring() {
	if s.monitor {
		s.monitor = false
		s.node.monitors = without(s.node.monitors, s)
	}
}

// runsScript reports whether a command is shown before what it runs, of which
// there may be much.
func runsScript(spec *command.Spec) bool {
	switch spec.Name {
	case "eval", "eval_ro", "evalsha", "evalsha_ro", "fcall", "fcall_ro":
		return true
	}
	return false
}

// showMonitors shows a command that has run.
func (n *Node) showMonitors(c *command.Call) {
	if !c.Spec.Has(command.SkipMonitor) && !c.Spec.Has(command.Admin) {
		n.feedMonitors(c)
	}
}

// feedMonitors writes the command's line to all clients that said MONITOR. What
// Execute was asked is no client's command.
func (n *Node) feedMonitors(c *command.Call) {
	if c.Client.(*session).direct {
		return
	}
	now := n.clock.Now()
	from := c.Client.(*session).addr
	if c.FromScript {
		from = "lua"
	}
	line := fmt.Appendf(nil, "+%d.%06d [%d %s]", now.Unix(), now.Nanosecond()/1000, c.DB.ID(), from)
	for _, arg := range c.Shown() {
		line = append(line, ' ')
		line = appendQuoted(line, arg)
	}
	line = append(line, "\r\n"...)
	for _, m := range n.monitors {
		if m == n.running {
			m.enc.Raw(line)
			continue
		}
		m.out.append(line)
		n.toFlush = append(n.toFlush, m)
	}
}

// appendQuoted appends b as redis-cli would let a user type it.
func appendQuoted(line, b []byte) []byte {
	line = append(line, '"')
	for _, c := range b {
		switch {
		case c == '\\' || c == '"':
			line = append(line, '\\', c)
		case c == '\n':
			line = append(line, `\n`...)
		case c == '\r':
			line = append(line, `\r`...)
		case c == '\t':
			line = append(line, `\t`...)
		case c == '\a':
			line = append(line, `\a`...)
		case c == '\b':
			line = append(line, `\b`...)
		case c < ' ' || c > '~':
			line = fmt.Appendf(line, `\x%02x`, c)
		default:
			line = append(line, c)
		}
	}
	return append(line, '"')
}
