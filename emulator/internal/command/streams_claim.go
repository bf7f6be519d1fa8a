package command

import (
	"fmt"
	"math"
	"strings"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
)

// claim is what XCLAIM and XAUTOCLAIM do with the entries they find.
type claim struct {
	key      []byte
	stream   *keyspace.Stream
	group    *keyspace.Group
	consumer *keyspace.Consumer

	minIdle      int64 // ms
	deliveryTime int64 // Unix ms
	retryCount   int64 // -1: one more
	force        bool
	justID       bool
}

// start finds or makes the consumer. Before 7.2 that waited for something to
// claim.
func (cl *claim) start(c *Call) {
	cl.key = c.Args[1]
	if c.Version().AtLeast(7, 2) {
		cl.seeConsumer(c)
	}
}

// seeConsumer finds or makes the consumer in argument 3.
func (cl *claim) seeConsumer(c *Call) {
	if cl.consumer = cl.group.Consumer(c.Args[3]); cl.consumer == nil {
		cl.consumer = c.addConsumer(cl.key, cl.group, c.Args[3])
	}
	cl.consumer.SeenTime = c.Now()
}

// drop forgets a pending entry that the stream does not have any more.
func (cl *claim) drop(c *Call, p *keyspace.Pending, id []byte) {
	c.propagateClaim(cl.key, cl.group, p, id)
	cl.group.Acknowledge(p)
	c.Keyspace().Dirty++
}

// take makes a pending entry the consumer's, unless it was not idle for long
// enough. id is how replicas are told.
func (cl *claim) take(c *Call, p *keyspace.Pending, id []byte) bool {
	if p.Consumer != nil && cl.minIdle > 0 && c.Now()-p.DeliveryTime < cl.minIdle {
		return false
	}
	if cl.consumer == nil {
		cl.seeConsumer(c)
	}
	p.DeliveryTime = cl.deliveryTime
	if cl.retryCount >= 0 {
		p.DeliveryCount = cl.retryCount
	} else if !cl.justID {
		p.DeliveryCount++
	}
	cl.group.Assign(p, cl.consumer)
	cl.consumer.ActiveTime = c.Now()
	c.propagateClaim(cl.key, cl.group, p, id)
	c.Keyspace().Dirty++
	return true
}

// reply writes what was claimed. Before 7.0 that may be an entry that is gone.
func (cl *claim) reply(c *Call, claimed []streamItem) {
	c.Reply.Array(len(claimed))
	for _, item := range claimed {
		switch {
		case cl.justID:
			c.bulkID(item.id)
		case item.gone:
			c.Reply.Null()
		default:
			c.replyEntry(item.entry)
		}
	}
}

// find looks an entry up; drops says that a pending entry that is gone is to be
// dropped, which it is since 7.0.
func (cl *claim) find(c *Call, id keyspace.StreamID) (item streamItem, drops bool) {
	entry, ok := cl.stream.Get(id)
	return streamItem{id, entry, !ok}, !ok && c.Version().AtLeast(7, 0)
}

// minIdleArg reads argument 4, milliseconds.
func (cl *claim) minIdleArg(c *Call) (ok bool) {
	cl.minIdle, ok = c.intArgOr(4, "ERR Invalid min-idle-time argument for "+strings.ToUpper(c.Spec.Name))
	return ok
}

func xclaim(c *Call) {
	cl := claim{deliveryTime: -1, retryCount: -1}
	var ok bool
	if cl.stream, cl.group, ok = groupOf(c); !ok {
		return
	}
	if cl.group == nil {
		c.failNoGroup()
		return
	}
	if !cl.minIdleArg(c) {
		return
	}
	var ids []keyspace.StreamID
	for _, arg := range c.Args[5:] {
		id, ok := parseStreamID(arg, 0)
		if !ok {
			break
		}
		ids = append(ids, id)
	}
	lastID, ok := cl.options(c, 5+len(ids))
	if !ok {
		return
	}
	moved := lastID.Compare(cl.group.LastID) > 0
	if moved {
		cl.group.LastID = lastID
	}
	cl.start(c)
	c.PropagateNothing() // what is claimed is propagated entry by entry
	dirty := c.Keyspace().Dirty
	var claimed []streamItem
	for i, id := range ids {
		if item, ok := cl.claimID(c, id, c.Args[5+i]); ok {
			claimed = append(claimed, item)
		}
	}
	if moved && c.Keyspace().Dirty == dirty {
		c.propagateGroupID(cl.key, cl.group)
		c.Keyspace().Dirty++
	}
	cl.reply(c, claimed)
}

// claimID claims the entry with the ID arg spells, if it is pending or FORCE says so.
func (cl *claim) claimID(c *Call, id keyspace.StreamID, arg []byte) (item streamItem, ok bool) {
	p := cl.group.FindPending(id)
	item, drops := cl.find(c, id)
	switch {
	case drops && p != nil:
		cl.drop(c, p, arg)
		return item, false
	case drops, p == nil && (!cl.force || item.gone):
		return item, false
	case p == nil:
		p = cl.group.AddPending(id, c.Now())
	}
	return item, cl.take(c, p, arg)
}

