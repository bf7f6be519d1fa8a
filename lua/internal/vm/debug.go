package vm

import "github.com/fakecluster/fakecluster/lua/internal/compile"

// typeError reports an operation on a value of the wrong type, naming the
// variable when reg, the register it was in, tells.
func (t *Thread) typeError(v Value, reg int, operation string) {
	kind, name := "", ""
	if _, constant := compile.IsConstant(reg); reg >= 0 && !constant {
		kind, name = t.objectName(t.frame(), reg)
	}
	if kind != "" {
		t.Errorf("attempt to ", operation, " ", kind, " '", name, "' (a ", v.Kind().String(), " value)")
	}
	t.Errorf("attempt to ", operation, " a ", v.Kind().String(), " value")
}

func (t *Thread) concatError(a, b Value, regA int) {
	if isStringOrNumber(a) {
		a, regA = b, regA+1
	}
	t.typeError(a, regA, "concatenate")
}

func (t *Thread) orderError(a, b Value) {
	x, y := a.Kind().String(), b.Kind().String()
	if x[2] == y[2] {
		t.Errorf("attempt to compare two ", x, " values")
	}
	t.Errorf("attempt to compare ", x, " with ", y)
}

// objectName tells what the value in a register of a frame is called: "global",
// "local", "method", "field" or "upvalue", and its name.
func (t *Thread) objectName(f *frame, reg int) (kind, name string) {
	if f.fn == nil || f.fn.IsGo() {
		return "", ""
	}
	p := f.fn.proto
	pc := f.pc - 1
	if name := p.localName(reg+1, pc); name != "" {
		return "local", name
	}
	i := p.Code[p.lastSetter(pc, reg)]
	switch i.Op() {
	case compile.OpGetGlobal:
		return "global", cut(p.constants[i.Bx()].Str())
	case compile.OpMove:
		if i.B() < i.A() {
			return t.objectName(f, i.B())
		}
	case compile.OpGetTable:
		return "field", p.constantName(i.C())
	case compile.OpGetUpval:
		if i.B() < len(p.Upvalues) {
			return "upvalue", p.Upvalues[i.B()]
		}
		return "upvalue", "?"
	case compile.OpSelf:
		return "method", p.constantName(i.C())
	}
	return "", ""
}

// cut drops what C would not print of a name.
func cut(s string) string {
	for i := range len(s) {
		if s[i] == 0 {
			return s[:i]
		}
	}
	return s
}

func (p *Proto) constantName(rk int) string {
	if k, ok := compile.IsConstant(rk); ok && p.constants[k].IsString() {
		return cut(p.constants[k].Str())
	}
	return "?"
}

// localName is the name of the n-th local variable in scope at pc.
func (p *Proto) localName(n, pc int) string {
	for i := range p.Locals {
		l := &p.Locals[i]
		if l.StartPC > pc {
			break
		}
		if pc < l.EndPC {
			if n--; n == 0 {
				return l.Name
			}
		}
	}
	return ""
}

// lastSetter finds the instruction before lastPC that set a register, following
// forward jumps that do not pass lastPC.
func (p *Proto) lastSetter(lastPC, reg int) int {
	last := len(p.Code) - 1
	for pc := 0; pc < lastPC; pc++ {
		i := p.Code[pc]
		op, a := i.Op(), i.A()
		if op.SetsA() && a == reg {
			last = pc
		}
		switch op {
		case compile.OpLoadNil:
			if a <= reg && reg <= i.B() {
				last = pc
			}
		case compile.OpTForLoop:
			if reg >= a+2 {
				last = pc
			}
		case compile.OpSelf:
			if reg == a+1 {
				last = pc
			}
		case compile.OpCall, compile.OpTailCall:
			if reg >= a {
				last = pc
			}
		case compile.OpForLoop, compile.OpForPrep, compile.OpJmp:
			if target := pc + 1 + i.SBx(); pc < target && target <= lastPC {
				pc = target - 1
			}
		case compile.OpSetList:
			if i.C() == 0 {
				pc++
			}
		case compile.OpClosure:
			pc += p.Protos[i.Bx()].NumUpvalues
		}
	}
	return last
}

// FunctionName tells how the running Go function was called: the kind of name
// ("global", "method" …) and the name, both empty when there is none.
func (t *Thread) FunctionName() (kind, name string) { return t.calledAs(t.depth) }

func (t *Thread) calledAs(depth int) (kind, name string) {
	if depth < 1 {
		return "", ""
	}
	f, caller := t.frames[depth], t.frames[depth-1]
	if !f.fn.IsGo() && f.tailCalls > 0 || caller.fn == nil || caller.fn.IsGo() {
		return "", ""
	}
	switch i := caller.fn.proto.Code[caller.pc-1]; i.Op() {
	case compile.OpCall, compile.OpTailCall, compile.OpTForLoop:
		return t.objectName(caller, i.A())
	}
	return "", ""
}

// ErrorOrigin tells where an error was raised, for a Go function that its handler
// calls: in the function below the handler, or its caller if that is a Go function.
func (t *Thread) ErrorOrigin() (source string, line int, ok bool) {
	for level := 2; level <= 3; level++ {
		depth, ok := t.level(level)
		if !ok {
			return "", 0, false
		}
		if depth < 0 {
			return "=(tail call)", -1, true
		}
		if f := t.frames[depth]; !f.fn.IsGo() {
			return f.fn.proto.Source, f.line(), true
		}
	}
	return "=[C]", -1, true
}
