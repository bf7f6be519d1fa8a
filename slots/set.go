package slots

import (
	"fmt"
	"iter"
	"math/bits"
	"strings"
)

// Range is a run of slots, both ends included.
type Range struct {
	First, Last Slot
}

// Len is the number of slots in the range.
func (r Range) Len() int { return int(r.Last) - int(r.First) + 1 }

// String prints a range as CLUSTER NODES does: "42" or "0-5460".
func (r Range) String() string {
	if r.First == r.Last {
		return fmt.Sprint(r.First)
	}
	return fmt.Sprintf("%d-%d", r.First, r.Last)
}

// ParseRange reads what Range.String prints.
func ParseRange(s string) (Range, error) {
	first, last, isRange := strings.Cut(s, "-")
	if !isRange {
		last = first
	}
	a, err := ParseSlot(first)
	if err != nil {
		return Range{}, err
	}
	b, err := ParseSlot(last)
	if err != nil {
		return Range{}, err
	}
	if b < a {
		return Range{}, fmt.Errorf("slot range %q ends before it begins", s)
	}
	return Range{a, b}, nil
}

// Set is a set of slots, a bitmap of Count bits. The zero value is empty.
type Set struct {
	words [Count / 64]uint64
}

// Add puts slots into the set.
func (s *Set) Add(slots ...Slot) {
	for _, slot := range slots {
		s.words[slot/64] |= 1 << (slot % 64)
	}
}

// AddRange puts every slot of r into the set.
func (s *Set) AddRange(r Range) {
	for slot := int(r.First); slot <= int(r.Last); slot++ {
		s.Add(Slot(slot))
	}
}

// Remove takes slots out of the set.
func (s *Set) Remove(slots ...Slot) {
	for _, slot := range slots {
		s.words[slot/64] &^= 1 << (slot % 64)
	}
}

// Has reports whether slot is in the set.
func (s *Set) Has(slot Slot) bool {
	return s.words[slot/64]&(1<<(slot%64)) != 0
}

// Len is the number of slots in the set.
func (s *Set) Len() int {
	n := 0
	for _, w := range s.words {
		n += bits.OnesCount64(w)
	}
	return n
}

// All yields the slots in ascending order.
func (s *Set) All() iter.Seq[Slot] {
	return func(yield func(Slot) bool) {
		for i, w := range s.words {
			for ; w != 0; w &= w - 1 {
				if !yield(Slot(i*64 + bits.TrailingZeros64(w))) {
					return
				}
			}
		}
	}
}

// Ranges returns the set as the fewest ascending ranges.
func (s *Set) Ranges() []Range {
	var ranges []Range
	for slot := range s.All() {
		if n := len(ranges); n > 0 && ranges[n-1].Last+1 == slot {
			ranges[n-1].Last = slot
		} else {
			ranges = append(ranges, Range{slot, slot})
		}
	}
	return ranges
}

// String prints the ranges as CLUSTER NODES does, separated by spaces.
func (s *Set) String() string {
	var b strings.Builder
	for i, r := range s.Ranges() {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(r.String())
	}
	return b.String()
}

// Split deals all slots out to n owners in consecutive ranges, the way
// "redis-cli --cluster create" does for n masters: range i ends at
// round(Count/n*(i+1))-1. n must be 1 to Count.
func Split(n int) []Range {
	perNode := float64(Count) / float64(n)
	ranges := make([]Range, n)
	first, cursor := 0, 0.0
	for i := range ranges {
		last := int(cursor + perNode - 1 + 0.5)
		if last >= Count || i == n-1 {
			last = Count - 1
		}
		ranges[i] = Range{Slot(first), Slot(last)}
		first, cursor = last+1, cursor+perNode
	}
	return ranges
}
