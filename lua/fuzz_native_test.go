package lua

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// run runs a script that may be without end, and wants the runtime to go on
// working after it.
func run(t *testing.T, source string, argv ...string) string {
	t.Helper()
	r := New(Options{RedisVersion: "7.0.15", Limits: Limits{Memory: 8 << 20}})
	alarm := time.AfterFunc(time.Second, func() {
		for range 1000 {
			r.Interrupt(errors.New("ERR took too long"))
			time.Sleep(time.Millisecond)
		}
	})
	got := evalOurs(r, 2, source, nil, argv)
	alarm.Stop()
	for range 2 { // the alarm may just have gone off
		if alive := evalOurs(r, 2, "return 'alive'", nil, nil); alive == "$5\r\nalive\r\n" {
			return got
		}
	}
	if alive := evalOurs(New(Options{}), 2, "return 'alive'", nil, nil); alive != "$5\r\nalive\r\n" {
		t.Fatalf("afterwards: %q", alive)
	}
	return got
}

// FuzzScript runs whatever is written as a script.
func FuzzScript(f *testing.F) {
	for _, source := range readCorpus(f, "testdata/corpus.lua") {
		if len(source) < 400 {
			f.Add(source)
		}
	}
	f.Fuzz(func(t *testing.T, source string) { run(t, source, "a", "b") })
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
		run(t, `
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
return #out`, a, b)
	})
}
