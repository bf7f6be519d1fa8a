package compile

// Instruction is one Lua 5.1 instruction: opcode in bits 0–5, A in 6–13, C in
// 14–22, B in 23–31; Bx is B and C together, sBx is Bx less MaxArgSBx.
type Instruction uint32

// Op is an opcode of the Lua 5.1 virtual machine.
type Op uint8

// The opcodes, with the meaning they have in Lua 5.1.
const (
	OpMove Op = iota
	OpLoadK
	OpLoadBool
	OpLoadNil
	OpGetUpval
	OpGetGlobal
	OpGetTable
	OpSetGlobal
	OpSetUpval
	OpSetTable
	OpNewTable
	OpSelf
	OpAdd
	OpSub
	OpMul
	OpDiv
	OpMod
	OpPow
	OpUnm
	OpNot
	OpLen
	OpConcat
	OpJmp
	OpEq
	OpLt
	OpLe
	OpTest
	OpTestSet
	OpCall
	OpTailCall
	OpReturn
	OpForLoop
	OpForPrep
	OpTForLoop
	OpSetList
	OpClose
	OpClosure
	OpVararg
)

const (
	maxArgA   = 1<<8 - 1
	maxArgB   = 1<<9 - 1
	maxArgC   = 1<<9 - 1
	maxArgBx  = 1<<18 - 1
	MaxArgSBx = maxArgBx >> 1

	// bitRK marks an RK operand as a constant.
	bitRK      = 1 << 8
	maxIndexRK = bitRK - 1

	// FieldsPerFlush is how many list items one OpSetList stores.
	FieldsPerFlush = 50

	multRet = -1
	noReg   = maxArgA
)

// Op returns the opcode.
func (i Instruction) Op() Op { return Op(i & 0x3f) }

// A returns operand A.
func (i Instruction) A() int { return int(i >> 6 & 0xff) }

// B returns operand B.
func (i Instruction) B() int { return int(i >> 23) }

// C returns operand C.
func (i Instruction) C() int { return int(i >> 14 & 0x1ff) }

// Bx returns operand Bx.
func (i Instruction) Bx() int { return int(i >> 14) }

// SBx returns operand sBx.
func (i Instruction) SBx() int { return int(i>>14) - MaxArgSBx }

// IsConstant tells whether an RK operand names a constant, and which.
func IsConstant(rk int) (index int, ok bool) { return rk &^ bitRK, rk&bitRK != 0 }

func createABC(op Op, a, b, c int) Instruction {
	return Instruction(op) | Instruction(a)<<6 | Instruction(c)<<14 | Instruction(b)<<23
}

func createABx(op Op, a, bx int) Instruction {
	return Instruction(op) | Instruction(a)<<6 | Instruction(bx)<<14
}

func (i *Instruction) setOp(op Op) { *i = *i&^0x3f | Instruction(op) }
func (i *Instruction) setA(a int)  { *i = *i&^(0xff<<6) | Instruction(a)<<6 }
func (i *Instruction) setB(b int)  { *i = *i&^(0x1ff<<23) | Instruction(b)<<23 }
func (i *Instruction) setC(c int)  { *i = *i&^(0x1ff<<14) | Instruction(c)<<14 }
func (i *Instruction) setSBx(v int) {
	*i = *i&^(maxArgBx<<14) | Instruction(v+MaxArgSBx)<<14
}

// isTest tells whether the instruction is a test: the next one is a jump.
func (op Op) isTest() bool {
	switch op {
	case OpEq, OpLt, OpLe, OpTest, OpTestSet, OpTForLoop:
		return true
	}
	return false
}

// SetsA tells whether the instruction writes register A.
func (op Op) SetsA() bool {
	switch op {
	case OpSetGlobal, OpSetUpval, OpSetTable, OpJmp, OpEq, OpLt, OpLe, OpReturn,
		OpTForLoop, OpSetList, OpClose:
		return false
	}
	return true
}

// floatByte encodes a table size hint as (mantissa, exponent) in eight bits,
// rounding up.
func floatByte(x int) int {
	e := 0
	for x >= 16 {
		x = (x + 1) >> 1
		e++
	}
	if x < 8 {
		return x
	}
	return (e+1)<<3 | (x - 8)
}

// SizeHint decodes a table size hint.
func SizeHint(x int) int {
	e := x >> 3 & 31
	if e == 0 {
		return x
	}
	return (x&7 + 8) << (e - 1)
}
