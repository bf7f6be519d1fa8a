package slots_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fakecluster/fakecluster/slots"
)

// The slots below are what redis-server 7.0.15 answers to CLUSTER KEYSLOT.
func TestOfAgreesWithRedis(t *testing.T) {
	for key, want := range map[string]slots.Slot{
		"":                     0,
		"foo":                  12182,
		"bar":                  5061,
		"123456789":            12739, // the check value 0x31C3 of CRC-16/XMODEM
		"{user1000}.following": 3443,
		"{user1000}.followers": 3443,
		"foo{}{bar}":           8363,
		"foo{{bar}}zap":        4015,
		"foo{bar}{zap}":        5061,
		"{":                    4092,
		"{}":                   15257,
		"a{b":                  13340,
	} {
		if got := slots.OfString(key); got != want {
			t.Errorf("OfString(%q) = %d, want %d", key, got, want)
		}
		if got := slots.Of([]byte(key)); got != want {
			t.Errorf("Of(%q) = %d, want %d", key, got, want)
		}
	}
}

// The ranges are those redis-cli 7.0.15 proposes in --cluster create.
func TestSplitAgreesWithRedisCLI(t *testing.T) {
	for n, want := range map[int]string{
		1: "0-16383",
		3: "0-5460 5461-10922 10923-16383",
		5: "0-3276 3277-6553 6554-9829 9830-13106 13107-16383",
	} {
		var got []string
		for _, r := range slots.Split(n) {
			got = append(got, r.String())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("Split(%d) = %v, want %s", n, got, want)
		}
	}
	for n := 1; n <= slots.Count; n++ {
		next := 0
		for _, r := range slots.Split(n) {
			if int(r.First) != next || r.Last < r.First {
				t.Fatalf("Split(%d): %v does not continue at %d", n, r, next)
			}
			next = int(r.Last) + 1
		}
		if next != slots.Count {
			t.Fatalf("Split(%d) ends at %d", n, next)
		}
		if n > 200 {
			n += 97
		}
	}
}

func TestTagForFindsEverySlot(t *testing.T) {
	for slot := range slots.Slot(slots.Count) {
		tag := slots.TagFor(slot)
		if got := slots.OfString("{" + tag + "}:rest"); got != slot {
			t.Fatalf("TagFor(%d) = %q, which is in slot %d", slot, tag, got)
		}
		if len(tag) > 6 {
			t.Fatalf("TagFor(%d) = %q: too long", slot, tag)
		}
	}
}

func TestSet(t *testing.T) {
	var s slots.Set
	s.AddRange(slots.Range{First: 62, Last: 66})
	s.Add(0, 16383, 100)
	s.Remove(64)
	if got := s.String(); got != "0 62-63 65-66 100 16383" {
		t.Errorf("String() = %q", got)
	}
	if s.Len() != 7 || !s.Has(62) || s.Has(64) {
		t.Errorf("Len %d, Has(62) %v, Has(64) %v", s.Len(), s.Has(62), s.Has(64))
	}
	if got := slices.Collect(s.All()); !slices.Equal(got, []slots.Slot{0, 62, 63, 65, 66, 100, 16383}) {
		t.Errorf("All() = %v", got)
	}
	for _, r := range s.Ranges() {
		back, err := slots.ParseRange(r.String())
		if err != nil || back != r {
			t.Errorf("ParseRange(%q) = %v, %v", r.String(), back, err)
		}
	}
}

func TestParseRefusesNonsense(t *testing.T) {
	for _, s := range []string{"", "-1", "16384", "x", "5-", "-", "9-3", "1-99999"} {
		if r, err := slots.ParseRange(s); err == nil {
			t.Errorf("ParseRange(%q) = %v, want an error", s, r)
		}
	}
}

func ExampleOfString() {
	fmt.Println(slots.OfString("{user1000}.following") == slots.OfString("{user1000}.followers"))
	// Output: true
}

func ExampleTagFor() {
	tag := slots.TagFor(42)
	fmt.Println(slots.OfString("{" + tag + "}:cart"))
	// Output: 42
}
