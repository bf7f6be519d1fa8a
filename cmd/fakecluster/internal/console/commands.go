package console

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/fakecluster/fakecluster/emulator"
)

// Command is one command of a client, as it was traced.
type Command struct {
	At        time.Time `json:"at"`
	Node      string    `json:"node"`
	Client    string    `json:"client" doc:"the name it gave itself, or its address"`
	Command   string    `json:"command" doc:"the name, such as get or client|list"`
	Text      string    `json:"text" doc:"the whole command without secrets, cut off when it is long"`
	Slot      int       `json:"slot" doc:"that of its first key, -1 without keys"`
	Verdict   string    `json:"verdict" doc:"serve, MOVED, ASK, the code of the error, blocked or dropped"`
	US        int64     `json:"us" doc:"how long the node was busy with it, in microseconds"`
	Redirects int       `json:"redirects" doc:"how often it has been redirected on its way"`
}

// filter chooses commands; what is empty matches all.
type filter struct {
	node, client, command, verdict string // command is a glob, verdict may be "error"
}

func (f filter) matches(e emulator.Traced) bool {
	if f.node != "" && (e.Node == nil || e.Node.Name() != f.node) {
		return false
	}
	if f.client != "" && !strings.Contains(strings.ToLower(e.Client), strings.ToLower(f.client)) {
		return false
	}
	if f.command != "" {
		if ok, err := path.Match(strings.ToLower(f.command), e.Command); err != nil || !ok {
			return false
		}
	}
	switch strings.ToLower(f.verdict) {
	case "":
		return true
	case "error":
		return !slices.Contains([]string{"serve", "blocked"}, e.Verdict)
	}
	return strings.EqualFold(f.verdict, e.Verdict)
}

func commandOf(e emulator.Traced) Command {
	c := Command{At: e.At.UTC(), Client: e.Client, Command: e.Command, Text: e.Text, Slot: -1, Verdict: e.Verdict, US: e.Duration.Microseconds(), Redirects: e.Redirects}
	if e.Node != nil {
		c.Node = e.Node.Name()
	}
	if e.Keyed {
		c.Slot = int(e.Slot)
	}
	return c
}

// latest are the newest of some commands that a filter lets through, the oldest
// of them first.
func latest(traced []emulator.Traced, f filter, limit int) []Command {
	commands := []Command{}
	for _, e := range slices.Backward(traced) {
		if len(commands) == limit {
			break
		}
		if f.matches(e) {
			commands = append(commands, commandOf(e))
		}
	}
	slices.Reverse(commands)
	return commands
}
