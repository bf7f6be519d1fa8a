package listpack_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace/listpack"
	"github.com/fakecluster/fakecluster/tests/hostile"
	"github.com/fakecluster/fakecluster/tests/redisserver"
)

func pack(elements ...string) *listpack.Pack {
	p := listpack.New()
	for _, s := range elements {
		p.Append([]byte(s))
	}
	return p
}

func contents(p *listpack.Pack) []string {
	all := []string{}
	for _, e := range p.All() {
		all = append(all, e.String())
	}
	return all
}

func backwards(p *listpack.Pack) []string {
	all := []string{}
	for at := p.Last(); at != listpack.None; at = p.Prev(at) {
		all = append(all, p.Get(at).String())
	}
	return all
}

// boundaries are elements on both sides of every change of encoding.
func boundaries() []string {
	all := []string{"", "a", "-", "-0", "007", "+1", " 1", "9223372036854775808", "-9223372036854775809"}
	for _, bits := range []int{7, 12, 15, 23, 31} {
		for d := int64(-2); d <= 2; d++ {
			all = append(all, strconv.FormatInt(1<<bits+d, 10), strconv.FormatInt(-1<<bits+d, 10))
		}
	}
	all = append(all, strconv.FormatInt(math.MaxInt64, 10), strconv.FormatInt(math.MinInt64, 10), "0")
	for _, n := range []int{63, 64, 125, 126, 127, 128, 4095, 4096, 16380, 16381, 16382, 16383, 16384} {
		all = append(all, strings.Repeat("x", n))
	}
	return all
}

