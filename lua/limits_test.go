package lua

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// TestBombs runs scripts that would take all memory or stack: each must end in
// an error, and the runtime must go on working.
func TestBombs(t *testing.T) {
	tests := []struct{ name, source, want string }{
		{"recursion", "local function f() return 1 + f() end return f()", "stack overflow"},
		{"wide frames", "local function f(...) return 1 + f(1, ...) end return f()", ""},
		{"doubling", "local s = 'x' while true do s = s .. s end", "not enough memory"},
		{"doubling by rep", "local s = 'x' while true do s = s:rep(1000) end", "not enough memory"},
		{"rep", "return #string.rep('x', 2^31 - 1)", "not enough memory"},
		{"list", "local t = {} while true do t[#t + 1] = 'item' end", "not enough memory"},
		{"hash", "local t, i = {}, 0 while true do i = i + 1 t['k' .. i] = i end", "not enough memory"},
		{"tables", "local t = {} while true do t = {t} end", "not enough memory"},
		{"closures", "local f while true do local g = f f = function() return g end end", "not enough memory"},
		{"code", "local t = {} while true do t[#t + 1] = loadstring('return \\'' .. ('x'):rep(10000) .. #t .. '\\'') end", "not enough memory"},
		{"coroutines", "local t = {} while true do t[#t + 1] = coroutine.create(function() end) end", "not enough memory"},
		{"gsub", "local s = ('x'):rep(1000) while true do s = s:gsub('x', 'yyyyyyyyyy'):gsub('y', 'x') end", "not enough memory"},
		{"concat", "local t = {} for i = 1, 1000 do t[i] = ('x'):rep(2^20) end return table.concat(t)", "not enough memory"},
		{"format", "local s = ('x'):rep(2^20) while true do s = string.format('%s%s', s, s) end", "not enough memory"},
		{"json", "local t = {('x'):rep(2^20)} for i = 1, 20 do t = {t, t} end return cjson.encode(t)", "not enough memory"},
		{"msgpack", "local t = {('x'):rep(2^20)} for i = 1, 14 do t = {t, t} end return cmsgpack.pack(t)", "not enough memory"},
		{"unpack", "return unpack({}, 1, 1e8)", "too many results to unpack"},
		{"resumes", "local function f() return coroutine.wrap(f)() end return f()", "C stack overflow"},
		{"pcalls", "local function f() return pcall(f) end f() error('end')", "end"},
		{"constructor", "local t = {} for i = 1, 60 do t = {t, t, t} end return #tostring(t) > 0 and error('built')", "built"},
		{"sparse", "local t = {} t[50000000] = 1 t[2^40] = 2 return error(#t .. '')", "0"},
		{"pattern nesting", "return string.find(('a'):rep(300000), ('a?'):rep(300000))", "pattern too complex"},
		{"metatables", "local t = setmetatable({}, {}) getmetatable(t).__index = function(_, k) return t[k] end return t.x", "C stack overflow"},
		{"parser", "return loadstring(('('):rep(1e6))() ", ""},
		{"reply", "local t = {('x'):rep(1000)} for i = 1, 60 do t = {t, t} end return t", "not enough memory"},
		{"reply of itself", "local t = {('x'):rep(1000)} t[2] = t t[3] = t return t", "not enough memory"},
		{"reply of one string", "local s, t = ('x'):rep(2^20), {} for i = 1, 1000 do t[i] = s end return t", "not enough memory"},
		{"reply in maps", "local t = {map = {a = ('x'):rep(1000)}} for i = 1, 60 do t = {map = {a = t, b = t}} end return t", "not enough memory"},
		{"command", "local s, t = ('x'):rep(2^20), {} for i = 1, 1000 do t[i] = s end return redis.call('mget', unpack(t))", "not enough memory"},
		{"json of little", "local t = {('x'):rep(100)} for i = 1, 60 do t = {t, t} end return cjson.encode(t)", "not enough memory"},
		{"error table", "error(setmetatable({}, {__index = function(t, k) local s = k while true do s = s .. s end end}))", "not enough memory"},
		{"error table of itself", "error(setmetatable({}, {__index = function(t, k) return t[k .. 'x'] end}))", "C stack overflow"},
		{"written error table", "error(setmetatable({}, {__newindex = function(t, k) t[k .. 'x'] = 1 end}))", "C stack overflow"},
		{"load", "return load(function() return 'x = x ' end)", "not enough memory"},
	}
	r := New(Options{RedisVersion: "7.0.15", Limits: Limits{Memory: 16 << 20}})
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := evalOurs(r, 2, test.source, nil, nil)
			if !strings.HasPrefix(got, "-") || !strings.Contains(got, test.want) {
				t.Errorf("got %.200q, want an error with %q", got, test.want)
			}
			if got := evalOurs(r, 2, "return 'alive'", nil, nil); got != "$5\r\nalive\r\n" {
				t.Fatalf("afterwards: %q", got)
			}
		})
	}
}

