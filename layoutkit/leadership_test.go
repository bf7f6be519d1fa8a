package layoutkit_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/layoutkit"
)

// One replica leads at a time; the next has a greater term.
func TestLeadership(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		a, b := x.replica(t, "a"), x.replica(t, "b:*")
		_, _, err := a.Leader(t.Context(), "cron")
		wantError(t, err, layoutkit.ErrNotFound)

		first, err := a.Campaign(t.Context(), "cron")
		must(t, err)
		if first.Term() != 1 || first.Name() != "cron" {
			t.Errorf("term %d of %q", first.Term(), first.Name())
		}
		second := make(chan *layoutkit.Leadership, 1)
		go func() {
			l, err := b.Campaign(t.Context(), "cron")
			if err != nil {
				t.Error(err)
			}
			second <- l
		}()
		short, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		defer cancel()
		_, err = a.Campaign(short, "cron")
		wantError(t, err, context.DeadlineExceeded)

		leads := func(want string, wantTerm int64) {
			t.Helper()
			replica, term, err := b.Leader(t.Context(), "cron")
			must(t, err)
			if replica != want || term != wantTerm {
				t.Errorf("%q leads in term %d", replica, term)
			}
		}
		leads("a", 1)
		must(t, first.Resign(t.Context()))
		if cause := context.Cause(first.Context()); cause != context.Canceled {
			t.Errorf("cause %v", cause)
		}
		next := <-second
		if next == nil {
			t.FailNow()
		}
		leads("b:*", 2)
		wantError(t, first.Resign(t.Context()), layoutkit.ErrLost)
		must(t, next.Context().Err())
		must(t, next.Resign(t.Context()))

		base := "co:leader:cron"
		if x.layout == layoutkit.Cluster {
			base = "co:{ld:cron}"
		}
		if exists := x.client.Exists(t.Context(), x.key(base)).Val(); exists != 0 {
			t.Error("somebody leads")
		}
		if term := x.client.Get(t.Context(), x.key(base+":term")).Val(); term != "2" {
			t.Errorf("term %s", term)
		}
		if ttl := x.client.TTL(t.Context(), x.key(base+":term")).Val(); ttl != -1 {
			t.Errorf("the term lives for %v", ttl)
		}
	})
}

// A leader that dies is followed when its time is over, and its context ends before
// that; one that lives leads on.
func TestDeadLeaderIsFollowed(t *testing.T) {
	inTime(t, func(t *testing.T, x *target) {
		a, die := x.mortal(t, layoutkit.CoordinatorOptions{Replica: "a", LeaderTTL: 10 * time.Second})
		b := x.coordinator(t, layoutkit.CoordinatorOptions{Replica: "b"})
		lost, err := a.Campaign(t.Context(), "cron")
		must(t, err)
		day, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		_, err = b.Campaign(day, "cron")
		wantError(t, err, context.DeadlineExceeded)
		must(t, lost.Context().Err())

		die()
		died := time.Now()
		ended := make(chan time.Time, 1)
		context.AfterFunc(lost.Context(), func() { ended <- time.Now() })
		next, err := b.Campaign(t.Context(), "cron")
		must(t, err)
		led := time.Now()
		if took := led.Sub(died); took > 10*time.Second+10*time.Millisecond {
			t.Errorf("followed after %v", took)
		}
		if end := <-ended; !end.Before(led.Add(-500 * time.Millisecond)) {
			t.Errorf("the context ended %v before the next leader", led.Sub(end))
		}
		wantError(t, context.Cause(lost.Context()), layoutkit.ErrLost)
		if next.Term() != 2 {
			t.Errorf("term %d", next.Term())
		}
		must(t, next.Resign(t.Context()))
	})
}

// A campaign that is given up may have been won without word of it; it does not
// lead then.
func TestCampaignGivenUp(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		a := x.replica(t, "a")
		must(t, a.Start(t.Context()))
		for range 20 {
			ctx, cancel := context.WithCancel(t.Context())
			go cancel()
			l, err := a.Campaign(ctx, "cron")
			if err == nil {
				must(t, l.Resign(t.Context()))
			} else if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			cancel()
			if _, _, err := a.Leader(t.Context(), "cron"); !errors.Is(err, layoutkit.ErrNotFound) {
				t.Fatalf("somebody leads: %v", err)
			}
		}
	})
}
