package lua

import (
	"errors"
	"strings"
	"time"

	"github.com/fakecluster/fakecluster/lua/internal/compile"
	"github.com/fakecluster/fakecluster/lua/internal/vm"
)

// Header is what the first line of a library says.
type Header struct {
	Name   string
	Engine string
	code   string
}

// Library is a loaded functions library. It belongs to the Runtime that loaded
// it.
type Library struct {
	Name      string
	Engine    string
	Code      []byte
	Functions []*Function
}

// Function is a registered function of a library.
type Function struct {
	Name           string
	Description    string
	HasDescription bool
	Flags          Flags
	callback       vm.Value
}

// loadTimeout is how long the code of a library may run to register functions.
const loadTimeout = 500 * time.Millisecond

var errLoadTimeout = errors.New("ERR FUNCTION LOAD timeout")

// ParseHeader reads and checks the "#!lua name=…" line of a library. Errors are
// of type *Error.
func ParseHeader(code []byte) (*Header, error) {
	text := string(code)
	if !strings.HasPrefix(text, "#!") {
		return nil, &Error{"ERR Missing library metadata"}
	}
	end := strings.IndexByte(text, '\n')
	if end < 0 || strings.IndexByte(text[:end], 0) >= 0 {
		return nil, &Error{"ERR Invalid library metadata"}
	}
	parts, ok := splitArgs(text[:end])
	if !ok || len(parts) == 0 {
		return nil, &Error{"ERR Invalid library metadata"}
	}
	h := &Header{Engine: parts[0][2:], code: text[end:]}
	named := false
	for _, part := range parts[1:] {
		if len(part) < 5 || !strings.EqualFold(part[:5], "name=") {
			return nil, &Error{"ERR Invalid metadata value given: " + oneLine(part)}
		}
		if named {
			return nil, &Error{"ERR Invalid metadata value, name argument was given multiple times"}
		}
		named = true
		h.Name = part[5:]
	}
	if !named {
		return nil, &Error{"ERR Library name was not given"}
	}
	if !validName(h.Name) {
		return nil, &Error{"ERR Library names can only contain letters, numbers, or underscores(_) and must be at least one character long"}
	}
	if !strings.EqualFold(h.Engine, "lua") {
		return nil, &Error{"ERR Engine '" + oneLine(h.Engine) + "' not found"}
	}
	return h, nil
}

func validName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '_' && !(c|0x20 >= 'a' && c|0x20 <= 'z') && !(c >= '0' && c <= '9') {
			return false
		}
	}
	return s != ""
}

// functionState makes the state libraries live in. Its table of globals is empty
// and refers to one of two others: that of loading, which can do little more
// than register functions, and that of running.
func (r *Runtime) functionState() *state {
	if r.functions != nil {
		return r.functions
	}
	s := r.newState()
	g := s.g
	running := g.Globals
	running.SetStr("redis", vm.TableValue(s.openRedis()))
	running.SetStr("debug", vm.Value{})
	s.protect()

	redis := g.NewTable(0, 0)
	s.addVersion(redis)
	s.addLog(redis)
	redis.SetStr("register_function", g.NewFunction(s.registerFunction))
	loading := g.NewTable(0, 0)
	loading.SetStr("redis", vm.TableValue(redis))
	for _, t := range []*vm.Table{redis, loading} {
		t.SetMeta(s.undefined)
		freeze(t)
	}

	meta := g.NewTable(0, 0)
	g.Globals = g.NewTable(0, 0)
	g.Globals.SetMeta(meta)
	freeze(g.Globals)
	s.use = func(load bool) {
		if load {
			meta.SetStr("__index", vm.TableValue(loading))
		} else {
			meta.SetStr("__index", vm.TableValue(running))
		}
	}
	s.use(false)
	r.functions = s
	return s
}

// LoadLibrary runs a library's code to learn its functions. That its name and
// theirs are free is for the caller to check. Errors are of type *Error.
func (r *Runtime) LoadLibrary(code []byte) (*Library, error) {
	h, err := ParseHeader(code)
	if err != nil {
		return nil, err
	}
	st := r.functionState()
	proto, err := compile.Compile(h.code, "@user_function", 0)
	if err != nil {
		return nil, &Error{"ERR Error compiling function: " + oneLine(err.Error())}
	}
	l := &Library{Name: h.Name, Engine: strings.ToUpper(h.Engine), Code: append([]byte(nil), code...)}
	if err := r.register(st, l, vm.Load(proto)); err != nil {
		return nil, err
	}
	if len(l.Functions) == 0 {
		return nil, &Error{"ERR No functions registered"}
	}
	return l, nil
}

