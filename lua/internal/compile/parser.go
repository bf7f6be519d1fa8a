package compile

type binaryOp int

// Binary operators; the arithmetic ones in the order of their opcodes.
const (
	binAdd binaryOp = iota
	binSub
	binMul
	binDiv
	binMod
	binPow
	binConcat
	binNe
	binEq
	binLt
	binLe
	binGt
	binGe
	binAnd
	binOr
	binNone
)

var binaryOps = map[token]binaryOp{
	'+': binAdd, '-': binSub, '*': binMul, '/': binDiv, '%': binMod, '^': binPow,
	tkConcat: binConcat, tkNe: binNe, tkEq: binEq, '<': binLt, tkLe: binLe,
	'>': binGt, tkGe: binGe, tkAnd: binAnd, tkOr: binOr,
}

var priority = [...]struct{ left, right int }{
	binAdd: {6, 6}, binSub: {6, 6}, binMul: {7, 7}, binDiv: {7, 7}, binMod: {7, 7},
	binPow: {10, 9}, binConcat: {5, 4},
	binNe: {3, 3}, binEq: {3, 3}, binLt: {3, 3}, binLe: {3, 3}, binGt: {3, 3}, binGe: {3, 3},
	binAnd: {2, 2}, binOr: {1, 1},
}

const unaryPriority = 8

// parser reads a chunk by recursive descent and emits code as it goes.
type parser struct {
	lexer
	f     *function
	depth int
}

func (p *parser) enterLevel() {
	p.depth++
	if p.depth > maxCCalls {
		p.fail("chunk has too many syntax levels", 0)
	}
}

func (p *parser) leaveLevel() { p.depth-- }

func (p *parser) expected(t token) { p.syntaxError("'" + t.String() + "' expected") }

func (p *parser) accept(t token) bool {
	if p.now.token != t {
		return false
	}
	p.next()
	return true
}

func (p *parser) check(t token) {
	if p.now.token != t {
		p.expected(t)
	}
}

func (p *parser) expect(t token) {
	p.check(t)
	p.next()
}

func (p *parser) expectMatch(what, who token, where int) {
	if p.accept(what) {
		return
	}
	if where == p.line {
		p.expected(what)
	}
	p.syntaxError("'" + what.String() + "' expected (to close '" + who.String() + "' at line " + itoa(where) + ")")
}

func (p *parser) name() string {
	p.check(tkName)
	s := p.now.text
	p.next()
	return s
}

func (p *parser) stringExpr(s string) expr {
	return newExpr(exprConstant, p.f.stringConstant(s))
}

// Functions and scopes.

func (p *parser) openFunction() *function {
	f := &function{
		proto:        &Proto{Source: p.source, MaxStack: 2},
		previous:     p.f,
		lexer:        &p.lexer,
		lastTarget:   -1,
		pendingJumps: noJump,
		strings:      map[string]int{},
		numbers:      map[float64]int{},
	}
	p.f = f
	return f
}

func (p *parser) closeFunction() *Proto {
	f := p.f
	p.removeLocals(0)
	f.ret(0, 0)
	f.proto.NumUpvalues = len(f.upvalues)
	p.f = f.previous
	return f.proto
}

func (p *parser) mainFunction() *Proto {
	f := p.openFunction()
	f.proto.Vararg = VarargIs
	p.next()
	p.chunk()
	p.check(tkEOS)
	return p.closeFunction()
}

// declare adds a local variable that is not in scope yet; activate brings the
// first n declared ones into scope.
func (p *parser) declare(name string) {
	f := p.f
	f.checkLimit(len(f.active)+len(f.pending)+1, maxLocals, "local variables")
	f.proto.Locals = append(f.proto.Locals, Local{Name: name})
	f.pending = append(f.pending, len(f.proto.Locals)-1)
}

func (p *parser) activate(n int) {
	f := p.f
	for _, i := range f.pending[:n] {
		f.proto.Locals[i].StartPC = f.pc()
		f.active = append(f.active, i)
	}
	f.pending = append(f.pending[:0], f.pending[n:]...)
}

