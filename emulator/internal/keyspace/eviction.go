package keyspace

import (
	"math"
	"strings"
)

// Policy says which keys may go when memory is short, and which of them goes
// first: maxmemory-policy.
type Policy struct {
	// Volatile spares the keys that do not expire.
	Volatile bool
	Order    Order
}

// Order is what a Policy goes by.
type Order uint8

// The orders of eviction.
const (
	NoEviction      Order = iota
	LeastRecent           // lru
	LeastFrequent         // lfu
	AtRandom              // random
	SoonestToExpire       // ttl
)

// ParsePolicy reads a value of maxmemory-policy: "allkeys-lru". What it does not
// know is noeviction.
func ParsePolicy(name string) Policy {
	which, by, _ := strings.Cut(name, "-")
	order := map[string]Order{
		"lru": LeastRecent, "lfu": LeastFrequent, "random": AtRandom, "ttl": SoonestToExpire,
	}[by]
	return Policy{Volatile: which == "volatile", Order: order}
}

// Victim picks a key to evict, or ok is false if none may go. Like Redis it
// looks at a sample of so many keys of every database instead of all of them;
// only which key expires first is known without. The key stays where it is: who
// evicts it has replicas and clients to tell.
func (ks *Keyspace) Victim(p Policy, sample int) (db *DB, key string, ok bool) {
	var victim *Key
	best := int64(math.MinInt64)
	for _, candidate := range ks.dbs {
		for k := range candidate.sample(p, sample) {
			if merit := candidate.merit(k, p.Order); victim == nil || merit > best {
				db, victim, best = candidate, k, merit
			}
		}
	}
	if victim == nil {
		return nil, "", false
	}
	return db, victim.key, true
}

// sample yields keys that p lets go.
func (db *DB) sample(p Policy, n int) func(yield func(*Key) bool) {
	return func(yield func(*Key) bool) {
		candidates := db.Len()
		if p.Volatile {
			candidates = len(db.expiries)
		}
		if p.Order == NoEviction || candidates == 0 {
			return
		}
		if p.Order == SoonestToExpire {
			yield(db.expiries[0])
			return
		}
		for range max(n, 1) {
			var k *Key
			if p.Volatile {
				k = db.expiries[db.keyspace.Rand.IntN(candidates)]
			} else {
				k = db.entries.Random(db.keyspace.Rand)
			}
			if !yield(k) {
				return
			}
		}
	}
}

// merit is greater for a key that should go earlier.
func (db *DB) merit(k *Key, by Order) int64 {
	ks := db.keyspace
	switch by {
	case LeastRecent:
		return ks.now/1000 - int64(k.Value.access)
	case LeastFrequent:
		return -ks.decayed(k.Value.access)
	case SoonestToExpire:
		return -k.Value.expireAt
	}
	return ks.Rand.Int64()
}
