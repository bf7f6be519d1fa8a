package keyspace

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fakecluster/fakecluster/emulator/internal/rdb"
	"github.com/fakecluster/fakecluster/emulator/internal/version"
	"github.com/fakecluster/fakecluster/tests/hostile"
)

// samples are values of every type and encoding.
func samples(limits *Limits) []Value {
	list, long := NewList(limits), NewList(limits)
	set, ints, words := NewSet(limits), NewSet(limits), NewSet(limits)
	zset, bigZSet := NewZSet(limits), NewZSet(limits)
	hash, bigHash := NewHash(limits), NewHash(limits)
	for i := range 600 {
		word := fmt.Appendf(nil, "word %d %s", i, strings.Repeat("x", 30))
		long.Grow(word)
		long.Push(Tail, word)
		words.Add(word)
		bigZSet.Add(word, float64(i)/3, AddOptions{})
		bigHash.Set(word, word)
		if i < 5 {
			list.Push(Tail, word)
			set.Add(word)
			ints.Add(fmt.Appendf(nil, "%d", i*i*100_000))
			zset.Add(word, float64(i)/3, AddOptions{})
			hash.Set(word, word)
		}
	}
	stream := NewStream(limits)
	for i := range uint64(120) {
		stream.Append(StreamID{i + 1, i}, [][]byte{[]byte("f"), []byte("v"), fmt.Appendf(nil, "f%d", i%2), []byte("v")})
	}
	g := stream.AddGroup([]byte("g"), StreamID{5, 4}, 5)
	c := g.AddConsumer([]byte("c"), 1234)
	g.Assign(g.AddPending(StreamID{2, 1}, 1000), c)
	values := []Value{str("12"), str("text"), list, long, set, ints, words, zset, bigZSet, hash, bigHash, stream}
	if limits.Version.AtLeast(7, 4) {
		timed, bigTimed := hash.Clone().(*Hash), bigHash.Clone().(*Hash)
		for i, field := range hash.fields() {
			if i < 3 {
				timed.SetExpireAt([]byte(field), 5000-int64(i))
				bigTimed.SetExpireAt([]byte(field), 6000+int64(i))
			}
		}
		values = append(values, timed, bigTimed)
	}
	return values
}

func (h *Hash) fields() (fields []string) {
	for field := range h.All() {
		fields = append(fields, string(field))
	}
	return fields
}

// For every version, what is dumped is loaded with the same contents and
// encoding.
func TestDumpAndLoad(t *testing.T) {
	for _, v := range []version.Version{version.V6_2, version.V7_0, version.V7_2, version.V7_4} {
		limits := DefaultLimits(v)
		for _, value := range samples(&limits) {
			payload := Dump(value, &limits)
			loaded, err := Load(payload, &limits)
			if err != nil {
				t.Errorf("%v, %v %s: %v", v, value.Kind(), value.Encoding(), err)
				continue
			}
			if loaded.Kind() != value.Kind() || loaded.Encoding() != value.Encoding() {
				t.Errorf("%v: %v %s becomes %v %s", v, value.Kind(), value.Encoding(), loaded.Kind(), loaded.Encoding())
			}
			if h, ok := value.(*Hash); ok {
				for _, field := range h.fields() {
					want, _ := h.ExpireAt([]byte(field))
					if got, ok := loaded.(*Hash).ExpireAt([]byte(field)); !ok || got != want {
						t.Errorf("%v: field %s expires at %d, %v; want %d", v, field, got, ok, want)
					}
				}
			}
			if enc := value.Encoding(); enc != "hashtable" && !bytes.Equal(Dump(loaded, &limits), payload) {
				t.Errorf("%v: %v %s is dumped differently once loaded", v, value.Kind(), enc)
			}
		}
	}
}

// An older version does not take a newer one's payload, a newer one takes all.
func TestVersionsOfPayloads(t *testing.T) {
	old, recent := DefaultLimits(version.V7_0), DefaultLimits(version.V7_2)
	for _, value := range samples(&recent) {
		if _, err := Load(Dump(value, &recent), &old); !errors.Is(err, rdb.ErrEnvelope) {
			t.Errorf("7.0 loads 7.2's %v: %v", value.Kind(), err)
		}
	}
	for _, value := range samples(&old) {
		if _, err := Load(Dump(value, &old), &recent); err != nil {
			t.Errorf("7.2 does not load 7.0's %v: %v", value.Kind(), err)
		}
	}
}

// Whatever a payload holds, it is refused or makes a value that can be used.
func FuzzLoad(f *testing.F) {
	limits := DefaultLimits(version.V7_4)
	limits.DumpUncompressed = true // so that mutations reach the insides
	for _, value := range samples(&limits) {
		if payload := Dump(value, &limits); len(payload) < 2000 {
			body, err := rdb.Unseal(payload, rdb.FormatVersion(limits.Version))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(body)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		hostile.Bound(t)
		value, err := Load(rdb.Seal(bytes.Clone(body), 9), &limits)
		if err != nil {
			return
		}
		use(value)
		again, err := Load(Dump(value.Clone(), &limits), &limits)
		if err != nil || again.Kind() != value.Kind() {
			t.Fatalf("what was loaded, %v, cannot be dumped and loaded: %v", value.Kind(), err)
		}
	})
}

// use walks through a value in every direction.
func use(value Value) {
	value.Memory()
	switch v := value.(type) {
	case *List:
		for range v.From(0) {
		}
		for range v.BackFrom(v.Len() - 1) {
		}
		v.Push(Head, []byte("x"))
		v.Pop(Tail)
	case *Set:
		for range v.All() {
		}
		v.Add([]byte("x"))
	case *ZSet:
		for range v.All() {
		}
		v.Add([]byte("x"), 1, AddOptions{})
	case *Hash:
		for range v.All() {
		}
		v.Set([]byte("x"), []byte("y"))
	case *Stream:
		for e := range v.Range(StreamID{}, MaxStreamID) {
			for range e.All() {
			}
		}
		for _, n := range v.nodes {
			for range n.backwards() {
			}
		}
		v.Trim(Trim{MaxLen: 1})
	}
}
