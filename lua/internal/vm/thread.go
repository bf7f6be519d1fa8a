package vm

import (
	"strconv"

	"github.com/fakecluster/fakecluster/lua/internal/compile"
)

const (
	// maxFrames is where the reference implementation, which doubles its list of
	// frames, reports a stack overflow.
	maxFrames = 16384
	// handlerFrames is how many more there may be until that error is caught.
	handlerFrames = 1000
	// maxGoCalls bounds nested calls that use the Go stack.
	maxGoCalls = 200
	// goStackSlots is the room a Go function finds on the stack.
	goStackSlots = 20
	// MaxGoStack is how many values a Go function may push.
	MaxGoStack = 8000
	// slack is kept free above every frame, so that a frame's 256 registers can
	// be addressed without bounds checks.
	slack = 256
)

// frame is an active function.
type frame struct {
	fn        *Function
	base      int // first register
	callee    int // stack index of the function
	top       int // first slot past the frame
	pc        int // next instruction
	results   int // how many results the caller wants, -1 for all
	tailCalls int
}

// Thread is a coroutine or the main thread: a stack of values and of frames.
type Thread struct {
	header
	id      uint32
	g       *Global
	globals *Table
	stack   []Value
	top     int
	frames  []*frame
	depth   int // index of the running frame
	open    *upvalue
	goCalls int
	floor   int // goCalls below which yielding would cross a Go call
	status  Status
	resumer *Thread
	handler Value // what maps the errors of the innermost protected call

	// spareFrames is how many frames beyond the limit the handler of a stack
	// overflow may use.
	spareFrames int
}

// Status is the state of a coroutine.
type Status uint8

// The states of a coroutine.
const (
	Suspended Status = iota
	Running
	Normal
	Dead
)

func newThread(g *Global) *Thread {
	t := &Thread{header: header{ThreadKind}, g: g}
	t.stack = make([]Value, 64+slack)
	t.frames = []*frame{{callee: 0, base: 1, top: 1 + goStackSlots}}
	t.top = 1
	return t
}

// Global returns the runtime the thread belongs to.
func (t *Thread) Global() *Global { return t.g }

// extent is how much of the stack may hold live values.
func (t *Thread) extent() int {
	e := t.top
	for _, f := range t.frames[:t.depth+1] {
		e = max(e, f.top)
	}
	return min(e, len(t.stack))
}

func (t *Thread) frame() *frame { return t.frames[t.depth] }

// ensure makes room for n values above the top.
func (t *Thread) ensure(n int) {
	if need := t.top + n + slack; need > len(t.stack) {
		t.growStack(need)
	}
}

func (t *Thread) growStack(need int) {
	size := max(2*len(t.stack), need)
	t.g.charge(size * valueBytes)
	stack := make([]Value, size)
	copy(stack, t.stack)
	t.stack = stack
	for u := t.open; u != nil; u = u.next {
		u.v = &stack[u.index]
	}
}

func (t *Thread) pushFrame() *frame {
	if t.depth+1 >= maxFrames+t.spareFrames {
		if t.spareFrames > 0 {
			panic(errorInHandler())
		}
		t.spareFrames = handlerFrames
		t.Errorf("stack overflow")
	}
	t.depth++
	if t.depth == len(t.frames) {
		t.frames = append(t.frames, &frame{})
	}
	return t.frames[t.depth]
}

// The interface for Go functions: arguments are numbered from 1.

// NArgs returns how many arguments the running Go function has.
func (t *Thread) NArgs() int { return t.top - t.frame().base }

// Arg returns argument n, nil when it is absent.
func (t *Thread) Arg(n int) Value {
	if i := t.frame().base + n - 1; i < t.top {
		return t.stack[i]
	}
	return Value{}
}

// SetArg replaces argument n, which must exist.
func (t *Thread) SetArg(n int, v Value) { t.stack[t.frame().base+n-1] = v }

// SetTop makes the number of values on the frame n.
func (t *Thread) SetTop(n int) {
	top := t.frame().base + n
	for t.top < top {
		t.Push(Value{})
	}
	t.top = top
}

// Push appends a value to the frame.
func (t *Thread) Push(v Value) {
	if t.top+slack >= len(t.stack) {
		t.growStack(t.top + slack + 1)
	}
	t.stack[t.top] = v
	t.top++
}

// PushString appends a string.
func (t *Thread) PushString(s string) { t.Push(t.g.NewString(s)) }

// Pop removes the last value.
func (t *Thread) Pop() Value {
	t.top--
	return t.stack[t.top]
}

// Insert puts a value before argument n, moving the rest up.
func (t *Thread) Insert(n int, v Value) {
	t.Push(Value{})
	i := t.frame().base + n - 1
	copy(t.stack[i+1:t.top], t.stack[i:t.top-1])
	t.stack[i] = v
}

