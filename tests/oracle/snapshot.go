package oracle

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// snapshotConn is the connection number of snapshots.
const snapshotConn = 0

// snapshotDatabases is how many databases of a standalone server are compared.
const snapshotDatabases = 2

// snapshot compares the whole keyspace: the names, then each key's type,
// encoding, expiry and content.
func (x *Runner) snapshot(i int) (*Difference, error) {
	databases := snapshotDatabases
	if x.cluster {
		databases = 1
	}
	for node := range x.nodes() {
		for db := range databases {
			if d, err := x.snapshotDB(i, node, db); d != nil || err != nil {
				return d, err
			}
		}
	}
	return x.flush()
}

func (x *Runner) snapshotDB(i, node, db int) (*Difference, error) {
	send := func(args ...string) (*Difference, error) {
		return x.command(i, Step{Conn: snapshotConn, Node: node, Args: args})
	}
	if !x.cluster {
		if d, err := send("SELECT", strconv.Itoa(db)); d != nil || err != nil {
			return d, err
		}
	}
	if d, err := send("KEYS", "*"); d != nil || err != nil {
		return d, err
	}
	if d, err := x.flush(); d != nil || err != nil {
		return d, err
	}
	p := x.pairs[pairKey{snapshotConn, node}]
	keys := p.a.ask("KEYS", "*").texts()
	slices.Sort(keys)
	types := typesOf(p.a, keys)
	// The statistics of the other side must not miss what was asked.
	typesOf(p.b, p.b.ask("KEYS", "*").texts())
	for k, key := range keys {
		for _, args := range readsOf(types[k], key) {
			if d, err := send(args...); d != nil || err != nil {
				return d, err
			}
		}
	}
	return nil, nil
}

func typesOf(c *client, keys []string) []string {
	for _, key := range keys {
		c.queue([]string{"TYPE", key})
	}
	c.flush()
	types := make([]string, len(keys))
	for i := range keys {
		types[i] = c.read().Text
	}
	return types
}

// readsOf lists the commands that show all of a key of a type.
func readsOf(kind, key string) [][]string {
	reads := [][]string{{"TYPE", key}, {"OBJECT", "ENCODING", key}, {"PEXPIRETIME", key}}
	switch kind {
	case "string":
		return append(reads, []string{"GET", key})
	case "list":
		return append(reads, []string{"LRANGE", key, "0", "-1"})
	case "set":
		return append(reads, []string{"SMEMBERS", key})
	case "hash":
		return append(reads, []string{"HGETALL", key})
	case "zset":
		return append(reads, []string{"ZRANGE", key, "0", "-1", "WITHSCORES"})
	case "stream":
		return append(reads, []string{"XRANGE", key, "-", "+"}, []string{"XINFO", "STREAM", key, "FULL", "COUNT", "0"})
	}
	return reads
}

// texts returns the texts of an aggregate's elements.
func (r Reply) texts() []string {
	out := make([]string, len(r.Items))
	for i, item := range r.Items {
		out[i] = item.Text
	}
	return out
}

// scanAll follows a cursor to its end on both sides and compares the sets of
// elements seen: the guarantee of SCAN.
func (x *Runner) scanAll(i int, step Step) (*Difference, error) {
	p, err := x.pair(step)
	if err != nil {
		return nil, err
	}
	a, b := scanFully(p.a, step.Args), scanFully(p.b, step.Args)
	if x.a.named(a).equal(x.b.named(b)) {
		return nil, nil
	}
	return &Difference{Index: i, Step: step, A: []Reply{a}, B: []Reply{b}, What: "elements of a full scan"}, nil
}

const maxScanCalls = 100_000

// scanFully returns the sorted distinct elements of a full scan, or the first
// error.
func scanFully(c *client, args []string) Reply {
	args = slices.Clone(args)
	at := 1
	pairs := false
	switch strings.ToUpper(args[0]) {
	case "HSCAN", "ZSCAN":
		at, pairs = 2, true
	case "SSCAN":
		at = 2
	}
	seen := map[string]bool{}
	for range maxScanCalls {
		r := c.ask(args...)
		if len(r.Items) != 2 {
			return r
		}
		items := r.Items[1].texts()
		for i := 0; i < len(items); i++ {
			element := quote(items[i])
			if pairs && i+1 < len(items) {
				i++
				element += " " + quote(items[i])
			}
			seen[element] = true
		}
		if args[at] = r.Items[0].Text; args[at] == "0" {
			return sortedSet(seen)
		}
	}
	return Reply{Kind: kindMissing, Text: fmt.Sprintf("no end after %d calls", maxScanCalls)}
}

func sortedSet(seen map[string]bool) Reply {
	set := Reply{Kind: '*'}
	for element := range seen {
		set.Items = append(set.Items, Reply{Kind: '$', Text: element})
	}
	sortReplies(set.Items)
	return set
}
