package command

import (
	"strconv"
	"strings"

	"github.com/fakecluster/fakecluster/emulator/internal/glob"
	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
)

var scanCommands = map[string]Handler{"scan": scan}

// scanOptions are the options of SCAN and of HSCAN, SSCAN and ZSCAN.
type scanOptions struct {
	count int64
	kind  string // of SCAN alone

	pattern    []byte
	hasPattern bool
	noValues   bool // of HSCAN alone, since 7.4
}

// scanCursor reads argument i as a cursor, which C's strtoul has to like.
func (c *Call) scanCursor(i int) (cursor uint64, ok bool) {
	arg := c.Args[i]
	cursor, ok = number.ParseUintC(arg)
	if !ok || len(arg) > 0 && number.IsSpace(arg[0]) {
		return 0, c.fail("ERR invalid cursor")
	}
	return cursor, true
}

// scanOptions reads the options from argument i on; TYPE is one for SCAN only.
func (c *Call) scanOptions(i int, isScan bool) (o scanOptions, ok bool) {
	o.count = 10
	for ; i < len(c.Args); i += 2 {
		switch {
		case c.left(i) > 0 && c.is(i, "COUNT"):
			if o.count, ok = c.intArg(i + 1); !ok {
				return o, false
			}
			if o.count < 1 {
				return o, c.fail(errSyntax)
			}
		case c.left(i) > 0 && c.is(i, "MATCH"):
			o.pattern = c.Args[i+1]
			o.hasPattern = string(o.pattern) != "*"
		case c.left(i) > 0 && c.is(i, "TYPE") && isScan:
			o.kind = string(c.Args[i+1])
		case c.is(i, "NOVALUES") && c.Version().AtLeast(7, 4):
			if c.Spec.Name != "hscan" {
				return o, c.fail("ERR NOVALUES option can only be used in HSCAN")
			}
			o.noValues = true
			i-- // it takes no argument
		default:
			return o, c.fail(errSyntax)
		}
	}
	return o, true
}

// matches reports whether an element has a name that MATCH lets through.
func (o scanOptions) matches(name string) bool {
	return !o.hasPattern || glob.Match(o.pattern, name)
}

// walk calls step, which visits some elements and returns the next cursor,
// until COUNT elements have been seen or the structure proves to be nearly
// empty, and returns the last cursor. seen tells how many there have been.
func (o scanOptions) walk(cursor uint64, seen func() int, step func(cursor uint64) uint64) uint64 {
	// Redis takes up to ten empty buckets per element; of a huge COUNT that
	// overflows, which is as good as no bound.
	for tries := o.count * 10; ; tries-- {
		cursor = step(cursor)
		if cursor == 0 || tries == 0 || int64(seen()) >= o.count {
			return cursor
		}
	}
}

// replyScan writes the reply of the SCAN family in front of n elements.
func (c *Call) replyScan(cursor uint64, n int) {
	c.Reply.Array(2)
	c.Reply.BulkString(strconv.FormatUint(cursor, 10))
	c.Reply.Array(n)
}

func scan(c *Call) {
	cursor, ok := c.scanCursor(1)
	if !ok {
		return
	}
	o, ok := c.scanOptions(2, true)
	if !ok {
		return
	}
	var seen []string
	cursor = o.walk(cursor, func() int { return len(seen) }, func(cursor uint64) uint64 {
		return c.DB.Scan(cursor, func(key string, _ keyspace.Value) { seen = append(seen, key) })
	})
	found := seen[:0]
	for _, key := range seen {
		if !o.matches(key) {
			continue
		}
		if v := c.DB.Peek([]byte(key)); v != nil && (o.kind == "" || strings.EqualFold(o.kind, v.Kind().String())) {
			found = append(found, key)
		}
	}
	c.replyScan(cursor, len(found))
	for _, key := range found {
		c.Reply.BulkString(key)
	}
}
