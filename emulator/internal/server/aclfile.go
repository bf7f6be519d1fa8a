package server

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/fakecluster/fakecluster/emulator/internal/acl"
	"github.com/fakecluster/fakecluster/emulator/internal/command"
)

// ErrUser says that the users of Options, or of its file, make no sense.
var ErrUser = errors.New("bad users")

// readUsers gives the node the users that its options name. The user default is
// as configured unless it is one of them.
func (n *Node) readUsers() error {
	name, text := "users", n.options.Users
	if file := n.options.ACLFile; file != "" {
		content, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("%w: Error loading ACLs, opening file '%s': %s", ErrUser, file, systemError(err))
		}
		name, text = file, string(content)
	}
	users := acl.NewUsers(n.table)
	users.AllChannels = n.users.AllChannels
	users.SetDefaultPassword(n.config.String("requirepass"))
	if err := users.Read(name, text); err != nil {
		return fmt.Errorf("%w: %w", ErrUser, err)
	}
	n.users = users
	return nil
}

// systemError is what the system says as the library of C words it.
func systemError(err error) string {
	var number syscall.Errno
	if !errors.As(err, &number) {
		return err.Error()
	}
	text := number.Error()
	return strings.ToUpper(text[:1]) + text[1:]
}

func aclLoad(c *command.Call) {
	n := c.Client.(*session).node
	if n.options.ACLFile == "" {
		aclNoFile(c)
		return
	}
	if err := n.readUsers(); err != nil {
		c.Reply.Error("ERR " + strings.TrimPrefix(err.Error(), ErrUser.Error()+": "))
		return
	}
	n.replaceUsers()
	c.Reply.Status("OK")
}

// replaceUsers gives the sessions their users among those that have been read.
// Until 7.4 all but those of the user default end; since then those whose user is
// no more, or may not listen any longer to what they do.
func (n *Node) replaceUsers() {
	for _, s := range n.clients() {
		if s.user == nil {
			continue
		}
		u := n.users.Get(s.user.Name)
		switch {
		case u == nil || u != n.users.Default() && !n.version.AtLeast(7, 4):
			s.user = n.users.Default()
			s.setAuthenticated(false)
			s.kill()
		default:
			s.user = u
			n.killSubscribersOf(u)
		}
	}
}

func aclSave(c *command.Call) {
	n := c.Client.(*session).node
	if n.options.ACLFile == "" {
		aclNoFile(c)
		return
	}
	if err := replaceFile(n.options.ACLFile, n.users.File()); err != nil {
		n.log.Error("the users could not be saved", "error", err)
		c.Reply.Error("ERR There was an error trying to save the ACLs. Please check the server logs for more information")
		return
	}
	c.Reply.Status("OK")
}

// replaceFile writes a file in whole or not at all.
func replaceFile(name, content string) error {
	unfinished := name + ".tmp"
	err := os.WriteFile(unfinished, []byte(content), 0o600)
	if err == nil {
		err = os.Rename(unfinished, name)
	}
	if err != nil {
		os.Remove(unfinished) // it may not be there
	}
	return err
}

func aclNoFile(c *command.Call) {
	c.Reply.Error("ERR This Redis instance is not configured to use an ACL file. You may want to specify users via the ACL SETUSER command and then issue a CONFIG REWRITE (assuming you have a Redis configuration file set) in order to store users in the Redis configuration.")
}
