package keyspace

import (
	"iter"
	"slices"
	"sort"
)

// Stream is the value of XADD and its kin: entries in the order of their IDs, a
// listpack for each run of them, and the consumer groups that read them.
type Stream struct {
	limits *Limits
	nodes  []*streamNode // ordered by master ID; none without live entries
	length int

	// LastID is the greatest ID the stream ever had.
	LastID StreamID
	// FirstID is the ID of the first entry, zero in an empty stream.
	FirstID StreamID
	// MaxDeletedID is the greatest ID that XDEL removed.
	MaxDeletedID StreamID
	// EntriesAdded counts the entries that were ever added.
	EntriesAdded int64

	groups map[string]*Group
}

// NewStream returns an empty stream.
func NewStream(limits *Limits) *Stream { return &Stream{limits: limits} }

// Kind is KindStream.
func (s *Stream) Kind() Kind { return KindStream }

// Encoding is stream.
func (s *Stream) Encoding() string { return "stream" }

// Clone returns a deep copy, groups included.
func (s *Stream) Clone() Value {
	c := *s
	c.nodes = make([]*streamNode, len(s.nodes))
	for i, n := range s.nodes {
		c.nodes[i] = &streamNode{master: n.master, pack: n.pack.Clone()}
	}
	c.groups = nil
	for _, g := range s.Groups() {
		g.cloneInto(&c)
	}
	return &c
}

// Memory is the approximate size in bytes.
func (s *Stream) Memory() int64 {
	const preallocated = 4096
	const perStream, perNode, perGroup, perConsumer, perPending = 300, 300, 120, 140, 96
	size := int64(perStream)
	for _, n := range s.nodes {
		size += perNode + int64(n.pack.Size())
	}
	if last := len(s.nodes) - 1; last >= 0 && s.nodes[last].roomy {
		size += int64(max(preallocated-s.nodes[last].pack.Size(), 0))
	}
	for _, g := range s.groups {
		size += perGroup + int64(len(g.Name)) + perPending*int64(g.pending.Len())
		for _, c := range g.consumers {
			size += perConsumer + int64(len(c.Name))
		}
	}
	return size
}

// Len is the number of entries.
func (s *Stream) Len() int { return s.length }

// maxStreamListpack bounds an entry, and stream-node-max-bytes, in bytes.
const maxStreamListpack = 1 << 30

// TooLarge reports whether the fields and values of an entry are more than a
// stream can hold.
func TooLarge(fieldsAndValues [][]byte) bool {
	return sumOfLengths(fieldsAndValues) > maxStreamListpack
}

func sumOfLengths(all [][]byte) (sum int) {
	for _, b := range all {
		sum += len(b)
	}
	return sum
}

// Append adds an entry; id must be greater than LastID.
func (s *Stream) Append(id StreamID, fieldsAndValues [][]byte) {
	if !s.lastNodeTakes(sumOfLengths(fieldsAndValues)) {
		s.nodes = append(s.nodes, newStreamNode(id, fieldsAndValues))
	}
	s.nodes[len(s.nodes)-1].append(id, fieldsAndValues)
	s.length++
	s.EntriesAdded++
	s.LastID = id
	if s.length == 1 {
		s.FirstID = id
	}
}

func (s *Stream) lastNodeTakes(size int) bool {
	if len(s.nodes) == 0 {
		return false
	}
	last := s.nodes[len(s.nodes)-1]
	most := s.limits.StreamNodeMaxBytes
	if most == 0 || most > maxStreamListpack {
		most = maxStreamListpack
	}
	if last.pack.Size()+size >= most {
		return false
	}
	entries, deleted := last.counts()
	return s.limits.StreamNodeMaxEntries == 0 || entries+deleted < int64(s.limits.StreamNodeMaxEntries)
}

// nodeOf returns the index of the node in whose range id lies, -1 if it is
// before all.
func (s *Stream) nodeOf(id StreamID) int {
	return sort.Search(len(s.nodes), func(i int) bool { return s.nodes[i].master.Compare(id) > 0 }) - 1
}

// Range yields the entries from start to end, both included. The stream must
// not change during the walk.
func (s *Stream) Range(start, end StreamID) iter.Seq[StreamEntry] {
	return func(yield func(StreamEntry) bool) {
		for _, n := range s.nodes[max(s.nodeOf(start), 0):] {
			for e := range n.all() {
				if e.ID.Compare(end) > 0 {
					return
				}
				if !e.deleted && e.ID.Compare(start) >= 0 && !yield(e) {
					return
				}
			}
		}
	}
}

