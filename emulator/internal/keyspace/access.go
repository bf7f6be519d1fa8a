package keyspace

// access is how recently or how often a key was used: the time of its last use
// in Unix seconds or, under an LFU policy, 16 bits of the minute in which the
// counter last decayed and then the 8 bits of the counter. The counter is
// logarithmic: the more often a key has been used, the less likely one more
// use is to count.
type access uint32

const (
	lfuInitial    = 5 // what a new key starts with, lest it be evicted at once
	lfuMaximum    = 255
	lfuMinuteMask = 1<<16 - 1
)

// touch records that a key is used now.
func (db *DB) touch(k *Key) {
	ks := db.keyspace
	if ks.NoTouch {
		return
	}
	if !ks.Eviction.LFU {
		k.Value.access = access(ks.now / 1000)
		return
	}
	k.Value.access = frequency(ks.minute(), ks.countUse(ks.decayed(k.Value.access)))
}

// firstAccess is the access of a key that is new.
func (ks *Keyspace) firstAccess() access {
	if ks.Eviction.LFU {
		return frequency(ks.minute(), lfuInitial)
	}
	return access(ks.now / 1000)
}

func frequency(minute, counter int64) access { return access(minute<<8 | counter) }

func (ks *Keyspace) minute() int64 { return ks.now / 60_000 & lfuMinuteMask }

// decayed is the counter of a after the time since it was last touched: one
// less for every LFUDecayTime minutes.
func (ks *Keyspace) decayed(a access) int64 {
	counter := int64(a & lfuMaximum)
	if ks.Eviction.LFUDecayTime <= 0 {
		return counter
	}
	elapsed := (ks.minute() - int64(a>>8)) & lfuMinuteMask
	return max(counter-elapsed/int64(ks.Eviction.LFUDecayTime), 0)
}

// countUse is the counter after one more use.
func (ks *Keyspace) countUse(counter int64) int64 {
	if counter == lfuMaximum {
		return counter
	}
	above := float64(max(counter-lfuInitial, 0))
	if ks.Rand.Float64() < 1/(above*float64(ks.Eviction.LFULogFactor)+1) {
		counter++
	}
	return counter
}

// Idle is the time since key was last used, in seconds; ok is false if there
// is no such key, expired or not. Under an LFU policy it means nothing.
func (db *DB) Idle(key []byte) (seconds int64, ok bool) {
	k := db.find(key)
	if k == nil {
		return 0, false
	}
	return max(db.keyspace.now/1000-int64(k.Value.access), 0), true
}

// Frequency is the logarithmic counter of how often key is used, 0 to 255; ok
// is false if there is no such key. It means something under an LFU policy only.
func (db *DB) Frequency(key []byte) (counter int64, ok bool) {
	k := db.live(key)
	if k == nil {
		return 0, false
	}
	return db.keyspace.decayed(k.Value.access), true
}

// SetIdle makes key look unused for some seconds, for RESTORE IDLETIME.
func (db *DB) SetIdle(key []byte, seconds int64) {
	if k := db.live(key); k != nil && !db.keyspace.Eviction.LFU {
		k.Value.access = access(max(db.keyspace.now/1000-seconds, 0))
	}
}

// SetFrequency sets the counter of key, 0 to 255, for RESTORE FREQ.
func (db *DB) SetFrequency(key []byte, counter int64) {
	if k := db.live(key); k != nil && db.keyspace.Eviction.LFU {
		k.Value.access = frequency(db.keyspace.minute(), counter)
	}
}
