package keyspace

import "testing"

func TestStringEncoding(t *testing.T) {
	fortyFour := "12345678901234567890123456789012345678901234"
	for _, c := range []struct {
		value    *String
		encoding string
		shared   bool
	}{
		{str("12"), "int", true},
		{str("9999"), "int", true},
		{str("10000"), "int", false},
		{str("-1"), "int", false},
		{str("9223372036854775808"), "embstr", false},
		{str("012"), "embstr", false},
		{str(fortyFour), "embstr", false},
		{str(fortyFour + "5"), "raw", false},
		{NewPlainString([]byte("12")), "embstr", false},
		{NewRawString([]byte("12")), "raw", false},
		{NewIntString(12), "int", true},
		{str("12").Clone().(*String), "int", false},
	} {
		if got := c.value.Encoding(); got != c.encoding || c.value.Shared() != c.shared {
			t.Errorf("%s: %s, shared %v; want %s, %v", c.value.Bytes(), got, c.value.Shared(), c.encoding, c.shared)
		}
	}
}

func TestStringChanges(t *testing.T) {
	s := str("12")
	copied := s.Clone().(*String)
	s.SetInt(-5)
	if string(s.Bytes()) != "-5" || s.Encoding() != "int" {
		t.Errorf("SetInt: %q, %s", s.Bytes(), s.Encoding())
	}
	s.Append([]byte("x"))
	if string(s.Bytes()) != "-5x" || s.Encoding() != "raw" {
		t.Errorf("Append: %q, %s", s.Bytes(), s.Encoding())
	}
	copy(s.Grow(5)[4:], "y")
	if string(s.Bytes()) != "-5x\x00y" || s.Len() != 5 {
		t.Errorf("Grow: %q", s.Bytes())
	}
	s.Replace([]byte("7"))
	if n, ok := s.Int(); !ok || n != 7 || s.Encoding() != "raw" {
		t.Errorf("Replace: %q, %s", s.Bytes(), s.Encoding())
	}
	s.assign([]byte("012"))
	if string(s.Bytes()) != "012" || s.Encoding() != "embstr" {
		t.Errorf("assign: %q, %s", s.Bytes(), s.Encoding())
	}
	s.Grow(10_000)
	s.assign([]byte("34"))
	if string(s.Bytes()) != "34" || s.Encoding() != "int" || cap(s.bytes) > 100 {
		t.Errorf("assign after a long string: %q, %s, in %d bytes", s.Bytes(), s.Encoding(), cap(s.bytes))
	}
	if string(copied.Bytes()) != "12" {
		t.Errorf("the copy changed to %q", copied.Bytes())
	}
	copied.SetInt(3)
	if !copied.Shared() {
		t.Error("a small result is a shared integer")
	}
}
