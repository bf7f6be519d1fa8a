package command

import (
	"fmt"
	"iter"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
)

// infoStream looks up the stream of an XINFO subcommand, which must exist.
func infoStream(c *Call) (*keyspace.Stream, bool) {
	stream, ok := readStream(c, c.Args[2])
	if ok && stream == nil {
		return nil, c.fail(errNoSuchKey)
	}
	return stream, ok
}

func xinfoConsumers(c *Call) {
	stream, ok := infoStream(c)
	if !ok {
		return
	}
	group := stream.Group(c.Args[3])
	if group == nil {
		c.fail(fmt.Sprintf("NOGROUP No such consumer group '%s' for key name '%s'", c.text(3), c.text(2)))
		return
	}
	c.Reply.Array(group.ConsumerCount())
	for _, consumer := range group.Consumers() {
		fields := 3
		if c.Version().AtLeast(7, 2) {
			fields = 4
		}
		c.Reply.Map(fields)
		c.nameString("name", consumer.Name)
		c.nameInt("pending", int64(consumer.PendingCount()))
		c.nameInt("idle", max(c.Now()-consumer.SeenTime, 0))
		if c.Version().AtLeast(7, 2) {
			inactive := consumer.ActiveTime
			if inactive != -1 {
				inactive = c.Now() - inactive
			}
			c.nameInt("inactive", inactive)
		}
	}
}

// The helpers below write one pair of a map.

func (c *Call) nameInt(name string, n int64) {
	c.Reply.BulkString(name)
	c.Reply.Int(n)
}

func (c *Call) nameString(name, value string) {
	c.Reply.BulkString(name)
	c.Reply.BulkString(value)
}

func (c *Call) nameID(name string, id keyspace.StreamID) {
	c.Reply.BulkString(name)
	c.bulkID(id)
}

func (c *Call) nameIntOrNull(name string, n int64, ok bool) {
	c.Reply.BulkString(name)
	if ok {
		c.Reply.Int(n)
	} else {
		c.Reply.Null()
	}
}

// progress writes the pairs that say how far a group has read.
func (c *Call) progress(stream *keyspace.Stream, group *keyspace.Group) {
	c.nameID("last-delivered-id", group.LastID)
	if !c.Version().AtLeast(7, 0) {
		return
	}
	c.nameIntOrNull("entries-read", group.EntriesRead, group.EntriesRead != keyspace.UnknownEntriesRead)
	lag, ok := stream.Lag(group)
	c.nameIntOrNull("lag", lag, ok)
}

// progressFields is the number of pairs progress writes.
func (c *Call) progressFields() int {
	if c.Version().AtLeast(7, 0) {
		return 3
	}
	return 1
}

func xinfoGroups(c *Call) {
	stream, ok := infoStream(c)
	if !ok {
		return
	}
	c.Reply.Array(stream.GroupCount())
	for _, group := range stream.Groups() {
		c.Reply.Map(3 + c.progressFields())
		c.nameString("name", group.Name)
		c.nameInt("consumers", int64(group.ConsumerCount()))
		c.nameInt("pending", int64(group.PendingCount()))
		c.progress(stream, group)
	}
}

func xinfoStream(c *Call) {
	stream, ok := infoStream(c)
	if !ok {
		return
	}
	full, count, ok := xinfoStreamArgs(c)
	if !ok {
		return
	}
	fields := 10
	if full {
		fields = 9
	}
	if !c.Version().AtLeast(7, 0) {
		fields -= 3
	}
	c.Reply.Map(fields)
	keys, nodes := stream.RadixTree()
	c.nameInt("length", int64(stream.Len()))
	c.nameInt("radix-tree-keys", int64(keys))
	c.nameInt("radix-tree-nodes", int64(nodes))
	c.nameID("last-generated-id", stream.LastID)
	if c.Version().AtLeast(7, 0) {
		c.nameID("max-deleted-entry-id", stream.MaxDeletedID)
		c.nameInt("entries-added", stream.EntriesAdded)
		c.nameID("recorded-first-entry-id", stream.FirstID)
	}
	if !full {
		c.nameInt("groups", int64(stream.GroupCount()))
		c.nameEdge("first-entry", stream, false)
		c.nameEdge("last-entry", stream, true)
		return
	}
	c.Reply.BulkString("entries")
	c.replyEntries(entriesBetween(stream, keyspace.StreamID{}, keyspace.MaxStreamID, count, false))
	c.Reply.BulkString("groups")
	c.Reply.Array(stream.GroupCount())
	for _, group := range stream.Groups() {
		c.replyFullGroup(stream, group, int(count))
	}
}

