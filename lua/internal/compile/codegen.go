package compile

import (
	"fmt"
	"math"

	"github.com/fakecluster/fakecluster/lua/internal/precise"
)

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

// Expressions.

// setReturns fixes how many results an open call or vararg yields.
func (f *function) setReturns(e *expr, n int) {
	switch e.kind {
	case exprCall:
		f.code(e).setC(n + 1)
	case exprVararg:
		f.code(e).setB(n + 1)
		f.code(e).setA(f.freeReg)
		f.reserve(1)
	}
}

func (f *function) setOneReturn(e *expr) {
	switch e.kind {
	case exprCall:
		e.kind = exprNonReloc
		e.info = f.code(e).A()
	case exprVararg:
		f.code(e).setB(2)
		e.kind = exprRelocatable
	}
}

func (f *function) dischargeVars(e *expr) {
	switch e.kind {
	case exprLocal:
		e.kind = exprNonReloc
	case exprUpvalue:
		e.info = f.emitABC(OpGetUpval, 0, e.info, 0)
		e.kind = exprRelocatable
	case exprGlobal:
		e.info = f.emitABx(OpGetGlobal, 0, e.info)
		e.kind = exprRelocatable
	case exprIndexed:
		f.free(e.aux)
		f.free(e.info)
		e.info = f.emitABC(OpGetTable, 0, e.info, e.aux)
		e.kind = exprRelocatable
	case exprVararg, exprCall:
		f.setOneReturn(e)
	}
}

func (f *function) emitLabel(a, b, jump int) int {
	f.label()
	return f.emitABC(OpLoadBool, a, b, jump)
}

func (f *function) dischargeToReg(e *expr, reg int) {
	f.dischargeVars(e)
	switch e.kind {
	case exprNil:
		f.emitNil(reg, 1)
	case exprFalse:
		f.emitABC(OpLoadBool, reg, 0, 0)
	case exprTrue:
		f.emitABC(OpLoadBool, reg, 1, 0)
	case exprConstant:
		f.emitABx(OpLoadK, reg, e.info)
	case exprNumber:
		f.emitABx(OpLoadK, reg, f.numberConstant(e.number))
	case exprRelocatable:
		f.code(e).setA(reg)
	case exprNonReloc:
		if reg != e.info {
			f.emitABC(OpMove, reg, e.info, 0)
		}
	default:
		return
	}
	e.info = reg
	e.kind = exprNonReloc
}

func (f *function) dischargeToAnyReg(e *expr) {
	if e.kind != exprNonReloc {
		f.reserve(1)
		f.dischargeToReg(e, f.freeReg-1)
	}
}

func (f *function) toReg(e *expr, reg int) {
	f.dischargeToReg(e, reg)
	if e.kind == exprJump {
		f.concatJumps(&e.whenTrue, e.info)
	}
	if e.hasJumps() {
		loadFalse, loadTrue := noJump, noJump
		if f.needsValue(e.whenTrue) || f.needsValue(e.whenFalse) {
			skip := noJump
			if e.kind != exprJump {
				skip = f.jump()
			}
			loadFalse = f.emitLabel(reg, 0, 1)
			loadTrue = f.emitLabel(reg, 1, 0)
			f.patchToHere(skip)
		}
		end := f.label()
		f.patchListTo(e.whenFalse, end, reg, loadFalse)
		f.patchListTo(e.whenTrue, end, reg, loadTrue)
	}
	*e = newExpr(exprNonReloc, reg)
}

func (f *function) toNextReg(e *expr) {
	f.dischargeVars(e)
	f.freeExpr(e)
	f.reserve(1)
	f.toReg(e, f.freeReg-1)
}

func (f *function) toAnyReg(e *expr) int {
	f.dischargeVars(e)
	if e.kind == exprNonReloc {
		if !e.hasJumps() {
			return e.info
		}
		if e.info >= len(f.active) {
			f.toReg(e, e.info)
			return e.info
		}
	}
	f.toNextReg(e)
	return e.info
}

