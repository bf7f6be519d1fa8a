package lib

import (
	"strings"
	"unicode/utf8"

	"github.com/fakecluster/fakecluster/lua/internal/vm"
)

type jsonToken int

const (
	jsonObjectBegin jsonToken = iota
	jsonObjectEnd
	jsonArrayBegin
	jsonArrayEnd
	jsonString
	jsonNumber
	jsonBoolean
	jsonNull
	jsonColon
	jsonComma
	jsonEnd
	jsonError
)

var jsonTokenNames = [...]string{
	"T_OBJ_BEGIN", "T_OBJ_END", "T_ARR_BEGIN", "T_ARR_END", "T_STRING", "T_NUMBER",
	"T_BOOLEAN", "T_NULL", "T_COLON", "T_COMMA", "T_END", "T_ERROR",
}

// decoder reads JSON. Like the original it takes a zero byte for the end.
type decoder struct {
	*jsonConfig
	t     *vm.Thread
	data  string
	pos   int
	depth int
	text  []byte

	// The current token.
	token  jsonToken
	at     int
	number float64
	truth  bool
	reason string
}

func (c *jsonConfig) decode(t *vm.Thread) int {
	if t.NArgs() != 1 {
		t.ArgError(1, "expected 1 argument")
	}
	d := decoder{jsonConfig: c, t: t, data: t.CheckString(1)}
	if len(d.data) >= 2 && (d.data[0] == 0 || d.data[1] == 0) {
		t.Fail("JSON parser does not support UTF-16 or UTF-32")
	}
	d.next()
	v := d.value()
	d.next()
	if d.token != jsonEnd {
		d.expected("the end")
	}
	t.Push(v)
	return 1
}

func (d *decoder) expected(what string) {
	found := jsonTokenNames[d.token]
	if d.token == jsonError {
		found = d.reason
	}
	d.t.Fail("Expected ", what, " but found ", found, " at character ", itoa(d.at+1))
}

// byteAt is the byte at a position, zero past the end.
func (d *decoder) byteAt(i int) byte {
	if i < len(d.data) {
		return d.data[i]
	}
	return 0
}

func (d *decoder) fail(reason string) {
	d.token, d.at, d.reason = jsonError, d.pos, reason
}

func (d *decoder) next() {
	for d.byteAt(d.pos) == ' ' || d.byteAt(d.pos) == '\t' || d.byteAt(d.pos) == '\n' || d.byteAt(d.pos) == '\r' {
		d.pos++
	}
	d.at = d.pos
	rest := d.data[min(d.pos, len(d.data)):]
	switch c := d.byteAt(d.pos); c {
	case 0:
		d.token = jsonEnd
	case '{', '}', '[', ']', ':', ',':
		d.token = map[byte]jsonToken{
			'{': jsonObjectBegin, '}': jsonObjectEnd, '[': jsonArrayBegin,
			']': jsonArrayEnd, ':': jsonColon, ',': jsonComma,
		}[c]
		d.pos++
	case '"':
		d.string()
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if d.decodeInvalidNumbers == 0 && d.invalidNumber() {
			d.fail("invalid number")
			return
		}
		d.readNumber()
	case 'f', 'i', 'I', 'n', 'N', 't', '+':
		switch {
		case strings.HasPrefix(rest, "true"):
			d.token, d.truth = jsonBoolean, true
			d.pos += 4
		case strings.HasPrefix(rest, "false"):
			d.token, d.truth = jsonBoolean, false
			d.pos += 5
		case strings.HasPrefix(rest, "null"):
			d.token = jsonNull
			d.pos += 4
		case d.decodeInvalidNumbers != 0 && d.invalidNumber():
			d.readNumber()
		default:
			d.fail("invalid token")
		}
	default:
		d.fail("invalid token")
	}
}

// invalidNumber tells whether what follows is a number JSON does not allow.
func (d *decoder) invalidNumber() bool {
	i := d.pos
	if d.byteAt(i) == '+' {
		return true
	}
	if d.byteAt(i) == '-' {
		i++
	}
	c := d.byteAt(i)
	if c == '0' {
		second := d.byteAt(i + 1)
		return second|0x20 == 'x' || isDigitByte(second)
	}
	if isDigitByte(c) {
		return false
	}
	word := d.data[min(i, len(d.data)):min(i+3, len(d.data))]
	return strings.EqualFold(word, "inf") || strings.EqualFold(word, "nan")
}

