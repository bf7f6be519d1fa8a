// Package lib holds the libraries scripts find in Redis: those of Lua 5.1 and
// cjson, cmsgpack, struct and bit. Each function follows its C original down to
// the order of its checks and the words of its errors.
package lib

import (
	"fmt"
	"strings"

	"github.com/fakecluster/fakecluster/lua/internal/compile"
	"github.com/fakecluster/fakecluster/lua/internal/vm"
)

// entry is a function of a library. Libraries are listed in the order in which
// the originals register them: it decides how their tables iterate. A function
// Redis leaves out has its place in that order too, and no fn.
type entry struct {
	name string
	fn   vm.GoFunction
}

func register(g *vm.Global, into *vm.Table, entries []entry) {
	for _, e := range entries {
		fn := vm.Value{}
		if e.fn != nil {
			fn = g.NewFunction(e.fn)
		}
		into.SetStr(e.name, fn)
	}
}

// newLibrary makes a library's table, sized as luaL_register does.
func newLibrary(g *vm.Global, name string, entries []entry) *vm.Table {
	t := g.NewTable(0, len(entries))
	g.Globals.SetStr(name, vm.TableValue(t))
	register(g, t, entries)
	return t
}

// OpenBase registers the basic functions and coroutine.
func OpenBase(g *vm.Global) {
	g.Globals.SetStr("_G", vm.TableValue(g.Globals))
	register(g, g.Globals, []entry{
		{"assert", baseAssert}, {"collectgarbage", baseCollectGarbage}, {"dofile", nil},
		{"error", baseError}, {"gcinfo", baseGCInfo}, {"getfenv", nil},
		{"getmetatable", baseGetMetatable}, {"loadfile", nil}, {"load", baseLoad},
		{"loadstring", baseLoadString}, {"next", baseNext}, {"pcall", basePCall}, {"print", nil},
		{"rawequal", baseRawEqual}, {"rawget", baseRawGet}, {"rawset", baseRawSet},
		{"select", baseSelect}, {"setfenv", nil}, {"setmetatable", baseSetMetatable},
		{"tonumber", baseToNumber}, {"tostring", baseToString}, {"type", baseType},
		{"unpack", baseUnpack}, {"xpcall", baseXPCall},
	})
	g.Globals.SetStr("_VERSION", vm.Str("Lua 5.1"))
	iterator := g.NewFunction(ipairsNext)
	g.Globals.SetStr("ipairs", g.NewFunction(baseIPairs, iterator))
	g.Globals.SetStr("pairs", g.NewFunction(basePairs, g.NewFunction(baseNext)))
	g.Globals.SetStr("newproxy", vm.Value{})
	openCoroutine(g)
}

func baseAssert(t *vm.Thread) int {
	v := t.CheckAny(1)
	if !v.Truthy() {
		t.Fail(cString(t.OptString(2, "assertion failed!")))
	}
	return t.NArgs()
}

var gcOptions = []string{"stop", "restart", "collect", "count", "step", "setpause", "setstepmul"}

// checkOption returns which of options argument n is.
func checkOption(t *vm.Thread, n int, def string, options []string) int {
	name := def
	if def == "" || !t.Arg(n).IsNil() {
		name = t.CheckString(n)
	}
	for i, o := range options {
		if o == name {
			return i
		}
	}
	t.ArgError(n, "invalid option '"+cString(name)+"'")
	return 0
}

func baseCollectGarbage(t *vm.Thread) int {
	option := gcOptions[checkOption(t, 1, "collect", gcOptions)]
	arg := t.OptInt(2, 0)
	g := t.Global()
	result := vm.Int(0)
	switch option {
	case "collect":
		g.Collect()
	case "count":
		result = vm.Num(float64(g.Memory()) / 1024)
	case "step":
		g.Collect()
		result = vm.False
	case "setpause":
		result, g.Pause = vm.Int(g.Pause), arg
	case "setstepmul":
		result, g.StepMultiplier = vm.Int(g.StepMultiplier), arg
	}
	t.Push(result)
	return 1
}

func baseGCInfo(t *vm.Thread) int {
	t.Push(vm.Int(t.Global().Memory() / 1024))
	return 1
}

func baseError(t *vm.Thread) int {
	level := t.OptInt(2, 1)
	v := t.Arg(1)
	if isStringOrNumber(v) && level > 0 {
		t.Throw(t.Global().NewString(t.Where(level) + t.CheckString(1)))
	}
	t.Throw(v)
	return 0
}

func isStringOrNumber(v vm.Value) bool { return v.IsString() || v.IsNumber() }

func baseGetMetatable(t *vm.Thread) int {
	v := t.CheckAny(1)
	m := t.Global().Metatable(v)
	if m == nil {
		t.Push(vm.Value{})
		return 1
	}
	if p := m.GetStr("__metatable"); !p.IsNil() {
		t.Push(p)
	} else {
		t.Push(vm.TableValue(m))
	}
	return 1
}