func (p *parser) removeLocals(toLevel int) {
	f := p.f
	for _, i := range f.active[toLevel:] {
		f.proto.Locals[i].EndPC = f.pc()
	}
	f.active = f.active[:toLevel]
}

func (p *parser) enterBlock(breakable bool) *block {
	f := p.f
	f.block = &block{previous: f.block, breaks: noJump, activeLocals: len(f.active), breakable: breakable}
	return f.block
}

func (p *parser) leaveBlock() {
	f := p.f
	b := f.block
	f.block = b.previous
	p.removeLocals(b.activeLocals)
	if b.hasUpvalue {
		f.emitABC(OpClose, b.activeLocals, 0, 0)
	}
	f.freeReg = len(f.active)
	f.patchToHere(b.breaks)
}

func (f *function) findLocal(name string) int {
	for i := len(f.active) - 1; i >= 0; i-- {
		if f.proto.Locals[f.active[i]].Name == name {
			return i
		}
	}
	return -1
}

func (f *function) markUpvalue(level int) {
	b := f.block
	for b != nil && b.activeLocals > level {
		b = b.previous
	}
	if b != nil {
		b.hasUpvalue = true
	}
}

func (f *function) upvalueIndex(name string, e *expr) int {
	for i, u := range f.upvalues {
		if u.kind == e.kind && u.info == e.info {
			return i
		}
	}
	f.checkLimit(len(f.upvalues)+1, maxUpvalues, "upvalues")
	f.proto.Upvalues = append(f.proto.Upvalues, name)
	f.upvalues = append(f.upvalues, upvalueRef{e.kind, e.info})
	return len(f.upvalues) - 1
}

func (f *function) resolve(name string, e *expr, base bool) exprKind {
	if f == nil {
		*e = newExpr(exprGlobal, noReg)
		return exprGlobal
	}
	if i := f.findLocal(name); i >= 0 {
		*e = newExpr(exprLocal, i)
		if !base {
			f.markUpvalue(i)
		}
		return exprLocal
	}
	if f.previous.resolve(name, e, false) == exprGlobal {
		return exprGlobal
	}
	e.info = f.upvalueIndex(name, e)
	e.kind = exprUpvalue
	return exprUpvalue
}

func (p *parser) variable() expr {
	name := p.name()
	var e expr
	if p.f.resolve(name, &e, true) == exprGlobal {
		e.info = p.f.stringConstant(name)
	}
	return e
}

// adjustAssign makes the values of an expression list as many as the variables.
func (p *parser) adjustAssign(variables, values int, e *expr) {
	f := p.f
	extra := variables - values
	if e.isMulti() {
		extra = max(extra+1, 0)
		f.setReturns(e, extra)
		if extra > 1 {
			f.reserve(extra - 1)
		}
		return
	}
	if e.kind != exprVoid {
		f.toNextReg(e)
	}
	if extra > 0 {
		reg := f.freeReg
		f.reserve(extra)
		f.emitNil(reg, extra)
	}
}

// Expressions.

func (p *parser) field(e *expr) {
	p.f.toAnyReg(e)
	p.next()
	key := p.stringExpr(p.name())
	p.f.indexed(e, &key)
}

func (p *parser) indexKey() expr {
	p.next()
	e := p.expr()
	p.f.toValue(&e)
	p.expect(']')
	return e
}

// constructor is the state of a table constructor being read.
type constructor struct {
	item    expr // last list item read
	table   *expr
	records int
	items   int
	pending int // list items not stored yet
}

func (p *parser) recordField(c *constructor) {
	f := p.f
	reg := f.freeReg
	var key expr
	if p.now.token == tkName {
		key = p.stringExpr(p.name())
	} else {
		key = p.indexKey()
	}
	c.records++
	p.expect('=')
	rk := f.toRK(&key)
	value := p.expr()
	f.emitABC(OpSetTable, c.table.info, rk, f.toRK(&value))
	f.freeReg = reg
}

