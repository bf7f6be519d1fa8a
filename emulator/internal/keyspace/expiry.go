package keyspace

import "container/heap"

// ExpireAt returns when key expires in Unix milliseconds: 0 if it does not, and
// ok is false if there is no such key.
func (db *DB) ExpireAt(key []byte) (ms int64, ok bool) {
	k := db.live(key)
	if k == nil {
		return 0, false
	}
	return k.Value.expireAt, true
}

// Stale reports whether key is still there although its time has come.
func (db *DB) Stale(key []byte) bool {
	k := db.find(key)
	return k != nil && db.expired(k)
}

// AverageTTL is the mean time left to the volatile keys, in milliseconds.
func (db *DB) AverageTTL() int64 {
	var sum int64
	for _, k := range db.expiries {
		sum += max(0, k.Value.expireAt-db.keyspace.now)
	}
	return sum / max(1, int64(len(db.expiries)))
}

// SetExpireAt makes key expire at ms, Unix milliseconds, or never when ms is 0.
// It reports whether there is such a key.
func (db *DB) SetExpireAt(key []byte, ms int64) bool {
	k := db.live(key)
	if k == nil {
		return false
	}
	db.expiries.set(k, ms)
	return true
}

// NextExpiry returns the earliest time, in Unix milliseconds, at which a key of
// any database, or a field of a hash, expires.
func (ks *Keyspace) NextExpiry() (ms int64, ok bool) {
	for _, db := range ks.dbs {
		if len(db.expiries) > 0 && (!ok || db.expiries[0].Value.expireAt < ms) {
			ms, ok = db.expiries[0].Value.expireAt, true
		}
		if _, h := db.firstTimedHash(); h != nil && (!ok || h.nextExpiry() < ms) {
			ms, ok = h.nextExpiry(), true
		}
	}
	return ms, ok
}

// ExpireDue removes up to limit keys whose time has come, or fields of as many
// hashes, and returns how many; a caller repeats it while it returns limit. It does nothing while
// KeepExpired.
func (ks *Keyspace) ExpireDue(limit int) int {
	if ks.KeepExpired {
		return 0
	}
	n := 0
	for _, db := range ks.dbs {
		for n < limit && len(db.expiries) > 0 && db.expired(db.expiries[0]) {
			db.expire(db.expiries[0])
			n++
		}
		for n < limit && !ks.IgnoreExpiry {
			k, h := db.firstTimedHash()
			if h == nil || h.nextExpiry() >= ks.now {
				break
			}
			db.expireFields(k, h)
			n++
		}
	}
	return n
}

func (db *DB) expired(k *Key) bool {
	return k.Value.expireAt != 0 && db.keyspace.now > k.Value.expireAt && !db.keyspace.IgnoreExpiry
}

// expire removes a key whose time has come.
func (db *DB) expire(k *Key) {
	db.remove(k)
	db.keyspace.Stats.Expired++
	if h := db.keyspace.hooks; h != nil {
		h.Expired(db, k.key)
		h.Event(db, ClassExpired, "expired", k.key)
		h.Modified(db, k.key)
	}
}

// expiryHeap orders the volatile keys by when they expire, the earliest first,
// so that active expiry needs no sampling and a timer can be set for the next.
type expiryHeap []*Key

func (h *expiryHeap) set(k *Key, ms int64) {
	switch {
	case ms == 0:
		h.remove(k)
	case k.Value.heapIndex == 0:
		k.Value.expireAt = ms
		heap.Push(h, k)
	default:
		k.Value.expireAt = ms
		heap.Fix(h, int(k.Value.heapIndex)-1)
	}
}

func (h *expiryHeap) remove(k *Key) {
	if k.Value.heapIndex != 0 {
		heap.Remove(h, int(k.Value.heapIndex)-1)
		k.Value.expireAt = 0
	}
}

// The methods below are heap.Interface's.

func (h expiryHeap) Len() int           { return len(h) }
func (h expiryHeap) Less(i, j int) bool { return h[i].Value.expireAt < h[j].Value.expireAt }

func (h expiryHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].Value.heapIndex, h[j].Value.heapIndex = int32(i+1), int32(j+1)
}

func (h *expiryHeap) Push(x any) {
	k := x.(*Key)
	*h = append(*h, k)
	k.Value.heapIndex = int32(len(*h))
}

func (h *expiryHeap) Pop() any {
	last := len(*h) - 1
	k := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	k.Value.heapIndex = 0
	return k
}
