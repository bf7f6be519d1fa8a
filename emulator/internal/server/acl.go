package server

import (
	"encoding/hex"
	"slices"
	"strings"

	"github.com/fakecluster/fakecluster/emulator/internal/acl"
	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
	"github.com/fakecluster/fakecluster/emulator/internal/resp"
)

var aclCommands = map[string]command.Handler{
	"acl|cat":     aclCat,
	"acl|deluser": aclDelUser,
	"acl|dryrun":  aclDryRun,
	"acl|genpass": aclGenPass,
	"acl|getuser": aclGetUser,
	"acl|help":    help,
	"acl|list":    aclList,
	"acl|load":    aclLoad,
	"acl|log":     aclLogCommand,
	"acl|save":    aclSave,
	"acl|setuser": aclSetUser,
	"acl|users":   aclUsers,
	"acl|whoami":  aclWhoAmI,
}

// check asks the client's user about a command, and logs it if it is denied.
func (n *Node) check(s *session, c *command.Call, context string) (denial acl.Denial, pos int) {
	if s.user == nil || s.user.Unlimited() {
		return acl.Allowed, 0
	}
	denial, pos = s.user.Check(c.Spec, c.Args)
	if denial == acl.Allowed {
		if c.Spec.Name == "sort" || c.Spec.Name == "sort_ro" {
			c.KeysRestricted = !s.user.ReadsAllKeys(c.Spec, c.Args)
		}
		return denial, pos
	}
	n.aclLog.denied(n, s, c, denial, context, pos)
	return denial, pos
}

// aclContext is where the client's own commands are run, as ACL LOG names it.
func (s *session) aclContext() string {
	if s.tx.open {
		return "multi"
	}
	return "toplevel"
}

// permit is why a client may not run a command, "" if it may.
func (n *Node) permit(s *session, c *command.Call) string {
	denial, pos := n.check(s, c, s.aclContext())
	if denial == acl.Allowed {
		return ""
	}
	return "NOPERM " + n.denialText(s.user, c, denial, false, pos)
}

// permitInExec is permit for a command that was queued: rules may have changed
// since.
func (n *Node) permitInExec(s *session, c *command.Call) string {
	denial, _ := n.check(s, c, "multi")
	if denial == acl.Allowed {
		return ""
	}
	reason := map[acl.Denial]string{
		acl.DeniedCommand: "no permission to execute the command or subcommand",
		acl.DeniedKey:     "no permission to touch the specified keys",
		acl.DeniedChannel: "no permission to access one of the channels used as arguments to the command",
	}[denial]
	return "NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC call. This command is no longer allowed for the following reason: " + reason
}

// permitInScript is permit for a command of a script.
func (n *Node) permitInScript(s *session, c *command.Call) string {
	denial, pos := n.check(s, c, "lua")
	if denial == acl.Allowed {
		return ""
	}
	if n.version.AtLeast(7, 2) {
		return "NOPERM ACL failure in script: " + n.denialText(s.user, c, denial, false, pos)
	}
	reason := map[acl.Denial]string{
		acl.DeniedCommand: "can't run this command or subcommand",
		acl.DeniedKey:     "can't access at least one of the keys mentioned in the command arguments",
		acl.DeniedChannel: "can't publish to the channel mentioned in the command",
	}[denial]
	return "ERR The user executing the script " + reason
}

// denialText says what is denied; verbosely, which key or channel.
func (n *Node) denialText(u *acl.User, c *command.Call, denial acl.Denial, verbose bool, pos int) string {
	subject := "this user"
	switch {
	case n.version.AtLeast(7, 2):
		subject = "User " + u.Name
	case verbose:
		subject = "This user"
	}
	switch {
	case denial == acl.DeniedCommand:
		return subject + " has no permissions to run the '" + c.Spec.Name + "' command"
	case verbose:
		return subject + " has no permissions to access the '" + string(c.Args[pos]) + "' " + denial.String()
	case n.version.AtLeast(7, 2):
		return "No permissions to access a " + denial.String()
	}
	return "this user has no permissions to access one of the " + denial.String() + "s used as arguments"
}

