package oracle

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// messagesOn begins what a difference in messages is called.
const messagesOn = "messages on connection"

// drainListeners collects what subscribed and tracking connections received
// since the last look and compares it.
func (x *Runner) drainListeners(i int, step Step) *Difference {
	for _, p := range x.sortedPairs() {
		if !p.listening || p.manual || p.blocked != nil || p.inMulti {
			continue
		}
		a, b := x.drain(p)
		if what := x.samePushes(p, a, b); what != "" {
			return &Difference{Index: i, Step: step, A: a, B: b, What: what}
		}
	}
	return nil
}

// drain reads what waits on a listening pair, up to a fence.
func (x *Runner) drain(p *pair) (a, b []Reply) {
	x.sent++
	fence := fenceText + strconv.Itoa(x.sent)
	x.queueBoth(p, []string{"PING", fence})
	x.flushBoth(p)
	read := func(c *client) []Reply {
		replies := readReplies(c, fence)
		if replies[0].Kind == kindMissing && replies[0].Text == "" && !c.closed {
			return nil // nothing before the fence
		}
		return replies
	}
	return read(p.a), read(p.b)
}

func (x *Runner) samePushes(p *pair, a, b []Reply) string {
	what := fmt.Sprintf("%s %d to node %d", messagesOn, p.conn, p.node)
	a, b = orderPatterns(a), orderPatterns(b)
	if len(a) != len(b) {
		return what
	}
	for i := range a {
		if !a[i].equal(b[i]) && !x.a.named(a[i]).equal(x.b.named(b[i])) {
			return what
		}
	}
	return ""
}

// awaitPushes waits until Count messages arrived, whatever their order: they
// come from several nodes.
func (x *Runner) awaitPushes(i int, step Step, p *pair) (*Difference, error) {
	read := func(c *client) []Reply {
		var got []Reply
		deadline := time.Now().Add(replyDeadline)
		for len(got) < step.Count && time.Now().Before(deadline) && c.ready(time.Until(deadline)) {
			got = append(got, c.read())
		}
		return got
	}
	a, b := read(p.a), read(p.b)
	sortReplies(a)
	sortReplies(b)
	if what := x.samePushes(p, a, b); what != "" {
		return &Difference{Index: i, Step: step, A: a, B: b, What: what}, nil
	}
	if len(a) < step.Count {
		return nil, fmt.Errorf("step %q: only %d messages came on either side", step, len(a))
	}
	return nil, nil
}

// silence is how long a server that has got raw bytes must say nothing to be
// believed done.
const silence = 50 * time.Millisecond

// raw sends bytes as they are and compares everything that comes back.
func (x *Runner) raw(i int, step Step, p *pair) (*Difference, error) {
	for _, c := range []*client{p.a, p.b} {
		c.out = append(c.out, step.Args[0]...)
		c.flush()
	}
	a, b := readUntilSilence(nil, p.a, silence), readUntilSilence(nil, p.b, silence)
	if len(a) != len(b) { // perhaps one is only slow
		a, b = readUntilSilence(a, p.a, settleDeadline), readUntilSilence(b, p.b, settleDeadline)
	}
	if what := x.samePushes(p, a, b); what != "" {
		return &Difference{Index: i, Step: step, A: a, B: b, What: "everything that came back"}, nil
	}
	if p.a.closed {
		x.drop(p)
	}
	return nil, nil
}

// readUntilSilence appends what arrives until nothing does for a while, or the
// connection ends.
func readUntilSilence(got []Reply, c *client, silence time.Duration) []Reply {
	for !c.closed && c.ready(silence) {
		got = append(got, c.read())
	}
	return got
}

// orderPatterns sorts the messages of one publication to several patterns of a
// connection by pattern, and keys missed one after the other (by SORT … BY) by
// name: Redis sends them in the order of a hash table.
func orderPatterns(replies []Reply) []Reply {
	var out []Reply
	for start := 0; start < len(replies); {
		end := start + 1
		for end < len(replies) && (samePublication(replies[start], replies[end]) || isMiss(replies[start]) && isMiss(replies[end])) {
			end++
		}
		group := slices.Clone(replies[start:end])
		sortReplies(group)
		out = append(out, group...)
		start = end
	}
	return out
}

func samePublication(r, o Reply) bool {
	return len(r.Items) == 4 && len(o.Items) == 4 && r.Items[0].Text == "pmessage" && o.Items[0].Text == "pmessage" &&
		r.Items[2].equal(o.Items[2]) && r.Items[3].equal(o.Items[3])
}

// isMiss recognizes a message that says that a key was looked for in vain.
func isMiss(r Reply) bool {
	return len(r.Items) == 4 && (r.Items[3].Text == "keymiss" || strings.HasSuffix(r.Items[2].Text, ":keymiss"))
}
