package keyspace

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace/listpack"
	"github.com/fakecluster/fakecluster/emulator/internal/rdb"
)

func (l loader) stream(kind byte) *Stream {
	s := NewStream(l.limits)
	second, third := kind >= rdb.TypeStreamListpacks2, kind >= rdb.TypeStreamListpacks3
	live := int64(0)
	for range l.elements() {
		n := l.streamNode()
		if n == nil || len(s.nodes) > 0 && s.nodes[len(s.nodes)-1].master.Compare(n.master) >= 0 {
			return nil
		}
		entries, _ := n.counts()
		live += entries
		s.nodes = append(s.nodes, n)
	}
	length := l.Len()
	s.length = int(live)
	s.LastID = l.id()
	if second {
		s.FirstID, s.MaxDeletedID, s.EntriesAdded = l.id(), l.id(), int64(l.Len())
	} else {
		s.EntriesAdded = live
		for first := range s.Range(StreamID{}, MaxStreamID) {
			s.FirstID = first.ID
			break
		}
	}
	if length != uint64(live) {
		return nil
	}
	for range l.elements() {
		if !l.group(s, second, third) {
			return nil
		}
	}
	return s
}

// elements reads how many elements follow, which may be none.
func (l loader) elements() int {
	n := l.Len()
	if n > uint64(l.Left()) {
		l.Fail()
		return 0
	}
	return int(n)
}

func (l loader) id() StreamID { return StreamID{Ms: l.Len(), Seq: l.Len()} }

// rawID reads an ID in the form that sorts.
func (l loader) rawID() StreamID { return parseStreamKey(l.Raw(16)) }

func parseStreamKey(b []byte) StreamID {
	if len(b) != 16 {
		return StreamID{}
	}
	return StreamID{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}
}

func (l loader) streamNode() *streamNode {
	key := bytes.Clone(l.String())
	pack := l.pack()
	if len(key) != 16 || pack == nil || !validStreamNode(pack) {
		return nil
	}
	return &streamNode{master: parseStreamKey(key), pack: pack}
}

// validStreamNode tells whether a listpack is laid out as streamNode says.
func validStreamNode(pack *listpack.Pack) bool {
	w := nodeWalker{pack: pack, at: pack.First(), ok: true}
	live, deleted, fields := w.int(), w.int(), w.int()
	w.skip(fields)
	if w.int() != 0 {
		return false
	}
	for w.ok && w.at != listpack.None {
		start := w.walked
		flags := w.int()
		w.skip(2)
		if flags&streamSameFields != 0 {
			w.skip(fields)
		} else {
			n := w.int()
			w.skip(n)
			w.skip(n)
		}
		if size := w.walked - start; w.int() != size {
			return false
		}
		if flags&streamDeleted != 0 {
			deleted--
		} else {
			live--
		}
	}
	return w.ok && live == 0 && deleted == 0
}

// nodeWalker goes through a listpack that may not be long enough.
type nodeWalker struct {
	pack   *listpack.Pack
	at     listpack.Pos
	walked int64
	ok     bool
}

func (w *nodeWalker) int() int64 {
	if w.at == listpack.None {
		w.ok = false
		return 0
	}
	n, isInt := w.pack.Get(w.at).Int()
	w.ok = w.ok && isInt
	w.skip(1)
	return n
}

func (w *nodeWalker) skip(n int64) {
	if n < 0 || n > math.MaxInt32 {
		w.ok = false
	}
	for ; w.ok && n > 0; n-- {
		if w.at == listpack.None {
			w.ok = false
			return
		}
		w.at = w.pack.Next(w.at)
		w.walked++
	}
}

// group reads a consumer group into s, and reports whether it makes sense.
func (l loader) group(s *Stream, second, third bool) bool {
	name, last := bytes.Clone(l.String()), l.id()
	read := s.entriesUpTo(last) // all that can be told of a group before 7.0
	if second {
		read = int64(l.Len())
	}
	g := s.AddGroup(name, last, read)
	if g == nil {
		return false
	}
	for range l.elements() {
		id := l.rawID()
		if g.FindPending(id) != nil {
			return false
		}
		p := g.AddPending(id, l.Millis())
		p.DeliveryCount = int64(l.Len())
	}
	for range l.elements() {
		if !l.consumer(g, third) {
			return false
		}
	}
	assigned := 0
	for _, c := range g.consumers {
		assigned += c.PendingCount()
	}
	return l.Err() == nil && assigned == g.PendingCount()
}

func (l loader) consumer(g *Group, third bool) bool {
	name, seen := l.String(), l.Millis()
	if g.Consumer(name) != nil {
		return false
	}
	c := g.AddConsumer(name, seen)
	c.ActiveTime = seen
	if third {
		c.ActiveTime = l.Millis()
	}
	for range l.elements() {
		p := g.FindPending(l.rawID())
		if p == nil || p.Consumer != nil {
			return false
		}
		g.Assign(p, c)
	}
	return true
}