func (f *function) toValue(e *expr) {
	if e.hasJumps() {
		f.toAnyReg(e)
	} else {
		f.dischargeVars(e)
	}
}

func (f *function) toRK(e *expr) int {
	f.toValue(e)
	switch e.kind {
	case exprNumber, exprTrue, exprFalse, exprNil:
		if len(f.proto.Constants) <= maxIndexRK {
			switch e.kind {
			case exprNil:
				e.info = f.simpleConstant(ConstNil)
			case exprNumber:
				e.info = f.numberConstant(e.number)
			case exprTrue:
				e.info = f.simpleConstant(ConstTrue)
			case exprFalse:
				e.info = f.simpleConstant(ConstFalse)
			}
			e.kind = exprConstant
			return e.info | bitRK
		}
	case exprConstant:
		if e.info <= maxIndexRK {
			return e.info | bitRK
		}
	}
	return f.toAnyReg(e)
}

func (f *function) store(variable, value *expr) {
	switch variable.kind {
	case exprLocal:
		f.freeExpr(value)
		f.toReg(value, variable.info)
		return
	case exprUpvalue:
		f.emitABC(OpSetUpval, f.toAnyReg(value), variable.info, 0)
	case exprGlobal:
		f.emitABx(OpSetGlobal, f.toAnyReg(value), variable.info)
	case exprIndexed:
		f.emitABC(OpSetTable, variable.info, variable.aux, f.toRK(value))
	}
	f.freeExpr(value)
}

func (f *function) self(e, key *expr) {
	f.toAnyReg(e)
	f.freeExpr(e)
	base := f.freeReg
	f.reserve(2)
	f.emitABC(OpSelf, base, e.info, f.toRK(key))
	f.freeExpr(key)
	e.info = base
	e.kind = exprNonReloc
}

func (f *function) invertJump(e *expr) {
	i := f.jumpControl(e.info)
	i.setA(1 - i.A())
}

func (f *function) jumpOnCondition(e *expr, condition int) int {
	if e.kind == exprRelocatable {
		if i := *f.code(e); i.Op() == OpNot {
			f.proto.Code = f.proto.Code[:f.pc()-1]
			f.proto.Lines = f.proto.Lines[:f.pc()]
			return f.conditionalJump(OpTest, i.B(), 0, 1-condition)
		}
	}
	f.dischargeToAnyReg(e)
	f.freeExpr(e)
	return f.conditionalJump(OpTestSet, noReg, e.info, condition)
}

func (f *function) goIfTrue(e *expr) {
	f.dischargeVars(e)
	pc := noJump
	switch e.kind {
	case exprConstant, exprNumber, exprTrue:
	case exprJump:
		f.invertJump(e)
		pc = e.info
	default:
		pc = f.jumpOnCondition(e, 0)
	}
	f.concatJumps(&e.whenFalse, pc)
	f.patchToHere(e.whenTrue)
	e.whenTrue = noJump
}

func (f *function) goIfFalse(e *expr) {
	f.dischargeVars(e)
	pc := noJump
	switch e.kind {
	case exprNil, exprFalse:
	case exprJump:
		pc = e.info
	default:
		pc = f.jumpOnCondition(e, 1)
	}
	f.concatJumps(&e.whenTrue, pc)
	f.patchToHere(e.whenFalse)
	e.whenFalse = noJump
}

func (f *function) not(e *expr) {
	f.dischargeVars(e)
	switch e.kind {
	case exprNil, exprFalse:
		e.kind = exprTrue
	case exprConstant, exprNumber, exprTrue:
		e.kind = exprFalse
	case exprJump:
		f.invertJump(e)
	default:
		f.dischargeToAnyReg(e)
		f.freeExpr(e)
		e.info = f.emitABC(OpNot, 0, e.info, 0)
		e.kind = exprRelocatable
	}
	e.whenTrue, e.whenFalse = e.whenFalse, e.whenTrue
	f.dropValues(e.whenFalse)
	f.dropValues(e.whenTrue)
}

