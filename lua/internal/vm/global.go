package vm

import "sync/atomic"

// Event is a metamethod.
type Event uint8

// The events; the first five are looked up through a cache of absences.
const (
	EventIndex Event = iota
	EventNewIndex
	EventEq
	EventLen
	EventCall
	EventAdd
	EventSub
	EventMul
	EventDiv
	EventMod
	EventPow
	EventUnm
	EventLt
	EventLe
	EventConcat
	numEvents
)

var eventNames = [numEvents]Value{
	Str("__index"), Str("__newindex"), Str("__eq"), Str("__len"), Str("__call"),
	Str("__add"), Str("__sub"), Str("__mul"), Str("__div"), Str("__mod"), Str("__pow"),
	Str("__unm"), Str("__lt"), Str("__le"), Str("__concat"),
}

// Limits bound what one runtime may hold. Zero fields take the defaults.
type Limits struct {
	// Memory is how many bytes the reachable values of a runtime may take.
	Memory int
	// StringSize is the longest string, in bytes.
	StringSize int
}

// Defaults of Limits.
const (
	DefaultMemory     = 512 << 20
	DefaultStringSize = 512 << 20
)

// Global is what the threads of one runtime share. It is not safe for
// concurrent use, Interrupt aside.
type Global struct {
	Main    *Thread
	Globals *Table
	// TypeMeta holds the metatables of the basic types.
	TypeMeta [numKinds]*Table
	// Current is the thread that runs.
	Current *Thread
	// Data is for the owner of the runtime.
	Data any

	// Pause and StepMultiplier are what scripts set with collectgarbage; they
	// have no effect.
	Pause, StepMultiplier int

	limits    Limits
	lastID    uint32
	depth     int // nested Go calls of the interpreter, over all threads
	allocated int // bytes charged since the last measurement
	threshold int // when to measure again
	live      int // bytes the last measurement found
	interrupt atomic.Pointer[Interruption]
}

// Interruption is a reason to end what runs, which no pcall catches, or
// something that what runs is to do in between.
type Interruption struct {
	Reason error
	attend func()
}

// NewGlobal makes a runtime's shared state with an empty table of globals.
func NewGlobal(limits Limits) *Global {
	if limits.Memory == 0 {
		limits.Memory = DefaultMemory
	}
	if limits.StringSize == 0 {
		limits.StringSize = DefaultStringSize
	}
	g := &Global{limits: limits, Pause: 200, StepMultiplier: 200}
	g.threshold = g.firstThreshold()
	g.Globals = g.NewTable(0, 2)
	g.Main = newThread(g)
	g.Main.globals = g.Globals
	g.Current = g.Main
	return g
}

// Interrupt ends the running script with reason as soon as it polls. It may be
// called from any goroutine.
func (g *Global) Interrupt(reason error) { g.interrupt.Store(&Interruption{Reason: reason}) }

// Attend makes what runs call do as soon as it polls, unless it is to end. It
// may be called from any goroutine.
func (g *Global) Attend(do func()) {
	g.interrupt.CompareAndSwap(nil, &Interruption{attend: do})
}

// ClearInterrupt forgets an interruption.
func (g *Global) ClearInterrupt() { g.interrupt.Store(nil) }

// Poll ends the script if it was interrupted. Library loops that may run long
// call it.
func (g *Global) Poll() {
	for i := g.interrupt.Load(); i != nil; i = g.interrupt.Load() {
		if i.attend == nil {
			panic(i)
		}
		if g.interrupt.CompareAndSwap(i, nil) {
			i.attend()
		}
	}
}

// Where tells the source and line of the innermost Lua function that runs.
func (g *Global) Where() (source string, line int, ok bool) {
	t := g.Current
	for depth := t.depth; depth >= 0 && depth < len(t.frames); depth-- {
		if f := t.frames[depth]; f != nil && f.fn != nil && !f.fn.IsGo() {
			return f.fn.proto.Source, f.line(), true
		}
	}
	return "", 0, false
}

// Error is a Lua error on its way to a pcall or the caller of the runtime.
type Error struct {
	Value Value
	// unhandled errors pass no handler: out of memory, errors in handlers.
	unhandled bool
}

func (e *Error) Error() string {
	if e.Value.IsString() {
		return e.Value.Str()
	}
	return "(error object is not a string)"
}

func errorInHandler() *Error {
	return &Error{Value: Str("error in error handling"), unhandled: true}
}

// Metatable returns the metatable of a value, nil if it has none.
func (g *Global) Metatable(v Value) *Table { return g.metatable(v) }

func (g *Global) metatable(v Value) *Table {
	switch v.Kind() {
	case TableKind:
		return (*Table)(v.ref).meta
	default:
		return g.TypeMeta[v.Kind()]
	}
}

// Metamethod returns the handler of an event for v, nil if there is none.
func (g *Global) Metamethod(v Value, e Event) Value {
	m := g.metatable(v)
	if m == nil {
		return Value{}
	}
	return m.getStr(eventNames[e].str())
}

// fast looks an event up in a metatable, remembering when it is absent.
func (m *Table) fast(e Event) Value {
	if m == nil || m.absent&(1<<e) != 0 {
		return Value{}
	}
	v := m.getStr(eventNames[e].str())
	if v.IsNil() {
		m.absent |= 1 << e
	}
	return v
}
