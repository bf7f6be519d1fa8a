package vm

import (
	"math"
	"unsafe"

	"github.com/fakecluster/fakecluster/lua/internal/compile"
)

// registers is the window of a frame: every register number an instruction can
// name lies in it.
type registers = [slack]Value

func (t *Thread) window(base int) *registers {
	return (*registers)(t.stack[base : base+slack])
}

// mod is Lua's remainder: it has the sign of the divisor.
func mod(a, b float64) float64 { return a - math.Floor(a/b)*b }

// rk is the operand x of an instruction: a register or a constant.
func rk(r *registers, k []Value, x int) *Value {
	if x&256 != 0 {
		return &k[x&255]
	}
	return &r[x&255]
}

// execute runs the frame on top and what it calls until calls frames have
// returned. It reports whether it ended, false when the thread yielded.
func (t *Thread) execute(calls int) bool {
	var (
		f    *frame
		fn   *Function
		r    *registers
		k    []Value
		code []compile.Instruction
		pc   int
	)
reentry:
	f = t.frames[t.depth]
	fn = f.fn
	r = t.window(f.base)
	k = fn.proto.constants
	code = fn.proto.Code
	pc = f.pc
	if t.g.interrupt.Load() != nil {
		t.g.Poll()
	}
	for {
		i := code[pc]
		pc++
		a := uint8(i >> 6)
		switch i.Op() {
		case compile.OpMove:
			r[a] = r[uint8(i>>23)]
		case compile.OpLoadK:
			r[a] = k[i.Bx()]
		case compile.OpLoadBool:
			r[a] = BoolOf(i.B() != 0)
			if i.C() != 0 {
				pc++
			}
		case compile.OpLoadNil:
			clear(r[a : i.B()+1])
		case compile.OpGetUpval:
			r[a] = *fn.upvalues[i.B()].v
		case compile.OpGetGlobal:
			key := k[i.Bx()]
			if v := fn.env.getStr(key.str()); !v.IsNil() {
				r[a] = v
				break
			}
			f.pc = pc
			v := t.index(TableValue(fn.env), key, -1)
			r = t.window(f.base)
			r[a] = v
		case compile.OpGetTable:
			b := r[uint8(i>>23)]
			key := *rk(r, k, i.C())
			if b.Kind() == TableKind {
				if v := (*Table)(b.ref).getFast(key); !v.IsNil() {
					r[a] = v
					break
				} else if (*Table)(b.ref).meta == nil {
					r[a] = Value{}
					break
				}
			}
			f.pc = pc
			v := t.index(b, key, i.B())
			r = t.window(f.base)
			r[a] = v
		case compile.OpSetGlobal:
			f.pc = pc
			t.setIndex(TableValue(fn.env), k[i.Bx()], r[a], -1)
			r = t.window(f.base)
		case compile.OpSetUpval:
			*fn.upvalues[i.B()].v = r[a]
		case compile.OpSetTable:
			b := r[a]
			key, value := *rk(r, k, i.B()), *rk(r, k, i.C())
			if b.Kind() == TableKind && (*Table)(b.ref).setFast(key, value) {
				break
			}
			f.pc = pc
			t.setIndex(b, key, value, int(a))
			r = t.window(f.base)
		case compile.OpNewTable:
			r[a] = TableValue(t.g.NewTable(compile.SizeHint(i.B()), compile.SizeHint(i.C())))
		case compile.OpSelf:
			b := r[uint8(i>>23)]
			f.pc = pc
			v := t.index(b, *rk(r, k, i.C()), i.B())
			r = t.window(f.base)
			r[a+1] = b
			r[a] = v
		case compile.OpAdd:
			b, c := rk(r, k, i.B()), rk(r, k, i.C())
			if b.IsNumber() && c.IsNumber() {
				r[a] = Num(b.Float() + c.Float())
				break
			}
			f.pc = pc
			v := t.arith(EventAdd, *b, *c, i.B(), i.C())
			r = t.window(f.base)
			r[a] = v
		case compile.OpSub:
			b, c := rk(r, k, i.B()), rk(r, k, i.C())
			if b.IsNumber() && c.IsNumber() {
				r[a] = Num(b.Float() - c.Float())
				break
			}
			f.pc = pc
			v := t.arith(EventSub, *b, *c, i.B(), i.C())
			r = t.window(f.base)
			r[a] = v
		case compile.OpMul:
			b, c := rk(r, k, i.B()), rk(r, k, i.C())
			if b.IsNumber() && c.IsNumber() {
				r[a] = Num(b.Float() * c.Float())
				break
			}
			f.pc = pc
			v := t.arith(EventMul, *b, *c, i.B(), i.C())
			r = t.window(f.base)
			r[a] = v
		case compile.OpDiv:
			b, c := rk(r, k, i.B()), rk(r, k, i.C())
			if b.IsNumber() && c.IsNumber() {
				r[a] = Num(b.Float() / c.Float())
				break
			}
			f.pc = pc
			v := t.arith(EventDiv, *b, *c, i.B(), i.C())
			r = t.window(f.base)
			r[a] = v
		case compile.OpMod:
			b, c := rk(r, k, i.B()), rk(r, k, i.C())
			if b.IsNumber() && c.IsNumber() {
				r[a] = Num(mod(b.Float(), c.Float()))
				break
			}
			f.pc = pc
			v := t.arith(EventMod, *b, *c, i.B(), i.C())
			r = t.window(f.base)
			r[a] = v
		case compile.OpPow:
			b, c := rk(r, k, i.B()), rk(r, k, i.C())
			f.pc = pc
			v := t.arith(EventPow, *b, *c, i.B(), i.C())
			r = t.window(f.base)
			r[a] = v
		case compile.OpUnm:
			b := r[uint8(i>>23)]
			if b.IsNumber() {
				r[a] = Num(-b.Float())
				break
			}
			f.pc = pc
			v := t.arith(EventUnm, b, b, i.B(), i.B())
			r = t.window(f.base)
			r[a] = v
		case compile.OpNot:
			r[a] = BoolOf(!r[uint8(i>>23)].Truthy())
		case compile.OpLen:
			b := r[uint8(i>>23)]
			switch b.Kind() {
			case TableKind:
				r[a] = Int((*Table)(b.ref).Len())
			case StringKind:
				r[a] = Int(len(b.Str()))
			default:
				f.pc = pc
				v := t.length(b, i.B())
				r = t.window(f.base)
				r[a] = v
			}
		case compile.OpConcat:
			b, c := i.B(), i.C()
			f.pc = pc
			t.concat(c-b+1, f.base+c)
			r = t.window(f.base)
			r[a] = r[uint8(b)]
		case compile.OpJmp:
			jump := i.SBx()
			if jump < 0 && t.g.interrupt.Load() != nil {
				f.pc = pc
				t.g.Poll()
			}
			pc += jump
		case compile.OpEq:
			b, c := *rk(r, k, i.B()), *rk(r, k, i.C())
			f.pc = pc
			equal := t.equal(b, c)
			r = t.window(f.base)
			if equal != (a != 0) {
				pc++
			}
		case compile.OpLt:
			b, c := rk(r, k, i.B()), rk(r, k, i.C())
			var less bool
			if b.IsNumber() && c.IsNumber() {
				less = b.Float() < c.Float()
			} else {
				f.pc = pc
				less = t.lessThan(*b, *c)
				r = t.window(f.base)
			}
			if less != (a != 0) {
				pc++
			}
		case compile.OpLe:
			b, c := rk(r, k, i.B()), rk(r, k, i.C())
			var less bool
			if b.IsNumber() && c.IsNumber() {
				less = b.Float() <= c.Float()
			} else {
				f.pc = pc
				less = t.lessEqual(*b, *c)
				r = t.window(f.base)
			}
			if less != (a != 0) {
				pc++
			}
		case compile.OpTest:
			if r[a].Truthy() != (i.C() != 0) {
				pc++
			}
		case compile.OpTestSet:
			if b := r[uint8(i>>23)]; b.Truthy() == (i.C() != 0) {
				r[a] = b
			} else {
				pc++
			}
		case compile.OpCall:
			callee := f.base + int(a)
			if b := i.B(); b != 0 {
				t.top = callee + b
			}
			f.pc = pc
			results := i.C() - 1
			switch t.precall(callee, results) {
			case calledLua:
				calls++
				goto reentry
			case calledYield:
				return false
			}
			if results >= 0 {
				t.top = f.top
			}
			r = t.window(f.base)
		case compile.OpTailCall:
			callee := f.base + int(a)
			if b := i.B(); b != 0 {
				t.top = callee + b
			}
			f.pc = pc
			switch t.precall(callee, multRet) {
			case calledLua:
				t.replaceFrame(f)
				goto reentry
			case calledYield:
				return false
			}
			r = t.window(f.base)
		case compile.OpReturn:
			first := f.base + int(a)
			if b := i.B(); b != 0 {
				t.top = first + b - 1
			}
			if t.open != nil {
				t.closeUpvalues(f.base)
			}
			fixed := t.postcall(first)
			calls--
			if calls == 0 {
				return true
			}
			if fixed {
				t.top = t.frames[t.depth].top
			}
			goto reentry
		case compile.OpForLoop:
			step := r[a+2].Float()
			index := r[a].Float() + step
			limit := r[a+1].Float()
			if step > 0 && index <= limit || !(step > 0) && limit <= index {
				pc += i.SBx()
				r[a] = Num(index)
				r[a+3] = Num(index)
				if t.g.interrupt.Load() != nil {
					t.g.Poll()
				}
			}
		case compile.OpForPrep:
			f.pc = pc
			t.forPrep(r[a : int(a)+3])
			pc += i.SBx()
		case compile.OpTForLoop:
			base := int(a) + 3
			r[base], r[base+1], r[base+2] = r[a], r[a+1], r[a+2]
			t.top = f.base + base + 3
			f.pc = pc
			t.call(f.base+base, i.C())
			t.top = f.top
			r = t.window(f.base)
			if v := r[base]; !v.IsNil() {
				r[a+2] = v
				pc += code[pc].SBx()
				if t.g.interrupt.Load() != nil {
					t.g.Poll()
				}
			}
			pc++
		case compile.OpSetList:
			n, c := i.B(), i.C()
			if n == 0 {
				n = t.top - (f.base + int(a)) - 1
				t.top = f.top
			}
			if c == 0 {
				c = int(code[pc])
				pc++
			}
			t.setList(r[a], (c-1)*compile.FieldsPerFlush, t.stack[f.base+int(a)+1:][:n])
		case compile.OpClose:
			t.closeUpvalues(f.base + int(a))
		case compile.OpClosure:
			p := fn.proto.protos[i.Bx()]
			r[a] = t.closure(p, fn, f.base, code[pc:pc+p.NumUpvalues])
			pc += p.NumUpvalues
		case compile.OpVararg:
			r = t.varargs(f, int(a), i.B()-1)
		}
	}
}

