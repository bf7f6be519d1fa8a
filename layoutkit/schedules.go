package layoutkit

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/shim"
)

var (
	schedulePut        = script("schedule_put", "record", "index...")
	scheduleClaim      = script("schedule_claim", "record", "index...")
	scheduleReschedule = script("schedule_reschedule", "record", "index...")
	scheduleComplete   = script("schedule_complete", "record", "index...")
	scheduleDelete     = script("schedule_delete", "record", "index...")
	scheduleDue        = script("schedule_due", "index")
)

// Schedule is a value with a time at which it is due.
type Schedule[T any] struct {
	ID    string
	Due   time.Time // in whole milliseconds
	Token int64     // of the latest claim
	Value T
}

// Claim is the right to do what a schedule says, until its lease is over.
type Claim[T any] struct {
	Schedule[T]           // with the time at which it was due
	Until       time.Time // the end of the lease, by the server's clock
}

// ScheduleSet are the schedules of a store.
//
// A claim has a token, which is greater than all tokens of the schedule before it;
// only the holder of the greatest can complete or reschedule it. Who died with a
// claim is followed by another when the lease is over: the schedule is due again
// then. A schedule that ends leaves a tombstone for ever, so that its id never gets
// a smaller token: use ids that come again, or few.
type ScheduleSet[T any] struct{ base *base }

// NewSchedules makes a schedule set without I/O. Its errors wrap ErrInvalid.
func NewSchedules[T any](o Options) (ScheduleSet[T], error) {
	b, err := newBase(o)
	if err != nil {
		return ScheduleSet[T]{}, err
	}
	return ScheduleSet[T]{b}, nil
}

// Schedules are the schedules of the store's client, prefix and layout.
func Schedules[T any](s *Store) ScheduleSet[T] { return ScheduleSet[T]{s.lent()} }

// Close closes the client if the kit made it for these schedules.
func (s ScheduleSet[T]) Close() error { return s.base.close() }

// Put writes a schedule, whatever is there, and returns its token. due is rounded
// down to a millisecond and must not be before 1970. Who has claimed what was there
// before cannot complete or reschedule this.
func (s ScheduleSet[T]) Put(ctx context.Context, id string, due time.Time, value T) (token int64, err error) {
	ms, err := dueTime(due)
	if err != nil {
		return 0, err
	}
	text, err := encode(value)
	if err != nil {
		return 0, err
	}
	cmd, err := s.run(ctx, schedulePut, id, ms, text)
	if err != nil {
		return 0, err
	}
	if token, err = cmd.Int64(); err != nil {
		return 0, failed("writing a schedule", err)
	}
	return token, nil
}

// lastDue is the greatest time, in Unix ms, that the scores of an index tell from
// the next.
const lastDue = 1 << 53

func dueTime(due time.Time) (ms int64, err error) {
	if ms = due.UnixMilli(); due.Unix() < 0 || due.Year() > 9999 || ms >= lastDue {
		return 0, invalid("the time %v cannot be scheduled: use one of the years 1970 to 9999", due)
	}
	return ms, nil
}

// run runs a script on a schedule.
func (s ScheduleSet[T]) run(ctx context.Context, operation *shim.Script, id string, args ...any) (*redis.Cmd, error) {
	if err := needed("schedule id", id); err != nil {
		return nil, err
	}
	return s.base.script(ctx, operation, s.base.names.recordKeys(schedules, id), append([]any{id}, args...)...), nil
}

// Get reads a schedule. The error is ErrNotFound if there is none.
func (s ScheduleSet[T]) Get(ctx context.Context, id string) (Schedule[T], error) {
	if err := needed("schedule id", id); err != nil {
		return Schedule[T]{}, err
	}
	text, err := s.base.client.Get(ctx, s.base.names.record(schedules, id)).Result()
	if errors.Is(err, redis.Nil) {
		return Schedule[T]{}, fmt.Errorf("%w: schedule %q", ErrNotFound, id)
	}
	if err != nil {
		return Schedule[T]{}, failed("reading a schedule", err)
	}
	return readSchedule[T](id, text)
}

// readSchedule is the schedule that a record holds. The error is ErrNotFound if it
// is a tombstone.
func readSchedule[T any](id, text string) (Schedule[T], error) {
	record, err := parseSchedule(text)
	if err != nil {
		return Schedule[T]{ID: id}, fmt.Errorf("schedule %q: %w", id, err)
	}
	if record.deleted {
		return Schedule[T]{ID: id}, fmt.Errorf("%w: schedule %q", ErrNotFound, id)
	}
	value, err := decode[T](record.json)
	return Schedule[T]{id, time.UnixMilli(record.due), record.token, value}, err
}

