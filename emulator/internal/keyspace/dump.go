package keyspace

import "github.com/fakecluster/fakecluster/emulator/internal/rdb"

// Dump serializes v as DUMP does. A value that Redis keeps in one block of
// memory (a listpack, an intset) is that block, so that payloads of equal small
// values are equal.
func Dump(v Value, limits *Limits) []byte {
	d := dumper{Writer: rdb.Writer{Compress: !limits.DumpUncompressed}, limits: limits}
	switch v := v.(type) {
	case *String:
		d.Byte(rdb.TypeString)
		d.String(v.bytes)
	case *List:
		d.list(v)
	case *Set:
		d.set(v)
	case *ZSet:
		d.zset(v)
	case *Hash:
		d.hash(v)
	case *Stream:
		d.stream(v)
	}
	return rdb.Seal(d.Bytes(), rdb.FormatVersion(limits.Version))
}

type dumper struct {
	rdb.Writer
	limits *Limits
}

// listpacks tells whether the version to write for knows them. Before 7.0 there
// were ziplists, in whose place the elements are written one by one, which those
// versions read as well.
func (d *dumper) listpacks() bool { return d.limits.Version.AtLeast(7, 0) }

// The kinds of nodes in a quicklist.
const (
	nodePlain  = 1
	nodePacked = 2
)

func (d *dumper) list(l *List) {
	if !d.listpacks() {
		d.Byte(rdb.TypeList)
		d.Len(uint64(l.length))
		for _, e := range l.From(0) {
			d.String(e.Bytes())
		}
		return
	}
	d.Byte(rdb.TypeListQuicklist2)
	nodes := uint64(0)
	for node := l.head; node != nil; node = node.next {
		nodes++
	}
	d.Len(nodes)
	for node := l.head; node != nil; node = node.next {
		d.Len(nodePacked)
		d.String(node.pack.Bytes())
	}
}

func (d *dumper) set(s *Set) {
	switch {
	case s.ints != nil:
		d.Byte(rdb.TypeSetIntset)
		d.String(s.ints.data)
	case s.pack != nil:
		d.Byte(rdb.TypeSetListpack)
		d.String(s.pack.Bytes())
	default:
		d.Byte(rdb.TypeSet)
		d.Len(uint64(s.Len()))
		for member := range s.All() {
			d.String(member)
		}
	}
}

func (d *dumper) zset(z *ZSet) {
	if z.pack != nil && d.listpacks() {
		d.Byte(rdb.TypeZSetListpack)
		d.String(z.pack.Bytes())
		return
	}
	d.Byte(rdb.TypeZSet2)
	d.Len(uint64(z.Len()))
	// From the greatest down: then a reader always inserts at the head.
	for member, score := range z.Range(z.Len()-1, z.Len(), true) {
		d.String(member)
		d.Double(score)
	}
}

func (d *dumper) hash(h *Hash) {
	if h.timed || h.nextExpiry() != 0 {
		d.timedHash(h)
		return
	}
	if h.pack != nil && d.listpacks() {
		d.Byte(rdb.TypeHashListpack)
		d.String(h.pack.Bytes())
		return
	}
	d.Byte(rdb.TypeHash)
	d.Len(uint64(h.Len()))
	for field, value := range h.All() {
		d.String(field)
		d.String(value)
	}
}

func (d *dumper) stream(s *Stream) {
	second, third := d.limits.Version.AtLeast(7, 0), d.limits.Version.AtLeast(7, 2)
	switch {
	case third:
		d.Byte(rdb.TypeStreamListpacks3)
	case second:
		d.Byte(rdb.TypeStreamListpacks2)
	default:
		d.Byte(rdb.TypeStreamListpacks)
	}
	d.Len(uint64(len(s.nodes)))
	for _, n := range s.nodes {
		key := n.master.key()
		d.String(key[:])
		d.String(n.pack.Bytes())
	}
	d.Len(uint64(s.length))
	d.id(s.LastID)
	if second {
		d.id(s.FirstID)
		d.id(s.MaxDeletedID)
		d.Len(uint64(s.EntriesAdded))
	}
	d.Len(uint64(len(s.groups)))
	for _, g := range s.Groups() {
		d.String([]byte(g.Name))
		d.id(g.LastID)
		if second {
			d.Len(uint64(g.EntriesRead))
		}
		d.pending(g.pending, true)
		d.Len(uint64(len(g.consumers)))
		for _, c := range g.Consumers() {
			d.String([]byte(c.Name))
			d.Millis(c.SeenTime)
			if third {
				d.Millis(c.ActiveTime)
			}
			d.pending(c.pending, false)
		}
	}
}

func (d *dumper) id(id StreamID) {
	d.Len(id.Ms)
	d.Len(id.Seq)
}

// pending writes the entries of a group with their deliveries, those of a
// consumer without.
func (d *dumper) pending(entries pendingEntries, deliveries bool) {
	d.Len(uint64(entries.Len()))
	entries.Scan(func(p *Pending) bool {
		key := p.ID.key()
		d.Raw(key[:])
		if deliveries {
			d.Millis(p.DeliveryTime)
			d.Len(uint64(p.DeliveryCount))
		}
		return true
	})
}
