package emulator

import (
	"strings"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/server"
)

// Action is what goes wrong with a command or a connection.
type Action struct {
	kind  server.FaultAction
	delay time.Duration
	text  string
	bytes int
}

// DropBefore ends the connection instead of executing the command.
func DropBefore() Action { return Action{kind: server.DropBefore} }

// DropAfter executes the command and ends the connection without a reply: the
// client cannot know whether it was executed.
func DropAfter() Action { return Action{kind: server.DropAfter} }

// Delay executes the command, and what its client sent after it, only when d
// has passed.
func Delay(d time.Duration) Action { return Action{kind: server.DelayCommand, delay: d} }

// ReplyWith answers with an error, such as "OOM command not allowed when used
// memory > 'maxmemory'." or "LOADING", instead of executing the command. A code
// alone gets Redis' text for it.
func ReplyWith(text string) Action {
	if full, known := errorTexts[strings.ToUpper(text)]; known {
		text = full
	}
	return Action{kind: server.ReplyError, text: text}
}

// errorTexts are what Redis says with the codes of its errors.
var errorTexts = map[string]string{
	"BUSY":        "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
	"CLUSTERDOWN": "CLUSTERDOWN The cluster is down",
	"CROSSSLOT":   "CROSSSLOT Keys in request don't hash to the same slot",
	"LOADING":     "LOADING Redis is loading the dataset in memory",
	"MASTERDOWN":  "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
	"MISCONF":     "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. Commands that may modify the data set are disabled, because this instance is configured to report errors during writes if RDB snapshotting fails (stop-writes-on-bgsave-error option). Please check the Redis logs for details about the RDB error.",
	"NOAUTH":      "NOAUTH Authentication required.",
	"NOREPLICAS":  "NOREPLICAS Not enough good replicas to write.",
	"NOSCRIPT":    "NOSCRIPT No matching script. Please use EVAL.",
	"OOM":         "OOM command not allowed when used memory > 'maxmemory'.",
	"READONLY":    "READONLY You can't write against a read only replica.",
	"TRYAGAIN":    "TRYAGAIN Multiple keys request during rehashing of slot",
}

// Truncate executes the command, sends the first bytes of its reply and ends
// the connection.
func Truncate(bytes int) Action { return Action{kind: server.TruncateReply, bytes: bytes} }

// Trickle executes the command and sends its reply so many bytes at a time,
// with a pause after each.
func Trickle(bytes int, pause time.Duration) Action {
	return Action{kind: server.SlowReply, bytes: bytes, delay: pause}
}

// Refuse makes new connections fail. Of a rule's match only Nodes, Nth, Times
// and Probability count.
func Refuse() Action { return Action{kind: server.RefuseConnection} }

// Rule says to which commands something happens. Fields that are not set match
// everything; the zero Action is DropBefore.
type Rule struct {
	// Commands are names such as "get", "client" or "client|kill", in any case.
	Commands []string
	// Key is a glob that one of the command's keys must match.
	Key string
	// Nodes are those that execute the command.
	Nodes []*Node
	// Client is a glob for what the client called itself with CLIENT SETNAME.
	Client string
	// Nth lets those that match earlier pass: 3 begins with the third.
	Nth int
	// Times bounds how many are hit; 0 is no bound.
	Times int
	// Probability is that of a hit, 0 for certainty. Chance comes from the
	// cluster's seed.
	Probability float64

	Action Action
}

// Fault is a rule at work.
type Fault struct {
	fault *server.Fault
	rule  Rule
}

// Rule is what Inject was called with.
func (f *Fault) Rule() Rule { return f.rule }

// Hits is how many commands, or connections, the fault has struck.
func (f *Fault) Hits() int { return f.fault.Hits() }

// Remove ends the fault. It can be called more than once.
func (f *Fault) Remove() { f.fault.Remove() }

// Inject puts a rule to work until the fault is removed or the cluster reset.
// Of several rules that match a command the first injected strikes.
func (c *Cluster) Inject(r Rule) *Fault {
	s := server.FaultRule{
		Key: r.Key, Client: r.Client, Nth: r.Nth, Times: r.Times, Probability: r.Probability,
		Action: r.Action.kind, Delay: r.Action.delay, Error: r.Action.text, Bytes: r.Action.bytes,
	}
	for _, name := range r.Commands {
		s.Commands = append(s.Commands, strings.ToLower(strings.ReplaceAll(name, " ", "|")))
	}
	for _, n := range r.Nodes {
		s.Nodes = append(s.Nodes, n.server)
	}
	return &Fault{c.harness.Inject(s), r}
}
