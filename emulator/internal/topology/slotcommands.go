package topology

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/fakecluster/fakecluster/slots"
)

// replyError is an error a client is told; the text is the reply without its
// leading '-'.
type replyError string

func (e replyError) Error() string { return string(e) }

func errorf(format string, args ...any) error {
	return replyError("ERR " + fmt.Sprintf(format, args...))
}

// ErrArity is returned where Redis reports a wrong number of arguments for the
// subcommand; the caller knows its name and words it.
var ErrArity = errors.New("wrong number of arguments")

var (
	errBadSlot   = replyError("ERR Invalid or out of range slot")
	errNotInt    = replyError("ERR value is not an integer or out of range")
	errSyntax    = replyError("ERR syntax error")
	errFlushData = replyError("ERR DB must be empty to perform CLUSTER FLUSHSLOTS.")
)

// parseInt reads an integer as strictly as Redis does.
func parseInt(arg []byte) (int64, bool) {
	v, err := strconv.ParseInt(string(arg), 10, 64)
	if err != nil || strconv.FormatInt(v, 10) != string(arg) {
		return 0, false
	}
	return v, true
}

func parseSlot(arg []byte) (slots.Slot, error) {
	v, ok := parseInt(arg)
	if !ok || v < 0 || v >= slots.Count {
		return 0, errBadSlot
	}
	return slots.Slot(v), nil
}

// AddSlots is CLUSTER ADDSLOTS; args are the slots.
func (n *Node) AddSlots(args [][]byte, now int64) error { return n.changeSlots(args, false, now) }

// DelSlots is CLUSTER DELSLOTS; args are the slots.
func (n *Node) DelSlots(args [][]byte, now int64) error { return n.changeSlots(args, true, now) }

func (n *Node) changeSlots(args [][]byte, remove bool, now int64) error {
	parsed := make([]slots.Slot, len(args))
	for i, arg := range args {
		slot, err := parseSlot(arg)
		if err != nil {
			return err
		}
		parsed[i] = slot
	}
	var chosen slots.Set
	for _, slot := range parsed {
		if err := n.choose(&chosen, slot, remove); err != nil {
			return err
		}
	}
	n.apply(&chosen, remove, now)
	return nil
}

// AddSlotsRange is CLUSTER ADDSLOTSRANGE; args are pairs of first and last
// slots.
func (n *Node) AddSlotsRange(args [][]byte, now int64) error { return n.changeRanges(args, false, now) }

// DelSlotsRange is CLUSTER DELSLOTSRANGE; args are pairs of first and last
// slots.
func (n *Node) DelSlotsRange(args [][]byte, now int64) error { return n.changeRanges(args, true, now) }

func (n *Node) changeRanges(args [][]byte, remove bool, now int64) error {
	if len(args)%2 != 0 || len(args) == 0 {
		return ErrArity
	}
	var chosen slots.Set
	for i := 0; i < len(args); i += 2 {
		first, err := parseSlot(args[i])
		if err != nil {
			return err
		}
		last, err := parseSlot(args[i+1])
		if err != nil {
			return err
		}
		if first > last {
			return errorf("start slot number %d is greater than end slot number %d", first, last)
		}
		for slot := first; slot <= last; slot++ {
			if err := n.choose(&chosen, slot, remove); err != nil {
				return err
			}
		}
	}
	n.apply(&chosen, remove, now)
	return nil
}

func (n *Node) choose(chosen *slots.Set, slot slots.Slot, remove bool) error {
	switch {
	case remove && n.owners[slot] == 0:
		return errorf("Slot %d is already unassigned", slot)
	case !remove && n.owners[slot] != 0:
		return errorf("Slot %d is already busy", slot)
	case chosen.Has(slot):
		return errorf("Slot %d specified multiple times", slot)
	}
	chosen.Add(slot)
	return nil
}

func (n *Node) apply(chosen *slots.Set, remove bool, now int64) {
	n.setClock(now)
	for slot := range chosen.All() {
		if remove {
			n.assign(slot, nil)
		} else {
			delete(n.importing, slot)
			n.assign(slot, n.self)
		}
	}
	n.conclude()
}

