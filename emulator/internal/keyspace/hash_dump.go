package keyspace

import "github.com/fakecluster/fakecluster/emulator/internal/rdb"

// timedHash writes a hash that holds times. In a hash table they are relative
// to the first, so that most take few bytes; 0 is for a field without one.
func (d *dumper) timedHash(h *Hash) {
	first := h.nextExpiry()
	if h.pack != nil {
		d.Byte(rdb.TypeHashListpackEx)
		d.Millis(first)
		d.String(h.pack.Bytes())
		return
	}
	d.Byte(rdb.TypeHashMetadata)
	d.Millis(first)
	d.Len(uint64(h.dict.Len()))
	for n := range h.dict.All() {
		if at := n.Value.expireAt; at == 0 {
			d.Len(0)
		} else {
			d.Len(uint64(at - first + 1))
		}
		d.String([]byte(n.key))
		d.String(n.Value.value)
	}
}

// timedHash reads what dumper.timedHash writes.
func (l loader) timedHash(kind byte) *Hash {
	if !l.limits.Version.AtLeast(7, 4) {
		return nil
	}
	first := l.Millis()
	h := NewHash(l.limits)
	if kind == rdb.TypeHashListpackEx {
		pack := l.pack()
		if pack == nil || !distinct(pack, 3) {
			return nil
		}
		h.pack, h.timed = pack, true
		if !h.timesInOrder() {
			return nil
		}
		if h.stored() > l.limits.HashMaxListpackEntries {
			h.toDict()
		}
		return h
	}
	for range l.Count() {
		relative, field, value := int64(l.Len()), l.String(), l.String()
		at := first + relative - 1
		if l.Err() != nil || relative < 0 || relative > 0 && at <= 0 || !h.Set(field, value) {
			return nil
		}
		if relative != 0 {
			h.SetExpireAt(field, at)
		}
	}
	return h
}

// timesInOrder checks a listpack with times that somebody else made.
func (h *Hash) timesInOrder() bool {
	last, i := int64(0), 0
	for _, e := range h.pack.All() {
		if i++; i%3 != 0 {
			continue
		}
		at, ok := e.Int()
		if !ok || at < 0 || at != 0 && (last < 0 || at < last) {
			return false
		}
		if last = at; at == 0 {
			last = -1 // no time may follow
		}
	}
	return true
}