// Delete ends a schedule, whoever has claimed it, and reports whether it was there.
func (s ScheduleSet[T]) Delete(ctx context.Context, id string) (bool, error) {
	cmd, err := s.run(ctx, scheduleDelete, id)
	if err != nil {
		return false, err
	}
	n, err := cmd.Int()
	if err != nil {
		return false, failed("deleting a schedule", err)
	}
	return n == 1, nil
}

// Claim gives the caller a schedule that is due, until lease is over, at least 1 ms
// from now. The error is ErrNotFound if there is no such schedule and ErrHeld if it
// is not due: not yet, or not any more because somebody else has claimed it.
func (s ScheduleSet[T]) Claim(ctx context.Context, id string, lease time.Duration) (Claim[T], error) {
	if err := holdable(lease); err != nil {
		return Claim[T]{}, err
	}
	cmd, err := s.run(ctx, scheduleClaim, id, lease.Milliseconds())
	if err != nil {
		return Claim[T]{}, err
	}
	reply, err := cmd.Slice()
	if err != nil {
		return Claim[T]{}, failed("claiming a schedule", err)
	}
	number := func(i int) int64 { n, _ := reply[i].(int64); return n }
	switch number(0) {
	case 0:
		return Claim[T]{}, fmt.Errorf("%w: schedule %q", ErrNotFound, id)
	case 2:
		return Claim[T]{}, fmt.Errorf("%w: schedule %q is not due before %v", ErrHeld, id, time.UnixMilli(number(1)))
	}
	text, _ := reply[4].(string)
	value, err := decode[T](text)
	return Claim[T]{Schedule[T]{id, time.UnixMilli(number(2)), number(1), value}, time.UnixMilli(number(3))}, err
}

// Complete ends the schedule that was claimed with a token. The error is ErrLost if
// it was claimed or written since. It may be called again.
func (s ScheduleSet[T]) Complete(ctx context.Context, id string, token int64) error {
	cmd, err := s.run(ctx, scheduleComplete, id, token)
	if err != nil {
		return err
	}
	return held(fmt.Sprintf("completing schedule %q", id), cmd)
}

// Reschedule gives the schedule that was claimed with a token another time: the
// next one of a repeated schedule, a later one after a failure, or the end of a
// longer lease. The token stays. The error is ErrLost if it was claimed, written or
// deleted since.
func (s ScheduleSet[T]) Reschedule(ctx context.Context, id string, token int64, due time.Time) error {
	ms, err := dueTime(due)
	if err != nil {
		return err
	}
	cmd, err := s.run(ctx, scheduleReschedule, id, token, ms)
	if err != nil {
		return err
	}
	return held(fmt.Sprintf("rescheduling %q", id), cmd)
}

// Due returns schedules that are due by the server's clock, the longest due first,
// from all buckets or those given; buckets let replicas share the work. limit
// bounds how many each bucket gives, at least 1. An ErrCorrupt is about some, and the
// others come with it.
//
// What is due in a bucket costs a read of its index, and of the records if there
// are any. The Legacy layout walks the whole server.
func (s ScheduleSet[T]) Due(ctx context.Context, limit int, buckets ...int) ([]Schedule[T], error) {
	if limit < 1 {
		return nil, invalid("the limit %d is too small: use 1 or more", limit)
	}
	chosen, err := chosenBuckets(buckets)
	if err != nil {
		return nil, err
	}
	var due []Schedule[T]
	if s.base.names.layout == Legacy {
		due, err = s.dueOfAll(ctx, limit, chosen)
	} else {
		due, err = s.dueOfBuckets(ctx, limit, chosen)
	}
	slices.SortFunc(due, before)
	return due, err
}

// before orders schedules by time, those of the same time by id.
func before[T any](a, b Schedule[T]) int {
	if c := a.Due.Compare(b.Due); c != 0 {
		return c
	}
	return strings.Compare(a.ID, b.ID)
}

