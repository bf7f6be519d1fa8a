// Package server turns a keyspace and a command table into nodes that clients
// connect to: sessions on redcon's listeners, the order of checks a command
// passes before it runs, transactions, blocking, publish and subscribe,
// scripts, and what CLIENT, CONFIG, INFO and CLUSTER tell of it.
//
// A node executes like Redis does, one command at a time under one lock.
// Everything that concerns others (writing to their sockets, delivering a
// message to another node) is noted while the lock is held and done after it is
// released, so that no goroutine ever holds two nodes' locks.
package server

import (
	"context"
	"encoding/hex"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/acl"
	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/config"
	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/lock"
	"github.com/fakecluster/fakecluster/emulator/internal/replication"
	"github.com/fakecluster/fakecluster/emulator/internal/resp"
	"github.com/fakecluster/fakecluster/emulator/internal/topology"
	"github.com/fakecluster/fakecluster/emulator/internal/version"
)

// Options are what a Node is built with.
type Options struct {
	Version version.Version
	// Cluster is set for nodes of a cluster: one database, slots, redirections.
	Cluster  bool
	Password string
	Port     int
	Rand     *rand.Rand
	Clock    *Clock
	Log      *slog.Logger
	// Dial connects to another server, for MIGRATE.
	Dial func(ctx context.Context, addr string) (net.Conn, error)
	// OnShutdown is called, in a goroutine of its own, when a client says
	// SHUTDOWN.
	OnShutdown func()
	// Source is what Rand draws from, so that Reset can begin again.
	Source *rand.PCG
	// Config are parameters that are not to have Redis' own values.
	Config map[string]string
	// Harness arranges faults and a trace; all nodes of a cluster share one.
	Harness *Harness
	// InOrder serves clients in the order in which they wrote; see eventLoop.
	InOrder bool
	// DeclaredKeysOnly refuses scripts a key they did not declare, whatever slot
	// it is in.
	DeclaredKeysOnly bool
	// Users is the text of an ACL file, ACLFile the name of one.
	Users, ACLFile string
	// Keep stores the node's data, an RDB file, for SAVE. The node's lock is held.
	// Without it SAVE only says that it has.
	Keep func(rdb []byte) error
	// Observe is shown every command that clients have had executed. The node's
	// lock is held.
	Observe func(Observed)
	// Outside are commands that no list shows, by their lower-case names.
	Outside map[string]Outside
}

// Node is one Redis server, alone or in a cluster.
type Node struct {
	version    version.Version
	table      *command.Table
	clustered  bool
	clock      *Clock
	log        *slog.Logger
	started    time.Time
	runID      string
	port       int
	onShutdown func()
	dial       func(ctx context.Context, addr string) (net.Conn, error)
	options    Options
	firstSeed  []byte
	id         atomic.Value // string; see topologyID
	life       life

	// What parsers go by, which run without the lock: proto-max-bulk-len and
	// client-query-buffer-limit.
	maxBulk, maxInput atomic.Int64
	// timesIdle is set where timeout ends idle clients.
	timesIdle atomic.Bool

	closing sync.Once

	// mu is the node's lock. All below is touched under it only.
	mu     lock.Mutex[lock.Node]
	now    time.Time // when the running command began
	ks     *keyspace.Keyspace
	config *config.Config
	set    settings
	users  *acl.Users
	aclLog aclLog
	rand   *rand.Rand
	stats  stats

	running  *session // whose command is being executed
	sessions map[int64]*session
	nextID   int64
	closed   bool

	pause         pause // CLIENT PAUSE
	failoverPause pause // a manual failover holds writes
	watched       map[dbKey]map[*session]struct{}
	blocked       blocking
	pubsub        pubsub
	scripts       scripts
	saved         *savedData // by DEBUG RELOAD
	lastSave      lastSave
	effects       effects
	tracking      tracking
	isFull        bool // makeRoom could not
	slowlog       slowlog
	latency       latency
	monitors      []*session
	streams       streams
	invocations   uint64 // commands run, those of scripts and transactions too
	replog        *replication.Log
	replica       replicaSide
	elsewhere     masterElsewhere
	offsetSeen    int64    // replication offset a replica has executed
	masterClient  *session // in whose name a replica executes
	expiry        expiryTimer
	patrol        patrol

	cluster *Cluster       // nil for a server on its own
	topo    *topology.Node // nil unless clustered
	route   topology.Request
	refs    []command.KeyRef
	seen    int // how many changes of the topology have been dealt with

	push    resp.Encoder // scratch for pushTo
	toFlush []*session
	after   []func()
	// unsettledNow is set while after holds the exchange of heartbeats.
	unsettledNow bool

	addr      topology.Addr // where it listens
	listeners []*listener
	leaving   sync.WaitGroup // listeners of before, until their sessions have ended
	loop      *eventLoop     // nil where nobody listens on TCP
	hangups   *hangups       // nil where nobody does, or in order
}

