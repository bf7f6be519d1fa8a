package vm

import "github.com/fakecluster/fakecluster/lua/internal/compile"

// multRet asks for all results.
const multRet = -1

// Yielded is what a Go function returns to suspend its coroutine.
const Yielded = -1

// outcome is how a call started.
type outcome uint8

const (
	calledLua outcome = iota // a frame was pushed; its code has to run
	calledGo                 // the function has run
	calledYield
)

// precall starts the call of the function at stack index callee with the
// arguments above it.
func (t *Thread) precall(callee, results int) outcome {
	fn := t.stack[callee].Function()
	if fn == nil {
		fn = t.callHandler(callee)
	}
	if fn.proto == nil {
		return t.callGo(fn, callee, results)
	}
	p := fn.proto
	t.ensure(p.MaxStack)
	base := callee + 1
	if p.Vararg == 0 {
		if limit := base + p.NumParams; t.top > limit {
			t.top = limit
		}
	} else {
		base = t.adjustVarargs(p, t.top-base)
	}
	f := t.pushFrame()
	f.fn, f.base, f.callee, f.pc, f.results, f.tailCalls = fn, base, callee, 0, results, 0
	f.top = base + p.MaxStack
	clear(t.stack[t.top:max(f.top, t.top)])
	t.top = f.top
	return calledLua
}

func (t *Thread) callGo(fn *Function, callee, results int) outcome {
	t.ensure(goStackSlots)
	f := t.pushFrame()
	f.fn, f.base, f.callee, f.pc, f.results, f.tailCalls = fn, callee+1, callee, 0, results, 0
	f.top = t.top + goStackSlots
	n := fn.goFn(t)
	if n < 0 {
		return calledYield
	}
	t.postcall(t.top - n)
	return calledGo
}

// callHandler replaces a value that is no function by its __call handler.
func (t *Thread) callHandler(callee int) *Function {
	v := t.stack[callee]
	handler := t.g.Metamethod(v, EventCall)
	fn := handler.Function()
	if fn == nil {
		t.typeError(v, callee-t.frame().base, "call")
	}
	t.ensure(1)
	copy(t.stack[callee+1:t.top+1], t.stack[callee:t.top])
	t.top++
	t.stack[callee] = handler
	return fn
}

// adjustVarargs moves the fixed parameters above the arguments and returns the
// new base.
func (t *Thread) adjustVarargs(p *Proto, n int) int {
	fixed := p.NumParams
	for ; n < fixed; n++ {
		t.Push(Value{})
	}
	var arg Value
	if p.Vararg&compile.VarargNeedArg != 0 {
		extra := n - fixed
		table := t.g.NewTable(extra, 1)
		for i := range extra {
			table.SetInt(i+1, t.stack[t.top-extra+i])
		}
		table.SetStr("n", Int(extra))
		arg = TableValue(table)
	}
	t.ensure(p.MaxStack + fixed + 1)
	first := t.top - n
	base := t.top
	for i := range fixed {
		t.Push(t.stack[first+i])
		t.stack[first+i] = Value{}
	}
	if p.Vararg&compile.VarargHasArg != 0 {
		t.Push(arg)
	}
	return base
}

// postcall ends the running frame, moving its results, which start at first, to
// where the caller wants them. It tells whether the caller asked for a fixed
// number.
func (t *Thread) postcall(first int) bool {
	f := t.frames[t.depth]
	t.depth--
	dst := f.callee
	wanted := f.results
	i := wanted
	for ; i != 0 && first < t.top; i-- {
		t.stack[dst] = t.stack[first]
		dst++
		first++
	}
	for ; i > 0; i-- {
		t.stack[dst] = Value{}
		dst++
	}
	t.top = dst
	return wanted != multRet
}

