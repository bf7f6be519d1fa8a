package vm

import (
	"strings"
)

// maxMetaChain bounds chains of __index and __newindex.
const maxMetaChain = 100

// index is t[key]. reg is the register v came from, -1 for none.
func (t *Thread) index(v, key Value, reg int) Value {
	for range maxMetaChain {
		var handler Value
		if table := v.Table(); table != nil {
			if r := table.Get(key); !r.IsNil() {
				return r
			}
			if handler = table.meta.fast(EventIndex); handler.IsNil() {
				return Value{}
			}
		} else if handler = t.g.Metamethod(v, EventIndex); handler.IsNil() {
			t.typeError(v, reg, "index")
		}
		if handler.Kind() == FunctionKind {
			return t.callMeta(handler, v, key)
		}
		v, reg = handler, -1
	}
	t.Errorf("loop in gettable")
	return Value{}
}

// setIndex is t[key] = value.
func (t *Thread) setIndex(v, key, value Value, reg int) {
	for range maxMetaChain {
		var handler Value
		if table := v.Table(); table != nil {
			if t.setTable(table, key, value) {
				return
			}
			handler = table.meta.fast(EventNewIndex)
		} else if handler = t.g.Metamethod(v, EventNewIndex); handler.IsNil() {
			t.typeError(v, reg, "index")
		}
		if handler.Kind() == FunctionKind {
			t.callMetaNoResult(handler, v, key, value)
			return
		}
		v, reg = handler, -1
	}
	t.Errorf("loop in settable")
}

// setTable stores a value unless a __newindex handler has to.
func (t *Thread) setTable(table *Table, key, value Value) bool {
	if table.readOnly {
		t.Errorf("Attempt to modify a readonly table")
	}
	p := table.slot(key)
	if p == nil {
		t.checkKey(key)
		// As in the reference, the key exists from here on, nil as its value
		// may be.
		p = table.newKey(key)
	}
	if p.IsNil() && !table.meta.fast(EventNewIndex).IsNil() {
		return false
	}
	table.absent = 0
	*p = value
	return true
}

func (t *Thread) checkKey(key Value) {
	if key.IsNil() {
		t.Errorf("table index is nil")
	}
	if key.IsNumber() && key.Float() != key.Float() {
		t.Errorf("table index is NaN")
	}
}

// RawSet stores a value from a Go function.
func (t *Thread) RawSet(table *Table, key, value Value) {
	if table.readOnly {
		t.Errorf("Attempt to modify a readonly table")
	}
	t.checkKey(key)
	table.Set(key, value)
}

// Index is v[key] with metamethods, for Go functions.
func (t *Thread) Index(v, key Value) Value { return t.index(v, key, -1) }

func arithmetic(e Event, a, b float64) float64 {
	switch e {
	case EventAdd:
		return a + b
	case EventSub:
		return a - b
	case EventMul:
		return a * b
	case EventDiv:
		return a / b
	case EventMod:
		return mod(a, b)
	case EventPow:
		return Pow(a, b)
	default:
		return -a
	}
}

// arith is an arithmetic operator; regB and regC are its RK operands.
func (t *Thread) arith(e Event, b, c Value, regB, regC int) Value {
	x, okX := ToNumber(b)
	if okX {
		if y, okY := ToNumber(c); okY {
			return Num(arithmetic(e, x, y))
		}
	}
	handler := t.g.Metamethod(b, e)
	if handler.IsNil() {
		handler = t.g.Metamethod(c, e)
	}
	if handler.IsNil() {
		if okX {
			b, regB = c, regC
		}
		t.typeError(b, regB, "perform arithmetic on")
	}
	return t.callMeta(handler, b, c)
}

func (t *Thread) length(v Value, reg int) Value {
	handler := t.g.Metamethod(v, EventLen)
	if handler.IsNil() {
		t.typeError(v, reg, "get length of")
	}
	return t.callMeta(handler, v, Value{})
}