// chosenBuckets says of each bucket whether it was chosen.
func chosenBuckets(buckets []int) (chosen [Buckets]bool, err error) {
	for _, bucket := range buckets {
		if bucket < 0 || bucket >= Buckets {
			return chosen, invalid("there is no bucket %d: use 0 to %d, or none for all", bucket, Buckets-1)
		}
		chosen[bucket] = true
	}
	if len(buckets) == 0 {
		for bucket := range chosen {
			chosen[bucket] = true
		}
	}
	return chosen, nil
}

// dueOfBuckets asks the index of each bucket.
func (s ScheduleSet[T]) dueOfBuckets(ctx context.Context, limit int, chosen [Buckets]bool) ([]Schedule[T], error) {
	pipe := s.base.client.Pipeline()
	var replies []*redis.Cmd
	for bucket, is := range chosen {
		if is {
			replies = append(replies, scheduleDue.Run(ctx, pipe, []string{s.base.names.index(schedules, bucket)}, limit))
		}
	}
	_, _ = pipe.Exec(ctx) // each reply has its own error
	var due []Schedule[T]
	var corrupt []error
	for _, reply := range replies {
		now, ids, err := dueIDs(reply)
		if err != nil {
			return nil, failed("looking for due schedules", err)
		}
		if len(ids) == 0 {
			continue
		}
		for schedule, err := range s.read(ctx, ids) {
			switch {
			case errors.Is(err, ErrCorrupt):
				corrupt = append(corrupt, err)
			case err != nil:
				return nil, err
			case schedule.Due.UnixMilli() <= now: // not claimed since
				due = append(due, schedule)
			}
		}
	}
	return due, errors.Join(corrupt...)
}

// dueIDs is what schedule_due returns.
func dueIDs(reply *redis.Cmd) (now int64, ids []string, err error) {
	values, err := reply.Slice()
	if err != nil {
		return 0, nil, err
	}
	now, _ = values[0].(int64)
	listed, _ := values[1].([]any)
	for _, id := range listed {
		text, _ := id.(string)
		ids = append(ids, text)
	}
	return now, ids, nil
}

// dueOfAll looks at all schedules.
func (s ScheduleSet[T]) dueOfAll(ctx context.Context, limit int, chosen [Buckets]bool) ([]Schedule[T], error) {
	now, err := s.base.client.Time(ctx).Result()
	if err != nil {
		return nil, failed("reading the server's time", err)
	}
	var ofBucket [Buckets][]Schedule[T]
	var corrupt []error
	for schedule, err := range s.List(ctx) {
		switch bucket := bucketOf(schedule.ID); {
		case err != nil && !errors.Is(err, ErrCorrupt):
			return nil, err
		case !chosen[bucket]:
		case err != nil:
			corrupt = append(corrupt, err)
		case !schedule.Due.After(now):
			ofBucket[bucket] = append(ofBucket[bucket], schedule)
		}
	}
	var due []Schedule[T]
	for _, some := range ofBucket {
		slices.SortFunc(some, before)
		due = append(due, some[:min(limit, len(some))]...)
	}
	return due, errors.Join(corrupt...)
}

// List yields all schedules, in no order. Those that come or go meanwhile may be
// yielded or not, all others are yielded once. An ErrCorrupt is about the schedule
// whose id comes with it, and the list goes on; any other error ends it.
func (s ScheduleSet[T]) List(ctx context.Context) iter.Seq2[Schedule[T], error] {
	return func(yield func(Schedule[T], error) bool) {
		for ids, err := range s.base.idGroups(ctx, schedules) {
			if err != nil {
				yield(Schedule[T]{}, err)
				return
			}
			for schedule, err := range s.read(ctx, ids) {
				if !yield(schedule, err) || err != nil && !errors.Is(err, ErrCorrupt) {
					return
				}
			}
		}
	}
}

// read yields the schedules of ids that share a slot, without tombstones.
func (s ScheduleSet[T]) read(ctx context.Context, ids []string) iter.Seq2[Schedule[T], error] {
	return func(yield func(Schedule[T], error) bool) {
		keys := make([]string, len(ids))
		for i, id := range ids {
			keys[i] = s.base.names.record(schedules, id)
		}
		texts, err := s.base.values(ctx, keys)
		if err != nil {
			yield(Schedule[T]{}, err)
			return
		}
		for i, text := range texts {
			if text == nil {
				continue
			}
			schedule, err := readSchedule[T](ids[i], *text)
			if !errors.Is(err, ErrNotFound) && !yield(schedule, err) {
				return
			}
		}
	}
}
