package keyspace

import (
	"iter"

	"github.com/fakecluster/fakecluster/slots"
)

// Read looks a key up for a command that reads it: it counts a hit or a miss,
// notifies keymiss, and touches the access clock. An expired key is missing.
func (db *DB) Read(key []byte) Value {
	k := db.live(key)
	if k == nil {
		db.keyspace.Stats.Misses++
		db.keyspace.event(db, ClassKeyMiss, "keymiss", key)
		return nil
	}
	db.keyspace.Stats.Hits++
	db.touch(k)
	return k.Value.value
}

// Write looks a key up for a command that is about to change it: it touches
// the access clock but counts neither hits nor misses.
func (db *DB) Write(key []byte) Value {
	k := db.live(key)
	if k == nil {
		return nil
	}
	db.touch(k)
	return k.Value.value
}

// ReadUntouched is Read without touching the access clock, for commands that
// ask about a key and not for its value: TYPE, TTL, EXISTS.
func (db *DB) ReadUntouched(key []byte) Value {
	if db.live(key) == nil {
		db.keyspace.event(db, ClassKeyMiss, "keymiss", key)
	}
	return db.Inspect(key)
}

// Inspect looks a key up for OBJECT: it counts a hit or a miss, nothing else.
func (db *DB) Inspect(key []byte) Value {
	k := db.live(key)
	if k == nil {
		db.keyspace.Stats.Misses++
		return nil
	}
	db.keyspace.Stats.Hits++
	return k.Value.value
}

// Peek looks a key up without a trace.
func (db *DB) Peek(key []byte) Value {
	k := db.live(key)
	if k == nil {
		return nil
	}
	return k.Value.value
}

// Stored is Peek that also finds a key that has expired and was not removed yet.
func (db *DB) Stored(key []byte) Value {
	k := db.find(key)
	if k == nil {
		return nil
	}
	return k.Value.value
}

// Exists reports whether key is there and not expired, without a trace.
func (db *DB) Exists(key []byte) bool { return db.live(key) != nil }

// Lives reports whether key is there and not expired, and removes nothing.
func (db *DB) Lives(key []byte) bool {
	k := db.find(key)
	return k != nil && !db.expired(k)
}

// find finds a key, be it expired or not. A command looks its key up several times.
func (db *DB) find(key []byte) *Key {
	if k := db.recent; k != nil && k.key == string(key) {
		return k
	}
	k := db.entries.Find(key)
	if k != nil {
		db.recent = k
	}
	return k
}

// live finds a key, removing it if its time has come.
func (db *DB) live(key []byte) *Key {
	k := db.find(key)
	if k == nil {
		return nil
	}
	if !db.expired(k) {
		return db.liveFields(k)
	}
	if !db.keyspace.KeepExpired {
		db.expire(k)
	}
	return nil
}

// Set makes key hold value, whatever it held before, and drops its time to
// live unless keepTTL. value must not be held by another key.
func (db *DB) Set(key []byte, value Value, keepTTL bool) {
	if k := db.live(key); k != nil {
		db.replace(k, value, keepTTL)
		return
	}
	db.Add(key, value)
}

func (db *DB) replace(k *Key, value Value, keepTTL bool) {
	db.streamGone(k)
	k.Value.value = value
	db.overwritten(k, keepTTL)
}

// SetString is Set with a string that holds a copy of value.
func (db *DB) SetString(key, value []byte, keepTTL bool) {
	k := db.live(key)
	if k == nil {
		db.Add(key, NewString(value))
		return
	}
	if s, ok := k.Value.value.(*String); ok {
		s.assign(value)
		db.overwritten(k, keepTTL)
		return
	}
	db.replace(k, NewString(value), keepTTL)
}

// overwritten does what is due when a key has got a new value.
func (db *DB) overwritten(k *Key, keepTTL bool) {
	if !db.keyspace.Eviction.LFU { // how often a name is used outlives its value
		db.touch(k)
	}
	if !keepTTL {
		db.expiries.remove(k)
	}
	db.measure(k)
	db.scheduleAll(k)
}

// Add puts in a key that must not exist.
func (db *DB) Add(key []byte, value Value) {
	if stale := db.find(key); stale != nil {
		db.remove(stale) // an expired key that a replica still kept
	}
	k := db.entries.Add(string(key), Entry{value: value, access: db.keyspace.firstAccess()})
	if db.keyspace.slots {
		db.slot(slots.OfString(k.key)).push(k)
	}
	db.measure(k)
	db.keyspace.event(db, ClassNew, "new", key)
	db.scheduleAll(k)
	db.ready(k)
}