func (d *decoder) readNumber() {
	f, n := parseNumberPrefix(d.data[d.pos:])
	if n == 0 {
		d.fail("invalid number")
		return
	}
	d.token, d.number = jsonNumber, f
	d.pos += n
}

func (d *decoder) string() {
	d.pos++
	d.text = d.text[:0]
	for {
		c := d.byteAt(d.pos)
		switch c {
		case '"':
			d.pos++
			d.token = jsonString
			return
		case 0:
			d.fail("unexpected end of string")
			return
		case '\\':
			e := d.byteAt(d.pos + 1)
			if e == 'u' {
				if !d.unicode() {
					d.fail("invalid unicode escape code")
					return
				}
				continue
			}
			i := strings.IndexByte(`"\/bfnrt`, e)
			if i < 0 || e == 0 {
				d.fail("invalid escape code")
				return
			}
			c = "\"\\/\b\f\n\r\t"[i]
			d.pos++
		}
		d.text = append(d.text, c)
		d.pos++
	}
}

func (d *decoder) hex4(at int) (int, bool) {
	n := 0
	for i := range 4 {
		v := digitValue(d.byteAt(at + i))
		if v > 15 {
			return 0, false
		}
		n = n<<4 | v
	}
	return n, true
}

// unicode reads \uXXXX, or two of them that form a surrogate pair.
func (d *decoder) unicode() bool {
	code, ok := d.hex4(d.pos + 2)
	if !ok {
		return false
	}
	size := 6
	if code&0xf800 == 0xd800 {
		if code&0x400 != 0 || d.byteAt(d.pos+6) != '\\' || d.byteAt(d.pos+7) != 'u' {
			return false
		}
		low, ok := d.hex4(d.pos + 8)
		if !ok || low&0xfc00 != 0xdc00 {
			return false
		}
		code = (code&0x3ff<<10 | low&0x3ff) + 0x10000
		size = 12
	}
	d.text = utf8.AppendRune(d.text, rune(code))
	d.pos += size
	return true
}

func (d *decoder) value() vm.Value {
	switch d.token {
	case jsonString:
		return d.t.Global().NewString(string(d.text))
	case jsonNumber:
		return vm.Num(d.number)
	case jsonBoolean:
		return vm.BoolOf(d.truth)
	case jsonObjectBegin:
		return d.object()
	case jsonArrayBegin:
		return d.array()
	case jsonNull:
		return vm.Null
	}
	d.expected("value")
	return vm.Value{}
}

// descend enters a table; the original keeps slots values per level on the Lua
// stack.
func (d *decoder) descend(slots int) {
	d.depth++
	if d.depth > d.decodeMaxDepth || slots*d.depth+2 > vm.MaxGoStack {
		d.t.Fail("Found too many nested data structures (", itoa(d.depth), ") at character ", itoa(d.pos))
	}
}

func (d *decoder) object() vm.Value {
	d.descend(2)
	t := d.t.Global().NewTable(0, 0)
	d.next()
	for d.token != jsonObjectEnd {
		if d.token != jsonString {
			d.expected("object key string")
		}
		key := d.t.Global().NewString(string(d.text))
		d.next()
		if d.token != jsonColon {
			d.expected("colon")
		}
		d.next()
		t.Set(key, d.value())
		d.next()
		if d.token == jsonObjectEnd {
			break
		}
		if d.token != jsonComma {
			d.expected("comma or object end")
		}
		d.next()
		if d.token == jsonObjectEnd {
			d.expected("object key string")
		}
	}
	d.depth--
	return vm.TableValue(t)
}

func (d *decoder) array() vm.Value {
	d.descend(1)
	t := d.t.Global().NewTable(0, 0)
	d.next()
	if d.token == jsonArrayEnd {
		d.depth--
		return vm.TableValue(t)
	}
	for i := 1; ; i++ {
		t.SetInt(i, d.value())
		d.next()
		if d.token == jsonArrayEnd {
			break
		}
		if d.token != jsonComma {
			d.expected("comma or array end")
		}
		d.next()
	}
	d.depth--
	return vm.TableValue(t)
}
