package emulator

import (
	"crypto/tls"
	"strings"

	"github.com/fakecluster/fakecluster/emulator/internal/server"
)

// TLS makes the nodes speak TLS, and nothing else, where they listen over TCP.
// In process they are reached without it.
func TLS(config *tls.Config) Option {
	return func(o *options) error {
		if config == nil || len(config.Certificates) == 0 && config.GetCertificate == nil {
			return badOption("TLS needs a certificate")
		}
		o.tls = config.Clone()
		return nil
	}
}

// Users gives all nodes the users of an ACL file, as aclfile does: a line per
// user, "user alice on >password ~a:* +get". The user default is open unless the
// file says otherwise.
func Users(aclFile string) Option {
	return func(o *options) error {
		seen := map[string]bool{}
		number := 0
		for line := range strings.Lines(aclFile) {
			number++
			fields := strings.Fields(line)
			switch {
			case len(fields) == 0 || fields[0][0] == '#':
				continue
			case len(fields) < 2 || fields[0] != "user":
				return badOption("users, line %d: should start with user keyword followed by the username", number)
			case seen[fields[1]]:
				return badOption("users, line %d: duplicate user %q", number, fields[1])
			}
			seen[fields[1]] = true
			rules := [][]byte{[]byte("reset")}
			for _, rule := range fields[2:] {
				rules = append(rules, []byte(rule))
			}
			o.users = append(o.users, server.User{Name: fields[1], Rules: rules})
		}
		return nil
	}
}