// xinfoStreamArgs reads [FULL [COUNT count]]; a count of 0 means all.
func xinfoStreamArgs(c *Call) (full bool, count int64, ok bool) {
	count = 10
	switch n := len(c.Args); {
	case n == 3:
		return false, count, true
	case n != 4 && n != 6 || !c.is(3, "full") || n == 6 && !c.is(4, "count"):
		return false, 0, c.failSubcommand()
	case n == 6:
		if count, ok = c.intArg(5); !ok {
			return false, 0, false
		}
		if count < 0 {
			count = 10
		}
	}
	return true, count, true
}

// nameEdge writes the first or the last entry.
func (c *Call) nameEdge(name string, stream *keyspace.Stream, last bool) {
	c.Reply.BulkString(name)
	edge := entriesBetween(stream, keyspace.StreamID{}, keyspace.MaxStreamID, 1, last)
	if len(edge) == 0 {
		c.Reply.Null()
		return
	}
	c.replyEntry(edge[0])
}

func (c *Call) replyFullGroup(stream *keyspace.Stream, group *keyspace.Group, count int) {
	c.Reply.Map(4 + c.progressFields())
	c.nameString("name", group.Name)
	c.progress(stream, group)
	c.nameInt("pel-count", int64(group.PendingCount()))
	c.Reply.BulkString("pending")
	c.replyPending(group.Pending(keyspace.StreamID{}), group.PendingCount(), count, true)
	c.Reply.BulkString("consumers")
	c.Reply.Array(group.ConsumerCount())
	for _, consumer := range group.Consumers() {
		fields := 4
		if c.Version().AtLeast(7, 2) {
			fields = 5
		}
		c.Reply.Map(fields)
		c.nameString("name", consumer.Name)
		c.nameInt("seen-time", consumer.SeenTime)
		if c.Version().AtLeast(7, 2) {
			c.nameInt("active-time", consumer.ActiveTime)
		}
		c.nameInt("pel-count", int64(consumer.PendingCount()))
		c.Reply.BulkString("pending")
		c.replyPending(consumer.Pending(keyspace.StreamID{}), consumer.PendingCount(), count, false)
	}
}

// replyPending replies with up to most of n pending entries, all if it is 0.
func (c *Call) replyPending(pending iter.Seq[*keyspace.Pending], n, most int, consumers bool) {
	if most > 0 {
		n = min(n, most)
	}
	c.Reply.Array(n)
	for p := range pending {
		if n == 0 {
			break
		}
		n--
		if consumers {
			c.Reply.Array(4)
		} else {
			c.Reply.Array(3)
		}
		c.bulkID(p.ID)
		if consumers {
			c.Reply.BulkString(p.Consumer.Name)
		}
		c.Reply.Int(p.DeliveryTime)
		c.Reply.Int(p.DeliveryCount)
	}
}

func xinfoHelp(c *Call) {
	c.replyHelp(
		"CONSUMERS <key> <groupname>",
		"    Show consumers of <groupname>.",
		"GROUPS <key>",
		"    Show the stream consumer groups.",
		"STREAM <key> [FULL [COUNT <count>]",
		"    Show information about the stream.",
	)
}