// getFast is Get for the keys instructions use most.
func (t *Table) getFast(key Value) Value {
	if key.IsNumber() {
		f := key.Float()
		if i := int(f); float64(i) == f && uint(i-1) < uint(len(t.array)) {
			return t.array[i-1]
		}
	} else if key.IsString() {
		return t.getStr(key.str())
	}
	return t.Get(key)
}

// setFast stores a value when no metamethod can be involved and no key is new.
func (t *Table) setFast(key, value Value) bool {
	if t.readOnly || t.meta != nil {
		return false
	}
	if key.IsNumber() {
		f := key.Float()
		if i := int(f); float64(i) == f && uint(i-1) < uint(len(t.array)) {
			t.array[i-1] = value
			return true
		}
		return false
	}
	if key.IsString() && len(t.nodes) > 0 {
		if p := t.slot(key); p != nil {
			t.absent = 0
			*p = value
			return true
		}
	}
	return false
}

// replaceFrame drops the frame below the one just pushed: a tail call.
func (t *Thread) replaceFrame(f *frame) {
	called := t.frames[t.depth]
	if t.open != nil {
		t.closeUpvalues(f.base)
	}
	n := copy(t.stack[f.callee:], t.stack[called.callee:t.top])
	shift := called.callee - f.callee
	f.base = called.base - shift
	f.fn = called.fn
	f.pc = 0
	f.top = f.callee + n
	f.tailCalls++
	t.top = f.top
	t.depth--
}

