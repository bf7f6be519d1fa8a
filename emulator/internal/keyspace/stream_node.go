package keyspace

import (
	"iter"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace/listpack"
)

// streamNode is a run of entries in one listpack, laid out as Redis does:
//
//	count deleted num-fields field... 0        the master entry
//	flags ms seq value... size                 an entry with the master's fields
//	flags ms seq num-fields (field value)... size
//
// ms and seq are differences to the ID of the master, which is the ID of the
// first entry; size is the number of elements of the entry before it, so that
// entries can be walked backwards. Deleting an entry only sets a flag.
type streamNode struct {
	master StreamID
	pack   *listpack.Pack
	// roomy is a node that was begun by XADD, not loaded or copied: Redis
	// allocates it in advance.
	roomy bool
}

// The flags of an entry.
const (
	streamDeleted    = 1
	streamSameFields = 2
)

func newStreamNode(master StreamID, fieldsAndValues [][]byte) *streamNode {
	pack := listpack.New()
	pack.AppendInt(0)
	pack.AppendInt(0)
	pack.AppendInt(int64(len(fieldsAndValues) / 2))
	for i := 0; i < len(fieldsAndValues); i += 2 {
		pack.Append(fieldsAndValues[i])
	}
	pack.AppendInt(0)
	return &streamNode{master: master, pack: pack, roomy: true}
}

func (n *streamNode) int(at listpack.Pos) int64 {
	v, _ := n.pack.Get(at).Int()
	return v
}

// counts returns how many entries there are and how many were deleted.
func (n *streamNode) counts() (entries, deleted int64) {
	at := n.pack.First()
	return n.int(at), n.int(n.pack.Next(at))
}

// addCounts changes the counts. It moves what is behind them.
func (n *streamNode) addCounts(entries, deleted int64) {
	at := n.pack.First()
	at = n.pack.ReplaceInt(at, n.int(at)+entries)
	at = n.pack.Next(at)
	n.pack.ReplaceInt(at, n.int(at)+deleted)
}

// masterFields returns the first of the master's fields, how many there are,
// and the zero behind them.
func (n *streamNode) masterFields() (at listpack.Pos, count int, end listpack.Pos) {
	at = n.pack.At(2)
	count = int(n.int(at))
	at = n.pack.Next(at)
	return at, count, n.skip(at, count)
}

func (n *streamNode) skip(at listpack.Pos, elements int) listpack.Pos {
	for range elements {
		at = n.pack.Next(at)
	}
	return at
}

// append adds an entry, whose ID must be greater than all others.
func (n *streamNode) append(id StreamID, fieldsAndValues [][]byte) {
	fields := len(fieldsAndValues) / 2
	flags, size := int64(streamSameFields), 3+fields
	if !n.hasMasterFields(fieldsAndValues) {
		flags, size = 0, 3+1+2*fields
	}
	n.addCounts(1, 0)
	n.pack.AppendInt(flags)
	n.pack.AppendInt(int64(id.Ms - n.master.Ms))
	n.pack.AppendInt(int64(id.Seq - n.master.Seq))
	if flags == 0 {
		n.pack.AppendInt(int64(fields))
	}
	for i := 0; i < len(fieldsAndValues); i += 2 {
		if flags == 0 {
			n.pack.Append(fieldsAndValues[i])
		}
		n.pack.Append(fieldsAndValues[i+1])
	}
	n.pack.AppendInt(int64(size))
}

func (n *streamNode) hasMasterFields(fieldsAndValues [][]byte) bool {
	at, count, _ := n.masterFields()
	if count != len(fieldsAndValues)/2 {
		return false
	}
	for i := 0; i < len(fieldsAndValues); i += 2 {
		if !n.pack.Get(at).Is(listpack.MakeKey(fieldsAndValues[i])) {
			return false
		}
		at = n.pack.Next(at)
	}
	return true
}

// StreamEntry is an entry of a stream. It is valid until the stream changes.
type StreamEntry struct {
	ID   StreamID
	node *streamNode
	at   listpack.Pos // of the flags
	data listpack.Pos // behind the IDs
	same bool
	// deleted entries are seen only inside this package.
	deleted bool
	fields  int
}

// entry decodes the entry at at. masterFields is their number.
func (n *streamNode) entry(at listpack.Pos, masterFields int) StreamEntry {
	flags := n.int(at)
	e := StreamEntry{
		node: n, at: at, fields: masterFields,
		same: flags&streamSameFields != 0, deleted: flags&streamDeleted != 0,
	}
	at = n.pack.Next(at)
	e.ID.Ms = n.master.Ms + uint64(n.int(at))
	at = n.pack.Next(at)
	e.ID.Seq = n.master.Seq + uint64(n.int(at))
	e.data = n.pack.Next(at)
	if !e.same {
		e.fields = int(n.int(e.data))
		e.data = n.pack.Next(e.data)
	}
	return e
}

// size is the position of the entry's last element.
func (e *StreamEntry) size() listpack.Pos {
	if e.same {
		return e.node.skip(e.data, e.fields)
	}
	return e.node.skip(e.data, 2*e.fields)
}

// Len is the number of fields.
func (e *StreamEntry) Len() int { return e.fields }

// All yields the fields with their values, valid until the next ones.
func (e *StreamEntry) All() iter.Seq2[[]byte, []byte] {
	return func(yield func(field, value []byte) bool) {
		pack, value := e.node.pack, e.data
		field := value
		if e.same {
			field, _, _ = e.node.masterFields()
		}
		for range e.fields {
			if !e.same {
				value = pack.Next(field)
			}
			if !yield(pack.Get(field).Bytes(), pack.Get(value).Bytes()) {
				return
			}
			if e.same {
				field, value = pack.Next(field), pack.Next(value)
			} else {
				field = pack.Next(value)
			}
		}
	}
}

// all yields every entry, deleted ones included.
func (n *streamNode) all() iter.Seq[StreamEntry] {
	return func(yield func(StreamEntry) bool) {
		_, count, end := n.masterFields()
		for at := n.pack.Next(end); at != listpack.None; {
			e := n.entry(at, count)
			if !yield(e) {
				return
			}
			at = n.pack.Next(e.size())
		}
	}
}

// backwards is all from the last entry to the first.
func (n *streamNode) backwards() iter.Seq[StreamEntry] {
	return func(yield func(StreamEntry) bool) {
		_, count, end := n.masterFields()
		for at := n.pack.Last(); at != end; at = n.pack.Prev(at) {
			for range n.int(at) {
				at = n.pack.Prev(at)
			}
			if !yield(n.entry(at, count)) {
				return
			}
		}
	}
}

// last returns the ID of the last entry, be it deleted or not.
func (n *streamNode) last() StreamID {
	for e := range n.backwards() {
		return e.ID
	}
	return n.master
}

// flag marks an entry as deleted, without counting it.
func (e *StreamEntry) flag() {
	// The flags take one byte with or without the bit, so nothing moves.
	e.node.pack.ReplaceInt(e.at, e.node.int(e.at)|streamDeleted)
}
