package server

import (
	"crypto/tls"
	"net"
	"slices"
	"strings"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
)

// What keeps a node from those who have no business with it: protected mode, and
// the secrets that commands carry.

const errDenied = "DENIED Redis is running in protected mode because protected mode is enabled and no password is set for the default user. In this mode connections are only accepted from the loopback interface. If you want to connect from external computers to Redis you may adopt one of the following solutions: 1) Just disable protected mode sending the command 'CONFIG SET protected-mode no' from the loopback interface by connecting to Redis from the same host the server is running, however MAKE SURE Redis is not publicly accessible from internet if you do so. Use CONFIG REWRITE to make this change permanent. 2) Alternatively you can just disable the protected mode by editing the Redis configuration file, and setting the protected mode option to 'no', and then restarting the server. 3) If you started the server manually just for testing, restart it with the '--protected-mode no' option. 4) Setup a an authentication password for the default user. NOTE: You only need to do one of the above things in order for the server to start accepting connections from the outside."

// denies reports whether a client is turned away by protected-mode: it comes from
// another machine, and nobody asks it for a password.
func (n *Node) denies(s *session) bool {
	return !s.local() && !s.inProcess() && n.DeniesStrangers()
}

// DeniesStrangers reports whether those who come from other machines are turned
// away, whoever they are.
func (n *Node) DeniesStrangers() bool {
	return n.users.Default().NoPass && n.config.Bool("protected-mode")
}

// inProcess reports whether the client is part of this process.
func (s *session) inProcess() bool {
	switch s.conn.(type) {
	case *net.TCPConn, *tls.Conn:
		return false
	}
	return true
}

// hideSecrets hides from a trace what a command tells in confidence. Handlers do
// so for MONITOR and SLOWLOG, as Redis does; but a trace shows commands whose
// handlers have not run, too: refused, queued, struck by a fault. Of what does not
// exist, and may be a misspelled AUTH, it shows the first word. The texts and
// arguments of scripts are the program's own and stay, as in MONITOR.
func hideSecrets(c *command.Call) {
	if c.Spec == nil {
		c.RedactFrom(1)
		return
	}
	hideSecretsFrom(c, 0)
}

// hideSecretsFrom is hideSecrets for the command that begins at argument i.
func hideSecretsFrom(c *command.Call, i int) {
	switch strings.ToLower(string(c.Args[i])) {
	case "auth":
		c.RedactFrom(i + 1)
	case "acl":
		c.RedactFrom(i + 2)
	case "config":
		if i > 0 {
			c.RedactFrom(i + 2)
			return
		}
		redactParameters(c)
	case "hello":
		redactLogin(c, i+1, "auth")
	case "migrate":
		redactLogin(c, i+6, "auth", "auth2")
	case "command": // GETKEYS and GETKEYSANDFLAGS are given one
		if i == 0 && len(c.Args) > 2 && strings.HasPrefix(strings.ToLower(string(c.Args[1])), "getkeys") {
			hideSecretsFrom(c, 2)
		}
	}
}

// redactLogin hides the two words behind each of some, from argument i on.
func redactLogin(c *command.Call, i int, words ...string) {
	for ; i < len(c.Args); i++ {
		if slices.Contains(words, strings.ToLower(string(c.Args[i]))) {
			c.Redact(i + 1)
			c.Redact(i + 2)
		}
	}
}
