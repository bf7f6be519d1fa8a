package server

import (
	"fmt"
	"math"
	"strings"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
	"github.com/fakecluster/fakecluster/emulator/internal/resp"
)

// debugValue is the value of the key that DEBUG asks about, expired or not.
func debugValue(c *command.Call) keyspace.Value {
	value := c.DB.Stored(c.Args[2])
	if value == nil {
		c.Reply.Error("ERR no such key")
	}
	return value
}

// debugObject shows how a value is stored.
func debugObject(_ *Node, c *command.Call) {
	key := c.Args[2]
	value := debugValue(c)
	if value == nil {
		return
	}
	refcount := 1
	if str, ok := value.(*keyspace.String); ok && str.Shared() {
		refcount = math.MaxInt32
	}
	idle, _ := c.DB.Idle(key)
	// A payload is the type, the serialized value, the version and a checksum.
	serialized := len(keyspace.Dump(value, &c.Keyspace().Limits)) - 1 - 2 - 8
	var list strings.Builder
	if l, ok := value.(*keyspace.List); ok && l.Encoding() == "quicklist" {
		nodes, bytes := l.Nodes()
		fill, depth := l.Settings()
		fmt.Fprintf(&list, " ql_nodes:%d ql_avg_node:%.2f ql_listpack_max:%d ql_compressed:%d ql_uncompressed_size:%d",
			nodes, float64(l.Len())/float64(nodes), fill, boolInt(depth != 0), bytes)
	}
	c.Reply.Status(fmt.Sprintf("Value at:%p refcount:%d encoding:%s serializedlength:%d lru:%d lru_seconds_idle:%d%s",
		value, refcount, value.Encoding(), serialized, (c.Now()/1000-idle)&(1<<24-1), idle, list.String()))
}

func debugSDSLen(_ *Node, c *command.Call) {
	value := debugValue(c)
	if value == nil {
		return
	}
	str, ok := value.(*keyspace.String)
	if !ok || str.Encoding() == "int" {
		c.Reply.Error("ERR Not an sds encoded string.")
		return
	}
	key, val := int64(len(c.Args[2])), int64(str.Len())
	c.Reply.Status(fmt.Sprintf("key_sds_len:%d, key_sds_avail:0, key_zmalloc: %d, val_sds_len:%d, val_sds_avail:0, val_zmalloc: %d",
		key, allocated(key), val, allocated(val)))
}

// allocated is about what Redis needs for a string: a header, the bytes, a NUL.
func allocated(length int64) int64 { return (length + 3 + 1 + 7) &^ 7 }

// debugListpack and debugQuicklist print to the server's output in Redis; there
// is nothing to see here.
func debugListpack(_ *Node, c *command.Call) {
	switch value := debugValue(c); {
	case value == nil:
	case value.Encoding() != "listpack":
		c.Reply.Error("ERR Not a listpack encoded object.")
	default:
		c.Reply.Status("Listpack structure printed on stdout")
	}
}

func debugQuicklist(_ *Node, c *command.Call) {
	switch value := debugValue(c); {
	case value == nil:
	case value.Encoding() != "quicklist":
		c.Reply.Error("ERR Not a quicklist encoded object.")
	default:
		c.Reply.Status("Quicklist structure printed on stdout")
	}
}

func debugHashTables(_ *Node, c *command.Call) {
	db, ok := number.ParseInt(c.Args[2])
	switch {
	case !ok:
		c.Reply.Error(errNotInteger)
	case db < 0 || db >= int64(c.Keyspace().Databases()):
		c.Reply.Error("ERR Out of range database")
	default:
		c.Reply.Verbatim("txt", c.Keyspace().DB(int(db)).TableStats())
	}
}

func debugHashTableOfKey(_ *Node, c *command.Call) {
	value := debugValue(c)
	if value == nil {
		return
	}
	stats, ok := keyspace.TableStats(value)
	if !ok {
		c.Reply.Error("ERR The value stored at the specified key is not represented using an hash table")
		return
	}
	c.Reply.Verbatim("txt", stats)
}

// debugStructSize prints what Redis prints on a 64-bit machine.
func debugStructSize(_ *Node, c *command.Call) {
	c.Reply.Status("bits:64 robj:16 dictentry:24 sdshdr5:1 sdshdr8:3 sdshdr16:5 sdshdr32:9 sdshdr64:17 ")
}

func debugAttribute(c *command.Call) {
	if e, ok := c.Reply.(*resp.Encoder); ok && e.Proto() == 3 {
		e.Attribute(1)
		e.BulkString("key-popularity")
		e.Array(2)
		e.BulkString("key:123")
		e.Int(90)
	}
	c.Reply.BulkString("Some real reply following the attribute")
}

func debugPush(c *command.Call) {
	if c.Reply.Proto() == 2 {
		c.Reply.Error("ERR RESP2 is not supported by this command")
		return
	}
	c.Reply.Push(2)
	c.Reply.BulkString("server-cpu-usage")
	c.Reply.Int(42)
	c.Reply.BulkString("Some real reply following the push reply")
}
