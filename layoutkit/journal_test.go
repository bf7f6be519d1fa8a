package layoutkit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/layoutkit"
)

func (x *target) durability(t testing.TB) *layoutkit.Durability {
	t.Helper()
	d, err := layoutkit.NewDurability(x.options())
	must(t, err)
	t.Cleanup(func() { must(t, d.Close()) })
	return d
}

// counts expects the journal to hold so many entries.
func counts[T any](t *testing.T, j layoutkit.Journal[T], want layoutkit.JournalCounts) {
	t.Helper()
	got, err := j.Count(t.Context())
	must(t, err)
	if got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
}

func TestJournal(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		j := layoutkit.Outbox[job](x.durability(t))
		for _, want := range []bool{true, false} {
			appended, err := j.Append(t.Context(), "k1", job{"sing"})
			must(t, err)
			if appended != want {
				t.Fatalf("appended: %v", appended)
			}
		}
		counts(t, j, layoutkit.JournalCounts{Entries: 1, Due: 1})
		claimed, err := j.Claim(t.Context(), "i", 10, time.Minute)
		must(t, err)
		if len(claimed) != 1 || claimed[0] != (layoutkit.JournalEntry[job]{Key: "k1", Instance: "i", Attempt: 1, Value: job{"sing"}}) {
			t.Fatalf("claimed %+v", claimed)
		}
		counts(t, j, layoutkit.JournalCounts{Entries: 1, Claimed: 1})
		none, err := j.Claim(t.Context(), "other", 10, time.Minute)
		must(t, err)
		if len(none) != 0 {
			t.Errorf("claimed too: %+v", none)
		}

		must(t, j.Renew(t.Context(), claimed[0], time.Hour))
		must(t, j.Fail(t.Context(), claimed[0], 0))
		counts(t, j, layoutkit.JournalCounts{Entries: 1, Due: 1})
		for _, err := range []error{
			j.Fail(t.Context(), claimed[0], 0), j.Renew(t.Context(), claimed[0], time.Hour), j.Acknowledge(t.Context(), claimed[0]),
		} {
			wantError(t, err, layoutkit.ErrLost)
		}
		again, err := j.Claim(t.Context(), "i", 10, time.Minute)
		must(t, err)
		if len(again) != 1 || again[0].Attempt != 2 {
			t.Fatalf("claimed %+v", again)
		}
		wantError(t, j.Acknowledge(t.Context(), claimed[0]), layoutkit.ErrLost)
		must(t, j.Acknowledge(t.Context(), again[0]))
		wantError(t, j.Acknowledge(t.Context(), again[0]), layoutkit.ErrLost)
		counts(t, j, layoutkit.JournalCounts{Done: 1})

		appended, err := j.Append(t.Context(), "k1", job{"again"})
		must(t, err)
		if appended {
			t.Error("an acknowledged entry was appended again")
		}
		forgotten, err := j.Trim(t.Context(), time.Hour)
		must(t, err)
		if forgotten != 0 {
			t.Errorf("%d forgotten", forgotten)
		}
		forgotten, err = j.Trim(t.Context(), 0)
		must(t, err)
		if forgotten != 1 {
			t.Errorf("%d forgotten", forgotten)
		}
		if keys := x.keys(t); len(keys) != 0 {
			t.Errorf("left behind: %v", keys)
		}
	})
}

// All of a table is in one slot and has the same names in both layouts; the tables
// know nothing of each other.
func TestJournalKeys(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		d := x.durability(t)
		for _, j := range []layoutkit.Journal[job]{layoutkit.Inbox[job](d), layoutkit.Table[job](d, "a:{b}")} {
			for _, key := range []string{"k1", "k2"} {
				_, err := j.Append(t.Context(), key, job{"x"})
				must(t, err)
			}
			claimed, err := j.Claim(t.Context(), "i:1", 1, time.Minute)
			must(t, err)
			must(t, j.Acknowledge(t.Context(), claimed[0]))
			_, err = j.Claim(t.Context(), "i:1", 1, time.Minute)
			must(t, err)
		}
		a, inbox := "{durable:a%3A%7Bb%7D}:", "{durable:inbox}:"
		want := []string{a + "claims", a + "done", a + "due", a + "entries", inbox + "claims", inbox + "done", inbox + "due", inbox + "entries"}
		if keys := x.keys(t); !slices.Equal(keys, want) {
			t.Errorf("keys %v", keys)
		}
		entries := x.client.HGetAll(t.Context(), x.key(inbox+"entries")).Val()
		if len(entries) != 1 || entries["k2"] != `1 i%3A1 {"Do":"x"}` {
			t.Errorf("entries %v", entries)
		}
		if claims := x.client.ZRange(t.Context(), x.key(inbox+"claims"), 0, -1).Val(); !slices.Equal(claims, []string{"i%3A1 k2"}) {
			t.Errorf("claims %q", claims)
		}
		now := time.Now().UnixMicro()
		for key, from := range map[string]int64{"due": now, "done": now - 60_000_000} {
			all := x.client.ZRangeWithScores(t.Context(), x.key(inbox+key), 0, -1).Val()
			if len(all) != 1 || int64(all[0].Score) < from || int64(all[0].Score) > from+60_000_000 {
				t.Errorf("%s holds %v", key, all)
			}
		}
	})
}

