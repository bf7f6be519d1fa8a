package command

import (
	"bytes"
	"math"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
)

var streamCommands = map[string]Handler{
	"xadd":                  xadd,
	"xtrim":                 xtrim,
	"xlen":                  xlen,
	"xdel":                  xdel,
	"xsetid":                xsetid,
	"xrange":                func(c *Call) { xrange(c, false) },
	"xrevrange":             func(c *Call) { xrange(c, true) },
	"xread":                 xread,
	"xreadgroup":            xread,
	"xack":                  xack,
	"xpending":              xpending,
	"xclaim":                xclaim,
	"xautoclaim":            xautoclaim,
	"xgroup|create":         xgroupCreate,
	"xgroup|setid":          xgroupSetID,
	"xgroup|destroy":        xgroupDestroy,
	"xgroup|createconsumer": xgroupCreateConsumer,
	"xgroup|delconsumer":    xgroupDelConsumer,
	"xgroup|help":           xgroupHelp,
	"xinfo|stream":          xinfoStream,
	"xinfo|groups":          xinfoGroups,
	"xinfo|consumers":       xinfoConsumers,
	"xinfo|help":            xinfoHelp,
}

func readStream(c *Call, key []byte) (*keyspace.Stream, bool) {
	return lookup[keyspace.Stream](c, c.DB.Read(key))
}

func writeStream(c *Call, key []byte) (*keyspace.Stream, bool) {
	return lookup[keyspace.Stream](c, c.DB.Write(key))
}

func addStream(c *Call, key []byte) *keyspace.Stream {
	stream := keyspace.NewStream(&c.Keyspace().Limits)
	c.DB.Add(key, stream)
	return stream
}

const errStreamID = "ERR Invalid stream ID specified as stream command argument"

// parseStreamID reads "ms-seq", or "ms" whose sequence is then missingSeq.
func parseStreamID(arg []byte, missingSeq uint64) (id keyspace.StreamID, ok bool) {
	const longest = 127
	if len(arg) > longest {
		return id, false
	}
	arg, _, _ = bytes.Cut(arg, []byte{0})
	ms, seq, hasSeq := bytes.Cut(arg, []byte{'-'})
	if id.Ms, ok = number.ParseUint(ms); !ok {
		return id, false
	}
	if !hasSeq {
		id.Seq = missingSeq
		return id, true
	}
	id.Seq, ok = number.ParseUint(seq)
	return id, ok
}

// streamIDArg reads argument i as an ID; the sequence is 0 if missing.
func (c *Call) streamIDArg(i int) (id keyspace.StreamID, ok bool) {
	if id, ok = parseStreamID(c.Args[i], 0); !ok {
		return id, c.fail(errStreamID)
	}
	return id, true
}

// streamIDArgs reads all arguments from i on as IDs.
func (c *Call) streamIDArgs(i int) (ids []keyspace.StreamID, ok bool) {
	ids = make([]keyspace.StreamID, 0, len(c.Args)-i)
	for ; i < len(c.Args); i++ {
		id, ok := c.streamIDArg(i)
		if !ok {
			return nil, false
		}
		ids = append(ids, id)
	}
	return ids, true
}

// streamStartArg reads argument i as the start of an interval: an ID, one with
// "(" in front to be excluded, "-" or "+".
func (c *Call) streamStartArg(i int) (id keyspace.StreamID, ok bool) {
	id, exclusive, ok := c.streamBoundArg(i, 0)
	if ok && exclusive {
		if id, ok = id.Next(); !ok {
			return id, c.fail("ERR invalid start ID for the interval")
		}
	}
	return id, ok
}

// streamEndArg reads argument i as the end of an interval.
func (c *Call) streamEndArg(i int) (id keyspace.StreamID, ok bool) {
	id, exclusive, ok := c.streamBoundArg(i, math.MaxUint64)
	if ok && exclusive {
		if id, ok = id.Prev(); !ok {
			return id, c.fail("ERR invalid end ID for the interval")
		}
	}
	return id, ok
}

func (c *Call) streamBoundArg(i int, missingSeq uint64) (id keyspace.StreamID, exclusive, ok bool) {
	arg := c.Args[i]
	switch {
	case string(arg) == "-":
		return keyspace.StreamID{}, false, true
	case string(arg) == "+":
		return keyspace.MaxStreamID, false, true
	case len(arg) > 1 && arg[0] == '(':
		exclusive = true
		arg = arg[1:]
	}
	if id, ok = parseStreamID(arg, missingSeq); !ok {
		return id, false, c.fail(errStreamID)
	}
	return id, exclusive, true
}

// bulkID replies with an ID.
func (c *Call) bulkID(id keyspace.StreamID) {
	var buf [41]byte
	c.Reply.Bulk(id.Append(buf[:0]))
}