// TestInterrupt ends scripts that would run for ever from another goroutine.
func TestInterrupt(t *testing.T) {
	tests := []struct{ name, source string }{
		{"while", "while true do end"},
		{"for", "for i = 1, 1e18 do end"},
		{"repeat", "repeat until false"},
		{"iterator", "for _ in function() return 1 end do end"},
		{"tail calls", "local function f() return f() end f()"},
		{"pcall", "while true do pcall(function() while true do end end) end"},
		{"xpcall", "xpcall(function() while true do end end, function() while true do end end)"},
		{"coroutine", "coroutine.wrap(function() while true do end end)()"},
		{"pattern", "string.find(('a'):rep(30), ('a?'):rep(30) .. ('a'):rep(30))"},
		{"long pattern", "string.find(('a'):rep(1e6), '.-.-.-b')"},
		{"gsub callback", "string.gsub(('a'):rep(10), 'a', function() while true do end end)"},
		{"sort", "local t = {} for i = 1, 100 do t[i] = i end table.sort(t, function() while true do end end)"},
		{"metamethod", "local t = setmetatable({}, {__index = function() while true do end end}) return t.x"},
		{"coroutines in pcall", "while true do pcall(coroutine.wrap(function() while true do end end)) end"},
		{"handler", "xpcall(error, function() while true do end end)"},
		{"handler of a handler", "while true do xpcall(function() error({}) end, function() error('again') end) end"},
		{"tostring", "return tostring(setmetatable({}, {__tostring = function() while true do end end}))"},
		{"insert", "table.insert({}, -2147483648, 1)"},
		{"load", "load(function() while true do end end)"},
		{"pack", "local t = {} for i = 1, 200 do t[i] = '' end for d = 1, 14 do local u = {} for i = 1, 200 do u[i] = t end t = u end cmsgpack.pack(t)"},
		{"reply", "local t = {} for i = 1, 200 do t = {t, t} end return t"},
		{"error table's reading", "error(setmetatable({}, {__index = function() while true do end end}))"},
		{"error table's writing", "error(setmetatable({err = 'x'}, {__newindex = function() while true do end end}))"},
		{"calls", "while true do redis.call('ping') end"},
	}
	r := New(Options{RedisVersion: "7.0.15"})
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			done := make(chan string)
			go func() { done <- evalOurs(r, 2, test.source, nil, nil) }()
			reason := errors.New("ERR ended by the test")
			for {
				r.Interrupt(reason)
				select {
				case got := <-done:
					if !strings.HasPrefix(got, "-ERR ended by the test") {
						t.Errorf("got %q", got)
					}
					if got := evalOurs(r, 2, "return 'alive'", nil, nil); got != "$5\r\nalive\r\n" {
						t.Errorf("afterwards: %q", got)
					}
					return
				case <-time.After(time.Millisecond):
				}
			}
		})
	}
}

// TestRuntimesShareScripts runs one script on many runtimes at once.
func TestRuntimesShareScripts(t *testing.T) {
	source := []byte("local t = {} for i = 1, 100 do t['k' .. i] = i end local n = 0 for _, v in pairs(t) do n = n + v end return n")
	done := make(chan string)
	const runtimes = 8
	for range runtimes {
		go func() {
			r := New(Options{})
			got := ""
			for range 20 {
				got = evalOurs(r, 2, string(source), nil, nil)
			}
			done <- got
		}()
	}
	for range runtimes {
		if got := <-done; got != ":5050\r\n" {
			t.Errorf("got %q", got)
		}
	}
}

// TestStateIsKept checks what one script may leave to the next, and what not.
func TestStateIsKept(t *testing.T) {
	r := New(Options{RedisVersion: "7.0.15"})
	evalOurs(r, 2, "redis.setresp(3) return 1", nil, nil)
	if got := evalOurs(r, 2, "return true", nil, nil); got != ":1\r\n" {
		t.Errorf("redis.setresp outlives its script: %q", got)
	}
	first := evalOurs(r, 2, "return math.random(1e9)", nil, nil)
	if second := evalOurs(r, 2, "return math.random(1e9)", nil, nil); first == second {
		t.Errorf("math.random starts again with each script: %q", first)
	}
	r.FlushScripts()
	if again := evalOurs(r, 2, "return math.random(1e9)", nil, nil); first != again {
		t.Errorf("a new state does not start the generator again: %q, then %q", first, again)
	}
}

// TestErrorTablesThatCrashRedis raises tables whose message the server cannot
// read: Redis 7.0.15 dies of each.
func TestErrorTablesThatCrashRedis(t *testing.T) {
	tests := []struct{ source, want string }{
		{"error({})", "-ERR execution failure script: "},
		{"error({ok = 'x'})", "-ERR execution failure script: "},
		{"error(setmetatable({}, {__index = redis}))", "-ERR execution failure script: "},
		{"error(setmetatable({}, {__index = function() error('unread') end}))", "-ERR Error running script "},
		{"error(setmetatable({}, {__index = function() error({}) end}))", "-ERR Error running script "},
	}
	r := New(Options{RedisVersion: "7.0.15"})
	for _, test := range tests {
		if got := evalOurs(r, 2, test.source, nil, nil); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %q, want an error that begins with %q", test.source, got, test.want)
		}
		if got := evalOurs(r, 2, "return 'alive'", nil, nil); got != "$5\r\nalive\r\n" {
			t.Fatalf("after %s: %q", test.source, got)
		}
	}
}
