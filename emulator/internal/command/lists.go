package command

import (
	"fmt"
	"iter"
	"math"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/keyspace/listpack"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
)

var listCommands = map[string]Handler{
	"lpush":      func(c *Call) { push(c, keyspace.Head, false) },
	"rpush":      func(c *Call) { push(c, keyspace.Tail, false) },
	"lpushx":     func(c *Call) { push(c, keyspace.Head, true) },
	"rpushx":     func(c *Call) { push(c, keyspace.Tail, true) },
	"lpop":       func(c *Call) { pop(c, keyspace.Head) },
	"rpop":       func(c *Call) { pop(c, keyspace.Tail) },
	"llen":       llen,
	"lindex":     lindex,
	"lset":       lset,
	"linsert":    linsert,
	"lrange":     lrange,
	"ltrim":      ltrim,
	"lrem":       lrem,
	"lpos":       lpos,
	"lmove":      lmove,
	"rpoplpush":  rpoplpush,
	"lmpop":      lmpop,
	"blpop":      func(c *Call) { bpop(c, keyspace.Head) },
	"brpop":      func(c *Call) { bpop(c, keyspace.Tail) },
	"blmove":     blmove,
	"brpoplpush": brpoplpush,
	"blmpop":     blmpop,
}

// readList looks up argument i for reading; it is nil for a missing key.
func readList(c *Call, i int) (*keyspace.List, bool) {
	return lookup[keyspace.List](c, c.DB.Read(c.Args[i]))
}

func writeList(c *Call, key []byte) (*keyspace.List, bool) {
	return lookup[keyspace.List](c, c.DB.Write(key))
}

// addList puts an empty list at key, to be filled by the caller.
func addList(c *Call, key []byte) *keyspace.List {
	list := keyspace.NewList(&c.Keyspace().Limits)
	c.DB.Add(key, list)
	return list
}

// bulkEntry replies with an element of a listpack.
func (c *Call) bulkEntry(e listpack.Entry) { c.Reply.Bulk(e.Bytes()) }

// listEvent names the event of one direction of a command: "lpush", "rpush".
func listEvent(end keyspace.ListEnd, verb string) string {
	if end == keyspace.Head {
		return "l" + verb
	}
	return "r" + verb
}

func push(c *Call, end keyspace.ListEnd, onlyExisting bool) {
	key, values := c.Args[1], c.Args[2:]
	list, ok := writeList(c, key)
	if !ok {
		return
	}
	if list == nil {
		if onlyExisting {
			c.Reply.Int(0)
			return
		}
		list = addList(c, key)
	}
	list.Grow(values...)
	for _, v := range values {
		list.Push(end, v)
	}
	c.Reply.Int(int64(list.Len()))
	c.DB.Modified(key)
	c.DB.Event(keyspace.ClassList, listEvent(end, "push"), key)
	c.Keyspace().Dirty += int64(len(values))
}

const errNotPositive = "ERR value is out of range, must be positive"

func pop(c *Call, end keyspace.ListEnd) {
	if len(c.Args) > 3 {
		c.failArity()
		return
	}
	key, count := c.Args[1], int64(-1)
	if len(c.Args) == 3 {
		var ok bool
		if count, ok = c.rangeArg(2, 0, math.MaxInt64, errNotPositive); !ok {
			return
		}
	}
	list, ok := writeList(c, key)
	switch {
	case !ok:
	case list == nil && count < 0:
		c.Reply.Null()
	case list == nil:
		c.Reply.NullArray()
	case count < 0:
		c.Reply.Bulk(list.Pop(end))
		popped(c, key, list, end, 1)
	case count == 0:
		c.Reply.Array(0)
	default:
		popCount(c, key, list, end, count)
	}
}

// rangeArg reads argument i as an integer between low and high; anything else
// is answered with msg.
func (c *Call) rangeArg(i int, low, high int64, msg string) (n int64, ok bool) {
	n, ok = number.ParseInt(c.Args[i])
	if !ok || n < low || n > high {
		return 0, c.fail(msg)
	}
	return n, true
}

// intBetweenArg reads argument i as an integer, and says what it should have
// been when it is not between low and high.
func (c *Call) intBetweenArg(i int, low, high int64) (n int64, ok bool) {
	if n, ok = c.intArg(i); ok && (n < low || n > high) {
		return 0, c.failRange(low, high)
	}
	return n, ok
}

func (c *Call) failRange(low, high int64) bool {
	return c.fail(fmt.Sprintf("ERR value is out of range, value must between %d and %d", low, high))
}

// popCount replies with up to count elements from one end and removes them. It
// returns how many there were.
func popCount(c *Call, key []byte, list *keyspace.List, end keyspace.ListEnd, count int64) int64 {
	n := int(min(count, int64(list.Len())))
	first, elements := 0, list.From(0)
	if end == keyspace.Tail {
		first, elements = list.Len()-n, list.BackFrom(list.Len()-1)
	}
	c.replyElements(elements, n)
	list.DeleteRange(first, n)
	popped(c, key, list, end, int64(n))
	return int64(n)
}

