package topology

import (
	"bytes"
	"strconv"

	"github.com/fakecluster/fakecluster/slots"
)

// Request is what the verdict over a command depends on.
type Request struct {
	// Keys are all keys of the command, or those of all commands of a
	// transaction when it is executed. For sharded pub/sub they are the
	// channels.
	Keys [][]byte
	// Exists says whether a key is there and not expired. It is asked only
	// while the slot is being moved.
	Exists func(key []byte) bool

	Write    bool // the command, or one of the transaction, has the flag write
	Asking   bool // the session said ASKING, or the command has the flag asking
	ReadOnly bool // the session said READONLY
	PubSub   bool // sharded pub/sub: keys are channels
	Migrate  bool // the command is MIGRATE
}

// Kind is what is to be done with a command.
type Kind uint8

// The verdicts.
const (
	Serve Kind = iota
	Moved
	Ask
	TryAgain
	CrossSlot
	DownState    // the cluster is down
	DownReadOnly // the cluster is down and only accepts read commands
	DownUnbound  // nobody serves the slot
)

// String names a verdict as traces print it.
func (k Kind) String() string {
	switch k {
	case Serve:
		return "serve"
	case Moved:
		return "MOVED"
	case Ask:
		return "ASK"
	case TryAgain:
		return "TRYAGAIN"
	case CrossSlot:
		return "CROSSSLOT"
	default:
		return "CLUSTERDOWN"
	}
}

// Verdict is the decision over one command.
type Verdict struct {
	Kind Kind
	// Keyed is set when the command had keys; Slot is theirs.
	Keyed bool
	Slot  slots.Slot
	// Host and Port are where MOVED and ASK send the client.
	Host string
	Port int
}

// Error is the error reply, without its leading '-', and "" for Serve.
func (v Verdict) Error() string {
	switch v.Kind {
	case Moved, Ask:
		b := make([]byte, 0, 64)
		b = append(b, v.Kind.String()...)
		b = append(b, ' ')
		b = strconv.AppendUint(b, uint64(v.Slot), 10)
		b = append(b, ' ')
		b = append(b, v.Host...)
		b = append(b, ':')
		return string(strconv.AppendInt(b, int64(v.Port), 10))
	case TryAgain:
		return "TRYAGAIN Multiple keys request during rehashing of slot"
	case CrossSlot:
		return "CROSSSLOT Keys in request don't hash to the same slot"
	case DownState:
		return "CLUSTERDOWN The cluster is down"
	case DownReadOnly:
		return "CLUSTERDOWN The cluster is down and only accepts read commands"
	case DownUnbound:
		return "CLUSTERDOWN Hash slot not served"
	}
	return ""
}

// ScriptError is what redis.call says instead when a script's own command gets
// this verdict: a script cannot be redirected half way.
func (v Verdict) ScriptError() string {
	switch v.Kind {
	case Serve:
		return ""
	case DownState:
		return "ERR Script attempted to execute a command while the cluster is down"
	case DownReadOnly:
		return "ERR Script attempted to execute a write command while the cluster is down and readonly"
	}
	return "ERR Script attempted to access a non local key in a cluster node"
}

// Route decides what happens to a command: the rules of getNodeByQuery, in its
// order. A command without keys is always served here.
func (n *Node) Route(r *Request) Verdict {
	if len(r.Keys) == 0 {
		return Verdict{}
	}
	slot := slots.Of(r.Keys[0])
	owner := n.owners[slot]
	if owner == 0 {
		return Verdict{Kind: DownUnbound, Keyed: true, Slot: slot}
	}
	distinct := false
	for _, key := range r.Keys[1:] {
		if bytes.Equal(key, r.Keys[0]) {
			continue
		}
		if slots.Of(key) != slot {
			return Verdict{Kind: CrossSlot, Keyed: true, Slot: slot}
		}
		distinct = true
	}
	kind, target := n.decide(r, slot, n.peers[owner], distinct)
	v := Verdict{Kind: kind, Keyed: true, Slot: slot}
	if target != nil {
		v.Host, v.Port = n.endpoint(target), target.addr.Port
	}
	return v
}

// decide goes through the states the cluster and the slot can be in.
func (n *Node) decide(r *Request, slot slots.Slot, owner *peer, distinct bool) (Kind, *peer) {
	if !n.ok {
		switch {
		case r.PubSub:
			if !n.Settings.AllowPubSubShardWhenDown {
				return DownState, nil
			}
		case !n.Settings.AllowReadsWhenDown:
			return DownState, nil
		case r.Write:
			return DownReadOnly, nil
		}
	}
	migratingTo := n.migrating[slot]
	if owner != n.self {
		migratingTo = nil
	}
	importing := migratingTo == nil && n.importing[slot] != nil
	if migratingTo != nil || importing {
		if r.Migrate {
			return Serve, nil
		}
		missing, existing := n.count(r)
		if migratingTo != nil && missing {
			// Before 7.0 a command that found some keys was sent on as well.
			if existing && n.version.AtLeast(7, 0) {
				return TryAgain, nil
			}
			if migratingTo == n.self {
				return Serve, nil // SETSLOT lets a node migrate a slot to itself
			}
			return Ask, migratingTo
		}
		if importing && r.Asking {
			if distinct && missing {
				return TryAgain, nil
			}
			return Serve, nil
		}
	}
	if owner == n.self {
		return Serve, nil
	}
	if (r.ReadOnly || r.PubSub) && !r.Write && n.self.isReplica() && n.self.master == owner {
		return Serve, nil
	}
	return Moved, owner
}

// count looks which of a command's keys are here. Channels are not looked for.
func (n *Node) count(r *Request) (missing, existing bool) {
	if r.PubSub {
		return false, false
	}
	for _, key := range r.Keys {
		if r.Exists(key) {
			existing = true
		} else {
			missing = true
		}
	}
	return missing, existing
}

// endpoint is the host clients are told for p.
func (n *Node) endpoint(p *peer) string {
	switch n.Settings.PreferredEndpoint {
	case EndpointHostname:
		if p.addr.Hostname == "" {
			return "?"
		}
		return p.addr.Hostname
	case EndpointUnknown:
		return ""
	}
	return p.addr.Host
}
