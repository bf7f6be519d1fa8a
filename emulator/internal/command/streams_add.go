package command

import (
	"bytes"
	"math"
	"slices"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
)

// streamAddition is what XADD and XTRIM say in front of the fields.
type streamAddition struct {
	noMkStream bool
	// The ID comes as a whole, without its sequence, or as "*".
	id                keyspace.StreamID
	idGiven, seqGiven bool
	idArg             int
	trim              keyspace.Trim
	trims, limited    bool
	trimArg           int // argument of the length or the ID
	limit             int64
}

func xadd(c *Call) {
	a, ok := additionArgs(c, true)
	if !ok {
		return
	}
	fields := c.Args[min(a.idArg+1, len(c.Args)):]
	if len(fields) < 2 || len(fields)%2 == 1 {
		c.failArity()
		return
	}
	if a.idGiven && a.seqGiven && a.id.IsZero() {
		c.fail("ERR The ID specified in XADD must be greater than 0-0")
		return
	}
	key := c.Args[1]
	stream, ok := writeStream(c, key)
	if !ok {
		return
	}
	if stream == nil {
		if a.noMkStream {
			c.Reply.Null()
			return
		}
		stream = addStream(c, key)
	}
	id, ok := a.nextID(c, stream)
	if !ok {
		return
	}
	if keyspace.TooLarge(fields) {
		c.fail(errStreamTooLarge)
		return
	}
	stream.Append(id, fields)
	c.bulkID(id)
	c.Changed(key, keyspace.ClassStream, "xadd")
	if a.trims && stream.Trim(a.trim) > 0 {
		c.DB.Event(keyspace.ClassStream, "xtrim", key)
	}
	a.propagate(c, stream, id)
	c.DB.Ready(key)
}

const errStreamTooLarge = "ERR Elements are too large to be stored"

// nextID decides which ID the new entry gets.
func (a *streamAddition) nextID(c *Call, stream *keyspace.Stream) (id keyspace.StreamID, ok bool) {
	last := stream.LastID
	if last == keyspace.MaxStreamID {
		return id, c.fail("ERR The stream has exhausted the last possible ID, unable to add more items")
	}
	switch {
	case a.idGiven && (a.seqGiven || a.id.Ms != last.Ms):
		id = a.id
	case a.idGiven && last.Seq < math.MaxUint64:
		id = keyspace.StreamID{Ms: last.Ms, Seq: last.Seq + 1}
	case a.idGiven && !c.Version().AtLeast(7, 2):
		return id, c.fail(errStreamTooLarge) // 7.0 takes it for the other reason to fail
	case !a.idGiven && uint64(c.Now()) > last.Ms:
		id = keyspace.StreamID{Ms: uint64(c.Now())}
	case !a.idGiven:
		id, _ = last.Next()
	}
	if id.Compare(last) <= 0 {
		return id, c.fail("ERR The ID specified in XADD is equal or smaller than the target stream top item")
	}
	return id, true
}

// propagate tells replicas the ID that was chosen, and how far exactly the
// stream was trimmed where that was left to the node.
func (a *streamAddition) propagate(c *Call, stream *keyspace.Stream, id keyspace.StreamID) {
	approximate := a.trims && a.trim.Approximate
	if a.idGiven && a.seqGiven && !approximate {
		return
	}
	args := slices.Clone(c.Args)
	if !a.idGiven || !a.seqGiven {
		args[a.idArg] = id.Append(nil)
	}
	if approximate {
		a.makeTrimExact(args, stream)
	}
	c.Propagate(args...)
}

func (a *streamAddition) makeTrimExact(args [][]byte, stream *keyspace.Stream) {
	args[a.trimArg-1] = []byte("=")
	if a.trim.ByID {
		args[a.trimArg] = stream.FirstStoredID().Append(nil)
	} else {
		args[a.trimArg] = number.AppendInt(nil, int64(stream.Len()))
	}
}

