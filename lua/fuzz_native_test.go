package lua

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/tests/hostile"
)

// enough is how long what the fuzzer runs may go on before it is interrupted:
// programs without end are found often.
const enough = 20 * time.Millisecond

// interrupted does work with a runtime that it interrupts again and again when
// the work takes long, and wants the runtime to go on working after it.
func interrupted(t *testing.T, work func(r *Runtime)) {
	t.Helper()
	hostile.Bound(t)
	r := New(Options{RedisVersion: "7.0.15", Limits: Limits{Memory: 8 << 20}})
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			case <-time.After(enough):
				r.Interrupt(errors.New("ERR took too long"))
			}
		}
	}()
	func() {
		defer func() {
			close(done)
			<-stopped
		}()
		work(r)
	}()
	if alive := evalOurs(r, 2, "return 'alive'", nil, nil); alive != "$5\r\nalive\r\n" {
		t.Fatalf("afterwards: %q", alive)
	}
}

// FuzzScript runs whatever is written as a script.
func FuzzScript(f *testing.F) {
	for i, source := range readCorpus(f, "testdata/corpus.lua") {
		if len(source) < 400 && i%4 == 0 {
			f.Add(source)
		}
	}
	f.Fuzz(func(t *testing.T, source string) {
		interrupted(t, func(r *Runtime) { evalOurs(r, 2, source, []string{"k"}, []string{"a", "b"}) })
	})
}

// FuzzLibrary loads whatever is written as a library and calls its functions.
func FuzzLibrary(f *testing.F) {
	for _, code := range []string{
		"#!lua name=l\nredis.register_function('f', function(k, a) return a end)",
		"#!lua name=l\nredis.register_function{function_name='f', callback=function() return redis.call('GET', 'k') end, flags={'no-writes'}, description='d'}",
		"#!lua name=l\nlocal n = 0 for i = 1, 3 do redis.register_function('f' .. i, function() n = n + i return n end) end",
		"#!lua name=l\nredis.register_function('f', setmetatable({}, {__call = print}))", "#!LUA name=\"l\"\n", "#!lua name=l engine=lua\n", "#!lua\n", "#!\n", "#! name=l\nreturn 1",
		"#!lua name=l\nredis.register_function('f', function() redis.register_function('g', f) end) redis.setresp(3)",
		"#!lua name=l\nredis.register_function('f', function(k, a) return cjson.decode(a[1]) end) while true do end",
	} {
		f.Add(code)
	}
	f.Fuzz(func(t *testing.T, code string) {
		interrupted(t, func(r *Runtime) {
			library, err := r.LoadLibrary([]byte(code))
			if err != nil {
				return
			}
			for _, function := range library.Functions[:min(3, len(library.Functions))] {
				r.CallFunction(function, newKeyspace(), byteSlices([]string{"k"}), byteSlices([]string{"a", "b"}), &transcript{proto: 2})
			}
			r.FlushFunctions()
		})
	})
}

// FuzzDecode gives bytes to everything that takes bytes apart. What was decoded
// can be encoded.
func FuzzDecode(f *testing.F) {
	for _, b := range []string{
		`{"a":[1,2.5e3,null,true,"\u00e9\ud83d\ude00"]}`, strings.Repeat("[", 1200), "\x93\x01\xa1a\xc0", "\x82\xa1a\x01\xa1b\x90", "\xdf\xff\xff\xff\xff", "\xdb\xff\xff\xff\xff",
		strings.Repeat("\x91", 40), "\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00", ">I4s2", "<!8i16d", "c0c2147483647", "%b()%f[%w]", "%5.2f%q%c",
	} {
		f.Add(b, b)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		interrupted(t, func(r *Runtime) { evalOurs(r, 2, decoding, nil, []string{a, b}) })
	})
}

const decoding = `
local out = {}
local function try(f, ...) out[#out + 1] = {pcall(f, ...)} return select(2, pcall(f, ...)) end
local j = try(cjson.decode, ARGV[1])
try(cjson.encode, j)
try(cmsgpack.pack, j)
local m = try(cmsgpack.unpack, ARGV[1])
try(cmsgpack.pack, m)
try(cjson.encode, m)
try(cmsgpack.unpack_limit, ARGV[1], 3, 1)
try(struct.unpack, ARGV[2], ARGV[1])
try(struct.pack, ARGV[2], 1, 'x', 2, 'y')
try(struct.size, ARGV[2])
try(string.format, ARGV[2], 1, 'x', 2)
try(string.find, ARGV[1], ARGV[2])
try(string.gsub, ARGV[1], ARGV[2], '%1')
return #out`