// FlushSlots is CLUSTER FLUSHSLOTS.
func (n *Node) FlushSlots(now int64) error {
	if n.host.Keys() > 0 {
		return errFlushData
	}
	n.setClock(now)
	n.releaseSlots(n.self)
	n.conclude()
	return nil
}

// SetSlot is CLUSTER SETSLOT; args are the slot and what follows it.
func (n *Node) SetSlot(args [][]byte, now int64) error {
	if !n.self.isMaster() {
		return errorf("Please use SETSLOT only with masters.")
	}
	slot, err := parseSlot(args[0])
	if err != nil {
		return err
	}
	n.setClock(now)
	action := ""
	if len(args) > 1 {
		action = strings.ToLower(string(args[1]))
	}
	switch {
	case action == "migrating" && len(args) == 3:
		err = n.setMigrating(slot, string(args[2]))
	case action == "importing" && len(args) == 3:
		err = n.setImporting(slot, string(args[2]))
	case action == "stable" && len(args) == 2:
		delete(n.migrating, slot)
		delete(n.importing, slot)
		n.changes++
	case action == "node" && len(args) == 3:
		err = n.setOwner(slot, string(args[2]))
	default:
		return errorf("Invalid CLUSTER SETSLOT action or number of arguments. Try CLUSTER HELP")
	}
	if err != nil {
		return err
	}
	n.conclude()
	return nil
}

func (n *Node) setMigrating(slot slots.Slot, id string) error {
	if n.owner(slot) != n.self {
		return errorf("I'm not the owner of hash slot %d", slot)
	}
	target, err := n.otherEnd(id)
	if err != nil {
		return err
	}
	if n.migrating == nil {
		n.migrating = map[slots.Slot]*peer{}
	}
	n.migrating[slot] = target
	n.changes++
	return nil
}

func (n *Node) setImporting(slot slots.Slot, id string) error {
	if n.owner(slot) == n.self {
		return errorf("I'm already the owner of hash slot %d", slot)
	}
	source, err := n.otherEnd(id)
	if err != nil {
		return err
	}
	if n.importing == nil {
		n.importing = map[slots.Slot]*peer{}
	}
	n.importing[slot] = source
	n.changes++
	return nil
}

func (n *Node) otherEnd(id string) (*peer, error) {
	p := n.lookup(id)
	if p == nil {
		return nil, errorf("I don't know about node %s", id)
	}
	if p.isReplica() {
		return nil, errorf("Target node is not a master")
	}
	return p, nil
}

// setOwner is SETSLOT NODE: the end of a migration on either side.
func (n *Node) setOwner(slot slots.Slot, id string) error {
	target := n.lookup(id)
	if target == nil {
		return errorf("Unknown node %s", id)
	}
	if target.isReplica() {
		return errorf("Target node is not a master")
	}
	wasMine := n.owner(slot) == n.self
	keys := n.host.KeysInSlot(slot)
	if wasMine && target != n.self && keys > 0 {
		return errorf("Can't assign hashslot %d to a different node while I still hold keys for this hash slot.", slot)
	}
	if keys == 0 {
		delete(n.migrating, slot)
	}
	n.assign(slot, target)
	if wasMine && target != n.self && n.self.numSlots == 0 && n.Settings.AllowReplicaMigration && n.version.AtLeast(7, 0) {
		// A master that gave its last slot away becomes a replica of the node
		// that has it.
		n.follow(target)
	}
	if target == n.self && n.importing[slot] != nil {
		// A new config epoch makes everybody believe that the slot moved.
		n.bumpEpoch()
		delete(n.importing, slot)
		n.broadcast(Pong)
	}
	n.changes++
	return nil
}

// MigratingTo is the id of the node slot is being moved to, "" for none.
func (n *Node) MigratingTo(slot slots.Slot) string {
	if p := n.migrating[slot]; p != nil {
		return p.id
	}
	return ""
}

// ImportingFrom is the id of the node slot is being moved from, "" for none.
func (n *Node) ImportingFrom(slot slots.Slot) string {
	if p := n.importing[slot]; p != nil {
		return p.id
	}
	return ""
}
