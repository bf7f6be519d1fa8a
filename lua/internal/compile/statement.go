package compile

import "strconv"

func itoa(n int) string { return strconv.Itoa(n) }

func blockFollows(t token) bool {
	switch t {
	case tkElse, tkElseif, tkEnd, tkUntil, tkEOS:
		return true
	}
	return false
}

func (p *parser) chunk() {
	p.enterLevel()
	for last := false; !last && !blockFollows(p.now.token); {
		last = p.statement()
		p.accept(';')
		p.f.freeReg = len(p.f.active)
	}
	p.leaveLevel()
}

func (p *parser) block() {
	p.enterBlock(false)
	p.chunk()
	p.leaveBlock()
}

// statement reads one statement and tells whether it must be the last of its
// block.
func (p *parser) statement() bool {
	line := p.line
	switch p.now.token {
	case tkIf:
		p.ifStatement(line)
	case tkWhile:
		p.whileStatement(line)
	case tkDo:
		p.next()
		p.block()
		p.expectMatch(tkEnd, tkDo, line)
	case tkFor:
		p.forStatement(line)
	case tkRepeat:
		p.repeatStatement(line)
	case tkFunction:
		p.functionStatement(line)
	case tkLocal:
		p.next()
		if p.accept(tkFunction) {
			p.localFunction()
		} else {
			p.localStatement()
		}
	case tkReturn:
		p.returnStatement()
		return true
	case tkBreak:
		p.next()
		p.breakStatement()
		return true
	default:
		p.exprStatement()
	}
	return false
}

// assignment is one target of an assignment; the targets read so far are linked.
type assignment struct {
	previous *assignment
	target   expr
}

// checkConflict copies a local that an earlier target indexes before a later
// target overwrites it.
func (p *parser) checkConflict(a *assignment, variable *expr) {
	f := p.f
	extra := f.freeReg
	conflict := false
	for ; a != nil; a = a.previous {
		if a.target.kind != exprIndexed {
			continue
		}
		if a.target.info == variable.info {
			conflict = true
			a.target.info = extra
		}
		if a.target.aux == variable.info {
			conflict = true
			a.target.aux = extra
		}
	}
	if conflict {
		f.emitABC(OpMove, f.freeReg, variable.info, 0)
		f.reserve(1)
	}
}

func (p *parser) assign(a *assignment, n int) {
	f := p.f
	switch a.target.kind {
	case exprLocal, exprUpvalue, exprGlobal, exprIndexed:
	default:
		p.syntaxError("syntax error")
	}
	var e expr
	if p.accept(',') {
		next := &assignment{previous: a, target: p.primaryExpr()}
		if next.target.kind == exprLocal {
			p.checkConflict(a, &next.target)
		}
		f.checkLimit(n, maxCCalls-p.depth, "variables in assignment")
		p.assign(next, n+1)
	} else {
		p.expect('=')
		var values int
		e, values = p.exprList()
		if values == n {
			f.setOneReturn(&e)
			f.store(&a.target, &e)
			return
		}
		p.adjustAssign(n, values, &e)
		if values > n {
			f.freeReg -= values - n
		}
	}
	e = newExpr(exprNonReloc, f.freeReg-1)
	f.store(&a.target, &e)
}

func (p *parser) condition() int {
	e := p.expr()
	if e.kind == exprNil {
		e.kind = exprFalse
	}
	p.f.goIfTrue(&e)
	return e.whenFalse
}

func (p *parser) breakStatement() {
	f := p.f
	hasUpvalue := false
	b := f.block
	for b != nil && !b.breakable {
		hasUpvalue = hasUpvalue || b.hasUpvalue
		b = b.previous
	}
	if b == nil {
		p.syntaxError("no loop to break")
	}
	if hasUpvalue {
		f.emitABC(OpClose, b.activeLocals, 0, 0)
	}
	f.concatJumps(&b.breaks, f.jump())
}

func (p *parser) whileStatement(line int) {
	f := p.f
	p.next()
	start := f.label()
	exit := p.condition()
	p.enterBlock(true)
	p.expect(tkDo)
	p.block()
	f.patchList(f.jump(), start)
	p.expectMatch(tkEnd, tkWhile, line)
	p.leaveBlock()
	f.patchToHere(exit)
}

func (p *parser) repeatStatement(line int) {
	f := p.f
	start := f.label()
	p.enterBlock(true)
	scope := p.enterBlock(false)
	p.next()
	p.chunk()
	p.expectMatch(tkUntil, tkRepeat, line)
	exit := p.condition()
	if !scope.hasUpvalue {
		p.leaveBlock()
		f.patchList(exit, start)
	} else {
		p.breakStatement()
		f.patchToHere(exit)
		p.leaveBlock()
		f.patchList(f.jump(), start)
	}
	p.leaveBlock()
}

func (p *parser) exprToReg() {
	e := p.expr()
	p.f.toNextReg(&e)
}