func (t *Thread) setList(table Value, offset int, items []Value) {
	h := (*Table)(table.ref)
	h.ResizeArray(offset + len(items))
	for i, v := range items {
		h.SetInt(offset+i+1, v)
	}
}

func (t *Thread) closure(p *Proto, parent *Function, base int, captures []compile.Instruction) Value {
	t.g.charge(functionBytes + p.NumUpvalues*(upvalueBytes+8))
	f := &Function{header: header{FunctionKind}, env: parent.env, proto: p}
	if p.NumUpvalues > 0 {
		f.upvalues = make([]*upvalue, p.NumUpvalues)
	}
	for j, c := range captures {
		if c.Op() == compile.OpGetUpval {
			f.upvalues[j] = parent.upvalues[c.B()]
		} else {
			f.upvalues[j] = t.findUpvalue(base + c.B())
		}
	}
	return Value{ref: unsafe.Pointer(f)}
}

// varargs copies wanted extra arguments (-1 for all) to registers from a on.
func (t *Thread) varargs(f *frame, a, wanted int) *registers {
	n := f.base - f.callee - 1 - f.fn.proto.NumParams
	if n < 0 {
		n = 0
	}
	if wanted < 0 {
		t.top = f.base + a
		t.ensure(n)
		t.top += n
		wanted = n
	}
	dst := t.stack[f.base+a:][:wanted]
	m := copy(dst, t.stack[f.base-n:f.base])
	clear(dst[m:])
	return t.window(f.base)
}

// forPrep checks and prepares the three control values of a numeric for.
func (t *Thread) forPrep(control []Value) {
	names := [...]string{"initial value", "limit", "step"}
	for i := range control {
		n, ok := ToNumber(control[i])
		if !ok {
			t.Errorf("'for' ", names[i], " must be a number")
		}
		control[i] = Num(n)
	}
	control[0] = Num(control[0].Float() - control[2].Float())
}
