package command

import (
	"iter"
	"math"
	"slices"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace"
)

// combination is the set operation of a ZUNION, ZINTER or ZDIFF.
type combination uint8

const (
	combineUnion combination = iota
	combineInter
	combineDiff
)

// combineQuery is what the arguments of such a command say.
type combineQuery struct {
	operation  combination
	inputs     []combineInput
	aggregate  func(a, b float64) float64
	withScores bool
	limit      int64 // of ZINTERCARD, 0 for none
}

// combineInput is one of the sets to be combined: a sorted set or a set, whose
// members count as scored 1.
type combineInput struct {
	value  keyspace.Value // nil for a missing key
	weight float64
}

func (in *combineInput) len() int {
	switch v := in.value.(type) {
	case *keyspace.ZSet:
		return v.Len()
	case *keyspace.Set:
		return v.Len()
	}
	return 0
}

func (in *combineInput) members() iter.Seq2[[]byte, float64] {
	if zset, ok := in.value.(*keyspace.ZSet); ok {
		return zset.All()
	}
	return func(yield func([]byte, float64) bool) {
		if set, ok := in.value.(*keyspace.Set); ok {
			for member := range set.All() {
				if !yield(member, 1) {
					return
				}
			}
		}
	}
}

func (in *combineInput) score(member []byte) (float64, bool) {
	switch v := in.value.(type) {
	case *keyspace.ZSet:
		return v.Score(member)
	case *keyspace.Set:
		return 1, v.Has(member)
	}
	return 0, false
}

// weigh multiplies a score; nothing times infinity counts as nothing.
func (in *combineInput) weigh(score float64) float64 {
	if score *= in.weight; math.IsNaN(score) {
		return 0
	}
	return score
}

// The aggregates. What is not a number, infinity and its opposite, sums up to 0
// and is otherwise passed over as the second operand.

func aggregateSum(a, b float64) float64 {
	if a += b; math.IsNaN(a) {
		return 0
	}
	return a
}

func aggregateMin(a, b float64) float64 {
	if b < a {
		return b
	}
	return a
}

func aggregateMax(a, b float64) float64 {
	if b > a {
		return b
	}
	return a
}

func zunion(c *Call) { c.zcombine(combineUnion) }

func zinter(c *Call) { c.zcombine(combineInter) }

func zdiff(c *Call) { c.zcombine(combineDiff) }

func (c *Call) zcombine(operation combination) {
	q := combineQuery{operation: operation}
	if !c.parseCombine(&q, 1, true, false) {
		return
	}
	result := q.combine(&c.Keyspace().Limits)
	c.replyMembers(result.All(), result.Len(), q.withScores)
}

func zunionstore(c *Call) { c.zcombineStore(combineUnion, "zunionstore") }

func zinterstore(c *Call) { c.zcombineStore(combineInter, "zinterstore") }

func zdiffstore(c *Call) { c.zcombineStore(combineDiff, "zdiffstore") }

func (c *Call) zcombineStore(operation combination, event string) {
	q := combineQuery{operation: operation}
	if !c.parseCombine(&q, 2, false, false) {
		return
	}
	result := q.combine(&c.Keyspace().Limits)
	result.Compact()
	c.storeZSet(c.Args[1], result, event, 1)
}

func zintercard(c *Call) {
	q := combineQuery{operation: combineInter}
	if !c.parseCombine(&q, 1, false, true) {
		return
	}
	n := int64(0)
	for range q.intersect() {
		if n++; n == q.limit {
			break
		}
	}
	c.Reply.Int(n)
}

