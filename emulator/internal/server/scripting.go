package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/acl"
	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
	"github.com/fakecluster/fakecluster/emulator/internal/resp"
	"github.com/fakecluster/fakecluster/emulator/internal/topology"
	"github.com/fakecluster/fakecluster/lua"
	"github.com/fakecluster/fakecluster/slots"
)

// scripts is a node's scripting: its Lua runtime and what has been loaded.
type scripts struct {
	runtime   *lua.Runtime
	bySHA     map[string]*lua.Script
	functions functions
	running   *scriptRun
	lastError string      // of a command the script ran last
	slow      bool        // it has run for longer than busy-reply-threshold
	alarm     *time.Timer // when it will have
	watched   atomic.Bool // one runs, or is about to
	open      bool        // DEBUG SET-DISABLE-DENY-SCRIPTS 1
}

// openedByDebug are the commands scripts may use after DEBUG
// SET-DISABLE-DENY-SCRIPTS 1: those that Redis opened them for. Of the others,
// several would crash Redis.
var openedByDebug = map[string]bool{"debug": true, "client|list": true}

var scriptingCommands = map[string]command.Handler{
	"eval":          func(c *command.Call) { eval(c, false) },
	"eval_ro":       func(c *command.Call) { eval(c, true) },
	"evalsha":       func(c *command.Call) { evalSHA(c, false) },
	"evalsha_ro":    func(c *command.Call) { evalSHA(c, true) },
	"script|load":   scriptLoad,
	"script|exists": scriptExists,
	"script|flush":  scriptFlush,
	"script|kill":   scriptKill,
	"script|debug":  scriptDebug,
	"script|help":   help,
}

func (s *scripts) init(n *Node) {
	o := lua.Options{RedisVersion: n.version.String()}
	if n.version.AtLeast(7, 2) {
		o.AppendDouble = number.AppendShortest
	}
	s.runtime = lua.New(o)
	s.alarm = time.AfterFunc(time.Hour, n.remindScript)
	s.alarm.Stop()
	s.bySHA = map[string]*lua.Script{}
}

// errClosed ends a script when its node is closed.
var errClosed = errors.New("ERR Error running script: the server is shutting down")

// interrupt ends a running script. It may be called without the node's lock.
func (s *scripts) interrupt() { s.runtime.Interrupt(errClosed) }

// load compiles a script, or finds it.
func (s *scripts) load(source []byte) (*lua.Script, error) {
	script, err := s.runtime.Load(source)
	if err == nil {
		s.bySHA[script.SHA] = script
	}
	return script, err
}

// scriptArgs splits what follows a script into keys and arguments.
func scriptArgs(c *command.Call) (keys, argv [][]byte, ok bool) {
	count, valid := number.ParseInt(c.Args[2])
	switch {
	case !valid:
		c.Reply.Error(errNotInteger)
	case count > int64(len(c.Args)-3):
		c.Reply.Error("ERR Number of keys can't be greater than number of args")
	case count < 0:
		c.Reply.Error("ERR Number of keys can't be negative")
	default:
		return c.Args[3 : 3+count], c.Args[3+count:], true
	}
	return nil, nil, false
}

func eval(c *command.Call, readOnly bool) {
	n := c.Client.(*session).node
	keys, argv, ok := scriptArgs(c)
	if !ok {
		return
	}
	script, err := n.scripts.load(c.Args[1])
	if err != nil {
		c.Reply.Error(err.Error())
		return
	}
	n.runScript(c, script, readOnly, keys, argv)
}

func evalSHA(c *command.Call, readOnly bool) {
	const errNoScript = "NOSCRIPT No matching script. Please use EVAL."
	n := c.Client.(*session).node
	if len(c.Args[1]) != 40 {
		c.Reply.Error(errNoScript)
		return
	}
	keys, argv, ok := scriptArgs(c)
	if !ok {
		return
	}
	script := n.scripts.bySHA[strings.ToLower(string(c.Args[1]))]
	if script == nil {
		c.Reply.Error(errNoScript)
		return
	}
	n.runScript(c, script, readOnly, keys, argv)
}

func (n *Node) runScript(c *command.Call, script *lua.Script, readOnly bool, keys, argv [][]byte) {
	run := n.newRun(c, script.Flags, script.HasShebang, readOnly)
	if msg := run.refusal(); msg != "" {
		c.Reply.Error(msg)
		return
	}
	n.watch(run, func() { n.scripts.runtime.Run(script, run, keys, argv, c.Reply) })
}

// nature is what a node that may not do everything has to know of a command.
type nature struct{ writes, takesMemory, stale bool }