// TestBytesMatchRedis compares with the listpack inside a DUMP payload of a
// hash: one type byte, a length, the listpack, then version and checksum.
func TestBytesMatchRedis(t *testing.T) {
	server := redisserver.Start(t, "--rdbcompression", "no",
		"--hash-max-listpack-value", "100000", "--hash-max-listpack-entries", "100000")
	for i, value := range boundaries() {
		key := "h" + strconv.Itoa(i)
		if _, err := server.Do("HSET", key, "field", value, "2", "b"); err != nil {
			t.Fatal(err)
		}
		payload, err := server.Do("DUMP", key)
		if err != nil {
			t.Fatal(err)
		}
		dump := []byte(payload)
		ours := pack("field", value, "2", "b")
		if len(dump) < ours.Size()+10 {
			t.Fatalf("%.30q: payload has %d bytes, listpack %d", value, len(dump), ours.Size())
		}
		theirs := dump[len(dump)-10-ours.Size() : len(dump)-10]
		if !bytes.Equal(ours.Bytes(), theirs) {
			t.Errorf("%.30q: got\n%.60x, Redis has\n%.60x", value, ours.Bytes(), theirs)
		}
		if err := listpack.Validate(theirs); err != nil {
			t.Errorf("%.30q: %v", value, err)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	p := pack(boundaries()...)
	if diff := cmp.Diff(boundaries(), contents(p)); diff != "" {
		t.Error(diff)
	}
	for _, s := range boundaries() {
		if got := pack(s).Size(); got != listpack.New().Size()+listpack.EncodedSize([]byte(s)) {
			t.Errorf("EncodedSize(%.30q) = %d, the listpack has %d bytes", s, listpack.EncodedSize([]byte(s)), got)
		}
	}
}

func TestAgainstSlice(t *testing.T) {
	element := rapid.OneOf(
		rapid.SampledFrom(boundaries()),
		rapid.Map(rapid.Int64(), func(n int64) string { return strconv.FormatInt(n, 10) }),
		rapid.String(),
	)
	rapid.Check(t, func(t *rapid.T) {
		p, model := listpack.New(), []string{}
		insert := func(i int, s string) { model = append(model[:i], append([]string{s}, model[i:]...)...) }
		anyIndex := func() int {
			if len(model) == 0 {
				t.Skip("empty")
			}
			return rapid.IntRange(0, len(model)-1).Draw(t, "index")
		}
		t.Repeat(map[string]func(*rapid.T){
			"append":  func(t *rapid.T) { s := element.Draw(t, "s"); p.Append([]byte(s)); model = append(model, s) },
			"prepend": func(t *rapid.T) { s := element.Draw(t, "s"); p.Prepend([]byte(s)); insert(0, s) },
			"appendInt": func(t *rapid.T) {
				n := rapid.Int64().Draw(t, "n")
				p.AppendInt(n)
				model = append(model, strconv.FormatInt(n, 10))
			},
			"before": func(t *rapid.T) {
				i, s := anyIndex(), element.Draw(t, "s")
				if at := p.InsertBefore(p.At(i), []byte(s)); p.Get(at).String() != s {
					t.Fatalf("InsertBefore returned the position of %q", p.Get(at))
				}
				insert(i, s)
			},
			"after": func(t *rapid.T) {
				i, s := anyIndex(), element.Draw(t, "s")
				if at := p.InsertAfter(p.At(i), []byte(s)); p.Get(at).String() != s {
					t.Fatalf("InsertAfter returned the position of %q", p.Get(at))
				}
				insert(i+1, s)
			},
			"replace": func(t *rapid.T) {
				i, s := anyIndex(), element.Draw(t, "s")
				p.Replace(p.At(i), []byte(s))
				model[i] = s
			},
			"delete": func(t *rapid.T) {
				i := anyIndex()
				p.Delete(p.At(i))
				model = append(model[:i], model[i+1:]...)
			},
			"deleteRange": func(t *rapid.T) {
				i, n := anyIndex(), rapid.IntRange(0, 5).Draw(t, "n")
				end := min(i+n, len(model))
				if _, removed := p.DeleteRange(p.At(i), n); removed != end-i {
					t.Fatalf("removed %d, want %d", removed, end-i)
				}
				model = append(model[:i], model[end:]...)
			},
			"split": func(t *rapid.T) {
				i := anyIndex()
				tail := p.SplitOff(p.At(i))
				if diff := cmp.Diff(model[i:], contents(tail)); diff != "" {
					t.Fatal(diff)
				}
				p.AppendPack(tail)
			},
			"find": func(t *rapid.T) {
				s := element.Draw(t, "s")
				if len(model) > 0 && rapid.Bool().Draw(t, "present") {
					s = model[anyIndex()]
				}
				want := -1
				for i, m := range model {
					if m == s {
						want = i
						break
					}
				}
				if got, want := p.Find(p.First(), []byte(s), 0), p.At(want); want == listpack.None && got != want ||
					len(model) > 0 && model[max(0, indexOf(model, s))] == s && p.Get(got).String() != s {
					t.Fatalf("Find(%q) = %d", s, got)
				}
			},
			"": func(t *rapid.T) {
				if diff := cmp.Diff(model, contents(p)); diff != "" {
					t.Fatal(diff)
				}
				reversed := []string{}
				for i := len(model) - 1; i >= 0; i-- {
					reversed = append(reversed, model[i])
				}
				if diff := cmp.Diff(reversed, backwards(p)); diff != "" {
					t.Fatal(diff)
				}
				if p.Len() != len(model) || p.At(len(model)) != listpack.None || p.At(-len(model)-1) != listpack.None {
					t.Fatalf("Len() = %d, want %d", p.Len(), len(model))
				}
				for i, s := range model {
					if p.Get(p.At(i)).String() != s || p.Get(p.At(i-len(model))).String() != s {
						t.Fatalf("At(%d) is not %q", i, s)
					}
				}
				if err := listpack.Validate(p.Bytes()); err != nil {
					t.Fatal(err)
				}
			},
		})
	})
}

func indexOf(model []string, s string) int {
	for i, m := range model {
		if m == s {
			return i
		}
	}
	return -1
}

func TestFindSkips(t *testing.T) {
	p := pack("a", "1", "1", "2")
	if at := p.Find(p.First(), []byte("1"), 1); at != p.At(2) {
		t.Errorf("Find(1) = %d, want the third element at %d", at, p.At(2))
	}
	if at := p.Find(p.First(), []byte("2"), 1); at != listpack.None {
		t.Errorf("Find(2) = %d, want None: it is a value, not a key", at)
	}
}

func TestMoreElementsThanTheHeaderCounts(t *testing.T) {
	p := listpack.New()
	for i := range 70000 {
		p.AppendInt(int64(i))
	}
	if p.Len() != 70000 || p.Get(p.At(-1)).String() != "69999" {
		t.Fatalf("Len() = %d, last %v", p.Len(), p.Get(p.At(-1)))
	}
	p.DeleteRange(p.First(), 10000)
	if p.Len() != 60000 || p.Get(p.At(0)).String() != "10000" {
		t.Fatalf("Len() = %d, first %v", p.Len(), p.Get(p.At(0)))
	}
	if err := listpack.Validate(p.Bytes()); err != nil {
		t.Fatal(err)
	}
}

func TestValidateRefuses(t *testing.T) {
	good := pack("hello", "12", "-70000").Bytes()
	for name, damage := range map[string]func([]byte) []byte{
		"empty":            func([]byte) []byte { return nil },
		"short":            func(b []byte) []byte { return b[:6] },
		"size":             func(b []byte) []byte { b[0]++; return b },
		"count":            func(b []byte) []byte { b[4]++; return b },
		"terminator":       func(b []byte) []byte { b[len(b)-1] = 0; return b },
		"encoding":         func(b []byte) []byte { b[6] = 0xf5; return b },
		"length too long":  func(b []byte) []byte { b[6] = 0x80 | 60; return b },
		"length too short": func(b []byte) []byte { b[6] = 0x80 | 4; return b },
		"32-bit length":    func(b []byte) []byte { b[6] = 0xf0; return b },
		"backlen":          func(b []byte) []byte { b[12]++; return b },
		"early terminator": func(b []byte) []byte { b[6] = 0xff; return b },
	} {
		if err := listpack.Validate(damage(bytes.Clone(good))); !errors.Is(err, listpack.ErrCorrupt) {
			t.Errorf("%s: Validate() = %v", name, err)
		}
	}
}

// FuzzValidate walks whatever Validate accepts: reading out of bounds panics.
func FuzzValidate(f *testing.F) {
	f.Add(pack("hello", "12", "-70000").Bytes())
	f.Add(pack(boundaries()...).Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		hostile.Bound(t)
		if listpack.Validate(data) != nil {
			return
		}
		p := listpack.FromBytes(data)
		if forwards, back := len(contents(p)), len(backwards(p)); forwards != back {
			t.Errorf("%d elements forwards, %d backwards", forwards, back)
		}
	})
}

func BenchmarkFind(b *testing.B) {
	p := listpack.New()
	for i := range 128 {
		p.Append(fmt.Appendf(nil, "member:%d", i))
	}
	key := []byte("member:127")
	for b.Loop() {
		p.Find(p.First(), key, 0)
	}
}
