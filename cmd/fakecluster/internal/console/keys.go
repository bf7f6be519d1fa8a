package console

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/fakecluster/fakecluster/cmd/fakecluster/internal/survey"
	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/slots"
)

// Key is one key. Texts that are not printable are quoted as redis-cli does.
type Key struct {
	Key      string     `json:"key"`
	Href     string     `json:"href" doc:"where the API tells of this key"`
	Tag      []int      `json:"tag,omitempty" doc:"begin and end in bytes of the hash tag within the key: only that part is hashed"`
	Slot     slots.Slot `json:"slot"`
	Owner    string     `json:"owner,omitempty" doc:"the master of the slot; none if no master that runs owns it"`
	Node     string     `json:"node,omitempty" doc:"where the key is: the owner, or the new owner of a slot on its way"`
	Type     string     `json:"type" doc:"none if there is no such key"`
	TTLMS    int64      `json:"ttl_ms" doc:"milliseconds until it expires, -1 if it does not"`
	Encoding string     `json:"encoding,omitempty"`
	Length   int64      `json:"length,omitempty" doc:"bytes of a string, else elements"`
	Columns  []string   `json:"columns,omitempty"`
	Rows     [][]string `json:"rows,omitempty" doc:"the beginning of the value"`
}

// KeyPage is a part of the keys there are.
type KeyPage struct {
	Keys   []Key  `json:"keys"`
	Cursor string `json:"cursor,omitempty" doc:"what to ask with for the next part; absent at the end"`
}

// locate says where a key belongs.
func (c *Console) locate(key string) (Key, *emulator.Node) {
	k := Key{Key: printable(key), Href: "/api/v1/key?key=" + url.QueryEscape(key), Slot: slots.OfString(key), Type: "none", TTLMS: -1}
	if tag := slots.TagString(key); tag != key {
		begin := strings.IndexByte(key, '{') + 1
		k.Tag = []int{begin, begin + len(tag)}
	}
	owner := c.cluster.NodeForSlot(k.Slot)
	if owner != nil {
		k.Owner = owner.Name()
	}
	return k, owner
}

// lookUp tells what a key is and holds.
func (c *Console) lookUp(key string) Key {
	k, owner := c.locate(key)
	for _, n := range c.holders(owner, k.Slot) {
		if describe(n, key, &k); k.Type != "none" {
			k.Node = n.Name()
			contents(n, key, &k)
			break
		}
	}
	return k
}

// holders are the nodes that may have a slot's keys: its owner and, if it is
// being moved, the new one.
func (c *Console) holders(owner *emulator.Node, slot slots.Slot) []*emulator.Node {
	if owner == nil {
		return nil
	}
	holders := []*emulator.Node{owner}
	_, own := survey.ParseRows(ask(owner, "CLUSTER", "NODES"))
	if own == nil {
		return holders
	}
	for _, o := range own.Open {
		for _, n := range c.cluster.Nodes() {
			if o.Slot == slot && n.ID() == o.Other && !n.Down() {
				holders = append(holders, n)
			}
		}
	}
	return holders
}

// describe fills in a key's type and time to live.
func describe(n *emulator.Node, key string, k *Key) {
	if k.Type = ask(n, "TYPE", key); k.Type == "none" || k.Type == "" {
		k.Type = "none"
		return
	}
	k.TTLMS, _ = strconv.ParseInt(ask(n, "PTTL", key), 10, 64)
}

// How much of a value is told.
const (
	maxElements = 50
	maxBytes    = 4096
)

// reading is how a type's length and beginning are read.
type reading struct {
	length  string
	columns []string
	begin   func(key string) []string
	rows    func(reply any) [][]string
}

var readings = map[string]reading{
	"string": {"STRLEN", []string{"value"}, func(key string) []string { return []string{"GETRANGE", key, "0", strconv.Itoa(maxBytes - 1)} },
		func(reply any) [][]string { return [][]string{{text(reply)}} }},
	"list": {"LLEN", []string{"element"}, func(key string) []string { return []string{"LRANGE", key, "0", strconv.Itoa(maxElements - 1)} }, singles},
	"set": {"SCARD", []string{"member"}, func(key string) []string { return []string{"SSCAN", key, "0", "COUNT", strconv.Itoa(maxElements)} },
		func(reply any) [][]string { return singles(scanned(reply)) }},
	"hash": {"HLEN", []string{"field", "value"}, func(key string) []string { return []string{"HSCAN", key, "0", "COUNT", strconv.Itoa(maxElements)} },
		func(reply any) [][]string { return pairs(scanned(reply)) }},
	"zset": {"ZCARD", []string{"member", "score"}, func(key string) []string {
		return []string{"ZRANGE", key, "0", strconv.Itoa(maxElements - 1), "WITHSCORES"}
	}, pairs},
	"stream": {"XLEN", []string{"id", "fields"}, func(key string) []string {
		return []string{"XRANGE", key, "-", "+", "COUNT", strconv.Itoa(maxElements)}
	}, entries},
}

// contents fills in the length and the beginning of a value.
func contents(n *emulator.Node, key string, k *Key) {
	k.Encoding = ask(n, "OBJECT", "ENCODING", key)
	r, known := readings[k.Type]
	if !known {
		return
	}
	k.Length, _ = strconv.ParseInt(ask(n, r.length, key), 10, 64)
	k.Columns = r.columns
	if reply, err := n.Do(r.begin(key)...); err == nil {
		rows := r.rows(reply)
		k.Rows = rows[:min(len(rows), maxElements)]
	}
}

func text(v any) string { return printable(fmt.Sprint(v)) }

