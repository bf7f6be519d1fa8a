package vm

import "strconv"

// The checks Go functions make on their arguments, with Lua's messages.

// IsNone tells whether argument n is absent.
func (t *Thread) IsNone(n int) bool { return n > t.NArgs() }

// ArgError reports a bad argument.
func (t *Thread) ArgError(n int, message string) {
	kind, name := t.FunctionName()
	if kind == "method" {
		n--
		if n == 0 {
			t.Fail("calling '", name, "' on bad self (", message, ")")
		}
	}
	if name == "" {
		name = "?"
	}
	t.Fail("bad argument #", strconv.Itoa(n), " to '", name, "' (", message, ")")
}

func (t *Thread) typeName(n int) string {
	if t.IsNone(n) {
		return "no value"
	}
	return t.Arg(n).Kind().String()
}

// ArgTypeError reports an argument of the wrong type.
func (t *Thread) ArgTypeError(n int, expected string) {
	t.ArgError(n, expected+" expected, got "+t.typeName(n))
}

// CheckAny requires argument n to be present.
func (t *Thread) CheckAny(n int) Value {
	if t.IsNone(n) {
		t.ArgError(n, "value expected")
	}
	return t.Arg(n)
}

// CheckKind requires argument n to be of a kind.
func (t *Thread) CheckKind(n int, k Kind) {
	if t.Arg(n).Kind() != k || t.IsNone(n) {
		t.ArgTypeError(n, k.String())
	}
}

// CheckTable returns argument n, which must be a table.
func (t *Thread) CheckTable(n int) *Table {
	table := t.Arg(n).Table()
	if table == nil {
		t.ArgTypeError(n, "table")
	}
	return table
}

// CheckString returns argument n as a string; numbers convert.
func (t *Thread) CheckString(n int) string {
	v := t.Arg(n)
	switch v.Kind() {
	case StringKind:
		return v.Str()
	case Number:
		return FormatNumber(v.Float())
	}
	t.ArgTypeError(n, "string")
	return ""
}

// CheckNumber returns argument n as a number; numeric strings convert.
func (t *Thread) CheckNumber(n int) float64 {
	v := t.Arg(n)
	if v.IsNumber() {
		return v.Float()
	}
	f, ok := ToNumber(v)
	if !ok {
		t.ArgTypeError(n, "number")
	}
	return f
}

// ToInteger truncates as C does on amd64: what does not fit is the smallest
// integer.
func ToInteger(f float64) int {
	if f >= -(1<<63) && f < 1<<63 {
		return int(f)
	}
	return -1 << 63
}

// CheckInteger returns argument n as an integer.
func (t *Thread) CheckInteger(n int) int { return ToInteger(t.CheckNumber(n)) }

// CheckInt returns argument n as a C int: the low 32 bits.
func (t *Thread) CheckInt(n int) int { return int(int32(t.CheckInteger(n))) }

// OptInteger is CheckInteger with a default for an absent or nil argument.
func (t *Thread) OptInteger(n, def int) int {
	if t.Arg(n).IsNil() {
		return def
	}
	return t.CheckInteger(n)
}

// OptInt is CheckInt with a default for an absent or nil argument.
func (t *Thread) OptInt(n, def int) int {
	if t.Arg(n).IsNil() {
		return def
	}
	return t.CheckInt(n)
}

// OptString is CheckString with a default for an absent or nil argument.
func (t *Thread) OptString(n int, def string) string {
	if t.Arg(n).IsNil() {
		return def
	}
	return t.CheckString(n)
}
