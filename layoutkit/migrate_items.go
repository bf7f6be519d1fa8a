package layoutkit

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// item is a record on its way.
type item struct {
	keyClass
	state state
	text  string
	ttl   time.Duration // 0 for ever
	score string        // of a message, in its log
}

// state is what is at the key of an item.
type state int

const (
	missing    state = iota
	unreadable       // of another type
	present
)

// keysOf are the keys of a record in the layout of n, for a script: the record and,
// if the layout has it, the index that lists it; of a message, log and item.
func (n names) keysOf(c keyClass) []string {
	switch c.namespace {
	case NamespaceMessages:
		return []string{n.messageLog(c.ids[0]), n.messageItem(c.ids[0], c.ids[1])}
	case NamespaceUserData:
		entry := n.userEntry(c.ids[0], c.ids[1], c.ids[2])
		if n.layout == Cluster {
			return []string{entry, n.userIndex(c.ids[0])}
		}
		return []string{entry}
	case NamespaceLocks:
		_, fence := n.lock(c.ids[0])
		return []string{fence}
	case NamespaceLeadership:
		_, term := n.leader(c.ids[0])
		return []string{term}
	case NamespaceConversations:
		return []string{n.conversation(c.ids[0])}
	case NamespaceCursors:
		return []string{n.cursor(c.ids[0])}
	case NamespaceLeases:
		return []string{n.lease(c.ids[0])}
	case NamespaceJournal:
		return []string{n.journal(c.ids[0], c.ids[1])}
	default:
		return n.recordKeys(kind(slices.Index(kindNamespaces[:], c.namespace)), c.ids[0])
	}
}

// keyOf is the key of a record in the layout of n.
func (n names) keyOf(c keyClass) string {
	keys := n.keysOf(c)
	if c.namespace == NamespaceMessages {
		return keys[1]
	}
	return keys[0]
}

// member is the name of a record in the index that lists it.
func (c keyClass) member() string {
	if c.namespace == NamespaceUserData {
		return userMember(c.ids[1], c.ids[2])
	}
	return c.ids[len(c.ids)-1]
}

// large is from how many bytes on a value is read, and written, by itself, so that
// a batch of them needs not fit into memory.
const large = 16 << 10

// read reads the items of a side, and hands them to fn in groups.
func (s side) read(ctx context.Context, items []item, fn func([]item) error) error {
	for i := range items {
		items[i].key = s.names.keyOf(items[i].keyClass)
	}
	if err := s.readUpTo(ctx, items, large); err != nil {
		return err
	}
	small := make([]item, 0, len(items))
	for _, it := range items {
		if len(it.text) < large {
			small = append(small, it)
		}
	}
	if err := fn(small); err != nil {
		return err
	}
	for _, it := range items {
		if len(it.text) < large {
			continue
		}
		one := []item{it}
		if err := s.readUpTo(ctx, one, 0); err != nil {
			return err
		}
		if err := fn(one); err != nil {
			return err
		}
	}
	return nil
}

// readUpTo fills in what is at the keys of items, so many bytes of it; all if 0.
func (s side) readUpTo(ctx context.Context, items []item, limit int64) error {
	texts := make([]*redis.StringCmd, len(items))
	left := make([]*redis.DurationCmd, len(items))
	err := pipelined(ctx, s.client, func(p redis.Pipeliner) {
		for i, it := range items {
			texts[i] = p.GetRange(ctx, it.key, 0, limit-1)
			left[i] = p.PTTL(ctx, it.key)
		}
	})
	if err != nil {
		return err
	}
	for i := range items {
		items[i].text = texts[i].Val()
		items[i].ttl, items[i].state = lifeLeft(left[i].Val())
		if items[i].state == present && texts[i].Err() != nil {
			items[i].state = unreadable
		}
	}
	return nil
}

// lifeLeft is what PTTL says of a key, with 0 for one that does not expire.
func lifeLeft(reply time.Duration) (time.Duration, state) {
	switch {
	case reply == -2:
		return 0, missing
	case reply == -1:
		return 0, present
	default:
		return max(reply, time.Millisecond), present
	}
}

// holds reports whether an item holds what its name says.
func (it item) holds() bool {
	if it.state != present {
		return false
	}
	switch it.namespace {
	case NamespaceMessages:
		return strings.HasPrefix(it.text, escape(it.ids[0])+" ")
	case NamespaceSchedules:
		_, err := parseSchedule(it.text)
		return err == nil
	case NamespaceLocks, NamespaceLeadership:
		n, err := strconv.ParseInt(it.text, 10, 64)
		return err == nil && n >= 0
	default:
		return true
	}
}

// sound are the items that hold what their names say. The others are counted, but
// for records that have gone since they were walked.
func (m *migration) sound(items []item) []item {
	var sound []item
	for _, it := range items {
		switch {
		case it.holds():
			sound = append(sound, it)
		case it.state != missing || it.namespace == NamespaceMessages:
			m.skip(it.namespace, it.key)
		}
	}
	return sound
}

// itemsOf are items of keys.
func itemsOf(classes []keyClass) []item {
	items := make([]item, len(classes))
	for i, c := range classes {
		items[i].keyClass = c
	}
	return items
}
