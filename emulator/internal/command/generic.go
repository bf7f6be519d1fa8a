package command

import (
	"bytes"
	"fmt"
	"math"

	"github.com/fakecluster/fakecluster/emulator/internal/glob"
	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
)

// genericCommands work on keys whatever they hold.
var genericCommands = map[string]Handler{
	"del":       del,
	"unlink":    del,
	"exists":    exists,
	"touch":     touch,
	"type":      typeCommand,
	"randomkey": randomkey,
	"keys":      keys,
	"dbsize":    dbsize,
	"rename":    rename,
	"renamenx":  renamenx,
	"copy":      copyCommand,
	"move":      move,
	"swapdb":    swapdb,
	"flushdb":   flushdb,
	"flushall":  flushall,
}

func del(c *Call) {
	deleted := int64(0)
	for _, key := range c.Args[1:] {
		if c.Spec.Name == "unlink" && keyspace.FreesLazily(c.DB.Peek(key)) {
			c.Keyspace().Stats.LazyFreed++
		}
		if c.DB.Delete(key) {
			c.Changed(key, keyspace.ClassGeneric, "del")
			deleted++
		}
	}
	c.Reply.Int(deleted)
}

func exists(c *Call) {
	found := int64(0)
	for _, key := range c.Args[1:] {
		if c.DB.ReadUntouched(key) != nil {
			found++
		}
	}
	c.Reply.Int(found)
}

func touch(c *Call) {
	found := int64(0)
	for _, key := range c.Args[1:] {
		if c.DB.Read(key) != nil {
			found++
		}
	}
	c.Reply.Int(found)
}

func typeCommand(c *Call) {
	var kind keyspace.Kind
	if v := c.DB.ReadUntouched(c.Args[1]); v != nil {
		kind = v.Kind()
	}
	c.Reply.Status(kind.String())
}

func randomkey(c *Call) {
	if key, ok := c.DB.Random(); ok {
		c.Reply.BulkString(key)
	} else {
		c.Reply.Null()
	}
}

func keys(c *Call) {
	pattern := c.Args[1]
	all := string(pattern) == "*"
	var found []string
	for key := range c.DB.Keys() {
		if all || glob.Match(pattern, key) {
			found = append(found, key)
		}
	}
	c.Reply.Array(len(found))
	for _, key := range found {
		c.Reply.BulkString(key)
	}
}

func dbsize(c *Call) { c.Reply.Int(int64(c.DB.Len())) }

func rename(c *Call) {
	if c.rename(false) {
		c.Reply.Status("OK")
	}
}

func renamenx(c *Call) { c.rename(true) }

// rename is RENAME and RENAMENX; it reports whether the reply is still to be
// written.
func (c *Call) rename(nx bool) bool {
	from, to := c.Args[1], c.Args[2]
	if c.DB.Write(from) == nil {
		return c.fail(errNoSuchKey)
	}
	if bytes.Equal(from, to) {
		if nx {
			c.Reply.Int(0)
		}
		return !nx
	}
	if c.DB.Write(to) != nil {
		if nx {
			c.Reply.Int(0)
			return false
		}
		c.DB.Delete(to)
	}
	c.DB.Rename(from, c.DB, to)
	c.DB.Modified(from)
	c.DB.Modified(to)
	c.DB.Event(keyspace.ClassGeneric, "rename_from", from)
	c.DB.Event(keyspace.ClassGeneric, "rename_to", to)
	c.Keyspace().Dirty++
	if nx {
		c.Reply.Int(1)
	}
	return !nx
}

// database reads argument i as a number of a database.
func (c *Call) database(i int) (*keyspace.DB, bool) {
	n, ok := c.int32Arg(i)
	if !ok {
		return nil, false
	}
	if n < 0 || n >= int64(c.Keyspace().Databases()) {
		return nil, c.fail("ERR DB index is out of range")
	}
	return c.Keyspace().DB(int(n)), true
}

