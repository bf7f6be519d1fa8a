package lua

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
)

// generator writes small programs that mix types on purpose: most end in a
// value, many in an error, and the error names a variable.
type generator struct {
	*rand.Rand
	b      strings.Builder
	locals []string
	depth  int
	names  int
	inFunc int
}

func (g *generator) of(choices ...string) string { return choices[g.Intn(len(choices))] }

func (g *generator) variable() string {
	if len(g.locals) > 0 && g.Intn(8) != 0 {
		return g.locals[g.Intn(len(g.locals))]
	}
	return g.of("KEYS", "ARGV", "string", "math", "undefined")
}

func (g *generator) fresh() string {
	g.names++
	return fmt.Sprintf("v%d", g.names)
}

func (g *generator) literal() string {
	switch g.Intn(14) {
	case 0:
		return "nil"
	case 1:
		return g.of("true", "false")
	case 2, 3:
		return g.of("'a'", "'10'", "'x y'", "''", "'0x1f'", "'3.7'", "'abc'", "'zz'")
	case 4:
		return g.of("0.5", "-1", "1e15", "2^53", "1/3", "1e300", "0.1", "-0", "1/0")
	case 5:
		return "{" + g.of("", "1,2,3", "a=1,b='x'", "1,nil,3", "[5]=1", "x={y=1}", "10,20,n=2") + "}"
	default:
		return fmt.Sprint(g.Intn(20))
	}
}

func (g *generator) expr() string {
	g.depth++
	defer func() { g.depth-- }()
	if g.depth > 4 {
		if g.Intn(2) == 0 {
			return g.variable()
		}
		return g.literal()
	}
	switch g.Intn(25) {
	case 0, 1, 2:
		return g.literal()
	case 3, 4, 5:
		return g.variable()
	case 6, 7:
		return "(" + g.expr() + g.of("+", "-", "*", "/", "%", "^") + g.expr() + ")"
	case 8:
		return "(" + g.expr() + ".." + g.expr() + ")"
	case 9:
		return "(" + g.expr() + g.of("==", "~=", "<", ">", "<=", ">=") + g.expr() + ")"
	case 10, 11:
		return "(" + g.expr() + g.of(" and ", " or ") + g.expr() + ")"
	case 12:
		return g.of("-", "#", "not ") + "(" + g.expr() + ")"
	case 13:
		return g.variable() + g.of(".x", ".a", "[1]", "['b']", ".x.y", "[2]", ".rep", ".floor")
	case 14:
		return "(" + g.variable() + ")[" + g.expr() + "]"
	case 15:
		return g.variable() + "(" + g.expr() + ")"
	case 16:
		return g.variable() + g.of(":rep(2)", ":upper()", ":nosuch()", ":len()", ":sub(2)")
	case 17:
		return g.library()
	case 18:
		return "select(" + g.of("1", "2", "'#'", "-1") + "," + g.expr() + "," + g.expr() + ")"
	case 19:
		return g.function()
	case 20:
		return "{" + g.expr() + "," + g.of("a=", "[1]=", "[3]=", "") + g.expr() + "}"
	case 21:
		return g.object()
	case 22:
		return "coroutine.wrap(" + g.function() + ")(" + g.expr() + ")"
	case 23:
		return "select(2, coroutine.resume(coroutine.create(function(a) local b = coroutine.yield(a) return b .. 'x' end), " + g.expr() + "))"
	default:
		if g.inFunc > 0 {
			return g.of("...", "(...)", "select('#',...)")
		}
		return "#" + g.variable()
	}
}

func (g *generator) library() string {
	a, b := g.expr(), g.expr()
	return fmt.Sprintf(g.of(
		"tostring(%s)", "tonumber(%s)", "type(%s)", "math.floor(%s)", "math.max(%s,%[2]s)",
		"string.rep(%s,3)", "string.sub(%s,2,%[2]s)", "string.format('%%s|%%5.2f',%s,%[2]s)",
		"table.concat(%s,',')", "unpack(%s)", "next(%s)", "rawget(%s,%[2]s)", "rawequal(%s,%[2]s)",
		"string.find(%s,'%%d+')", "string.gsub(%s,'%%w','<%%0>')", "cjson.encode(%s)",
		"string.byte(%s)", "math.sqrt(%s)", "math.fmod(%s,%[2]s)", "bit.band(%s,%[2]s)",
		"string.format('%%d',%s)", "string.len(%s)", "table.maxn(%s)", "string.reverse(%s)",
		"cmsgpack.pack(%s)", "setmetatable({},{__index=%s}).x", "getmetatable(%s)",
		"redis.sha1hex(%s)", "struct.pack('>I2s',%s,%[2]s)", "string.char(%s)", "assert(%s,%[2]s)",
	), a, b)
}

