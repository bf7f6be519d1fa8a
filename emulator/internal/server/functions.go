package server

import (
	"maps"
	"slices"
	"strings"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/glob"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
	"github.com/fakecluster/fakecluster/emulator/internal/resp"
	"github.com/fakecluster/fakecluster/lua"
)

// functions are the libraries loaded into a node.
type functions struct {
	libraries map[string]*lua.Library
	byName    map[string]*lua.Function // in lower case: FCALL takes any
}

var functionCommands = map[string]command.Handler{
	"function|load":    functionLoad,
	"function|list":    functionList,
	"function|delete":  functionDelete,
	"function|flush":   functionFlush,
	"function|dump":    functionDump,
	"function|restore": functionRestore,
	"function|stats":   functionStats,
	"function|kill":    scriptKill,
	"function|help":    help,
	"fcall":            func(c *command.Call) { fcall(c, false) },
	"fcall_ro":         func(c *command.Call) { fcall(c, true) },
}

// add puts a library in. It must not clash with others.
func (f *functions) add(l *lua.Library) {
	if f.libraries == nil {
		f.libraries, f.byName = map[string]*lua.Library{}, map[string]*lua.Function{}
	}
	f.libraries[l.Name] = l
	for _, function := range l.Functions {
		f.byName[strings.ToLower(function.Name)] = function
	}
}

// find returns a function by its name in any case, or nil.
func (f *functions) find(name string) *lua.Function { return f.byName[strings.ToLower(name)] }

func (f *functions) remove(l *lua.Library) {
	delete(f.libraries, l.Name)
	for _, function := range l.Functions {
		delete(f.byName, strings.ToLower(function.Name))
	}
}

// load runs a library's code and puts it in, in the place of one of the same
// name if replace is set.
func (n *Node) loadLibrary(code []byte, replace bool) (name, msg string) {
	header, err := lua.ParseHeader(code)
	if err != nil {
		return "", err.Error()
	}
	f := &n.scripts.functions
	old := f.libraries[header.Name]
	if old != nil && !replace {
		return "", "ERR Library '" + header.Name + "' already exists"
	}
	l, err := n.scripts.runtime.LoadLibrary(code)
	if err != nil {
		return "", err.Error()
	}
	if old != nil {
		f.remove(old)
	}
	for _, function := range l.Functions {
		if f.find(function.Name) != nil {
			if old != nil {
				f.add(old)
			}
			return "", "ERR Function " + function.Name + " already exists"
		}
	}
	f.add(l)
	return l.Name, ""
}

func functionLoad(c *command.Call) {
	n := c.Client.(*session).node
	replace := false
	for _, arg := range c.Args[2 : len(c.Args)-1] {
		if !is(arg, "replace") {
			c.Reply.Error("ERR Unknown option given: " + untilNUL(arg))
			return
		}
		replace = true
	}
	name, msg := n.loadLibrary(c.Args[len(c.Args)-1], replace)
	if msg != "" {
		c.Reply.Error(msg)
		return
	}
	c.Keyspace().Dirty++
	c.Reply.BulkString(name)
}

func functionList(c *command.Call) {
	n := c.Client.(*session).node
	pattern, named, withCode := "*", false, false
	for i := 2; i < len(c.Args); i++ {
		switch {
		case !withCode && is(c.Args[i], "withcode"):
			withCode = true
		case !named && is(c.Args[i], "libraryname"):
			if i+1 == len(c.Args) {
				c.Reply.Error("ERR library name argument was not given")
				return
			}
			i++
			pattern, named = string(c.Args[i]), true
		default:
			c.Reply.Error("ERR Unknown argument " + untilNUL(c.Args[i]))
			return
		}
	}
	var shown []*lua.Library
	for _, name := range slices.Sorted(maps.Keys(n.scripts.functions.libraries)) {
		if glob.MatchFold(pattern, name) {
			shown = append(shown, n.scripts.functions.libraries[name])
		}
	}
	c.Reply.Array(len(shown))
	for _, l := range shown {
		writeLibrary(c.Reply, l, withCode)
	}
}

