package shim

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/fakecluster/fakecluster/slots"
	"github.com/redis/go-redis/v9"
)

// NodeError is what went wrong at one node.
type NodeError struct {
	Addr string
	Err  error
}

func (e *NodeError) Error() string { return e.Addr + ": " + e.Err.Error() }
func (e *NodeError) Unwrap() error { return e.Err }

// ForEachMaster calls fn with a client of every master, all at the same time, or
// with the client itself if it is one of a single server. The result joins a
// *NodeError for every node that failed. The clients are the nodes' own: no
// command sent by them is redirected or retried.
func ForEachMaster(ctx context.Context, client redis.UniversalClient, fn func(ctx context.Context, node *redis.Client) error) error {
	if err := checkClient(client); err != nil {
		return err
	}
	if single, ok := client.(*redis.Client); ok {
		if err := fn(ctx, single); err != nil {
			return &NodeError{single.Options().Addr, err}
		}
		return nil
	}
	var (
		mu       sync.Mutex
		failures []error
	)
	err := client.(*redis.ClusterClient).ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
		if err := fn(ctx, node); err != nil {
			mu.Lock()
			failures = append(failures, &NodeError{node.Options().Addr, err})
			mu.Unlock()
		}
		return nil
	})
	return errors.Join(append(failures, err)...)
}

// ScanOptions are the options of Scan.
type ScanOptions struct {
	// Match and Type choose keys as SCAN does; all keys if empty.
	Match, Type string
	// Count is the number of keys a node looks at for one reply; 1000 if it is not positive.
	Count int64
	// Patience is how long to wait, without progress, for slots that are being
	// moved and for masters that are away; 30 s if it is not positive.
	Patience time.Duration
}

// ErrUnsettled is wrapped by the error of a Scan that ran out of patience. It
// names the slots that were not walked in peace.
var ErrUnsettled = errors.New("shim: slots did not come to rest")

// Scan walks the keys of all masters. A key that exists from beginning to end is
// yielded at least once, even if slots move and masters fail over meanwhile, since
// a node's walk counts only for slots that it owned all the time. A key may be
// yielded more than once: SCAN itself may, and slots that changed their owner are
// walked again. Keys that come or go meanwhile may be yielded or not.
//
// It ends with an error, which is yielded with an empty key. What a lost master takes
// away is waited for within o.Patience; an answer that time does not cure, such as one
// to a wrong option, is not.
func Scan(ctx context.Context, client redis.UniversalClient, o ScanOptions) iter.Seq2[string, error] {
	if o.Count <= 0 {
		o.Count = 1000
	}
	if o.Patience <= 0 {
		o.Patience = 30 * time.Second
	}
	return func(yield func(string, error) bool) {
		if err := checkClient(client); err != nil {
			yield("", err)
			return
		}
		if single, ok := client.(*redis.Client); ok {
			if _, err := scanNode(ctx, single, o, func(key string) bool { return yield(key, nil) }); err != nil {
				yield("", err)
			}
			return
		}
		w := &walk{client: client, o: o, yield: yield}
		w.left.AddRange(slots.Range{First: 0, Last: slots.Count - 1})
		if err := w.run(ctx); err != nil {
			yield("", err)
		}
	}
}

// walk is a Scan of a cluster.
type walk struct {
	client  redis.UniversalClient
	o       ScanOptions
	yield   func(string, error) bool
	left    slots.Set
	stopped bool // the caller has enough
	closed  bool // the last pass met a client that is closed
}

