package layoutkit_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fakecluster/fakecluster/layoutkit"
	"github.com/fakecluster/fakecluster/shim"
)

// participant is somebody who coordinates on one side, and remembers what it holds.
type participant struct {
	side
	locks  map[string]*layoutkit.Lock
	claims map[string]layoutkit.JournalEntry[text]
	tokens map[string]int64
	fences map[string]int64
}

func participants(t testing.TB, all []side) []*participant {
	var parts []*participant
	for _, s := range all {
		s.x.prefix = freshPrefix()
		s.store = s.x.store(t)
		parts = append(parts, &participant{
			side: s, locks: map[string]*layoutkit.Lock{}, claims: map[string]layoutkit.JournalEntry[text]{},
			tokens: map[string]int64{}, fences: map[string]int64{},
		})
	}
	return parts
}

// answer is an outcome, and the kinds of errors that coordination has beside those
// of the store.
func answer(value any, err error) string {
	for _, known := range []error{layoutkit.ErrHeld, layoutkit.ErrLost} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return outcome(value, err)
}

// action is one call of a participant.
type action func(t testing.TB, p *participant) string

// actions draws an action on few ids and holders, so that they meet.
func actions(t *rapid.T) action {
	id := rapid.SampledFrom([]string{"", "a", "b", "a:b", "{x}*", "\xff"}).Draw(t, "id")
	who := rapid.SampledFrom([]string{"", "i", "j", "i j"}).Draw(t, "who")
	ttl := rapid.SampledFrom([]time.Duration{-1, 0, time.Minute, 10 * time.Minute}).Draw(t, "ttl")
	due := rapid.SampledFrom([]time.Time{past, past.Add(time.Hour), past.AddDate(200, 0, 0), {}}).Draw(t, "due")
	number := rapid.Int64Range(0, 4).Draw(t, "number")
	value := text{rapid.SampledFrom([]string{"", "x", "y {}"}).Draw(t, "value")}
	switch rapid.IntRange(0, 4).Draw(t, "part") {
	case 0:
		return lockAction(rapid.IntRange(0, 2).Draw(t, "lock"), id, ttl)
	case 1:
		return leaseAction(rapid.IntRange(0, 2).Draw(t, "lease"), id, who, ttl)
	case 2, 3:
		return scheduleAction(rapid.IntRange(0, 6).Draw(t, "schedule"), id, ttl, due, number, value)
	default:
		return journalAction(rapid.IntRange(0, 6).Draw(t, "journal"), id, who, ttl, int(number), value)
	}
}

func lockAction(which int, key string, ttl time.Duration) action {
	return func(t testing.TB, p *participant) string {
		switch lock := p.locks[key]; {
		case which == 0 || lock == nil:
			lock, err := p.store.Locks().Acquire(t.Context(), key, ttl)
			if err != nil {
				return answer(nil, err)
			}
			if lock.Fence() <= p.fences[key] {
				t.Errorf("%s: fence %d after %d", p.name, lock.Fence(), p.fences[key])
			}
			p.locks[key], p.fences[key] = lock, lock.Fence()
			return answer(lock.Fence(), err)
		case which == 1:
			return answer(nil, lock.Renew(t.Context(), ttl))
		default:
			return answer(nil, lock.Release(t.Context()))
		}
	}
}

func leaseAction(which int, name, who string, ttl time.Duration) action {
	return func(t testing.TB, p *participant) string {
		leases := p.store.Leases()
		switch which {
		case 0:
			return answer(nil, leases.Acquire(t.Context(), name, who, ttl))
		case 1:
			return answer(nil, leases.Renew(t.Context(), name, who, ttl))
		default:
			return answer(nil, leases.Release(t.Context(), name, who))
		}
	}
}