// RevRange yields the entries from end down to start, both included.
func (s *Stream) RevRange(end, start StreamID) iter.Seq[StreamEntry] {
	return func(yield func(StreamEntry) bool) {
		for i := s.nodeOf(end); i >= 0; i-- {
			for e := range s.nodes[i].backwards() {
				if e.ID.Compare(start) < 0 {
					return
				}
				if !e.deleted && e.ID.Compare(end) <= 0 && !yield(e) {
					return
				}
			}
		}
	}
}

// Get returns the entry with an ID.
func (s *Stream) Get(id StreamID) (StreamEntry, bool) {
	for e := range s.Range(id, id) {
		return e, true
	}
	return StreamEntry{}, false
}

// LastEntryID returns the ID of the last entry that is there, zero in an empty
// stream.
func (s *Stream) LastEntryID() StreamID {
	for e := range s.RevRange(MaxStreamID, StreamID{}) {
		return e.ID
	}
	return StreamID{}
}

// FirstStoredID returns the ID of the first entry in memory, deleted or not;
// MaxStreamID if there is none.
func (s *Stream) FirstStoredID() StreamID {
	if len(s.nodes) == 0 {
		return MaxStreamID
	}
	return s.nodes[0].master
}

// Delete removes the entry with an ID and reports whether it was there.
func (s *Stream) Delete(id StreamID) bool {
	e, ok := s.Get(id)
	if !ok {
		return false
	}
	if entries, _ := e.node.counts(); entries == 1 {
		i := s.nodeOf(id)
		s.nodes = slices.Delete(s.nodes, i, i+1)
	} else {
		e.flag()
		e.node.addCounts(-1, 1)
	}
	s.length--
	if id.Compare(s.MaxDeletedID) > 0 {
		s.MaxDeletedID = id
	}
	if id == s.FirstID || s.length == 0 {
		s.findFirst()
	}
	return true
}

func (s *Stream) findFirst() {
	s.FirstID = StreamID{}
	for e := range s.Range(StreamID{}, MaxStreamID) {
		s.FirstID = e.ID
		return
	}
}

// Trim says how far a stream is to be cut at its start.
type Trim struct {
	// ByID keeps the entries from MinID on; otherwise MaxLen entries are kept.
	ByID   bool
	MaxLen int64
	MinID  StreamID
	// Approximate removes whole nodes only.
	Approximate bool
	// Limit of entries to remove, if it is not 0.
	Limit int64
}

// Trim removes entries at the start and returns how many.
func (s *Stream) Trim(t Trim) (removed int64) {
	whole := 0
	for _, n := range s.nodes {
		entries, _ := n.counts()
		if !t.ByID && int64(s.length) <= t.MaxLen || t.Limit > 0 && removed+entries > t.Limit {
			break
		}
		if t.ByID && n.last().Compare(t.MinID) < 0 || !t.ByID && int64(s.length)-entries >= t.MaxLen {
			whole++
			s.length -= int(entries)
			removed += entries
			continue
		}
		if !t.Approximate {
			removed += s.trimNode(n, t)
		}
		break
	}
	clear(s.nodes[:whole])
	s.nodes = s.nodes[whole:]
	if removed > 0 {
		s.findFirst()
	}
	return removed
}

// trimNode flags entries at the start of a node of which some remain.
func (s *Stream) trimNode(n *streamNode, t Trim) (removed int64) {
	for e := range n.all() {
		if t.ByID && e.ID.Compare(t.MinID) >= 0 || !t.ByID && int64(s.length) <= t.MaxLen {
			break
		}
		if !e.deleted {
			e.flag()
			s.length--
			removed++
		}
	}
	n.addCounts(-removed, removed)
	return removed
}

// RadixTree returns the number of keys and nodes of the radix tree in which
// Redis keeps a stream's listpacks by master ID, for XINFO.
func (s *Stream) RadixTree() (keys, nodes int) {
	masters := make([][16]byte, len(s.nodes))
	for i, n := range s.nodes {
		masters[i] = n.master.key()
	}
	return len(masters), radixNodes(masters, 0)
}

// radixNodes counts the nodes of a compressed radix tree below depth: one for
// the bytes all keys share, one where they part, and one at the end of each.
func radixNodes(sorted [][16]byte, depth int) int {
	if depth == 16 || len(sorted) == 0 {
		return 1
	}
	first, last := sorted[0], sorted[len(sorted)-1]
	shared := depth
	for shared < 16 && first[shared] == last[shared] {
		shared++
	}
	if shared > depth {
		return 1 + radixNodes(sorted, shared)
	}
	nodes := 1
	for len(sorted) > 0 {
		end := sort.Search(len(sorted), func(i int) bool { return sorted[i][depth] > sorted[0][depth] })
		nodes += radixNodes(sorted[:end], depth+1)
		sorted = sorted[end:]
	}
	return nodes
}
