package lua

import (
	"math/bits"
	"strconv"
	"sync"

	"github.com/fakecluster/fakecluster/lua/internal/lib"
	"github.com/fakecluster/fakecluster/lua/internal/vm"
)

// Limits bound what the scripts of a Runtime may hold; zero fields take
// defaults.
type Limits struct {
	// Memory is how many bytes the values of a Runtime may take at once.
	Memory int
	// StringSize is the longest string, in bytes.
	StringSize int
}

// Options configure a Runtime.
type Options struct {
	// RedisVersion decides what the libraries have: "7.0.15", "7.2.6", "7.4.1".
	RedisVersion string
	Limits       Limits
	// AppendDouble appends a number as the server prints doubles: as an argument
	// of a command and in replies. Nil stands for "%.17g", as before Redis 7.2.
	AppendDouble func(dst []byte, f float64) []byte
}

// Runtime runs the scripts and functions of one node. Interrupt aside, it is
// not safe for concurrent use. A new Runtime is cheap: its Lua states are made
// when first used.
type Runtime struct {
	options   Options
	scripts   *state // EVAL
	functions *state // FUNCTION LOAD and FCALL

	mu      sync.Mutex
	running *vm.Global // guarded by mu
}

// New makes a Runtime.
func New(options Options) *Runtime {
	if options.RedisVersion == "" {
		options.RedisVersion = "7.2.6"
	}
	if options.AppendDouble == nil {
		options.AppendDouble = appendDouble17
	}
	return &Runtime{options: options}
}

// Close ends a running script and drops all state.
func (r *Runtime) Close() { r.scripts, r.functions = nil, nil }

// Interrupt ends the script or function that runs, if any: its reply becomes
// an error with reason's text. It may be called from any goroutine.
func (r *Runtime) Interrupt(reason error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running != nil {
		r.running.Interrupt(reason)
	}
}

func (r *Runtime) start(g *vm.Global) {
	r.mu.Lock()
	defer r.mu.Unlock()
	g.ClearInterrupt()
	r.running = g
}

func (r *Runtime) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running = nil
}

// Attend makes the script or function that runs call do in between two of its
// steps, and reports whether there is one. It may be called from any goroutine;
// do runs in that which runs the script.
func (r *Runtime) Attend(do func()) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running != nil {
		r.running.Attend(do)
	}
	return r.running != nil
}

// Memory returns how many bytes the Lua values of scripts and functions take.
func (r *Runtime) Memory() (scripts, functions int) {
	if r.scripts != nil {
		scripts = r.scripts.g.Memory()
	}
	if r.functions != nil {
		functions = r.functions.g.Memory()
	}
	return scripts, functions
}

// FlushScripts drops the state EVAL scripts share, as SCRIPT FLUSH does.
func (r *Runtime) FlushScripts() { r.scripts = nil }

// FlushFunctions drops the state libraries share, as FUNCTION FLUSH does.
func (r *Runtime) FlushFunctions() { r.functions = nil }

// state is a Lua state with its sandbox.
type state struct {
	g       *vm.Global
	version version
	append  func(dst []byte, f float64) []byte
	server  Server
	resp    int
	builder Builder
	handler vm.Value
	// readError is a function that reads an error table.
	readError vm.Value
	// undefined is the metatable that makes reading an absent field an error.
	undefined *vm.Table

	// Of the state of functions: the library being loaded, and what chooses the
	// globals for loading or running.
	loading *Library
	use     func(load bool)
}

func (r *Runtime) newState() *state {
	l := r.options.Limits
	s := &state{
		g:       vm.NewGlobal(vm.Limits{Memory: l.Memory, StringSize: l.StringSize}),
		version: version{r.options.RedisVersion},
		append:  r.options.AppendDouble,
		resp:    2,
	}
	s.builder.append = s.append
	lib.OpenBase(s.g)
	lib.OpenTable(s.g)
	lib.OpenString(s.g)
	lib.OpenMath(s.g, lib.NewRandom())
	// Redis has debug for as long as it sets up: its place among the globals
	// tells in the order of pairs(_G).
	s.g.Globals.SetStr("debug", vm.True)
	lib.OpenCJSON(s.g)
	lib.OpenStruct(s.g)
	lib.OpenMsgPack(s.g)
	lib.OpenBit(s.g)
	if s.version.number() >= 0x070400 {
		lib.OpenOS(s.g)
	}
	s.handler = s.newErrorHandler()
	s.readError = s.g.NewFunction(readErrorTable)
	return s
}

