package keyspace

// EntryOverhead is what a key takes beside its name and its value, in bytes:
// about what a dictEntry and a robj take in Redis.
const EntryOverhead = 56

// TrackMemory says whether UsedMemory is about to be asked for often, as it is
// before every command where there is a maxmemory. Then the sum is kept up to
// date as keys change, within a sixteenth of every value; otherwise it is
// computed when asked for.
func (ks *Keyspace) TrackMemory(on bool) {
	if on == ks.tracking {
		return
	}
	ks.tracking = on
	for _, db := range ks.dbs {
		db.used = 0
		if !on {
			continue
		}
		for k := range db.entries.All() {
			k.Value.footprint = nil
			db.measure(k)
		}
	}
}

// UsedMemory is the approximate size of all data, in bytes.
func (ks *Keyspace) UsedMemory() int64 {
	var used int64
	for _, db := range ks.dbs {
		if ks.tracking {
			used += db.used
			continue
		}
		for k := range db.entries.All() {
			used += memoryOf(k)
		}
	}
	return used
}

func memoryOf(k *Key) int64 {
	return EntryOverhead + int64(len(k.key)) + k.Value.value.Memory()
}

// footprint is the size of a key and value when it was last measured, and when
// that was. Measuring a large value takes time in proportion to its length, so
// that it is done once in so many changes only.
type footprint struct {
	bytes   int64
	length  int32 // of the value
	changes int32 // since
	buckets int32 // of a table, which takes several times a listpack's memory
}

// measure brings a key's share of the memory up to date.
func (db *DB) measure(k *Key) {
	if !db.keyspace.tracking {
		return
	}
	bytes := memoryOf(k)
	if k.Value.footprint == nil {
		k.Value.footprint = new(footprint)
	}
	db.used += bytes - k.Value.footprint.bytes
	v := k.Value.value
	*k.Value.footprint = footprint{bytes: bytes, length: int32(lengthOf(v)), buckets: bucketsOf(v)}
}

// remeasure measures a key that has changed, if it has enough.
func (db *DB) remeasure(k *Key) {
	const fraction = 16
	f := k.Value.footprint
	f.changes++
	grown := int32(lengthOf(k.Value.value)) - f.length
	if max(f.changes, grown, -grown)*fraction >= f.length || f.buckets != bucketsOf(k.Value.value) {
		db.measure(k)
	}
}

// bucketsOf is the size of the table of a value that has outgrown its compact
// encoding, 0 before.
func bucketsOf(v Value) int32 {
	switch v := v.(type) {
	case *Set:
		if v.ints == nil && v.pack == nil {
			return int32(v.dict.Buckets())
		}
	case *ZSet:
		if v.pack == nil {
			return 1 // a skiplist grows node by node
		}
	case *Hash:
		if v.pack == nil {
			return int32(v.dict.Buckets())
		}
	}
	return 0
}

// lengthOf is the number of elements of a value, 0 for a string.
func lengthOf(v Value) int {
	switch v := v.(type) {
	case *List:
		return v.Len()
	case *Set:
		return v.Len()
	case *ZSet:
		return v.Len()
	case *Hash:
		return v.stored()
	case *Stream:
		return v.Len()
	}
	return 0
}
