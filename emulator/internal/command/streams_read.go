package command

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
	"github.com/fakecluster/fakecluster/emulator/internal/resp"
)

// streamRead is XREAD, or XREADGROUP if it has a group.
type streamRead struct {
	keys    [][]byte
	idArg   int // of the first key
	count   int64
	blocks  bool
	timeout time.Duration

	group, consumer []byte
	noAck           bool

	from   []readFrom        // by key
	groups []*keyspace.Group // by key
}

// readFrom is where reading a stream starts: behind an ID, or for a group with
// what is new to it.
type readFrom struct {
	after keyspace.StreamID
	isNew bool
}

// streamItem is one entry of a reply. In the history of a consumer it may be one
// that is no longer there.
type streamItem struct {
	id    keyspace.StreamID
	entry keyspace.StreamEntry
	gone  bool
}

func xread(c *Call) {
	r, ok := c.parseStreamRead()
	if !ok || !r.resolve(c) {
		return
	}
	c.PropagateNothing() // what a group gets is propagated entry by entry
	var keys [][]byte
	var results [][]streamItem
	for i, key := range r.keys {
		// Before 7.2 only the key that is ready is served, where it was named first.
		if c.onlyReadyKey() && (string(key) != c.ReadyKey || contains(r.keys[:i], key)) {
			continue
		}
		stream, _ := lookup[keyspace.Stream](c, c.DB.Read(key))
		if stream == nil {
			continue
		}
		if items, served := r.serve(c, i, stream); served {
			keys = append(keys, key)
			results = append(results, items)
		}
	}
	if len(keys) == 0 {
		if r.blocks {
			r.block(c)
		} else {
			c.Reply.NullArray()
		}
		return
	}
	c.replyStreams(keys, results)
}

func contains(keys [][]byte, key []byte) bool {
	return slices.ContainsFunc(keys, func(k []byte) bool { return bytes.Equal(k, key) })
}

// replyStreams replies with the items of each key: a map in RESP3, pairs in
// RESP2.
func (c *Call) replyStreams(keys [][]byte, results [][]streamItem) {
	pairs := c.Reply.Proto() == 2
	if pairs {
		c.Reply.Array(len(keys))
	} else {
		c.Reply.Map(len(keys))
	}
	for i, key := range keys {
		if pairs {
			c.Reply.Array(2)
		}
		c.Reply.Bulk(key)
		c.Reply.Array(len(results[i]))
		for _, item := range results[i] {
			if !item.gone {
				c.replyEntry(item.entry)
				continue
			}
			c.Reply.Array(2)
			c.bulkID(item.id)
			c.Reply.NullArray()
		}
	}
}

// parseStreamRead reads the options and finds the keys.
func (c *Call) parseStreamRead() (r streamRead, ok bool) {
	isGroup := c.Spec.Name == "xreadgroup"
	for i := 1; i < len(c.Args); i++ {
		switch left := c.left(i); {
		case c.is(i, "block") && left > 0:
			if c.FromScript {
				return r, c.fail(fmt.Sprintf("ERR %s command is not allowed with BLOCK option from scripts", c.text(0)))
			}
			i++
			r.blocks = true
			if r.timeout, ok = c.timeoutMillisArg(i); !ok {
				return r, false
			}
		case c.is(i, "count") && left > 0:
			i++
			if r.count, ok = c.intArg(i); !ok {
				return r, false
			}
			r.count = max(r.count, 0)
		case c.is(i, "streams") && left > 0:
			return r, r.streams(c, i+1, isGroup)
		case c.is(i, "group") && left > 1:
			if !isGroup {
				return r, c.fail("ERR The GROUP option is only supported by XREADGROUP. You called XREAD instead.")
			}
			r.group, r.consumer = c.Args[i+1], c.Args[i+2]
			i += 2
		case c.is(i, "noack"):
			if !isGroup {
				return r, c.fail("ERR The NOACK option is only supported by XREADGROUP. You called XREAD instead.")
			}
			r.noAck = true
		default:
			return r, c.fail(errSyntax)
		}
	}
	return r, c.fail(errSyntax)
}

// streams splits the arguments from first on into keys and IDs.
func (r *streamRead) streams(c *Call, first int, isGroup bool) bool {
	n := len(c.Args) - first
	if n%2 != 0 {
		return c.failUnbalanced(isGroup)
	}
	r.keys, r.idArg = c.Args[first:first+n/2], first+n/2
	if isGroup && r.group == nil {
		return c.fail("ERR Missing GROUP option for XREADGROUP")
	}
	return true
}

