package server

import (
	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
)

var trackingCommands = map[string]command.Handler{
	"client|tracking":     clientTrackingCommand,
	"client|caching":      clientCaching,
	"client|getredir":     clientGetRedir,
	"client|trackinginfo": clientTrackingInfo,
}

// parseTracking reads the options of CLIENT TRACKING.
func (s *session) parseTracking(args [][]byte) (t clientTracking, msg string) {
	for i := 0; i < len(args); i++ {
		more := i+1 < len(args)
		switch {
		case is(args[i], "redirect") && more:
			i++
			if t.redirect != 0 {
				return t, "ERR A client can only redirect to a single other client"
			}
			id, ok := number.ParseInt(args[i])
			if !ok {
				return t, errNotInteger
			}
			if s.node.sessions[id] == nil {
				return t, "ERR The client ID you want redirect to does not exist"
			}
			t.redirect = id
		case is(args[i], "bcast"):
			t.broadcast = true
		case is(args[i], "optin"):
			t.optIn = true
		case is(args[i], "optout"):
			t.optOut = true
		case is(args[i], "noloop"):
			t.noLoop = true
		case is(args[i], "prefix") && more:
			i++
			t.prefixes = append(t.prefixes, string(args[i]))
		default:
			return t, errSyntax
		}
	}
	return t, ""
}

// trackingConflict is why options do not go together, or not with what the
// client has chosen before.
func (s *session) trackingConflict(t clientTracking) string {
	old := &s.tracking
	switch {
	case !t.broadcast && len(t.prefixes) > 0:
		return "ERR PREFIX option requires BCAST mode to be enabled"
	case old.on && old.broadcast != t.broadcast:
		return "ERR You can't switch BCAST mode on/off before disabling tracking for this client, and then re-enabling it with a different mode."
	case t.broadcast && (t.optIn || t.optOut):
		return "ERR OPTIN and OPTOUT are not compatible with BCAST"
	case t.optIn && t.optOut:
		return "ERR You can't specify both OPTIN mode and OPTOUT mode"
	case t.optIn && old.optOut, t.optOut && old.optIn:
		return "ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and then re-enabling it with a different mode."
	}
	return ""
}

func clientTrackingCommand(c *command.Call) {
	s := c.Client.(*session)
	t, msg := s.parseTracking(c.Args[3:])
	switch {
	case msg != "":
	case is(c.Args[2], "on"):
		if msg = s.trackingConflict(t); msg != "" {
			break
		}
		if collision, refused := s.collision(t.prefixes); collision != "" {
			c.Reply.Error(collision)
			if refused {
				return
			}
		}
		s.startTracking(t)
	case is(c.Args[2], "off"):
		s.stopTracking()
	default:
		msg = errSyntax
	}
	if msg != "" {
		c.Reply.Error(msg)
		return
	}
	c.Reply.Status("OK")
}

func clientCaching(c *command.Call) {
	t := &c.Client.(*session).tracking
	switch {
	case !t.on:
		c.Reply.Error("ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled")
	case is(c.Args[2], "yes") && !t.optIn:
		c.Reply.Error("ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.")
	case is(c.Args[2], "no") && !t.optOut:
		c.Reply.Error("ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.")
	case is(c.Args[2], "yes"), is(c.Args[2], "no"):
		t.caching = true
		c.Reply.Status("OK")
	default:
		c.Reply.Error(errSyntax)
	}
}

// redirection is where the client's messages go: 0 to itself, -1 when there
// are none.
func (t *clientTracking) redirection() int64 {
	if !t.on {
		return -1
	}
	return t.redirect
}

func clientGetRedir(c *command.Call) {
	c.Reply.Int(c.Client.(*session).tracking.redirection())
}

func clientTrackingInfo(c *command.Call) {
	t := &c.Client.(*session).tracking
	flags := []string{"off"}
	if t.on {
		flags[0] = "on"
	}
	for _, f := range []struct {
		set  bool
		name string
	}{
		{t.broadcast, "bcast"}, {t.optIn, "optin"}, {t.optIn && t.caching, "caching-yes"},
		{t.optOut, "optout"}, {t.optOut && t.caching, "caching-no"}, {t.noLoop, "noloop"}, {t.broken, "broken_redirect"},
	} {
		if f.set {
			flags = append(flags, f.name)
		}
	}
	c.Reply.Map(3)
	c.Reply.BulkString("flags")
	c.Reply.Set(len(flags))
	for _, flag := range flags {
		c.Reply.BulkString(flag)
	}
	c.Reply.BulkString("redirect")
	c.Reply.Int(t.redirection())
	c.Reply.BulkString("prefixes")
	c.Reply.Array(len(t.prefixes))
	for _, prefix := range t.prefixes {
		c.Reply.BulkString(prefix)
	}
}
