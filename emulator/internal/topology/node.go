package topology

import (
	"encoding/hex"
	"math/rand/v2"

	"github.com/fakecluster/fakecluster/emulator/internal/version"
	"github.com/fakecluster/fakecluster/slots"
)

// Addr is where a node says it can be reached.
type Addr struct {
	// Host is an IP address; it may be empty while a node does not know its own.
	Host     string
	Port     int
	BusPort  int
	Hostname string // cluster-announce-hostname, may be empty
}

// Host is the server a Node belongs to: what the rules must know of it and do
// to it. Its methods are called while the Node works, so whoever guards the
// Node guards them.
type Host interface {
	// Keys is the number of keys in all databases.
	Keys() int
	// KeysInSlot is the number of keys of one slot.
	KeysInSlot(slots.Slot) int
	// DeleteKeysInSlot drops the keys of a slot that was lost to another node.
	DeleteKeysInSlot(slots.Slot)
	// EmptyData drops all keys (CLUSTER RESET on a replica).
	EmptyData()
	// ReplicationOffset is how much of the replication stream this node has
	// written (a master) or processed (a replica), in bytes.
	ReplicationOffset() int64
	// ReplicaDataAge is for how many milliseconds a replica has not heard its
	// master.
	ReplicaDataAge() int64
	// Follow makes the server a replica of another node, or a master when
	// master is empty.
	Follow(master string)
	// PauseWrites keeps clients' writes waiting until a time of the clock
	// clients see; 0 ends the pause. Manual failover uses it.
	PauseWrites(until int64)
}

// EndpointType is cluster-preferred-endpoint-type: what clients are told to
// connect to.
type EndpointType uint8

// The endpoint types.
const (
	EndpointIP EndpointType = iota
	EndpointHostname
	EndpointUnknown
)

// Settings are the cluster-* configuration directives of one node.
type Settings struct {
	NodeTimeout              int64 // ms
	RequireFullCoverage      bool
	AllowReadsWhenDown       bool
	AllowPubSubShardWhenDown bool
	AllowReplicaMigration    bool
	ReplicaNoFailover        bool
	ReplicaValidityFactor    int
	MigrationBarrier         int
	ReplPingReplicaPeriod    int64 // ms
	PreferredEndpoint        EndpointType
}

// DefaultSettings are Redis' defaults.
func DefaultSettings() Settings {
	return Settings{
		NodeTimeout:              15000,
		RequireFullCoverage:      true,
		AllowPubSubShardWhenDown: true,
		AllowReplicaMigration:    true,
		ReplicaValidityFactor:    10,
		MigrationBarrier:         1,
		ReplPingReplicaPeriod:    10000,
	}
}

// Config is what a Node is built with.
type Config struct {
	ID       string // 40 hex digits; empty for one from Rand
	Addr     Addr
	Version  version.Version
	Settings Settings
	Host     Host
	// Rand is used by this node only.
	Rand *rand.Rand
}

// Node is one node's own view of the cluster.
type Node struct {
	// Settings may be changed between calls; call SettingsChanged afterwards.
	Settings Settings

	version version.Version
	host    Host
	rand    *rand.Rand
	now     int64
	// dial reports whether a node listens at an address. It is nil, and links
	// are opened in good faith, while the network is not at work.
	dial func(BusAddr) bool
	// ahead is how far now is ahead of the clock clients see.
	ahead int64

	self *peer
	// peers holds every known node, this one too, at its index; indexes of
	// forgotten nodes are nil until they are used again. Index 0 is nobody.
	peers []*peer
	// owners says for every slot the index of its owner in peers. The table is
	// shared between nodes until one of them changes its view.
	owners       *ownerTable
	ownersShared bool
	assigned     int // slots that have an owner
	// unclaimed are slots whose owner, in this view, has stopped claiming them.
	// They are the owner's until anybody else claims them, whatever its epoch.
	unclaimed slots.Set
	migrating map[slots.Slot]*peer
	importing map[slots.Slot]*peer

	currentEpoch  uint64
	lastVoteEpoch uint64
	ok            bool // cluster_state
	size          int  // masters with slots

	blacklist     map[string]int64 // forgotten ids, until when
	firstUpdate   int64            // when the state was first computed
	minorityTime  int64            // when this node last was in a minority
	stateOutdated bool

	election         election
	electionOutdated bool
	unlinked         bool // there may be a new peer without a link
	resting          bool // the network leaves heartbeats out
	manual           manualFailover
	ticks            int
	stats            messageStats
	outbox           []Message
	changes          int // counts changes of the view
}

