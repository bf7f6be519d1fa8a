package command

import (
	"math"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/keyspace/listpack"
)

// lposOptions are the arguments of LPOS behind the element.
type lposOptions struct {
	rank   int64 // which match is the first to count, from the tail when negative
	count  int64 // 0: all; -1: one, and the reply is no array
	maxLen int64 // 0: compare all elements
}

func lposArgs(c *Call) (o lposOptions, ok bool) {
	o = lposOptions{rank: 1, count: -1}
	for i := 3; i < len(c.Args); i += 2 {
		switch {
		case c.is(i, "rank") && c.left(i) > 0:
			if o.rank, ok = rankArg(c, i+1); !ok {
				return o, false
			}
		case c.is(i, "count") && c.left(i) > 0:
			if o.count, ok = c.rangeArg(i+1, 0, math.MaxInt64, "ERR COUNT can't be negative"); !ok {
				return o, false
			}
		case c.is(i, "maxlen") && c.left(i) > 0:
			if o.maxLen, ok = c.rangeArg(i+1, 0, math.MaxInt64, "ERR MAXLEN can't be negative"); !ok {
				return o, false
			}
		default:
			return o, c.fail(errSyntax)
		}
	}
	return o, true
}

// rankArg reads argument i as the rank of a match. 7.0 let the smallest integer
// pass, whose negation overflows: every match counts then, from the tail.
func rankArg(c *Call, i int) (rank int64, ok bool) {
	if rank, ok = c.intArg(i); !ok {
		return 0, false
	}
	switch {
	case rank == 0:
		return 0, c.fail("ERR RANK can't be zero: use 1 to start from the first match, " +
			"2 from the second ... or use negative to start from the end of the list")
	case rank == math.MinInt64 && c.Version().AtLeast(7, 2):
		return 0, c.failRange(-math.MaxInt64, math.MaxInt64)
	case rank == math.MinInt64:
		return -1, true
	}
	return rank, true
}

func lpos(c *Call) {
	o, ok := lposArgs(c)
	if !ok {
		return
	}
	list, ok := readList(c, 1)
	if !ok {
		return
	}
	var matches []int
	if list != nil {
		matches = findInList(list, c.Args[2], o)
	}
	if o.count < 0 {
		if len(matches) == 0 {
			c.Reply.Null()
		} else {
			c.Reply.Int(int64(matches[0]))
		}
		return
	}
	c.Reply.Array(len(matches))
	for _, i := range matches {
		c.Reply.Int(int64(i))
	}
}

func findInList(list *keyspace.List, element []byte, o lposOptions) (matches []int) {
	elements, skip := list.From(0), o.rank-1
	if o.rank < 0 {
		elements, skip = list.BackFrom(list.Len()-1), -o.rank-1
	}
	key, compared := listpack.MakeKey(element), int64(0)
	for i, e := range elements {
		if o.maxLen > 0 && compared == o.maxLen {
			break
		}
		compared++
		if !e.Is(key) {
			continue
		}
		if skip > 0 {
			skip--
			continue
		}
		matches = append(matches, i)
		if o.count < 0 || o.count > 0 && int64(len(matches)) == o.count {
			break
		}
	}
	return matches
}
