package lua

import "testing"

func benchmarkScript(b *testing.B, source string) {
	b.Helper()
	r := New(Options{RedisVersion: "7.0.15"})
	s, err := r.Load([]byte(source))
	if err != nil {
		b.Fatal(err)
	}
	server := newKeyspace()
	keys, argv := byteSlices([]string{"counter"}), byteSlices([]string{"1"})
	b.ReportAllocs()
	for b.Loop() {
		r.Run(s, server, keys, argv, discard{})
	}
}

// discard is a Sink that drops the reply.
type discard struct{}

func (discard) Status(string)           {}
func (discard) Error(string)            {}
func (discard) Int(int64)               {}
func (discard) Bulk([]byte)             {}
func (discard) BulkString(string)       {}
func (discard) Null()                   {}
func (discard) NullArray()              {}
func (discard) Array(int)               {}
func (discard) Map(int)                 {}
func (discard) Set(int)                 {}
func (discard) Push(int)                {}
func (discard) Double(float64)          {}
func (discard) Bool(bool)               {}
func (discard) BigNumber(string)        {}
func (discard) Verbatim(string, string) {}
func (discard) Proto() int              { return 2 }

func BenchmarkEmpty(b *testing.B) { benchmarkScript(b, "return 1") }

func BenchmarkTwoCalls(b *testing.B) {
	benchmarkScript(b, `
local n = redis.call('INCR', KEYS[1])
if n % 10 == 0 then redis.call('SET', 'last', n) end
return n`)
}

func BenchmarkArithmetic(b *testing.B) {
	benchmarkScript(b, "local s = 0 for i = 1, 100000 do s = s + i % 7 end return s")
}

func BenchmarkTables(b *testing.B) {
	benchmarkScript(b, `
local t = {}
for i = 1, 1000 do t['k' .. i] = {id = i, name = 'n'} end
local n = 0
for k, v in pairs(t) do n = n + v.id end
return n`)
}

func BenchmarkJSON(b *testing.B) {
	benchmarkScript(b, `
local s = cjson.encode({id=1, name='x', tags={'a','b','c'}, nested={k='v', n=1.5}})
return cjson.decode(s).nested.k`)
}

func BenchmarkFib(b *testing.B) {
	benchmarkScript(b, "local function f(n) if n < 2 then return n end return f(n-1) + f(n-2) end return f(22)")
}

func BenchmarkCompile(b *testing.B) {
	source := "local n = redis.call('INCR', KEYS[1])\nif n % 10 == 0 then redis.call('SET', 'last', n) end\nreturn n"
	for b.Loop() {
		if _, err := compileScript(source, ""); err != nil {
			b.Fatal(err)
		}
	}
}
