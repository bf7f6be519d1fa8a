package server

import (
	"strings"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
	"github.com/fakecluster/fakecluster/emulator/internal/resp"
)

// The texts several families share.
const (
	errSyntax     = "ERR syntax error"
	errNotInteger = "ERR value is not an integer or out of range"
	errNoCluster  = "ERR This instance has cluster support disabled"
	errClientName = "ERR Client names cannot contain spaces, newlines or special characters."
)

var connectionCommands = map[string]command.Handler{
	"auth":      auth,
	"hello":     hello,
	"ping":      ping,
	"echo":      func(c *command.Call) { c.Reply.Bulk(c.Args[1]) },
	"select":    selectDB,
	"quit":      quit,
	"reset":     reset,
	"asking":    asking,
	"readonly":  readOnly,
	"readwrite": readWrite,
}

func ping(c *command.Call) {
	s := c.Client.(*session)
	switch {
	case len(c.Args) > 2:
		c.Reply.Error(c.Table.ArityError(c.Spec))
	case s.subs.any() && c.Reply.Proto() == 2:
		c.Reply.Array(2)
		c.Reply.BulkString("pong")
		if len(c.Args) == 2 {
			c.Reply.Bulk(c.Args[1])
		} else {
			c.Reply.BulkString("")
		}
	case len(c.Args) == 2:
		c.Reply.Bulk(c.Args[1])
	default:
		c.Reply.Status("PONG")
	}
}

func selectDB(c *command.Call) {
	id, ok := number.ParseInt(c.Args[1])
	if !ok {
		c.Reply.Error(errNotInteger)
		return
	}
	if id != int64(int32(id)) {
		c.Reply.Error("ERR value is out of range, value must between -2147483648 and 2147483647")
		return
	}
	if c.ClusterEnabled && id != 0 {
		c.Reply.Error("ERR SELECT is not allowed in cluster mode")
		return
	}
	if id < 0 || id >= int64(c.Keyspace().Databases()) {
		c.Reply.Error("ERR DB index is out of range")
		return
	}
	c.DB = c.Keyspace().DB(int(id))
	c.Reply.Status("OK")
}

func quit(c *command.Call) {
	c.Client.(*session).closing = true
	c.Reply.Status("OK")
}

func auth(c *command.Call) {
	s := c.Client.(*session)
	c.RedactFrom(1)
	user, password := "default", c.Args[len(c.Args)-1]
	switch {
	case len(c.Args) > 3:
		c.Reply.Error(errSyntax)
		return
	case len(c.Args) == 3:
		user = string(c.Args[1])
	case s.node.users.Default().NoPass:
		c.Reply.Error("ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?")
		return
	}
	if !s.logIn(c, user, password) {
		c.Reply.Error(errWrongPass)
		return
	}
	c.Reply.Status("OK")
}

const errWrongPass = "WRONGPASS invalid username-password pair or user is disabled."

func (s *session) setAuthenticated(yes bool) {
	s.authenticated = yes
	s.trusted.Store(yes)
}

// helloRequest is what the arguments of HELLO ask for.
type helloRequest struct {
	proto          int
	user, password []byte
	name           []byte
	auth, setName  bool
}

func parseHello(c *command.Call) (h helloRequest, err string) {
	args := c.Args
	if len(args) > 1 {
		proto, ok := number.ParseInt(args[1])
		if !ok {
			return h, "ERR Protocol version is not an integer or out of range"
		}
		if proto != 2 && proto != 3 {
			return h, "NOPROTO unsupported protocol version"
		}
		h.proto = int(proto)
	}
	for i := 2; i < len(args); i++ {
		option, left := strings.ToLower(string(args[i])), len(args)-1-i
		switch {
		case option == "auth" && left >= 2:
			h.auth, h.user, h.password = true, args[i+1], args[i+2]
			c.Redact(i + 1)
			c.Redact(i + 2)
			i += 2
		case option == "setname" && left >= 1:
			if !validName(args[i+1]) {
				return h, errClientName
			}
			h.setName, h.name = true, args[i+1]
			i++
		default:
			return h, "ERR Syntax error in HELLO option '" + untilNUL(args[i]) + "'"
		}
	}
	return h, ""
}

func hello(c *command.Call) {
	s := c.Client.(*session)
	h, msg := parseHello(c)
	switch {
	case msg != "" && !c.Version().AtLeast(7, 2) && h.auth && !s.logIn(c, string(h.user), h.password):
		c.Reply.Error(errWrongPass)
		return
	case msg != "":
		if h.setName && !c.Version().AtLeast(7, 2) {
			s.name = string(h.name) // options take effect as they are read
		}
		c.Reply.Error(msg)
		return
	case h.auth && !s.logIn(c, string(h.user), h.password):
		c.Reply.Error(errWrongPass)
		return
	case !s.authenticated:
		c.Reply.Error("NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time")
		return
	}
	if h.setName {
		s.name = string(h.name)
	}
	if h.proto != 0 {
		s.enc.SetProto(h.proto)
	}
	s.greet(c.Reply)
}

func (s *session) greet(reply resp.Sink) {
	n := s.node
	reply.Map(7)
	reply.BulkString("server")
	reply.BulkString("redis")
	reply.BulkString("version")
	reply.BulkString(n.version.String())
	reply.BulkString("proto")
	reply.Int(int64(s.enc.Proto()))
	reply.BulkString("id")
	reply.Int(s.id)
	reply.BulkString("mode")
	if n.clustered {
		reply.BulkString("cluster")
	} else {
		reply.BulkString("standalone")
	}
	reply.BulkString("role")
	if n.isReplica() {
		reply.BulkString("replica")
	} else {
		reply.BulkString("master")
	}
	reply.BulkString("modules")
	reply.Array(0)
}

// validName reports whether a client may be called name: printable ASCII
// without spaces.
func validName(name []byte) bool {
	for _, b := range name {
		if b < '!' || b > '~' {
			return false
		}
	}
	return true
}

func reset(c *command.Call) {
	s := c.Client.(*session)
	s.endTransaction()
	s.unsubscribeAll()
	s.stopTracking()
	s.stopMonitoring()
	s.asking, s.readOnly = false, false
	if c.Version().AtLeast(7, 2) {
		s.noTouch, s.noEvict = false, false
	}
	s.replies, s.skipNext = repliesOn, false
	s.enc.SetProto(2)
	c.DB = c.Keyspace().DB(0)
	s.name = ""
	s.beDefaultUser()
	c.Reply = s.sink()
	c.Reply.Status("RESET")
}

func asking(c *command.Call) {
	if !c.ClusterEnabled {
		c.Reply.Error(errNoCluster)
		return
	}
	c.Client.(*session).asking = true
	c.Reply.Status("OK")
}

func readOnly(c *command.Call)  { setReadOnly(c, true) }
func readWrite(c *command.Call) { setReadOnly(c, false) }

func setReadOnly(c *command.Call, yes bool) {
	if !c.ClusterEnabled {
		c.Reply.Error(errNoCluster)
		return
	}
	c.Client.(*session).readOnly = yes
	c.Reply.Status("OK")
}