// object is a table with some metamethods.
func (g *generator) object() string {
	events := []string{
		"__index=function(t,k) return k end", "__index={x=1,y='z'}", "__newindex=function(t,k,v) rawset(t,k,v) end",
		"__add=function(a,b) return 7 end", "__sub=function(a,b) return type(a)..type(b) end", "__mul=function() end",
		"__mod=function(a,b) return a end", "__unm=function(a) return 'neg' end", "__concat=function(a,b) return type(a)..type(b) end",
		"__call=function(self,a) return a end", "__eq=function() return true end", "__lt=function() return true end",
		"__le=function() return false end", "__len=function() return 9 end", "__tostring=function() return 'obj' end",
		"__metatable='locked'", "__pow=function(a,b) return b end", "__div=" + g.function(),
	}
	var b strings.Builder
	for range 1 + g.Intn(4) {
		b.WriteString(events[g.Intn(len(events))] + ",")
	}
	return "setmetatable({" + g.of("", "1,2", "x=5") + "},{" + b.String() + "})"
}

func (g *generator) function() string {
	inner := &generator{Rand: g.Rand, locals: append([]string(nil), g.locals...), names: g.names, depth: g.depth, inFunc: 1}
	parameter := inner.fresh()
	inner.locals = append(inner.locals, parameter)
	if inner.depth < 3 {
		inner.statements(1 + g.Intn(2))
	}
	inner.b.WriteString("return " + inner.expr() + " ")
	g.names = inner.names
	return "(function(" + parameter + ",...) " + inner.b.String() + "end)"
}

func (g *generator) block(n int) {
	outer := len(g.locals)
	g.depth++
	g.statements(n)
	g.depth--
	g.locals = g.locals[:outer]
}

func (g *generator) statements(n int) {
	for range n {
		g.statement()
		g.b.WriteString(g.of(" ", " ", "\n"))
	}
}

func (g *generator) statement() {
	w := func(format string, args ...any) { fmt.Fprintf(&g.b, format, args...) }
	deep := g.depth > 3
	switch k := g.Intn(18); {
	case k < 4 || deep && k > 9:
		e := g.expr()
		name := g.fresh()
		w("local %s = %s", name, e)
		g.locals = append(g.locals, name)
	case k == 4:
		a, b := g.expr(), g.expr()
		x, y := g.fresh(), g.fresh()
		w("local %s,%s = %s,%s", x, y, a, b)
		g.locals = append(g.locals, x, y)
	case k == 5, k == 6:
		if len(g.locals) > 0 {
			w("%s = %s", g.locals[g.Intn(len(g.locals))], g.expr())
		}
	case k == 7:
		w("%s%s = %s", g.variable(), g.of(".x", "[1]", "[2]", "['k']", ".x.y", "[#KEYS]"), g.expr())
	case k == 8:
		if len(g.locals) > 1 {
			a, b := g.locals[g.Intn(len(g.locals))], g.locals[g.Intn(len(g.locals))]
			w("%s,%s = %s,%s", a, b, b, g.expr())
		}
	case k == 9:
		w("%s(%s)", g.variable(), g.expr())
	case k == 10:
		w("if %s then ", g.expr())
		g.block(1 + g.Intn(2))
		if g.Intn(2) == 0 {
			w(" else ")
			g.block(1)
		}
		w(" end")
	case k == 11:
		i := g.fresh()
		w("for %s=%s,%s do ", i, g.of("1", "0", "'1'", "3"), g.of("2", "3", "0", g.variable()))
		g.loop(i)
	case k == 12:
		i, v := g.fresh(), g.fresh()
		w("for %s,%s in %s(%s) do ", i, v, g.of("pairs", "ipairs", "pairs", "next"), g.expr())
		g.loop(i, v)
	case k == 13:
		i := g.fresh()
		w("local %s = 0 while %s < 3 do %s = %s + 1 ", i, i, i, i)
		g.loop(i)
	case k == 14:
		ok, e := g.fresh(), g.fresh()
		w("local %s,%s = pcall(%s,%s)", ok, e, g.function(), g.expr())
		g.locals = append(g.locals, ok, e)
	case k == 15:
		w("%s[%s] = %s", g.variable(), g.of("1", "2", "3", "'x'", "#KEYS+1", g.variable()), g.of("nil", "nil", g.expr()))
	case k == 16:
		w("table.%s(%s%s)", g.of("insert", "remove", "sort"), g.variable(), g.of("", ",1", ",1,"+g.expr(), ","+g.expr()))
	default:
		f := g.fresh()
		g.locals = append(g.locals, f)
		body := g.function()
		w("local %s = %s", f, body)
	}
}

