package command

import (
	"slices"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
)

// lcsOptions are the options of LCS.
type lcsOptions struct {
	length, index, withMatchLength bool
	minMatch                       int64
}

func lcs(c *Call) {
	a, b, ok := c.stringsAt(1, 2)
	if !ok {
		return
	}
	o, ok := c.lcsOptions(3)
	if !ok {
		return
	}
	c.replyLCS(a, b, o)
}

// replyLCS answers with what the options ask for about two strings.
func (c *Call) replyLCS(a, b []byte, o lcsOptions) {
	if size := 4 * int64(len(a)+1) * int64(len(b)+1); size > c.Keyspace().Limits.MaxStringBytes {
		c.fail("ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len")
		return
	}
	table := newLCSTable(a, b)
	switch {
	case o.index:
		matches, _ := table.trace(o.minMatch)
		c.replyCommonRuns(matches, o.withMatchLength, table.at(len(a), len(b)))
	case o.length:
		c.Reply.Int(int64(table.at(len(a), len(b))))
	default:
		_, common := table.trace(0)
		c.Reply.Bulk(common)
	}
}

// stringBytes is the content of a string or of a missing key.
func stringBytes(v keyspace.Value) ([]byte, bool) {
	if v == nil {
		return nil, true
	}
	s, ok := v.(*keyspace.String)
	if !ok {
		return nil, false
	}
	return s.Bytes(), true
}

func (c *Call) lcsOptions(i int) (o lcsOptions, ok bool) {
	for ; i < len(c.Args); i++ {
		switch {
		case c.is(i, "IDX"):
			o.index = true
		case c.is(i, "LEN"):
			o.length = true
		case c.is(i, "WITHMATCHLEN"):
			o.withMatchLength = true
		case c.is(i, "MINMATCHLEN") && c.left(i) > 0:
			i++
			if o.minMatch, ok = c.intArg(i); !ok {
				return o, false
			}
		default:
			return o, c.fail(errSyntax)
		}
	}
	if o.index && o.length {
		return o, c.fail("ERR If you want both the length and indexes, please just use IDX.")
	}
	return o, true
}

func (c *Call) replyCommonRuns(matches []lcsMatch, withLength bool, total uint32) {
	c.Reply.Map(2)
	c.Reply.BulkString("matches")
	c.Reply.Array(len(matches))
	for _, m := range matches {
		if withLength {
			c.Reply.Array(3)
		} else {
			c.Reply.Array(2)
		}
		for _, start := range [2]int{m.a, m.b} {
			c.Reply.Array(2)
			c.Reply.Int(int64(start))
			c.Reply.Int(int64(start + m.length - 1))
		}
		if withLength {
			c.Reply.Int(int64(m.length))
		}
	}
	c.Reply.BulkString("len")
	c.Reply.Int(int64(total))
}

// lcsTable is the dynamic programming table of the longest common subsequence:
// cell (i, j) is its length for the first i bytes of a and the first j of b.
type lcsTable struct {
	a, b  []byte
	cells []uint32
}

// lcsMatch is a run of bytes common to both strings, and where it starts.
type lcsMatch struct{ a, b, length int }

func newLCSTable(a, b []byte) *lcsTable {
	width := len(b) + 1
	t := &lcsTable{a: a, b: b, cells: make([]uint32, (len(a)+1)*width)}
	for i := range a {
		above, row := t.cells[i*width:], t.cells[(i+1)*width:]
		for j := range b {
			if a[i] == b[j] {
				row[j+1] = above[j] + 1
			} else {
				row[j+1] = max(above[j+1], row[j])
			}
		}
	}
	return t
}

func (t *lcsTable) at(i, j int) uint32 { return t.cells[i*(len(t.b)+1)+j] }

// trace walks back through the table, from the ends of the strings, and returns
// the subsequence and the runs that make it up, the last one first.
func (t *lcsTable) trace(minMatch int64) (matches []lcsMatch, common []byte) {
	var run lcsMatch
	emit := func() {
		if run.length > 0 && int64(run.length) >= minMatch {
			matches = append(matches, run)
		}
		run = lcsMatch{}
	}
	for i, j := len(t.a), len(t.b); i > 0 && j > 0; {
		if t.a[i-1] != t.b[j-1] {
			emit()
			if t.at(i-1, j) > t.at(i, j-1) {
				i--
			} else {
				j--
			}
			continue
		}
		i, j = i-1, j-1
		common = append(common, t.a[i])
		run = lcsMatch{i, j, run.length + 1}
	}
	emit()
	slices.Reverse(common)
	return matches, common
}
