package layoutkit_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/layoutkit"
)

type job struct{ Do string }

// past is a time that is due on every server.
var past = time.UnixMilli(1_000_000_000_000)

func TestSchedules(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		schedules := layoutkit.Schedules[job](x.store(t))
		_, err := schedules.Get(t.Context(), "a")
		wantError(t, err, layoutkit.ErrNotFound)
		_, err = schedules.Claim(t.Context(), "a", time.Minute)
		wantError(t, err, layoutkit.ErrNotFound)

		token, err := schedules.Put(t.Context(), "a", past.Add(1500*time.Microsecond), job{"sing"})
		must(t, err)
		got, err := schedules.Get(t.Context(), "a")
		must(t, err)
		want := layoutkit.Schedule[job]{ID: "a", Due: past.Add(time.Millisecond), Value: job{"sing"}}
		if token != 0 || got != want {
			t.Fatalf("token %d, %+v", token, got)
		}

		claim, err := schedules.Claim(t.Context(), "a", time.Minute)
		must(t, err)
		if claim.Token != 1 || claim.Due != want.Due || claim.Value != want.Value || claim.ID != "a" {
			t.Errorf("claim %+v", claim)
		}
		_, err = schedules.Claim(t.Context(), "a", time.Minute)
		wantError(t, err, layoutkit.ErrHeld)
		got, err = schedules.Get(t.Context(), "a")
		must(t, err)
		if got.Due != claim.Until || got.Token != 1 {
			t.Errorf("claimed: %+v, until %v", got, claim.Until)
		}

		wantError(t, schedules.Reschedule(t.Context(), "a", 0, past), layoutkit.ErrLost)
		wantError(t, schedules.Complete(t.Context(), "a", 2), layoutkit.ErrLost)
		must(t, schedules.Reschedule(t.Context(), "a", 1, past.Add(time.Hour)))
		again, err := schedules.Claim(t.Context(), "a", time.Minute)
		must(t, err)
		if again.Token != 2 || again.Due != past.Add(time.Hour) {
			t.Errorf("claim %+v", again)
		}
		wantError(t, schedules.Complete(t.Context(), "a", 1), layoutkit.ErrLost)
		must(t, schedules.Complete(t.Context(), "a", 2))
		must(t, schedules.Complete(t.Context(), "a", 2))
		wantError(t, schedules.Reschedule(t.Context(), "a", 2, past), layoutkit.ErrLost)
		_, err = schedules.Get(t.Context(), "a")
		wantError(t, err, layoutkit.ErrNotFound)

		token, err = schedules.Put(t.Context(), "a", past, job{"again"})
		must(t, err)
		if token != 3 {
			t.Errorf("token %d over the tombstone of 2", token)
		}
		wantError(t, schedules.Complete(t.Context(), "a", 2), layoutkit.ErrLost)
		for _, want := range []bool{true, false} {
			was, err := schedules.Delete(t.Context(), "a")
			must(t, err)
			if was != want {
				t.Errorf("deleted: %v", was)
			}
		}
		must(t, schedules.Complete(t.Context(), "a", 3)) // it is over
	})
}

// Records, tombstones and indexes are spelled as the contract says. The buckets were
// computed by hand: 32-bit FNV-1a of "a" is 0xe40c292c, of "job:1" 0xafa75c19.
func TestScheduleKeys(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		schedules := layoutkit.Schedules[job](x.store(t))
		for _, id := range []string{"a", "job:1"} {
			_, err := schedules.Put(t.Context(), id, past, job{"x"})
			must(t, err)
		}
		_, err := schedules.Claim(t.Context(), "a", time.Minute)
		must(t, err)
		_, err = schedules.Delete(t.Context(), "a")
		must(t, err)
		a, job1 := "schedule:a", "schedule:job%3A1"
		want := []string{a, job1}
		if x.layout == layoutkit.Cluster {
			a, job1 = "{sc:12}:r:a", "{sc:25}:r:job%3A1"
			want = []string{"{sc:12}:idx", a, "{sc:25}:idx", job1}
			for index, want := range map[string]string{"{sc:12}:idx": "a +Inf", "{sc:25}:idx": "job:1 1000000000000"} {
				all := x.client.ZRangeWithScores(t.Context(), x.key(index), 0, -1).Val()
				if len(all) != 1 {
					t.Errorf("%s holds %v", index, all)
				} else if is := fmt.Sprint(all[0].Member, " ", score(all[0].Score)); is != want {
					t.Errorf("%s holds %s", index, is)
				}
			}
		}
		if keys := x.keys(t); !slices.Equal(keys, want) {
			t.Errorf("keys %v", keys)
		}
		for key, want := range map[string]string{a: "1 -", job1: `0 1000000000000 {"Do":"x"}`} {
			if is := x.client.Get(t.Context(), x.key(key)).Val(); is != want {
				t.Errorf("%s is %s", key, is)
			}
		}
	})
}

