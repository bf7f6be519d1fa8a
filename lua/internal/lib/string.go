package lib

import (
	"math"
	"strconv"
	"strings"

	"github.com/fakecluster/fakecluster/lua/internal/vm"
)

func itoa(n int) string { return strconv.Itoa(n) }

// OpenString registers string and makes it the index of all strings.
func OpenString(g *vm.Global) {
	table := newLibrary(g, "string", []entry{
		{"byte", strByte}, {"char", strChar}, {"dump", strDump}, {"find", strFind},
		{"format", strFormat}, {"gfind", strGFind}, {"gmatch", strGMatch}, {"gsub", strGSub},
		{"len", strLen}, {"lower", strLower}, {"match", strMatch}, {"rep", strRep},
		{"reverse", strReverse}, {"sub", strSub}, {"upper", strUpper},
	})
	table.SetStr("gfind", table.GetStr("gmatch"))
	meta := g.NewTable(0, 1)
	meta.SetStr("__index", vm.TableValue(table))
	g.TypeMeta[vm.StringKind] = meta
}

func strLen(t *vm.Thread) int {
	t.Push(vm.Int(len(t.CheckString(1))))
	return 1
}

func strSub(t *vm.Thread) int {
	s := t.CheckString(1)
	start := relative(t.CheckInteger(2), len(s))
	end := relative(t.OptInteger(3, -1), len(s))
	start = max(start, 1)
	end = min(end, len(s))
	if start > end {
		t.Push(emptyString)
		return 1
	}
	t.PushString(s[start-1 : end])
	return 1
}

var emptyString = vm.Str("")

func strReverse(t *vm.Thread) int {
	s := t.CheckString(1)
	t.Global().CheckStringSize(len(s))
	b := make([]byte, len(s))
	for i := range len(s) {
		b[len(s)-1-i] = s[i]
	}
	t.PushString(string(b))
	return 1
}

// mapBytes applies an ASCII case mapping.
func mapBytes(t *vm.Thread, low, high byte) int {
	s := t.CheckString(1)
	t.Global().CheckStringSize(len(s))
	b := []byte(s)
	for i, c := range b {
		if c >= low && c <= high {
			b[i] = c ^ 0x20
		}
	}
	t.PushString(string(b))
	return 1
}

func strLower(t *vm.Thread) int { return mapBytes(t, 'A', 'Z') }
func strUpper(t *vm.Thread) int { return mapBytes(t, 'a', 'z') }

func strRep(t *vm.Thread) int {
	s := t.CheckString(1)
	n := t.CheckInt(2)
	if n <= 0 || s == "" {
		t.Push(emptyString)
		return 1
	}
	if n > math.MaxInt/len(s) {
		t.Global().CheckStringSize(-1)
	}
	t.Global().CheckStringSize(n * len(s))
	t.PushString(strings.Repeat(s, n))
	return 1
}

func strByte(t *vm.Thread) int {
	s := t.CheckString(1)
	start := relative(t.OptInteger(2, 1), len(s))
	end := relative(t.OptInteger(3, start), len(s))
	start = max(start, 1)
	end = min(end, len(s))
	if start > end {
		return 0
	}
	n := end - start + 1
	if n > math.MaxInt32 {
		t.Fail("string slice too long")
	}
	if !t.RoomFor(n) {
		t.Fail("stack overflow (string slice too long)")
	}
	for i := range n {
		t.Push(vm.Int(int(s[start-1+i])))
	}
	return n
}

func strChar(t *vm.Thread) int {
	n := t.NArgs()
	b := make([]byte, n)
	for i := range n {
		c := t.CheckInt(i + 1)
		if c < 0 || c > 255 {
			t.ArgError(i+1, "invalid value")
		}
		b[i] = byte(c)
	}
	t.PushString(string(b))
	return 1
}

func strDump(t *vm.Thread) int {
	t.CheckKind(1, vm.FunctionKind)
	code, ok := t.Arg(1).Function().Dump()
	if !ok {
		t.Fail("unable to dump given function")
	}
	t.PushString(code)
	return 1
}

func strFormat(t *vm.Thread) int {
	format := t.CheckString(1)
	arg := 1
	var out strings.Builder
	for i := 0; i < len(format); {
		c := format[i]
		i++
		if c != '%' {
			out.WriteByte(c)
			continue
		}
		if i < len(format) && format[i] == '%' {
			out.WriteByte('%')
			i++
			continue
		}
		arg++
		spec, next := parseSpec(t, format, i)
		i = next
		if arg > t.NArgs() {
			t.ArgError(arg, "no value")
		}
		s := formatOne(t, spec, arg)
		t.Global().CheckStringSize(out.Len() + len(s))
		out.WriteString(s)
	}
	t.PushString(out.String())
	return 1
}

// formatSpec is one conversion of a format.
type formatSpec struct {
	minus, plus, space, alt, zero bool
	width, precision              int // precision -1 when not given
	verb                          byte
}

func parseSpec(t *vm.Thread, format string, i int) (formatSpec, int) {
	at := func(i int) byte {
		if i < len(format) {
			return format[i]
		}
		return 0
	}
	spec := formatSpec{precision: -1}
	start := i
	for ; i < len(format) && strings.IndexByte("-+ #0", format[i]) >= 0; i++ {
		switch format[i] {
		case '-':
			spec.minus = true
		case '+':
			spec.plus = true
		case ' ':
			spec.space = true
		case '#':
			spec.alt = true
		case '0':
			spec.zero = true
		}
	}
	if i-start >= 6 {
		t.Fail("invalid format (repeated flags)")
	}
	digits := func() int {
		n := 0
		for k := 0; k < 2 && isDigitByte(at(i)); k++ {
			n = n*10 + int(at(i)-'0')
			i++
		}
		return n
	}
	spec.width = digits()
	if at(i) == '.' {
		i++
		spec.precision = digits()
	}
	if isDigitByte(at(i)) {
		t.Fail("invalid format (width or precision too long)")
	}
	spec.verb = at(i)
	return spec, i + 1
}

