package lua

import (
	"testing"
)

// libraries are functions libraries, right and wrong ones, and calls to make
// after loading each.
var libraries = []struct {
	code  string
	calls [][]string
}{
	{"#!lua name=l1\nredis.register_function('f', function(keys, args) return {keys[1], args[1], #keys, #args} end)",
		[][]string{{"f", "1", "k", "a", "b"}, {"f", "0"}}},
	{"#!lua name=l2\nlocal n = 0\nredis.register_function('f', function() n = n + 1 return n end)",
		[][]string{{"f", "0"}, {"f", "0"}}},
	{"#!lua name=l3\nredis.register_function('f', function() return redis.call('set','a') end)", [][]string{{"f", "0"}}},
	{"#!lua name=l4\nredis.register_function('f', function() return redis.pcall('set','a') end)", [][]string{{"f", "0"}}},
	{"#!lua name=l5\nredis.register_function('f', function() error('boom') end)", [][]string{{"f", "0"}}},
	{"#!lua name=l6\nredis.register_function('f', function() return undefined end)", [][]string{{"f", "0"}}},
	{"#!lua name=l7\nredis.register_function('f', function() x = 1 end)", [][]string{{"f", "0"}}},
	{"#!lua name=l8\nredis.register_function('f', function() return KEYS end)", [][]string{{"f", "0"}}},
	{"#!lua name=l9\nredis.register_function('f', function() local t t.x = 1 end)", [][]string{{"f", "0"}}},
	{"#!lua name=m1\nredis.register_function('f', function() return redis.register_function end)", [][]string{{"f", "0"}}},
	{"#!lua name=m2\nredis.register_function('f', function() redis.register_function('g', function() end) end)", [][]string{{"f", "0"}}},
	{"#!lua name=m3\nlocal r=redis.register_function\nr('f', function() r('g', function() end) end)", [][]string{{"f", "0"}}},
	{"#!lua name=m4\nredis.register_function{function_name='f', callback=function() return 'named' end, flags={'no-writes','allow-stale'}, description='d'}",
		[][]string{{"f", "0"}}},
	{"#!lua name=m5\nredis.register_function('f', function() return {type(redis.setresp), type(redis.breakpoint), type(redis.debug), type(redis.replicate_commands), type(redis.acl_check_cmd), type(redis.set_repl), type(redis.log), type(redis.REDIS_VERSION), type(redis.sha1hex)} end)",
		[][]string{{"f", "0"}}},
	{"#!lua name=m6\nredis.register_function('f', function() redis.setresp(3) return true end)", [][]string{{"f", "0"}}},
	{"#!lua name=m7\nredis.register_function('f', function() error({err='MY own'}) end)", [][]string{{"f", "0"}}},
	{"#!lua name=m8\nredis.register_function('f', function(...) return select('#',...) end)", [][]string{{"f", "2", "a", "b", "c"}}},
	{"#!lua name=m9\nlocal function helper() return 'helped' end\nredis.register_function('f', helper)\nredis.register_function('g', function() return helper() end)",
		[][]string{{"f", "0"}, {"g", "0"}}},
	{"#!lua name=n1\nredis.register_function('f', function() local t={} for k in pairs(_G) do t[#t+1]=k end table.sort(t) return t end)", [][]string{{"f", "0"}}},
	{"#!lua name=n2\nredis.register_function('f', function() return math.random(1000) end)", [][]string{{"f", "0"}, {"f", "0"}}},
	{"#!lua name=n3\nredis.register_function('f', function() string.x = 1 end)", [][]string{{"f", "0"}}},
	{"#!lua name=n4\nredis.register_function('f', function() return loadstring('return 5')() end)", [][]string{{"f", "0"}}},
	{"#!lua name=n5\nredis.register_function('f', function() return loadstring('return nope')() end)", [][]string{{"f", "0"}}},
	{"#!lua name=n6\nredis.register_function('f', function() error(setmetatable({err='A b'}, {\n__newindex=function(_, k) error(k) end})) end)\nredis.register_function('g', error)", [][]string{{"f", "0"}}},
	{"no shebang", nil},
	{"#!lua", nil},
	{"#!lua\n", nil},
	{"#!\n", nil},
	{"#! \n", nil},
	{"#!lua name=\n", nil},
	{"#!lua name=a-b\nreturn 1", nil},
	{"#!lua name=ok\n", nil},
	{"#!lua name=ok\nreturn 1", nil},
	{"#!lua name=ok name=ok2\n", nil},
	{"#!lua foo=bar\n", nil},
	{"#!lua name=ok foo=bar\n", nil},
	{"#!js name=ok\n", nil},
	{"#!LUA name=ok\nredis.register_function('f', function() return 1 end)", nil},
	{"#!lua NAME=okname\nredis.register_function('f', function() return 1 end)", [][]string{{"f", "0"}}},
	{"#!lua name=\"ok\n", nil},
	{"#!lua name=ok\x00b\nredis.register_function('f', function() return 1 end)", nil},
	{"#!lua name=ok \x00b\nredis.register_function('f', function() return 1 end)", nil},
	{"#!lua\x00 name=ok\nredis.register_function('f', function() return 1 end)", nil},
	{"#!lua name=ok\nx = = 1", nil},
	{"#!lua name=ok\n\n\nx = = 1", nil},
	{"#!lua name=ok\nerror('load time')", nil},
	{"#!lua name=ok\nerror({err='ERR tbl'})", nil},
	{"#!lua name=ok\nx = 1", nil},
	{"#!lua name=ok\nreturn x", nil},
	{"#!lua name=ok\nreturn redis.call('ping')", nil},
	{"#!lua name=ok\nreturn redis.pcall('ping')", nil},
	{"#!lua name=ok\nreturn redis.setresp(3)", nil},
	{"#!lua name=ok\nreturn redis.log(redis.LOG_NOTICE,'x')", nil},
	{"#!lua name=ok\nreturn redis.sha1hex('x')", nil},
	{"#!lua name=ok\nreturn redis.error_reply('x')", nil},
	{"#!lua name=ok\nreturn redis.nosuch('x')", nil},
	{"#!lua name=ok\nreturn redis.acl_check_cmd('x')", nil},
	{"#!lua name=ok\nreturn redis.set_repl(1)", nil},
	{"#!lua name=ok\nreturn redis.REDIS_VERSION.x.y", nil},
	{"#!lua name=ok\nreturn math.random().x.y", nil},
	{"#!lua name=ok\nredis.x = 1", nil},
	{"#!lua name=ok\nredis.register_function()", nil},
	{"#!lua name=ok\nredis.register_function('f')", nil},
	{"#!lua name=ok\nredis.register_function(1)", nil},
	{"#!lua name=ok\nredis.register_function(1, function() end)", nil},
	{"#!lua name=ok\nredis.register_function('f', 1)", nil},
	{"#!lua name=ok\nredis.register_function('f', function() end, 1)", nil},
	{"#!lua name=ok\nredis.register_function({}, function() end)", nil},
	{"#!lua name=ok\nredis.register_function('f-g', function() end)", nil},
	{"#!lua name=ok\nredis.register_function('', function() end)", nil},
	{"#!lua name=ok\nredis.register_function('f', function() end) redis.register_function('f', function() end)", nil},
	{"#!lua name=ok\nredis.register_function{}", nil},
	{"#!lua name=ok\nredis.register_function{function_name='f'}", nil},
	{"#!lua name=ok\nredis.register_function{callback=function() end}", nil},
	{"#!lua name=ok\nredis.register_function{function_name=1, callback=function() end}", nil},
	{"#!lua name=ok\nredis.register_function{function_name='f', callback=1}", nil},
	{"#!lua name=ok\nredis.register_function{function_name='f', callback=function() end, description=1}", nil},
	{"#!lua name=ok\nredis.register_function{function_name='f', callback=function() end, flags=1}", nil},
	{"#!lua name=ok\nredis.register_function{function_name='f', callback=function() end, flags={'x'}}", nil},
	{"#!lua name=ok\nredis.register_function{function_name='f', callback=function() end, flags={1}}", nil},
	{"#!lua name=ok\nredis.register_function{function_name='f', callback=function() end, other=1}", nil},
	{"#!lua name=ok\nredis.register_function{function_name='f', callback=function() end, [1]=1}", nil},
	{"#!lua name=ok\nredis.register_function{[{}]=1}", nil},
	{"#!lua name=ok\nlocal t t.x=1", nil},
	{"#!lua name=ok\nsetmetatable(_G, {})", nil},
	{"#!lua name=ok\nwhile true do end", nil},
	{"#!lua name=ok\nlocal ok, e = pcall(redis.call, 'ping') error(e)", nil},
}

