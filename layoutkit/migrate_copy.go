package layoutkit

import (
	"context"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/shim"
)

var (
	migrateRecord   = script("migrate_record", "record", "index...")
	migrateMessage  = script("migrate_message", "log", "item")
	migrateSchedule = script("migrate_schedule", "record", "index...")
	migrateRaise    = script("migrate_raise", "counter")
)

// sorted is a batch of keys by what has to be done with them.
type sorted struct {
	records  []keyClass // single values: records, entries, fences, terms …
	logs     []keyClass
	items    []keyClass // of messages
	journals []keyClass
}

// sort picks the keys of a batch that the pass is about, on the side of a layout.
func (m *migration) sort(batch []keyClass, layout Layout) sorted {
	var s sorted
	for _, c := range batch {
		switch {
		case !m.includes(c.namespace):
		case c.layout == Auto && (m.inPlace || c.role != roleRecord):
		case c.layout != Auto && c.layout != layout:
		case c.namespace == NamespaceJournal:
			s.journals = append(s.journals, c)
		case c.namespace == NamespaceMessages && c.role == roleIndex:
			s.logs = append(s.logs, c)
		case c.namespace == NamespaceMessages:
			s.items = append(s.items, c)
		case c.role == roleRecord || c.role == roleCounter:
			s.records = append(s.records, c)
		}
	}
	return s
}

// copyBatch copies what the keys of a batch hold.
func (m *migration) copyBatch(ctx context.Context, batch []keyClass) error {
	s := m.sort(batch, m.source.names.layout)
	if err := m.source.read(ctx, itemsOf(s.records), func(items []item) error { return m.copyItems(ctx, items) }); err != nil {
		return err
	}
	err := m.source.messages(ctx, s.logs, m.skipClass, func(found []item) error {
		return m.source.read(ctx, found, func(items []item) error { return m.copyItems(ctx, items) })
	})
	if err != nil {
		return err
	}
	if err := m.findOrphans(ctx, s.items); err != nil {
		return err
	}
	return m.copyJournals(ctx, s.journals)
}

func (m *migration) skipClass(c keyClass) { m.skip(c.namespace, c.key) }

// copyItems writes what was read to the target, or finds out whether it would.
func (m *migration) copyItems(ctx context.Context, items []item) error {
	items = m.sound(items)
	written := make([]func() (bool, error), len(items))
	err := pipelined(ctx, m.target.client, func(p redis.Pipeliner) {
		for i, it := range items {
			if m.o.DryRun {
				written[i] = m.foresee(ctx, p, it)
			} else {
				written[i] = m.put(ctx, p, it)
			}
		}
	})
	if err != nil {
		return err
	}
	for i, it := range items {
		ok, err := written[i]()
		if err != nil { // the target has a key of another type there
			m.skip(it.namespace, m.target.names.keyOf(it.keyClass))
			continue
		}
		m.copied(it.namespace, ok)
	}
	return nil
}

// copied counts a record that was written, or kept.
func (m *migration) copied(ns Namespace, written bool) {
	m.count(ns, func(c *Counts) {
		c.Found++
		if written {
			c.Copied++
		} else {
			c.Kept++
		}
	})
}

// put queues the script that writes an item; the result says whether it did.
func (m *migration) put(ctx context.Context, p redis.Pipeliner, it item) (written func() (bool, error)) {
	keys, overwrite := m.target.names.keysOf(it.keyClass), flag(m.overwrites())
	var cmd *redis.Cmd
	switch it.namespace {
	case NamespaceMessages:
		cmd = migrateMessage.Run(ctx, p, keys, it.member(), it.score, it.text, overwrite)
	case NamespaceSchedules:
		cmd = putSchedule(ctx, p, keys, it, overwrite)
	case NamespaceLocks, NamespaceLeadership:
		cmd = migrateRaise.Run(ctx, p, keys, firstNumber(it.text))
	default:
		cmd = migrateRecord.Run(ctx, p, keys, it.member(), it.text, it.ttl.Milliseconds(), overwrite)
	}
	return func() (bool, error) { n, err := cmd.Int64(); return n == 1, err }
}

func putSchedule(ctx context.Context, on shim.Processor, keys []string, it item, overwrite int) *redis.Cmd {
	s, _ := parseSchedule(it.text) // holds has seen it
	_, rest, _ := strings.Cut(it.text, " ")
	score := "+inf"
	if !s.deleted {
		score = strconv.FormatInt(s.due, 10)
	}
	return migrateSchedule.Run(ctx, on, keys, it.member(), s.token, rest, score, overwrite)
}

// foresee queues a look at the target; the result says whether put would write.
func (m *migration) foresee(ctx context.Context, p redis.Pipeliner, it item) (written func() (bool, error)) {
	key := m.target.names.keyOf(it.keyClass)
	switch it.namespace {
	case NamespaceSchedules:
		there := p.GetRange(ctx, key, 0, 20) // the token
		return func() (bool, error) {
			return m.overwrites() || firstNumber(it.text) > firstNumber(there.Val()), there.Err()
		}
	case NamespaceLocks, NamespaceLeadership:
		there := p.GetRange(ctx, key, 0, 20)
		return func() (bool, error) { return firstNumber(it.text) > firstNumber(there.Val()), there.Err() }
	default:
		there := p.Exists(ctx, key)
		return func() (bool, error) { return m.overwrites() || there.Val() == 0, nil }
	}
}

// firstNumber is the token, fence or term that a text begins with, -1 if none.
func firstNumber(text string) int64 {
	number, _, _ := strings.Cut(text, " ")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return -1
	}
	return n
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// copyJournals copies the keys of journals as they are, one by one, since a table
// may be large.
func (m *migration) copyJournals(ctx context.Context, keys []keyClass) error {
	for _, c := range keys {
		if err := m.copyJournal(ctx, c); err != nil {
			return failed("copying "+c.key, err)
		}
	}
	return nil
}

func (m *migration) copyJournal(ctx context.Context, c keyClass) error {
	target := m.target.names.keyOf(c)
	if m.o.DryRun {
		there, err := m.target.client.Exists(ctx, target).Result()
		m.copied(c.namespace, there == 0 || m.overwrites())
		return err
	}
	var (
		dump *redis.StringCmd
		left *redis.DurationCmd
	)
	err := pipelined(ctx, m.source.client, func(p redis.Pipeliner) {
		dump, left = p.Dump(ctx, c.key), p.PTTL(ctx, c.key)
	})
	ttl, state := lifeLeft(left.Val())
	if err != nil || state == missing {
		return err
	}
	restore := m.target.client.Restore
	if m.overwrites() {
		restore = m.target.client.RestoreReplace
	}
	err = restore(ctx, target, ttl, dump.Val()).Err()
	there := redis.HasErrorPrefix(err, "BUSYKEY")
	if err != nil && !there {
		return err
	}
	m.copied(c.namespace, !there)
	return nil
}
