package command

import (
	"fmt"
	"strings"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
)

// failSubcommand rejects the arguments of a subcommand of XGROUP or XINFO.
func (c *Call) failSubcommand() bool {
	const longest = 128
	return c.fail(fmt.Sprintf("ERR unknown subcommand or wrong number of arguments for '%s'. Try %s HELP.",
		cString(c.Args[1], longest), strings.ToUpper(c.Spec.Parent.Name)))
}

// groupOptions are what follows the ID in XGROUP CREATE and SETID.
type groupOptions struct {
	mkStream    bool
	entriesRead int64
}

func groupOptionArgs(c *Call, create bool) (o groupOptions, ok bool) {
	o.entriesRead = keyspace.UnknownEntriesRead
	for i := 5; i < len(c.Args); i++ {
		switch {
		case create && c.is(i, "mkstream"):
			o.mkStream = true
		case c.is(i, "entriesread") && c.left(i) > 0 && c.Version().AtLeast(7, 0):
			i++
			if o.entriesRead, ok = c.intArg(i); !ok {
				return o, false
			}
			if o.entriesRead < 0 && o.entriesRead != keyspace.UnknownEntriesRead {
				return o, c.fail("ERR value for ENTRIESREAD must be positive or -1")
			}
		default:
			return o, c.failSubcommand()
		}
	}
	return o, true
}

// groupStream looks up the stream of an XGROUP subcommand, which must exist.
func groupStream(c *Call) (*keyspace.Stream, bool) {
	stream, ok := writeStream(c, c.Args[2])
	if ok && stream == nil {
		return nil, c.fail("ERR The XGROUP subcommand requires the key to exist. " +
			"Note that for CREATE you may want to use the MKSTREAM option to create an empty stream automatically.")
	}
	return stream, ok
}

// streamGroup looks up the group of an XGROUP subcommand, which must exist.
func streamGroup(c *Call) (*keyspace.Stream, *keyspace.Group, bool) {
	stream, ok := groupStream(c)
	if !ok {
		return nil, nil, false
	}
	group := stream.Group(c.Args[3])
	if group == nil {
		return nil, nil, c.fail(fmt.Sprintf("NOGROUP No such consumer group '%s' for key name '%s'", c.text(3), c.text(2)))
	}
	return stream, group, true
}

func xgroupCreate(c *Call) {
	o, ok := groupOptionArgs(c, true)
	if !ok {
		return
	}
	key := c.Args[2]
	stream, ok := writeStream(c, key)
	if !ok {
		return
	}
	if stream == nil && !o.mkStream {
		groupStream(c)
		return
	}
	if len(c.Args) > 8 {
		c.failSubcommand()
		return
	}
	id, ok := groupIDArg(c, stream)
	if !ok {
		return
	}
	if stream == nil {
		stream = addStream(c, key)
		c.DB.Modified(key)
	}
	if stream.AddGroup(c.Args[3], id, o.entriesRead) == nil {
		c.fail("BUSYGROUP Consumer Group name already exists")
		return
	}
	c.Reply.Status("OK")
	c.Keyspace().Dirty++
	c.DB.Event(keyspace.ClassStream, "xgroup-create", key)
}

// groupIDArg reads argument 4 as an ID, or "$" for the last of the stream.
func groupIDArg(c *Call, stream *keyspace.Stream) (id keyspace.StreamID, ok bool) {
	if string(c.Args[4]) != "$" {
		return c.streamIDArg(4)
	}
	if stream != nil {
		id = stream.LastID
	}
	return id, true
}

func xgroupSetID(c *Call) {
	o, ok := groupOptionArgs(c, false)
	if !ok {
		return
	}
	stream, group, ok := streamGroup(c)
	if !ok {
		return
	}
	if len(c.Args) != 5 && len(c.Args) != 7 {
		c.failSubcommand()
		return
	}
	id, ok := groupSetIDArg(c, stream)
	if !ok {
		return
	}
	group.LastID, group.EntriesRead = id, o.entriesRead
	c.Reply.Status("OK")
	c.Keyspace().Dirty++
	c.DB.Event(keyspace.ClassStream, "xgroup-setid", c.Args[2])
}

// groupSetIDArg is groupIDArg that knows "-" and "+" too.
func groupSetIDArg(c *Call, stream *keyspace.Stream) (id keyspace.StreamID, ok bool) {
	switch string(c.Args[4]) {
	case "-":
		return keyspace.StreamID{}, true
	case "+":
		return keyspace.MaxStreamID, true
	}
	return groupIDArg(c, stream)
}

func xgroupDestroy(c *Call) {
	stream, ok := groupStream(c)
	if !ok {
		return
	}
	group := stream.Group(c.Args[3])
	if group == nil {
		c.Reply.Int(0)
		return
	}
	stream.DeleteGroup(group)
	c.Reply.Int(1)
	c.Keyspace().Dirty++
	c.DB.Event(keyspace.ClassStream, "xgroup-destroy", c.Args[2])
	c.DB.Ready(c.Args[2]) // who waits for the group learns that it is gone
}

func xgroupCreateConsumer(c *Call) {
	_, group, ok := streamGroup(c)
	if !ok {
		return
	}
	isNew := group.Consumer(c.Args[4]) == nil
	if isNew {
		c.addConsumer(c.Args[2], group, c.Args[4])
	}
	c.replyFlag(isNew)
}

