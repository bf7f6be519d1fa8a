package layoutkit

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/shim"
)

var (
	journalAppend      = script("journal_append", "entries", "due", "done")
	journalClaim       = script("journal_claim", "entries", "due", "claims")
	journalTakeOver    = script("journal_take_over", "entries", "due", "claims")
	journalRenew       = script("journal_renew", "entries", "due")
	journalAcknowledge = script("journal_acknowledge", "entries", "due", "claims", "done")
	journalFail        = script("journal_fail", "entries", "due", "claims")
	journalCount       = script("journal_count", "due", "claims", "done")
	journalTrim        = script("journal_trim", "done")
)

// Durability keeps journals of what must be done at least once although instances
// die: an inbox of what came, an outbox of what is to be sent. Each table is in one
// slot, under the same names in both layouts.
type Durability struct{ *base }

// NewDurability makes a durability without I/O. Its errors wrap ErrInvalid.
func NewDurability(o Options) (*Durability, error) {
	b, err := newBase(o)
	if err != nil {
		return nil, err
	}
	return &Durability{b}, nil
}

// Durability is the durability of the store's client and prefix.
func (s *Store) Durability() *Durability { return &Durability{s.lent()} }

// Close closes the client if the kit made it for this durability.
func (d *Durability) Close() error { return d.close() }

// Journal is a table of entries, each of which somebody must claim, work on and
// acknowledge. Who fails, or dies, is followed by another. So the work may be done
// more than once: JournalEntry.Key and JournalEntry.Attempt let its receiver notice.
type Journal[T any] struct {
	base  *base
	table string
}

// Table is the journal of a name.
func Table[T any](d *Durability, name string) Journal[T] { return Journal[T]{d.base, name} }

// Inbox is the journal of what came in and is to be worked on.
func Inbox[T any](d *Durability) Journal[T] { return Table[T](d, "inbox") }

// Outbox is the journal of what is to be sent.
func Outbox[T any](d *Durability) Journal[T] { return Table[T](d, "outbox") }

// JournalEntry is a claimed entry of a journal.
type JournalEntry[T any] struct {
	Key      string
	Instance string // who has claimed it
	Attempt  int64  // how often it was claimed; it fences earlier claims
	Value    T
	Err      error // ErrCorrupt if the value cannot be read
}

// Append writes an entry that may be claimed at once. The key makes it idempotent:
// it reports false, and nothing was written, if an entry of that key was appended
// before, unless Trim has forgotten it.
func (j Journal[T]) Append(ctx context.Context, key string, value T) (appended bool, err error) {
	if err := needed("idempotency key", key); err != nil {
		return false, err
	}
	text, err := encode(value)
	if err != nil {
		return false, err
	}
	cmd, err := j.run(ctx, journalAppend, []string{"entries", "due", "done"}, key, text)
	if err != nil {
		return false, err
	}
	n, err := cmd.Int()
	if err != nil {
		return false, failed("appending to the journal "+j.table, err)
	}
	return n == 1, nil
}

// run runs a script on parts of the table.
func (j Journal[T]) run(ctx context.Context, operation *shim.Script, parts []string, args ...any) (*redis.Cmd, error) {
	if err := needed("table", j.table); err != nil {
		return nil, err
	}
	keys := make([]string, len(parts))
	for i, part := range parts {
		keys[i] = j.base.names.journal(j.table, part)
	}
	return j.base.script(ctx, operation, keys, args...), nil
}

// mostClaims bounds how long a script that claims holds its server up.
const mostClaims = 1000

// Claim gives an instance up to limit entries, 1000 at most, for lease: those that
// wait, the longest waiting first, and those whose lease is over.
func (j Journal[T]) Claim(ctx context.Context, instance string, limit int, lease time.Duration) ([]JournalEntry[T], error) {
	if err := checkClaim(instance, limit, lease); err != nil {
		return nil, err
	}
	cmd, err := j.run(ctx, journalClaim, []string{"entries", "due", "claims"},
		escape(instance), min(limit, mostClaims), lease.Microseconds())
	if err != nil {
		return nil, err
	}
	return readEntries[T](instance, cmd)
}

// TakeOver gives an instance up to limit entries, 1000 at most, that a dead one has
// claimed, although its leases are not over. Coordinator.Alive tells who is dead.
func (j Journal[T]) TakeOver(ctx context.Context, dead, instance string, limit int, lease time.Duration) ([]JournalEntry[T], error) {
	if err := needed("dead instance", dead); err != nil {
		return nil, err
	}
	if err := checkClaim(instance, limit, lease); err != nil {
		return nil, err
	}
	cmd, err := j.run(ctx, journalTakeOver, []string{"entries", "due", "claims"},
		escape(dead), escape(instance), min(limit, mostClaims), lease.Microseconds())
	if err != nil {
		return nil, err
	}
	return readEntries[T](instance, cmd)
}