// logIn makes the client the user of that name, if the password is right.
func (s *session) logIn(c *command.Call, name string, password []byte) bool {
	u := s.node.users.Authenticate(name, password)
	if u == nil {
		s.node.aclLog.failedLogIn(s.node, s, c, s.aclContext(), name)
		return false
	}
	s.user = u
	s.setAuthenticated(true)
	return true
}

// beDefaultUser makes a client what it is before it says who it is.
func (s *session) beDefaultUser() {
	s.user = s.node.users.Default()
	s.setAuthenticated(s.user.OpenToAll())
}

// userName is the client's user as CLIENT LIST names it.
func (s *session) userName() string {
	if s.user == nil {
		return "(superuser)"
	}
	return s.user.Name
}

func aclCat(c *command.Call) {
	switch len(c.Args) {
	case 2:
		names := command.CategoryNames()
		c.Reply.Array(len(names))
		for _, name := range names {
			c.Reply.BulkString(name)
		}
	case 3:
		category, ok := command.Category(string(c.Args[2]))
		if !ok {
			c.Reply.Error("ERR Unknown category '" + untilNUL(c.Args[2]) + "'")
			return
		}
		var names []string
		for _, spec := range c.Table.Rows() {
			if spec.Categories&category != 0 {
				names = append(names, spec.Name)
			}
		}
		c.Reply.Array(len(names))
		for _, name := range names {
			c.Reply.BulkString(name)
		}
	default:
		aclMisuse(c)
	}
}

// aclMisuse answers a subcommand with a number of words that the table allows
// and Redis does not.
func aclMisuse(c *command.Call) {
	c.Reply.Error("ERR unknown subcommand or wrong number of arguments for '" + untilNUL(c.Args[1]) + "'. Try ACL HELP.")
}

func aclDelUser(c *command.Call) {
	n := c.Client.(*session).node
	if c.Version().AtLeast(7, 2) {
		c.RedactFrom(2)
	}
	deleted := 0
	for _, name := range c.Args[2:] {
		if string(name) == "default" {
			c.Reply.Error("ERR The 'default' user cannot be removed")
			return
		}
	}
	for _, name := range c.Args[2:] {
		if u := n.users.Delete(string(name)); u != nil {
			deleted++
			n.killClientsOf(u)
		}
	}
	c.Reply.Int(int64(deleted))
}

// killClientsOf ends the connections of a user that is no more.
func (n *Node) killClientsOf(u *acl.User) {
	for _, s := range n.clients() {
		if s.user == u {
			s.user = n.users.Default()
			s.setAuthenticated(false)
			s.kill()
		}
	}
}

func aclDryRun(c *command.Call) {
	n := c.Client.(*session).node
	u := n.users.Get(string(c.Args[2]))
	if u == nil {
		c.Reply.Error("ERR User '" + untilNUL(c.Args[2]) + "' not found")
		return
	}
	run := command.Call{Args: c.Args[3:], Table: c.Table}
	run.Spec = c.Table.Lookup(run.Args)
	switch {
	case run.Spec == nil:
		c.Reply.Error("ERR Command '" + untilNUL(c.Args[3]) + "' not found")
		return
	case !run.Spec.CheckArity(len(run.Args)):
		c.Reply.Error(c.Table.ArityError(run.Spec))
		return
	}
	if denial, pos := u.Check(run.Spec, run.Args); denial != acl.Allowed {
		c.Reply.BulkString(n.denialText(u, &run, denial, true, pos))
		return
	}
	c.Reply.Status("OK")
}