// Rename gives the key from the name to in database dst, where no key of that
// name may be, with its value, time to live and access. from must exist.
func (db *DB) Rename(from []byte, dst *DB, to []byte) {
	k := db.live(from)
	entry := k.Value
	dst.Add(to, entry.value)
	renamed := dst.live(to)
	renamed.Value.access = entry.access
	dst.expiries.set(renamed, entry.expireAt)
	db.remove(k)
}

// Delete removes key and reports whether it was there. It tells no hook: the
// caller knows which event it is.
func (db *DB) Delete(key []byte) bool {
	k := db.live(key)
	if k == nil {
		return false
	}
	db.remove(k)
	return true
}

// Drop is Delete for commands that do not look whether the key has expired.
func (db *DB) Drop(key []byte) bool {
	k := db.find(key)
	if k == nil {
		return false
	}
	db.remove(k)
	return true
}

func (db *DB) remove(k *Key) {
	db.streamGone(k)
	db.expiries.remove(k)
	if db.keyspace.slots {
		db.slot(slots.OfString(k.key)).unlink(k)
	}
	if f := k.Value.footprint; f != nil {
		db.used -= f.bytes
	}
	if db.recent == k {
		db.recent = nil
	}
	db.entries.Delete(k.key)
}

// Holds reports whether a key is there, be it expired or not.
func (db *DB) Holds(key string) bool { return db.entries.FindString(key) != nil }

// Clear removes every key and returns how many there were.
func (db *DB) Clear() int {
	n := db.Len()
	if h := db.keyspace.hooks; h != nil {
		h.Flushed(db)
	}
	db.contents = contents{}
	return n
}

// Random returns a key picked at random, or false from an empty database. Like
// Redis it gives up looking for an unexpired one after 100 tries when all keys
// are volatile.
func (db *DB) Random() (string, bool) {
	for try := 0; ; try++ {
		k := db.entries.Random(db.keyspace.Rand)
		if k == nil {
			return "", false
		}
		if !db.expired(k) {
			return k.key, true
		}
		if db.keyspace.KeepExpired {
			if try >= 100 && db.Volatile() == db.Len() {
				return k.key, true
			}
			continue
		}
		db.expire(k)
	}
}

// Keys yields the keys that have not expired, in no particular order. The
// database must not change during the walk.
func (db *DB) Keys() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for k := range db.entries.All() {
			if !db.expired(k) && !yield(k.key, k.Value.value) {
				return
			}
		}
	}
}

// Scan visits the keys at cursor, expired ones included, and returns the next
// cursor, as Dict.Scan does. visit must not change the database.
func (db *DB) Scan(cursor uint64, visit func(key string, value Value)) uint64 {
	return db.entries.Scan(cursor, func(k *Key) { visit(k.key, k.Value.value) })
}

// Modified says that a command changed what key holds, or removed it.
func (db *DB) Modified(key []byte) {
	if db.keyspace.tracking {
		if k := db.find(key); k != nil {
			db.remeasure(k)
		}
	}
	if h := db.keyspace.hooks; h != nil && h.WantsModified() {
		h.Modified(db, string(key))
	}
}

// Event reports a keyspace event about key.
func (db *DB) Event(class Class, event string, key []byte) {
	db.keyspace.event(db, class, event, key)
}

// Ready says that key may satisfy a client blocked on it: Add says so itself,
// a command that adds to an existing stream must. A value that takes another
// one's place satisfies nobody, as in Redis.
func (db *DB) Ready(key []byte) {
	if k := db.live(key); k != nil {
		db.ready(k)
	}
}

// scheduleAll plans the ends of k's fields when it got another value.
func (db *DB) scheduleAll(k *Key) {
	if h, ok := k.Value.value.(*Hash); ok {
		h.scheduled = 0 // it may have been another key's
		db.scheduleFields(k)
	}
}

func (db *DB) ready(k *Key) {
	switch kind := k.Value.value.Kind(); kind {
	case KindList, KindZSet, KindStream:
		if h := db.keyspace.hooks; h != nil {
			h.Ready(db, k.key, kind)
		}
	}
}

// streamGone tells those who read the stream at k in a group that it is going.
func (db *DB) streamGone(k *Key) {
	if h := db.keyspace.hooks; h != nil && k.Value.value.Kind() == KindStream {
		h.StreamGone(db, k.key)
	}
}

func (ks *Keyspace) event(db *DB, class Class, event string, key []byte) {
	if ks.hooks != nil && ks.hooks.WantsEvent(class) {
		ks.hooks.Event(db, class, event, string(key))
	}
}