func baseSetMetatable(t *vm.Thread) int {
	table := t.CheckTable(1)
	m := t.Arg(2)
	if t.IsNone(2) || !m.IsNil() && m.Table() == nil {
		t.ArgError(2, "nil or table expected")
	}
	if old := table.Meta(); old != nil && !old.GetStr("__metatable").IsNil() {
		t.Fail("cannot change a protected metatable")
	}
	if table.ReadOnly() {
		t.Errorf("Attempt to modify a readonly table")
	}
	table.SetMeta(m.Table())
	t.Push(t.Arg(1))
	return 1
}

// codeFactor is how many bytes compiled code may take for one of its text.
const codeFactor = 16

// load compiles a chunk and pushes the function, or nil and the message.
func load(t *vm.Thread, next func() string, name string) int {
	size, checked := 0, 0
	proto, err := compile.CompilePieces(func() string {
		piece := next()
		if size += len(piece); size > 2*checked {
			t.Global().CheckStringSize(size * codeFactor)
			checked = size
		}
		return piece
	}, name, t.GoCalls())
	if err != nil {
		t.Push(vm.Value{})
		t.PushString(err.Error())
		return 2
	}
	t.Push(t.Global().NewClosure(vm.Load(proto), t.Global().Globals))
	return 1
}

func baseLoadString(t *vm.Thread) int {
	text := t.CheckString(1)
	name := cString(t.OptString(2, text))
	return load(t, func() string {
		piece := text
		text = ""
		return piece
	}, name)
}

func cString(s string) string {
	if i := strings.IndexByte(s, 0); i >= 0 {
		return s[:i]
	}
	return s
}

// readerFailure is the error of the function that load reads from, on its way
// through the compiler.
type readerFailure struct{ value vm.Value }

func baseLoad(t *vm.Thread) (n int) {
	name := cString(t.OptString(2, "=(load)"))
	t.CheckKind(1, vm.FunctionKind)
	reader := t.Arg(1)
	defer func() {
		if p := recover(); p != nil {
			failure, ok := p.(readerFailure)
			if !ok {
				panic(p)
			}
			t.Push(vm.Value{})
			t.Push(failure.value)
			n = 2
		}
	}()
	return load(t, func() string {
		// The check of what the reader returns is part of what is protected.
		t.Push(t.Global().NewFunction(readPiece))
		t.Push(reader)
		if err := t.ReCall(1, 1); err != nil {
			panic(readerFailure{err.Value})
		}
		return text2(t.Pop())
	}, name)
}

// readPiece calls a reader and returns its piece, the empty string for nil.
func readPiece(t *vm.Thread) int {
	t.Call(0, 1)
	switch v := t.Arg(1); {
	case v.IsNil():
		t.SetArg(1, emptyString)
	case !isStringOrNumber(v):
		t.Throw(t.Global().NewString(t.Where(2) + "reader function must return a string"))
	}
	return 1
}

// text2 is the text of a string or a number.
func text2(v vm.Value) string {
	if v.IsNumber() {
		return vm.FormatNumber(v.Float())
	}
	return v.Str()
}

func baseNext(t *vm.Thread) int {
	table := t.CheckTable(1)
	k, v, ok := table.Next(t.Arg(2))
	if !ok {
		t.Errorf("invalid key to 'next'")
	}
	t.Push(k)
	if k.IsNil() {
		return 1
	}
	t.Push(v)
	return 2
}

func basePairs(t *vm.Thread) int {
	t.CheckTable(1)
	table := t.Arg(1)
	t.Push(t.Upvalue(0))
	t.Push(table)
	t.Push(vm.Value{})
	return 3
}

func baseIPairs(t *vm.Thread) int {
	t.CheckTable(1)
	table := t.Arg(1)
	t.Push(t.Upvalue(0))
	t.Push(table)
	t.Push(vm.Int(0))
	return 3
}

func ipairsNext(t *vm.Thread) int {
	i := t.CheckInt(2) + 1
	v := t.CheckTable(1).GetInt(i)
	if v.IsNil() {
		return 0
	}
	t.Push(vm.Int(i))
	t.Push(v)
	return 2
}

// basePCall is Redis' pcall: of an error table that has a message, it returns
// the message alone.
func basePCall(t *vm.Thread) int {
	if t.NArgs() == 0 {
		// The original calls what happens to lie above its stack.
		t.Push(vm.Value{})
	}
	if err := t.PCall(t.NArgs()-1, -1); err != nil {
		t.SetTop(0)
		t.Push(vm.False)
		table := err.Value.Table()
		if table == nil {
			t.Push(err.Value)
			return 2
		}
		message := t.Index(err.Value, errKey)
		if isStringOrNumber(message) {
			t.Push(message)
			return 2
		}
		t.Push(err.Value)
		t.Push(message)
		return 3
	}
	n := t.NArgs()
	t.Insert(1, vm.True)
	return n + 1
}

var errKey = vm.Str("err")