// TestLibraries loads libraries on a real server and here, calls what they
// registered, and compares the replies.
func TestLibraries(t *testing.T) {
	o := startOracle(t)
	r := New(Options{RedisVersion: "7.0.15"})
	for _, test := range libraries {
		o.do(t, "FUNCTION", "FLUSH")
		want := o.do(t, "FUNCTION", "LOAD", test.code)
		out := &transcript{proto: 2}
		library, err := r.LoadLibrary([]byte(test.code))
		if err != nil {
			out.Error(err.Error())
		} else {
			out.BulkString(library.Name)
		}
		if got := out.b.String(); got != want {
			t.Errorf("%s\nredis: %q\nours:  %q", test.code, want, got)
			continue
		}
		if err != nil {
			continue
		}
		for _, call := range test.calls {
			want := o.do(t, append([]string{"FCALL"}, call...)...)
			if got := callOurs(r, library, call); got != want {
				t.Errorf("%s\nFCALL %q\nredis: %q\nours:  %q", test.code, call, want, got)
			}
		}
	}
}

func callOurs(r *Runtime, l *Library, call []string) string {
	out := &transcript{proto: 2}
	n := int(call[1][0] - '0')
	for _, f := range l.Functions {
		if f.Name == call[0] {
			r.CallFunction(f, newKeyspace(), byteSlices(call[2:2+n]), byteSlices(call[2+n:]), out)
		}
	}
	return out.b.String()
}
