package keyspace

import (
	"container/heap"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace/listpack"
)

// hides reports whether a field that expires at ms is not to be seen.
func (h *Hash) hides(ms int64) bool { return ms != 0 && ms < h.now }

// ExpireAt returns when field expires, in Unix milliseconds: 0 if it does not,
// and ok is false if there is no such field.
func (h *Hash) ExpireAt(field []byte) (ms int64, ok bool) {
	if h.pack == nil {
		n := h.dict.Find(field)
		if n == nil || h.hides(n.Value.expireAt) {
			return 0, false
		}
		return n.Value.expireAt, true
	}
	at := h.find(field)
	if at == listpack.None {
		return 0, false
	}
	p := h.packed(at)
	return p.expireAt, !h.hides(p.expireAt)
}

// SetExpireAt makes field, which must exist, expire at ms, Unix milliseconds,
// or never when ms is 0. In a listpack that moves it to its place.
func (h *Hash) SetExpireAt(field []byte, ms int64) {
	if h.pack == nil {
		h.expiries.set(h.dict.Find(field), ms)
		return
	}
	if !h.timed {
		if ms == 0 {
			return
		}
		h.addTimes()
	}
	p := h.packed(h.find(field))
	if p.expireAt == ms {
		return
	}
	name, value := h.pack.Get(p.at).String(), h.pack.Get(p.value).String()
	h.pack.DeleteRange(p.at, h.stride())
	at := listpack.None
	if ms != 0 {
		at = h.firstAfter(ms)
	}
	h.insertTimed(at, []byte(name), []byte(value), ms)
}

// addTimes makes a listpack one that holds times.
func (h *Hash) addTimes() {
	timed := listpack.New()
	for i, e := range h.elements() {
		timed.Append(e.Bytes())
		if i%2 == 1 {
			timed.AppendInt(0)
		}
	}
	h.pack, h.timed = timed, true
}

func (h *Hash) elements() (all []listpack.Entry) {
	for _, e := range h.pack.All() {
		all = append(all, e)
	}
	return all
}

// firstAfter is the position of the first field that expires after ms or not at
// all.
func (h *Hash) firstAfter(ms int64) listpack.Pos {
	for at := h.pack.First(); at != listpack.None; {
		p := h.packed(at)
		if p.expireAt == 0 || p.expireAt > ms {
			return at
		}
		at = h.next(p)
	}
	return listpack.None
}

// insertTimed adds a field before at, or at the end.
func (h *Hash) insertTimed(at listpack.Pos, field, value []byte, ms int64) {
	if at == listpack.None {
		h.pack.Append(field)
		h.pack.Append(value)
		h.pack.AppendInt(ms)
		return
	}
	h.pack.InsertIntBefore(at, ms)
	h.pack.InsertBefore(at, value)
	h.pack.InsertBefore(at, field)
}

// nextExpiry is when the first field expires, 0 if none does.
func (h *Hash) nextExpiry() int64 {
	switch {
	case h.timed && h.pack.First() != listpack.None:
		return h.packed(h.pack.First()).expireAt
	case h.pack == nil && len(h.expiries) > 0:
		return h.expiries[0].Value.expireAt
	}
	return 0
}

// expireFields removes the fields whose time has come before now and returns
// them.
func (h *Hash) expireFields(now int64) (fields []string) {
	for {
		next := h.nextExpiry()
		if next == 0 || next >= now {
			return fields
		}
		var field string
		if h.pack == nil {
			field = h.expiries[0].key
		} else {
			field = h.pack.Get(h.pack.First()).String()
		}
		h.Delete([]byte(field))
		fields = append(fields, field)
	}
}

// fieldHeap orders the fields of a hash table by when they expire.
type fieldHeap []*Node[hashValue]

func (h *fieldHeap) set(n *Node[hashValue], ms int64) {
	switch v := &n.Value; {
	case v.heapIndex == 0 && ms != 0:
		v.expireAt = ms
		heap.Push(h, n)
	case v.heapIndex != 0 && ms != 0:
		v.expireAt = ms
		heap.Fix(h, int(v.heapIndex)-1)
	case v.heapIndex != 0:
		heap.Remove(h, int(v.heapIndex)-1)
		v.expireAt = 0
	}
}

// The methods below are heap.Interface's.

func (h fieldHeap) Len() int           { return len(h) }
func (h fieldHeap) Less(i, j int) bool { return h[i].Value.expireAt < h[j].Value.expireAt }

func (h fieldHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].Value.heapIndex, h[j].Value.heapIndex = int32(i+1), int32(j+1)
}

func (h *fieldHeap) Push(x any) {
	n := x.(*Node[hashValue])
	*h = append(*h, n)
	n.Value.heapIndex = int32(len(*h))
}

func (h *fieldHeap) Pop() any {
	last := len(*h) - 1
	n := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	n.Value.heapIndex = 0
	return n
}
