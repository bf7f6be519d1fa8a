package server

import (
	"errors"
	"runtime"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
)

// A script holds the node's lock while it runs. Once it has run for longer than
// busy-reply-threshold it lets go of the lock for a moment, again and again: so
// others are told that the node is busy, and somebody can end the script.

// breath is how long a slow script lets others have the node, and pace how
// often.
const (
	breath = 50 * time.Microsecond
	pace   = time.Millisecond
)

const (
	errBusyScript   = "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."
	errBusyFunction = "BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE."
	errUnkillable   = "UNKILLABLE Sorry the script already executed write commands against the dataset. You can either wait the script termination or kill the server in a hard way using the SHUTDOWN NOSAVE command."
	errNotBusy      = "NOTBUSY No scripts in execution right now."
)

// errScriptKilled ends functions, too.
var errScriptKilled = errors.New("ERR Script killed by user with SCRIPT KILL...")

// watch executes a script or function and lets others in if it takes long.
func (n *Node) watch(run *scriptRun, execute func()) {
	s := &n.scripts
	s.running, run.began = run, n.now
	s.watched.Store(true)
	if n.set.busyThreshold > 0 {
		s.alarm.Reset(n.set.busyThreshold)
		defer s.alarm.Stop()
	}
	defer func() {
		s.watched.Store(false)
		s.running, s.slow = nil, false
	}()
	execute()
}

// remindScript is what the alarm does: it goes off again if the script is about
// to begin, or has just ended.
func (n *Node) remindScript() {
	s := &n.scripts
	if !s.runtime.Attend(n.breathe) && s.watched.Load() {
		s.alarm.Reset(pace)
	}
}

// ScriptClockMoved makes a script that runs look at the clock, which was
// advanced. Until a script is slow it holds the node's lock, so it comes first of
// all that looks.
func (n *Node) ScriptClockMoved() { n.scripts.runtime.Attend(n.breathe) }

// breathe is what a script does in between two of its steps when it may be slow.
func (n *Node) breathe() {
	run := n.scripts.running
	if run == nil || n.set.busyThreshold <= 0 {
		return
	}
	if left := run.began.Add(n.set.busyThreshold).Sub(n.clock.Now()); left > 0 {
		n.scripts.alarm.Reset(left)
		return
	}
	running, now, frozen := n.running, n.now, n.ks.Now()
	if running != nil {
		running.turn.end()
	}
	n.scripts.slow, n.running = true, nil
	n.mu.Unlock()
	runtime.Gosched()
	time.Sleep(breath)
	n.mu.Lock()
	n.running, n.now = running, now
	n.ks.SetNow(frozen)
	n.scripts.alarm.Reset(pace)
}

// busy refuses most commands while a script runs for too long.
func (n *Node) busy(spec *command.Spec) string {
	if !n.scripts.slow || spec.Has(command.AllowBusy) {
		return ""
	}
	return n.scripts.running.busyError()
}

func (r *scriptRun) busyError() string {
	if r.function != "" {
		return errBusyFunction
	}
	return errBusyScript
}

func scriptKill(c *command.Call) {
	s := &c.Client.(*session).node.scripts
	switch run := s.running; {
	case run == nil || !s.slow:
		c.Reply.Error(errNotBusy)
	case run.wrote:
		c.Reply.Error(errUnkillable)
	case (c.Spec.Name == "function|kill") != (run.function != ""):
		c.Reply.Error(run.busyError())
	default:
		s.runtime.Interrupt(errScriptKilled)
		c.Reply.Status("OK")
	}
}