func xtrim(c *Call) {
	a, ok := additionArgs(c, false)
	if !ok {
		return
	}
	key := c.Args[1]
	stream, ok := writeStream(c, key)
	if !ok {
		return
	}
	if stream == nil {
		c.Reply.Int(0)
		return
	}
	removed := stream.Trim(a.trim)
	if removed > 0 {
		c.DB.Event(keyspace.ClassStream, "xtrim", key)
		if a.trim.Approximate {
			args := slices.Clone(c.Args)
			a.makeTrimExact(args, stream)
			c.Propagate(args...)
		}
		c.DB.Modified(key)
		c.Keyspace().Dirty += removed
	}
	c.Reply.Int(removed)
}

// additionArgs reads the options of XADD, up to the ID, or those of XTRIM.
func additionArgs(c *Call, isAdd bool) (a streamAddition, ok bool) {
	a.seqGiven = true
	for a.idArg = 2; a.idArg < len(c.Args); a.idArg++ {
		i := &a.idArg
		switch {
		case isAdd && string(c.Args[*i]) == "*":
			return a, a.finish(c, isAdd)
		case c.is(*i, "maxlen") && c.left(*i) > 0, c.is(*i, "minid") && c.left(*i) > 0:
			ok = a.trimOption(c, i)
		case c.is(*i, "limit") && c.left(*i) > 0:
			*i++
			a.limited = true
			if a.limit, ok = c.intArg(*i); ok && a.limit < 0 {
				ok = c.fail("ERR The LIMIT argument must be >= 0.")
			}
		case isAdd && c.is(*i, "nomkstream"):
			a.noMkStream, ok = true, true
		case isAdd:
			if !a.parseID(c.Args[*i], c.Version().AtLeast(7, 0)) {
				return a, c.fail(errStreamID)
			}
			a.idGiven = true
			return a, a.finish(c, isAdd)
		default:
			ok = c.fail(errSyntax)
		}
		if !ok {
			return a, false
		}
	}
	return a, a.finish(c, isAdd)
}

// parseID reads an ID, or "ms-*" which leaves the sequence to the stream, as
// is possible since 7.0.
func (a *streamAddition) parseID(arg []byte, anySequence bool) (ok bool) {
	if ms, found := bytes.CutSuffix(arg, []byte("-*")); found && anySequence && !bytes.Contains(ms, []byte("-")) {
		a.seqGiven = false
		arg = ms
	}
	a.id, ok = parseStreamID(arg, 0)
	return ok
}

// trimOption reads MAXLEN or MINID at argument i and moves i to its last word.
func (a *streamAddition) trimOption(c *Call, i *int) (ok bool) {
	if a.trims {
		return c.fail("ERR syntax error, MAXLEN and MINID options at the same time are not compatible")
	}
	a.trims, a.trim.ByID = true, c.is(*i, "minid")
	if c.left(*i) > 1 && (c.is(*i+1, "~") || c.is(*i+1, "=")) {
		*i++
		a.trim.Approximate = c.is(*i, "~")
	}
	*i++
	a.trimArg = *i
	if a.trim.ByID {
		a.trim.MinID, ok = c.streamIDArg(*i)
		return ok
	}
	if a.trim.MaxLen, ok = c.intArg(*i); ok && a.trim.MaxLen < 0 {
		return c.fail("ERR The MAXLEN argument must be >= 0.")
	}
	return ok
}

// finish checks the options against each other and sets the limit of trimming.
func (a *streamAddition) finish(c *Call, isAdd bool) bool {
	switch {
	case a.limit != 0 && !a.trims:
		return c.fail("ERR syntax error, LIMIT cannot be used without specifying a trimming strategy")
	case !isAdd && !a.trims:
		return c.fail("ERR syntax error, XTRIM must be called with a trimming strategy")
	case c.FromMaster:
		return true // the master has spelled out how far it trimmed
	case a.limited && !a.trim.Approximate:
		return c.fail("ERR syntax error, LIMIT cannot be used without the special ~ option")
	case a.limited:
		a.trim.Limit = a.limit
	case a.trim.Approximate:
		a.trim.Limit = int64(c.Keyspace().Limits.StreamNodeMaxEntries) * 100
		if a.trim.Limit <= 0 {
			a.trim.Limit = 10000
		}
		a.trim.Limit = min(a.trim.Limit, 1000000)
	}
	return true
}