// call runs the function at stack index callee to its end.
func (t *Thread) call(callee, results int) {
	t.goCalls++
	t.g.depth++
	if t.goCalls >= maxGoCalls || t.g.depth >= maxGoCalls {
		t.goOverflow()
	}
	if t.precall(callee, results) == calledLua {
		t.execute(1)
	}
	t.goCalls--
	t.g.depth--
}

func (t *Thread) goOverflow() {
	deepest := max(t.goCalls, t.g.depth)
	if deepest == maxGoCalls {
		t.Errorf("C stack overflow")
	}
	if deepest >= maxGoCalls+maxGoCalls/8 {
		panic(errorInHandler())
	}
}

// Call calls the function below the last nargs values, which it replaces by
// results values (-1 for all).
func (t *Thread) Call(nargs, results int) { t.call(t.top-nargs-1, results) }

// PCall is Call that catches errors: it then leaves the frame as it was below
// the function and returns the error. Interruptions pass through.
func (t *Thread) PCall(nargs, results int) (err *Error) {
	callee := t.top - nargs - 1
	depth, goCalls, nested, current := t.depth, t.goCalls, t.g.depth, t.g.Current
	outer := t.handler
	t.handler = Value{}
	defer func() {
		t.handler = outer
		r := recover()
		if r == nil {
			return
		}
		e, ok := r.(*Error)
		if !ok {
			panic(r)
		}
		t.closeUpvalues(callee)
		t.goCalls, t.g.depth, t.g.Current = goCalls, nested, current
		t.unwind(depth, callee)
		err = e
	}()
	t.call(callee, results)
	return nil
}

// HandledPCall is PCall with a function that maps an error's value while the
// frames that raised it still stand.
func (t *Thread) HandledPCall(nargs, results int, handler Value) (err *Error) {
	callee := t.top - nargs - 1
	depth, goCalls, nested, current := t.depth, t.goCalls, t.g.depth, t.g.Current
	outer := t.handler
	t.handler = handler
	defer func() {
		t.handler = outer
		r := recover()
		if r == nil {
			return
		}
		e, ok := r.(*Error)
		if !ok {
			panic(r)
		}
		t.g.Current = current
		t.top = max(t.top, t.frame().top)
		if !e.unhandled {
			e = t.handle(e, handler)
		}
		t.closeUpvalues(callee)
		t.goCalls, t.g.depth = goCalls, nested
		t.unwind(depth, callee)
		err = e
	}()
	t.call(callee, results)
	return nil
}

// unwind drops the frames and values above those of a protected call.
func (t *Thread) unwind(depth, top int) {
	t.depth, t.top = depth, top
	if depth < maxFrames {
		t.spareFrames = 0
	}
}

// ReCall is a protected call with the handler in force, if there is one.
func (t *Thread) ReCall(nargs, results int) *Error {
	if t.handler.IsNil() {
		return t.PCall(nargs, results)
	}
	return t.HandledPCall(nargs, results, t.handler)
}

// handle maps an error. An error of the handler is the handler's again, while
// what raised it still stands, until such calls are nested too deeply.
func (t *Thread) handle(e *Error, handler Value) *Error {
	if handler.Function() == nil {
		return errorInHandler()
	}
	t.Push(handler)
	t.Push(e.Value)
	if err := t.HandledPCall(1, 1, handler); err != nil {
		return err
	}
	return &Error{Value: t.Pop()}
}

// callMeta calls a handler with arguments and returns its result.
func (t *Thread) callMeta(handler Value, args ...Value) Value {
	callee := t.top
	t.ensure(len(args) + 1)
	t.stack[callee] = handler
	t.top = callee + 1 + copy(t.stack[callee+1:], args)
	t.call(callee, 1)
	t.top--
	return t.stack[t.top]
}

// callMetaNoResult calls an assignment handler.
func (t *Thread) callMetaNoResult(handler Value, args ...Value) {
	callee := t.top
	t.ensure(len(args) + 1)
	t.stack[callee] = handler
	t.top = callee + 1 + copy(t.stack[callee+1:], args)
	t.call(callee, 0)
}