// replyElements replies with an array of the first n elements.
func (c *Call) replyElements(elements iter.Seq2[int, listpack.Entry], n int) {
	c.Reply.Array(n)
	for _, e := range elements {
		if n--; n < 0 {
			break
		}
		c.bulkEntry(e)
	}
}

// popped tells the world that n elements were taken from one end of list.
func popped(c *Call, key []byte, list *keyspace.List, end keyspace.ListEnd, n int64) {
	c.DB.Event(keyspace.ClassList, listEvent(end, "pop"), key)
	if list.Len() == 0 {
		c.DB.Delete(key)
		c.Removed(key)
	} else {
		list.Shrink()
	}
	c.DB.Modified(key)
	c.Keyspace().Dirty += n
}

func llen(c *Call) {
	list, ok := readList(c, 1)
	switch {
	case !ok:
	case list == nil:
		c.Reply.Int(0)
	default:
		c.Reply.Int(int64(list.Len()))
	}
}

func lindex(c *Call) {
	list, ok := readList(c, 1)
	if !ok {
		return
	}
	if list == nil {
		c.Reply.Null()
		return
	}
	index, ok := c.intArg(2)
	if !ok {
		return
	}
	if e, ok := list.Index(index); ok {
		c.bulkEntry(e)
	} else {
		c.Reply.Null()
	}
}

func lset(c *Call) {
	key, value := c.Args[1], c.Args[3]
	list, ok := writeList(c, key)
	if !ok {
		return
	}
	if list == nil {
		c.fail(errNoSuchKey)
		return
	}
	index, ok := c.intArg(2)
	if !ok {
		return
	}
	list.Grow(value)
	if !list.Set(index, value) {
		c.fail(errOutOfRange)
		return
	}
	list.Shrink()
	c.Reply.Status("OK")
	c.Changed(key, keyspace.ClassList, "lset")
}

func linsert(c *Call) {
	key, pivot, value := c.Args[1], c.Args[3], c.Args[4]
	before := c.is(2, "before")
	if !before && !c.is(2, "after") {
		c.fail(errSyntax)
		return
	}
	list, ok := writeList(c, key)
	if !ok {
		return
	}
	if list == nil {
		c.Reply.Int(0)
		return
	}
	list.Grow(value)
	if !list.Insert(pivot, value, before) {
		c.Reply.Int(-1)
		return
	}
	c.Changed(key, keyspace.ClassList, "linsert")
	c.Reply.Int(int64(list.Len()))
}

// rangeOf reads arguments 2 and 3 as the first and last index of a range.
func rangeOf(c *Call) (start, stop int64, ok bool) {
	if start, ok = c.intArg(2); !ok {
		return
	}
	stop, ok = c.intArg(3)
	return
}

// clamp turns indexes that may count from the end into the first element of the
// range they mean in a sequence of length, and the number of elements.
func clamp(start, stop int64, length int) (first, n int) {
	size := int64(length)
	if start < 0 {
		start = max(start+size, 0)
	}
	if stop < 0 {
		stop += size
	}
	stop = min(stop, size-1)
	if start > stop || start >= size {
		return 0, 0
	}
	return int(start), int(stop - start + 1)
}

func lrange(c *Call) {
	start, stop, ok := rangeOf(c)
	if !ok {
		return
	}
	list, ok := readList(c, 1)
	if !ok {
		return
	}
	if list == nil {
		c.Reply.Array(0)
		return
	}
	first, n := clamp(start, stop, list.Len())
	c.replyElements(list.From(first), n)
}

func ltrim(c *Call) {
	start, stop, ok := rangeOf(c)
	if !ok {
		return
	}
	key := c.Args[1]
	list, ok := writeList(c, key)
	if !ok {
		return
	}
	if list == nil {
		c.Reply.Status("OK")
		return
	}
	length := list.Len()
	first, n := clamp(start, stop, length)
	list.DeleteRange(first+n, length-first-n)
	list.DeleteRange(0, first)
	c.DB.Event(keyspace.ClassList, "ltrim", key)
	if list.Len() == 0 {
		c.DB.Delete(key)
		c.Removed(key)
	} else {
		list.Shrink()
	}
	c.DB.Modified(key)
	c.Keyspace().Dirty += int64(length - n)
	c.Reply.Status("OK")
}

func lrem(c *Call) {
	count, ok := c.intArg(2)
	if !ok {
		return
	}
	key := c.Args[1]
	list, ok := writeList(c, key)
	if !ok {
		return
	}
	if list == nil {
		c.Reply.Int(0)
		return
	}
	begin := keyspace.Head
	if count < 0 {
		begin, count = keyspace.Tail, -max(count, -math.MaxInt64)
	}
	removed := list.Remove(c.Args[3], begin, count)
	if removed > 0 {
		c.DB.Modified(key)
		c.DB.Event(keyspace.ClassList, "lrem", key)
		c.Keyspace().Dirty += int64(removed)
	}
	if list.Len() == 0 {
		c.DB.Delete(key)
		c.Removed(key)
	} else {
		list.Shrink()
	}
	c.Reply.Int(int64(removed))
}
