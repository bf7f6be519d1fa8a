package lib

import (
	"math"

	"github.com/fakecluster/fakecluster/lua/internal/vm"
)

// jsonConfig are the settings of one cjson table. Scripts change them for all
// scripts that follow.
type jsonConfig struct {
	sparseConvert        int
	sparseRatio          int
	sparseSafe           int
	encodeMaxDepth       int
	decodeMaxDepth       int
	precision            int
	keepBuffer           int
	encodeInvalidNumbers int
	decodeInvalidNumbers int
}

// OpenCJSON registers cjson.
func OpenCJSON(g *vm.Global) {
	g.Globals.SetStr("cjson", vm.TableValue(newJSON(g)))
}

func newJSON(g *vm.Global) *vm.Table {
	c := &jsonConfig{
		sparseRatio: 2, sparseSafe: 10, encodeMaxDepth: 1000, decodeMaxDepth: 1000,
		precision: 14, keepBuffer: 1, decodeInvalidNumbers: 1,
	}
	t := g.NewTable(0, 0)
	register(g, t, []entry{
		{"encode", c.encode}, {"decode", c.decode},
		{"encode_sparse_array", c.setSparseArray},
		{"encode_max_depth", c.integer(&c.encodeMaxDepth, 1, math.MaxInt32)},
		{"decode_max_depth", c.integer(&c.decodeMaxDepth, 1, math.MaxInt32)},
		{"encode_number_precision", c.integer(&c.precision, 1, 14)},
		{"encode_keep_buffer", c.enum(&c.keepBuffer, onOff)},
		{"encode_invalid_numbers", c.enum(&c.encodeInvalidNumbers, onOffNull)},
		{"decode_invalid_numbers", c.enum(&c.decodeInvalidNumbers, onOff)},
		{"new", func(t *vm.Thread) int {
			t.Push(vm.TableValue(newJSON(t.Global())))
			return 1
		}},
	})
	t.SetStr("null", vm.Null)
	t.SetStr("_NAME", vm.Str("cjson"))
	t.SetStr("_VERSION", vm.Str("2.1.0"))
	return t
}

var (
	onOff     = []string{"off", "on"}
	onOffNull = []string{"off", "on", "null"}
)

// options makes absent arguments nil and refuses more than n.
func options(t *vm.Thread, n int) {
	if t.NArgs() > n {
		t.ArgError(n+1, "found too many arguments")
	}
	t.SetTop(n)
}

func integerOption(t *vm.Thread, arg int, setting *int, low, high int) {
	if !t.Arg(arg).IsNil() {
		v := int(int32(t.CheckInteger(arg)))
		if v < low || v > high {
			t.ArgError(1, "expected integer between "+itoa(low)+" and "+itoa(high))
		}
		*setting = v
	}
	t.Push(vm.Int(*setting))
}

func enumOption(t *vm.Thread, arg int, setting *int, names []string) {
	switch v := t.Arg(arg); v.Kind() {
	case vm.Nil:
	case vm.Bool:
		*setting = 0
		if v.Truthy() {
			*setting = 1
		}
	default:
		*setting = checkOption(t, arg, "", names)
	}
	if *setting <= 1 {
		t.Push(vm.BoolOf(*setting == 1))
	} else {
		t.PushString(names[*setting])
	}
}

func (c *jsonConfig) integer(setting *int, low, high int) vm.GoFunction {
	return func(t *vm.Thread) int {
		options(t, 1)
		integerOption(t, 1, setting, low, high)
		return 1
	}
}

func (c *jsonConfig) enum(setting *int, names []string) vm.GoFunction {
	return func(t *vm.Thread) int {
		options(t, 1)
		enumOption(t, 1, setting, names)
		return 1
	}
}

func (c *jsonConfig) setSparseArray(t *vm.Thread) int {
	options(t, 3)
	enumOption(t, 1, &c.sparseConvert, onOff)
	integerOption(t, 2, &c.sparseRatio, 0, math.MaxInt32)
	integerOption(t, 3, &c.sparseSafe, 0, math.MaxInt32)
	return 3
}

// encoder writes a value as JSON.
type encoder struct {
	*jsonConfig
	encoding
	used int // stack slots the original would hold
}

func (c *jsonConfig) encode(t *vm.Thread) int {
	if t.NArgs() != 1 {
		t.ArgError(1, "expected 1 argument")
	}
	e := encoder{jsonConfig: c, encoding: encoding{t: t}}
	e.value(t.Arg(1), 0)
	t.PushString(string(e.out))
	return 1
}