// nature tells what the command's row says, unless it runs a script or function
// that declares its flags.
func (n *Node) nature(c *command.Call) nature {
	if c.Spec.Has(command.MovableKeys) { // few have it, those that run scripts among them
		if flags, declared := n.declaredFlags(c); declared {
			writes := flags&lua.NoWrites == 0
			return nature{writes: writes, takesMemory: writes && flags&lua.AllowOOM == 0, stale: flags&lua.AllowStale != 0}
		}
	}
	return nature{c.Spec.Has(command.Write), c.Spec.Has(command.DenyOOM), c.Spec.Has(command.Stale)}
}

func (n *Node) declaredFlags(c *command.Call) (flags lua.Flags, declared bool) {
	switch c.Spec.Name {
	case "fcall", "fcall_ro":
		if function := n.scripts.functions.find(string(c.Args[1])); function != nil {
			return function.Flags, true
		}
	case "evalsha", "evalsha_ro":
		if script := n.scripts.bySHA[strings.ToLower(string(c.Args[1]))]; script != nil {
			return script.Flags, script.HasShebang
		}
	case "eval", "eval_ro":
		if !bytes.HasPrefix(c.Args[1], []byte("#!")) {
			return 0, false
		}
		if script, err := n.scripts.runtime.Load(c.Args[1]); err == nil {
			return script.Flags, true
		}
	}
	return 0, false
}

// scriptRun is one execution of a script or function: what it may do, and where
// its commands go.
type scriptRun struct {
	node    *Node
	outer   *command.Call // EVAL, FCALL, …
	session *session
	db      int
	// function is the name of a function, "" for a script.
	function string
	began    time.Time

	flags     lua.Flags
	declared  bool // the flags were declared, not assumed
	readOnly  bool // an _RO command, or the flag no-writes
	allowOOM  bool
	slot      slots.Slot // of the keys used so far
	slotKnown bool
	replicate bool // redis.set_repl
	wrote     bool // it cannot be killed any more

	keys map[string]bool // declared in KEYS; nil until it matters
}

func (n *Node) newRun(c *command.Call, flags lua.Flags, declared, readOnly bool) *scriptRun {
	s := c.Client.(*session)
	n.scripts.lastError = ""
	run := &scriptRun{
		node: n, outer: c, session: s, db: c.DB.ID(), flags: flags, declared: declared,
		readOnly:  readOnly || declared && flags&lua.NoWrites != 0,
		allowOOM:  declared && flags&(lua.AllowOOM|lua.NoWrites) != 0,
		replicate: true,
	}
	refs := c.Spec.AppendKeys(nil, c.Args)
	if len(refs) > 0 {
		run.slot, run.slotKnown = slots.Of(c.Args[refs[0].Pos]), true
	}
	return run
}

// refusal is why a script with declared flags may not even begin.
func (r *scriptRun) refusal() string {
	if !r.declared {
		return ""
	}
	n := r.node
	writes := r.flags&lua.NoWrites == 0
	switch {
	case r.flags&lua.NoCluster != 0 && n.clustered:
		return "ERR Can not run script on cluster, 'no-cluster' flag is set."
	case writes && r.readOnly:
		return "ERR Can not execute a script with write flag using *_ro command."
	case writes && !r.outer.FromMaster && n.isReplica() && n.set.readOnly:
		return "READONLY You can not run script with write flag on readonly replica."
	case writes && !n.enoughReplicas():
		return "NOREPLICAS Not enough good replicas to write."
	case !r.allowOOM && n.full():
		return "OOM allow-oom flag is not set on the script, can not run it when used memory > 'maxmemory'"
	}
	return ""
}

// Call executes one command of the script.
func (r *scriptRun) Call(args [][]byte, reply *lua.Builder) {
	n := r.node
	c := &command.Call{
		Args: args, Spec: n.table.Lookup(args), Table: n.table, Reply: reply, DB: n.ks.DB(r.db), Client: r.session,
		ClusterEnabled: n.clustered, DenyBlocking: true, FromMaster: r.outer.FromMaster, FromScript: true,
	}
	if msg := r.denial(c); msg != "" {
		n.countFailure(c, msg)
		if c.Spec != nil {
			n.stats.rejected(c.Spec)
		}
		reply.Error(msg)
		return
	}
	if c.Spec.Has(command.Write) {
		r.wrote = true
	}
	pending := len(n.effects.pending)
	n.invoke(c)
	if !r.replicate {
		n.effects.pending = n.effects.pending[:pending]
	}
	r.db = c.DB.ID()
}

