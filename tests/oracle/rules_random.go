package oracle

import (
	"slices"
	"strconv"
	"strings"
)

// oneScan accepts any single step of a scan: only a full one (!scanall) says
// something.
func oneScan(c *check) bool {
	return isScanReply(c.a) && isScanReply(c.b)
}

func oneScanIfHashed(c *check) bool { return c.hashed() && oneScan(c) }

func isScanReply(r Reply) bool {
	if len(r.Items) != 2 || r.Items[0].Kind != '$' || r.Items[1].Kind != '*' {
		return false
	}
	if _, err := strconv.ParseUint(r.Items[0].Text, 10, 64); err != nil {
		return false
	}
	return !slices.ContainsFunc(r.Items[1].Items, func(item Reply) bool { return item.Kind != '$' || item.Null })
}

// randomMember accepts two random choices out of the content that the probe
// showed: of the same shape and number, all of them members, and distinct
// unless a negative count allowed repetition.
func randomMember(c *check) bool {
	if !sameShape(c) {
		return false
	}
	if len(c.probes) == 0 || c.forbidden() { // inside MULTI or a listening connection
		return true
	}
	content := membersOf(c.args, c.probes[len(c.probes)-1])
	chosenA, chosenB := choices(c, c.a), choices(c, c.b)
	if !allIn(chosenA, content) || !allIn(chosenB, content) {
		return false
	}
	repeats := len(c.args) > 2 && strings.HasPrefix(c.args[2], "-")
	return repeats || distinct(chosenA) && distinct(chosenB)
}

// membersOf renders the probe's content the way choices renders choices.
func membersOf(args []string, content Reply) map[string]bool {
	members := map[string]bool{}
	withValues := wantsValues(args)
	paired := strings.EqualFold(args[0], "HRANDFIELD") || strings.EqualFold(args[0], "ZRANDMEMBER")
	items := flatten(content)
	for i := 0; i < len(items); i++ {
		member := items[i].Text
		if paired && i+1 < len(items) {
			i++
			if withValues {
				member += "=" + items[i].Text
			}
		}
		members[member] = true
	}
	return members
}

func choices(c *check, r Reply) []string {
	if !r.isAggregate() {
		if r.isNull() {
			return nil
		}
		return []string{r.Text}
	}
	items := flatten(r)
	var chosen []string
	for i := 0; i < len(items); i++ {
		choice := items[i].Text
		if wantsValues(c.args) && i+1 < len(items) {
			i++
			choice += "=" + items[i].Text
		}
		chosen = append(chosen, choice)
	}
	return chosen
}

// wantsValues reports whether HRANDFIELD or ZRANDMEMBER was asked for values.
func wantsValues(args []string) bool {
	return len(args) == 4 && (strings.EqualFold(args[0], "HRANDFIELD") || strings.EqualFold(args[0], "ZRANDMEMBER"))
}

// flatten lists the scalars of a reply in order: RESP3 nests pairs that RESP2
// lists flat.
func flatten(r Reply) []Reply {
	if !r.isAggregate() {
		return []Reply{r}
	}
	var all []Reply
	for _, item := range r.Items {
		all = append(all, flatten(item)...)
	}
	return all
}

func allIn(chosen []string, members map[string]bool) bool {
	return !slices.ContainsFunc(chosen, func(choice string) bool { return !members[choice] })
}

func distinct(chosen []string) bool {
	seen := map[string]bool{}
	for _, choice := range chosen {
		if seen[choice] {
			return false
		}
		seen[choice] = true
	}
	return true
}

// rejoinPopped makes the other side's set equal to the real one's after SPOP:
// what only the real side kept is added first, so that the key never vanishes.
func rejoinPopped(x *Runner, e entry, a, b Reply) error {
	c := check{x: x, args: e.args}
	poppedA, poppedB := choices(&c, a), choices(&c, b)
	onlyB := without(poppedB, poppedA)
	onlyA := without(poppedA, poppedB)
	key := e.args[1]
	if len(onlyA) > 0 {
		e.pair.b.ask(append([]string{"SADD", key}, onlyB...)...)
		e.pair.b.ask(append([]string{"SREM", key}, onlyA...)...)
	}
	encoding := []string{"OBJECT", "ENCODING", key}
	if !e.pair.a.ask(encoding...).equal(e.pair.b.ask(encoding...)) {
		// Popping more than half makes a new set of what is left, an intset if
		// chance left integers only.
		copySet(e.pair, key)
	}
	for _, p := range x.sortedPairs() { // the messages this caused are not the other side's
		if p.listening && p.blocked == nil {
			x.drain(p)
		}
	}
	return nil
}

func without(all, some []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(some, s) })
}

// copySet replaces the other side's set by a fresh one like the real side's.
func copySet(p *pair, key string) {
	expiry := p.a.ask("PEXPIRETIME", key).Text
	p.b.ask("DEL", key)
	p.b.ask(append([]string{"SADD", key}, p.a.ask("SMEMBERS", key).texts()...)...)
	if expiry != "-1" {
		p.b.ask("PEXPIREAT", key, expiry)
	}
}
