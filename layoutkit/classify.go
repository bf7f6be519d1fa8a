package layoutkit

import (
	"strconv"
	"strings"
)

// Namespace is a sort of data under a prefix.
type Namespace string

// The namespaces. Turns and heartbeats are ephemeral and never copied.
const (
	NamespaceMessages      Namespace = "messages"
	NamespaceChats         Namespace = "chats"
	NamespaceContacts      Namespace = "contacts"
	NamespaceCheckpoints   Namespace = "checkpoints"
	NamespaceSchedules     Namespace = "schedules"
	NamespaceUserData      Namespace = "userdata"
	NamespaceLocks         Namespace = "locks"
	NamespaceLeadership    Namespace = "leadership"
	NamespaceConversations Namespace = "conversations"
	NamespaceCursors       Namespace = "cursors"
	NamespaceLeases        Namespace = "leases"
	NamespaceJournal       Namespace = "journal"
	NamespaceTurns         Namespace = "turns"
	NamespaceHeartbeats    Namespace = "heartbeats"
	namespaceMeta          Namespace = "meta"
)

// Namespaces are those that a migration copies, in the order of its report.
var Namespaces = []Namespace{
	NamespaceMessages, NamespaceChats, NamespaceContacts, NamespaceCheckpoints, NamespaceSchedules,
	NamespaceUserData, NamespaceLocks, NamespaceLeadership,
	NamespaceConversations, NamespaceCursors, NamespaceLeases, NamespaceJournal,
}

// kindNamespaces are the namespaces of the kinds of records.
var kindNamespaces = [...]Namespace{
	chats: NamespaceChats, contacts: NamespaceContacts,
	checkpoints: NamespaceCheckpoints, schedules: NamespaceSchedules,
}

// role is which of the keys of its namespace a key is.
type role int

const (
	roleForeign role = iota // no key of the kit
	roleRecord              // what the namespace is about; of messages, an item
	roleIndex               // a sorted set that lists records; of messages, the log
	roleCounter             // a fence or a term, which only grows
	roleHolder              // who has a lock or leads, a part of turns, a heartbeat
	roleMarker              // of the layout, and what migrations remember
)

// keyClass is what a key is: the inverse of names.
type keyClass struct {
	key       string
	namespace Namespace
	role      role
	// layout is the one that names it so, Auto if both do.
	layout Layout
	// ids are what names made it of, unescaped: a chat and a member, a record's id,
	// a user, namespace and key, a lock … Of an index it is what it is the index of.
	ids []string
}

// classify says what a key is. A key that names would not spell exactly so, such
// as a record in another bucket than its id's, is foreign.
func classify(prefix, key string) keyClass {
	rest, ok := strings.CutPrefix(key, prefix+":")
	if !ok {
		return keyClass{key: key}
	}
	var c keyClass
	switch first, tail, _ := strings.Cut(rest, ":"); {
	case strings.HasPrefix(rest, "{"):
		c = classifyTagged(rest)
	case first == "co" && strings.HasPrefix(tail, "{"):
		c = classifyCoordinatorTag(tail)
	default:
		c = classifyFlat(strings.Split(rest, ":"))
	}
	c.key = key
	return c
}

// class makes a keyClass of segments, or a foreign one if they are not what escape
// returns.
func class(ns Namespace, r role, layout Layout, segments ...string) keyClass {
	ids, ok := unescapeAll(segments)
	if !ok {
		return keyClass{}
	}
	return keyClass{namespace: ns, role: r, layout: layout, ids: ids}
}

func unescapeAll(segments []string) (ids []string, ok bool) {
	ids = make([]string, len(segments))
	for i, s := range segments {
		if ids[i], ok = unescape(s); !ok {
			return nil, false
		}
	}
	return ids, true
}

// cutTag splits "{kind:of}:rest". rest is empty if nothing follows the tag.
func cutTag(s string) (kind, of, rest string, ok bool) {
	inside, rest, ok := strings.Cut(strings.TrimPrefix(s, "{"), "}")
	if !ok || rest != "" && (rest[0] != ':' || rest == ":") {
		return "", "", "", false
	}
	kind, of, _ = strings.Cut(inside, ":")
	return kind, of, strings.TrimPrefix(rest, ":"), true
}

