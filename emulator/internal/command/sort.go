package command

import (
	"bytes"
	"slices"
	"strings"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
	"github.com/fakecluster/fakecluster/emulator/internal/number"
	"github.com/fakecluster/fakecluster/slots"
)

var sortCommands = map[string]Handler{
	"sort":    func(c *Call) { c.sort(true) },
	"sort_ro": func(c *Call) { c.sort(false) },
}

// sortOptions are the options of SORT.
type sortOptions struct {
	desc, alpha bool
	by          []byte   // a pattern, or nil
	unsorted    bool     // by is not a pattern
	gets        [][]byte // patterns
	store       []byte   // a key, or nil

	offset, count int64 // of LIMIT; a negative count is all
}

func (c *Call) sortOptions(mayStore bool) (o sortOptions, ok bool) {
	o.count = -1
	for i := 2; i < len(c.Args); i++ {
		switch left := c.left(i); {
		case c.is(i, "ASC"):
			o.desc = false
		case c.is(i, "DESC"):
			o.desc = true
		case c.is(i, "ALPHA"):
			o.alpha = true
		case c.is(i, "LIMIT") && left >= 2:
			if o.offset, ok = c.intArg(i + 1); !ok {
				return o, false
			}
			if o.count, ok = c.intArg(i + 2); !ok {
				return o, false
			}
			i += 2
		case mayStore && c.is(i, "STORE") && left >= 1:
			i++
			o.store = c.Args[i]
		case c.is(i, "BY") && left >= 1:
			i++
			if !o.sortBy(c, c.Args[i]) {
				return o, false
			}
		case c.is(i, "GET") && left >= 1:
			i++
			if !c.allowPattern("GET", c.Args[i]) {
				return o, false
			}
			o.gets = append(o.gets, c.Args[i])
		default:
			return o, c.fail(errSyntax)
		}
	}
	return o, true
}

func (o *sortOptions) sortBy(c *Call, pattern []byte) bool {
	o.by = pattern
	if bytes.IndexByte(pattern, '*') < 0 {
		o.unsorted = true
		return true
	}
	return c.allowPattern("BY", pattern)
}

// allowPattern refuses patterns that may lead to keys of other slots, or to keys
// the user may not read.
func (c *Call) allowPattern(option string, pattern []byte) bool {
	if c.ClusterEnabled && !c.Version().AtLeast(7, 4) {
		return c.fail("ERR " + option + " option of SORT denied in Cluster mode.")
	}
	if c.ClusterEnabled && string(pattern) != "#" && !sameSlot(pattern, c.Args[1]) {
		return c.fail("ERR " + option + " option of SORT denied in cluster mode when keys formed by the pattern may be in different slots.")
	}
	if c.KeysRestricted && c.Version().AtLeast(7, 0) {
		return c.fail("ERR " + option + " option of SORT denied due to insufficient ACL permissions.")
	}
	return true
}

