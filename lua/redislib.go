package lua

import (
	"strconv"
	"strings"

	"github.com/fakecluster/fakecluster/lua/internal/vm"
)

// errorTable makes {err=…} of a message, with or without its code: "-CODE text"
// keeps its code, anything else gets ERR.
func errorTable(g *vm.Global, message string) *vm.Table {
	message = strings.TrimRight(message, "\r\n")
	text := "ERR " + message
	if rest, ok := strings.CutPrefix(message, "-"); ok {
		text = rest
		if !strings.Contains(rest, " ") {
			text = "ERR " + rest
		}
	}
	t := g.NewTable(0, 0)
	t.SetStr("err", g.NewString(text))
	return t
}

// raise throws {err=…}.
func raise(t *vm.Thread, message string) int {
	t.Throw(vm.TableValue(errorTable(t.Global(), message)))
	return 0
}

// openRedis registers the redis library for EVAL scripts.
func (s *state) openRedis() *vm.Table {
	g := s.g
	lib := g.NewTable(0, 0)
	add := func(name string, fn vm.GoFunction) { lib.SetStr(name, g.NewFunction(fn)) }
	add("call", func(t *vm.Thread) int { return s.call(t, true) })
	add("pcall", func(t *vm.Thread) int { return s.call(t, false) })
	s.addLog(lib)
	s.addVersion(lib)
	add("setresp", s.setResp)
	add("sha1hex", sha1Hex)
	add("error_reply", errorReply)
	add("status_reply", statusReply)
	add("set_repl", s.setRepl)
	for _, c := range []struct {
		name  string
		flags int
	}{
		{"REPL_NONE", ReplNone}, {"REPL_AOF", ReplAOF}, {"REPL_SLAVE", ReplReplica},
		{"REPL_REPLICA", ReplReplica}, {"REPL_ALL", ReplAll},
	} {
		lib.SetStr(c.name, vm.Int(c.flags))
	}
	add("acl_check_cmd", s.aclCheck)
	return lib
}

// addLog adds what libraries find while they are loaded, too.
func (s *state) addLog(lib *vm.Table) {
	lib.SetStr("log", s.g.NewFunction(s.log))
	for level, name := range []string{"LOG_DEBUG", "LOG_VERBOSE", "LOG_NOTICE", "LOG_WARNING"} {
		lib.SetStr(name, vm.Int(level))
	}
}

func (s *state) addVersion(lib *vm.Table) {
	if n := s.version.number(); n >= 0x070000 {
		lib.SetStr("REDIS_VERSION_NUM", vm.Int(n))
		lib.SetStr("REDIS_VERSION", vm.Str(s.version.text))
	}
}

// addEvalOnly adds what scripts have and functions do not.
func (s *state) addEvalOnly(lib *vm.Table) {
	add := func(name string, fn vm.GoFunction) { lib.SetStr(name, s.g.NewFunction(fn)) }
	add("breakpoint", func(t *vm.Thread) int {
		t.Push(vm.False)
		return 1
	})
	add("debug", func(*vm.Thread) int { return 0 })
	add("replicate_commands", func(t *vm.Thread) int {
		t.Push(vm.True)
		return 1
	})
}

// arguments reads the running function's arguments as a command. They share one
// piece of memory.
func (s *state) arguments(t *vm.Thread) (args [][]byte, problem string) {
	n := t.NArgs()
	if n == 0 {
		return nil, "Please specify at least one argument for this redis lib call"
	}
	const numberSize = 24
	size := 0
	for i := 1; i <= n; i++ {
		switch v := t.Arg(i); v.Kind() {
		case vm.Number:
			size += numberSize
		case vm.StringKind:
			size += len(v.Str())
		default:
			return nil, "Lua redis lib command arguments must be strings or integers"
		}
	}
	s.g.CheckStringSize(size)
	args = make([][]byte, n)
	buffer := make([]byte, 0, size)
	for i := range args {
		start := len(buffer)
		if v := t.Arg(i + 1); v.IsNumber() {
			buffer = s.append(buffer, v.Float())
		} else {
			buffer = append(buffer, v.Str()...)
		}
		args[i] = buffer[start:len(buffer):len(buffer)]
	}
	return args, ""
}

