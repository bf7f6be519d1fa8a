package lua

import (
	"strings"

	"github.com/fakecluster/fakecluster/lua/internal/vm"
)

// maxReplyDepth bounds how deep tables nest in a reply. The reference walks them
// on the Lua stack, where a level takes one slot in an array and more in maps
// and sets.
const maxReplyDepth = vm.MaxGoStack - 6

// replier writes the value a script returned.
type replier struct {
	sink Sink
	// resp is the version the script chose with redis.setresp: it decides what
	// booleans are.
	resp int
	// measure stops the walk where the reply is too long; nil when it is known
	// to fit.
	measure *measure
}

func (r *replier) write(v vm.Value, depth int) {
	if r.measure != nil && !r.measure.goesOn() {
		return
	}
	if depth > maxReplyDepth {
		r.sink.Error("ERR reached lua stack limit")
		return
	}
	switch v.Kind() {
	case vm.StringKind:
		r.sink.BulkString(v.Str())
	case vm.Number:
		r.sink.Int(int64(vm.ToInteger(v.Float())))
	case vm.Bool:
		switch {
		case r.resp == 3:
			r.sink.Bool(v.Truthy())
		case v.Truthy():
			r.sink.Int(1)
		default:
			r.sink.Null()
		}
	case vm.TableKind:
		r.table(v.Table(), depth)
	default:
		r.sink.Null()
	}
}

func (r *replier) table(t *vm.Table, depth int) {
	if v := t.GetStr("err"); v.IsString() {
		r.sink.Error(oneLine(cString(v.Str())))
		return
	}
	if v := t.GetStr("ok"); v.IsString() {
		r.sink.Status(mapNewlines(cString(v.Str())))
		return
	}
	if v := t.GetStr("double"); v.IsNumber() {
		r.sink.Double(v.Float())
		return
	}
	if m := t.GetStr("map").Table(); m != nil {
		r.sink.Map(entries(m))
		m.Each(func(k, v vm.Value) {
			r.write(k, depth+4)
			r.write(v, depth+3)
		})
		return
	}
	if s := t.GetStr("set").Table(); s != nil {
		r.sink.Set(entries(s))
		s.Each(func(k, _ vm.Value) { r.write(k, depth+3) })
		return
	}
	if v := t.GetStr("big_number"); v.IsString() {
		r.sink.BigNumber(mapNewlines(v.Str()))
		return
	}
	if v := t.GetStr("verbatim_string").Table(); v != nil {
		if format, text := v.GetStr("format"), v.GetStr("string"); format.IsString() && text.IsString() {
			r.sink.Verbatim((cString(format.Str()) + "   ")[:3], text.Str())
			return
		}
	}
	n := 0
	for !t.GetInt(n + 1).IsNil() {
		n++
	}
	r.sink.Array(n)
	for i := 1; i <= n; i++ {
		r.write(t.GetInt(i), depth+1)
	}
}

func entries(t *vm.Table) int {
	n := 0
	t.Each(func(_, _ vm.Value) { n++ })
	return n
}

var newlines = strings.NewReplacer("\r", " ", "\n", " ")

// mapNewlines keeps a text on one line of the protocol.
func mapNewlines(s string) string { return newlines.Replace(s) }

// cString cuts a string at its first zero byte.
func cString(s string) string {
	if i := strings.IndexByte(s, 0); i >= 0 {
		return s[:i]
	}
	return s
}