// Upvalues.

func (t *Thread) findUpvalue(index int) *upvalue {
	link := &t.open
	for *link != nil && (*link).index >= index {
		if (*link).index == index {
			return *link
		}
		link = &(*link).next
	}
	u := &upvalue{v: &t.stack[index], index: index, next: *link}
	*link = u
	return u
}

// closeUpvalues detaches the variables at and above a stack index.
func (t *Thread) closeUpvalues(index int) {
	for t.open != nil && t.open.index >= index {
		u := t.open
		u.closed = *u.v
		u.v = &u.closed
		t.open = u.next
		u.next = nil
	}
}

// Coroutines.

// NewThread makes a coroutine that will run fn.
func (t *Thread) NewThread(fn Value) *Thread {
	co := newThread(t.g)
	t.g.charge(len(co.stack) * valueBytes)
	co.globals = t.globals
	co.Push(fn)
	return co
}

// Status returns the state of a coroutine.
func (t *Thread) Status() Status { return t.status }

// Resume runs a coroutine with args until it yields, ends or fails. The values
// it hands over are left on its own stack; n is how many.
func (t *Thread) Resume(co *Thread, args []Value) (results []Value, err *Error) {
	switch {
	case co == t:
		return nil, &Error{Value: t.g.NewString("cannot resume running coroutine")}
	case co.status == Normal || co.status == Running:
		return nil, &Error{Value: t.g.NewString("cannot resume normal coroutine")}
	case co.status == Dead:
		return nil, &Error{Value: t.g.NewString("cannot resume dead coroutine")}
	case t.g.depth >= maxGoCalls:
		return nil, &Error{Value: t.g.NewString("C stack overflow")}
	}
	nested, status := t.g.depth, t.status
	co.resumer, co.status, t.status = t, Running, Normal
	t.g.Current = co
	t.g.depth++
	defer func() {
		co.resumer, t.status = nil, status
		t.g.Current = t
		t.g.depth = nested
		if r := recover(); r != nil {
			co.status = Dead
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			results, err = nil, e
		}
	}()
	for _, v := range args {
		co.Push(v)
	}
	co.resume(len(args))
	if co.status == Running {
		co.status = Dead
	}
	base := co.frame().base
	if co.status == Suspended {
		results = append(results, co.stack[base:co.top]...)
		return results, nil
	}
	results = append(results, co.stack[1:co.top]...)
	return results, nil
}

// resume continues where the thread stopped, with n values on top.
func (t *Thread) resume(n int) {
	t.goCalls, t.floor = 1, 1
	if t.depth == 0 {
		if t.precall(t.top-n-1, multRet) != calledLua {
			return
		}
	} else if t.postcall(t.top - n) {
		// The frame that ended was that of yield: its results are the new values.
		t.top = t.frame().top
	}
	if t.depth > 0 {
		t.execute(t.depth)
	}
}

// Yield suspends the running coroutine; the Go function that called it returns
// what Yield returns. Its arguments are what Resume hands over.
func (t *Thread) Yield() int {
	if t.goCalls > t.floor || t == t.g.Main {
		t.Errorf("attempt to yield across metamethod/C-call boundary")
	}
	t.status = Suspended
	return Yielded
}

// idleStack is the size of a stack that a runtime at rest may keep, in values.
const idleStack = 1 << 14

// Trim gives back what a deep recursion took, once nothing runs.
func (g *Global) Trim() {
	if t := g.Main; t.depth == 0 && len(t.stack) > idleStack {
		t.stack = make([]Value, 64+slack)
		t.frames = t.frames[:1:1]
	}
}

// Reset brings the runtime back to rest after a panic unwound it.
func (g *Global) Reset() {
	t := g.Main
	t.closeUpvalues(0)
	t.depth, t.top, t.goCalls, t.spareFrames = 0, 1, 0, 0
	t.handler = Value{}
	g.depth, g.Current = 0, t
}