// Entries are claimed in the order in which they were appended.
func TestJournalOrder(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		j := layoutkit.Inbox[int](x.durability(t))
		const n = 50
		for i := range n {
			_, err := j.Append(t.Context(), fmt.Sprint(n-i), i)
			must(t, err)
		}
		for i := 0; i < n; {
			some, err := j.Claim(t.Context(), "i", 7, time.Minute)
			must(t, err)
			if len(some) == 0 || len(some) > 7 {
				t.Fatalf("%d entries", len(some))
			}
			for _, e := range some {
				if e.Value != i {
					t.Fatalf("entry %d is the %dth", e.Value, i)
				}
				i++
			}
		}
	})
}

// What a dead instance has claimed is taken over at once, or claimed when its leases
// are over; it has no say any more.
func TestJournalTakeOver(t *testing.T) {
	inTime(t, func(t *testing.T, x *target) {
		j := layoutkit.Inbox[int](x.durability(t))
		for i := range 5 {
			_, err := j.Append(t.Context(), fmt.Sprint("k", i), i)
			must(t, err)
			time.Sleep(time.Millisecond)
		}
		lost, err := j.Claim(t.Context(), "dead", 3, time.Minute)
		must(t, err)
		others, err := j.Claim(t.Context(), "dead too", 1, time.Minute)
		must(t, err)

		taken, err := j.TakeOver(t.Context(), "dead", "b", 2, time.Hour)
		must(t, err)
		if len(taken) != 2 || taken[0].Key != "k0" || taken[1].Key != "k1" || taken[0].Attempt != 2 || taken[0].Instance != "b" {
			t.Fatalf("taken over: %+v", taken)
		}
		wantError(t, j.Acknowledge(t.Context(), lost[0]), layoutkit.ErrLost)
		must(t, j.Acknowledge(t.Context(), lost[2]))
		must(t, j.Acknowledge(t.Context(), taken[0]))
		counts(t, j, layoutkit.JournalCounts{Entries: 3, Claimed: 2, Due: 1, Done: 2})

		time.Sleep(time.Minute)
		counts(t, j, layoutkit.JournalCounts{Entries: 3, Claimed: 2, Due: 2, Done: 2})
		again, err := j.Claim(t.Context(), "c", 10, time.Minute)
		must(t, err)
		if len(again) != 2 || again[0].Key != "k4" || again[1].Key != "k3" || again[1].Attempt != 2 {
			t.Fatalf("claimed: %+v", again)
		}
		wantError(t, j.Renew(t.Context(), others[0], time.Minute), layoutkit.ErrLost)
		nothing, err := j.TakeOver(t.Context(), "dead too", "b", 10, time.Hour)
		must(t, err)
		if len(nothing) != 0 {
			t.Errorf("taken over: %+v", nothing)
		}
		counts(t, j, layoutkit.JournalCounts{Entries: 3, Claimed: 3, Done: 2})
	})
}

// An entry that failed comes again after its backoff.
func TestJournalBackoff(t *testing.T) {
	inTime(t, func(t *testing.T, x *target) {
		j := layoutkit.Outbox[int](x.durability(t))
		_, err := j.Append(t.Context(), "k", 1)
		must(t, err)
		var waited []time.Duration
		for range 11 {
			begun := time.Now()
			var e []layoutkit.JournalEntry[int]
			for len(e) == 0 {
				e, err = j.Claim(t.Context(), "i", 1, time.Minute)
				must(t, err)
				time.Sleep(100 * time.Millisecond)
			}
			waited = append(waited, time.Since(begun).Truncate(time.Second))
			must(t, j.Fail(t.Context(), e[0], e[0].Backoff()))
		}
		var want []time.Duration
		for _, seconds := range []int{0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300} {
			want = append(want, time.Duration(seconds)*time.Second)
		}
		if !slices.Equal(waited, want) {
			t.Errorf("waited %v", waited)
		}
		if most := (layoutkit.JournalEntry[int]{Attempt: 1000}).Backoff(); most != 5*time.Minute {
			t.Errorf("waits %v", most)
		}
	})
}

