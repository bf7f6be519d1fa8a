package command

import (
	"math"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
)

// setOptions are the options of SET and, fewer, of GETEX.
type setOptions struct {
	nx, xx, get, keepTTL, persist bool
	// unit is how expire is written: "EX", "PX", "EXAT" or "PXAT", or "" without
	// one.
	unit   string
	expire int // the index of the time's argument
	// replyFlag replies with 1 or 0 instead of OK or null.
	replyFlag bool
}

func set(c *Call) {
	o, ok := c.setOptions(3, true)
	if !ok {
		return
	}
	c.set(c.Args[1], c.Args[2], o)
}

// setOptions reads the options from argument i on.
func (c *Call) setOptions(i int, isSet bool) (o setOptions, ok bool) {
	nxWithGet := c.Version().AtLeast(7, 0)
	for ; i < len(c.Args); i++ {
		switch {
		case isSet && c.is(i, "NX") && !o.xx && (!o.get || nxWithGet):
			o.nx = true
		case isSet && c.is(i, "XX") && !o.nx:
			o.xx = true
		case isSet && c.is(i, "GET") && (!o.nx || nxWithGet):
			o.get = true
		case isSet && c.is(i, "KEEPTTL") && !o.persist && o.unit == "":
			o.keepTTL = true
		case !isSet && c.is(i, "PERSIST") && o.unit == "":
			o.persist = true
		default:
			unit := c.expireUnit(i)
			if unit == "" || o.keepTTL || o.persist || o.unit != "" && o.unit != unit || c.left(i) == 0 {
				return o, c.fail(errSyntax)
			}
			i++
			o.unit, o.expire = unit, i
		}
	}
	return o, true
}

func (c *Call) expireUnit(i int) string {
	for _, unit := range [...]string{"EX", "PX", "EXAT", "PXAT"} {
		if c.is(i, unit) {
			return unit
		}
	}
	return ""
}

// expireAt reads the time that o asks for, as Unix milliseconds.
func (c *Call) expireAt(o setOptions) (ms int64, ok bool) {
	ms, ok = c.intArg(o.expire)
	if !ok {
		return 0, false
	}
	seconds := o.unit == "EX" || o.unit == "EXAT"
	if ms <= 0 || seconds && ms > math.MaxInt64/1000 {
		return 0, c.failExpire()
	}
	if seconds {
		ms *= 1000
	}
	if o.unit == "EX" || o.unit == "PX" {
		ms += c.Now()
	}
	if ms <= 0 {
		return 0, c.failExpire()
	}
	return ms, true
}

// set is SET and its variants, whose options have been read.
func (c *Call) set(key, value []byte, o setOptions) {
	var expireAt int64
	if o.unit != "" {
		var ok bool
		if expireAt, ok = c.expireAt(o); !ok {
			return
		}
	}
	if o.get && !c.replyString() {
		return
	}
	found := c.DB.Write(key) != nil
	if o.nx && found || o.xx && !found {
		switch {
		case o.get:
		case o.replyFlag:
			c.Reply.Int(0)
		default:
			c.Reply.Null()
		}
		return
	}
	c.DB.SetString(key, value, o.keepTTL || o.unit != "")
	c.Changed(key, keyspace.ClassString, "set")
	if o.unit != "" {
		c.DB.SetExpireAt(key, expireAt)
		c.DB.Event(keyspace.ClassGeneric, "expire", key)
	}
	c.propagateSet(key, value, o, expireAt)
	switch {
	case o.get:
	case o.replyFlag:
		c.Reply.Int(1)
	default:
		c.Reply.Status("OK")
	}
}

// propagateSet tells replicas an absolute time, and nothing of GET, for which
// they would look up the key.
func (c *Call) propagateSet(key, value []byte, o setOptions, expireAt int64) {
	switch {
	case o.unit != "":
		c.Propagate(wordSET, key, value, wordPXAT, number.AppendInt(nil, expireAt))
	case o.get:
		effect := [][]byte{c.Args[0], key, value}
		for i := 3; i < len(c.Args); i++ {
			if !c.is(i, "GET") {
				effect = append(effect, c.Args[i])
			}
		}
		c.Propagate(effect...)
	}
}

func setnx(c *Call) { c.set(c.Args[1], c.Args[2], setOptions{nx: true, replyFlag: true}) }

func setex(c *Call) { c.set(c.Args[1], c.Args[3], setOptions{unit: "EX", expire: 2}) }

func psetex(c *Call) { c.set(c.Args[1], c.Args[3], setOptions{unit: "PX", expire: 2}) }

func getset(c *Call) {
	if !c.replyString() {
		return
	}
	key, value := c.Args[1], c.Args[2]
	c.DB.SetString(key, value, false)
	c.Changed(key, keyspace.ClassString, "set")
	c.Propagate(wordSET, key, value)
}

func getdel(c *Call) {
	key := c.Args[1]
	if !c.replyString() || !c.DB.Delete(key) {
		return
	}
	c.Changed(key, keyspace.ClassGeneric, "del")
	c.Propagate(wordDEL, key)
}

func getex(c *Call) {
	o, ok := c.setOptions(2, false)
	if !ok {
		return
	}
	key := c.Args[1]
	s, ok := lookup[keyspace.String](c, c.DB.Read(key))
	if !ok {
		return
	}
	if s == nil {
		c.Reply.Null()
		return
	}
	var expireAt int64
	if o.unit != "" {
		if expireAt, ok = c.expireAt(o); !ok {
			return
		}
	}
	c.Reply.Bulk(s.Bytes())
	switch {
	case o.unit != "" && c.isPast(expireAt): // only an absolute time can be
		c.DB.Delete(key)
		c.Changed(key, keyspace.ClassGeneric, "del")
		c.Propagate(wordDEL, key)
	case o.unit != "":
		c.DB.SetExpireAt(key, expireAt)
		c.Changed(key, keyspace.ClassGeneric, "expire")
		c.Propagate(wordPEXPIREAT, key, number.AppendInt(nil, expireAt))
	case o.persist:
		if ms, _ := c.DB.ExpireAt(key); ms != 0 {
			c.DB.SetExpireAt(key, 0)
			c.Changed(key, keyspace.ClassGeneric, "persist")
			c.Propagate(wordPERSIST, key)
		}
	}
}

// isPast reports whether a key that expires at ms is to be deleted at once,
// which a replica leaves to its master.
func (c *Call) isPast(ms int64) bool { return ms <= c.Now() && !c.Keyspace().KeepExpired }

func mset(c *Call) {
	if len(c.Args)%2 == 0 {
		c.failArity()
		return
	}
	c.setAll()
	c.Reply.Status("OK")
}

func msetnx(c *Call) {
	if len(c.Args)%2 == 0 {
		c.failArity()
		return
	}
	for i := 1; i < len(c.Args); i += 2 {
		if c.DB.Write(c.Args[i]) != nil {
			c.Reply.Int(0)
			return
		}
	}
	c.setAll()
	c.Reply.Int(1)
}

// setAll sets every pair of arguments.
func (c *Call) setAll() {
	for i := 1; i < len(c.Args); i += 2 {
		c.DB.SetString(c.Args[i], c.Args[i+1], false)
		c.Changed(c.Args[i], keyspace.ClassString, "set")
	}
}