func (f *function) indexed(table, key *expr) {
	table.aux = f.toRK(key)
	table.kind = exprIndexed
}

// Operators.

func foldConstants(op Op, e1, e2 *expr) bool {
	if !e1.isNumeral() || !e2.isNumeral() {
		return false
	}
	a, b := e1.number, e2.number
	var r float64
	switch op {
	case OpAdd:
		r = a + b
	case OpSub:
		r = a - b
	case OpMul:
		r = a * b
	case OpDiv:
		if b == 0 {
			return false
		}
		r = a / b
	case OpMod:
		if b == 0 {
			return false
		}
		r = a - float64(math.Floor(a/b)*b)
	case OpPow:
		r = precise.Pow(a, b)
	case OpUnm:
		r = -a
	default:
		return false
	}
	if math.IsNaN(r) {
		return false
	}
	e1.number = r
	return true
}

func (f *function) arith(op Op, e1, e2 *expr) {
	if foldConstants(op, e1, e2) {
		return
	}
	o2 := 0
	if op != OpUnm && op != OpLen {
		o2 = f.toRK(e2)
	}
	o1 := f.toRK(e1)
	if o1 > o2 {
		f.freeExpr(e1)
		f.freeExpr(e2)
	} else {
		f.freeExpr(e2)
		f.freeExpr(e1)
	}
	e1.info = f.emitABC(op, 0, o1, o2)
	e1.kind = exprRelocatable
}

func (f *function) compare(op Op, condition int, e1, e2 *expr) {
	o1 := f.toRK(e1)
	o2 := f.toRK(e2)
	f.freeExpr(e2)
	f.freeExpr(e1)
	if condition == 0 && op != OpEq {
		o1, o2 = o2, o1
		condition = 1
	}
	e1.info = f.conditionalJump(op, condition, o1, o2)
	e1.kind = exprJump
}

func (f *function) prefix(op Op, e *expr) {
	zero := newExpr(exprNumber, 0)
	switch op {
	case OpUnm:
		if !e.isNumeral() {
			f.toAnyReg(e)
		}
		f.arith(OpUnm, e, &zero)
	case OpNot:
		f.not(e)
	case OpLen:
		f.toAnyReg(e)
		f.arith(OpLen, e, &zero)
	}
}

// infix prepares the left operand before the right one is read.
func (f *function) infix(op binaryOp, e *expr) {
	switch op {
	case binAnd:
		f.goIfTrue(e)
	case binOr:
		f.goIfFalse(e)
	case binConcat:
		f.toNextReg(e)
	case binAdd, binSub, binMul, binDiv, binMod, binPow:
		if !e.isNumeral() {
			f.toRK(e)
		}
	default:
		f.toRK(e)
	}
}

func (f *function) posfix(op binaryOp, e1, e2 *expr) {
	switch op {
	case binAnd:
		f.dischargeVars(e2)
		f.concatJumps(&e2.whenFalse, e1.whenFalse)
		*e1 = *e2
	case binOr:
		f.dischargeVars(e2)
		f.concatJumps(&e2.whenTrue, e1.whenTrue)
		*e1 = *e2
	case binConcat:
		f.toValue(e2)
		if e2.kind == exprRelocatable && f.code(e2).Op() == OpConcat {
			f.freeExpr(e1)
			f.code(e2).setB(e1.info)
			e1.kind = exprRelocatable
			e1.info = e2.info
			return
		}
		f.toNextReg(e2)
		f.arith(OpConcat, e1, e2)
	case binAdd, binSub, binMul, binDiv, binMod, binPow:
		f.arith(OpAdd+Op(op-binAdd), e1, e2)
	case binEq:
		f.compare(OpEq, 1, e1, e2)
	case binNe:
		f.compare(OpEq, 0, e1, e2)
	case binLt:
		f.compare(OpLt, 1, e1, e2)
	case binLe:
		f.compare(OpLe, 1, e1, e2)
	case binGt:
		f.compare(OpLt, 0, e1, e2)
	case binGe:
		f.compare(OpLe, 0, e1, e2)
	}
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