func (c *Call) failUnbalanced(isGroup bool) bool {
	name, symbol := "XREAD", "$"
	if c.Version().AtLeast(7, 2) {
		name = "'" + c.Spec.Name + "'"
		if isGroup {
			symbol = ">"
		}
	}
	return c.fail(fmt.Sprintf("ERR Unbalanced %s list of streams: for each stream key an ID or '%s' must be specified.", name, symbol))
}

// resolve finds out where to start in each stream.
func (r *streamRead) resolve(c *Call) bool {
	for i, key := range r.keys {
		if c.onlyReadyKey() && string(key) != c.ReadyKey {
			r.from, r.groups = append(r.from, readFrom{}), append(r.groups, nil)
			continue
		}
		stream, ok := readStream(c, key)
		if !ok {
			return false
		}
		if r.group != nil && !r.resolveGroup(c, stream, key) {
			return false
		}
		from, ok := r.parseFrom(c, r.idArg+i, stream)
		if !ok {
			return false
		}
		r.from = append(r.from, from)
	}
	return true
}

func (r *streamRead) resolveGroup(c *Call, stream *keyspace.Stream, key []byte) bool {
	var group *keyspace.Group
	if stream != nil {
		group = stream.Group(r.group)
	}
	switch {
	case group != nil:
		r.groups = append(r.groups, group)
		return true
	case c.onlyReadyKey():
		return c.fail("NOGROUP the consumer group this client was blocked on no longer exists")
	}
	return c.fail(errNoGroupToRead(key, r.group))
}

func errNoGroupToRead(key, group []byte) string {
	return fmt.Sprintf("NOGROUP No such key '%s' or consumer group '%s' in XREADGROUP with GROUP option",
		cString(key, len(key)), cString(group, len(group)))
}

// parseFrom reads argument i, the ID that belongs to stream, which may be nil.
func (r *streamRead) parseFrom(c *Call, i int, stream *keyspace.Stream) (from readFrom, ok bool) {
	const meaningless = "ERR The %s ID is meaningless in the context of XREADGROUP: " +
		"you want to read the history of this consumer by specifying a proper ID, " +
		"or use the > ID to get new messages. The %s ID would just return an empty result set."
	switch arg := string(c.Args[i]); {
	case arg == "$", arg == "+" && c.Version().AtLeast(7, 4):
		switch {
		case r.group != nil:
			return from, c.fail(fmt.Sprintf(meaningless, arg, arg))
		case stream == nil:
		case arg == "$":
			from.after = stream.LastID
		case stream.Len() > 0:
			from.after, _ = stream.LastEntryID().Prev()
		}
		return from, true
	case arg == ">" && r.group == nil:
		return from, c.fail("ERR The > ID can be specified only when calling XREADGROUP " +
			"using the GROUP <group> <consumer> option.")
	case arg == ">":
		return readFrom{isNew: true}, true
	}
	from.after, ok = c.streamIDArg(i)
	from.isNew = r.group != nil && from.after == keyspace.MaxStreamID // how Redis spells ">" to itself
	return from, ok
}

// serve reads stream i; served is false if there is nothing to reply about it.
func (r *streamRead) serve(c *Call, i int, stream *keyspace.Stream) (items []streamItem, served bool) {
	from := r.from[i]
	newest := keyspace.StreamID{}
	switch {
	case c.onlyReadyKey():
		newest = stream.LastID // even if that entry has been trimmed already
	case stream.Len() > 0:
		newest = stream.LastEntryID()
	}
	if r.group == nil {
		if newest.Compare(from.after) <= 0 {
			return nil, false
		}
		start, _ := from.after.Next()
		for _, e := range entriesBetween(stream, start, keyspace.MaxStreamID, r.limit(c), false) {
			items = append(items, streamItem{id: e.ID, entry: e})
		}
		return items, true
	}
	group := r.groups[i]
	hasNew := newest.Compare(group.LastID) > 0
	served = hasNew || !from.isNew
	if !served && !c.Version().AtLeast(7, 2) {
		return nil, false // the consumer has not even been seen
	}
	consumer := r.seeConsumer(c, r.keys[i], group)
	switch {
	case !from.isNew:
		items = r.history(c, stream, consumer, from.after)
	case hasNew:
		items = r.deliver(c, r.keys[i], stream, group, consumer)
	}
	if served && (from.isNew || !c.Version().AtLeast(7, 2)) {
		c.Keyspace().Dirty++
	}
	return items, served
}

// seeConsumer finds the consumer, or makes one that is mentioned for the first
// time.
func (r *streamRead) seeConsumer(c *Call, key []byte, group *keyspace.Group) *keyspace.Consumer {
	consumer := group.Consumer(r.consumer)
	if consumer == nil {
		consumer = c.addConsumer(key, group, r.consumer)
		if r.noAck { // otherwise the XCLAIMs make it
			c.Propagate([]byte("XGROUP"), []byte("CREATECONSUMER"), key, r.group, r.consumer)
		}
	}
	consumer.SeenTime = c.Now()
	return consumer
}

