package layoutkit

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
)

var migrateBury = script("migrate_bury", "record")

// checkMirror refuses to mirror a source that may not be complete, because legacy
// records would be deleted that were never migrated, or written after an earlier
// rollback.
func (m *migration) checkMirror(ctx context.Context) error {
	if !m.mirrors() || m.o.Overwrite {
		return nil
	}
	marker := m.source.names.marker()
	value, err := m.source.client.Get(ctx, marker).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return failed("reading the layout marker", err)
	}
	if value != Contract {
		return fmt.Errorf("%w: %s is not %q, so this was rolled back already or never migrated completely, and mirroring it would delete legacy records: "+
			"set CopyOnly to copy what is there, or Overwrite to mirror it nevertheless", ErrNoMarker, marker, Contract)
	}
	return nil
}

// pruneBatch deletes the records of the target that the source no longer has. Of
// schedules it leaves tombstones; fences and terms stay.
func (m *migration) pruneBatch(ctx context.Context, batch []keyClass) error {
	s := m.sort(batch, m.target.names.layout)
	var records []keyClass
	for _, c := range append(s.records, s.journals...) {
		if c.role == roleRecord {
			records = append(records, c)
		}
	}
	gone, err := m.notInSource(ctx, records)
	if err != nil {
		return err
	}
	if err := m.pruneRecords(ctx, gone); err != nil {
		return err
	}
	return m.target.messages(ctx, s.logs, func(keyClass) {}, func(found []item) error {
		return m.pruneMessages(ctx, found)
	})
}

// notInSource are the records that the source has not.
func (m *migration) notInSource(ctx context.Context, records []keyClass) (gone []keyClass, err error) {
	there := make([]*redis.IntCmd, len(records))
	err = pipelined(ctx, m.source.client, func(p redis.Pipeliner) {
		for i, c := range records {
			there[i] = p.Exists(ctx, m.source.names.keyOf(c))
		}
	})
	for i, c := range records {
		if there[i].Val() == 0 {
			gone = append(gone, c)
		}
	}
	return gone, err
}

// pruneRecords prunes records of the target. What is no record but has the name of
// one is left alone.
func (m *migration) pruneRecords(ctx context.Context, gone []keyClass) error {
	types := make([]*redis.StatusCmd, len(gone))
	texts := make([]*redis.StringCmd, len(gone))
	err := pipelined(ctx, m.target.client, func(p redis.Pipeliner) {
		for i, c := range gone {
			types[i] = p.Type(ctx, c.key)
			texts[i] = p.GetRange(ctx, c.key, 0, int64(len("9223372036854775807 -"))-1)
		}
	})
	if err != nil {
		return err
	}
	return pipelined(ctx, m.target.client, func(p redis.Pipeliner) {
		for i, c := range gone {
			if !isRecord(c, types[i].Val(), texts[i].Val()) {
				continue
			}
			m.pruned(c.namespace, 1)
			switch {
			case m.o.DryRun:
			case c.namespace == NamespaceSchedules:
				migrateBury.Run(ctx, p, []string{c.key})
			default:
				p.Unlink(ctx, c.key)
			}
		}
	})
}

// isRecord reports whether a key of the target, whose type and first bytes are
// given, holds a record that is not a tombstone already.
func isRecord(c keyClass, kind, text string) bool {
	switch c.namespace {
	case NamespaceJournal:
		return true
	case NamespaceSchedules:
		_, rest, _ := strings.Cut(text, " ")
		return firstNumber(text) >= 0 && rest != "-"
	default:
		return kind == "string"
	}
}

// pruneMessages prunes messages of the target that the source has not.
func (m *migration) pruneMessages(ctx context.Context, found []item) error {
	entries := make([]*redis.FloatCmd, len(found))
	items := make([]item, len(found))
	err := pipelined(ctx, m.source.client, func(p redis.Pipeliner) {
		for i, it := range found {
			items[i].keyClass = it.keyClass
			items[i].key = m.source.names.keyOf(it.keyClass)
			entries[i] = p.ZScore(ctx, m.source.names.messageLog(it.ids[0]), it.ids[1])
		}
	})
	if err != nil {
		return err
	}
	if err := m.source.readUpTo(ctx, items, large); err != nil {
		return err
	}
	var gone []item
	for i, it := range found {
		if entries[i].Err() != nil || !items[i].holds() {
			gone = append(gone, it)
		}
	}
	n, err := m.target.dropMessages(ctx, gone, m.o.DryRun)
	m.pruned(NamespaceMessages, n)
	return err
}
