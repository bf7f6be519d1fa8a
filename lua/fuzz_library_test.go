package lua

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
)

// caller writes calls of library functions with arguments that are often wrong.
type caller struct{ *rand.Rand }

func (c caller) of(choices ...string) string { return choices[c.Intn(len(choices))] }

// text strings together n pieces and quotes the result.
func (c caller) text(n int, pieces ...string) string {
	var b strings.Builder
	for range c.Intn(n + 1) {
		b.WriteString(pieces[c.Intn(len(pieces))])
	}
	return luaQuote(b.String())
}

// luaQuote writes a string as a Lua literal of plain characters.
func luaQuote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		if ch := s[i]; ch < ' ' || ch > '~' || ch == '"' || ch == '\\' {
			fmt.Fprintf(&b, "\\%03d", ch)
		} else {
			b.WriteByte(ch)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func (c caller) subject() string {
	return c.text(10, "a", "b", "A", "1", "2", " ", "%", "x=", "-", "]", "(", ")", "\x00", "\xe9")
}

func (c caller) pattern() string {
	return c.text(8, "a", "b", ".", "%a", "%d", "%s", "%w", "%S", "[ab]", "[^a]", "[a-z]", "[%w_]",
		"*", "+", "-", "?", "(", ")", "()", "^", "$", "%1", "%b()", "%f[%w]", "%", "[", "]", "%z", "[]]", "[^]", "%%", "\x00")
}

func (c caller) number() string {
	return c.of("0", "1", "-1", "2", "3", "10", "255", "256", "-128", "1.5", "-0.5", "1e15", "2^31", "2^53",
		"2^63", "-2^63", "1/0", "0/0", "1e300", "'7'", "'0x10'", "'x'", "nil", "{}")
}

func (c caller) format() string {
	return c.text(4, "%d", "%5d", "%-5d|", "%05d", "%+d", "%x", "%#X", "%o", "%5.2f", "%.0f", "%e", "%.3g", "%g", "%10.4g|",
		"%s", "%5s", "%.2s", "%q", "%c", "%i", "%u", "%%", "a", "%", "%5", "%.", "%y", "%-+5d", "% d", "%#.3x", "%G", "%E")
}

func (c caller) json() string {
	return c.text(7, "{", "}", "[", "]", ",", ":", `"a"`, `"b"`, "1", "-2.5e3", "true", "false", "null", " ",
		`{"a":1}`, `[1,2]`, `"\u00e9"`, `"\ud83d\ude00"`, `"\n"`, `"\x"`, `"`, "tru", "0x1F", "nan", "-inf", "01", "1e", "\x00", "\t", "\x7f", "\xc3\xa9")
}

func (c caller) value(depth int) string {
	if depth > 2 {
		return c.of("1", "'s'", "true", "cjson.null")
	}
	switch c.Intn(9) {
	case 0:
		return c.number()
	case 1:
		return c.text(4, "a", "\"", "\\", "/", "\n", "\x7f", "\xc3\xa9", "\x01")
	case 2:
		return c.of("true", "false", "cjson.null", "nil", "print")
	case 3:
		return "{" + c.value(depth+1) + "," + c.value(depth+1) + "}"
	case 4:
		return "{a=" + c.value(depth+1) + ",b=" + c.value(depth+1) + ",cc=" + c.value(depth+1) + "}"
	case 5:
		return fmt.Sprintf("{[%d]=%s,[%d]=1}", c.Intn(30), c.value(depth+1), c.Intn(5))
	case 6:
		return "{1,2,x=" + c.value(depth+1) + "}"
	default:
		return fmt.Sprint(c.Intn(100000) - 50000)
	}
}

func (c caller) bytes() string {
	var b strings.Builder
	for range c.Intn(8) {
		switch c.Intn(3) {
		case 0:
			b.WriteByte(byte(c.Intn(256)))
		case 1:
			b.WriteByte(byte(0xc0 + c.Intn(32)))
		default:
			b.WriteByte(byte(c.Intn(4)))
		}
	}
	return luaQuote(b.String())
}

func (c caller) layout() string {
	return c.text(5, "b", "B", "h", "H", "i", "I", "l", "L", "f", "d", "s", "x", "c3", "c0", "i3", "I8", "i16", ">", "<", "!", "!4", " ", "T", "z", "!3", "i40")
}

func (c caller) call() string {
	switch c.Intn(22) {
	case 0, 1:
		return fmt.Sprintf("string.find(%s,%s,%s)", c.subject(), c.pattern(), c.of("1", "2", "-1", "nil", "100"))
	case 2:
		return fmt.Sprintf("string.match(%s,%s)", c.subject(), c.pattern())
	case 3, 4:
		return fmt.Sprintf("string.gsub(%s,%s,%s,%s)", c.subject(), c.pattern(),
			c.of("'<%0>'", "'%1'", "'%2%1'", "'%'", "'%x'", "string.upper", "{a='X',b=false}", "function(...) return select('#',...) end", "5", "nil"),
			c.of("nil", "1", "0", "2"))
	case 5:
		return fmt.Sprintf("(function() local t={} for a,b in string.gmatch(%s,%s) do t[#t+1]=tostring(a)..tostring(b) end return t end)()", c.subject(), c.pattern())
	case 6, 7:
		return fmt.Sprintf("string.format(%s,%s,%s,%s)", c.format(), c.number(), c.number(), c.subject())
	case 8, 9:
		return fmt.Sprintf("cjson.decode(%s)", c.json())
	case 10, 11:
		return fmt.Sprintf("cjson.encode(%s)", c.value(0))
	case 12:
		return fmt.Sprintf("cmsgpack.pack(%s,%s)", c.value(0), c.value(0))
	case 13:
		return fmt.Sprintf("cmsgpack.unpack(%s)", c.bytes())
	case 14:
		return fmt.Sprintf("cmsgpack.unpack(cmsgpack.pack(%s))", c.value(0))
	case 15:
		return fmt.Sprintf("cmsgpack.unpack_limit(%s,%s,%s)", c.bytes(), c.of("1", "2", "0", "-1"), c.of("0", "1", "5"))
	case 16:
		return fmt.Sprintf("struct.pack(%s,%s,%s,%s)", c.layout(), c.number(), c.of("'abc'", c.number()), c.number())
	case 17:
		return fmt.Sprintf("struct.unpack(%s,%s,%s)", c.layout(), c.bytes(), c.of("1", "2", "nil"))
	case 18:
		return fmt.Sprintf("tonumber(%s,%s)", c.text(5, "1", "0", "x", "a", "-", " ", ".", "e", "F", "7", "+", "z"), c.of("nil", "2", "8", "10", "16", "36"))
	case 19:
		return fmt.Sprintf("bit.%s(%s,%s)", c.of("band", "bor", "bxor", "lshift", "rshift", "arshift", "rol", "ror", "tohex", "bnot", "bswap", "tobit"), c.number(), c.number())
	case 20:
		return fmt.Sprintf("string.%s(%s,%s,%s)", c.of("sub", "byte", "rep", "len", "reverse", "upper", "char"), c.of(c.subject(), c.number()),
			c.of("1", "2", "-1", "0", "-3", "nil", "'2'", "1.7"), c.of("1", "2", "-1", "100", "nil"))
	default:
		return fmt.Sprintf("table.%s(%s,%s,%s)", c.of("concat", "insert", "remove", "sort", "maxn", "getn"), c.value(0), c.of("','", "1", "2", "nil"), c.of("1", "2", "nil", "5"))
	}
}

// TestLibraryCalls makes calls of the libraries on a real server and here.
func TestLibraryCalls(t *testing.T) {
	o := startOracle(t)
	r := New(Options{RedisVersion: "7.0.15"})
	c := caller{rand.New(rand.NewSource(seed(t)))}
	const batch = 100
	n, different := rounds(t, 5000), 0
	for done := 0; done < n && different < 10; done += batch {
		programs := make([]string, batch)
		for i := range programs {
			programs[i] = "return " + c.call()
		}
		want := splitArray(o.do(t, append([]string{"EVAL", runAll, "0"}, programs...)...))
		got := splitArray(evalOurs(r, 2, runAll, nil, programs))
		for i := range programs {
			if at(want, i) != at(got, i) && !hasAddress(at(want, i)) {
				different++
				t.Errorf("%s\nredis: %s\nours:  %s", programs[i], at(want, i), at(got, i))
			}
		}
	}
}