// sameSlot reports whether every key that pattern can form is in key's slot: it
// must have its hash tag before anything that varies.
func sameSlot(pattern, key []byte) bool {
	open := -1
	for i, b := range pattern {
		switch {
		case strings.IndexByte(`*?[\`, b) >= 0:
			return false
		case b == '{' && open < 0:
			open = i
		case b == '}' && open >= 0 && i != open+1:
			return slots.Of(pattern[open:i+1]) == slots.Of(key)
		}
	}
	return slots.Of(pattern) == slots.Of(key)
}

// sortItem is an element with what it is sorted by.
type sortItem struct {
	element []byte
	score   float64
	by      []byte // of BY … ALPHA; nil when there is none
}

// sort is SORT and SORT_RO.
func (c *Call) sort(mayStore bool) {
	o, ok := c.sortOptions(mayStore)
	if !ok {
		return
	}
	source := c.DB.Read(c.Args[1])
	switch source := source.(type) {
	case nil, *keyspace.List, *keyspace.Set:
	case *keyspace.ZSet:
		source.Expand()
	default:
		c.fail(errWrongType)
		return
	}
	if _, isSet := source.(*keyspace.Set); isSet && o.unsorted && (o.store != nil || c.FromScript) {
		// A set has no order of its own; a result that others will see needs one.
		o.unsorted, o.alpha, o.by = false, true, nil
	}
	first, last := o.limits(lengthOf(source))
	var items []sortItem
	if o.unsorted {
		items = c.unsortedItems(source, o.desc, first, last)
	} else {
		items = itemsOf(source)
		if !c.score(items, o) {
			c.fail("ERR One or more scores can't be converted into double")
			return
		}
		o.sort(items, first, last)
		items = items[first : last+1]
	}
	if o.store != nil {
		c.storeSorted(items, o)
		return
	}
	c.replySorted(items, o)
}

func lengthOf(v keyspace.Value) int {
	if v, ok := v.(interface{ Len() int }); ok {
		return v.Len()
	}
	return 0
}

// limits returns the first and the last of n sorted elements that LIMIT lets
// through.
func (o sortOptions) limits(n int) (first, last int) {
	length := int64(n)
	start := min(max(o.offset, 0), length)
	count := min(max(o.count, -1), length)
	end := length - 1
	if count >= 0 {
		end = start + count - 1
	}
	if start >= length {
		return 0, -1
	}
	return int(start), int(min(end, length-1))
}

// itemsOf copies the elements of a list, a set or a sorted set.
func itemsOf(v keyspace.Value) []sortItem {
	items := make([]sortItem, 0, lengthOf(v))
	add := func(element []byte) { items = append(items, sortItem{element: clone(element)}) }
	switch v := v.(type) {
	case *keyspace.List:
		if v.Len() > 0 {
			for _, e := range v.From(0) {
				add(e.Bytes())
			}
		}
	case *keyspace.Set:
		for member := range v.All() {
			add(member)
		}
	case *keyspace.ZSet:
		for member := range v.All() {
			add(member)
		}
	}
	return items
}

// unsortedItems copies elements in the order they have, from first to last of
// them or, when desc, as many from the other end.
func (c *Call) unsortedItems(v keyspace.Value, desc bool, first, last int) []sortItem {
	items := make([]sortItem, 0, last+1-first)
	if first > last {
		return items
	}
	switch v := v.(type) {
	case *keyspace.List:
		walk := v.From
		if desc {
			walk, first = v.BackFrom, v.Len()-1-first
		}
		for _, e := range walk(first) {
			items = append(items, sortItem{element: clone(e.Bytes())})
			if len(items) == cap(items) {
				break
			}
		}
	case *keyspace.ZSet:
		if desc {
			first = v.Len() - 1 - first
		}
		for member := range v.Range(first, cap(items), desc) {
			items = append(items, sortItem{element: clone(member)})
		}
	default:
		items = itemsOf(v)[first : last+1]
	}
	return items
}

// score finds what the items are sorted by, and reports whether all of that
// makes sense as numbers where numbers are compared.
func (c *Call) score(items []sortItem, o sortOptions) bool {
	ok := true
	for i := range items {
		item := &items[i]
		value := item.element
		if o.by != nil {
			if value = c.pattern(o.by, item.element); value == nil {
				continue
			}
		}
		if o.alpha {
			item.by = value
			continue
		}
		var isNumber bool
		if item.score, isNumber = sortScore(value); !isNumber {
			ok = false
		}
	}
	return ok
}

// sortScore reads a number as C's strtod does, which takes blanks in front and
// nothing at all for 0.
func sortScore(b []byte) (float64, bool) {
	if len(b) == 0 {
		return 0, true
	}
	return number.ParseFloat(bytes.TrimLeft(b, " \t\n\v\f\r"))
}

// sort orders items, of which those from first to last matter.
func (o sortOptions) sort(items []sortItem, first, last int) {
	compare := func(a, b *sortItem) int {
		order := o.compare(a, b)
		if o.desc {
			return -order
		}
		return order
	}
	if o.by != nil && (first != 0 || last != len(items)-1) {
		partialSort(items, compare, last+1)
		return
	}
	slices.SortStableFunc(items, func(a, b sortItem) int { return compare(&a, &b) })
}

func (o sortOptions) compare(a, b *sortItem) int {
	switch {
	case !o.alpha && a.score != b.score:
		if a.score > b.score {
			return 1
		}
		return -1
	case !o.alpha:
		return bytes.Compare(a.element, b.element)
	case a.by == nil && b.by == nil:
		return 0
	case a.by == nil:
		return -1
	case b.by == nil:
		return 1
	case o.store != nil:
		return bytes.Compare(a.by, b.by)
	}
	// The C library's strcoll compares, in the C locale and up to a NUL.
	return bytes.Compare(cString(a.by, len(a.by)), cString(b.by, len(b.by)))
}

// pattern looks up the value that a pattern of BY or GET leads to for element:
// the string at the key made by putting element in place of the first *, or a
// field of the hash there after "->", or with "#" element itself. Nil is none.
func (c *Call) pattern(pattern, element []byte) []byte {
	if string(pattern) == "#" {
		return element
	}
	prefix, rest, ok := bytes.Cut(pattern, []byte("*"))
	if !ok {
		return nil
	}
	suffix, field, isHash := bytes.Cut(rest, []byte("->"))
	if isHash && len(field) == 0 {
		suffix, isHash = rest, false
	}
	key := slices.Concat(prefix, element, suffix)
	switch v := c.DB.Read(key).(type) {
	case *keyspace.Hash:
		if isHash {
			if value, ok := v.Get(field); ok {
				return append([]byte{}, value...)
			}
		}
	case *keyspace.String:
		if !isHash {
			return append([]byte{}, v.Bytes()...)
		}
	}
	return nil
}

func (c *Call) replySorted(items []sortItem, o sortOptions) {
	c.Reply.Array(len(items) * max(len(o.gets), 1))
	for _, item := range items {
		if len(o.gets) == 0 {
			c.Reply.Bulk(item.element)
		}
		for _, get := range o.gets {
			if value := c.pattern(get, item.element); value != nil {
				c.Reply.Bulk(value)
			} else {
				c.Reply.Null()
			}
		}
	}
}

// storeSorted makes a list of the result; what GET does not find is empty there.
func (c *Call) storeSorted(items []sortItem, o sortOptions) {
	list := keyspace.NewStoredList(&c.Keyspace().Limits)
	push := func(element []byte) {
		list.Grow(element)
		list.Push(keyspace.Tail, element)
	}
	for _, item := range items {
		if len(o.gets) == 0 {
			push(item.element)
		}
		for _, get := range o.gets {
			push(c.pattern(get, item.element))
		}
	}
	list.Fit()
	if list.Len() > 0 {
		c.DB.Set(o.store, list, false)
		c.Changed(o.store, keyspace.ClassList, "sortstore")
		c.Keyspace().Dirty += int64(list.Len()) - 1
	} else if c.DB.Drop(o.store) {
		c.Changed(o.store, keyspace.ClassGeneric, "del")
	}
	c.Reply.Int(int64(list.Len()))
}
