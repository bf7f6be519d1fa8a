package command

import (
	"math"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
)

var expireCommands = map[string]Handler{
	"expire":      func(c *Call) { c.expire(c.Now(), 1000) },
	"pexpire":     func(c *Call) { c.expire(c.Now(), 1) },
	"expireat":    func(c *Call) { c.expire(0, 1000) },
	"pexpireat":   func(c *Call) { c.expire(0, 1) },
	"persist":     persist,
	"ttl":         func(c *Call) { c.ttl(c.Now(), 1000) },
	"pttl":        func(c *Call) { c.ttl(c.Now(), 1) },
	"expiretime":  func(c *Call) { c.ttl(0, 1000) },
	"pexpiretime": func(c *Call) { c.ttl(0, 1) },
}

// expireConditions say when EXPIRE may change a time to live.
type expireConditions struct{ nx, xx, gt, lt bool }

func (c *Call) expireConditions(i int) (o expireConditions, ok bool) {
	if i < len(c.Args) && !c.Version().AtLeast(7, 0) {
		return o, c.failArity()
	}
	for ; i < len(c.Args); i++ {
		switch {
		case c.is(i, "NX"):
			o.nx = true
		case c.is(i, "XX"):
			o.xx = true
		case c.is(i, "GT"):
			o.gt = true
		case c.is(i, "LT"):
			o.lt = true
		default:
			return o, c.fail("ERR Unsupported option " + c.text(i))
		}
	}
	if o.nx && (o.xx || o.gt || o.lt) {
		return o, c.fail("ERR NX and XX, GT or LT options at the same time are not compatible")
	}
	if o.gt && o.lt {
		return o, c.fail("ERR GT and LT options at the same time are not compatible")
	}
	return o, true
}

// allow reports whether a key that expires at current, 0 for never, may be made
// to expire at next.
func (o expireConditions) allow(current, next int64) bool {
	switch volatile := current != 0; {
	case o.nx && volatile, o.xx && !volatile:
		return false
	case o.gt && (!volatile || next <= current):
		return false
	case o.lt && volatile && next >= current:
		return false
	}
	return true
}

// expire is the EXPIRE family: the time counts from base, Unix milliseconds, in
// units of so many milliseconds.
func (c *Call) expire(base, unit int64) {
	key := c.Args[1]
	conditions, ok := c.expireConditions(3)
	if !ok {
		return
	}
	at, ok := c.intArg(2)
	if !ok {
		return
	}
	if at > math.MaxInt64/unit || at < math.MinInt64/unit || at*unit > math.MaxInt64-base {
		c.failExpire()
		return
	}
	at = at*unit + base
	if c.DB.Write(key) == nil {
		c.Reply.Int(0)
		return
	}
	if current, _ := c.DB.ExpireAt(key); !conditions.allow(current, at) {
		c.Reply.Int(0)
		return
	}
	c.Reply.Int(1)
	if c.isPast(at) {
		c.DB.Delete(key)
		c.Changed(key, keyspace.ClassGeneric, "del")
		c.Propagate(wordDEL, key)
		return
	}
	c.DB.SetExpireAt(key, at)
	c.Changed(key, keyspace.ClassGeneric, "expire")
	if base != 0 || unit != 1 {
		effect := append([][]byte{wordPEXPIREAT, key, number.AppendInt(nil, at)}, c.Args[3:]...)
		c.Propagate(effect...)
	}
}

func persist(c *Call) {
	key := c.Args[1]
	c.DB.Write(key)
	if at, _ := c.DB.ExpireAt(key); at == 0 {
		c.Reply.Int(0)
		return
	}
	c.DB.SetExpireAt(key, 0)
	c.Changed(key, keyspace.ClassGeneric, "persist")
	c.Reply.Int(1)
}

// ttl is the TTL family: the time from base, Unix milliseconds, in units of so
// many milliseconds.
func (c *Call) ttl(base, unit int64) {
	key := c.Args[1]
	if c.DB.ReadUntouched(key) == nil {
		c.Reply.Int(-2)
		return
	}
	at, _ := c.DB.ExpireAt(key)
	if at == 0 {
		c.Reply.Int(-1)
		return
	}
	left := max(at-base, 0)
	if unit != 1 {
		left = int64((uint64(left) + uint64(unit/2)) / uint64(unit))
	}
	c.Reply.Int(left)
}