func writeLibrary(reply resp.Sink, l *lua.Library, withCode bool) {
	reply.Map(3 + boolInt(withCode))
	reply.BulkString("library_name")
	reply.BulkString(l.Name)
	reply.BulkString("engine")
	reply.BulkString(l.Engine)
	reply.BulkString("functions")
	reply.Array(len(l.Functions))
	for _, f := range l.Functions {
		reply.Map(3)
		reply.BulkString("name")
		reply.BulkString(f.Name)
		reply.BulkString("description")
		if f.HasDescription {
			reply.BulkString(f.Description)
		} else {
			reply.Null()
		}
		reply.BulkString("flags")
		flags := f.Flags.Names()
		reply.Set(len(flags))
		for _, flag := range flags {
			reply.Status(flag)
		}
	}
	if withCode {
		reply.BulkString("library_code")
		reply.Bulk(l.Code)
	}
}

func functionDelete(c *command.Call) {
	n := c.Client.(*session).node
	l := n.scripts.functions.libraries[string(c.Args[2])]
	if l == nil {
		c.Reply.Error("ERR Library not found")
		return
	}
	n.scripts.functions.remove(l)
	c.Keyspace().Dirty++
	c.Reply.Status("OK")
}

func functionFlush(c *command.Call) {
	n := c.Client.(*session).node
	switch {
	case len(c.Args) > 3:
		badSubcommand(c)
		return
	case len(c.Args) == 3 && !is(c.Args[2], "sync") && !is(c.Args[2], "async"):
		c.Reply.Error("ERR FUNCTION FLUSH only supports SYNC|ASYNC option")
		return
	}
	n.flushFunctions()
	c.Keyspace().Dirty++
	c.Reply.Status("OK")
}

func (n *Node) flushFunctions() {
	n.scripts.functions = functions{}
	n.scripts.runtime.FlushFunctions()
}

func functionStats(c *command.Call) {
	s := &c.Client.(*session).node.scripts
	run := s.running
	if run != nil && run.function == "" {
		c.Reply.Error(run.busyError())
		return
	}
	c.Reply.Map(2)
	c.Reply.BulkString("running_script")
	if run != nil {
		run.describe(c.Reply)
	} else {
		c.Reply.Null()
	}
	c.Reply.BulkString("engines")
	c.Reply.Map(1)
	c.Reply.BulkString("LUA")
	c.Reply.Map(2)
	c.Reply.BulkString("libraries_count")
	c.Reply.Int(int64(s.libraryCount()))
	c.Reply.BulkString("functions_count")
	c.Reply.Int(int64(s.functionCount()))
}

// describe is what FUNCTION STATS says of a running function.
func (r *scriptRun) describe(reply resp.Sink) {
	reply.Map(3)
	reply.BulkString("name")
	reply.BulkString(r.function)
	reply.BulkString("command")
	reply.Array(len(r.outer.Args))
	for _, arg := range r.outer.Args {
		reply.Bulk(arg)
	}
	reply.BulkString("duration_ms")
	reply.Int(r.node.clock.Now().Sub(r.began).Milliseconds())
}

func fcall(c *command.Call, readOnly bool) {
	n := c.Client.(*session).node
	function := n.scripts.functions.find(string(c.Args[1]))
	if function == nil {
		c.Reply.Error("ERR Function not found")
		return
	}
	if _, ok := number.ParseInt(c.Args[2]); !ok {
		c.Reply.Error("ERR Bad number of keys provided")
		return
	}
	keys, argv, ok := scriptArgs(c)
	if !ok {
		return
	}
	run := n.newRun(c, function.Flags, true, readOnly)
	if msg := run.refusal(); msg != "" {
		c.Reply.Error(msg)
		return
	}
	run.function = function.Name
	n.watch(run, func() { n.scripts.runtime.CallFunction(function, run, keys, argv, c.Reply) })
}

func (s *scripts) count() int         { return len(s.bySHA) }
func (s *scripts) functionCount() int { return len(s.functions.byName) }
func (s *scripts) libraryCount() int  { return len(s.functions.libraries) }
