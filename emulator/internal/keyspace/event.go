package keyspace

// Class is a set of keyspace-event classes, the letters of
// notify-keyspace-events.
type Class uint32

// The event classes, in the order Redis numbers them.
const (
	ClassKeyspace Class = 1 << iota // K
	ClassKeyevent                   // E
	ClassGeneric                    // g
	ClassString                     // $
	ClassList                       // l
	ClassSet                        // s
	ClassHash                       // h
	ClassZSet                       // z
	ClassExpired                    // x
	ClassEvicted                    // e
	ClassStream                     // t
	ClassKeyMiss                    // m, not part of A
	_                               // loaded, internal to Redis
	ClassModule                     // d
	ClassNew                        // n, not part of A

	ClassAll = ClassGeneric | ClassString | ClassList | ClassSet | ClassHash | ClassZSet | ClassExpired |
		ClassEvicted | ClassStream | ClassModule // A
)

// Hooks are told what happens to keys while a command runs under the node's
// lock. They must not change the keyspace.
type Hooks interface {
	// WantsModified and WantsEvent say whether Modified, and Event for a class,
	// need to be called at all: most of the time nobody listens.
	WantsModified() bool
	WantsEvent(class Class) bool
	// Modified says that key was created, changed or removed: WATCH and
	// client-side caches depend on it.
	Modified(db *DB, key string)
	// Event reports a keyspace event, "lpush" on key.
	Event(db *DB, class Class, event, key string)
	// Ready says that key now holds a value a blocked client may wait for, of
	// this kind.
	Ready(db *DB, key string, kind Kind)
	// StreamGone says that the stream at key is about to be removed or replaced.
	StreamGone(db *DB, key string)
	// Expired says that key's time has come and it was removed; replicas are
	// to remove it too.
	Expired(db *DB, key string)
	// FieldsExpired says that the time of fields of the hash at key has come and
	// they were removed; replicas are to remove them too.
	FieldsExpired(db *DB, key string, fields []string)
	// Flushed says that every key of db is about to go at once.
	Flushed(db *DB)
	// Swapped says that two databases have exchanged their contents.
	Swapped(a, b *DB)
}