func (w *walk) run(ctx context.Context) error {
	pause, progress := 5*time.Millisecond, time.Now()
	for {
		before := w.left.Len()
		err := w.pass(ctx)
		after := w.left.Len()
		if w.stopped || after == 0 {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if w.isOver(err) {
			return err
		}
		if after < before {
			pause, progress = 5*time.Millisecond, time.Now()
		}
		if time.Since(progress) > w.o.Patience {
			return fmt.Errorf("%w: %s: %w", ErrUnsettled, w.left.String(), errors.Join(err, errUnowned))
		}
		if err := sleep(ctx, pause); err != nil {
			return err
		}
		pause = min(2*pause, 500*time.Millisecond)
	}
}

// isOver reports whether the error of a pass is one that time does not cure: a node's
// answer, or the second time in a row that a client is closed, which is not that of a
// node that has just left.
func (w *walk) isOver(err error) bool {
	before := w.closed
	w.closed = errors.Is(err, redis.ErrClosed)
	if isServerError(err) {
		what, _ := understandReply(err)
		return what == settled
	}
	return before && w.closed
}

var errUnowned = errors.New("they are being moved, or no master owns them")

// pass walks every master that owns slots which are left.
func (w *walk) pass(ctx context.Context) error {
	masters, err := mastersOf(ctx, w.client)
	if err != nil {
		return err
	}
	var failures []error
	for _, node := range masters {
		if err := w.walkNode(ctx, node); err != nil {
			failures = append(failures, &NodeError{node.Options().Addr, err})
		}
		if w.stopped {
			return nil
		}
	}
	return errors.Join(failures...)
}

func mastersOf(ctx context.Context, client redis.UniversalClient) ([]*redis.Client, error) {
	var (
		mu      sync.Mutex
		masters []*redis.Client
	)
	err := ForEachMaster(ctx, client, func(_ context.Context, node *redis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		masters = append(masters, node)
		return nil
	})
	return masters, err
}

// walkNode walks one node. The slots that it owned at rest before and after are
// done with, if it took no slot from others meanwhile: that would show in its
// config epoch, and a slot could have been away and back.
func (w *walk) walkNode(ctx context.Context, node *redis.Client) error {
	before, err := ownView(ctx, node)
	if err != nil || !before.ownsAny(&w.left) {
		return err
	}
	stopped, err := scanNode(ctx, node, w.o, func(key string) bool {
		slot := slots.OfString(key)
		return !w.left.Has(slot) || !before.owned.Has(slot) || w.yield(key, nil)
	})
	if err != nil || stopped {
		w.stopped = stopped
		return err
	}
	after, err := ownView(ctx, node)
	if err != nil || after.epoch != before.epoch {
		return err
	}
	for slot := range before.owned.All() {
		if after.owned.Has(slot) && !before.moving.Has(slot) && !after.moving.Has(slot) {
			w.left.Remove(slot)
		}
	}
	return nil
}

// scanNode walks one server until yield returns false.
func scanNode(ctx context.Context, node *redis.Client, o ScanOptions, yield func(string) bool) (stopped bool, err error) {
	for cursor := uint64(0); ; {
		var page *redis.ScanCmd
		if o.Type != "" {
			page = node.ScanType(ctx, cursor, o.Match, o.Count, o.Type)
		} else {
			page = node.Scan(ctx, cursor, o.Match, o.Count)
		}
		keys, next, err := page.Result()
		if err != nil {
			return false, err
		}
		for _, key := range keys {
			if !yield(key) {
				return true, nil
			}
		}
		if cursor = next; cursor == 0 {
			return false, nil
		}
	}
}

// view is what a node says of itself: the slots it owns, and which of them are on
// the move.
type view struct {
	epoch         string
	owned, moving slots.Set
}

func (v *view) ownsAny(left *slots.Set) bool {
	for slot := range v.owned.All() {
		if left.Has(slot) {
			return true
		}
	}
	return false
}

// ownView asks a node for its own line of CLUSTER NODES, the only one that tells
// of moves. A replica owns nothing.
func ownView(ctx context.Context, node *redis.Client) (*view, error) {
	text, err := node.ClusterNodes(ctx).Result()
	if err != nil {
		return nil, err
	}
	v := new(view)
	for _, line := range parseNodes(text) {
		if !line.has("myself") || !line.has("master") {
			continue
		}
		v.epoch = line.epoch
		for _, word := range line.slots {
			if move, ok := strings.CutPrefix(word, "["); ok {
				number, _, _ := strings.Cut(move, "-")
				slot, err := slots.ParseSlot(number)
				if err != nil {
					return nil, err
				}
				v.moving.Add(slot)
				continue
			}
			run, err := slots.ParseRange(word)
			if err != nil {
				return nil, err
			}
			v.owned.AddRange(run)
		}
	}
	return v, nil
}

// deleteBatch is how many keys one UNLINK takes.
const deleteBatch = 1000

// ErrNoPattern is returned by DeleteMatching for an empty pattern, which to SCAN is
// every key and to its writer more likely a mistake.
var ErrNoPattern = errors.New("shim: an empty pattern; all keys are *")

// DeleteMatching deletes the keys that match a glob pattern, as Scan finds them:
// keys of one slot in UNLINKs of up to 1000. It returns how many keys were
// deleted, also with an error. An error that came of deleting may be a
// *LostReplyError; it is safe to delete again.
func DeleteMatching(ctx context.Context, client redis.UniversalClient, pattern string) (int64, error) {
	if pattern == "" {
		return 0, ErrNoPattern
	}
	var deleted int64
	bySlot := map[slots.Slot][]string{}
	flush := func(slot slots.Slot) error {
		keys := bySlot[slot]
		delete(bySlot, slot)
		n, err := client.Unlink(ctx, keys...).Result()
		deleted += n
		return err
	}
	waiting := 0
	for key, err := range Scan(ctx, client, ScanOptions{Match: pattern}) {
		if err != nil {
			return deleted, err
		}
		slot := slots.OfString(key)
		bySlot[slot] = append(bySlot[slot], key)
		if waiting++; len(bySlot[slot]) == deleteBatch {
			waiting -= deleteBatch
			if err := flush(slot); err != nil {
				return deleted, err
			}
		}
		if waiting < 16*deleteBatch {
			continue
		}
		for slot := range bySlot {
			if err := flush(slot); err != nil {
				return deleted, err
			}
		}
		waiting = 0
	}
	for slot := range bySlot {
		if err := flush(slot); err != nil {
			return deleted, err
		}
	}
	return deleted, nil
}
