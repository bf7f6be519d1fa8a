package topology

import (
	"net/netip"
	"strings"

	"github.com/fakecluster/fakecluster/slots"
)

// busPortOffset is added to a node's port where its bus port is not told.
const busPortOffset = 10000

// blacklistTTL is how long a forgotten node is not taken up again.
const blacklistTTL = 60_000 // ms

// Meet is CLUSTER MEET: the node starts a handshake with the one at that
// address. busPort may be nil.
func (n *Node) Meet(host string, port, busPort []byte, now int64) error {
	n.setClock(now)
	p, ok := parseInt(port)
	if !ok {
		return errorf("Invalid TCP base port specified: %s", port)
	}
	bus := p + busPortOffset
	if busPort != nil {
		if bus, ok = parseInt(busPort); !ok {
			return errorf("Invalid TCP bus port specified: %s", busPort)
		}
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || ip.Zone() != "" || p <= 0 || p > 65535 || bus <= 0 || bus > 65535 {
		return errorf("Invalid node address specified: %s:%s", host, port)
	}
	n.startHandshake(Addr{Host: ip.String(), Port: int(p), BusPort: int(bus)}, flagMeet)
	n.react()
	return nil
}

// startHandshake adds a node of which only the address is known, under an
// invented id. It learns the real one from the answer.
func (n *Node) startHandshake(addr Addr, f flags) {
	for p := range n.others {
		if p.has(flagHandshake) && p.addr.Host == addr.Host && p.addr.BusPort == addr.BusPort {
			return
		}
	}
	n.addPeer(NewID(n.rand), addr, f|flagHandshake)
}

// Forget is CLUSTER FORGET.
func (n *Node) Forget(id string, now int64) error {
	n.setClock(now)
	p := n.lookup(id)
	switch {
	case p == nil:
		if n.version.AtLeast(7, 2) && n.blacklisted(id) {
			return nil
		}
		return errorf("Unknown node %s", id)
	case p == n.self:
		return errorf("I tried hard but I can't forget myself...")
	case n.self.isReplica() && n.self.master == p:
		return errorf("Can't forget my master!")
	}
	n.ban(id)
	n.removePeer(p)
	n.conclude()
	return nil
}

func (n *Node) ban(id string) {
	if n.blacklist == nil {
		n.blacklist = map[string]int64{}
	}
	n.blacklist[id] = n.now + blacklistTTL
}

func (n *Node) blacklisted(id string) bool {
	until, found := n.blacklist[id]
	if found && until <= n.now {
		delete(n.blacklist, id)
		return false
	}
	return found
}

// Replicate is CLUSTER REPLICATE.
func (n *Node) Replicate(id string, now int64) error {
	n.setClock(now)
	p := n.lookup(id)
	switch {
	case p == nil:
		return errorf("Unknown node %s", id)
	case p == n.self:
		return errorf("Can't replicate myself")
	case p.isReplica():
		return errorf("I can only replicate a master, not a replica.")
	case n.self.isMaster() && (n.self.numSlots > 0 || n.host.Keys() > 0):
		return errorf("To set a master the node must be empty and without assigned slots.")
	}
	n.follow(p)
	n.conclude()
	return nil
}

// follow makes this node a replica of master.
func (n *Node) follow(master *peer) {
	if n.self.isMaster() {
		n.self.flags &^= flagMaster | flagMigrateTo
		n.self.flags |= flagReplica
		n.closeSlots()
	} else if n.self.master != nil {
		n.self.master.removeReplica(n.self)
	}
	n.self.master = master
	master.addReplica(n.self)
	n.self.shard = master.shard
	n.changes++
	n.resetManualFailover()
	n.host.Follow(master.id)
}

// closeSlots ends all moves of slots.
func (n *Node) closeSlots() {
	clear(n.migrating)
	clear(n.importing)
}

// Reset is CLUSTER RESET; mode is empty, "soft" or "hard".
func (n *Node) Reset(mode string, now int64) error {
	hard := strings.EqualFold(mode, "hard")
	if mode != "" && !hard && !strings.EqualFold(mode, "soft") {
		return errSyntax
	}
	if n.self.isMaster() && n.host.Keys() > 0 {
		return errorf("CLUSTER RESET can't be called with master nodes containing keys")
	}
	n.setClock(now)
	if n.self.isReplica() {
		n.becomeMaster(n.self)
		n.host.Follow("")
		n.host.EmptyData()
	}
	n.closeSlots()
	n.resetManualFailover()
	for slot := range slots.Slot(slots.Count) {
		n.assign(slot, nil)
	}
	for p := range n.others {
		n.removePeer(p)
	}
	n.self.shard = n.newShardID()
	if hard {
		n.currentEpoch, n.lastVoteEpoch, n.self.epoch = 0, 0, 0
		n.self.id = NewID(n.rand)
	}
	n.changes++
	n.conclude()
	return nil
}

// SetConfigEpoch is CLUSTER SET-CONFIG-EPOCH.
func (n *Node) SetConfigEpoch(arg []byte, now int64) error {
	epoch, ok := parseInt(arg)
	switch {
	case !ok:
		return errNotInt
	case epoch < 0:
		return errorf("Invalid config epoch specified: %d", epoch)
	case n.known() > 1:
		return errorf("The user can assign a config epoch only when the node does not know any other node.")
	case n.self.epoch != 0:
		return errorf("Node config epoch is already non-zero")
	}
	n.setClock(now)
	n.self.epoch = uint64(epoch)
	n.currentEpoch = max(n.currentEpoch, n.self.epoch)
	n.changes++
	n.conclude()
	return nil
}

// BumpEpoch is CLUSTER BUMPEPOCH. bumped says whether the epoch is new; Redis
// replies "BUMPED 7" or "STILL 7".
func (n *Node) BumpEpoch(now int64) (bumped bool, epoch uint64) {
	n.setClock(now)
	bumped = n.bumpEpoch()
	return bumped, n.self.epoch
}

// CountFailureReports is CLUSTER COUNT-FAILURE-REPORTS.
func (n *Node) CountFailureReports(id string, now int64) (int, error) {
	n.setClock(now)
	p := n.lookup(id)
	if p == nil {
		return 0, errorf("Unknown node %s", id)
	}
	return n.failureReports(p), nil
}

// conclude ends a command that changed the view.
func (n *Node) conclude() {
	n.stateOutdated = true
	n.react()
}