func (f *function) closeItem(c *constructor) {
	if c.item.kind == exprVoid {
		return
	}
	f.toNextReg(&c.item)
	c.item.kind = exprVoid
	if c.pending == FieldsPerFlush {
		f.setList(c.table.info, c.items, c.pending)
		c.pending = 0
	}
}

func (f *function) lastItem(c *constructor) {
	if c.pending == 0 {
		return
	}
	if c.item.isMulti() {
		f.setReturns(&c.item, multRet)
		f.setList(c.table.info, c.items, multRet)
		c.items--
		return
	}
	if c.item.kind != exprVoid {
		f.toNextReg(&c.item)
	}
	f.setList(c.table.info, c.items, c.pending)
}

func (p *parser) listField(c *constructor) {
	c.item = p.expr()
	c.items++
	c.pending++
}

func (p *parser) tableConstructor() expr {
	f := p.f
	line := p.line
	pc := f.emitABC(OpNewTable, 0, 0, 0)
	table := newExpr(exprRelocatable, pc)
	c := constructor{table: &table, item: newExpr(exprVoid, 0)}
	f.toNextReg(&table)
	p.expect('{')
	for p.now.token != '}' {
		f.closeItem(&c)
		switch p.now.token {
		case tkName:
			if p.peek() != '=' {
				p.listField(&c)
			} else {
				p.recordField(&c)
			}
		case '[':
			p.recordField(&c)
		default:
			p.listField(&c)
		}
		if !p.accept(',') && !p.accept(';') {
			break
		}
	}
	p.expectMatch('}', '{', line)
	f.lastItem(&c)
	f.proto.Code[pc].setB(floatByte(c.items))
	f.proto.Code[pc].setC(floatByte(c.records))
	return table
}

func (p *parser) parameters() {
	f := p.f
	n := 0
	f.proto.Vararg = 0
	if p.now.token != ')' {
		for {
			switch p.now.token {
			case tkName:
				p.declare(p.name())
				n++
			case tkDots:
				p.next()
				// Old scripts may use the table named arg instead of "...".
				p.declare("arg")
				n++
				f.proto.Vararg = VarargHasArg | VarargNeedArg | VarargIs
			default:
				p.syntaxError("<name> or '...' expected")
			}
			if f.proto.Vararg != 0 || !p.accept(',') {
				break
			}
		}
	}
	p.activate(n)
	f.proto.NumParams = len(f.active) - int(f.proto.Vararg&VarargHasArg)
	f.reserve(len(f.active))
}

func (p *parser) body(method bool, line int) expr {
	f := p.openFunction()
	f.proto.LineDefined = line
	p.expect('(')
	if method {
		p.declare("self")
		p.activate(1)
	}
	p.parameters()
	p.expect(')')
	p.chunk()
	f.proto.LastLineDefined = p.line
	p.expectMatch(tkEnd, tkFunction, line)
	proto := p.closeFunction()
	return p.f.closure(proto, f.upvalues)
}

func (f *function) closure(proto *Proto, upvalues []upvalueRef) expr {
	if len(f.proto.Protos) > maxArgBx {
		f.lexer.fail("constant table overflow", 0)
	}
	f.proto.Protos = append(f.proto.Protos, proto)
	e := newExpr(exprRelocatable, f.emitABx(OpClosure, 0, len(f.proto.Protos)-1))
	for _, u := range upvalues {
		op := OpGetUpval
		if u.kind == exprLocal {
			op = OpMove
		}
		f.emitABC(op, 0, u.info, 0)
	}
	return e
}

// exprList reads expressions up to the last, which it leaves open.
func (p *parser) exprList() (last expr, n int) {
	e := p.expr()
	n = 1
	for p.accept(',') {
		p.f.toNextReg(&e)
		e = p.expr()
		n++
	}
	return e, n
}

