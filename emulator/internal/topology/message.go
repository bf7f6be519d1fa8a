package topology

import (
	"slices"

	"github.com/fakecluster/fakecluster/slots"
)

// MessageKind is the type of a bus message.
type MessageKind uint8

// The bus messages.
const (
	Ping MessageKind = iota
	Pong
	Meet
	Fail        // a node is failing, by a majority
	Publish     // never sent by a Node: its server does that itself
	AuthRequest // a replica asks for votes
	AuthAck     // a vote
	Update      // your idea of who owns these slots is old
	ManualStart // a replica wants to take over from its living master
	kinds       = iota
)

var kindNames = [kinds]string{"ping", "pong", "meet", "fail", "publish", "auth-req", "auth-ack", "update", "mfstart"}

// String is the name CLUSTER INFO gives the kind in its statistics.
func (k MessageKind) String() string { return kindNames[k] }

// BusAddr is where a node's bus listens.
type BusAddr struct {
	Host string
	Port int
}

// Message travels between two nodes. Its contents are never changed once it
// was sent, so a network may keep, copy or drop it.
type Message struct {
	Kind MessageKind
	// From is the sender's own bus address, To where it goes: the address the
	// sender believes in, or where an answer's question came from.
	From, To BusAddr
	// A link is opened by one node and both use it; what the opener sends over
	// it has Opened set, answers have not. Link is the id under which the opener
	// knows the other end, LinkTime when it opened the link.
	Opened   bool
	Link     string
	LinkTime int64

	Sender       string
	SenderAddr   Addr
	Flags        flags
	Shard        string
	MasterID     string // of a replica
	CurrentEpoch uint64
	ConfigEpoch  uint64 // the sender's, or its master's
	Slots        *slots.Set
	Offset       int64
	StateOK      bool
	Paused       bool // the master holds clients' writes for a manual failover
	ForceAck     bool // vote although the master is up: its user asked

	Gossip []Gossip // Ping, Pong, Meet
	About  string   // Fail, Update: the node it is about
	// Update: what is known of About.
	AboutEpoch uint64
	AboutSlots *slots.Set
}

// Gossip is what a heartbeat says of a third node.
type Gossip struct {
	ID           string
	Addr         Addr
	Flags        flags
	PingSent     int64 // s
	PongReceived int64 // s
}

// messageStats counts messages by kind for CLUSTER INFO.
type messageStats struct {
	sent, received [kinds]int64
}

func (s *messageStats) each(field func(name string, value int64)) {
	direction := func(counts *[kinds]int64, suffix string) {
		total := int64(0)
		for kind, count := range counts {
			if count > 0 {
				field("cluster_stats_messages_"+kindNames[kind]+suffix, count)
				total += count
			}
		}
		field("cluster_stats_messages"+suffix, total)
	}
	direction(&s.sent, "_sent")
	direction(&s.received, "_received")
}

// Outbox hands over the messages the node wants sent and empties it.
func (n *Node) Outbox() []Message {
	out := n.outbox
	n.outbox = nil
	return out
}

// header is what every message of this node says.
func (n *Node) header(kind MessageKind) Message {
	claims := n.self
	m := Message{
		Kind: kind, From: n.self.addr.bus(), Sender: n.self.id, SenderAddr: n.self.addr,
		Flags: n.self.flags, Shard: n.self.shard, CurrentEpoch: n.currentEpoch, StateOK: n.ok,
		Offset: n.host.ReplicationOffset(),
	}
	if n.self.isReplica() && n.self.master != nil {
		claims = n.self.master
		m.MasterID = claims.id
	}
	m.ConfigEpoch, m.Slots = claims.epoch, claims.shareSlots()
	m.Paused = n.self.isMaster() && n.manual.end != 0
	return m
}

func (a Addr) bus() BusAddr { return BusAddr{a.Host, a.BusPort} }

// send sends m over this node's link to p.
func (n *Node) send(p *peer, m Message) {
	m.To, m.Opened, m.Link, m.LinkTime = p.addr.bus(), true, p.id, p.link
	n.stats.sent[m.Kind]++
	n.outbox = append(n.outbox, m)
}

// answer sends m over the link that question came by.
func (n *Node) answer(question *Message, m Message) {
	m.To, m.Opened, m.Link, m.LinkTime = question.From, !question.Opened, question.Link, question.LinkTime
	n.stats.sent[m.Kind]++
	n.outbox = append(n.outbox, m)
}

// broadcast sends a message to all nodes there is a link to. Heartbeats carry
// gossip; those that have not left the node yet are left out, as they say
// nothing that the new ones do not: a thousand slots may be taken in between.
func (n *Node) broadcast(kind MessageKind) {
	if kind == Pong {
		n.outbox = slices.DeleteFunc(n.outbox, func(m Message) bool { return m.Kind == Pong && m.Opened })
	}
	for p := range n.others {
		if p.link != 0 && !p.has(flagHandshake) {
			if kind == Pong {
				n.send(p, n.heartbeat(Pong))
			} else {
				n.send(p, n.header(kind))
			}
		}
	}
}
