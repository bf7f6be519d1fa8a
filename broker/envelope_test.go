package broker

import (
	"maps"
	"testing"
	"unicode/utf8"

	"github.com/fakecluster/fakecluster/tests/hostile"
)

func FuzzEnvelope(f *testing.F) {
	for _, payload := range []string{"", "text", `{"id":1}`, `{"a": "b c"}`, "\x00\xb1msg1", `{"headers":{}}`, "\xff\x00", "null", "1e400", "\u2028"} {
		f.Add("name", "value", payload)
	}
	f.Fuzz(func(t *testing.T, name, value, payload string) {
		hostile.Bound(t)
		m := Message{Headers{name: value, "x": ""}, []byte(payload)}
		for _, readable := range []bool{false, true} {
			if readable && !(utf8.ValidString(name) && utf8.ValidString(value)) {
				continue // JSON has no such strings
			}
			got := Decode(m.encode(readable))
			if string(got.Payload) != payload || !maps.Equal(got.Headers, m.Headers) {
				t.Errorf("readable %v: %q with %q became %q with %q", readable, payload, m.Headers, got.Payload, got.Headers)
			}
		}
		Decode(payload) // whatever it is
		Decode(magic + payload)
		Decode(readablePrefix + payload)
	})
}

func TestBareValues(t *testing.T) {
	for _, text := range []string{"", "{}", "text", `{"id":1}`, `{"headers":1}`, `{"headers":{},"other":1}`, magic, magic + "\xff"} {
		if m := Decode(text); string(m.Payload) != text || m.Headers != nil {
			t.Errorf("%q reads as %q with %v", text, m.Payload, m.Headers)
		}
	}
	for _, c := range []struct {
		fields map[string]any
		want   string
	}{
		{map[string]any{"body": "x"}, "x"},
		{map[string]any{"a": "1", "b": "2"}, `{"a":"1","b":"2"}`},
		{map[string]any{"payload": "p", "a": "1"}, "p"},
	} {
		if m := DecodeFields(c.fields); string(m.Payload) != c.want {
			t.Errorf("%v reads as %q", c.fields, m.Payload)
		}
	}
}