func xgroupDelConsumer(c *Call) {
	_, group, ok := streamGroup(c)
	if !ok {
		return
	}
	consumer := group.Consumer(c.Args[4])
	if consumer == nil {
		c.Reply.Int(0)
		return
	}
	pending := consumer.PendingCount()
	group.DeleteConsumer(consumer)
	c.Keyspace().Dirty++
	c.DB.Event(keyspace.ClassStream, "xgroup-delconsumer", c.Args[2])
	c.Reply.Int(int64(pending))
}

func xgroupHelp(c *Call) {
	c.replyHelp(
		"CREATE <key> <groupname> <id|$> [option]",
		"    Create a new consumer group. Options are:",
		"    * MKSTREAM",
		"      Create the empty stream if it does not exist.",
		"    * ENTRIESREAD entries_read",
		"      Set the group's entries_read counter (internal use).",
		"CREATECONSUMER <key> <groupname> <consumer>",
		"    Create a new consumer in the specified group.",
		"DELCONSUMER <key> <groupname> <consumer>",
		"    Remove the specified consumer.",
		"DESTROY <key> <groupname>",
		"    Remove the specified group.",
		"SETID <key> <groupname> <id|$> [ENTRIESREAD entries_read]",
		"    Set the current group ID and entries_read counter.",
	)
}

// groupOf looks up the group a consumer's command names in arguments 1 and 2;
// it is nil if the group or the key is missing.
func groupOf(c *Call) (stream *keyspace.Stream, group *keyspace.Group, ok bool) {
	stream, ok = readStream(c, c.Args[1])
	if stream != nil {
		group = stream.Group(c.Args[2])
	}
	return stream, group, ok
}

func (c *Call) failNoGroup() bool {
	return c.fail(fmt.Sprintf("NOGROUP No such key '%s' or consumer group '%s'", c.text(1), c.text(2)))
}

func xack(c *Call) {
	_, group, ok := groupOf(c)
	if !ok {
		return
	}
	if group == nil {
		c.Reply.Int(0)
		return
	}
	ids, ok := c.streamIDArgs(3)
	if !ok {
		return
	}
	acknowledged := int64(0)
	for _, id := range ids {
		if p := group.FindPending(id); p != nil {
			group.Acknowledge(p)
			acknowledged++
		}
	}
	c.Keyspace().Dirty += acknowledged
	c.Reply.Int(acknowledged)
}

// pendingQuery is the long form of XPENDING.
type pendingQuery struct {
	minIdle    int64
	start, end keyspace.StreamID
	count      int64
	consumer   []byte
}

func xpending(c *Call) {
	if len(c.Args) != 3 && (len(c.Args) < 6 || len(c.Args) > 9) {
		c.fail(errSyntax)
		return
	}
	var q pendingQuery
	if len(c.Args) > 3 && !q.parse(c) {
		return
	}
	_, group, ok := groupOf(c)
	switch {
	case !ok:
	case group == nil:
		c.failNoGroup()
	case len(c.Args) == 3:
		c.replyPendingSummary(group)
	default:
		q.run(c, group)
	}
}

func (q *pendingQuery) parse(c *Call) (ok bool) {
	i := 3
	if c.is(3, "idle") {
		if q.minIdle, ok = c.intArg(4); !ok {
			return false
		}
		if len(c.Args) < 8 {
			return c.fail(errSyntax)
		}
		i = 5
	}
	if q.count, ok = c.intArg(i + 2); !ok {
		return false
	}
	if q.start, ok = c.streamStartArg(i); !ok {
		return false
	}
	if q.end, ok = c.streamEndArg(i + 1); !ok {
		return false
	}
	if i+3 < len(c.Args) {
		q.consumer = c.Args[i+3]
	}
	return true
}

func (q *pendingQuery) run(c *Call, group *keyspace.Group) {
	pending := group.Pending(q.start)
	if q.consumer != nil {
		consumer := group.Consumer(q.consumer)
		if consumer == nil {
			c.Reply.Array(0)
			return
		}
		pending = consumer.Pending(q.start)
	}
	var found []*keyspace.Pending
	for p := range pending {
		if int64(len(found)) >= q.count || p.ID.Compare(q.end) > 0 {
			break
		}
		if q.minIdle == 0 || c.Now()-p.DeliveryTime >= q.minIdle {
			found = append(found, p)
		}
	}
	c.Reply.Array(len(found))
	for _, p := range found {
		c.Reply.Array(4)
		c.bulkID(p.ID)
		c.Reply.BulkString(p.Consumer.Name)
		c.Reply.Int(max(c.Now()-p.DeliveryTime, 0))
		c.Reply.Int(p.DeliveryCount)
	}
}

func (c *Call) replyPendingSummary(group *keyspace.Group) {
	c.Reply.Array(4)
	c.Reply.Int(int64(group.PendingCount()))
	if group.PendingCount() == 0 {
		c.Reply.Null()
		c.Reply.Null()
		c.Reply.NullArray()
		return
	}
	for p := range group.Pending(keyspace.StreamID{}) {
		c.bulkID(p.ID)
		break
	}
	c.bulkID(group.LastPending())
	var busy []*keyspace.Consumer
	for _, consumer := range group.Consumers() {
		if consumer.PendingCount() > 0 {
			busy = append(busy, consumer)
		}
	}
	c.Reply.Array(len(busy))
	for _, consumer := range busy {
		c.Reply.Array(2)
		c.Reply.BulkString(consumer.Name)
		c.Reply.Bulk(number.AppendInt(nil, int64(consumer.PendingCount())))
	}
}
