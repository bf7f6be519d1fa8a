package keyspace

import "container/heap"

// FieldsTimed says that a command changed when fields of the hash at key
// expire.
func (db *DB) FieldsTimed(key []byte) {
	if k := db.live(key); k != nil {
		db.scheduleFields(k)
	}
}

// scheduleFields makes active expiry look at a hash when its first field
// expires.
func (db *DB) scheduleFields(k *Key) {
	h, ok := k.Value.value.(*Hash)
	if !ok {
		return
	}
	if next := h.nextExpiry(); next != 0 && (h.scheduled == 0 || next < h.scheduled) {
		h.scheduled = next
		heap.Push(&db.timedHashes, timedHash{next, k.key})
	}
}

// firstTimedHash returns the hash of which a field expires first. What was
// scheduled may have changed since: that is noticed only here.
func (db *DB) firstTimedHash() (*Key, *Hash) {
	for len(db.timedHashes) > 0 {
		first := db.timedHashes[0]
		k := db.entries.FindString(first.key)
		if k != nil {
			if h, ok := k.Value.value.(*Hash); ok && h.scheduled == first.at {
				if h.nextExpiry() == first.at {
					return k, h
				}
				h.scheduled = 0
				db.scheduleFields(k)
			}
		}
		heap.Pop(&db.timedHashes)
	}
	return nil, nil
}

// TimedHashes is the number of hashes with fields that expire.
func (db *DB) TimedHashes() int {
	n := 0
	seen := make(map[string]bool, len(db.timedHashes))
	for _, t := range db.timedHashes {
		if k := db.entries.FindString(t.key); k != nil && !seen[t.key] {
			seen[t.key] = true
			if h, ok := k.Value.value.(*Hash); ok && h.nextExpiry() != 0 {
				n++
			}
		}
	}
	return n
}

// liveFields removes the fields of a hash whose time has come. It returns nil
// if that leaves nothing. On a replica it only hides them.
func (db *DB) liveFields(k *Key) *Key {
	h, ok := k.Value.value.(*Hash)
	if !ok {
		return k
	}
	next := h.nextExpiry()
	if next == 0 || next >= db.keyspace.now {
		return k
	}
	switch {
	case db.keyspace.IgnoreExpiry:
		h.now = 0
	case db.keyspace.KeepExpired:
		h.now = db.keyspace.now
	default:
		db.expireFields(k, h)
	}
	if h.Len() == 0 {
		return nil
	}
	return k
}

// expireFields removes the fields of a hash whose time has come, and the hash
// if none is left.
func (db *DB) expireFields(k *Key, h *Hash) {
	fields := h.expireFields(db.keyspace.now)
	empty := h.Len() == 0
	if empty {
		db.remove(k)
	} else {
		db.scheduleFields(k)
	}
	db.keyspace.Stats.ExpiredFields += int64(len(fields))
	hooks := db.keyspace.hooks
	if hooks == nil {
		return
	}
	hooks.FieldsExpired(db, k.key, fields)
	hooks.Event(db, ClassHash, "hexpired", k.key)
	if empty {
		hooks.Event(db, ClassGeneric, "del", k.key)
	}
	hooks.Modified(db, k.key)
}

// timedHash is when to look at a hash.
type timedHash struct {
	at  int64 // Unix ms
	key string
}

// timedHashHeap orders hashes by when their first field expires.
type timedHashHeap []timedHash

func (h timedHashHeap) Len() int           { return len(h) }
func (h timedHashHeap) Less(i, j int) bool { return h[i].at < h[j].at }
func (h timedHashHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *timedHashHeap) Push(x any)        { *h = append(*h, x.(timedHash)) }

func (h *timedHashHeap) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	(*h)[last] = timedHash{}
	*h = (*h)[:last]
	return t
}