// register runs the code of a library being loaded.
func (r *Runtime) register(st *state, l *Library, proto *vm.Proto) (err error) {
	st.loading = l
	st.use(true)
	r.start(st.g)
	timeout := time.AfterFunc(loadTimeout, func() { r.Interrupt(errLoadTimeout) })
	defer func() {
		timeout.Stop()
		r.stop()
		st.use(false)
		st.loading = nil
		if p := recover(); p != nil {
			st.g.Reset()
			i, ok := p.(*vm.Interruption)
			if !ok {
				panic(p)
			}
			err = &Error{"ERR Error registering functions: " + i.Reason.Error()}
		}
	}()
	t := st.g.Main
	t.Push(st.g.NewClosure(proto, st.g.Globals))
	if e := t.PCall(0, 0); e != nil {
		text := ""
		switch {
		case e.Value.IsString() || e.Value.IsNumber():
			text = "ERR " + stringOf(e.Value)
		case e.Value.Table() != nil:
			if v := e.Value.Table().GetStr("err"); v.IsString() {
				text = v.Str()
			}
		}
		return &Error{"ERR " + oneLine("Error registering functions: "+cString(text))}
	}
	return nil
}

func (s *state) registerFunction(t *vm.Thread) int {
	if s.loading == nil {
		return raise(t, "redis.register_function can only be called on FUNCTION LOAD command")
	}
	f, problem := readFunction(t)
	if problem != "" {
		return raise(t, problem)
	}
	if !validName(f.Name) {
		return raise(t, "Library names can only contain letters, numbers, or underscores(_) and must be at least one character long")
	}
	l := s.loading
	for _, other := range l.Functions {
		if other.Name == f.Name {
			return raise(t, "Function already exists in the library")
		}
	}
	l.Functions = append(l.Functions, f)
	return 0
}

// readFunction reads the arguments of redis.register_function.
func readFunction(t *vm.Thread) (f *Function, problem string) {
	switch t.NArgs() {
	case 1:
		return readNamed(t)
	case 2:
	default:
		return nil, "wrong number of arguments to redis.register_function"
	}
	name, callback := t.Arg(1), t.Arg(2)
	if !name.IsString() && !name.IsNumber() {
		return nil, "first argument to redis.register_function must be a string"
	}
	if callback.Function() == nil {
		return nil, "second argument to redis.register_function must be a function"
	}
	return &Function{Name: stringOf(name), callback: callback}, ""
}

func readNamed(t *vm.Thread) (*Function, string) {
	table := t.Arg(1).Table()
	if table == nil {
		return nil, "calling redis.register_function with a single argument is only applicable to Lua table (representing named arguments)."
	}
	f := &Function{}
	named, problem := false, ""
	table.Each(func(k, v vm.Value) {
		if problem != "" {
			return
		}
		if !k.IsString() && !k.IsNumber() {
			problem = "named argument key given to redis.register_function is not a string"
			return
		}
		switch strings.ToLower(cString(stringOf(k))) {
		case "function_name":
			if !v.IsString() && !v.IsNumber() {
				problem = "function_name argument given to redis.register_function must be a string"
				return
			}
			f.Name, named = stringOf(v), true
		case "description":
			if !v.IsString() && !v.IsNumber() {
				problem = "description argument given to redis.register_function must be a string"
				return
			}
			f.Description, f.HasDescription = stringOf(v), true
		case "callback":
			if v.Function() == nil {
				problem = "callback argument given to redis.register_function must be a function"
				return
			}
			f.callback = v
		case "flags":
			problem = readFlags(f, v)
		default:
			problem = "unknown argument given to redis.register_function"
		}
	})
	switch {
	case problem != "":
		return nil, problem
	case !named:
		return nil, "redis.register_function must get a function name argument"
	case f.callback.IsNil():
		return nil, "redis.register_function must get a callback argument"
	}
	return f, ""
}

func readFlags(f *Function, v vm.Value) (problem string) {
	table := v.Table()
	if table == nil {
		return "flags argument to redis.register_function must be a table representing function flags"
	}
	for i := 1; !table.GetInt(i).IsNil(); i++ {
		name := table.GetInt(i)
		if !name.IsString() {
			return "unknown flag given"
		}
		flag, ok := parseFlag(name.Str())
		if !ok {
			return "unknown flag given"
		}
		f.Flags |= flag
	}
	return ""
}

// CallFunction calls a function of a library this Runtime loaded and writes its
// reply, an error included.
func (r *Runtime) CallFunction(f *Function, server Server, keys, argv [][]byte, reply Sink) {
	st := r.functionState()
	g := st.g
	g.Main.Push(f.callback)
	g.Main.Push(vm.TableValue(stringArray(g, keys)))
	g.Main.Push(vm.TableValue(stringArray(g, argv)))
	r.run(st, 2, f.Name, server, reply)
}
