package lua

import (
	"strconv"

	"github.com/fakecluster/fakecluster/lua/internal/vm"
)

// Builder is the Sink that turns a reply into Lua values. A new reply is made
// for every call of a command.
type Builder struct {
	g      *vm.Global
	proto  int
	append func(dst []byte, f float64) []byte
	open   []aggregate
	value  vm.Value
	// isError tells whether the whole reply is an error.
	isError bool
	message string // of the last error
}

// aggregate is a reply with items still to come.
type aggregate struct {
	table   *vm.Table // where the items go
	left    int
	next    int // index of the next array item
	isMap   bool
	isSet   bool
	key     vm.Value
	haveKey bool
}

func (b *Builder) reset(g *vm.Global, proto int) {
	*b = Builder{g: g, proto: proto, append: b.append, open: b.open[:0]}
}

// Failure is the last error the reply contains, "" if there is none.
func (b *Builder) Failure() string { return b.message }

// Proto is the protocol version the script chose with redis.setresp.
func (b *Builder) Proto() int { return b.proto }

// put hands over a complete value.
func (b *Builder) put(v vm.Value) {
	if len(b.open) == 0 {
		b.value = v
		return
	}
	b.open[len(b.open)-1].add(v)
	b.closeFull()
}

// closeFull drops aggregates that have all their items.
func (b *Builder) closeFull() {
	for len(b.open) > 0 && b.open[len(b.open)-1].left == 0 {
		b.open = b.open[:len(b.open)-1]
	}
}

// add stores one item.
func (a *aggregate) add(v vm.Value) {
	a.left--
	switch {
	case a.isMap && !a.haveKey:
		a.key, a.haveKey = v, true
	case a.isMap:
		a.haveKey = false
		if storable(a.key) {
			a.table.Set(a.key, v)
		}
	case a.isSet:
		if storable(v) {
			a.table.Set(v, vm.True)
		}
	default:
		a.table.SetInt(a.next, v)
		a.next++
	}
}

func storable(key vm.Value) bool {
	return !key.IsNil() && !(key.IsNumber() && key.Float() != key.Float())
}

// begin hands over an aggregate whose items follow.
func (b *Builder) begin(v vm.Value, a aggregate) {
	if len(b.open) == 0 {
		b.value = v
	} else {
		b.open[len(b.open)-1].add(v)
	}
	b.open = append(b.open, a)
	b.closeFull()
}

// field makes a table with one field.
func (b *Builder) field(name string, v vm.Value) *vm.Table {
	t := b.g.NewTable(0, 0)
	t.SetStr(name, v)
	return t
}

// Status writes {ok=s}.
func (b *Builder) Status(s string) {
	b.put(vm.TableValue(b.field("ok", b.g.NewString(s))))
}

// Error writes {err=msg}.
func (b *Builder) Error(msg string) {
	if len(b.open) == 0 {
		b.isError = true
	}
	b.message = msg
	t := errorTable(b.g, "-"+msg)
	t.SetStr("ignore_error_stats_update", vm.True)
	b.put(vm.TableValue(t))
}

// Int writes a number.
func (b *Builder) Int(n int64) { b.put(vm.Num(float64(n))) }

// Bulk writes a string.
func (b *Builder) Bulk(p []byte) { b.put(b.g.NewString(string(p))) }

// BulkString writes a string.
func (b *Builder) BulkString(s string) { b.put(b.g.NewString(s)) }

// Null writes false, or nil when the script speaks RESP3.
func (b *Builder) Null() {
	if b.proto == 3 {
		b.put(vm.Value{})
	} else {
		b.put(vm.False)
	}
}

// NullArray is Null.
func (b *Builder) NullArray() { b.Null() }

// Array begins a table of n items.
func (b *Builder) Array(n int) {
	t := b.g.NewTable(n, 0)
	b.begin(vm.TableValue(t), aggregate{table: t, left: n, next: 1})
}

// Map begins {map={…}} of n pairs; an array in RESP2.
func (b *Builder) Map(n int) {
	if b.proto != 3 {
		b.Array(2 * n)
		return
	}
	t := b.g.NewTable(0, n)
	b.begin(vm.TableValue(b.field("map", vm.TableValue(t))), aggregate{table: t, left: 2 * n, isMap: true})
}

// Set begins {set={…}}, its items the keys; an array in RESP2.
func (b *Builder) Set(n int) {
	if b.proto != 3 {
		b.Array(n)
		return
	}
	t := b.g.NewTable(0, n)
	b.begin(vm.TableValue(b.field("set", vm.TableValue(t))), aggregate{table: t, left: n, isSet: true})
}

// Push begins a table of n items.
func (b *Builder) Push(n int) { b.Array(n) }

// Double writes {double=f}; a string in RESP2.
func (b *Builder) Double(f float64) {
	if b.proto == 3 {
		b.put(vm.TableValue(b.field("double", vm.Num(f))))
	} else {
		b.Bulk(b.append(nil, f))
	}
}

// Decimal writes a number printed by the command as Double does.
func (b *Builder) Decimal(digits string) {
	if b.proto == 3 {
		f, _ := strconv.ParseFloat(digits, 64)
		b.put(vm.TableValue(b.field("double", vm.Num(f))))
	} else {
		b.BulkString(digits)
	}
}

// Bool writes a boolean; 1 or 0 in RESP2.
func (b *Builder) Bool(v bool) {
	switch {
	case b.proto == 3:
		b.put(vm.BoolOf(v))
	case v:
		b.Int(1)
	default:
		b.Int(0)
	}
}

// BigNumber writes {big_number=digits}; a string in RESP2.
func (b *Builder) BigNumber(digits string) {
	if b.proto == 3 {
		b.put(vm.TableValue(b.field("big_number", b.g.NewString(digits))))
	} else {
		b.BulkString(digits)
	}
}

// Verbatim writes {verbatim_string={format=…,string=…}}; a string in RESP2.
func (b *Builder) Verbatim(format, text string) {
	if b.proto != 3 {
		b.BulkString(text)
		return
	}
	t := b.g.NewTable(0, 0)
	t.SetStr("string", b.g.NewString(text))
	t.SetStr("format", b.g.NewString(format))
	b.put(vm.TableValue(b.field("verbatim_string", vm.TableValue(t))))
}

// appendDouble17 appends "%.17g".
func appendDouble17(dst []byte, f float64) []byte {
	if n := int64(f); float64(n) == f && n > -1e15 && n < 1e15 && n != 0 {
		return strconv.AppendInt(dst, n, 10)
	}
	return append(dst, vm.FormatG(f, 17)...)
}
