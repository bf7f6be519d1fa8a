package command

import "strings"

// Help writes the reply of a container's HELP: a head with the container's
// name, lines, and HELP's own two lines.
func (c *Call) Help(lines ...string) {
	container, _, _ := strings.Cut(c.Spec.Name, "|")
	c.Reply.Array(len(lines) + 3)
	c.Reply.Status(strings.ToUpper(container) + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:")
	for _, line := range lines {
		c.Reply.Status(line)
	}
	c.Reply.Status("HELP")
	c.Reply.Status("    Prints this help.")
}
