package layoutkit

import (
	"context"
	"slices"

	"github.com/redis/go-redis/v9"
)

const (
	// logsAtOnce is how many logs are paged through together, and pageSize how many
	// members of each: most chats are short.
	logsAtOnce = 16
	pageSize   = 128
)

// logCursor is how far a chat's log was paged through.
type logCursor struct {
	keyClass
	cursor uint64
}

// messages pages through the logs of chats, and hands what they list to fn in
// batches. A member is handed on at least once if it is in its log all the time.
func (s side) messages(ctx context.Context, logs []keyClass, unreadable func(keyClass), fn func([]item) error) error {
	open := make([]logCursor, len(logs))
	for i, c := range logs {
		open[i].keyClass = c
	}
	for len(open) > 0 {
		now := open[:min(len(open), logsAtOnce)]
		open = open[len(now):]
		pages := make([]*redis.ScanCmd, len(now))
		err := pipelined(ctx, s.client, func(p redis.Pipeliner) {
			for i, log := range now {
				pages[i] = p.ZScan(ctx, log.key, log.cursor, "", pageSize)
			}
		})
		if err != nil {
			return err
		}
		var found []item
		for i, log := range now {
			if pages[i].Err() != nil {
				unreadable(log.keyClass)
				continue
			}
			members, cursor := pages[i].Val()
			for pair := range slices.Chunk(members, 2) {
				found = append(found, item{keyClass: messageClass(log.ids[0], pair[0]), score: pair[1]})
			}
			if cursor != 0 {
				open = append(open, logCursor{log.keyClass, cursor})
			}
		}
		for batch := range slices.Chunk(found, batchSize) {
			if err := fn(batch); err != nil {
				return err
			}
		}
	}
	return nil
}

// messageClass is the class of a message, without a key.
func messageClass(chat, member string) keyClass {
	return keyClass{namespace: NamespaceMessages, role: roleRecord, ids: []string{chat, member}}
}

// findOrphans lists the items of messages that no log refers to.
func (m *migration) findOrphans(ctx context.Context, items []keyClass) error {
	entries := make([]*redis.FloatCmd, len(items))
	err := pipelined(ctx, m.source.client, func(p redis.Pipeliner) {
		for i, c := range items {
			entries[i] = p.ZScore(ctx, m.source.names.messageLog(c.ids[0]), c.ids[1])
		}
	})
	if err != nil {
		return err
	}
	for i, c := range items {
		if entries[i].Err() != nil {
			m.orphan(c.key)
		}
	}
	return nil
}