// dbKey names a key across databases.
type dbKey struct {
	db  int
	key string
}

// databases of a server. Those of a node of a cluster have numbers too, but
// nothing gets into any other than the first.
const databases = 16

// NewNode returns a node without data that listens nowhere yet.
func NewNode(o Options) (*Node, error) {
	if o.Harness == nil {
		o.Harness = NewHarness(0)
	}
	n := &Node{
		version: o.Version, table: tableWith(o.Version, o.Outside), clustered: o.Cluster,
		clock: o.Clock, log: o.Log, rand: o.Rand, firstSeed: saveSeed(o.Source),
		port: o.Port, sessions: map[int64]*session{}, onShutdown: o.OnShutdown, dial: o.Dial, options: o,
	}
	n.life.end = make(chan struct{})
	n.route.Exists = n.existsIn0 // made here once: a method's value is an allocation
	n.masterClient = &session{node: n, authenticated: true}
	if err := n.begin(); err != nil {
		return nil, err
	}
	n.replog = replication.NewLog(randomHex(o.Rand, 20))
	return n, nil
}

// tables holds one table per version: they are immutable, and dear to build.
var tables sync.Map

func tableFor(v version.Version) *command.Table {
	if t, ok := tables.Load(v); ok {
		return t.(*command.Table)
	}
	t, _ := tables.LoadOrStore(v, command.NewTable(v, families...))
	return t.(*command.Table)
}

// families are the handlers of commands that concern clients and the node.
var families = []map[string]command.Handler{
	connectionCommands,
	clientCommands,
	transactionCommands,
	pubsubCommands,
	scriptingCommands,
	functionCommands,
	migrateCommands,
	absentCommands, saveCommands,
	serverCommands,
	clusterCommands,
	trackingCommands,
	slowlogCommands,
	latencyCommands,
	monitorCommands,
	memoryCommands,
	debugCommands,
	syncCommands,
	aclCommands,
}

func randomHex(r *rand.Rand, bytes int) string {
	b := make([]byte, bytes)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return hex.EncodeToString(b)
}

// lock takes the node's lock, looks at the clock and, on a replica, executes
// what has arrived from the master.
func (n *Node) lock() {
	n.mu.Lock()
	n.entered()
}

// entered is what comes first whenever the lock has been taken.
func (n *Node) entered() {
	n.now = n.clock.Now()
	n.ks.SetNow(n.now.UnixMilli())
	if n.replica.link != nil && !n.scripts.slow {
		n.catchUp()
	}
}

// unlock settles what has been done under the lock and releases it; then it
// does what had to wait for that. No other node's lock may be held.
func (n *Node) unlock() {
	if n.scripts.slow {
		n.mu.Unlock() // a script is half done: nothing can be settled
		return
	}
	if len(n.blocked.touched) > 0 {
		n.serveBlocked()
	}
	n.commitEffects()
	if n.topo != nil && n.topo.Changes() != n.seen {
		n.seen = n.topo.Changes()
		if n.topo.ID() != n.topologyID() {
			n.publishID()
		}
		n.topologyChanged()
	}
	if len(n.blocked.others) > 0 {
		n.recheck()
	}
	n.armExpiry()
	if n.replica.link != nil {
		n.awaitArrivals()
	}
	if n.tracking.changed {
		n.broadcastInvalidations()
	}
	if len(n.toFlush) > 0 {
		n.limitOutput(n.toFlush)
	}
	flush, after := n.toFlush, n.after
	n.toFlush, n.after, n.unsettledNow = nil, nil, false
	n.mu.Unlock()
	for _, s := range flush {
		s.out.flush()
	}
	for _, do := range after {
		do()
	}
}

// later does something when the lock has been released, before the client that
// is being served gets its reply.
func (n *Node) later(do func()) { n.after = append(n.after, do) }

// Update runs do under the node's lock.
func (n *Node) Update(do func(*keyspace.Keyspace)) {
	n.lock()
	defer n.unlock()
	do(n.ks)
}

// hooks is what the keyspace tells a node.
type hooks Node

func (h *hooks) WantsModified() bool {
	n := (*Node)(h)
	return len(n.watched) > 0 || n.tracking.active()
}

func (h *hooks) WantsEvent(class keyspace.Class) bool { return (*Node)(h).set.notify&class != 0 }

