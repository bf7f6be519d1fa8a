package layoutkit

import (
	"strconv"
)

// kind is a kind of records that are listed.
type kind int

const (
	chats kind = iota
	contacts
	checkpoints
	schedules
)

// kinds names each kind in both layouts.
var kinds = [...]struct{ tag, legacy string }{
	chats:       {"ch", "chat"},
	contacts:    {"ct", "contact"},
	checkpoints: {"cp", "checkpoint"},
	schedules:   {"sc", "schedule"},
}

// names is the one place where keys are spelled. README.md lists them all.
type names struct {
	prefix string
	layout Layout // never Auto
}

// join is the prefix and segments with ':' between them. The segments are
// constants and what escape returns.
func (n names) join(segments ...string) string {
	key := n.prefix
	for _, s := range segments {
		key += ":" + s
	}
	return key
}

// tag is a hash tag of a kind of data and what shares its slot.
func tag(kind, of string) string { return "{" + kind + ":" + of + "}" }

// messageLog is the sorted set of a chat's messages: score and member.
func (n names) messageLog(chat string) string {
	if n.layout == Cluster {
		return n.join(tag("m", escape(chat)), "z")
	}
	return n.join("msg", escape(chat))
}

// messageItem is the message of one member of the log.
func (n names) messageItem(chat, member string) string {
	if n.layout == Cluster {
		return n.join(tag("m", escape(chat)), "i", escape(member))
	}
	return n.join("msg", escape(chat), escape(member))
}

// record is the record of a kind with an id.
func (n names) record(k kind, id string) string {
	if n.layout == Cluster {
		return n.join(bucketTag(k, bucketOf(id)), "r", escape(id))
	}
	return n.join(kinds[k].legacy, escape(id))
}

// index is the sorted set of the ids of a kind in a bucket. Legacy has none.
func (n names) index(k kind, bucket int) string { return n.join(bucketTag(k, bucket), "idx") }

func bucketTag(k kind, bucket int) string { return tag(kinds[k].tag, strconv.Itoa(bucket)) }

// recordKeys are the keys of a script that writes a record: the record and, if
// the layout has it, the index that lists it.
func (n names) recordKeys(k kind, id string) []string {
	if n.layout == Cluster {
		return []string{n.record(k, id), n.index(k, bucketOf(id))}
	}
	return []string{n.record(k, id)}
}

// userEntry is one value of a user.
func (n names) userEntry(user, namespace, key string) string {
	if n.layout == Cluster {
		return n.join(tag("ud", escape(user)), "e", escape(namespace), escape(key))
	}
	return n.join("user", escape(user), escape(namespace), escape(key))
}

// userIndex is the sorted set of a user's entries, as userMember names them.
// Legacy has none.
func (n names) userIndex(user string) string { return n.join(tag("ud", escape(user)), "idx") }

// userMember is an entry in the index of its user.
func userMember(namespace, key string) string { return escape(namespace) + ":" + escape(key) }

// lock is the holder of a lock, fence the counter of its holders.
func (n names) lock(key string) (lock, fence string) {
	if n.layout == Cluster {
		t := tag("lk", escape(key))
		return n.join(t, "l"), n.join(t, "f")
	}
	return n.join("lock", escape(key)), n.join("fence", escape(key))
}

// turn is a part of a chat's turns: seq, tix, serving, owner or last.
func (n names) turn(chat, part string) string {
	if n.layout == Cluster {
		return n.join("co", tag("t", escape(chat)), part)
	}
	return n.join("co", "turn", escape(chat), part)
}

// leader is the replica that leads, term the counter of leaders.
func (n names) leader(name string) (leader, term string) {
	if n.layout == Cluster {
		key := n.join("co", tag("ld", escape(name)))
		return key, key + ":term"
	}
	key := n.join("co", "leader", escape(name))
	return key, key + ":term"
}

// What follows has one name in both layouts.

func (n names) heartbeat(replica string) string { return n.join("co", "rep", escape(replica)) }
func (n names) conversation(id string) string   { return n.join("conv", escape(id)) }
func (n names) cursor(id string) string         { return n.join("cursor", escape(id)) }
func (n names) lease(name string) string        { return n.join("lease", escape(name)) }
func (n names) marker() string                  { return n.join("{meta}", "layout") }

// journal is a part of a durability journal's table.
func (n names) journal(table, part string) string {
	return n.join(tag("durable", escape(table)), part)
}
