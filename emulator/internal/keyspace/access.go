package keyspace

// access is when a key was last used: Unix seconds, 32 bits of them.
type access uint32

func (db *DB) touch(k *Key) {
	k.Value.access = access(db.keyspace.now / 1000)
}

// Idle is the time since key was last used, in seconds; ok is false if there
// is no such key.
func (db *DB) Idle(key []byte) (seconds int64, ok bool) {
	k := db.live(key)
	if k == nil {
		return 0, false
	}
	return db.keyspace.now/1000 - int64(k.Value.access), true
}