// options reads the options of XCLAIM from argument i on.
func (cl *claim) options(c *Call, i int) (lastID keyspace.StreamID, ok bool) {
	for ; i < len(c.Args); i++ {
		ok = true
		switch hasValue := c.left(i) > 0; {
		case c.is(i, "force"):
			cl.force = true
		case c.is(i, "justid"):
			cl.justID = true
		case c.is(i, "idle") && hasValue:
			i++
			cl.deliveryTime, ok = c.intArgOr(i, "ERR Invalid IDLE option argument for XCLAIM")
			cl.deliveryTime = c.Now() - cl.deliveryTime
		case c.is(i, "time") && hasValue:
			i++
			cl.deliveryTime, ok = c.intArgOr(i, "ERR Invalid TIME option argument for XCLAIM")
		case c.is(i, "retrycount") && hasValue:
			i++
			cl.retryCount, ok = c.intArgOr(i, "ERR Invalid RETRYCOUNT option argument for XCLAIM")
		case c.is(i, "lastid") && hasValue:
			i++
			lastID, ok = c.streamIDArg(i)
		default:
			ok = c.fail(fmt.Sprintf("ERR Unrecognized XCLAIM option '%s'", c.text(i)))
		}
		if !ok {
			return lastID, false
		}
	}
	if cl.deliveryTime < 0 || cl.deliveryTime > c.Now() {
		cl.deliveryTime = c.Now() // nonsense is not worth an error
	}
	return lastID, true
}

// Redis allocates COUNT ids of idSize bytes each, and finds address space, of 47
// bits, for maxTransientIDs.
const (
	idSize          = 16
	maxTransientIDs = 1 << 46 / idSize
)

func xautoclaim(c *Call) {
	cl := claim{deliveryTime: c.Now(), retryCount: -1}
	value := c.DB.Read(c.Args[1]) // a miss is noticed even if other arguments are wrong
	if !cl.minIdleArg(c) {
		return
	}
	start, ok := c.streamStartArg(5)
	if !ok {
		return
	}
	count, ok := cl.autoOptions(c)
	if !ok {
		return
	}
	if cl.stream, ok = lookup[keyspace.Stream](c, value); !ok {
		return
	}
	if cl.stream != nil {
		cl.group = cl.stream.Group(c.Args[2])
	}
	if cl.group == nil {
		c.failNoGroup()
		return
	}
	if count > maxTransientIDs {
		c.fail("ERR Insufficient memory, failed allocating transient memory, COUNT too high.")
		return
	}
	cl.start(c)
	c.PropagateNothing()
	var claimed []streamItem
	var gone []keyspace.StreamID
	p := firstPending(cl.group, start)
	for attempts := count * claimAttempts; p != nil && count > 0 && attempts > 0; attempts-- {
		next, hasNext := p.ID.Next()
		if item, drops := cl.find(c, p.ID); drops {
			cl.drop(c, p, p.ID.Append(nil))
			gone = append(gone, p.ID)
			count--
		} else if cl.take(c, p, p.ID.Append(nil)) {
			claimed = append(claimed, item)
			count--
		}
		if p = nil; hasNext {
			p = firstPending(cl.group, next)
		}
	}
	var cursor keyspace.StreamID
	if p != nil {
		cursor = p.ID
	}
	cl.replyAuto(c, cursor, claimed, gone)
}

// replyAuto writes the reply of XAUTOCLAIM, which since 7.0 tells what is gone.
func (cl *claim) replyAuto(c *Call, cursor keyspace.StreamID, claimed []streamItem, gone []keyspace.StreamID) {
	tellsGone := c.Version().AtLeast(7, 0)
	if tellsGone {
		c.Reply.Array(3)
	} else {
		c.Reply.Array(2)
	}
	c.bulkID(cursor)
	cl.reply(c, claimed)
	if !tellsGone {
		return
	}
	c.Reply.Array(len(gone))
	for _, id := range gone {
		c.bulkID(id)
	}
}

// claimAttempts is how many pending entries XAUTOCLAIM looks at for each that it
// may claim.
const claimAttempts = 10

// autoOptions reads the options of XAUTOCLAIM.
func (cl *claim) autoOptions(c *Call) (count int64, ok bool) {
	count = 100
	for i := 6; i < len(c.Args); i++ {
		switch {
		case c.is(i, "count") && c.left(i) > 0:
			i++
			if count, ok = c.rangeArg(i, 1, math.MaxInt64/idSize, "ERR COUNT must be > 0"); !ok {
				return 0, false
			}
		case c.is(i, "justid"):
			cl.justID = true
		default:
			return 0, c.fail(errSyntax)
		}
	}
	return count, true
}

// firstPending returns the first pending entry from start on, or nil.
func firstPending(group *keyspace.Group, start keyspace.StreamID) *keyspace.Pending {
	for p := range group.Pending(start) {
		return p
	}
	return nil
}
