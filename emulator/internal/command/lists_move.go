package command

import (
	"math"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
	"github.com/fakecluster/fakecluster/emulator/internal/resp"
)

// listMove is what LMOVE and its kin do: take an element from one end of a list
// and put it at one end of another.
type listMove struct {
	source, target []byte
	from, to       keyspace.ListEnd
}

// listEndArg reads argument i as LEFT or RIGHT.
func listEndArg(c *Call, i int) (end keyspace.ListEnd, ok bool) {
	switch {
	case c.is(i, "left"):
		return keyspace.Head, true
	case c.is(i, "right"):
		return keyspace.Tail, true
	}
	return end, c.fail(errSyntax)
}

func listMoveArgs(c *Call) (m listMove, ok bool) {
	m.source, m.target = c.Args[1], c.Args[2]
	if m.from, ok = listEndArg(c, 3); !ok {
		return
	}
	m.to, ok = listEndArg(c, 4)
	return
}

func rpoplpushArgs(c *Call) listMove {
	return listMove{c.Args[1], c.Args[2], keyspace.Tail, keyspace.Head}
}

func lmove(c *Call) {
	if m, ok := listMoveArgs(c); ok {
		m.run(c)
	}
}

func rpoplpush(c *Call) { rpoplpushArgs(c).run(c) }

// run moves the element and reports whether there was one.
func (m listMove) run(c *Call) bool {
	source, ok := writeList(c, m.source)
	if !ok {
		return false
	}
	if source == nil {
		c.Reply.Null()
		return false
	}
	target, ok := writeList(c, m.target)
	if !ok {
		return false
	}
	value := source.Pop(m.from)
	if target == nil {
		target = addList(c, m.target)
	}
	target.Grow(value)
	c.DB.Modified(m.target)
	target.Push(m.to, value)
	c.DB.Event(keyspace.ClassList, listEvent(m.to, "push"), m.target)
	c.Reply.Bulk(value)
	popped(c, m.source, source, m.from, 1)
	return true
}

func blmove(c *Call) {
	m, ok := listMoveArgs(c)
	if !ok {
		return
	}
	if moveOrWait(c, 5, m) {
		from, to := c.Args[3], c.Args[4]
		if c.onlyReadyKey() { // the client had been parked without its words
			from, to = listEndName(m.from), listEndName(m.to)
		}
		c.Propagate([]byte("LMOVE"), c.Args[1], c.Args[2], from, to)
	}
}

func listEndName(end keyspace.ListEnd) []byte {
	if end == keyspace.Head {
		return []byte("left")
	}
	return []byte("right")
}

func brpoplpush(c *Call) {
	if moveOrWait(c, 3, rpoplpushArgs(c)) {
		c.Propagate([]byte("RPOPLPUSH"), c.Args[1], c.Args[2])
	}
}

// moveOrWait runs m, or waits for its source, with the timeout in argument i. It
// reports whether an element was moved.
func moveOrWait(c *Call, i int, m listMove) bool {
	timeout, ok := c.timeoutArg(i)
	if !ok {
		return false
	}
	source, ok := writeList(c, m.source)
	if !ok {
		return false
	}
	if source == nil {
		c.Block(Wait{
			Keys: [][]byte{m.source}, Kind: keyspace.KindList, Timeout: timeout,
			OnTimeout: resp.Sink.NullArray, OnDenied: resp.Sink.Null,
		})
		return false
	}
	return m.run(c)
}

// bpop is BLPOP and BRPOP.
func bpop(c *Call, end keyspace.ListEnd) {
	last := len(c.Args) - 1
	timeout, ok := c.timeoutArg(last)
	if !ok {
		return
	}
	keys := c.Args[1:last]
	key, list, ok := firstList(c, c.readyKeys(keys))
	if !ok {
		return
	}
	if list == nil {
		c.blockOn(keyspace.KindList, keys, timeout, resp.Sink.NullArray)
		return
	}
	c.Reply.Array(2)
	c.Reply.Bulk(key)
	c.Reply.Bulk(list.Pop(end))
	popped(c, key, list, end, 1)
	c.Propagate(popCommand(end), key)
}

// popCommand is what replicas execute for a command that took from one end.
func popCommand(end keyspace.ListEnd) []byte {
	if end == keyspace.Head {
		return []byte("LPOP")
	}
	return []byte("RPOP")
}

// firstList returns the first of keys that holds something; it must be a list.
func firstList(c *Call, keys [][]byte) (key []byte, list *keyspace.List, ok bool) {
	for _, key := range keys {
		if list, ok := writeList(c, key); list != nil || !ok {
			return key, list, ok
		}
	}
	return nil, nil, true
}

// multiPop is the part of LMPOP's and BLMPOP's arguments from numkeys on.
type multiPop struct {
	keys  [][]byte
	end   keyspace.ListEnd
	count int64
}

func multiPopArgs(c *Call, at int) (m multiPop, ok bool) {
	numkeys, ok := c.rangeArg(at, 1, math.MaxInt64, "ERR numkeys should be greater than 0")
	if !ok {
		return m, false
	}
	if numkeys >= int64(c.left(at)) {
		return m, c.fail(errSyntax)
	}
	where := at + 1 + int(numkeys)
	m.keys = c.Args[at+1 : where]
	if m.end, ok = listEndArg(c, where); !ok {
		return m, false
	}
	if c.left(where) == 0 {
		m.count = 1
		return m, true
	}
	if !c.is(where+1, "count") || c.left(where) < 2 {
		return m, c.fail(errSyntax)
	}
	if m.count, ok = c.rangeArg(where+2, 1, math.MaxInt64, "ERR count should be greater than 0"); !ok {
		return m, false
	}
	if c.left(where) > 2 {
		return m, c.fail(errSyntax)
	}
	return m, true
}

func lmpop(c *Call) {
	m, ok := multiPopArgs(c, 1)
	if !ok {
		return
	}
	key, list, ok := firstList(c, m.keys)
	if !ok {
		return
	}
	if list == nil {
		c.Reply.NullArray()
		return
	}
	m.run(c, key, list)
}

func (m multiPop) run(c *Call, key []byte, list *keyspace.List) {
	c.Reply.Array(2)
	c.Reply.Bulk(key)
	n := popCount(c, key, list, m.end, m.count)
	c.Propagate(popCommand(m.end), key, number.AppendInt(nil, n))
}

func blmpop(c *Call) {
	m, ok := multiPopArgs(c, 2)
	if !ok {
		return
	}
	timeout, ok := c.timeoutArg(1)
	if !ok {
		return
	}
	key, list, ok := firstList(c, c.readyKeys(m.keys))
	if !ok {
		return
	}
	if list == nil {
		c.blockOn(keyspace.KindList, m.keys, timeout, resp.Sink.NullArray)
		return
	}
	m.run(c, key, list)
}
