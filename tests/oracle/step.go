package oracle

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// verb says what a step does.
type verb string

const (
	// vCommand sends Args and compares the reply.
	vCommand verb = ""
	// vNoReply sends Args and expects no reply (CLIENT REPLY OFF).
	vNoReply verb = "noreply"
	// vRaw sends Args[0] unframed and compares everything that comes back until
	// the server closes the connection or falls silent.
	vRaw verb = "raw"
	// vSleep lets Pause pass on both sides.
	vSleep verb = "sleep"
	// vReconnect closes the connection; its next use opens a fresh one.
	vReconnect verb = "reconnect"
	// vManual stops the runner from looking for messages on the connection after
	// every step: they come from another node, at any moment.
	vManual verb = "manual"
	// vPushes waits until Count messages arrived on a manual connection and
	// compares them.
	vPushes verb = "pushes"
	// vSnapshot compares every key of every node.
	vSnapshot verb = "snapshot"
	// vScanAll follows the cursor of Args (a SCAN command that stands at cursor
	// 0) to its end on both sides and compares what was seen.
	vScanAll verb = "scanall"
)

// Step is one action on both sides.
type Step struct {
	Verb  verb
	Conn  int // logical connection; each node has its own socket for it
	Node  int // node to talk to, or routeByKey
	Args  []string
	Pause time.Duration
	Count int
}

// routeByKey lets the runner send a step to the node that owns its first key.
const routeByKey = -1

// String writes a step as a script line.
func (s Step) String() string {
	var words []string
	if s.Conn != 1 {
		words = append(words, fmt.Sprintf("@%d", s.Conn))
	}
	if s.Node != routeByKey {
		words = append(words, fmt.Sprintf("%%%d", s.Node))
	}
	if s.Verb != vCommand {
		words = append(words, "!"+string(s.Verb))
	}
	switch s.Verb {
	case vSleep:
		words = append(words, s.Pause.String())
	case vPushes:
		words = append(words, strconv.Itoa(s.Count))
	}
	for _, arg := range s.Args {
		words = append(words, quote(arg))
	}
	return strings.Join(words, " ")
}

// parseStep reads a script line: [@conn] [%node] [!verb] arguments. An empty
// line or a comment is no step.
func parseStep(line string) (step Step, ok bool, err error) {
	step = Step{Conn: 1, Node: routeByKey}
	line = strings.TrimSpace(line)
	for line != "" && strings.IndexByte("@%!", line[0]) >= 0 {
		word, rest, _ := strings.Cut(line, " ")
		switch word[0] {
		case '@':
			step.Conn, err = strconv.Atoi(word[1:])
		case '%':
			step.Node, err = strconv.Atoi(word[1:])
		case '!':
			step.Verb = verb(word[1:])
		}
		if err != nil {
			return step, false, fmt.Errorf("prefix %q: %w", word, err)
		}
		line = strings.TrimLeft(rest, " ")
	}
	args, err := splitArgs(line)
	if err != nil {
		return step, false, err
	}
	step.Args = args
	return step, len(args) > 0 || step.Verb != vCommand, step.finish()
}

// finish turns a directive's arguments into its fields.
func (s *Step) finish() (err error) {
	need := func(n int) error {
		if len(s.Args) != n {
			return fmt.Errorf("!%s takes %d arguments, not %q", s.Verb, n, s.Args)
		}
		return nil
	}
	switch s.Verb {
	case vCommand, vNoReply, vScanAll:
		return nil
	case vRaw:
		return need(1)
	case vSleep:
		if err := need(1); err != nil {
			return err
		}
		s.Pause, err = time.ParseDuration(s.Args[0])
		s.Args = nil
		return err
	case vPushes:
		if err := need(1); err != nil {
			return err
		}
		s.Count, err = strconv.Atoi(s.Args[0])
		s.Args = nil
		return err
	case vReconnect, vSnapshot, vManual:
		return need(0)
	}
	return fmt.Errorf("unknown directive !%s", s.Verb)
}

// placeholder matches what stands for a value that differs between the sides.
var placeholder = regexp.MustCompile(`\$(ID|PORT|ADDR|CID)(\d+)`)

const shaPrefix = "$SHA1:"

// resolve replaces placeholders: $ID1 $PORT1 $ADDR1 are node 1's id, port and
// address, $CID2 is the client id of connection 2 on the step's node, and an
// argument $SHA1:text is the SHA1 of text.
func resolve(args []string, value func(kind string, n int) string) []string {
	var out []string
	for i, arg := range args {
		if !strings.Contains(arg, "$") {
			continue
		}
		changed := arg
		if text, found := strings.CutPrefix(arg, shaPrefix); found {
			sum := sha1.Sum([]byte(text))
			changed = hex.EncodeToString(sum[:])
		} else {
			changed = placeholder.ReplaceAllStringFunc(arg, func(found string) string {
				match := placeholder.FindStringSubmatch(found)
				n, err := strconv.Atoi(match[2])
				if err != nil {
					return found
				}
				return value(match[1], n)
			})
		}
		if changed != arg {
			if out == nil {
				out = append(out, args...)
			}
			out[i] = changed
		}
	}
	if out == nil {
		return args
	}
	return out
}