func (s *state) call(t *vm.Thread, raiseErrors bool) int {
	if s.server == nil {
		return raise(t, "redis.call/pcall can only be called inside a script invocation")
	}
	args, problem := s.arguments(t)
	if problem != "" {
		e := vm.TableValue(errorTable(s.g, problem))
		if raiseErrors {
			t.Throw(e)
		}
		t.Push(e)
		return 1
	}
	s.g.Poll()
	b := &s.builder
	b.reset(s.g, s.resp)
	s.server.Call(args, b)
	if b.isError && raiseErrors {
		t.Throw(b.value)
	}
	t.Push(b.value)
	b.value = vm.Value{}
	return 1
}

func (s *state) log(t *vm.Thread) int {
	n := t.NArgs()
	if n < 2 {
		return raise(t, "redis.log() requires two arguments or more.")
	}
	f, ok := vm.ToNumber(t.Arg(1))
	if !ok {
		return raise(t, "First argument must be a number (log level).")
	}
	level := vm.ToInteger(f)
	if level < 0 || level > 3 {
		return raise(t, "Invalid debug level.")
	}
	var b strings.Builder
	for i := 2; i <= n; i++ {
		v := t.Arg(i)
		if !v.IsString() && !v.IsNumber() {
			continue
		}
		if i != 2 {
			b.WriteByte(' ')
		}
		b.WriteString(t.CheckString(i))
	}
	if s.server != nil {
		s.server.Log(level, b.String())
	}
	return 0
}

// integerArg converts as lua_tonumber and a cast to int do.
func integerArg(v vm.Value) int {
	f, _ := vm.ToNumber(v)
	return int(int32(vm.ToInteger(f)))
}

func (s *state) setResp(t *vm.Thread) int {
	if t.NArgs() != 1 {
		return raise(t, "redis.setresp() requires one argument.")
	}
	resp := integerArg(t.Arg(1))
	if resp != 2 && resp != 3 {
		return raise(t, "RESP version must be 2 or 3.")
	}
	s.resp = resp
	return 0
}

func sha1Hex(t *vm.Thread) int {
	if t.NArgs() != 1 {
		return raise(t, "wrong number of arguments")
	}
	text := ""
	if v := t.Arg(1); v.IsString() || v.IsNumber() {
		text = t.CheckString(1)
	}
	t.PushString(SHA1Hex([]byte(text)))
	return 1
}

// singleString returns the one string argument; without it, it pushes an error
// table.
func singleString(t *vm.Thread) (string, bool) {
	if t.NArgs() != 1 || !t.Arg(1).IsString() {
		t.Push(vm.TableValue(errorTable(t.Global(), "wrong number or type of arguments")))
		return "", false
	}
	return cString(t.Arg(1).Str()), true
}

func errorReply(t *vm.Thread) int {
	s, ok := singleString(t)
	if !ok {
		return 1
	}
	if !strings.HasPrefix(s, "-") {
		s = "-" + s
	}
	t.Push(vm.TableValue(errorTable(t.Global(), s)))
	return 1
}

func statusReply(t *vm.Thread) int {
	if _, ok := singleString(t); !ok {
		return 1
	}
	table := t.Global().NewTable(0, 0)
	table.SetStr("ok", t.Arg(1))
	t.Push(vm.TableValue(table))
	return 1
}

func (s *state) setRepl(t *vm.Thread) int {
	if t.NArgs() != 1 {
		return raise(t, "redis.set_repl() requires two arguments.")
	}
	flags := integerArg(t.Arg(1))
	if flags&^ReplAll != 0 {
		return raise(t, "Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.")
	}
	if s.server != nil {
		s.server.SetRepl(flags)
	}
	return 0
}

func (s *state) aclCheck(t *vm.Thread) int {
	args, problem := s.arguments(t)
	if problem != "" {
		return raise(t, problem)
	}
	if s.server == nil {
		return raise(t, "redis.acl_check_cmd can only be called inside a script invocation")
	}
	allowed, known := s.server.ACLCheck(args)
	if !known {
		return raise(t, "Invalid command passed to redis.acl_check_cmd()")
	}
	t.Push(vm.BoolOf(allowed))
	return 1
}

// version is a Redis version such as 7.0.15.
type version struct{ text string }

// number is the version as redis.REDIS_VERSION_NUM gives it: 0x00MMmmpp.
func (v version) number() int {
	n := 0
	parts := strings.SplitN(v.text, ".", 3)
	for i := range 3 {
		n <<= 8
		if i < len(parts) {
			p, _ := strconv.Atoi(parts[i])
			n |= p & 0xff
		}
	}
	return n
}
