package keyspace

import (
	"fmt"

	"github.com/fakecluster/fakecluster/emulator/internal/rdb"
)

// File is all data as Redis writes it into an RDB file, with libraries of
// functions in front.
func (ks *Keyspace) File(libraries [][]byte) []byte {
	version := rdb.FormatVersion(ks.Limits.Version)
	var w rdb.Writer
	w.Raw(fmt.Appendf(nil, "REDIS%04d", version))
	w.Aux("redis-ver", ks.Limits.Version.String())
	w.Aux("redis-bits", "64")
	for _, code := range libraries {
		w.Byte(rdb.OpFunction)
		w.String(code)
	}
	for i, db := range ks.dbs {
		if db.Len() == 0 {
			continue
		}
		w.Byte(rdb.OpSelectDB)
		w.Len(uint64(i))
		for k := range db.entries.All() {
			if k.Value.expireAt != 0 {
				w.Byte(rdb.OpExpireTimeMs)
				w.Millis(k.Value.expireAt)
			}
			kind, value := rdb.Split(Dump(k.Value.value, &ks.Limits))
			w.Byte(kind)
			w.String([]byte(k.key))
			w.Raw(value)
		}
	}
	w.Byte(rdb.OpEOF)
	w.Uint64(rdb.Checksum(w.Bytes()))
	return w.Bytes()
}

// Reload replaces every value by what is loaded from its dump, and drops what
// has expired, as a server does that saves its data and starts again.
func (ks *Keyspace) Reload() error {
	for _, db := range ks.dbs {
		if err := db.reload(); err != nil {
			return fmt.Errorf("database %d: %w", db.id, err)
		}
	}
	return nil
}

func (db *DB) reload() error {
	limits := &db.keyspace.Limits
	var loaded []snapshotEntry
	for k := range db.entries.All() {
		if k.Value.expireAt != 0 && k.Value.expireAt < db.keyspace.now {
			continue
		}
		v, err := Load(Dump(k.Value.value, limits), limits)
		if err != nil {
			return fmt.Errorf("key %q: %w", k.key, err)
		}
		loaded = append(loaded, snapshotEntry{k.key, v, k.Value.expireAt})
	}
	db.fill(loaded)
	return nil
}
