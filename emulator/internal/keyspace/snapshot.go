package keyspace

// Snapshot is a copy of a keyspace's data that shares nothing with it.
type Snapshot struct {
	dbs [][]snapshotEntry
}

type snapshotEntry struct {
	key      string
	value    Value
	expireAt int64
}

// Snapshot copies all data, keys that have expired but are still there too: it
// is for a replica, which waits for its master to say that they are gone.
func (ks *Keyspace) Snapshot() *Snapshot {
	s := &Snapshot{dbs: make([][]snapshotEntry, len(ks.dbs))}
	for i, db := range ks.dbs {
		for k := range db.entries.All() {
			s.dbs[i] = append(s.dbs[i], snapshotEntry{k.key, k.Value.value.Clone(), k.Value.expireAt})
		}
	}
	return s
}

// Restore replaces all data by a snapshot's, which must not be used again.
func (ks *Keyspace) Restore(s *Snapshot) {
	for i, db := range ks.dbs {
		if i < len(s.dbs) {
			db.fill(s.dbs[i])
		} else {
			db.Clear()
		}
	}
}

// Merge puts in a copy of what a snapshot has that has not expired since, in the
// place of keys of the same names.
func (ks *Keyspace) Merge(s *Snapshot) {
	for i, db := range ks.dbs[:min(len(ks.dbs), len(s.dbs))] {
		for _, e := range s.dbs[i] {
			if e.expireAt != 0 && e.expireAt < ks.now {
				continue
			}
			key := []byte(e.key)
			db.Set(key, e.value.Clone(), false)
			db.expiries.set(db.find(key), e.expireAt)
		}
	}
}

// fill replaces the data of a database.
func (db *DB) fill(entries []snapshotEntry) {
	db.Clear()
	for _, e := range entries {
		key := []byte(e.key)
		db.Add(key, e.value)
		if e.expireAt != 0 {
			db.expiries.set(db.find(key), e.expireAt)
		}
	}
}