func isDigitByte(c byte) bool { return c >= '0' && c <= '9' }

func formatOne(t *vm.Thread, spec formatSpec, arg int) string {
	switch spec.verb {
	case 'c':
		return cString(spec.pad(string([]byte{byte(t.CheckInteger(arg))})))
	case 'd', 'i':
		return spec.signed(int64(t.CheckInteger(arg)))
	case 'o', 'u', 'x', 'X':
		return spec.unsigned(toUnsigned(t.CheckNumber(arg)))
	case 'e', 'E', 'f', 'g', 'G':
		return spec.float(t.CheckNumber(arg))
	case 'q':
		return quote(t.CheckString(arg))
	case 's':
		s := t.CheckString(arg)
		if spec.precision < 0 && len(s) >= 100 {
			return s
		}
		s = cString(s)
		if spec.precision >= 0 && len(s) > spec.precision {
			s = s[:spec.precision]
		}
		return spec.pad(s)
	}
	t.Fail("invalid option '%", cString(string([]byte{spec.verb})), "' to 'format'")
	return ""
}

// toUnsigned converts as C's cast from double to unsigned long long on amd64.
func toUnsigned(f float64) uint64 {
	if f >= 1<<63 {
		if f >= 1<<64 {
			return 0
		}
		return uint64(f-(1<<63)) ^ 1<<63
	}
	return uint64(vm.ToInteger(f))
}

func (f formatSpec) pad(s string) string {
	if len(s) >= f.width {
		return s
	}
	fill := strings.Repeat(" ", f.width-len(s))
	if f.minus {
		return s + fill
	}
	return fill + s
}

// padNumber pads a number, zeros going between prefix and digits.
func (f formatSpec) padNumber(prefix, digits string, zero bool) string {
	if n := f.width - len(prefix) - len(digits); n > 0 && zero && !f.minus {
		digits = strings.Repeat("0", n) + digits
	}
	return f.pad(prefix + digits)
}

func (f formatSpec) sign(negative bool) string {
	switch {
	case negative:
		return "-"
	case f.plus:
		return "+"
	case f.space:
		return " "
	}
	return ""
}

// precise gives an integer's digits their minimum number.
func (f formatSpec) precise(digits string) string {
	if f.precision == 0 && digits == "0" {
		return ""
	}
	if n := f.precision - len(digits); n > 0 {
		return strings.Repeat("0", n) + digits
	}
	return digits
}

func (f formatSpec) signed(n int64) string {
	magnitude := uint64(n)
	if n < 0 {
		magnitude = -magnitude
	}
	digits := f.precise(strconv.FormatUint(magnitude, 10))
	return f.padNumber(f.sign(n < 0), digits, f.zero && f.precision < 0)
}

func (f formatSpec) unsigned(n uint64) string {
	base := map[byte]int{'o': 8, 'u': 10, 'x': 16, 'X': 16}[f.verb]
	digits := f.precise(strconv.FormatUint(n, base))
	prefix := ""
	if f.alt {
		switch {
		case f.verb == 'o' && !strings.HasPrefix(digits, "0"):
			digits = "0" + digits
		case base == 16 && n != 0:
			prefix = "0x"
		}
	}
	s := f.padNumber(prefix, digits, f.zero && f.precision < 0)
	if f.verb == 'X' {
		s = strings.ToUpper(s)
	}
	return s
}

func (f formatSpec) float(v float64) string {
	sign := f.sign(math.Signbit(v))
	var s string
	switch {
	case math.IsInf(v, 0):
		s = "inf"
	case math.IsNaN(v):
		s = "nan"
	default:
		s = f.finite(math.Abs(v))
	}
	s = f.padNumber(sign, s, f.zero && !math.IsInf(v, 0) && !math.IsNaN(v))
	if f.verb < 'a' {
		s = strings.ToUpper(s)
	}
	return s
}

func (f formatSpec) finite(v float64) string {
	precision := f.precision
	if precision < 0 {
		precision = 6
	}
	verb := f.verb | 0x20
	if verb != 'g' {
		s := strconv.FormatFloat(v, verb, precision, 64)
		if f.alt && precision == 0 {
			if i := strings.IndexByte(s, 'e'); i >= 0 {
				return s[:i] + "." + s[i:]
			}
			return s + "."
		}
		return s
	}
	precision = max(precision, 1)
	if !f.alt {
		return strconv.FormatFloat(v, 'g', precision, 64)
	}
	// With '#', trailing zeros stay.
	e := strconv.FormatFloat(v, 'e', precision-1, 64)
	i := strings.IndexByte(e, 'e')
	exponent, _ := strconv.Atoi(e[i+1:])
	if exponent < -4 || exponent >= precision {
		if precision == 1 {
			return e[:i] + "." + e[i:]
		}
		return e
	}
	s := strconv.FormatFloat(v, 'f', precision-1-exponent, 64)
	if precision-1-exponent == 0 {
		s += "."
	}
	return s
}

func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; c {
		case '"', '\\', '\n':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '\r':
			b.WriteString(`\r`)
		case 0:
			b.WriteString(`\000`)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
