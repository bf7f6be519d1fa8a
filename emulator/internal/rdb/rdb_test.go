package rdb

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fakecluster/fakecluster/tests/hostile"
)

func TestChecksum(t *testing.T) {
	// The check value that Redis' own self-test has for this CRC.
	if got := Checksum([]byte("123456789")); got != 0xe9c6d914c4b8d9ca {
		t.Errorf("Checksum = %#x", got)
	}
}

func TestUnseal(t *testing.T) {
	// The payload in the documentation of RESTORE: the list 1, 2, 3 as a ziplist.
	payload := []byte("\n\x17\x17\x00\x00\x00\x12\x00\x00\x00\x03\x00\x00\xc0\x01\x00\x04\xc0\x02\x00\x04\xc0\x03\x00\xff\x04\x00u#<\xc0;.\xe9\xdd")
	value, err := Unseal(payload, 4)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(Seal(append([]byte{}, value...), 4), payload) {
		t.Error("Seal does not undo Unseal")
	}
	r := NewReader(value)
	if kind := r.Byte(); kind != TypeListZiplist {
		t.Errorf("type %d", kind)
	}
	elements, err := Ziplist(r.String())
	if err != nil || string(bytes.Join(elements, []byte(" "))) != "1 2 3" {
		t.Errorf("elements %q, %v", elements, err)
	}
	for _, bad := range [][]byte{nil, payload[:9], payload[1:], append([]byte("x"), payload...)} {
		if _, err := Unseal(bad, 4); !errors.Is(err, ErrEnvelope) {
			t.Errorf("Unseal(%q): %v", bad, err)
		}
	}
	if _, err := Unseal(payload, 3); !errors.Is(err, ErrEnvelope) {
		t.Errorf("a newer version: %v", err)
	}
}

func TestZiplistElements(t *testing.T) {
	long := strings.Repeat("x", 70)
	longer := strings.Repeat("y", 20000)
	body := "\x00\xfe\x80" + "\x03\xc0\x00\x80" + "\x04\xf0\xff\xff\xff" + "\x05\xd0\x01\x00\x00\x80" +
		"\x06\xe0\x01\x00\x00\x00\x00\x00\x00\x80" + "\x0a\xf1" + "\x02\xfd" + "\x02\x03abc" + "\x05\x00" +
		"\x02\x40\x46" + long + "\x49\x80\x00\x00\x4e\x20" + longer + "\xfe\x26\x4e\x00\x00\xf5"
	size := 10 + len(body) + 1
	last := size - 1 - len("\xfe\x26\x4e\x00\x00\xf5")
	blob := string([]byte{byte(size), byte(size >> 8), 0, 0, byte(last), byte(last >> 8), 0, 0, 12, 0}) + body + "\xff"
	elements, err := Ziplist([]byte(blob))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"-128", "-32768", "-1", "-2147483647", "-9223372036854775807", "0", "12", "abc", "", long, longer, "4",
	}
	for i, w := range want {
		if string(elements[i]) != w {
			t.Errorf("element %d is %.20q, want %.20q", i, elements[i], w)
		}
	}
	for cut := range 60 {
		if _, err := Ziplist([]byte(blob[:cut])); err == nil {
			t.Errorf("the first %d bytes are accepted", cut)
		}
	}
}

func TestZipmap(t *testing.T) {
	elements, err := Zipmap([]byte("\x02\x03foo\x03\x00bar\x05hello\x05\x02world??\xff"))
	if err != nil || string(bytes.Join(elements, []byte(" "))) != "foo bar hello world" {
		t.Errorf("elements %q, %v", elements, err)
	}
	for _, bad := range []string{"", "\x01", "\x01\x03foo\xff", "\x01\x03foo\x03\x00bar", "\x01\x03fo\xff"} {
		if _, err := Zipmap([]byte(bad)); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestNumbersRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, 1<<15), rapid.Just(uint64(math.MaxUint32))).Draw(t, "n")
		f := rapid.Float64().Draw(t, "f")
		var w Writer
		w.Len(n)
		w.Double(f)
		w.Millis(int64(n))
		r := NewReader(w.Bytes())
		if got := r.Len(); got != n {
			t.Fatalf("Len %d becomes %d", n, got)
		}
		if got := r.Double(); math.Float64bits(got) != math.Float64bits(f) {
			t.Fatalf("Double %v becomes %v", f, got)
		}
		if got := r.Millis(); got != int64(n) || r.Left() != 0 || r.Err() != nil {
			t.Fatalf("Millis %d becomes %d; %d left, %v", n, got, r.Left(), r.Err())
		}
		for cut := range len(w.Bytes()) {
			r := NewReader(w.Bytes()[:cut])
			r.Len()
			r.Double()
			r.Millis()
			if r.Err() == nil {
				t.Fatalf("%d of %d bytes are enough", cut, len(w.Bytes()))
			}
		}
	})
}

func TestTextDouble(t *testing.T) {
	for in, want := range map[string]float64{"\x031.5": 1.5, "\xfe": math.Inf(1), "\xff": math.Inf(-1)} {
		if got := NewReader([]byte(in)).TextDouble(); got != want {
			t.Errorf("%q is %v", in, got)
		}
	}
	if got := NewReader([]byte("\xfd")).TextDouble(); !math.IsNaN(got) {
		t.Errorf("253 is %v", got)
	}
	for _, bad := range []string{"", "\x04abcd", "\x051.5"} {
		r := NewReader([]byte(bad))
		if r.TextDouble(); r.Err() == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestStringsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		alphabet := rapid.SampledFrom([]byte("ab019-"))
		s := rapid.SliceOfN(alphabet, 0, 2000).Draw(t, "s")
		s = bytes.Repeat(s, rapid.IntRange(1, 3).Draw(t, "times"))
		plain, small := Writer{}, Writer{Compress: true}
		for _, w := range []*Writer{&plain, &small} {
			w.String(s)
			r := NewReader(w.Bytes())
			if got := r.String(); !bytes.Equal(got, s) || r.Err() != nil || r.Left() != 0 {
				t.Fatalf("%q becomes %q, %v", s, got, r.Err())
			}
		}
		if len(small.Bytes()) > len(plain.Bytes()) {
			t.Fatalf("compressing makes %d bytes of %d", len(small.Bytes()), len(plain.Bytes()))
		}
	})
}

// No bytes make the readers panic or allocate without measure.
func FuzzReader(f *testing.F) {
	w := Writer{Compress: true}
	w.String(bytes.Repeat([]byte("abc"), 40))
	f.Add(w.Bytes())
	f.Add([]byte("\xc3\x02\x81\xff\xff\xff\xff\xff\xff\xff\xff\x00a"))
	f.Fuzz(func(t *testing.T, b []byte) {
		hostile.Bound(t)
		if s := NewReader(b).String(); len(s) > len(b)*lzfMaxMatch {
			t.Fatalf("%d bytes make a string of %d", len(b), len(s))
		}
		_, _ = Ziplist(b)
		_, _ = Zipmap(b)
	})
}
