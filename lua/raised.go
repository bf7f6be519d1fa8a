package lua

import (
	"strings"
	"sync"

	"github.com/fakecluster/fakecluster/lua/internal/compile"
	"github.com/fakecluster/fakecluster/lua/internal/lib"
	"github.com/fakecluster/fakecluster/lua/internal/vm"
)

// What a script raised and nothing caught is made a table with the message and
// where it comes from; the reply is read from that. Both heed the metamethods of
// a table the script made, and both may fail by them.

// errorHandler is a Lua function for its errors to say where they arose as those
// of Redis' handler do, down to the line.
var errorHandler = sync.OnceValue(func() *vm.Proto {
	code := strings.Repeat("\n", 8) + `local describe = ... return function(raised) local err, source, line = describe(raised) if source then
			err.source = source
			err.line = line
		end
		return err
	end`
	proto, err := compile.Compile(code, "@err_handler_def", 0)
	if err != nil {
		panic(err)
	}
	return vm.Load(proto)
})

func (s *state) newErrorHandler() vm.Value {
	t := s.g.Main
	t.Push(s.g.NewClosure(errorHandler(), s.g.Globals))
	t.Push(s.g.NewFunction(describeError))
	t.Call(1, 1)
	return t.Pop()
}

// describeError makes a table of whatever was raised and tells where: in the
// function that raised it, or its caller if that was Go.
func describeError(t *vm.Thread) int {
	v := t.Arg(1)
	g := t.Global()
	if v.Table() == nil {
		table := g.NewTable(0, 1)
		table.SetStr("err", g.NewString("ERR "+lib.ToString(t, v).Str()))
		v = vm.TableValue(table)
	}
	t.Push(v)
	source, line, ok := t.ErrorOrigin()
	if !ok {
		return 1
	}
	t.Push(g.NewString(source))
	t.Push(vm.Int(line))
	return 3
}

// errorFields are what the server reads of an error table, in its order. The
// last only matters to it.
var errorFields = []vm.Value{vm.Str("err"), vm.Str("source"), vm.Str("line"), vm.Str("ignore_error_stats_update")}

func readErrorTable(t *vm.Thread) int {
	table := t.Arg(1)
	for _, name := range errorFields {
		t.Push(t.Index(table, name))
	}
	return len(errorFields)
}

// errorText is the reply for an error nothing caught.
func (s *state) errorText(raised vm.Value, name string) string {
	if raised.Table() == nil {
		return failureText(raised, name)
	}
	t := s.g.Main
	t.Push(s.readError)
	t.Push(raised)
	if err := t.PCall(1, len(errorFields)); err != nil {
		return failureText(err.Value, name) // Redis crashes
	}
	t.Pop()
	line, source, message := t.Pop(), t.Pop(), t.Pop()
	text := "ERR execution failure" // without a message Redis crashes
	if isText(message) {
		text = cString(stringOf(message))
	}
	if isText(source) && isText(line) {
		text += " script: " + name + ", on " + cString(stringOf(source)) + ":" + cString(stringOf(line)) + "."
	}
	return oneLine(text)
}

// failureText is the reply for an error that is no table.
func failureText(raised vm.Value, name string) string {
	text := "execution failure"
	if raised.IsString() {
		text = raised.Str()
	}
	return oneLine("ERR Error running script " + name + ", " + text[:min(len(text), 100)])
}

func isText(v vm.Value) bool { return v.IsString() || v.IsNumber() }

func stringOf(v vm.Value) string {
	if v.IsNumber() {
		return vm.FormatNumber(v.Float())
	}
	return v.Str()
}