func list(reply any) []any {
	elements, _ := reply.([]any)
	return elements
}

// scanned is the second part of what the SCAN commands reply.
func scanned(reply any) any {
	if parts := list(reply); len(parts) == 2 {
		return parts[1]
	}
	return nil
}

func singles(reply any) (rows [][]string) {
	for _, e := range list(reply) {
		rows = append(rows, []string{text(e)})
	}
	return rows
}

// pairs reads elements that alternate, or come two by two as in RESP3.
func pairs(reply any) (rows [][]string) {
	elements := list(reply)
	if len(elements) > 0 && list(elements[0]) != nil {
		for _, e := range elements {
			if pair := list(e); len(pair) == 2 {
				rows = append(rows, []string{text(pair[0]), text(pair[1])})
			}
		}
		return rows
	}
	for pair := range slices.Chunk(elements, 2) {
		if len(pair) == 2 {
			rows = append(rows, []string{text(pair[0]), text(pair[1])})
		}
	}
	return rows
}

func entries(reply any) (rows [][]string) {
	for _, e := range list(reply) {
		entry := list(e)
		if len(entry) != 2 {
			continue
		}
		var words []string
		for _, word := range list(entry[1]) {
			words = append(words, text(word))
		}
		rows = append(rows, []string{text(entry[0]), strings.Join(words, " ")})
	}
	return rows
}

// printable is a text as it is if it can be shown, else quoted.
func printable(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) && r != '\n' && r != '\t' }) {
		return s
	}
	return strconv.Quote(s)
}

// keyFilter chooses keys by what they are; what is empty matches all.
type keyFilter struct {
	kind    string        // string, list …
	never   bool          // those that do not expire
	within  time.Duration // those that expire at all, and no later
	expires bool          // whether within counts
}

// keyFilterOf is what the parameters type and ttl ask for.
func keyFilterOf(kind, ttl string) (keyFilter, error) {
	f := keyFilter{kind: strings.ToLower(kind)}
	switch ttl {
	case "":
	case "never":
		f.never = true
	case "some":
		f.expires, f.within = true, math.MaxInt64
	default:
		within, err := time.ParseDuration(ttl)
		if err != nil || within < 0 {
			return f, badRequest("ttl is neither never nor some nor a time such as 90s: " + strconv.Quote(ttl))
		}
		f.expires, f.within = true, within
	}
	return f, nil
}

func (f keyFilter) matches(k Key) bool {
	switch {
	case f.kind != "" && f.kind != k.Type, f.never && k.TTLMS >= 0:
		return false
	case f.expires:
		return k.TTLMS >= 0 && k.TTLMS <= f.within.Milliseconds()
	}
	return true
}

// keysOfSlot lists keys of a slot that a filter lets through, those with a tag
// only if one is given.
func (c *Console) keysOfSlot(slot slots.Slot, tag string, f keyFilter, limit int) KeyPage {
	page := KeyPage{Keys: []Key{}}
	wanted := limit
	if tag != "" || f != (keyFilter{}) {
		wanted = 100_000 // others share the slot
	}
	for _, n := range c.holders(c.cluster.NodeForSlot(slot), slot) {
		reply, err := n.Do("CLUSTER", "GETKEYSINSLOT", strconv.Itoa(int(slot)), strconv.Itoa(wanted))
		if err != nil {
			continue
		}
		for _, element := range list(reply) {
			key := fmt.Sprint(element)
			if len(page.Keys) == limit {
				return page
			}
			if tag != "" && slots.TagString(key) != tag {
				continue
			}
			if k := c.summary(n, key); f.matches(k) {
				page.Keys = append(page.Keys, k)
			}
		}
	}
	return page
}

func (c *Console) summary(n *emulator.Node, key string) Key {
	k, _ := c.locate(key)
	k.Node = n.Name()
	describe(n, key, &k)
	return k
}

// scan lists keys of all masters that a pattern matches and a filter lets
// through, from where a cursor, "n2:17", left off.
func (c *Console) scan(match, cursor string, f keyFilter, limit int) (KeyPage, error) {
	page := KeyPage{Keys: []Key{}}
	masters := slices.DeleteFunc(c.cluster.Nodes(), func(n *emulator.Node) bool { return n.Down() || n.Role() != "master" })
	at := "0"
	if cursor != "" {
		name, position, _ := strings.Cut(cursor, ":")
		i := slices.IndexFunc(masters, func(n *emulator.Node) bool { return n.Name() == name })
		if i < 0 {
			return page, badRequest("the master of the cursor is not there any more: begin again")
		}
		masters, at = masters[i:], position
	}
	for _, n := range masters {
		for {
			command := []string{"SCAN", at, "COUNT", strconv.Itoa(limit)}
			if match != "" {
				command = append(command, "MATCH", match)
			}
			if f.kind != "" {
				command = append(command, "TYPE", f.kind)
			}
			reply, err := n.Do(command...)
			if err != nil {
				return page, badRequest(err.Error())
			}
			for _, element := range list(scanned(reply)) {
				if k := c.summary(n, fmt.Sprint(element)); f.matches(k) {
					page.Keys = append(page.Keys, k)
				}
			}
			at = fmt.Sprint(list(reply)[0])
			if len(page.Keys) >= limit && at != "0" {
				page.Cursor = n.Name() + ":" + at
				return page, nil
			}
			if at == "0" {
				break
			}
		}
		if next := slices.Index(masters, n) + 1; len(page.Keys) >= limit && next < len(masters) {
			page.Cursor = masters[next].Name() + ":0"
			return page, nil
		}
	}
	return page, nil
}