func (p *parser) arguments(e *expr) {
	f := p.f
	line := p.line
	var args expr
	switch p.now.token {
	case '(':
		if line != p.lastLine {
			p.syntaxError("ambiguous syntax (function call x new statement)")
		}
		p.next()
		if p.now.token == ')' {
			args = newExpr(exprVoid, 0)
		} else {
			args, _ = p.exprList()
			f.setReturns(&args, multRet)
		}
		p.expectMatch(')', '(', line)
	case '{':
		args = p.tableConstructor()
	case tkString:
		args = p.stringExpr(p.now.text)
		p.next()
	default:
		p.syntaxError("function arguments expected")
	}
	base := e.info
	n := multRet
	if !args.isMulti() {
		if args.kind != exprVoid {
			f.toNextReg(&args)
		}
		n = f.freeReg - (base + 1)
	}
	*e = newExpr(exprCall, f.emitABC(OpCall, base, n+1, 2))
	f.fixLine(line)
	f.freeReg = base + 1
}

func (p *parser) prefixExpr() expr {
	switch p.now.token {
	case '(':
		line := p.line
		p.next()
		e := p.expr()
		p.expectMatch(')', '(', line)
		p.f.dischargeVars(&e)
		return e
	case tkName:
		return p.variable()
	}
	p.syntaxError("unexpected symbol")
	return expr{}
}

func (p *parser) primaryExpr() expr {
	f := p.f
	e := p.prefixExpr()
	for {
		switch p.now.token {
		case '.':
			p.field(&e)
		case '[':
			f.toAnyReg(&e)
			key := p.indexKey()
			f.indexed(&e, &key)
		case ':':
			p.next()
			key := p.stringExpr(p.name())
			f.self(&e, &key)
			p.arguments(&e)
		case '(', tkString, '{':
			f.toNextReg(&e)
			p.arguments(&e)
		default:
			return e
		}
	}
}

func (p *parser) simpleExpr() expr {
	var e expr
	switch p.now.token {
	case tkNumber:
		e = newExpr(exprNumber, 0)
		e.number = p.now.number
	case tkString:
		e = p.stringExpr(p.now.text)
	case tkNil:
		e = newExpr(exprNil, 0)
	case tkTrue:
		e = newExpr(exprTrue, 0)
	case tkFalse:
		e = newExpr(exprFalse, 0)
	case tkDots:
		if p.f.proto.Vararg == 0 {
			p.syntaxError("cannot use '...' outside a vararg function")
		}
		p.f.proto.Vararg &^= VarargNeedArg
		e = newExpr(exprVararg, p.f.emitABC(OpVararg, 0, 1, 0))
	case '{':
		return p.tableConstructor()
	case tkFunction:
		p.next()
		return p.body(false, p.line)
	default:
		return p.primaryExpr()
	}
	p.next()
	return e
}

func unaryOp(t token) (Op, bool) {
	switch t {
	case tkNot:
		return OpNot, true
	case '-':
		return OpUnm, true
	case '#':
		return OpLen, true
	}
	return 0, false
}

func (t token) binaryOp() binaryOp {
	if op, ok := binaryOps[t]; ok {
		return op
	}
	return binNone
}

// subExpr reads operators that bind tighter than limit and returns the first
// operator it left.
func (p *parser) subExpr(limit int) (expr, binaryOp) {
	p.enterLevel()
	var e expr
	if op, ok := unaryOp(p.now.token); ok {
		p.next()
		e, _ = p.subExpr(unaryPriority)
		p.f.prefix(op, &e)
	} else {
		e = p.simpleExpr()
	}
	op := p.now.token.binaryOp()
	for op != binNone && priority[op].left > limit {
		p.next()
		p.f.infix(op, &e)
		right, next := p.subExpr(priority[op].right)
		p.f.posfix(op, &e, &right)
		op = next
	}
	p.leaveLevel()
	return e, op
}

func (p *parser) expr() expr {
	e, _ := p.subExpr(0)
	return e
}