// Keys are forgotten when they are old enough, however many there are.
func TestJournalTrim(t *testing.T) {
	inTime(t, func(t *testing.T, x *target) {
		j := layoutkit.Inbox[int](x.durability(t))
		fill := func(from, to int) {
			for i := from; i < to; i++ {
				_, err := j.Append(t.Context(), fmt.Sprint(i), i)
				must(t, err)
			}
			for {
				some, err := j.Claim(t.Context(), "i", 5000, time.Minute)
				must(t, err)
				if len(some) == 0 {
					return
				}
				if len(some) > 1000 {
					t.Fatalf("%d claimed", len(some))
				}
				for _, e := range some {
					must(t, j.Acknowledge(t.Context(), e))
				}
			}
		}
		fill(0, 2500)
		time.Sleep(time.Hour)
		fill(2500, 2600)
		forgotten, err := j.Trim(t.Context(), time.Hour)
		must(t, err)
		if forgotten != 2500 {
			t.Errorf("%d forgotten", forgotten)
		}
		counts(t, j, layoutkit.JournalCounts{Done: 100})
		for key, want := range map[string]bool{"0": true, "2500": false} {
			appended, err := j.Append(t.Context(), key, 1)
			must(t, err)
			if appended != want {
				t.Errorf("%s appended: %v", key, appended)
			}
		}
	})
}

func TestAwkwardJournal(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		d := x.durability(t)
		for _, id := range awkward() {
			j := layoutkit.Table[string](d, id)
			_, err := j.Append(t.Context(), id, strings.Repeat("v", 1000))
			must(t, err)
			claimed, err := j.Claim(t.Context(), id, 10, time.Minute)
			must(t, err)
			taken, err := j.TakeOver(t.Context(), id, id+"2", 10, time.Minute)
			must(t, err)
			if len(claimed) != 1 || len(taken) != 1 || taken[0].Key != id || taken[0].Value != strings.Repeat("v", 1000) {
				t.Fatalf("%q: claimed %+v, taken over %+v", id, claimed, taken)
			}
			must(t, j.Acknowledge(t.Context(), taken[0]))
			counts(t, j, layoutkit.JournalCounts{Done: 1})
		}
	})
}

// What cannot be read is said with the entry, which can be settled nevertheless.
func TestCorruptJournal(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		j := layoutkit.Inbox[job](x.durability(t))
		for _, key := range []string{"k1", "k2", "k3"} {
			_, err := j.Append(t.Context(), key, job{key})
			must(t, err)
		}
		must(t, x.client.HSet(t.Context(), x.key("{durable:inbox}:entries"), "k1", "0 * {", "k2", "what").Err())
		claimed, err := j.Claim(t.Context(), "i", 10, time.Minute)
		must(t, err)
		if len(claimed) != 2 || claimed[0].Key != "k1" || claimed[1].Value != (job{"k3"}) || claimed[1].Err != nil {
			t.Fatalf("claimed %+v", claimed)
		}
		wantError(t, claimed[0].Err, layoutkit.ErrCorrupt)
		must(t, j.Acknowledge(t.Context(), claimed[0]))

		must(t, x.client.Set(t.Context(), x.key("{durable:odd}:due"), "odd", 0).Err())
		odd := layoutkit.Table[job](x.durability(t), "odd")
		_, err = odd.Claim(t.Context(), "i", 10, time.Minute)
		wantError(t, err, layoutkit.ErrCorrupt)
		_, err = odd.Append(t.Context(), "k", job{})
		wantError(t, err, layoutkit.ErrCorrupt)
		if exists := x.client.Exists(t.Context(), x.key("{durable:odd}:entries")).Val(); exists != 0 {
			t.Error("half an entry was written")
		}
	})
}

func TestJournalRefuses(t *testing.T) {
	x := find(t, "emulator/cluster").target(t)
	j := layoutkit.Inbox[any](x.durability(t))
	entry := layoutkit.JournalEntry[any]{Key: "k", Instance: "i", Attempt: 1}
	refused := func(_ any, err error) {
		t.Helper()
		wantError(t, err, layoutkit.ErrInvalid)
	}
	refused(layoutkit.NewDurability(layoutkit.Options{}))
	refused(j.Append(t.Context(), "", 1))
	refused(j.Append(t.Context(), "k", make(chan int)))
	refused(j.Claim(t.Context(), "", 1, time.Second))
	refused(j.Claim(t.Context(), "i", 0, time.Second))
	refused(j.Claim(t.Context(), "i", 1, 0))
	refused(j.TakeOver(t.Context(), "", "i", 1, time.Second))
	refused(j.TakeOver(t.Context(), "i", "", 1, time.Second))
	refused(j.Trim(t.Context(), -1))
	refused(nil, j.Fail(t.Context(), entry, -1))
	refused(nil, j.Renew(t.Context(), entry, 0))
	refused(nil, j.Acknowledge(t.Context(), layoutkit.JournalEntry[any]{Key: "k"}))
	refused(nil, j.Acknowledge(t.Context(), layoutkit.JournalEntry[any]{Instance: "i"}))
	nameless := layoutkit.Table[any](x.durability(t), "")
	refused(nameless.Append(t.Context(), "k", 1))
	refused(nameless.Count(t.Context()))
	refused(nameless.Trim(t.Context(), 0))
	if keys := x.keys(t); len(keys) != 0 {
		t.Errorf("written: %v", keys)
	}
}
