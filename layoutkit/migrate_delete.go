package layoutkit

import (
	"context"

	"github.com/redis/go-redis/v9"
)

var migrateForget = script("migrate_forget", "record", "index...")

// deleteSource deletes from the source what was copied, and what is ephemeral.
func (m *migration) deleteSource(ctx context.Context, keys int64) error {
	if err := m.passes.enter(ctx, modeDelete); err != nil {
		return err
	}
	if m.o.Direction == ClusterToLegacy && !m.inPlace && !m.o.DryRun {
		// What is left must not be mirrored any more.
		if err := m.source.client.Del(ctx, m.source.names.marker()).Err(); err != nil {
			return failed("deleting the layout marker of the source", err)
		}
	}
	if err := m.walk(ctx, m.source, PhaseDeleting, keys, m.deleteBatch); err != nil {
		return err
	}
	if m.o.DryRun || len(m.o.Include) > 0 {
		return nil
	}
	// New data in the source would have to be copied again.
	return m.passes.forget(ctx, m.source, m.target, m.o.Direction)
}

// deleteBatch deletes what the keys of a batch hold.
func (m *migration) deleteBatch(ctx context.Context, batch []keyClass) error {
	s := m.sort(batch, m.source.names.layout)
	if err := m.source.read(ctx, itemsOf(s.records), func(items []item) error { return m.deleteItems(ctx, items) }); err != nil {
		return err
	}
	err := m.source.messages(ctx, s.logs, func(keyClass) {}, func(found []item) error {
		return m.deleteMessages(ctx, found)
	})
	if err != nil {
		return err
	}
	for _, c := range s.journals {
		m.deleted(c.namespace, 1)
	}
	if m.o.DryRun {
		return nil
	}
	return pipelined(ctx, m.source.client, func(p redis.Pipeliner) {
		for _, c := range s.journals {
			p.Unlink(ctx, c.key)
		}
		for _, c := range batch {
			if m.isLeftOver(c) {
				p.Unlink(ctx, c.key)
			}
		}
	})
}

// isLeftOver reports whether a key of the source is no record but goes with them:
// who holds a lock or leads, turns, and indexes, whose members have gone or go.
func (m *migration) isLeftOver(c keyClass) bool {
	if c.layout != m.source.names.layout {
		return false
	}
	switch {
	case c.namespace == NamespaceTurns:
		return len(m.o.Include) == 0
	case c.role == roleHolder, c.role == roleIndex && c.namespace != NamespaceMessages:
		return m.includes(c.namespace)
	}
	return false
}

// deleteItems deletes records. What must not go back is taken to the target once
// more, and only deleted if it is still that.
func (m *migration) deleteItems(ctx context.Context, items []item) error {
	var growing, others []item
	for _, it := range items {
		switch {
		case !it.holds():
		case it.namespace == NamespaceSchedules || it.role == roleCounter:
			growing = append(growing, it)
		default:
			others = append(others, it)
		}
	}
	if m.o.DryRun {
		for _, it := range append(growing, others...) {
			m.deleted(it.namespace, 1)
		}
		return nil
	}
	err := pipelined(ctx, m.target.client, func(p redis.Pipeliner) {
		for _, it := range growing {
			m.keep(ctx, p, it)
		}
	})
	if err != nil {
		return err
	}
	gone := make(map[*redis.Cmd]Namespace)
	err = pipelined(ctx, m.source.client, func(p redis.Pipeliner) {
		for _, it := range growing {
			gone[migrateForget.Run(ctx, p, m.source.names.keysOf(it.keyClass), it.member(), it.text)] = it.namespace
		}
		for _, it := range others {
			gone[recordDelete.Run(ctx, p, m.source.names.keysOf(it.keyClass), it.member())] = it.namespace
		}
	})
	for cmd, ns := range gone {
		if n, _ := cmd.Int64(); n > 0 {
			m.deleted(ns, n)
		}
	}
	return err
}

// keep queues what brings a token, fence or term to the target, whatever else is
// there.
func (m *migration) keep(ctx context.Context, p redis.Pipeliner, it item) {
	keys := m.target.names.keysOf(it.keyClass)
	if it.namespace == NamespaceSchedules {
		putSchedule(ctx, p, keys, it, 0)
		return
	}
	migrateRaise.Run(ctx, p, keys, firstNumber(it.text))
}

// deleteMessages deletes messages that a page of logs listed. Items that do not
// belong to their chat stay, with their entries.
func (m *migration) deleteMessages(ctx context.Context, found []item) error {
	for i := range found {
		found[i].key = m.source.names.keyOf(found[i].keyClass)
	}
	if err := m.source.readUpTo(ctx, found, large); err != nil {
		return err
	}
	var going []item
	for _, it := range found {
		if it.holds() || it.state == missing {
			going = append(going, it)
		}
	}
	n, err := m.source.dropMessages(ctx, going, m.o.DryRun)
	m.deleted(NamespaceMessages, n)
	return err
}

// dropMessages deletes messages, each item together with its entry in the log, and
// returns how many there were.
func (s side) dropMessages(ctx context.Context, going []item, dryRun bool) (n int64, err error) {
	if dryRun {
		return int64(len(going)), nil
	}
	members := make(map[string][]any)
	keys := make(map[string][]string)
	for _, it := range going {
		chat := it.ids[0]
		if keys[chat] == nil {
			keys[chat] = []string{s.names.messageLog(chat)}
		}
		keys[chat] = append(keys[chat], s.names.messageItem(chat, it.ids[1]))
		members[chat] = append(members[chat], it.ids[1])
	}
	var dropped []*redis.Cmd
	err = pipelined(ctx, s.client, func(p redis.Pipeliner) {
		for chat := range keys {
			dropped = append(dropped, messageDelete.Run(ctx, p, keys[chat], members[chat]...))
		}
	})
	for _, cmd := range dropped {
		entries, _ := cmd.Int64()
		n += entries
	}
	return n, err
}
