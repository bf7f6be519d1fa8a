package keyspace

import (
	"testing"

	"github.com/fakecluster/fakecluster/emulator/internal/rdb"
	"github.com/fakecluster/fakecluster/emulator/internal/version"
)

// timedPayload builds a payload by the layout of RDB version 12.
func timedPayload(build func(w *rdb.Writer)) []byte {
	var w rdb.Writer
	build(&w)
	return rdb.Seal(w.Bytes(), rdb.FormatVersion(version.V7_4))
}

func TestLoadTimedHashes(t *testing.T) {
	limits := DefaultLimits(version.V7_4)
	triples := func(elements ...any) []byte {
		h := NewHash(&limits)
		for _, e := range elements {
			switch e := e.(type) {
			case string:
				h.pack.Append([]byte(e))
			case int:
				h.pack.AppendInt(int64(e))
			}
		}
		return h.pack.Bytes()
	}
	listpackEx := func(elements ...any) []byte {
		return timedPayload(func(w *rdb.Writer) {
			w.Byte(rdb.TypeHashListpackEx)
			w.Millis(5000)
			w.String(triples(elements...))
		})
	}
	metadata := timedPayload(func(w *rdb.Writer) {
		w.Byte(rdb.TypeHashMetadata)
		w.Millis(5000)
		w.Len(3)
		for field, relative := range map[string]uint64{"a": 1, "b": 0, "c": 101} {
			w.Len(relative)
			w.String([]byte(field))
			w.String([]byte("value of " + field))
		}
	})
	for name, payload := range map[string][]byte{
		"listpackex": listpackEx("a", "value of a", 5000, "c", "value of c", 5100, "b", "value of b", 0),
		"metadata":   metadata,
	} {
		v, err := Load(payload, &limits)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for range 2 { // as it came, and dumped and loaded again
			h := v.(*Hash)
			for field, want := range map[string]int64{"a": 5000, "b": 0, "c": 5100} {
				at, ok := h.ExpireAt([]byte(field))
				if value, _ := h.Get([]byte(field)); !ok || at != want || string(value) != "value of "+field {
					t.Errorf("%s: field %s is %q until %d, %v", name, field, value, at, ok)
				}
			}
			if v, err = Load(Dump(h, &limits), &limits); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	for name, payload := range map[string][]byte{
		"not in order": listpackEx("a", "1", 5100, "b", "1", 5000),
		"time after 0": listpackEx("a", "1", 0, "b", "1", 5000),
		"not a time":   listpackEx("a", "1", "x"),
		"negative":     listpackEx("a", "1", -5),
		"field twice":  listpackEx("a", "1", 5000, "a", "1", 5100),
		"pairs":        listpackEx("a", "1"),
	} {
		if v, err := Load(payload, &limits); err == nil {
			t.Errorf("%s: loaded %v", name, v)
		}
	}
}