// limit is COUNT. Before 7.2 a client that had blocked got no flood.
func (r *streamRead) limit(c *Call) int64 {
	if r.count == 0 && c.onlyReadyKey() {
		return 1000
	}
	return r.count
}

// addConsumer makes a consumer that a command mentions for the first time.
func (c *Call) addConsumer(key []byte, group *keyspace.Group, name []byte) *keyspace.Consumer {
	c.DB.Event(keyspace.ClassStream, "xgroup-createconsumer", key)
	c.Keyspace().Dirty++
	return group.AddConsumer(name, c.Now())
}

// history returns what is pending for a consumer, once more.
func (r *streamRead) history(c *Call, stream *keyspace.Stream, consumer *keyspace.Consumer, after keyspace.StreamID) (items []streamItem) {
	start, _ := after.Next()
	for p := range consumer.Pending(start) {
		entry, ok := stream.Get(p.ID)
		items = append(items, streamItem{p.ID, entry, !ok})
		if ok {
			p.DeliveryTime = c.Now()
			p.DeliveryCount++
		}
		if int64(len(items)) == r.count {
			break
		}
	}
	return items
}

// deliver gives a consumer what is new to its group.
func (r *streamRead) deliver(c *Call, key []byte, stream *keyspace.Stream, group *keyspace.Group, consumer *keyspace.Consumer) (items []streamItem) {
	start, _ := group.LastID.Next()
	for _, e := range entriesBetween(stream, start, keyspace.MaxStreamID, r.limit(c), false) {
		items = append(items, streamItem{id: e.ID, entry: e})
		stream.Deliver(group, e.ID)
		if r.noAck {
			continue
		}
		p := group.FindPending(e.ID)
		if p == nil {
			p = group.AddPending(e.ID, c.Now())
		} else { // the group was set back
			p.DeliveryTime, p.DeliveryCount = c.Now(), 1
		}
		group.Assign(p, consumer)
		consumer.ActiveTime = c.Now()
		c.propagateClaim(key, group, p, e.ID.Append(nil))
	}
	if r.noAck {
		c.propagateGroupID(key, group)
	}
	return items
}

// propagateClaim tells replicas who has a pending entry now.
func (c *Call) propagateClaim(key []byte, group *keyspace.Group, p *keyspace.Pending, id []byte) {
	c.Propagate([]byte("XCLAIM"), key, []byte(group.Name), []byte(p.Consumer.Name), []byte("0"), id,
		[]byte("TIME"), number.AppendInt(nil, p.DeliveryTime),
		[]byte("RETRYCOUNT"), number.AppendInt(nil, p.DeliveryCount),
		[]byte("FORCE"), []byte("JUSTID"), []byte("LASTID"), group.LastID.Append(nil))
}

// propagateGroupID tells replicas how far a group has read.
func (c *Call) propagateGroupID(key []byte, group *keyspace.Group) {
	c.Propagate([]byte("XGROUP"), []byte("SETID"), key, []byte(group.Name), group.LastID.Append(nil),
		[]byte("ENTRIESREAD"), number.AppendInt(nil, group.EntriesRead))
}

// block waits for new entries. A "$" becomes the ID it stood for, so that it
// still means that when the command is tried again.
func (r *streamRead) block(c *Call) {
	for i, from := range r.from {
		if at := r.idArg + i; string(c.Args[at]) == "$" {
			c.Args[at] = from.after.Append(nil)
		}
	}
	wait := Wait{Keys: r.keys, Kind: keyspace.KindStream, Timeout: r.timeout, OnTimeout: resp.Sink.NullArray}
	if r.group != nil {
		wait.OnDelete = r.onDelete(c)
	}
	c.Block(wait)
}

// onDelete is the reply when a stream that a group reads from goes away.
func (r *streamRead) onDelete(c *Call) func(resp.Sink) {
	if !c.Version().AtLeast(7, 2) {
		return func(reply resp.Sink) { reply.Error("UNBLOCKED the stream key no longer exists") }
	}
	db, group := c.DB, clone(r.group)
	var keys [][]byte
	for _, key := range r.keys {
		keys = append(keys, clone(key))
	}
	return func(reply resp.Sink) {
		for _, key := range keys {
			switch value := db.Peek(key); {
			case value == nil:
				reply.Error(errNoGroupToRead(key, group))
				return
			case value.Kind() != keyspace.KindStream:
				reply.Error(errWrongType)
				return
			}
		}
	}
}
