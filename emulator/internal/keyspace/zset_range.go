package keyspace

import (
	"cmp"
	"strings"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace/listpack"
)

// ScoreRange is an interval of scores; MinEx and MaxEx exclude its ends.
type ScoreRange struct {
	Min, Max     float64
	MinEx, MaxEx bool
}

func (r *ScoreRange) aboveMin(score float64) bool {
	return score > r.Min || score == r.Min && !r.MinEx
}

func (r *ScoreRange) belowMax(score float64) bool {
	return score < r.Max || score == r.Max && !r.MaxEx
}

func (r *ScoreRange) empty() bool {
	return r.Min > r.Max || r.Min == r.Max && (r.MinEx || r.MaxEx)
}

// ScoreSpan returns the rank of the first member whose score is in r, and how many
// there are.
func (z *ZSet) ScoreSpan(r ScoreRange) (start, n int) {
	if r.empty() {
		return 0, 0
	}
	end := 0
	if z.pack == nil {
		start = z.list.count(func(n *skipNode) bool { return !r.aboveMin(n.score) })
		end = z.list.count(func(n *skipNode) bool { return r.belowMax(n.score) })
		return start, max(end-start, 0)
	}
	for at := z.pack.First(); at != listpack.None; at = z.packNext(at) {
		score := z.packScore(at)
		if !r.belowMax(score) {
			break
		}
		if !r.aboveMin(score) {
			start++
		}
		end++
	}
	return start, end - start
}

// LexBound is one end of a range of members.
type LexBound struct {
	// Infinite is -1 or +1 for the bounds "-" and "+", which lie before and
	// behind every member.
	Infinite  int
	Member    string
	Exclusive bool
}

// compare orders bounds.
func (b *LexBound) compare(other *LexBound) int {
	if b.Infinite != 0 || other.Infinite != 0 {
		return cmp.Compare(b.Infinite, other.Infinite)
	}
	return strings.Compare(b.Member, other.Member)
}

// LexRange is an interval of members.
type LexRange struct {
	Min, Max LexBound
}

func (r *LexRange) aboveMin(member string) bool {
	if r.Min.Infinite != 0 {
		return r.Min.Infinite < 0
	}
	return member > r.Min.Member || member == r.Min.Member && !r.Min.Exclusive
}

func (r *LexRange) belowMax(member string) bool {
	if r.Max.Infinite != 0 {
		return r.Max.Infinite > 0
	}
	return member < r.Max.Member || member == r.Max.Member && !r.Max.Exclusive
}

func (r *LexRange) empty() bool {
	order := r.Min.compare(&r.Max)
	return order > 0 || order == 0 && (r.Min.Exclusive || r.Max.Exclusive)
}

// LexSpan returns the rank of the first member in r after skip of them, seen
// from the upper end if reverse, and how many there are, given that all scores
// are equal. If they are not the answer is arbitrary, but for a listpack the one
// Redis gives, which skips without a look at the range.
func (z *ZSet) LexSpan(r LexRange, reverse bool, skip int64) (start, n int) {
	if r.empty() || skip < 0 || skip >= int64(z.Len()) {
		return 0, 0
	}
	if z.pack != nil {
		return z.packLexSpan(&r, reverse, int(skip))
	}
	start = z.list.count(func(n *skipNode) bool { return !r.aboveMin(n.member) })
	end := z.list.count(func(n *skipNode) bool { return r.belowMax(n.member) })
	if reverse {
		end -= int(skip)
	} else {
		start += int(skip)
	}
	return start, max(end-start, 0)
}

func (z *ZSet) packLexSpan(r *LexRange, reverse bool, skip int) (start, n int) {
	members := make([]string, 0, z.Len())
	for member := range z.All() {
		members = append(members, string(member))
	}
	if !r.aboveMin(members[len(members)-1]) || !r.belowMax(members[0]) {
		return 0, 0
	}
	if reverse {
		end := len(members)
		for end > 0 && !r.belowMax(members[end-1]) {
			end--
		}
		if end <= skip || !r.aboveMin(members[end-1]) {
			return 0, 0
		}
		end -= skip
		for start = end; start > 0 && r.aboveMin(members[start-1]); start-- {
		}
		return start, end - start
	}
	for start < len(members) && !r.aboveMin(members[start]) {
		start++
	}
	if start+skip >= len(members) || !r.belowMax(members[start]) {
		return 0, 0
	}
	start += skip
	end := start
	for end < len(members) && r.belowMax(members[end]) {
		end++
	}
	return start, end - start
}