func (e *encoder) refuse(v vm.Value, reason string) {
	e.t.Fail("Cannot serialise ", v.Kind().String(), ": ", reason)
}

func (e *encoder) value(v vm.Value, depth int) {
	e.check()
	switch v.Kind() {
	case vm.StringKind:
		e.str(v.Str())
	case vm.Number:
		e.number(v)
	case vm.Bool:
		if v.Truthy() {
			e.out = append(e.out, "true"...)
		} else {
			e.out = append(e.out, "false"...)
		}
	case vm.TableKind:
		e.table(v, depth+1)
	case vm.Nil, vm.LightUserdata:
		e.out = append(e.out, "null"...)
	default:
		e.refuse(v, "type not supported")
	}
}

func (e *encoder) table(v vm.Value, depth int) {
	e.t.Global().Poll() // tables that share tables may be without end
	const room = 4      // the argument, and what the original wants free
	if depth > e.encodeMaxDepth || e.used+room > vm.MaxGoStack {
		e.t.Fail("Cannot serialise, excessive nesting (", itoa(depth), ")")
	}
	t := v.Table()
	if n := e.arrayLength(v); n > 0 {
		e.out = append(e.out, '[')
		for i := 1; i <= n; i++ {
			if i > 1 {
				e.out = append(e.out, ',')
			}
			e.used++
			e.value(t.GetInt(i), depth)
			e.used--
		}
		e.out = append(e.out, ']')
		return
	}
	e.out = append(e.out, '{')
	first := true
	t.Each(func(k, v vm.Value) {
		if !first {
			e.out = append(e.out, ',')
		}
		first = false
		switch k.Kind() {
		case vm.Number:
			e.out = append(e.out, '"')
			e.number(k)
			e.out = append(e.out, '"')
		case vm.StringKind:
			e.str(k.Str())
		default:
			e.refuse(k, "table key must be a number or string")
		}
		e.out = append(e.out, ':')
		e.used += 2
		e.value(v, depth)
		e.used -= 2
	})
	e.out = append(e.out, '}')
}

// arrayLength is the highest index of a table whose keys are positive integers,
// else -1.
func (e *encoder) arrayLength(v vm.Value) int {
	t := v.Table()
	highest, items := 0, 0
	key := vm.Value{}
	for {
		k, _, _ := t.Next(key)
		if k.IsNil() {
			break
		}
		if f := k; !f.IsNumber() || f.Float() < 1 || math.Floor(f.Float()) != f.Float() {
			return -1
		}
		if f := k.Float(); f > float64(highest) {
			highest = int(int32(vm.ToInteger(f)))
		}
		items++
		key = k
	}
	if e.sparseRatio > 0 && highest > items*e.sparseRatio && highest > e.sparseSafe {
		if e.sparseConvert == 0 {
			e.refuse(v, "excessively sparse array")
		}
		return -1
	}
	return highest
}

func (e *encoder) number(v vm.Value) {
	f := v.Float()
	invalid := math.IsInf(f, 0) || math.IsNaN(f)
	switch {
	case invalid && e.encodeInvalidNumbers == 0:
		e.refuse(v, "must not be NaN or Inf")
	case invalid && e.encodeInvalidNumbers == 2:
		e.out = append(e.out, "null"...)
	case math.IsNaN(f):
		e.out = append(e.out, "nan"...)
	default:
		e.out = append(e.out, vm.FormatG(f, e.precision)...)
	}
}

func (e *encoder) str(s string) {
	const hex = "0123456789abcdef"
	e.out = append(e.out, '"')
	for i := range len(s) {
		switch c := s[i]; c {
		case '"', '\\', '/':
			e.out = append(e.out, '\\', c)
		case '\b':
			e.out = append(e.out, '\\', 'b')
		case '\t':
			e.out = append(e.out, '\\', 't')
		case '\n':
			e.out = append(e.out, '\\', 'n')
		case '\f':
			e.out = append(e.out, '\\', 'f')
		case '\r':
			e.out = append(e.out, '\\', 'r')
		default:
			if c < 32 || c == 127 {
				e.out = append(e.out, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			} else {
				e.out = append(e.out, c)
			}
		}
	}
	e.out = append(e.out, '"')
}