func checkClaim(instance string, limit int, lease time.Duration) error {
	if err := needed("instance", instance); err != nil {
		return err
	}
	if limit < 1 {
		return invalid("the limit %d is too small: use 1 or more", limit)
	}
	return holdable(lease)
}

func readEntries[T any](instance string, cmd *redis.Cmd) ([]JournalEntry[T], error) {
	reply, err := cmd.Slice()
	if err != nil {
		return nil, failed("claiming entries of a journal", err)
	}
	entries := make([]JournalEntry[T], 0, len(reply)/3)
	for ; len(reply) >= 3; reply = reply[3:] {
		key, _ := reply[0].(string)
		attempt, _ := reply[1].(int64)
		text, _ := reply[2].(string)
		value, err := decode[T](text)
		entries = append(entries, JournalEntry[T]{key, instance, attempt, value, err})
	}
	return entries, nil
}

// settle runs a script on an entry that is claimed. The error is ErrLost if it is
// not any more.
func (j Journal[T]) settle(ctx context.Context, doing string, operation *shim.Script, parts []string, e JournalEntry[T], more ...any) error {
	if err := needed("idempotency key", e.Key); err != nil {
		return err
	}
	if err := needed("instance", e.Instance); err != nil {
		return err
	}
	cmd, err := j.run(ctx, operation, parts, append([]any{e.Key, e.Attempt, escape(e.Instance)}, more...)...)
	if err != nil {
		return err
	}
	return held(fmt.Sprintf("%s entry %q of the journal %s", doing, e.Key, j.table), cmd)
}

// Renew gives a claimed entry another lease from now. The error is ErrLost if it was
// claimed by another or settled since.
func (j Journal[T]) Renew(ctx context.Context, e JournalEntry[T], lease time.Duration) error {
	if err := holdable(lease); err != nil {
		return err
	}
	return j.settle(ctx, "renewing", journalRenew, []string{"entries", "due"}, e, lease.Microseconds())
}

// Acknowledge ends a claimed entry: its work is done. The error is ErrLost if it was
// claimed by another or settled since.
func (j Journal[T]) Acknowledge(ctx context.Context, e JournalEntry[T]) error {
	return j.settle(ctx, "acknowledging", journalAcknowledge, []string{"entries", "due", "claims", "done"}, e)
}

// Fail lets a claimed entry be claimed again after a while, for which Backoff is a
// good choice. The error is ErrLost if it was claimed by another or settled since.
func (j Journal[T]) Fail(ctx context.Context, e JournalEntry[T], after time.Duration) error {
	if after < 0 {
		return invalid("the pause %v is negative: use 0 or more", after)
	}
	return j.settle(ctx, "failing", journalFail, []string{"entries", "due", "claims"}, e, after.Microseconds())
}

// Backoff is 1 s after the first attempt and doubles with every other, up to 5 min.
func (e JournalEntry[T]) Backoff() time.Duration {
	const most = 5 * time.Minute
	if e.Attempt > 16 {
		return most
	}
	return min(time.Second<<max(e.Attempt-1, 0), most)
}

// JournalCounts are the entries of a journal.
type JournalCounts struct {
	Entries int64 // not acknowledged
	Claimed int64 // of those
	Due     int64 // of those, to be had by Claim now: not claimed, or the lease is over
	Done    int64 // acknowledged and not forgotten
}

// Count counts the entries of the journal.
func (j Journal[T]) Count(ctx context.Context) (JournalCounts, error) {
	cmd, err := j.run(ctx, journalCount, []string{"due", "claims", "done"})
	if err != nil {
		return JournalCounts{}, err
	}
	n, err := cmd.Int64Slice()
	if err != nil {
		return JournalCounts{}, failed("counting the journal "+j.table, err)
	}
	return JournalCounts{n[0], n[1], n[2], n[3]}, nil
}

// Trim forgets the keys of entries that were acknowledged at least age ago and
// returns how many. An entry of such a key can be appended again: age must be
// longer than anything is ever repeated.
func (j Journal[T]) Trim(ctx context.Context, age time.Duration) (forgotten int64, err error) {
	if age < 0 {
		return 0, invalid("the age %v is negative: use 0 or more", age)
	}
	const batch = 1000 // so that no script holds its server up
	for {
		cmd, err := j.run(ctx, journalTrim, []string{"done"}, age.Microseconds(), batch)
		if err != nil {
			return forgotten, err
		}
		n, err := cmd.Int64()
		if err != nil {
			return forgotten, failed("trimming the journal "+j.table, err)
		}
		if forgotten += n; n < batch {
			return forgotten, nil
		}
	}
}
