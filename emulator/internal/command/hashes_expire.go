package command

import (
	"math"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
)

// The commands of 7.4 that let fields of a hash expire.
var hashExpireCommands = map[string]Handler{
	"hexpire":      func(c *Call) { hexpire(c, c.Now(), 1000) },
	"hpexpire":     func(c *Call) { hexpire(c, c.Now(), 1) },
	"hexpireat":    func(c *Call) { hexpire(c, 0, 1000) },
	"hpexpireat":   func(c *Call) { hexpire(c, 0, 1) },
	"httl":         func(c *Call) { httl(c, c.Now(), 1000) },
	"hpttl":        func(c *Call) { httl(c, c.Now(), 1) },
	"hexpiretime":  func(c *Call) { httl(c, 0, 1000) },
	"hpexpiretime": func(c *Call) { httl(c, 0, 1) },
	"hpersist":     hpersist,
}

// maxFieldExpiry is the latest time a field can expire, in Unix milliseconds.
const maxFieldExpiry = 1<<46 - 1

// What the commands answer for each field.
const (
	fieldMissing       = -2
	fieldDoesNotExpire = -1
	fieldConditionFail = 0
	fieldChanged       = 1
	fieldDeleted       = 2
)

// fieldArgs reads "FIELDS numfields field …" from argument i on. The commands
// that set a time and those that do not complain differently.
func (c *Call) fieldArgs(i int, badCount string) (fields [][]byte, ok bool) {
	if i >= len(c.Args) || !c.is(i, "fields") {
		return nil, c.fail("ERR Mandatory argument FIELDS is missing or not at the right position")
	}
	if c.left(i) == 0 {
		return nil, c.fail(badCount)
	}
	n, ok := c.rangeArg(i+1, 1, math.MaxInt64, badCount)
	if !ok {
		return nil, false
	}
	if fields = c.Args[i+2:]; n != int64(len(fields)) {
		return nil, c.fail("ERR The `numfields` parameter must match the number of arguments")
	}
	return fields, true
}

const errFieldCount = "ERR Number of fields must be a positive integer"

// replyMissing replies that fields of a missing hash are missing.
func (c *Call) replyMissing(fields [][]byte) {
	c.Reply.Array(len(fields))
	for range fields {
		c.Reply.Int(fieldMissing)
	}
}

// fieldExpiry is a time that fields of a hash are to get, on a condition.
type fieldExpiry struct {
	at        int64 // Unix ms
	condition string
	inPast    bool
}

// hexpire sets when fields expire: argument 2 is a time in units of unit
// milliseconds since base.
func hexpire(c *Call, base, unit int64) {
	key := c.Args[1]
	hash, ok := writeHash(c)
	if !ok {
		return
	}
	e, ok := fieldExpiryArg(c, base, unit)
	if !ok {
		return
	}
	at := 3
	for _, condition := range [...]string{"nx", "xx", "gt", "lt"} {
		if c.is(3, condition) {
			e.condition = condition
			at = 4
			break
		}
	}
	fields, ok := c.fieldArgs(at, "ERR Parameter `numFields` should be greater than 0")
	if !ok {
		return
	}
	if hash == nil {
		c.replyMissing(fields)
		return
	}
	var updated [][]byte
	deleted := 0
	c.Reply.Array(len(fields))
	for _, field := range fields {
		result := e.apply(hash, field)
		c.Reply.Int(int64(result))
		switch result {
		case fieldChanged:
			updated = append(updated, field)
		case fieldDeleted:
			deleted++
			c.Propagate([]byte("HDEL"), key, field)
		}
	}
	e.propagate(c, updated)
	if len(updated)+deleted > 0 {
		c.fieldsChanged(key, hash, len(updated), deleted)
	}
}

// fieldsChanged tells the world what HEXPIRE did.
func (c *Call) fieldsChanged(key []byte, hash *keyspace.Hash, updated, deleted int) {
	event := "hexpire"
	if deleted > 0 {
		event = "hdel"
	}
	c.Keyspace().Dirty += int64(updated + deleted)
	c.DB.Modified(key)
	c.DB.Event(keyspace.ClassHash, event, key)
	c.removeIfEmpty(key, hash.Len())
	c.DB.FieldsTimed(key)
}

// fieldExpiryArg reads argument 2.
func fieldExpiryArg(c *Call, base, unit int64) (e fieldExpiry, ok bool) {
	n, ok := c.intArg(2)
	switch {
	case !ok:
		return e, false
	case n < 0:
		return e, c.fail("ERR invalid expire time, must be >= 0")
	case n > maxFieldExpiry/unit, n*unit > maxFieldExpiry-base:
		return e, c.failExpire()
	}
	e.at = n*unit + base
	e.inPast = e.at <= c.Now() && !c.FromMaster
	return e, true
}

// apply gives field its time, or deletes it if that has passed.
func (e fieldExpiry) apply(hash *keyspace.Hash, field []byte) (result int) {
	old, ok := hash.ExpireAt(field)
	switch {
	case !ok:
		return fieldMissing
	case !e.allowed(old):
		return fieldConditionFail
	case e.inPast:
		hash.Delete(field)
		return fieldDeleted
	}
	hash.SetExpireAt(field, e.at)
	return fieldChanged
}

// allowed checks the condition against when the field expires now. Not to
// expire is later than any time.
func (e fieldExpiry) allowed(old int64) bool {
	switch e.condition {
	case "nx":
		return old == 0
	case "xx":
		return old != 0
	case "gt":
		return old != 0 && e.at > old
	case "lt":
		return old == 0 || e.at < old
	}
	return true
}

// propagate tells replicas the absolute time of the fields that got it.
func (e fieldExpiry) propagate(c *Call, fields [][]byte) {
	c.PropagateNothing()
	if len(fields) == 0 {
		return
	}
	args := [][]byte{[]byte("HPEXPIREAT"), c.Args[1], number.AppendInt(nil, e.at)}
	if e.condition != "" {
		args = append(args, c.Args[3])
	}
	args = append(args, []byte("FIELDS"), number.AppendInt(nil, int64(len(fields))))
	c.Propagate(append(args, fields...)...)
}

// httl replies when fields expire, in units of unit milliseconds since base.
func httl(c *Call, base, unit int64) {
	hash, ok := readHash(c)
	if !ok {
		return
	}
	fields, ok := c.fieldArgs(2, errFieldCount)
	if !ok {
		return
	}
	if hash == nil {
		c.replyMissing(fields)
		return
	}
	c.Reply.Array(len(fields))
	for _, field := range fields {
		switch at, ok := hash.ExpireAt(field); {
		case !ok:
			c.Reply.Int(fieldMissing)
		case at == 0:
			c.Reply.Int(fieldDoesNotExpire)
		default:
			c.Reply.Int((at - base + unit - 1) / unit)
		}
	}
}

func hpersist(c *Call) {
	hash, ok := writeHash(c)
	if !ok {
		return
	}
	fields, ok := c.fieldArgs(2, errFieldCount)
	if !ok {
		return
	}
	if hash == nil {
		c.replyMissing(fields)
		return
	}
	changed := false
	c.Reply.Array(len(fields))
	for _, field := range fields {
		switch at, ok := hash.ExpireAt(field); {
		case !ok:
			c.Reply.Int(fieldMissing)
		case at == 0:
			c.Reply.Int(fieldDoesNotExpire)
		default:
			hash.SetExpireAt(field, 0)
			c.Reply.Int(fieldChanged)
			changed = true
		}
	}
	if changed {
		c.Changed(c.Args[1], keyspace.ClassHash, "hpersist")
	}
}