func baseXPCall(t *vm.Thread) int {
	t.CheckAny(2)
	fn, handler := t.Arg(1), t.Arg(2)
	t.SetTop(0)
	t.Push(fn)
	err := t.HandledPCall(0, -1, handler)
	if err != nil {
		t.SetTop(0)
		t.Push(vm.False)
		t.Push(err.Value)
		return 2
	}
	n := t.NArgs()
	t.Insert(1, vm.True)
	return n + 1
}

func baseRawEqual(t *vm.Thread) int {
	a, b := t.CheckAny(1), t.CheckAny(2)
	t.Push(vm.BoolOf(vm.RawEqual(a, b)))
	return 1
}

func baseRawGet(t *vm.Thread) int {
	table := t.CheckTable(1)
	t.Push(table.Get(t.CheckAny(2)))
	return 1
}

func baseRawSet(t *vm.Thread) int {
	table := t.CheckTable(1)
	k, v := t.CheckAny(2), t.CheckAny(3)
	t.RawSet(table, k, v)
	t.Push(t.Arg(1))
	return 1
}

func baseSelect(t *vm.Thread) int {
	n := t.NArgs()
	if v := t.Arg(1); v.IsString() && strings.HasPrefix(v.Str(), "#") {
		t.Push(vm.Int(n - 1))
		return 1
	}
	i := t.CheckInt(1)
	if i < 0 {
		i += n
	} else if i > n {
		i = n
	}
	if i < 1 {
		t.ArgError(1, "index out of range")
	}
	return n - i
}

func baseToNumber(t *vm.Thread) int {
	base := t.OptInt(2, 10)
	if base == 10 {
		if f, ok := vm.ToNumber(t.CheckAny(1)); ok {
			t.Push(vm.Num(f))
		} else {
			t.Push(vm.Value{})
		}
		return 1
	}
	s := t.CheckString(1)
	if base < 2 || base > 36 {
		t.ArgError(2, "base out of range")
	}
	if f, ok := parseInBase(cString(s), base); ok {
		t.Push(vm.Num(f))
	} else {
		t.Push(vm.Value{})
	}
	return 1
}

// parseInBase is C's strtoul with blanks allowed after the digits.
func parseInBase(s string, base int) (float64, bool) {
	s = strings.TrimLeft(s, " \t\n\v\f\r")
	negative := false
	if s != "" && (s[0] == '-' || s[0] == '+') {
		negative = s[0] == '-'
		s = s[1:]
	}
	if base == 16 && len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' && digitValue(s[2]) < 16 {
		s = s[2:]
	}
	var n uint64
	i, overflow := 0, false
	for ; i < len(s); i++ {
		d := digitValue(s[i])
		if d >= base {
			break
		}
		if n > (1<<64-1-uint64(d))/uint64(base) {
			overflow = true
		}
		n = n*uint64(base) + uint64(d)
	}
	if i == 0 || strings.TrimLeft(s[i:], " \t\n\v\f\r") != "" {
		return 0, false
	}
	if overflow {
		return float64(^uint64(0)), true
	}
	if negative {
		n = -n
	}
	return float64(n), true
}

func digitValue(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'z':
		return int(c|0x20-'a') + 10
	}
	return 99
}

func baseToString(t *vm.Thread) int {
	t.CheckAny(1)
	t.Push(ToString(t, t.Arg(1)))
	return 1
}

// ToString is tostring, metamethod included.
func ToString(t *vm.Thread, v vm.Value) vm.Value {
	if m := t.Global().Metatable(v); m != nil {
		if h := m.GetStr("__tostring"); !h.IsNil() {
			t.Push(h)
			t.Push(v)
			t.Call(1, 1)
			return t.Pop()
		}
	}
	switch v.Kind() {
	case vm.StringKind:
		return v
	case vm.Number:
		return t.Global().NewString(vm.FormatNumber(v.Float()))
	case vm.Bool:
		if v == vm.True {
			return vm.Str("true")
		}
		return vm.Str("false")
	case vm.Nil:
		return vm.Str("nil")
	case vm.LightUserdata:
		return vm.Str("userdata: (nil)")
	}
	return t.Global().NewString(fmt.Sprintf("%s: %#x", v.Kind(), t.Global().Address(v)))
}

func baseType(t *vm.Thread) int {
	t.Push(typeNames[t.CheckAny(1).Kind()])
	return 1
}

var typeNames = func() (names [8]vm.Value) {
	for k := range names {
		names[k] = vm.Str(vm.Kind(k).String())
	}
	return names
}()

func baseUnpack(t *vm.Thread) int {
	table := t.CheckTable(1)
	i := t.OptInt(2, 1)
	e := table.Len()
	if !t.Arg(3).IsNil() {
		e = t.CheckInt(3)
	}
	if i > e {
		return 0
	}
	n := e - i + 1
	if n <= 0 || n > 1<<31-1 || !t.RoomFor(n) {
		t.Fail("too many results to unpack")
	}
	for ; i <= e; i++ {
		t.Push(table.GetInt(i))
	}
	return n
}
