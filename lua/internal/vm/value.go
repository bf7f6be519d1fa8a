// Package vm executes Lua 5.1 bytecode the way the reference implementation
// does: the same instructions, the same tables (node for node, so that they
// iterate in the same order), the same limits and the same error messages.
//
// The one idea: nothing is emulated on top of something else. Values are two
// words without boxing, tables are arrays and hash parts that grow by the
// reference rules, and an error names its variable by reading the bytecode
// backwards. Scripts then behave alike without special cases.
package vm

import (
	"math"
	"unsafe"
)

// Kind is the type of a Value.
type Kind uint8

// The kinds of values, in the order of Lua's type tags.
const (
	Nil Kind = iota
	Bool
	LightUserdata
	Number
	StringKind
	TableKind
	FunctionKind
	ThreadKind
	numKinds
)

var kindNames = [numKinds]string{
	"nil", "boolean", "userdata", "number", "string", "table", "function", "thread",
}

// String returns the name Lua's type function gives the kind.
func (k Kind) String() string { return kindNames[k] }

// header starts every object, so that a Value's pointer tells its kind.
type header struct{ kind Kind }

// Value is a Lua value. ref points to the object's header, or to a shared one
// for the kinds that are not objects; bits holds their payload. The zero Value
// is nil.
type Value struct {
	ref  unsafe.Pointer
	bits uint64
}

var (
	boolHeader   = header{Bool}
	numberHeader = header{Number}
	lightHeader  = header{LightUserdata}
)

var (
	// True and False are the booleans.
	True  = Value{unsafe.Pointer(&boolHeader), 1}
	False = Value{unsafe.Pointer(&boolHeader), 0}
	// Null is the light userdata of a null pointer: cjson.null.
	Null = Value{unsafe.Pointer(&lightHeader), 0}
)

// Num makes a number.
func Num(f float64) Value {
	return Value{unsafe.Pointer(&numberHeader), math.Float64bits(f)}
}

// Int makes a number of an integer.
func Int(n int) Value { return Num(float64(n)) }

// BoolOf makes a boolean.
func BoolOf(b bool) Value {
	if b {
		return True
	}
	return False
}

// Kind returns the type of v.
func (v Value) Kind() Kind {
	if v.ref == nil {
		return Nil
	}
	return (*header)(v.ref).kind
}

// IsNil tells whether v is nil.
func (v Value) IsNil() bool { return v.ref == nil }

// IsNumber tells whether v is a number.
func (v Value) IsNumber() bool { return v.ref == unsafe.Pointer(&numberHeader) }

// Truthy tells whether v counts as true: anything but nil and false.
func (v Value) Truthy() bool {
	return v.ref != nil && (v.ref != unsafe.Pointer(&boolHeader) || v.bits != 0)
}

// Float returns the number v holds; v must be a number.
func (v Value) Float() float64 { return math.Float64frombits(v.bits) }

// IsString tells whether v is a string.
func (v Value) IsString() bool { return v.Kind() == StringKind }

// Str returns the text of a string; v must be a string.
func (v Value) Str() string { return (*String)(v.ref).s }

func (v Value) str() *String { return (*String)(v.ref) }

// Table returns v as a table, nil if it is none.
func (v Value) Table() *Table {
	if v.ref == nil || (*header)(v.ref).kind != TableKind {
		return nil
	}
	return (*Table)(v.ref)
}

// Function returns v as a function, nil if it is none.
func (v Value) Function() *Function {
	if v.ref == nil || (*header)(v.ref).kind != FunctionKind {
		return nil
	}
	return (*Function)(v.ref)
}

// Thread returns v as a coroutine, nil if it is none.
func (v Value) Thread() *Thread {
	if v.ref == nil || (*header)(v.ref).kind != ThreadKind {
		return nil
	}
	return (*Thread)(v.ref)
}

// RawEqual compares without metamethods.
func RawEqual(a, b Value) bool {
	if a.ref == b.ref {
		if a.IsNumber() {
			return a.Float() == b.Float()
		}
		return a.bits == b.bits
	}
	if a.IsString() && b.IsString() {
		x, y := a.str(), b.str()
		return x.hash == y.hash && x.s == y.s
	}
	return false
}

// String is a string object with its hash.
type String struct {
	header
	hash uint32
	s    string
}

// hashString is the hash of the reference implementation: it decides the order
// in which tables iterate.
func hashString(s string) uint32 {
	h := uint32(len(s))
	step := len(s)>>5 + 1
	for i := len(s); i >= step; i -= step {
		h ^= h<<5 + h>>2 + uint32(s[i-1])
	}
	return h
}

// Str makes a string value that is not charged to any script: constants,
// names of library functions.
func Str(s string) Value {
	return Value{ref: unsafe.Pointer(&String{header{StringKind}, hashString(s), s})}
}

// TableValue makes a value of a table.
func TableValue(t *Table) Value { return Value{ref: unsafe.Pointer(t)} }

// FunctionValue makes a value of a function.
func FunctionValue(f *Function) Value { return Value{ref: unsafe.Pointer(f)} }

func threadValue(t *Thread) Value { return Value{ref: unsafe.Pointer(t)} }

// Address is the number tostring shows for an object, unique in its runtime.
func (g *Global) Address(v Value) uint64 {
	return 0x7f0000000000 + uint64(g.hashObject(v))*64
}

// GoFunction is a function of a library. It finds its arguments on the thread's
// frame, pushes its results and returns how many they are.
type GoFunction func(t *Thread) int

// Function is a Lua closure or a Go function.
type Function struct {
	header
	id       uint32
	env      *Table
	proto    *Proto
	upvalues []*upvalue
	goFn     GoFunction
	captured []Value
}

// IsGo tells whether the function is one of a library.
func (f *Function) IsGo() bool { return f.proto == nil }

// upvalue is a variable shared by closures: open while v points into a stack,
// closed when it points to the upvalue's own value.
type upvalue struct {
	v      *Value
	closed Value
	index  int // stack index while open
	next   *upvalue
}
