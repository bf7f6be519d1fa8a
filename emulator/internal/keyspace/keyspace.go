// Package keyspace holds the data of one node: databases of keys, the values
// with the encodings Redis would choose, expiry, and the index of keys by slot.
//
// It knows nothing of commands, replies or clients, and it has no lock and no
// clock of its own: whoever runs a command holds the node's lock and sets the
// time before (SetNow), so that a command, a transaction or a script sees one
// moment only, as in Redis. What others must learn of (watched keys, blocked
// clients, replicas) leaves through Hooks.
package keyspace

import (
	"math/rand/v2"

	"github.com/fakecluster/fakecluster/slots"
)

// Options configure New.
type Options struct {
	// Databases is the number of databases, at least 1.
	Databases int
	// Slots keeps an index of keys by hash slot, for nodes of a cluster.
	Slots  bool
	Limits Limits
	// Rand makes the random choices of SPOP, RANDOMKEY and their kin.
	Rand  *rand.Rand
	Hooks Hooks
}

// Keyspace is all the databases of one node.
type Keyspace struct {
	// Limits decide encodings; change them in place between commands.
	Limits Limits
	// Rand is the node's source of randomness.
	Rand *rand.Rand
	// Dirty counts changes, as rdb_changes_since_last_save does.
	Dirty int64
	// KeepExpired leaves expired keys in place and only treats them as
	// missing: a replica waits for its master to say that they are gone.
	KeepExpired bool
	// IgnoreExpiry takes expired keys for alive: set while a replica executes
	// its master's commands, for which they still were.
	IgnoreExpiry bool
	// NoTouch leaves the access clock alone: CLIENT NO-TOUCH.
	NoTouch  bool
	Eviction Eviction
	Stats    Stats

	hooks Hooks
	dbs   []*DB
	now   int64
	slots bool

	tracking bool // used of every database is up to date
}

// Eviction is what the access clock needs to know of the maxmemory settings.
type Eviction struct {
	// LFU is set when maxmemory-policy is one of the -lfu policies: then keys
	// remember how often they are used instead of when.
	LFU          bool
	LFULogFactor int // lfu-log-factor
	LFUDecayTime int // lfu-decay-time, minutes
}

// Stats are counters INFO prints.
type Stats struct {
	Hits, Misses, Expired int64
	ExpiredFields         int64 // of hashes
	LazyFreed             int64 // values that Redis would free in a thread of its own
}

// New returns an empty keyspace.
func New(o Options) *Keyspace {
	ks := &Keyspace{
		Limits:   o.Limits,
		Rand:     o.Rand,
		Eviction: Eviction{LFULogFactor: 10, LFUDecayTime: 1},
		hooks:    o.Hooks,
		slots:    o.Slots,
	}
	for i := range max(o.Databases, 1) {
		ks.dbs = append(ks.dbs, &DB{keyspace: ks, id: i})
	}
	return ks
}

// SetNow sets the time, in Unix milliseconds, that everything sees until the
// next call.
func (ks *Keyspace) SetNow(ms int64) { ks.now = ms }

// Now is the time of the running command in Unix milliseconds.
func (ks *Keyspace) Now() int64 { return ks.now }

// Databases is the number of databases.
func (ks *Keyspace) Databases() int { return len(ks.dbs) }

// DB returns database i, which must exist.
func (ks *Keyspace) DB(i int) *DB { return ks.dbs[i] }

// Swap exchanges the contents of two databases, for SWAPDB.
func (ks *Keyspace) Swap(i, j int) {
	a, b := ks.dbs[i], ks.dbs[j]
	a.contents, b.contents = b.contents, a.contents
	if ks.hooks != nil {
		ks.hooks.Swapped(a, b)
	}
}

// DB is one database.
type DB struct {
	contents
	keyspace *Keyspace
	id       int
}

// contents is what SWAPDB exchanges.
type contents struct {
	entries  Dict[Entry]
	recent   *Key // that was found last, nil if it is gone
	expiries expiryHeap
	bySlot   *[slots.Count]slotList
	// timedHashes is when to look at hashes with fields that expire.
	timedHashes timedHashHeap
	used        int64 // bytes, see TrackMemory
}

// ID is the database's number.
func (db *DB) ID() int { return db.id }

// Keyspace is the keyspace db belongs to.
func (db *DB) Keyspace() *Keyspace { return db.keyspace }

// Len is the number of keys, expired ones that are still there included.
func (db *DB) Len() int { return db.entries.Len() }

// Volatile is the number of keys with a time to live.
func (db *DB) Volatile() int { return len(db.expiries) }

// Node is a key with its entry, as it stands in a database.
type Key = Node[Entry]

// Entry is what a database knows of a key beside its name.
type Entry struct {
	value    Value
	expireAt int64 // Unix ms; 0 when the key does not expire
	// heapIndex is the entry's place among the volatile keys plus one.
	heapIndex int32
	access    access
	slotPrev  *Key
	slotNext  *Key
	footprint *footprint // nil unless memory is tracked
}