func scheduleAction(which int, id string, ttl time.Duration, due time.Time, token int64, value text) action {
	return func(t testing.TB, p *participant) string {
		schedules := layoutkit.Schedules[text](p.store)
		switch which {
		case 0:
			return answer(schedules.Put(t.Context(), id, due, value))
		case 1:
			claim, err := schedules.Claim(t.Context(), id, ttl)
			if err == nil && claim.Token <= p.tokens[id] {
				t.Errorf("%s: token %d after %d", p.name, claim.Token, p.tokens[id])
			}
			if err == nil {
				p.tokens[id] = claim.Token
			}
			// The times come from the server's clock.
			return answer(fmt.Sprint(claim.Token, claim.Value), err)
		case 2:
			return answer(nil, schedules.Complete(t.Context(), id, token))
		case 3:
			return answer(nil, schedules.Complete(t.Context(), id, p.tokens[id]))
		case 4:
			return answer(nil, schedules.Reschedule(t.Context(), id, p.tokens[id], due))
		case 5:
			return answer(schedules.Delete(t.Context(), id))
		default:
			got, err := schedules.Get(t.Context(), id)
			return answer(fmt.Sprint(got.Token, got.Value), err)
		}
	}
}

func journalAction(which int, key, who string, ttl time.Duration, limit int, value text) action {
	return func(t testing.TB, p *participant) string {
		inbox := layoutkit.Inbox[text](p.store.Durability())
		taken := func(entries []layoutkit.JournalEntry[text], err error) string {
			for _, e := range entries {
				p.claims[e.Key] = e
			}
			return answer(entries, err)
		}
		switch claim := p.claims[key]; which {
		case 0, 1:
			return answer(inbox.Append(t.Context(), key, value))
		case 2:
			return taken(inbox.Claim(t.Context(), who, limit, ttl))
		case 3:
			return taken(inbox.TakeOver(t.Context(), claim.Instance, who, limit, ttl))
		case 4:
			return answer(nil, inbox.Acknowledge(t.Context(), claim))
		case 5:
			return answer(nil, inbox.Fail(t.Context(), claim, ttl))
		default:
			return answer(inbox.Trim(t.Context(), ttl)) + answer(nil, inbox.Renew(t.Context(), claim, ttl))
		}
	}
}

// whole is all that can be asked of schedules and the journal.
func (p *participant) whole(t testing.TB) string {
	schedules := layoutkit.Schedules[text](p.store)
	var lines []string
	for s, err := range schedules.List(t.Context()) {
		must(t, err)
		lines = append(lines, fmt.Sprintf("%q %d %v", s.ID, s.Token, s.Value))
	}
	slices.Sort(lines)
	due, err := schedules.Due(t.Context(), 2)
	must(t, err)
	for _, s := range due {
		lines = append(lines, fmt.Sprintf("due: %q", s.ID))
	}
	lines = append(lines, answer(layoutkit.Inbox[text](p.store.Durability()).Count(t.Context())))
	return strings.Join(lines, "\n")
}

// Both layouts, on a cluster and on a single server, give the same answers to the
// same claims; fences and tokens only grow.
func TestLayoutsCoordinateAlike(t *testing.T) {
	t.Run("emulator", func(t *testing.T) {
		all := sides(t, "emulator")
		// A lease of one or ten minutes is far from its end after any number of these,
		// or long over.
		passes := rapid.SampledFrom([]time.Duration{0, 0, 0, 0, 0, 10 * time.Millisecond, 61 * time.Second, time.Hour})
		rapid.Check(t, func(r *rapid.T) {
			coordinateAlike(t, r, participants(t, all), func() {
				d := passes.Draw(r, "time passes")
				for _, s := range all {
					s.x.emulator.Advance(d + time.Millisecond) // order of appending
				}
			})
		})
	})
	t.Run("real", func(t *testing.T) {
		all := sides(t, "real")
		rapid.Check(t, func(r *rapid.T) { coordinateAlike(t, r, participants(t, all), func() {}) })
	})
}

func coordinateAlike(t *testing.T, r *rapid.T, parts []*participant, between func()) {
	for range rapid.IntRange(1, 40).Draw(r, "actions") {
		between()
		do := actions(r)
		same(r, parts, "answers", func(p *participant) string { return do(t, p) })
	}
	same(r, parts, "holds", func(p *participant) string { return p.whole(t) })
	for _, p := range parts {
		if _, err := shim.DeleteMatching(t.Context(), p.x.client, p.x.prefix+":*"); err != nil {
			t.Fatal(err)
		}
	}
}
