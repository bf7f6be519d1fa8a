package compile

import "fmt"

type exprKind int

const (
	exprVoid exprKind = iota
	exprNil
	exprTrue
	exprFalse
	exprConstant    // info: constant index
	exprNumber      // number
	exprLocal       // info: register
	exprUpvalue     // info: upvalue index
	exprGlobal      // info: constant index of the name
	exprIndexed     // info: table register, aux: key as RK
	exprJump        // info: pc of the jump
	exprRelocatable // info: pc of the instruction whose A is open
	exprNonReloc    // info: result register
	exprCall        // info: pc
	exprVararg      // info: pc
)

// noJump ends a list of jumps.
const noJump = -1

// expr describes an expression that has not been put into a register yet.
// whenTrue and whenFalse are the lists of jumps that leave it with that value.
type expr struct {
	kind                exprKind
	info, aux           int
	number              float64
	whenTrue, whenFalse int
}

func newExpr(kind exprKind, info int) expr {
	return expr{kind: kind, info: info, whenTrue: noJump, whenFalse: noJump}
}

func (e *expr) hasJumps() bool  { return e.whenTrue != e.whenFalse }
func (e *expr) isNumeral() bool { return e.kind == exprNumber && !e.hasJumps() }
func (e *expr) isMulti() bool   { return e.kind == exprCall || e.kind == exprVararg }

const (
	maxUpvalues  = 60
	maxLocals    = 200
	maxRegisters = 250
	maxCCalls    = 200
)

// block is a lexical block of a function being compiled.
type block struct {
	previous     *block
	breaks       int
	activeLocals int
	hasUpvalue   bool
	breakable    bool
}

type upvalueRef struct {
	kind exprKind
	info int
}

// function is the state of one function being compiled.
type function struct {
	proto        *Proto
	previous     *function
	lexer        *lexer
	block        *block
	lastTarget   int // pc of the last jump target
	pendingJumps int // jumps to the next instruction
	freeReg      int
	active       []int // indexes into proto.Locals of the variables in scope
	pending      []int // the same of those declared but not in scope yet
	upvalues     []upvalueRef
	strings      map[string]int
	numbers      map[float64]int
	simple       [3]int // constant indexes of nil, false, true, plus one
}

func (f *function) pc() int { return len(f.proto.Code) }

func (f *function) emit(i Instruction, line int) int {
	f.dischargeJumps()
	f.proto.Code = append(f.proto.Code, i)
	f.proto.Lines = append(f.proto.Lines, int32(line))
	return f.pc() - 1
}

func (f *function) emitABC(op Op, a, b, c int) int {
	return f.emit(createABC(op, a, b, c), f.lexer.lastLine)
}

func (f *function) emitABx(op Op, a, bx int) int {
	return f.emit(createABx(op, a, bx), f.lexer.lastLine)
}

func (f *function) emitAsBx(op Op, a, sbx int) int { return f.emitABx(op, a, sbx+MaxArgSBx) }

func (f *function) code(e *expr) *Instruction { return &f.proto.Code[e.info] }

func (f *function) fixLine(line int) { f.proto.Lines[f.pc()-1] = int32(line) }

// emitNil sets n registers from first on to nil, joining a preceding OpLoadNil
// when no jump can land between.
func (f *function) emitNil(first, n int) {
	if f.pc() > f.lastTarget {
		if f.pc() == 0 {
			if first >= len(f.active) {
				return // registers start out nil
			}
		} else if prev := &f.proto.Code[f.pc()-1]; prev.Op() == OpLoadNil {
			from, to := prev.A(), prev.B()
			if from <= first && first <= to+1 {
				if first+n-1 > to {
					prev.setB(first + n - 1)
				}
				return
			}
		}
	}
	f.emitABC(OpLoadNil, first, first+n-1, 0)
}

// Jumps.

func (f *function) jump() int {
	pending := f.pendingJumps
	f.pendingJumps = noJump
	j := f.emitAsBx(OpJmp, 0, noJump)
	f.concatJumps(&j, pending)
	return j
}

func (f *function) ret(first, n int) { f.emitABC(OpReturn, first, n+1, 0) }

func (f *function) conditionalJump(op Op, a, b, c int) int {
	f.emitABC(op, a, b, c)
	return f.jump()
}

func (f *function) fixJump(pc, target int) {
	offset := target - (pc + 1)
	if offset > MaxArgSBx || -offset > MaxArgSBx {
		f.lexer.syntaxError("control structure too long")
	}
	f.proto.Code[pc].setSBx(offset)
}

// label marks the current position as a jump target.
func (f *function) label() int {
	f.lastTarget = f.pc()
	return f.pc()
}

func (f *function) nextJump(pc int) int {
	offset := f.proto.Code[pc].SBx()
	if offset == noJump {
		return noJump
	}
	return pc + 1 + offset
}