func (p *parser) forBody(base, line, variables int, numeric bool) {
	f := p.f
	p.activate(3)
	p.expect(tkDo)
	var prep int
	if numeric {
		prep = f.emitAsBx(OpForPrep, base, noJump)
	} else {
		prep = f.jump()
	}
	p.enterBlock(false)
	p.activate(variables)
	f.reserve(variables)
	p.block()
	p.leaveBlock()
	f.patchToHere(prep)
	var end int
	if numeric {
		end = f.emitAsBx(OpForLoop, base, noJump)
	} else {
		end = f.emitABC(OpTForLoop, base, 0, variables)
	}
	f.fixLine(line)
	if !numeric {
		end = f.jump()
	}
	f.patchList(end, prep+1)
}

func (p *parser) forStatement(line int) {
	p.enterBlock(true)
	p.next()
	name := p.name()
	switch p.now.token {
	case '=':
		p.numericFor(name, line)
	case ',', tkIn:
		p.genericFor(name)
	default:
		p.syntaxError("'=' or 'in' expected")
	}
	p.expectMatch(tkEnd, tkFor, line)
	p.leaveBlock()
}

func (p *parser) numericFor(name string, line int) {
	f := p.f
	base := f.freeReg
	p.declare("(for index)")
	p.declare("(for limit)")
	p.declare("(for step)")
	p.declare(name)
	p.expect('=')
	p.exprToReg()
	p.expect(',')
	p.exprToReg()
	if p.accept(',') {
		p.exprToReg()
	} else {
		f.emitABx(OpLoadK, f.freeReg, f.numberConstant(1))
		f.reserve(1)
	}
	p.forBody(base, line, 1, true)
}

func (p *parser) genericFor(name string) {
	f := p.f
	base := f.freeReg
	p.declare("(for generator)")
	p.declare("(for state)")
	p.declare("(for control)")
	p.declare(name)
	variables := 1
	for p.accept(',') {
		p.declare(p.name())
		variables++
	}
	p.expect(tkIn)
	line := p.line
	e, n := p.exprList()
	p.adjustAssign(3, n, &e)
	f.checkStack(3) // room to call the generator
	p.forBody(base, line, variables, false)
}

func (p *parser) testThenBlock() int {
	p.next()
	exit := p.condition()
	p.expect(tkThen)
	p.block()
	return exit
}

func (p *parser) ifStatement(line int) {
	f := p.f
	escape := noJump
	exit := p.testThenBlock()
	for p.now.token == tkElseif {
		f.concatJumps(&escape, f.jump())
		f.patchToHere(exit)
		exit = p.testThenBlock()
	}
	if p.now.token == tkElse {
		f.concatJumps(&escape, f.jump())
		f.patchToHere(exit)
		p.next()
		p.block()
	} else {
		f.concatJumps(&escape, exit)
	}
	f.patchToHere(escape)
	p.expectMatch(tkEnd, tkIf, line)
}

func (p *parser) localFunction() {
	f := p.f
	p.declare(p.name())
	variable := newExpr(exprLocal, f.freeReg)
	f.reserve(1)
	p.activate(1)
	body := p.body(false, p.line)
	f.store(&variable, &body)
	// The debugger must not see the variable before its function exists.
	f.proto.Locals[f.active[len(f.active)-1]].StartPC = f.pc()
}

func (p *parser) localStatement() {
	variables := 0
	for {
		p.declare(p.name())
		variables++
		if !p.accept(',') {
			break
		}
	}
	e, values := newExpr(exprVoid, 0), 0
	if p.accept('=') {
		e, values = p.exprList()
	}
	p.adjustAssign(variables, values, &e)
	p.activate(variables)
}

func (p *parser) functionStatement(line int) {
	p.next()
	target := p.variable()
	method := false
	for p.now.token == '.' {
		p.field(&target)
	}
	if p.now.token == ':' {
		method = true
		p.field(&target)
	}
	body := p.body(method, line)
	p.f.store(&target, &body)
	p.f.fixLine(line)
}

func (p *parser) exprStatement() {
	a := &assignment{target: p.primaryExpr()}
	if a.target.kind == exprCall {
		p.f.code(&a.target).setC(1)
		return
	}
	p.assign(a, 1)
}

func (p *parser) returnStatement() {
	f := p.f
	p.next()
	if blockFollows(p.now.token) || p.now.token == ';' {
		f.ret(0, 0)
		return
	}
	e, n := p.exprList()
	if e.isMulti() {
		f.setReturns(&e, multRet)
		if e.kind == exprCall && n == 1 {
			f.code(&e).setOp(OpTailCall)
		}
		f.ret(len(f.active), multRet)
		return
	}
	if n == 1 {
		f.ret(f.toAnyReg(&e), 1)
		return
	}
	f.toNextReg(&e)
	f.ret(len(f.active), n)
}
