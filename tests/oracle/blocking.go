package oracle

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// glance and shortWait are the pauses between two looks at something another goroutine or
// process is about to do; settleDeadline is when it is late.
const (
	glance         = 50 * time.Microsecond
	shortWait      = time.Millisecond
	settleDeadline = time.Second
)

// mayBlock reports whether a command can make its connection wait.
func mayBlock(args []string) bool {
	switch name := strings.ToUpper(args[0]); name {
	case "BLPOP", "BRPOP", "BLMOVE", "BRPOPLPUSH", "BLMPOP", "BZPOPMIN", "BZPOPMAX", "BZMPOP", "WAIT":
		return true
	case "XREAD", "XREADGROUP":
		return slices.ContainsFunc(args, func(arg string) bool { return strings.EqualFold(arg, "BLOCK") })
	}
	return false
}

// blocking sends a command that may block, alone, and waits until each side
// has answered or counts one more blocked client.
func (x *Runner) blocking(e entry) (*Difference, error) {
	p := e.pair
	p.note(commandName(e.args))
	before := x.blockedOn(p.node)
	x.sent++
	x.queueBoth(p, e.args)
	x.flushBoth(p)
	deadline := time.Now().Add(settleDeadline)
	for {
		blockedA, err := x.a.infoField(p.node, "blocked_clients")
		if err != nil {
			return nil, err
		}
		blockedB, err := x.b.infoField(p.node, "blocked_clients")
		if err != nil {
			return nil, err
		}
		answeredA, answeredB := p.a.ready(glance), p.b.ready(glance)
		if answeredA && answeredB {
			return x.answered(e)
		}
		if blockedA == before+1 && blockedB == before+1 && !answeredA && !answeredB {
			p.blocked = e.args
			return x.awaitShortTimeout(e)
		}
		if time.Now().After(deadline) {
			d := &Difference{Index: e.index, Step: e.step, What: "one side blocks"}
			d.A, d.B = pendingReply(p.a, answeredA), pendingReply(p.b, answeredB)
			return d, nil
		}
	}
}

// answered reads and compares the replies both sides are ready to give.
func (x *Runner) answered(e entry) (*Difference, error) {
	p := e.pair
	p.blocked = nil
	a, b := readReplies(p.a, ""), readReplies(p.b, "")
	if what := x.compare(e, a, b, nil); what != "" {
		return &Difference{Index: e.index, Step: e.step, A: a, B: b, What: what}, nil
	}
	if err := x.follow(e, a[len(a)-1], b[len(b)-1]); err != nil {
		return nil, err
	}
	return x.settled(e.index, e.step)
}

// awaitShortTimeout waits for the end of a block that is over in a moment, so
// that it does not end in the middle of something else.
func (x *Runner) awaitShortTimeout(e entry) (*Difference, error) {
	if timeout, ok := blockTimeout(e.args); !ok || timeout <= 0 || timeout > settleDeadline {
		return nil, nil
	}
	deadline := time.Now().Add(replyDeadline)
	for !e.pair.a.ready(glance) || !e.pair.b.ready(glance) {
		if time.Now().After(deadline) {
			return &Difference{
				Index: e.index, Step: e.step, What: "a timeout that should have ended",
				A: pendingReply(e.pair.a, e.pair.a.ready(glance)), B: pendingReply(e.pair.b, e.pair.b.ready(glance)),
			}, nil
		}
		// Redis looks at timeouts when something wakes it, else every 100 ms.
		if _, _, err := x.agreeOnBlocked(e.pair.node); err != nil {
			return nil, err
		}
	}
	return x.answered(e)
}

func blockTimeout(args []string) (time.Duration, bool) {
	text, unit := args[len(args)-1], time.Second
	switch strings.ToUpper(args[0]) {
	case "BLMPOP", "BZMPOP":
		text = args[1]
	case "WAIT":
		unit = time.Millisecond
	case "XREAD", "XREADGROUP":
		unit = time.Millisecond
		at := slices.IndexFunc(args, func(arg string) bool { return strings.EqualFold(arg, "BLOCK") })
		if at+1 >= len(args) {
			return 0, false
		}
		text = args[at+1]
	}
	n, err := strconv.ParseFloat(text, 64)
	return time.Duration(n * float64(unit)), err == nil
}

func pendingReply(c *client, answered bool) []Reply {
	if answered {
		return readReplies(c, "")
	}
	return []Reply{{Kind: kindMissing}}
}

func (x *Runner) blockedOn(node int) int {
	count := 0
	for _, p := range x.pairs {
		if p.blocked != nil && p.node == node {
			count++
		}
	}
	return count
}