// parseCombine reads the number of keys, argument i, the keys, and the options
// behind them; WITHSCORES is one if scores, LIMIT if onlyCount.
func (c *Call) parseCombine(q *combineQuery, i int, scores, onlyCount bool) bool {
	n, ok := c.intArg(i)
	if !ok {
		return false
	}
	if n < 1 {
		return c.fail("ERR at least 1 input key is needed for '" + c.Spec.Name + "' command")
	}
	if n > int64(c.left(i)) {
		return c.fail(errSyntax)
	}
	options := i + 1 + int(n)
	for _, key := range c.Args[i+1 : options] {
		value := c.DB.Read(key)
		if value != nil && value.Kind() != keyspace.KindZSet && value.Kind() != keyspace.KindSet {
			return c.fail(errWrongType)
		}
		q.inputs = append(q.inputs, combineInput{value: value, weight: 1})
	}
	q.aggregate = aggregateSum
	weighted := q.operation != combineDiff && !onlyCount
	for i = options; i < len(c.Args); i++ {
		switch {
		case weighted && c.left(i) >= len(q.inputs) && c.is(i, "weights"):
			if !c.parseWeights(q.inputs, i+1) {
				return false
			}
			i += len(q.inputs)
		case weighted && c.left(i) >= 1 && c.is(i, "aggregate"):
			i++
			switch {
			case c.is(i, "sum"):
				q.aggregate = aggregateSum
			case c.is(i, "min"):
				q.aggregate = aggregateMin
			case c.is(i, "max"):
				q.aggregate = aggregateMax
			default:
				return c.fail(errSyntax)
			}
		case scores && c.is(i, "withscores"):
			q.withScores = true
		case onlyCount && c.left(i) >= 1 && c.is(i, "limit"):
			i++
			if q.limit, ok = c.intArgOr(i, "ERR LIMIT can't be negative"); !ok {
				return false
			}
			if q.limit < 0 {
				return c.fail("ERR LIMIT can't be negative")
			}
		default:
			return c.fail(errSyntax)
		}
	}
	return true
}

func (c *Call) parseWeights(inputs []combineInput, i int) bool {
	for j := range inputs {
		var ok bool
		if inputs[j].weight, ok = c.floatArgOr(i+j, "ERR weight value is not a float"); !ok {
			return false
		}
	}
	return true
}

// combine returns the set the query asks for.
func (q *combineQuery) combine(limits *keyspace.Limits) *keyspace.ZSet {
	result := keyspace.NewLargeZSet(limits)
	switch q.operation {
	case combineUnion:
		q.unite(result)
	case combineInter:
		for member, score := range q.intersect() {
			result.Add(member, score, keyspace.AddOptions{})
		}
	case combineDiff:
		for member, score := range q.subtract() {
			result.Add(member, score, keyspace.AddOptions{})
		}
	}
	return result
}

// bySize sorts the inputs, the smallest first. Sums of scores depend on the
// order they are taken in.
func (q *combineQuery) bySize() {
	slices.SortStableFunc(q.inputs, func(a, b combineInput) int { return a.len() - b.len() })
}

// unite sums up before it puts anything in order, so that no member moves in
// result.
func (q *combineQuery) unite(result *keyspace.ZSet) {
	type entry struct {
		member []byte
		score  float64
	}
	q.bySize()
	largest := q.inputs[len(q.inputs)-1].len()
	entries := make([]entry, 0, largest)
	index := make(map[string]int, largest)
	for i := range q.inputs {
		in := &q.inputs[i]
		for member, score := range in.members() {
			score = in.weigh(score)
			if at, ok := index[string(member)]; ok {
				entries[at].score = q.aggregate(entries[at].score, score)
				continue
			}
			member = clone(member)
			index[string(member)] = len(entries)
			entries = append(entries, entry{member, score})
		}
	}
	for _, e := range entries {
		result.Add(e.member, e.score, keyspace.AddOptions{})
	}
}

// intersect yields the members all inputs have, in the order of the smallest.
func (q *combineQuery) intersect() iter.Seq2[[]byte, float64] {
	q.bySize()
	return func(yield func([]byte, float64) bool) {
		first := &q.inputs[0]
	members:
		for member, score := range first.members() {
			sum := first.weigh(score)
			for i := 1; i < len(q.inputs); i++ {
				in := &q.inputs[i]
				score, ok := in.score(member)
				if !ok {
					continue members
				}
				sum = q.aggregate(sum, score*in.weight)
			}
			if !yield(member, sum) {
				return
			}
		}
	}
}

// subtract yields the members only the first input has.
func (q *combineQuery) subtract() iter.Seq2[[]byte, float64] {
	return func(yield func([]byte, float64) bool) {
	members:
		for member, score := range q.inputs[0].members() {
			for i := range q.inputs[1:] {
				if _, ok := q.inputs[i+1].score(member); ok {
					continue members
				}
			}
			if !yield(member, score) {
				return
			}
		}
	}
}
