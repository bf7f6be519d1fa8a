package command

import (
	"errors"
	"slices"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
	"github.com/fakecluster/fakecluster/emulator/internal/rdb"
)

var dumpCommands = map[string]Handler{
	"dump":           dump,
	"restore":        restore,
	"restore-asking": restore,
}

func dump(c *Call) {
	v := c.DB.Read(c.Args[1])
	if v == nil {
		c.Reply.Null()
		return
	}
	c.Reply.Bulk(keyspace.Dump(v, &c.Keyspace().Limits))
}

// restoreOptions are the options of RESTORE. Idle time and frequency are -1
// where they are not given.
type restoreOptions struct {
	replace, absolute bool
	idle, frequency   int64
}

func (c *Call) restoreOptions(i int) (o restoreOptions, ok bool) {
	o.idle, o.frequency = -1, -1
	for ; i < len(c.Args); i++ {
		switch {
		case c.is(i, "REPLACE"):
			o.replace = true
		case c.is(i, "ABSTTL"):
			o.absolute = true
		case c.is(i, "IDLETIME") && c.left(i) > 0 && o.frequency == -1:
			i++
			if o.idle, ok = c.intArg(i); !ok {
				return o, false
			}
			if o.idle < 0 {
				return o, c.fail("ERR Invalid IDLETIME value, must be >= 0")
			}
		case c.is(i, "FREQ") && c.left(i) > 0 && o.idle == -1:
			i++
			if o.frequency, ok = c.intArg(i); !ok {
				return o, false
			}
			if o.frequency < 0 || o.frequency > 255 {
				return o, c.fail("ERR Invalid FREQ value, must be >= 0 and <= 255")
			}
		default:
			return o, c.fail(errSyntax)
		}
	}
	return o, true
}

func restore(c *Call) {
	key := c.Args[1]
	o, ok := c.restoreOptions(4)
	if !ok {
		return
	}
	if !o.replace && c.DB.Write(key) != nil {
		c.fail("BUSYKEY Target key name already exists.")
		return
	}
	expireAt, ok := c.intArg(2)
	if !ok {
		return
	}
	if expireAt < 0 {
		c.fail("ERR Invalid TTL value, must be >= 0")
		return
	}
	value, err := keyspace.Load(c.Args[3], &c.Keyspace().Limits)
	switch {
	case errors.Is(err, rdb.ErrEnvelope):
		c.fail("ERR DUMP payload version or checksum are wrong")
		return
	case err != nil:
		c.fail("ERR Bad data format")
		return
	}
	if expireAt != 0 && !o.absolute {
		expireAt += c.Now()
	}
	c.putRestored(key, value, expireAt, o)
	c.Reply.Status("OK")
}

// putRestored puts a value in the place of what key held, if it is not expired
// already.
func (c *Call) putRestored(key []byte, value keyspace.Value, expireAt int64, o restoreOptions) {
	deleted := o.replace && c.DB.Drop(key)
	if expireAt != 0 && c.isPast(expireAt) {
		if deleted {
			c.Changed(key, keyspace.ClassGeneric, "del")
			c.Propagate(wordDEL, key)
		}
		return
	}
	c.DB.Add(key, value)
	c.DB.SetExpireAt(key, expireAt)
	if o.idle >= 0 {
		c.DB.SetIdle(key, o.idle)
	}
	if o.frequency >= 0 {
		c.DB.SetFrequency(key, o.frequency)
	}
	c.Changed(key, keyspace.ClassGeneric, "restore")
	if expireAt != 0 && !o.absolute {
		effect := slices.Clone(c.Args)
		effect[2] = number.AppendInt(nil, expireAt)
		c.Propagate(append(effect, []byte("ABSTTL"))...)
	}
}