func score(f float64) string {
	if math.IsInf(f, 1) {
		return "+Inf"
	}
	return fmt.Sprintf("%.0f", f)
}

// What is due is listed in its order, from all buckets or some; what is not, is not.
func TestDueSchedules(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		schedules := layoutkit.Schedules[int](x.store(t))
		const n = 100
		for i := range n {
			due := past.Add(time.Duration(n-i) * time.Second)
			if i%10 == 0 {
				due = time.Now().Add(time.Hour)
			}
			_, err := schedules.Put(t.Context(), fmt.Sprint("id ", i), due, i)
			must(t, err)
		}
		_, err := schedules.Claim(t.Context(), "id 1", time.Hour)
		must(t, err)
		_, err = schedules.Delete(t.Context(), "id 2")
		must(t, err)

		due, err := schedules.Due(t.Context(), n)
		must(t, err)
		if len(due) != n-10-2 {
			t.Errorf("%d are due", len(due))
		}
		for i := 1; i < len(due); i++ {
			if due[i].Due.Before(due[i-1].Due) {
				t.Errorf("%v after %v", due[i], due[i-1])
			}
		}
		var parts int
		for bucket := range layoutkit.Buckets {
			some, err := schedules.Due(t.Context(), n, bucket)
			must(t, err)
			parts += len(some)
			first, err := schedules.Due(t.Context(), 1, bucket)
			must(t, err)
			if len(first) != min(1, len(some)) || len(first) == 1 && first[0] != some[0] {
				t.Errorf("the first of bucket %d: %v of %v", bucket, first, some)
			}
		}
		if parts != len(due) {
			t.Errorf("the buckets hold %d of %d", parts, len(due))
		}
		listed := map[string]bool{}
		for s, err := range schedules.List(t.Context()) {
			must(t, err)
			listed[s.ID] = true
		}
		if len(listed) != n-1 || listed["id 2"] {
			t.Errorf("%d listed", len(listed))
		}
	})
}

// A schedule that was claimed is due again when the lease is over.
func TestScheduleLease(t *testing.T) {
	inTime(t, func(t *testing.T, x *target) {
		schedules := layoutkit.Schedules[job](x.store(t))
		_, err := schedules.Put(t.Context(), "a", time.Now().Add(time.Hour), job{"x"})
		must(t, err)
		dead, err := schedules.Claim(t.Context(), "a", time.Minute)
		wantError(t, err, layoutkit.ErrHeld)
		time.Sleep(time.Hour)
		dead, err = schedules.Claim(t.Context(), "a", time.Minute)
		must(t, err)
		if until := time.Until(dead.Until); until != time.Minute.Truncate(time.Millisecond) {
			t.Errorf("claimed for %v", until)
		}
		due, err := schedules.Due(t.Context(), 10)
		must(t, err)
		if len(due) != 0 {
			t.Errorf("due: %v", due)
		}
		time.Sleep(time.Minute)
		due, err = schedules.Due(t.Context(), 10)
		must(t, err)
		if len(due) != 1 {
			t.Fatalf("due: %v", due)
		}
		next, err := schedules.Claim(t.Context(), due[0].ID, time.Minute)
		must(t, err)
		wantError(t, schedules.Reschedule(t.Context(), "a", dead.Token, past), layoutkit.ErrLost)
		must(t, schedules.Complete(t.Context(), "a", next.Token))
	})
}

// What cannot be read is said, and hides nothing else.
func TestCorruptSchedule(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		schedules := layoutkit.Schedules[job](x.store(t))
		for _, id := range []string{"a", "b", "c"} {
			_, err := schedules.Put(t.Context(), id, past, job{id})
			must(t, err)
		}
		a, b := "schedule:a", "schedule:b"
		if x.layout == layoutkit.Cluster {
			a, b = "{sc:12}:r:a", "{sc:5}:r:b" // FNV-1a of "b" is 0xe70c2de5
		}
		must(t, x.client.Set(t.Context(), x.key(a), "not a schedule", 0).Err())
		must(t, x.client.Set(t.Context(), x.key(b), "3 1000000000000 {", 0).Err())
		due, err := schedules.Due(t.Context(), 10)
		wantError(t, err, layoutkit.ErrCorrupt)
		if len(due) != 1 || due[0].ID != "c" {
			t.Errorf("due: %v", due)
		}
		var corrupt []string
		for s, err := range schedules.List(t.Context()) {
			if errors.Is(err, layoutkit.ErrCorrupt) {
				corrupt = append(corrupt, s.ID)
			} else if err != nil || s.ID != "c" {
				t.Errorf("listed: %v, %v", s, err)
			}
		}
		slices.Sort(corrupt)
		if !slices.Equal(corrupt, []string{"a", "b"}) {
			t.Errorf("corrupt: %v", corrupt)
		}
		_, err = schedules.Get(t.Context(), "a")
		wantError(t, err, layoutkit.ErrCorrupt)
		_, err = schedules.Claim(t.Context(), "a", time.Minute)
		wantError(t, err, layoutkit.ErrCorrupt)
		_, err = schedules.Put(t.Context(), "a", past, job{"x"})
		wantError(t, err, layoutkit.ErrCorrupt)
		_, err = schedules.Delete(t.Context(), "a")
		wantError(t, err, layoutkit.ErrCorrupt)
		wantError(t, schedules.Complete(t.Context(), "a", 1), layoutkit.ErrLost)
		claim, err := schedules.Claim(t.Context(), "b", time.Minute)
		wantError(t, err, layoutkit.ErrCorrupt)
		must(t, schedules.Complete(t.Context(), "b", claim.Token))
	})
}

