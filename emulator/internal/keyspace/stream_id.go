package keyspace

import (
	"cmp"
	"math"
	"strconv"
)

// StreamID identifies an entry of a stream: milliseconds and a sequence number
// within them.
type StreamID struct {
	Ms, Seq uint64
}

// MaxStreamID is the greatest possible ID; the least is the zero value.
var MaxStreamID = StreamID{math.MaxUint64, math.MaxUint64}

// Compare is negative if id is less than other, positive if it is greater.
func (id StreamID) Compare(other StreamID) int {
	return cmp.Or(cmp.Compare(id.Ms, other.Ms), cmp.Compare(id.Seq, other.Seq))
}

// Next returns the ID behind id; ok is false behind the greatest, whose next
// one is the least.
func (id StreamID) Next() (next StreamID, ok bool) {
	if id.Seq < math.MaxUint64 {
		return StreamID{id.Ms, id.Seq + 1}, true
	}
	return StreamID{id.Ms + 1, 0}, id.Ms < math.MaxUint64
}

// Prev returns the ID before id; ok is false before the least.
func (id StreamID) Prev() (prev StreamID, ok bool) {
	if id.Seq > 0 {
		return StreamID{id.Ms, id.Seq - 1}, true
	}
	return StreamID{id.Ms - 1, math.MaxUint64}, id.Ms > 0
}

// IsZero reports whether id is the least ID, which no entry has.
func (id StreamID) IsZero() bool { return id == StreamID{} }

// Append appends the ID as "ms-seq".
func (id StreamID) Append(dst []byte) []byte {
	dst = strconv.AppendUint(dst, id.Ms, 10)
	dst = append(dst, '-')
	return strconv.AppendUint(dst, id.Seq, 10)
}

// String is the ID as "ms-seq".
func (id StreamID) String() string { return string(id.Append(nil)) }