// GoCalls returns how many calls that use the Go stack are active.
func (t *Thread) GoCalls() int { return t.goCalls }

// Value makes a value of a thread.
func (t *Thread) Value() Value { return threadValue(t) }

// Upvalue returns a value the running Go function captured.
func (t *Thread) Upvalue(i int) Value { return t.frame().fn.captured[i] }

// RoomFor tells whether a Go function may push n more values.
func (t *Thread) RoomFor(n int) bool {
	if n > MaxGoStack || t.NArgs()+n > MaxGoStack {
		return false
	}
	t.ensure(n)
	return true
}

// NewFunction makes a Go function.
func (g *Global) NewFunction(fn GoFunction, captured ...Value) Value {
	g.charge(functionBytes + len(captured)*valueBytes)
	return FunctionValue(&Function{header: header{FunctionKind}, env: g.Globals, goFn: fn, captured: captured})
}

// Errors.

// Throw raises a value as an error.
func (t *Thread) Throw(v Value) { panic(&Error{Value: v}) }

// Errorf raises a message with the position of the running function, if it is a
// Lua function.
func (t *Thread) Errorf(parts ...string) {
	t.throwString(t.position(t.depth) + join(parts))
}

func (t *Thread) throwString(s string) { panic(&Error{Value: t.g.NewString(s)}) }

// Fail raises a message from a Go function, with the position of its caller.
func (t *Thread) Fail(parts ...string) { t.throwString(t.Where(1) + join(parts)) }

func join(parts []string) string {
	if len(parts) == 1 {
		return parts[0]
	}
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	b := make([]byte, 0, n)
	for _, p := range parts {
		b = append(b, p...)
	}
	return string(b)
}

// position is "chunk:line: " for a Lua frame, else empty.
func (t *Thread) position(depth int) string {
	f := t.frames[depth]
	if f.fn == nil || f.fn.IsGo() {
		return ""
	}
	return f.fn.proto.name + ":" + strconv.Itoa(f.line()) + ": "
}

func (f *frame) line() int {
	if f.pc == 0 {
		return int(f.fn.proto.Lines[0])
	}
	return int(f.fn.proto.Lines[f.pc-1])
}

// level finds the frame of a call level: 0 is the running function, 1 its
// caller. A level lost to a tail call has frame -1.
func (t *Thread) level(level int) (depth int, ok bool) {
	depth = t.depth
	for level > 0 && depth > 0 {
		level--
		if f := t.frames[depth]; !f.fn.IsGo() {
			level -= f.tailCalls
		}
		depth--
	}
	if level < 0 {
		return -1, true
	}
	return depth, level == 0 && depth > 0
}

// Where is "chunk:line: " for the function at a call level, empty when it has no
// line.
func (t *Thread) Where(level int) string {
	depth, ok := t.level(level)
	if !ok || depth < 0 {
		return ""
	}
	return t.position(depth)
}

// Proto is a compiled function ready to run; it is immutable and may be shared
// by runtimes.
type Proto struct {
	*compile.Proto
	constants []Value
	protos    []*Proto
	name      string // how messages name the chunk
	size      int    // bytes, with the functions inside
}

// Load prepares a compiled function.
func Load(p *compile.Proto) *Proto {
	out := &Proto{Proto: p, name: compile.ChunkID(p.Source)}
	out.constants = make([]Value, len(p.Constants))
	for i, c := range p.Constants {
		switch c.Kind {
		case compile.ConstFalse:
			out.constants[i] = False
		case compile.ConstTrue:
			out.constants[i] = True
		case compile.ConstNumber:
			out.constants[i] = Num(c.Number)
		case compile.ConstString:
			out.constants[i] = Str(c.String)
		}
	}
	const codeBytes, lineBytes = 4, 4
	out.size = protoBytes + len(p.Code)*(codeBytes+lineBytes) + len(p.Constants)*(valueBytes+stringBytes)
	for _, c := range p.Constants {
		out.size += len(c.String)
	}
	for _, child := range p.Protos {
		loaded := Load(child)
		out.size += loaded.size
		out.protos = append(out.protos, loaded)
	}
	return out
}

// NewClosure makes a function of a main chunk.
func (g *Global) NewClosure(p *Proto, env *Table) Value {
	g.charge(functionBytes + p.size)
	f := &Function{header: header{FunctionKind}, env: env, proto: p}
	f.upvalues = make([]*upvalue, p.NumUpvalues)
	for i := range f.upvalues {
		u := &upvalue{}
		u.v = &u.closed
		f.upvalues[i] = u
	}
	return FunctionValue(f)
}