func (r *Runtime) scriptState() *state {
	if r.scripts == nil {
		s := r.newState()
		redis := s.openRedis()
		s.addEvalOnly(redis)
		s.g.Globals.SetStr("redis", vm.TableValue(redis))
		s.g.Globals.SetStr("debug", vm.Value{})
		s.g.Globals.SetStr("__redis__err__handler", s.handler)
		s.protect()
		r.scripts = s
	}
	return r.scripts
}

// protect makes the globals read-only and reading an undefined one an error.
func (s *state) protect() {
	s.undefined = s.g.NewTable(0, 0)
	s.undefined.SetStr("__index", s.g.NewFunction(undefinedGlobal))
	s.g.Globals.SetMeta(s.undefined)
	freeze(s.g.Globals)
	for _, m := range s.g.TypeMeta {
		if m != nil {
			freeze(m)
		}
	}
}

// freeze makes a table and all it reaches read-only.
func freeze(t *vm.Table) {
	if t.ReadOnly() {
		return
	}
	t.SetReadOnly(true)
	t.Each(func(_, v vm.Value) {
		if child := v.Table(); child != nil {
			freeze(child)
		}
	})
	if m := t.Meta(); m != nil {
		freeze(m)
	}
}

func undefinedGlobal(t *vm.Thread) int {
	name := "?"
	if v := t.Arg(2); v.IsString() || v.IsNumber() {
		name = cString(t.CheckString(2))
	}
	t.Fail("Script attempted to access nonexistent global variable '", name, "'")
	return 0
}

// Run executes a script and writes its reply, an error included.
func (r *Runtime) Run(s *Script, server Server, keys, argv [][]byte, reply Sink) {
	st := r.scriptState()
	g := st.g
	g.Globals.SetStr("KEYS", vm.TableValue(stringArray(g, keys)))
	g.Globals.SetStr("ARGV", vm.TableValue(stringArray(g, argv)))
	g.Main.Push(g.NewClosure(s.proto, g.Globals))
	r.run(st, 0, s.SHA, server, reply)
}

// stringArray makes a table of strings, of the size it would have grown to.
func stringArray(g *vm.Global, items [][]byte) *vm.Table {
	size := 0
	if len(items) > 0 {
		size = 1 << bits.Len(uint(len(items)-1))
	}
	t := g.NewTable(size, 0)
	for i, b := range items {
		t.SetInt(i+1, g.NewString(string(b)))
	}
	return t
}

// run calls the function below the last nargs values and writes the reply.
func (r *Runtime) run(st *state, nargs int, name string, server Server, reply Sink) {
	st.server, st.resp = server, 2
	r.start(st.g)
	defer func() {
		r.stop()
		st.server = nil
		st.g.Trim()
		if p := recover(); p != nil {
			i, ok := p.(*vm.Interruption)
			if !ok {
				st.g.Reset()
				panic(p)
			}
			text := i.Reason.Error()
			if source, line, ok := st.g.Where(); ok {
				text += " script: " + name + ", on " + source + ":" + strconv.Itoa(line) + "."
			}
			st.g.Reset()
			reply.Error(text)
		}
	}()
	t := st.g.Main
	if err := t.HandledPCall(nargs, 1, st.handler); err != nil {
		reply.Error(st.errorText(err.Value, name))
		return
	}
	v := t.Pop()
	if !st.fits(v) {
		reply.Error("ERR not enough memory script: " + name)
		return
	}
	out := replier{sink: reply, resp: st.resp}
	out.write(v, 0)
}
