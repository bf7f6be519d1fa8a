package command

import (
	"cmp"
	"iter"
	"slices"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
)

// setsAt looks up the sets at keys; a missing key is nil.
func setsAt(c *Call, keys [][]byte) (sets []*keyspace.Set, ok bool) {
	sets = make([]*keyspace.Set, len(keys))
	for i, key := range keys {
		if sets[i], ok = lookup[keyspace.Set](c, c.DB.Read(key)); !ok {
			return nil, false
		}
	}
	return sets, true
}

func setSize(set *keyspace.Set) int {
	if set == nil {
		return 0
	}
	return set.Len()
}

// intersectSets yields the members that all sets have, in the order of the
// smallest, to which it reorders the sets.
func intersectSets(sets []*keyspace.Set) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		slices.SortStableFunc(sets, func(a, b *keyspace.Set) int { return cmp.Compare(setSize(a), setSize(b)) })
		if sets[0] == nil {
			return
		}
		for member := range sets[0].All() {
			if inAll(sets[1:], member) && !yield(member) {
				return
			}
		}
	}
}

func inAll(sets []*keyspace.Set, member []byte) bool {
	for _, set := range sets {
		if !set.Has(member) {
			return false
		}
	}
	return true
}

func inAny(sets []*keyspace.Set, member []byte) bool {
	for _, set := range sets {
		if set != nil && set.Has(member) {
			return true
		}
	}
	return false
}

func sinter(c *Call) {
	sets, ok := setsAt(c, c.Args[1:])
	if !ok {
		return
	}
	if len(sets) == 1 {
		c.replySet(sets[0])
		return
	}
	var members [][]byte
	for member := range intersectSets(sets) {
		members = append(members, clone(member))
	}
	c.Reply.Set(len(members))
	for _, member := range members {
		c.Reply.Bulk(member)
	}
}

func sinterstore(c *Call) {
	sets, ok := setsAt(c, c.Args[2:])
	if !ok {
		return
	}
	if slices.Contains(sets, nil) {
		c.storeSet(keyspace.NewSet(&c.Keyspace().Limits), "sinterstore")
		return
	}
	common := intersectSets(sets)
	result := slices.MinFunc(sets, func(a, b *keyspace.Set) int { return cmp.Compare(a.Len(), b.Len()) }).NewResultSet()
	for member := range common {
		result.Add(member)
	}
	result.Fit()
	c.storeSet(result, "sinterstore")
}

// storeSet puts the result of a combination at argument 1, or removes what is
// there if it is empty, and replies with its size.
func (c *Call) storeSet(result *keyspace.Set, event string) {
	key := c.Args[1]
	c.Reply.Int(int64(result.Len()))
	if result.Len() > 0 {
		c.DB.Set(key, result, false)
		c.Changed(key, keyspace.ClassSet, event)
	} else if c.DB.Drop(key) {
		c.Changed(key, keyspace.ClassGeneric, "del")
	}
}

func sunion(c *Call) {
	if sets, ok := setsAt(c, c.Args[1:]); ok {
		c.replySet(uniteSets(c, sets))
	}
}

func sunionstore(c *Call) {
	if sets, ok := setsAt(c, c.Args[2:]); ok {
		c.storeSet(uniteSets(c, sets), "sunionstore")
	}
}

func sdiff(c *Call) {
	if sets, ok := setsAt(c, c.Args[1:]); ok {
		c.replySet(subtractSets(c, sets))
	}
}

func sdiffstore(c *Call) {
	if sets, ok := setsAt(c, c.Args[2:]); ok {
		c.storeSet(subtractSets(c, sets), "sdiffstore")
	}
}

// uniteSets returns a new set of the members of all sets.
func uniteSets(c *Call, sets []*keyspace.Set) *keyspace.Set {
	result := keyspace.NewSet(&c.Keyspace().Limits)
	for _, set := range sets {
		if set != nil {
			for member := range set.All() {
				result.Add(member)
			}
		}
	}
	return result
}

// subtractSets returns a new set of the members of the first set that no other
// has. It looks each of them up in the others, or removes the others' members
// from a copy, whichever promises less work.
func subtractSets(c *Call, sets []*keyspace.Set) *keyspace.Set {
	result := keyspace.NewSet(&c.Keyspace().Limits)
	first, others := sets[0], sets[1:]
	if first == nil || slices.Contains(others, first) {
		return result
	}
	lookups, removals := 0, 0
	for _, set := range sets {
		if set != nil {
			lookups += first.Len()
			removals += set.Len()
		}
	}
	if lookups/2 <= removals {
		slices.SortStableFunc(others, func(a, b *keyspace.Set) int { return cmp.Compare(setSize(b), setSize(a)) })
		for member := range first.All() {
			if !inAny(others, member) {
				result.Add(member)
			}
		}
		return result
	}
	for member := range first.All() {
		result.Add(member)
	}
	for _, set := range others {
		if set != nil {
			for member := range set.All() {
				result.Remove(member)
			}
		}
	}
	return result
}