func (g *generator) loop(locals ...string) {
	outer := len(g.locals)
	g.locals = append(g.locals, locals...)
	g.b.WriteString("budget = budget - 1 if budget < 0 then error('budget', 0) end ")
	g.block(1 + g.Intn(2))
	if g.Intn(4) == 0 {
		fmt.Fprintf(&g.b, " if %s then break end", g.expr())
	}
	g.locals = g.locals[:outer]
	g.b.WriteString(" end")
}

// program returns a whole program; its result is printed in a form that shows
// types.
func (g *generator) program() string {
	g.b.Reset()
	g.b.WriteString("local budget = 300 ")
	g.locals, g.names, g.depth = nil, 0, 0
	g.statements(2 + g.Intn(5))
	results := []string{g.expr(), g.variable()}
	g.b.WriteString("return " + strings.Join(results, ","))
	return g.b.String()
}

// runAll runs each argument and answers how it ended. Values without a stable
// text are shown by their type.
const runAll = `
local function show(v, depth)
  local t = type(v)
  if t == 'string' then return string.format('%q', v) end
  if t == 'number' then return string.format('%.17g', v) end
  if t == 'table' then
    if depth > 3 then return '{...}' end
    local parts = {}
    for k, x in pairs(v) do parts[#parts+1] = show(k, depth+1) .. '=' .. show(x, depth+1) end
    return '{' .. table.concat(parts, ',') .. '}#' .. #v
  end
  if t == 'nil' or t == 'boolean' then return tostring(v) end
  return t
end
local out = {}
for i = 1, #ARGV do
  local f, e = loadstring(ARGV[i], '@user_script')
  if not f then out[i] = 'compile: ' .. e
  else
    local r = {pcall(f)}
    local parts = {}
    for j = 1, 4 do parts[j] = show(r[j], 0) end
    out[i] = table.concat(parts, ' ')
    if #out[i] > 5000 then out[i] = #out[i] .. redis.sha1hex(out[i]) end
  end
end
return out`

// TestGeneratedPrograms runs generated programs on a real server and here.
func TestGeneratedPrograms(t *testing.T) {
	o := startOracle(t)
	r := New(Options{RedisVersion: "7.0.15"})
	g := &generator{Rand: rand.New(rand.NewSource(seed(t)))}
	const batch = 50
	n, different := rounds(t, 3000), 0
	for done := 0; done < n && different < 10; done += batch {
		programs := make([]string, batch)
		for i := range programs {
			programs[i] = g.program()
			// Addresses differ from run to run.
			if strings.Contains(programs[i], "tostring") && strings.Contains(programs[i], "function") {
				programs[i] = strings.ReplaceAll(programs[i], "tostring", "type")
			}
		}
		want := splitArray(o.do(t, append([]string{"EVAL", runAll, "0"}, programs...)...))
		got := splitArray(evalOurs(r, 2, runAll, nil, programs))
		for i := range programs {
			if at(want, i) != at(got, i) && !hasAddress(at(want, i)) {
				different++
				t.Errorf("program\n%s\nredis: %s\nours:  %s", programs[i], at(want, i), at(got, i))
			}
		}
	}
}

// hasAddress tells whether an outcome shows where an object lies in memory.
func hasAddress(s string) bool { return strings.Contains(s, ": 0x") }
