package compile

import (
	"math"

	"github.com/fakecluster/fakecluster/lua/internal/precise"
)

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