func (h *hooks) Modified(db *keyspace.DB, key string) {
	n := (*Node)(h)
	k := dbKey{db.ID(), key}
	if len(n.watched) > 0 {
		n.touchWatched(k)
	}
	if n.tracking.active() {
		n.invalidate(key, n.changedBy(), true)
	}
}

func (h *hooks) Ready(db *keyspace.DB, key string, kind keyspace.Kind) {
	(*Node)(h).keyReady(dbKey{db.ID(), key}, kind)
}

func (h *hooks) StreamGone(db *keyspace.DB, key string) {
	(*Node)(h).streamGone(dbKey{db.ID(), key})
}

func (h *hooks) Expired(db *keyspace.DB, key string) {
	n := (*Node)(h)
	n.stats.expired++
	n.tracking.byServer = n.tracking.active()
	if n.replicating() {
		n.effects.add(db.ID(), [][]byte{[]byte("DEL"), []byte(key)})
	}
}

func (h *hooks) FieldsExpired(db *keyspace.DB, key string, fields []string) {
	n := (*Node)(h)
	if !n.replicating() {
		return
	}
	for _, field := range fields {
		n.effects.add(db.ID(), [][]byte{[]byte("HDEL"), []byte(key), []byte(field)})
	}
}

func (h *hooks) Flushed(db *keyspace.DB) {
	n := (*Node)(h)
	if len(n.watched) > 0 {
		n.touchWatchedDB(db.ID(), db, nil)
	}
	if n.tracking.active() {
		n.invalidateAll()
	}
	for _, key := range n.blocked.keys(db.ID()) {
		if value := db.Stored([]byte(key.key)); value != nil && value.Kind() == keyspace.KindStream {
			n.streamGone(key)
		}
	}
}

// Swapped makes transactions stale that watch a key of either database which
// exists in one of them, and lets blocked clients look again.
func (h *hooks) Swapped(a, b *keyspace.DB) {
	n := (*Node)(h)
	n.touchWatchedDB(a.ID(), b, a) // each now has what was the other's
	n.touchWatchedDB(b.ID(), a, b)
	n.swapped(a, b)
	n.swapped(b, a)
}

// swapped looks at the keys of db that clients wait for, what it held before
// being in other now.
func (n *Node) swapped(db, other *keyspace.DB) {
	for _, key := range n.blocked.keys(db.ID()) {
		name := []byte(key.key)
		value := db.Stored(name)
		if value != nil {
			n.keyReady(key, value.Kind())
		}
		if gone := other.Stored(name); gone != nil && gone.Kind() == keyspace.KindStream && (value == nil || value.Kind() != keyspace.KindStream) {
			n.streamGone(key)
		}
	}
}

// Event publishes a keyspace notification if notify-keyspace-events asks for
// its class.
func (h *hooks) Event(db *keyspace.DB, class keyspace.Class, event, key string) {
	n := (*Node)(h)
	if n.set.notify&class == 0 {
		return
	}
	n.notifyKeyspace(db.ID(), event, key)
}

// expiryTimer wakes the node when the next key expires.
type expiryTimer struct {
	timer *time.Timer
	at    int64 // Unix ms of the cluster's clock, 0 when not set
	off   bool  // DEBUG SET-ACTIVE-EXPIRE 0
}

// armExpiry sets the timer for the next key that expires.
func (n *Node) armExpiry() {
	next, ok := n.ks.NextExpiry()
	if !ok || n.expiry.off || n.ks.KeepExpired || n.closed {
		if n.expiry.at != 0 {
			n.expiry.timer.Stop()
			n.expiry.at = 0
		}
		return
	}
	if next == n.expiry.at {
		return
	}
	n.expiry.at = next
	// A key expires after its millisecond has passed.
	wait := time.UnixMilli(next + 1).Sub(n.clock.Now())
	if n.expiry.timer == nil {
		n.expiry.timer = time.AfterFunc(wait, n.expireDue)
	} else {
		n.expiry.timer.Reset(wait)
	}
}

// expireBatch bounds how many keys one hold of the lock expires.
const expireBatch = 1000

func (n *Node) expireDue() {
	for more := true; more; {
		n.lock()
		n.expiry.at = 0
		n.effects.apart = true
		more = !n.closed && !n.expiry.off && !n.life.gate.isClosed() && n.ks.ExpireDue(expireBatch) == expireBatch
		n.spiked("expire-cycle", n.clock.Now().Sub(n.now))
		n.unlock()
	}
}

// ClockMoved makes the node look at the clock again after it was advanced.
func (n *Node) ClockMoved() {
	n.expireDue()
	n.lock()
	armed := n.patrol.armed
	n.unlock()
	if armed {
		n.watchClients()
	}
}