// jumpControl is the instruction that decides the jump at pc.
func (f *function) jumpControl(pc int) *Instruction {
	if pc >= 1 && f.proto.Code[pc-1].Op().isTest() {
		return &f.proto.Code[pc-1]
	}
	return &f.proto.Code[pc]
}

// needsValue tells whether some jump of the list does not produce a value.
func (f *function) needsValue(list int) bool {
	for ; list != noJump; list = f.nextJump(list) {
		if f.jumpControl(list).Op() != OpTestSet {
			return true
		}
	}
	return false
}

func (f *function) patchTestReg(node, reg int) bool {
	i := f.jumpControl(node)
	if i.Op() != OpTestSet {
		return false
	}
	if reg != noReg && reg != i.B() {
		i.setA(reg)
	} else {
		*i = createABC(OpTest, i.B(), 0, i.C())
	}
	return true
}

func (f *function) dropValues(list int) {
	for ; list != noJump; list = f.nextJump(list) {
		f.patchTestReg(list, noReg)
	}
}

func (f *function) patchListTo(list, valueTarget, reg, defaultTarget int) {
	for list != noJump {
		next := f.nextJump(list)
		if f.patchTestReg(list, reg) {
			f.fixJump(list, valueTarget)
		} else {
			f.fixJump(list, defaultTarget)
		}
		list = next
	}
}

func (f *function) dischargeJumps() {
	f.patchListTo(f.pendingJumps, f.pc(), noReg, f.pc())
	f.pendingJumps = noJump
}

func (f *function) patchList(list, target int) {
	if target == f.pc() {
		f.patchToHere(list)
		return
	}
	f.patchListTo(list, target, noReg, target)
}

func (f *function) patchToHere(list int) {
	f.label()
	f.concatJumps(&f.pendingJumps, list)
}

func (f *function) concatJumps(l1 *int, l2 int) {
	if l2 == noJump {
		return
	}
	if *l1 == noJump {
		*l1 = l2
		return
	}
	list := *l1
	for next := f.nextJump(list); next != noJump; next = f.nextJump(list) {
		list = next
	}
	f.fixJump(list, l2)
}

// Registers.

func (f *function) checkStack(n int) {
	size := f.freeReg + n
	if size > f.proto.MaxStack {
		if size >= maxRegisters {
			f.lexer.syntaxError("function or expression too complex")
		}
		f.proto.MaxStack = size
	}
}

func (f *function) reserve(n int) {
	f.checkStack(n)
	f.freeReg += n
}

func (f *function) free(reg int) {
	if _, constant := IsConstant(reg); !constant && reg >= len(f.active) {
		f.freeReg--
	}
}

func (f *function) freeExpr(e *expr) {
	if e.kind == exprNonReloc {
		f.free(e.info)
	}
}

// Constants.

func (f *function) addConstant(c Constant) int {
	if len(f.proto.Constants) > maxArgBx {
		f.lexer.fail("constant table overflow", 0)
	}
	f.proto.Constants = append(f.proto.Constants, c)
	return len(f.proto.Constants) - 1
}

func (f *function) stringConstant(s string) int {
	if k, ok := f.strings[s]; ok {
		return k
	}
	k := f.addConstant(Constant{Kind: ConstString, String: s})
	f.strings[s] = k
	return k
}

// numberConstant finds constants by value, so that 0 and -0 share one, as in Lua.
func (f *function) numberConstant(n float64) int {
	if k, ok := f.numbers[n]; ok {
		return k
	}
	k := f.addConstant(Constant{Kind: ConstNumber, Number: n})
	f.numbers[n] = k
	return k
}

func (f *function) simpleConstant(kind ConstantKind) int {
	if f.simple[kind] == 0 {
		f.simple[kind] = f.addConstant(Constant{Kind: kind}) + 1
	}
	return f.simple[kind] - 1
}

func (f *function) setList(base, count, pending int) {
	c := (count-1)/FieldsPerFlush + 1
	b := pending
	if pending == multRet {
		b = 0
	}
	if c <= maxArgC {
		f.emitABC(OpSetList, base, b, c)
	} else {
		f.emitABC(OpSetList, base, b, 0)
		f.emit(Instruction(c), f.lexer.lastLine)
	}
	f.freeReg = base + 1
}

// checkLimit fails when a function has more than limit of what.
func (f *function) checkLimit(n, limit int, what string) {
	if n <= limit {
		return
	}
	message := fmt.Sprintf("main function has more than %d %s", limit, what)
	if f.proto.LineDefined != 0 {
		message = fmt.Sprintf("function at line %d has more than %d %s", f.proto.LineDefined, limit, what)
	}
	f.lexer.fail(message, 0)
}