// comparer returns the handler both values share for an event.
func (t *Thread) comparer(a, b Value, e Event) Value {
	h1 := t.g.Metamethod(a, e)
	if h1.IsNil() {
		return h1
	}
	if h2 := t.g.Metamethod(b, e); RawEqual(h1, h2) {
		return h1
	}
	return Value{}
}

func (t *Thread) equal(a, b Value) bool {
	if RawEqual(a, b) {
		return true
	}
	x, y := a.Table(), b.Table()
	if x == nil || y == nil || x.meta == nil || y.meta == nil {
		return false
	}
	handler := x.meta.fast(EventEq)
	if handler.IsNil() {
		return false
	}
	if x.meta != y.meta {
		if other := y.meta.fast(EventEq); other.IsNil() || !RawEqual(handler, other) {
			return false
		}
	}
	return t.callMeta(handler, a, b).Truthy()
}

// LessThan is a < b with metamethods.
func (t *Thread) LessThan(a, b Value) bool { return t.lessThan(a, b) }

func (t *Thread) lessThan(a, b Value) bool {
	ka, kb := a.Kind(), b.Kind()
	switch {
	case ka != kb:
		t.orderError(a, b)
	case ka == Number:
		return a.Float() < b.Float()
	case ka == StringKind:
		return compareStrings(a.Str(), b.Str()) < 0
	}
	handler := t.comparer(a, b, EventLt)
	if handler.IsNil() {
		t.orderError(a, b)
	}
	return t.callMeta(handler, a, b).Truthy()
}

func (t *Thread) lessEqual(a, b Value) bool {
	ka, kb := a.Kind(), b.Kind()
	switch {
	case ka != kb:
		t.orderError(a, b)
	case ka == Number:
		return a.Float() <= b.Float()
	case ka == StringKind:
		return compareStrings(a.Str(), b.Str()) <= 0
	}
	if handler := t.comparer(a, b, EventLe); !handler.IsNil() {
		return t.callMeta(handler, a, b).Truthy()
	}
	handler := t.comparer(b, a, EventLt)
	if handler.IsNil() {
		t.orderError(a, b)
	}
	return !t.callMeta(handler, b, a).Truthy()
}

// compareStrings orders strings by their bytes: the collation of the C locale.
func compareStrings(a, b string) int { return strings.Compare(a, b) }

// concat joins total values that end at stack index last and leaves the result
// in the first of them.
func (t *Thread) concat(total, last int) {
	base := t.frame().base
	for total > 1 {
		top := last + 1
		n := 2
		a, b := t.stack[top-2], t.stack[top-1]
		if !isStringOrNumber(a) || !b.IsString() && !b.IsNumber() {
			handler := t.g.Metamethod(a, EventConcat)
			if handler.IsNil() {
				handler = t.g.Metamethod(b, EventConcat)
			}
			if handler.IsNil() {
				t.concatError(a, b, top-2-base)
			}
			saved := t.top
			t.top = max(t.top, top)
			v := t.callMeta(handler, a, b)
			t.top = saved
			t.stack[top-2] = v
		} else {
			for n = 2; n < total && isStringOrNumber(t.stack[top-n-1]); n++ {
			}
			t.stack[top-n] = t.join(t.stack[top-n : top])
		}
		total -= n - 1
		last -= n - 1
	}
}

func isStringOrNumber(v Value) bool { return v.IsNumber() || v.IsString() }

func (t *Thread) join(values []Value) Value {
	size := 0
	for i, v := range values {
		if v.IsNumber() {
			v = t.g.NewString(FormatNumber(v.Float()))
			values[i] = v
		}
		size += len(v.Str())
	}
	t.g.CheckStringSize(size)
	if len(values) == 2 {
		return t.g.NewString(values[0].Str() + values[1].Str())
	}
	var b strings.Builder
	b.Grow(size)
	for _, v := range values {
		b.WriteString(v.Str())
	}
	return t.g.NewString(b.String())
}