type ownerTable [slots.Count]uint16

// NewNode returns a node that knows nobody and owns nothing.
func NewNode(c Config, now int64) *Node {
	n := &Node{
		Settings: c.Settings, version: c.Version, host: c.Host, rand: c.Rand, now: now,
		owners: emptyOwners, ownersShared: true, peers: make([]*peer, 1, 8),
	}
	if c.ID == "" {
		c.ID = NewID(c.Rand)
	}
	n.self = n.addPeer(c.ID, c.Addr, flagMyself|flagMaster)
	n.self.shard = n.newShardID()
	n.announceSettings()
	return n
}

var emptyOwners = new(ownerTable)

// NewID returns a random node id: 40 hexadecimal digits.
func NewID(r *rand.Rand) string {
	var raw [20]byte
	for i := range raw {
		raw[i] = byte(r.Uint32())
	}
	return hex.EncodeToString(raw[:])
}

func (n *Node) newShardID() string {
	if !n.version.AtLeast(7, 2) {
		return ""
	}
	return NewID(n.rand)
}

// setClock takes over the time of a command, which comes by the clock clients
// see.
func (n *Node) setClock(now int64) { n.now = max(n.now, now+n.ahead) }

// ID is the node's id (CLUSTER MYID).
func (n *Node) ID() string { return n.self.id }

// ShardID is the id of the node's shard (CLUSTER MYSHARDID, 7.2 and later).
func (n *Node) ShardID() string { return n.self.shard }

// Addr is the address the node announces.
func (n *Node) Addr() Addr { return n.self.addr }

// SetAddr changes the address the node announces.
func (n *Node) SetAddr(a Addr) {
	n.self.addr = a
	n.changes++
}

// Restarted tells the node that its process has started again: it remembers
// what it knew, as from nodes.conf, but has no links, and a master waits a
// moment before it calls the cluster ok.
func (n *Node) Restarted(now int64) {
	n.now = max(n.now, now)
	n.ok, n.firstUpdate, n.minorityTime = false, 0, 0
	n.election, n.manual = election{}, manualFailover{masterOffset: -1}
	n.stats, n.outbox = messageStats{}, nil
	for p := range n.others {
		p.link, p.inbound, p.dataReceived, p.reports = 0, 0, 0, nil
		if p.pingSent != 0 {
			p.pingSent = n.now
		}
	}
	n.unlinked = true
	n.conclude()
}

// IsMaster reports whether the node believes to be a master.
func (n *Node) IsMaster() bool { return n.self.isMaster() }

// Master is the id of the master of a replica, else "".
func (n *Node) Master() string {
	if n.self.master == nil {
		return ""
	}
	return n.self.master.id
}

// OK reports whether cluster_state is ok in the node's view.
func (n *Node) OK() bool { return n.ok }

// Epochs returns the cluster's epoch as far as the node knows, and the node's
// own config epoch.
func (n *Node) Epochs() (current, config uint64) { return n.currentEpoch, n.self.epoch }

// Owner is the id of the owner of a slot in the node's view, "" for none.
func (n *Node) Owner(slot slots.Slot) string {
	if p := n.owner(slot); p != nil {
		return p.id
	}
	return ""
}

// Owns reports whether the node believes to own slot.
func (n *Node) Owns(slot slots.Slot) bool { return n.owners[slot] == n.self.index }

// Slots returns the slots the node believes to own.
func (n *Node) Slots() slots.Set {
	if n.self.slots == nil {
		return slots.Set{}
	}
	return *n.self.slots
}

// Changes counts the changes of the node's view; equal numbers mean that
// nothing was learned in between.
func (n *Node) Changes() int { return n.changes }

// SettingsChanged makes a change of Settings effective.
func (n *Node) SettingsChanged(now int64) {
	n.setClock(now)
	n.announceSettings()
	n.changes++
	n.conclude()
}

// announceSettings puts into the node's flags what others must know of its
// settings.
func (n *Node) announceSettings() {
	n.self.flags &^= flagNoFailover
	if n.Settings.ReplicaNoFailover {
		n.self.flags |= flagNoFailover
	}
}

// Refresh brings the times that Nodes, Replicas and Links tell up to a time.
// While nothing happens in the cluster its network leaves heartbeats out;
// Refresh pretends one a second.
func (n *Node) Refresh(now int64) {
	if !n.resting {
		return
	}
	n.setClock(now)
	for p := range n.others {
		if passed := n.now - p.pongReceived; p.link != 0 && passed > 0 {
			p.pongReceived += passed / 1000 * 1000
		}
	}
}