func TestSchedulesRefuse(t *testing.T) {
	x := find(t, "emulator/cluster").target(t)
	schedules, err := layoutkit.NewSchedules[any](x.options())
	must(t, err)
	defer schedules.Close()
	refused := func(_ any, err error) {
		t.Helper()
		wantError(t, err, layoutkit.ErrInvalid)
	}
	refused(schedules.Put(t.Context(), "", past, 1))
	refused(schedules.Put(t.Context(), "a", time.UnixMilli(-1), 1))
	refused(schedules.Put(t.Context(), "a", time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), 1))
	refused(schedules.Put(t.Context(), "a", past, make(chan int)))
	refused(schedules.Get(t.Context(), ""))
	refused(schedules.Delete(t.Context(), ""))
	refused(schedules.Claim(t.Context(), "", time.Second))
	refused(schedules.Claim(t.Context(), "a", 0))
	refused(nil, schedules.Complete(t.Context(), "", 1))
	refused(nil, schedules.Reschedule(t.Context(), "", 1, past))
	refused(nil, schedules.Reschedule(t.Context(), "a", 1, time.Time{}))
	refused(schedules.Due(t.Context(), 0))
	refused(schedules.Due(t.Context(), 1, layoutkit.Buckets))
	refused(schedules.Due(t.Context(), 1, -1))
	refused(layoutkit.NewSchedules[any](layoutkit.Options{Prefix: "p"}))
	if keys := x.keys(t); len(keys) != 0 {
		t.Errorf("written: %v", keys)
	}
}

// awkward are ids of every sort.
func awkward() []string {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	return []string{
		"{", "}", "{a}", "a:b", "*", "?", "[a]", `\`, "%", "%2A", "é", "日本", "\x00", "\xff", " ", "-", "a b", "\r\n",
		string(every), strings.Repeat("long", 256),
	}
}

func TestAwkwardSchedules(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		schedules := layoutkit.Schedules[json.RawMessage](x.store(t))
		value := json.RawMessage(`"` + strings.Repeat("v", 100_000) + `"`)
		for _, id := range awkward() {
			_, err := schedules.Put(t.Context(), id, past, value)
			must(t, err)
		}
		due, err := schedules.Due(t.Context(), 100)
		must(t, err)
		var ids []string
		for _, s := range due {
			ids = append(ids, s.ID)
			claim, err := schedules.Claim(t.Context(), s.ID, time.Minute)
			must(t, err)
			if claim.ID != s.ID || string(claim.Value) != string(value) {
				t.Errorf("claimed %q, not %q", claim.ID, s.ID)
			}
			must(t, schedules.Complete(t.Context(), s.ID, claim.Token))
		}
		want := awkward()
		slices.Sort(ids)
		slices.Sort(want)
		if !slices.Equal(ids, want) {
			t.Errorf("due: %q", ids)
		}
	})
}

// A script that meets a key of another type writes nothing.
func TestScheduleIsNotHalfWritten(t *testing.T) {
	for _, name := range []string{"emulator/cluster", "real/cluster"} {
		t.Run(name, func(t *testing.T) {
			x := find(t, name).target(t)
			schedules := layoutkit.Schedules[job](x.store(t))
			_, err := schedules.Put(t.Context(), "a", past, job{"x"})
			must(t, err)
			must(t, x.client.Set(t.Context(), x.key("{sc:12}:idx"), "odd", 0).Err())
			_, err = schedules.Put(t.Context(), "a", past, job{"y"})
			wantError(t, err, layoutkit.ErrCorrupt)
			_, err = schedules.Claim(t.Context(), "a", time.Minute)
			wantError(t, err, layoutkit.ErrCorrupt)
			_, err = schedules.Delete(t.Context(), "a")
			wantError(t, err, layoutkit.ErrCorrupt)
			wantError(t, schedules.Reschedule(t.Context(), "a", 0, past.Add(time.Hour)), layoutkit.ErrCorrupt)
			wantError(t, schedules.Complete(t.Context(), "a", 0), layoutkit.ErrCorrupt)
			_, err = schedules.Due(t.Context(), 1)
			wantError(t, err, layoutkit.ErrCorrupt)
			if record := x.client.Get(t.Context(), x.key("{sc:12}:r:a")).Val(); record != `0 1000000000000 {"Do":"x"}` {
				t.Errorf("the record is %s", record)
			}
		})
	}
}
