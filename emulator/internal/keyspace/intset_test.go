package keyspace

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fakecluster/fakecluster/tests/redisserver"
)

func TestIntsetAgainstMap(t *testing.T) {
	number := rapid.OneOf(rapid.Int64Range(-5, 5), rapid.Int64Range(-1<<16, 1<<16), rapid.Int64())
	rapid.Check(t, func(t *rapid.T) {
		s, model := newIntset(), map[int64]bool{}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				n := number.Draw(t, "n")
				if s.add(n) == model[n] {
					t.Fatalf("add(%d) is wrong", n)
				}
				model[n] = true
			},
			"remove": func(t *rapid.T) {
				n := number.Draw(t, "n")
				if s.remove(n) != model[n] {
					t.Fatalf("remove(%d) is wrong", n)
				}
				delete(model, n)
			},
			"": func(t *rapid.T) {
				var got []int64
				for i := range s.len() {
					got = append(got, s.at(i))
				}
				if want := slices.Sorted(maps.Keys(model)); !slices.Equal(got, want) {
					t.Fatalf("holds %d, want %d", got, want)
				}
				if s.len() == 0 {
					return
				}
				if err := validateIntset(s.data); err != nil {
					t.Fatal(err)
				}
			},
		})
	})
}

// TestIntsetBytesMatchRedis compares with the intset inside a DUMP payload.
func TestIntsetBytesMatchRedis(t *testing.T) {
	server := redisserver.Start(t, "--rdbcompression", "no")
	for i, numbers := range [][]int64{{1}, {3, 1, 2}, {1, 40000, -40000}, {-1 << 40, 7, 1 << 40, -32768, 32767}} {
		s, args := newIntset(), []string{"SADD", fmt.Sprint("key", i)}
		for _, n := range numbers {
			s.add(n)
			args = append(args, fmt.Sprint(n))
		}
		if _, err := server.Do(args...); err != nil {
			t.Fatal(err)
		}
		dump, err := server.Do("DUMP", args[1])
		if err != nil {
			t.Fatal(err)
		}
		if theirs := dump[len(dump)-10-len(s.data) : len(dump)-10]; theirs != string(s.data) {
			t.Errorf("%d: got %x, Redis has %x", numbers, s.data, theirs)
		}
	}
}

func TestValidateIntsetRefuses(t *testing.T) {
	for name, data := range map[string][]byte{
		"short":       {2, 0, 0, 0},
		"empty":       {2, 0, 0, 0, 0, 0, 0, 0},
		"encoding":    {3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0},
		"length":      {2, 0, 0, 0, 2, 0, 0, 0, 1, 0},
		"unordered":   {2, 0, 0, 0, 2, 0, 0, 0, 2, 0, 1, 0},
		"duplicate":   {2, 0, 0, 0, 2, 0, 0, 0, 1, 0, 1, 0},
		"wide length": {8, 0, 0, 0, 0, 0, 0, 0x20, 1, 0},
	} {
		if err := validateIntset(data); !errors.Is(err, errCorruptIntset) {
			t.Errorf("%s: validateIntset() = %v", name, err)
		}
	}
}
