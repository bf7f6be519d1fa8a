package lua

import (
	"math/rand"
	"os"
	"strconv"
	"strings"
	"testing"
)

// rounds is how many generated inputs a differential test takes: a few in an
// ordinary run, LUA_FUZZ_ROUNDS in a long one.
func rounds(t testing.TB, ordinary int) int {
	if s := os.Getenv("LUA_FUZZ_ROUNDS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal("LUA_FUZZ_ROUNDS: ", err)
		}
		return n
	}
	return ordinary
}

func seed(t testing.TB) int64 {
	if s := os.Getenv("LUA_FUZZ_SEED"); s != "" {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			t.Fatal("LUA_FUZZ_SEED: ", err)
		}
		return n
	}
	return 1
}

// compileAll compiles each argument and answers the hash of its bytecode or the
// error.
const compileAll = `
local out = {}
for i = 1, #ARGV do
  local f, e = loadstring(ARGV[i], '@user_script')
  out[i] = f and redis.sha1hex(string.dump(f)) or e
end
return out`

// mutator makes new programs of old ones.
type mutator struct {
	*rand.Rand
	seeds []string
}

var fragments = []string{
	"and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if", "in",
	"local", "nil", "not", "or", "repeat", "return", "then", "true", "until", "while",
	"+", "-", "*", "/", "%", "^", "#", "==", "~=", "<=", ">=", "<", ">", "=", "(", ")",
	"{", "}", "[", "]", ";", ":", ",", ".", "..", "...", "x", "y", "f", "self", "1", "0",
	"3.5", "1e3", "0x1F", "'s'", "\"d\"", "[[l]]", "[==[m]==]", "--c\n", "--[[c]]", "\n", " ",
	"local function g(a,b,...) return a,b,... end ", "for i=1,10 do t[i]=i end ",
	"x.y.z=1 ", "if a then b() elseif c then d() else e() end ", "repeat local q=1 until q ",
	"local a,b,c=f() ", "a,b=b,a ", "t[#t+1]={x=1,[2]=3;4} ", "return f(x) ", "x:m(1)",
	"\\", "'", "\"", "\x00", "\xff", "@", "~", "!", "&", "$", "`", "?",
}

func (m *mutator) pick() string { return m.seeds[m.Intn(len(m.seeds))] }

func (m *mutator) mutate() string {
	s := m.pick()
	for range 1 + m.Intn(4) {
		s = m.once(s)
	}
	return s
}

// span picks part of s.
func (m *mutator) span(s string) (from, to int) {
	from = m.Intn(len(s) + 1)
	return from, min(len(s), from+m.Intn(12))
}

func (m *mutator) once(s string) string {
	from, to := m.span(s)
	switch m.Intn(8) {
	case 0:
		return s[:from] + s[to:]
	case 1:
		return s[:to] + s[from:]
	case 2, 3:
		return s[:from] + " " + fragments[m.Intn(len(fragments))] + " " + s[from:]
	case 4:
		return s[:from] + fragments[m.Intn(len(fragments))] + s[to:]
	case 5:
		return s[:from]
	case 6:
		other := m.pick()
		a, b := m.span(other)
		return s[:from] + other[a:b] + s[from:]
	default:
		return s + "\n" + m.pick()
	}
}

// TestMutatedPrograms compiles mutated programs on a real server and here: the
// bytecode and the errors must be the same.
func TestMutatedPrograms(t *testing.T) {
	o := startOracle(t)
	r := New(Options{RedisVersion: "7.0.15"})
	m := &mutator{rand.New(rand.NewSource(seed(t))), readCorpus(t, "testdata/corpus.lua")}
	const batch = 100
	n, different := rounds(t, 3000), 0
	for done := 0; done < n && different < 20; done += batch {
		programs := make([]string, batch)
		for i := range programs {
			programs[i] = m.mutate()
		}
		want := o.do(t, append([]string{"EVAL", compileAll, "0"}, programs...)...)
		got := evalOurs(r, 2, compileAll, nil, programs)
		if got == want {
			continue
		}
		wants, gots := splitArray(want), splitArray(got)
		for i := range programs {
			if i >= len(wants) || i >= len(gots) || wants[i] != gots[i] {
				different++
				t.Errorf("program %q\nredis: %q\nours:  %q", programs[i], at(wants, i), at(gots, i))
			}
		}
	}
}

func at(items []string, i int) string {
	if i < len(items) {
		return items[i]
	}
	return "(missing)"
}

// splitArray splits an array of bulk strings and other single-line replies.
func splitArray(reply string) []string {
	_, rest, _ := strings.Cut(reply, "\r\n")
	var items []string
	for rest != "" {
		line, tail, _ := strings.Cut(rest, "\r\n")
		if strings.HasPrefix(line, "$") {
			n, _ := strconv.Atoi(line[1:])
			if n >= 0 {
				items = append(items, tail[:n])
				rest = tail[n+2:]
				continue
			}
		}
		items = append(items, line)
		rest = tail
	}
	return items
}