// classifyTagged is for what begins with a hash tag.
func classifyTagged(s string) keyClass {
	kind, of, rest, ok := cutTag(s)
	if !ok {
		return keyClass{}
	}
	parts := strings.Split(rest, ":")
	switch kind {
	case "meta":
		switch s {
		case "{meta}:layout", "{meta}:passes", "{meta}:migrated":
			return keyClass{namespace: namespaceMeta, role: roleMarker}
		}
	case "durable":
		if table, ok := unescape(of); ok && rest != "" {
			// The parts of a table are its journal's business.
			return keyClass{namespace: NamespaceJournal, role: roleRecord, ids: []string{table, rest}}
		}
	case "m":
		switch {
		case rest == "z":
			return class(NamespaceMessages, roleIndex, Cluster, of)
		case len(parts) == 2 && parts[0] == "i":
			return class(NamespaceMessages, roleRecord, Cluster, of, parts[1])
		}
	case "ud":
		switch {
		case rest == "idx":
			return class(NamespaceUserData, roleIndex, Cluster, of)
		case len(parts) == 3 && parts[0] == "e":
			return class(NamespaceUserData, roleRecord, Cluster, of, parts[1], parts[2])
		}
	case "lk":
		switch rest {
		case "l":
			return class(NamespaceLocks, roleHolder, Cluster, of)
		case "f":
			return class(NamespaceLocks, roleCounter, Cluster, of)
		}
	default:
		return classifyBucket(kind, of, parts)
	}
	return keyClass{}
}

// classifyBucket is for the records and indexes of the kinds that have buckets.
func classifyBucket(tag, bucket string, parts []string) keyClass {
	number, err := strconv.Atoi(bucket)
	if err != nil || number < 0 || number >= Buckets || strconv.Itoa(number) != bucket {
		return keyClass{}
	}
	for k := range kinds {
		if kinds[k].tag != tag {
			continue
		}
		if len(parts) == 1 && parts[0] == "idx" {
			return keyClass{namespace: kindNamespaces[k], role: roleIndex, layout: Cluster, ids: []string{bucket}}
		}
		if len(parts) == 2 && parts[0] == "r" {
			if c := class(kindNamespaces[k], roleRecord, Cluster, parts[1]); c.role == roleRecord && bucketOf(c.ids[0]) == number {
				return c
			}
		}
	}
	return keyClass{}
}

// classifyCoordinatorTag is for what begins with a hash tag after "co:".
func classifyCoordinatorTag(s string) keyClass {
	kind, of, rest, ok := cutTag(s)
	switch {
	case !ok:
		return keyClass{}
	case kind == "t" && isTurnPart(rest):
		return turnClass(Cluster, of, rest)
	case kind == "ld" && rest == "":
		return class(NamespaceLeadership, roleHolder, Cluster, of)
	case kind == "ld" && rest == "term":
		return class(NamespaceLeadership, roleCounter, Cluster, of)
	}
	return keyClass{}
}

func isTurnPart(s string) bool {
	switch s {
	case "seq", "tix", "serving", "owner", "last":
		return true
	}
	return false
}

func turnClass(layout Layout, chat, part string) keyClass {
	return class(NamespaceTurns, roleHolder, layout, chat, part)
}

// classifyFlat is for names without a hash tag.
func classifyFlat(s []string) keyClass {
	if s[0] == "co" {
		return classifyFlatCoordinator(s[1:])
	}
	for k := range kinds {
		if s[0] == kinds[k].legacy && len(s) == 2 {
			return class(kindNamespaces[k], roleRecord, Legacy, s[1])
		}
	}
	switch {
	case s[0] == "msg" && len(s) == 2:
		return class(NamespaceMessages, roleIndex, Legacy, s[1])
	case s[0] == "msg" && len(s) == 3:
		return class(NamespaceMessages, roleRecord, Legacy, s[1], s[2])
	case s[0] == "user" && len(s) == 4:
		return class(NamespaceUserData, roleRecord, Legacy, s[1:]...)
	case s[0] == "lock" && len(s) == 2:
		return class(NamespaceLocks, roleHolder, Legacy, s[1])
	case s[0] == "fence" && len(s) == 2:
		return class(NamespaceLocks, roleCounter, Legacy, s[1])
	case s[0] == "conv" && len(s) == 2:
		return class(NamespaceConversations, roleRecord, Auto, s[1])
	case s[0] == "cursor" && len(s) == 2:
		return class(NamespaceCursors, roleRecord, Auto, s[1])
	case s[0] == "lease" && len(s) == 2:
		return class(NamespaceLeases, roleRecord, Auto, s[1])
	}
	return keyClass{}
}

// classifyFlatCoordinator is for what follows "co:".
func classifyFlatCoordinator(s []string) keyClass {
	switch {
	case len(s) == 2 && s[0] == "rep":
		return class(NamespaceHeartbeats, roleHolder, Auto, s[1])
	case len(s) == 2 && s[0] == "leader":
		return class(NamespaceLeadership, roleHolder, Legacy, s[1])
	case len(s) == 3 && s[0] == "leader" && s[2] == "term":
		return class(NamespaceLeadership, roleCounter, Legacy, s[1])
	case len(s) == 3 && s[0] == "turn" && isTurnPart(s[2]):
		return turnClass(Legacy, s[1], s[2])
	}
	return keyClass{}
}

// patternOf is a glob pattern for all keys of a prefix.
func patternOf(prefix string) string { return globEscaper.Replace(prefix) + ":*" }

var globEscaper = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`)