// checkBlocked compares which blocked connections the last steps woke, and
// with what.
func (x *Runner) checkBlocked(i int, step Step) (*Difference, error) {
	for node := range x.nodes() {
		waiting := x.blockedOn(node)
		if waiting == 0 {
			continue
		}
		stillA, stillB, err := x.agreeOnBlocked(node)
		if err != nil {
			return nil, err
		}
		if stillA != stillB {
			what := fmt.Sprintf("clients still blocked on node %d: %d and %d%s", node, stillA, stillB, x.wokenOnOne(node))
			return &Difference{Index: i, Step: step, What: what}, nil
		}
		if d, err := x.readWoken(i, node, waiting-stillA); d != nil || err != nil {
			return d, err
		}
	}
	return nil, nil
}

// wokenOnOne lists the blocked commands that only one side has answered.
func (x *Runner) wokenOnOne(node int) string {
	var b strings.Builder
	for _, p := range x.sortedPairs() {
		if p.blocked == nil || p.node != node {
			continue
		}
		if a, other := p.a.ready(glance), p.b.ready(glance); a != other {
			fmt.Fprintf(&b, ", %s answered by %s only", Step{Conn: p.conn, Node: node, Args: p.blocked}, map[bool]string{true: x.a.Name, false: x.b.Name}[a])
		}
	}
	return b.String()
}

// agreeOnBlocked asks both sides for their blocked clients until the numbers
// agree: a timeout does not end on both in the same instant.
func (x *Runner) agreeOnBlocked(node int) (a, b int, err error) {
	deadline := time.Now().Add(settleDeadline)
	for {
		if a, err = x.a.infoField(node, "blocked_clients"); err != nil {
			return 0, 0, err
		}
		if b, err = x.b.infoField(node, "blocked_clients"); err != nil {
			return 0, 0, err
		}
		if a == b || time.Now().After(deadline) {
			return a, b, nil
		}
		time.Sleep(shortWait)
	}
}

// readWoken reads the replies of the connections that step i woke on a node.
func (x *Runner) readWoken(i, node, count int) (*Difference, error) {
	deadline := time.Now().Add(replyDeadline)
	for count > 0 && time.Now().Before(deadline) {
		for _, p := range x.sortedPairs() {
			if p.blocked == nil || p.node != node || !p.a.ready(glance) {
				continue
			}
			e := entry{index: i, step: Step{Conn: p.conn, Node: node, Args: p.blocked}, pair: p, args: p.blocked}
			if !p.b.ready(replyDeadline) {
				return &Difference{Index: e.index, Step: e.step, A: readReplies(p.a, ""), B: []Reply{{Kind: kindMissing}}, What: "woken on one side"}, nil
			}
			count--
			p.blocked = nil
			a, b := readReplies(p.a, ""), readReplies(p.b, "")
			if what := x.compare(e, a, b, nil); what != "" {
				return &Difference{Index: e.index, Step: e.step, A: a, B: b, What: what}, nil
			}
			if err := x.follow(e, a[len(a)-1], b[len(b)-1]); err != nil {
				return nil, err
			}
		}
	}
	if count > 0 {
		return nil, fmt.Errorf("node %d: %d woken clients do not answer", node, count)
	}
	return nil, nil
}

// unblock frees a blocked connection that the next step wants to use.
func (x *Runner) unblock(i int, p *pair) (*Difference, error) {
	if d, err := x.flush(); d != nil || err != nil {
		return d, err
	}
	if p.blocked == nil {
		return nil, nil
	}
	a := x.a.control[p.node].ask("CLIENT", "UNBLOCK", p.a.id, "ERROR")
	b := x.b.control[p.node].ask("CLIENT", "UNBLOCK", p.b.id, "ERROR")
	if !a.equal(b) {
		step := Step{Conn: p.conn, Node: p.node, Args: []string{"CLIENT", "UNBLOCK", "$CID" + strconv.Itoa(p.conn), "ERROR"}}
		return &Difference{Index: i, Step: step, A: []Reply{a}, B: []Reply{b}}, nil
	}
	return x.checkBlocked(i, Step{Conn: p.conn, Node: p.node, Args: p.blocked})
}

func (x *Runner) sortedPairs() []*pair {
	pairs := make([]*pair, 0, len(x.pairs))
	for _, p := range x.pairs {
		pairs = append(pairs, p)
	}
	slices.SortFunc(pairs, func(p, q *pair) int {
		if p.conn != q.conn {
			return p.conn - q.conn
		}
		return p.node - q.node
	})
	return pairs
}
