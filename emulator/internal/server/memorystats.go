package server

import (
	"strconv"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
)

var memoryCommands = map[string]command.Handler{
	"memory|stats":        memoryStats,
	"memory|malloc-stats": func(c *command.Call) { c.Reply.BulkString("Stats not supported for the current allocator") },
}

// What Redis' tables take for a key and for an expiring one, in bytes.
const (
	tableEntry  = 24
	tableObject = 16
	tableBucket = 8
)

// memoryStat is a line of MEMORY STATS: an integer, or a ratio.
type memoryStat struct {
	name    string
	bytes   int64
	ratio   float64
	isRatio bool
}

// memoryStats answers with what is known of the data; the rest is what an
// allocator without waste would say.
func memoryStats(c *command.Call) {
	n := c.Client.(*session).node
	used, keys := n.usedMemory(), int64(0)
	n.stats.peakMemory = max(n.stats.peakMemory, used)
	var tables []int
	overhead := int64(startupMemory) + int64(len(n.sessions))*clientMemory
	for i := range n.ks.Databases() {
		if db := n.ks.DB(i); db.Len() > 0 {
			keys += int64(db.Len())
			tables = append(tables, i)
			overhead += mainTable(db.Len()) + expiryTable(db.Volatile())
		}
	}
	data := max(used-overhead, 0)
	before := []memoryStat{
		{name: "peak.allocated", bytes: n.stats.peakMemory}, {name: "total.allocated", bytes: used},
		{name: "startup.allocated", bytes: startupMemory}, {name: "replication.backlog"}, {name: "clients.slaves"},
		{name: "clients.normal", bytes: int64(len(n.sessions)) * clientMemory}, {name: "cluster.links"}, {name: "aof.buffer"},
		{name: "lua.caches"}, {name: "functions.caches"},
	}
	after := []memoryStat{
		{name: "overhead.total", bytes: overhead}, {name: "keys.count", bytes: keys},
		{name: "keys.bytes-per-key", bytes: (used - startupMemory) / max(keys, 1)}, {name: "dataset.bytes", bytes: data},
		{name: "dataset.percentage", ratio: 100 * float64(data) / float64(max(used-startupMemory, 1)), isRatio: true},
		{name: "peak.percentage", ratio: 100 * float64(used) / float64(n.stats.peakMemory), isRatio: true},
		{name: "allocator.allocated", bytes: used}, {name: "allocator.active", bytes: used}, {name: "allocator.resident", bytes: used},
		{name: "allocator-fragmentation.ratio", ratio: 1, isRatio: true}, {name: "allocator-fragmentation.bytes"},
		{name: "allocator-rss.ratio", ratio: 1, isRatio: true}, {name: "allocator-rss.bytes"},
		{name: "rss-overhead.ratio", ratio: 1, isRatio: true}, {name: "rss-overhead.bytes"},
		{name: "fragmentation", ratio: 1, isRatio: true}, {name: "fragmentation.bytes"},
	}
	if keys == 0 {
		after[2].bytes = 0
	}
	c.Reply.Map(len(before) + len(tables) + len(after))
	writeMemoryStats(c, before)
	for _, i := range tables {
		n.writeTables(c, i)
	}
	writeMemoryStats(c, after)
}

func writeMemoryStats(c *command.Call, stats []memoryStat) {
	for _, s := range stats {
		c.Reply.BulkString(s.name)
		if s.isRatio {
			c.Reply.Double(s.ratio)
		} else {
			c.Reply.Int(s.bytes)
		}
	}
}

// writeTables writes what the tables of one database take.
func (n *Node) writeTables(c *command.Call, id int) {
	db := n.ks.DB(id)
	slots := !n.version.AtLeast(7, 4)
	c.Reply.BulkString("db." + strconv.Itoa(id))
	c.Reply.Map(2 + boolInt(slots))
	c.Reply.BulkString("overhead.hashtable.main")
	c.Reply.Int(mainTable(db.Len()))
	c.Reply.BulkString("overhead.hashtable.expires")
	c.Reply.Int(expiryTable(db.Volatile()))
	if slots {
		c.Reply.BulkString("overhead.hashtable.slot-to-keys")
		c.Reply.Int(0)
	}
}

func mainTable(keys int) int64 {
	return int64(keys)*(tableEntry+tableObject) + int64(buckets(keys))*tableBucket
}

func expiryTable(keys int) int64 { return int64(keys)*tableEntry + int64(buckets(keys))*tableBucket }

// buckets is the size of a table of so many entries.
func buckets(entries int) int {
	if entries == 0 {
		return 0
	}
	size := 4
	for size < entries {
		size *= 2
	}
	return size
}