// denial is why a script may not run a command: the checks of Redis'
// scriptCall, in its order.
func (r *scriptRun) denial(c *command.Call) string {
	n, spec := r.node, c.Spec
	switch {
	case spec == nil:
		return "ERR Unknown Redis command called from script"
	case !spec.CheckArity(len(c.Args)):
		return "ERR Wrong number of args calling Redis command from script"
	case spec.Handler == nil, spec.Has(command.NoScript) && !(n.scripts.open && openedByDebug[spec.Name]):
		return "ERR This Redis command is not allowed from script"
	}
	if msg := n.permitInScript(r.session, c); msg != "" {
		return msg
	}
	if spec.Has(command.Write) {
		switch {
		case r.readOnly:
			return "ERR Write commands are not allowed from read-only scripts."
		case !c.FromMaster && n.isReplica() && n.set.readOnly:
			return "READONLY You can't write against a read only replica."
		case !n.enoughReplicas():
			return "NOREPLICAS Not enough good replicas to write."
		}
	}
	if spec.Has(command.DenyOOM) && !r.wrote && !r.allowOOM && n.full() {
		return "OOM command not allowed when used memory > 'maxmemory'."
	}
	if n.options.DeclaredKeysOnly {
		if msg := r.undeclared(c); msg != "" {
			return msg
		}
	}
	return r.misplaced(c)
}

// undeclared names the first key of a command that the script did not declare.
func (r *scriptRun) undeclared(c *command.Call) string {
	if r.keys == nil {
		r.keys = map[string]bool{}
		for _, ref := range r.outer.Spec.AppendKeys(nil, r.outer.Args) {
			r.keys[string(r.outer.Args[ref.Pos])] = true
		}
	}
	for _, ref := range c.Spec.AppendKeys(nil, c.Args) {
		if key := c.Args[ref.Pos]; !r.keys[string(key)] {
			return fmt.Sprintf("ERR Script attempted to access the key %q, which it did not declare: pass it in KEYS", key)
		}
	}
	return ""
}

// misplaced is why a command's keys are out of a script's reach.
func (r *scriptRun) misplaced(c *command.Call) string {
	n := r.node
	if n.topo == nil || c.FromMaster {
		return ""
	}
	request := topology.Request{
		Exists: n.existsIn0, Asking: r.session.asking, ReadOnly: r.session.readOnly,
	}
	n.addToRoute(&request, c.Spec, c.Args)
	if len(request.Keys) == 0 {
		return ""
	}
	v := n.topo.Route(&request)
	switch v.Kind {
	case topology.Serve:
	case topology.DownReadOnly:
		return "ERR Script attempted to execute a write command while the cluster is down and readonly"
	case topology.DownState:
		return "ERR Script attempted to execute a command while the cluster is down"
	default:
		return "ERR Script attempted to access a non local key in a cluster node"
	}
	if !r.slotKnown {
		r.slot, r.slotKnown = v.Slot, true
	}
	if r.declared && r.flags&lua.AllowCrossSlotKeys == 0 && r.slot != v.Slot {
		return "ERR Script attempted to access keys that do not hash to the same slot"
	}
	return ""
}

// Log writes what redis.log was given.
func (r *scriptRun) Log(level int, message string) {
	levels := []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelInfo, slog.LevelWarn}
	r.node.log.Log(context.Background(), levels[min(max(level, 0), len(levels)-1)], message, "from", "script")
}

// ACLCheck answers redis.acl_check_cmd.
func (r *scriptRun) ACLCheck(args [][]byte) (allowed, known bool) {
	spec := r.node.table.Lookup(args)
	if spec == nil {
		return false, false
	}
	if r.session.user == nil {
		return true, true
	}
	denial, _ := r.session.user.Check(spec, args)
	return denial == acl.Allowed, true
}

// SetRepl chooses whether effects go to replicas from here on.
func (r *scriptRun) SetRepl(flags int) { r.replicate = flags&lua.ReplReplica != 0 }

var _ resp.Sink = (*lua.Builder)(nil)

func scriptLoad(c *command.Call) {
	n := c.Client.(*session).node
	script, err := n.scripts.load(c.Args[2])
	if err != nil {
		c.Reply.Error(err.Error())
		return
	}
	c.Reply.BulkString(script.SHA)
}

func scriptExists(c *command.Call) {
	n := c.Client.(*session).node
	c.Reply.Array(len(c.Args) - 2)
	for _, sha := range c.Args[2:] {
		c.Reply.Int(int64(boolInt(n.scripts.bySHA[strings.ToLower(string(sha))] != nil)))
	}
}

func scriptFlush(c *command.Call) {
	n := c.Client.(*session).node
	if len(c.Args) > 3 || len(c.Args) == 3 && !is(c.Args[2], "async") && !is(c.Args[2], "sync") {
		c.Reply.Error("ERR SCRIPT FLUSH only support SYNC|ASYNC option")
		return
	}
	clear(n.scripts.bySHA)
	n.scripts.runtime.FlushScripts()
	c.Reply.Status("OK")
}

func scriptDebug(c *command.Call) {
	switch {
	case !is(c.Args[2], "no") && !is(c.Args[2], "yes") && !is(c.Args[2], "sync"):
		c.Reply.Error("ERR Use SCRIPT DEBUG YES/SYNC/NO")
	case !is(c.Args[2], "no"):
		c.Reply.Error("ERR SCRIPT DEBUG is not available: this server has no Lua debugger")
	default:
		c.Reply.Status("OK")
	}
}