// int32Arg reads an argument where Redis wants a C int.
func (c *Call) int32Arg(i int) (n int64, ok bool) {
	n, ok = c.intArg(i)
	if ok && n != int64(int32(n)) {
		return 0, c.fail(fmt.Sprintf("ERR value is out of range, value must between %d and %d", math.MinInt32, math.MaxInt32))
	}
	return n, ok
}

const errSameObject = "ERR source and destination objects are the same"

func copyCommand(c *Call) {
	from, to := c.Args[1], c.Args[2]
	dst, replace := c.DB, false
	for i := 3; i < len(c.Args); i++ {
		switch {
		case c.is(i, "REPLACE"):
			replace = true
		case c.is(i, "DB") && c.left(i) > 0:
			i++
			var ok bool
			if dst, ok = c.database(i); !ok {
				return
			}
		default:
			c.fail(errSyntax)
			return
		}
	}
	if c.ClusterEnabled && (c.DB.ID() != 0 || dst.ID() != 0) {
		c.fail("ERR Copying to another database is not allowed in cluster mode")
		return
	}
	if dst == c.DB && bytes.Equal(from, to) {
		c.fail(errSameObject)
		return
	}
	value := c.DB.Read(from)
	if value == nil {
		c.Reply.Int(0)
		return
	}
	if dst.Write(to) != nil {
		if !replace {
			c.Reply.Int(0)
			return
		}
		dst.Delete(to)
	}
	dst.Add(to, value.Clone())
	expireAt, _ := c.DB.ExpireAt(from)
	dst.SetExpireAt(to, expireAt)
	dst.Modified(to)
	dst.Event(keyspace.ClassGeneric, "copy_to", to)
	c.Keyspace().Dirty++
	c.Reply.Int(1)
}

func move(c *Call) {
	if c.ClusterEnabled {
		c.fail("ERR MOVE is not allowed in cluster mode")
		return
	}
	key := c.Args[1]
	dst, ok := c.database(2)
	if !ok {
		return
	}
	if dst == c.DB {
		c.fail(errSameObject)
		return
	}
	if c.DB.Write(key) == nil || dst.Write(key) != nil {
		c.Reply.Int(0)
		return
	}
	c.DB.Rename(key, dst, key)
	c.DB.Modified(key)
	dst.Modified(key)
	c.DB.Event(keyspace.ClassGeneric, "move_from", key)
	dst.Event(keyspace.ClassGeneric, "move_to", key)
	c.Keyspace().Dirty++
	c.Reply.Int(1)
}

func swapdb(c *Call) {
	if c.ClusterEnabled {
		c.fail("ERR SWAPDB is not allowed in cluster mode")
		return
	}
	var ids [2]int
	for i, msg := range [...]string{"ERR invalid first DB index", "ERR invalid second DB index"} {
		id, ok := number.ParseInt(c.Args[i+1])
		if !ok || id != int64(int32(id)) {
			c.fail(msg)
			return
		}
		ids[i] = int(id)
	}
	for _, id := range ids {
		if id < 0 || id >= c.Keyspace().Databases() {
			c.fail("ERR DB index is out of range")
			return
		}
	}
	if ids[0] != ids[1] {
		c.Keyspace().Swap(ids[0], ids[1])
	}
	c.Keyspace().Dirty++
	c.Reply.Status("OK")
}

func flushdb(c *Call) {
	if c.flushArguments() {
		c.clear(c.DB)
		c.PropagateAlways() // a replica may have what is not here
		c.Reply.Status("OK")
	}
}

func flushall(c *Call) {
	if !c.flushArguments() {
		return
	}
	for i := range c.Keyspace().Databases() {
		c.clear(c.Keyspace().DB(i))
	}
	c.PropagateAlways()
	c.Reply.Status("OK")
}

func (c *Call) clear(db *keyspace.DB) {
	n := int64(db.Clear())
	c.Keyspace().Dirty += n
	if len(c.Args) == 2 && c.is(1, "ASYNC") {
		c.Keyspace().Stats.LazyFreed += n
	}
}

func (c *Call) flushArguments() bool {
	if len(c.Args) == 1 || len(c.Args) == 2 && (c.is(1, "SYNC") || c.is(1, "ASYNC")) {
		return true
	}
	return c.fail(errSyntax)
}