func aclGenPass(c *command.Call) {
	if len(c.Args) > 3 {
		aclMisuse(c)
		return
	}
	bits := int64(256)
	if len(c.Args) == 3 {
		var ok bool
		if bits, ok = number.ParseInt(c.Args[2]); !ok {
			c.Reply.Error(errNotInteger)
			return
		}
		if bits <= 0 || bits > 4096 {
			c.Reply.Error("ERR ACL GENPASS argument must be the number of bits for the output password, a positive number up to 4096")
			return
		}
	}
	random := make([]byte, 4096/8)
	rng := c.Client.(*session).node.rand
	for i := range random {
		random[i] = byte(rng.Uint32())
	}
	c.Reply.BulkString(hex.EncodeToString(random)[:(bits+3)/4])
}

func aclGetUser(c *command.Call) {
	c.RedactFrom(2)
	u := c.Client.(*session).node.users.Get(string(c.Args[2]))
	if u == nil {
		c.Reply.Null()
		return
	}
	c.Reply.Map(6)
	c.Reply.BulkString("flags")
	flags := u.Flags()
	c.Reply.Set(len(flags))
	for _, flag := range flags {
		c.Reply.BulkString(flag)
	}
	c.Reply.BulkString("passwords")
	c.Reply.Array(len(u.Passwords()))
	for _, p := range u.Passwords() {
		c.Reply.BulkString(p)
	}
	selectors := u.Selectors()
	writeSelector(c.Reply, selectors[0])
	c.Reply.BulkString("selectors")
	c.Reply.Array(len(selectors) - 1)
	for _, s := range selectors[1:] {
		c.Reply.Map(3)
		writeSelector(c.Reply, s)
	}
}

func writeSelector(reply resp.Sink, s *acl.Selector) {
	for _, pair := range [][2]string{{"commands", s.Commands()}, {"keys", s.Keys()}, {"channels", s.Channels()}} {
		reply.BulkString(pair[0])
		reply.BulkString(pair[1])
	}
}

func aclList(c *command.Call) {
	users := c.Client.(*session).node.users.List()
	c.Reply.Array(len(users))
	for _, u := range users {
		c.Reply.BulkString(u.Describe())
	}
}

func aclUsers(c *command.Call) {
	users := c.Client.(*session).node.users.List()
	c.Reply.Array(len(users))
	for _, u := range users {
		c.Reply.BulkString(u.Name)
	}
}

func aclWhoAmI(c *command.Call) {
	if u := c.Client.(*session).user; u != nil {
		c.Reply.BulkString(u.Name)
	} else {
		c.Reply.Null()
	}
}

func aclSetUser(c *command.Call) {
	n := c.Client.(*session).node
	c.RedactFrom(2)
	u, before, err := n.users.Set(string(c.Args[2]), c.Args[3:])
	if err != nil {
		c.Reply.Error(err.Error())
		return
	}
	if before != nil {
		n.killSubscribersOf(u)
	}
	c.Reply.Status("OK")
}

// killSubscribersOf ends the connections of a user that listen to what its new
// rules forbid.
func (n *Node) killSubscribersOf(u *acl.User) {
	for _, s := range n.clients() {
		if s.user != u || !s.subs.any() {
			continue
		}
		forbidden := func(pattern bool) func(string) bool {
			return func(name string) bool { return !u.AllowsChannel(name, pattern) }
		}
		if slices.ContainsFunc(s.subs.patterns, forbidden(true)) || slices.ContainsFunc(s.subs.channels, forbidden(false)) ||
			slices.ContainsFunc(s.subs.shards, forbidden(false)) {
			s.kill()
		}
	}
}

// configureUsers makes parameters count that concern users.
func (n *Node) configureUsers() {
	n.users = acl.NewUsers(n.table)
	n.config.OnChange("requirepass", func() error {
		n.users.SetDefaultPassword(n.config.String("requirepass"))
		return nil
	})
	n.config.OnChange("acl-pubsub-default", func() error {
		n.users.AllChannels = strings.EqualFold(n.config.String("acl-pubsub-default"), "allchannels")
		return nil
	})
}
