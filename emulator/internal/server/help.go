package server

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
)

// helpTexts is what Redis answers to HELP of its containers, a section each.
//
//go:embed help.txt
var helpTexts string

var helpSections = sync.OnceValue(func() map[string][]string {
	sections := map[string][]string{}
	name := ""
	for line := range strings.Lines(helpTexts) {
		line = strings.TrimSuffix(line, "\n")
		if section, ok := strings.CutPrefix(line, "# "); ok {
			name = section
			continue
		}
		sections[name] = append(sections[name], line)
	}
	return sections
})

// untilNUL is what C's printf shows of a text.
func untilNUL(b []byte) string {
	text, _, _ := strings.Cut(string(b), "\x00")
	return text
}

// badSubcommand answers for a subcommand that was given too many words.
func badSubcommand(c *command.Call) {
	c.Reply.Error("ERR unknown subcommand or wrong number of arguments for '" + untilNUL(c.Args[1]) + "'. Try " + strings.ToUpper(c.Spec.Parent.Name) + " HELP.")
}

// help answers HELP of the container a command belongs to.
func help(c *command.Call) {
	container, _, _ := strings.Cut(c.Spec.Name, "|")
	lines := helpSections()[container]
	c.Reply.Array(len(lines))
	for _, line := range lines {
		c.Reply.Status(line)
	}
}