// replyEntry replies with an entry: its ID and an array of fields and values.
func (c *Call) replyEntry(e keyspace.StreamEntry) {
	c.Reply.Array(2)
	c.bulkID(e.ID)
	c.Reply.Array(2 * e.Len())
	for field, value := range e.All() {
		c.Reply.Bulk(field)
		c.Reply.Bulk(value)
	}
}

func (c *Call) replyEntries(entries []keyspace.StreamEntry) {
	c.Reply.Array(len(entries))
	for _, e := range entries {
		c.replyEntry(e)
	}
}

func xlen(c *Call) {
	stream, ok := readStream(c, c.Args[1])
	switch {
	case !ok:
	case stream == nil:
		c.Reply.Int(0)
	default:
		c.Reply.Int(int64(stream.Len()))
	}
}

func xrange(c *Call, reverse bool) {
	first, last := 2, 3
	if reverse {
		first, last = 3, 2
	}
	start, ok := c.streamStartArg(first)
	if !ok {
		return
	}
	end, ok := c.streamEndArg(last)
	if !ok {
		return
	}
	count := int64(-1)
	for i := 4; i < len(c.Args); i += 2 {
		if !c.is(i, "count") || c.left(i) == 0 {
			c.fail(errSyntax)
			return
		}
		if count, ok = c.intArg(i + 1); !ok {
			return
		}
		count = max(count, 0)
	}
	stream, ok := readStream(c, c.Args[1])
	switch {
	case !ok:
	case stream == nil:
		c.Reply.Array(0)
	case count == 0:
		c.Reply.NullArray()
	default:
		c.replyEntries(entriesBetween(stream, start, end, count, reverse))
	}
}

// entriesBetween collects up to count entries, all if it is not positive.
func entriesBetween(s *keyspace.Stream, start, end keyspace.StreamID, count int64, reverse bool) (found []keyspace.StreamEntry) {
	entries := s.Range(start, end)
	if reverse {
		entries = s.RevRange(end, start)
	}
	for e := range entries {
		if found = append(found, e); int64(len(found)) == count {
			break
		}
	}
	return found
}

func xdel(c *Call) {
	key := c.Args[1]
	stream, ok := writeStream(c, key)
	if !ok {
		return
	}
	if stream == nil {
		c.Reply.Int(0)
		return
	}
	ids, ok := c.streamIDArgs(2)
	if !ok {
		return
	}
	deleted := int64(0)
	for _, id := range ids {
		if stream.Delete(id) {
			deleted++
		}
	}
	if deleted > 0 {
		c.DB.Modified(key)
		c.DB.Event(keyspace.ClassStream, "xdel", key)
		c.Keyspace().Dirty += deleted
	}
	c.Reply.Int(deleted)
}

func xsetid(c *Call) {
	id, ok := c.streamIDArg(2)
	if !ok {
		return
	}
	added, maxDeleted := int64(-1), keyspace.StreamID{}
	for i := 3; i < len(c.Args); i += 2 {
		switch {
		case c.is(i, "entriesadded") && c.left(i) > 0:
			if added, ok = c.intArg(i + 1); !ok {
				return
			}
			if added < 0 {
				c.fail("ERR entries_added must be positive")
				return
			}
		case c.is(i, "maxdeletedid") && c.left(i) > 0:
			if maxDeleted, ok = c.streamIDArg(i + 1); !ok {
				return
			}
			if id.Compare(maxDeleted) < 0 {
				c.fail("ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id")
				return
			}
		default:
			c.fail(errSyntax)
			return
		}
	}
	stream, ok := writeStream(c, c.Args[1])
	if !ok {
		return
	}
	switch {
	case stream == nil:
		c.fail(errNoSuchKey)
	case c.Version().AtLeast(7, 2) && id.Compare(stream.MaxDeletedID) < 0:
		c.fail("ERR The ID specified in XSETID is smaller than current max_deleted_entry_id")
	case stream.Len() > 0 && id.Compare(stream.LastEntryID()) < 0:
		c.fail("ERR The ID specified in XSETID is smaller than the target stream top item")
	case stream.Len() > 0 && added != -1 && int64(stream.Len()) > added:
		c.fail("ERR The entries_added specified in XSETID is smaller than the target stream length")
	default:
		stream.LastID = id
		if added != -1 {
			stream.EntriesAdded = added
		}
		if !maxDeleted.IsZero() {
			stream.MaxDeletedID = maxDeleted
		}
		c.Reply.Status("OK")
		c.Keyspace().Dirty++
		c.DB.Event(keyspace.ClassStream, "xsetid", c.Args[1])
	}
}
