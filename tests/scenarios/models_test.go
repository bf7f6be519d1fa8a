package scenarios

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/fakecluster/fakecluster/emulator"
)

// Histories of more than registers: each kind of value, with scripts that change
// it, transactions that watch it and clients that block on it, must behave as if
// every command had happened at one moment between its beginning and its end.

// command is one thing that is done to a key.
type command struct {
	key  string
	verb string
	args []string
}

// state is what a key holds, as words: the elements of a list, or members and
// scores in turn.
type state []string

// kind is a kind of value: what to do to one, as lines for a client, and what a
// command that happens at once replies.
type kind struct {
	name string
	// lines are the commands to choose from, with the key for %[1]s, a value that
	// no other command has for %[2]s and a small number for %[3]d.
	lines map[string]string
	// apply returns the reply as it is written down, and what the key holds then.
	apply func(s state, c command) (string, state)
}

// unknown is the outcome of a command of which nobody knows what it replied.
const unknown = "?"

func (k kind) model() porcupine.Model {
	return porcupine.Model{
		Partition: partition(func(input any) string { return input.(command).key }),
		Init:      func() any { return state(nil) },
		Step: func(before, input, output any) (bool, any) {
			reply, after := k.apply(before.(state), input.(command))
			return output == unknown || output == reply, after
		},
		Equal:             func(a, b any) bool { return slices.Equal(a.(state), b.(state)) },
		DescribeOperation: func(input, output any) string { return fmt.Sprintf("%v: %v", input, output) },
	}
}

// written is how a reply is written down: an array of bulk strings.
func written(items ...string) string {
	var v value
	v.kind = '*'
	for _, item := range items {
		v.items = append(v.items, value{kind: '$', text: item})
	}
	return strings.TrimSpace(v.lines(""))
}

func quoted(text string) string { return strconv.Quote(text) }

const (
	none = "(nil)"
	// The list is never empty in between: while its slot leaves, a script may not
	// create a key that it has just emptied, in Redis either.
	rotate  = `local v = redis.call('LINDEX', KEYS[1], 0) if v then redis.call('RPUSH', KEYS[1], v) redis.call('LPOP', KEYS[1]) end return v`
	swap    = `local v = redis.call('GET', KEYS[1]) redis.call('SET', KEYS[1], ARGV[1]) return v`
	highest = `local m = redis.call('ZREVRANGE', KEYS[1], 0, 0)[1] if m then redis.call('ZADD', KEYS[1], 0, m) end return m`
)

// eval writes a script, which has no double quotes, down as a line.
func eval(script string) string { return `EVAL "` + script + `" 1 %[1]s %[2]s` }

var kinds = []kind{
	{"string", map[string]string{"get": "GET %[1]s", "set": "SET %[1]s %[2]s", "swap": eval(swap), "append": "APPEND %[1]s x"}, onString},
	{"list", map[string]string{
		"push": "RPUSH %[1]s %[2]s", "pop": "LPOP %[1]s", "wait": "BLPOP %[1]s 0.005", "all": "LRANGE %[1]s 0 -1", "rotate": eval(rotate),
	}, onList},
	{"sorted set", map[string]string{
		"incr": "ZINCRBY %[1]s 1 m%[3]d", "pop": "ZPOPMAX %[1]s", "wait": "BZPOPMAX %[1]s 0.005", "all": "ZRANGE %[1]s 0 -1 WITHSCORES", "lower": eval(highest),
	}, onSortedSet},
}

func onString(s state, c command) (string, state) {
	held, old := "", none
	if len(s) == 1 {
		held, old = s[0], quoted(s[0])
	}
	switch c.verb {
	case "set":
		return "OK", state{c.args[0]}
	case "swap":
		return old, state{c.args[0]}
	case "append":
		held += "x"
		return fmt.Sprintf("(integer) %d", len(held)), state{held}
	case "cas": // a transaction that watched the key while it held the first
		if old == c.args[0] {
			return "1) OK", state{c.args[1]}
		}
		return none, s
	}
	return old, s
}

func onList(s state, c command) (string, state) {
	switch {
	case c.verb == "push":
		return fmt.Sprintf("(integer) %d", len(s)+1), append(slices.Clone(s), c.args[0])
	case c.verb == "all":
		return written(s...), s
	case len(s) == 0:
		return none, s
	case c.verb == "wait":
		return written(c.key, s[0]), s[1:]
	case c.verb == "rotate":
		return quoted(s[0]), append(slices.Clone(s[1:]), s[0])
	}
	return quoted(s[0]), s[1:]
}

func onSortedSet(s state, c command) (string, state) {
	last := len(s) - 2
	switch {
	case c.verb == "incr":
		return scored(s, c.args[1], func(score int) int { return score + 1 })
	case c.verb == "all":
		return written(s...), s
	case last < 0 && c.verb == "pop":
		return written(), s
	case last < 0:
		return none, s
	case c.verb == "wait":
		return written(c.key, s[last], s[last+1]), s[:last]
	case c.verb == "lower":
		_, after := scored(s, s[last], func(int) int { return 0 })
		return quoted(s[last]), after
	}
	return written(s[last:]...), s[:last]
}

// scored changes the score of a member, and returns the new one.
func scored(s state, member string, change func(int) int) (string, state) {
	scores := map[string]int{}
	var members []string
	for i := 0; i < len(s); i += 2 {
		members = append(members, s[i])
		scores[s[i]], _ = strconv.Atoi(s[i+1]) // written below
	}
	if !slices.Contains(members, member) {
		members = append(members, member)
	}
	scores[member] = change(scores[member])
	slices.SortFunc(members, func(a, b string) int {
		if scores[a] != scores[b] {
			return scores[a] - scores[b]
		}
		return strings.Compare(a, b)
	})
	after := make(state, 0, len(s)+2)
	for _, m := range members {
		after = append(after, m, strconv.Itoa(scores[m]))
	}
	return quoted(strconv.Itoa(scores[member])), after
}

// act does one thing of a kind to some key.
func (k kind) act(c *client) {
	verbs := make([]string, 0, len(k.lines))
	for verb := range k.lines {
		verbs = append(verbs, verb)
	}
	slices.Sort(verbs)
	key := c.keys[c.rand.IntN(len(c.keys))]
	if k.name == "string" && c.rand.IntN(3) == 0 {
		c.compareAndSet(key)
		return
	}
	verb := verbs[c.rand.IntN(len(verbs))]
	unique, number := fmt.Sprintf("%d-%d", c.id, c.history.clock.Add(1)), c.rand.IntN(3)
	line := fmt.Sprintf(k.lines[verb], key, unique, number)
	done := command{key, verb, []string{unique, fmt.Sprintf("m%d", number)}}
	c.carryOut(done, line)
}

// carryOut says a line and adds what it did to the history.
func (c *client) carryOut(done command, line string) {
	began := c.history.clock.Add(1)
	reply, known := c.execute(line)
	c.note(done, began, reply, known)
}

// note adds what was done to the history.
func (c *client) note(done command, began int64, reply string, known bool) {
	op := porcupine.Operation{ClientId: c.id, Input: done, Call: began, Output: reply, Return: c.history.clock.Add(1)}
	if !known {
		op.Output, op.Return = unknown, forever
	}
	c.history.add(op)
}

// compareAndSet reads a key and writes it in a transaction if nobody else has in
// between. It gives up where a real client would begin again.
func (c *client) compareAndSet(key string) {
	// While slots move it may have another owner when the transaction arrives, and
	// is refused.
	at := "n1"
	if n := c.player.target.(*emulated).cluster.NodeForKey(key); n != nil {
		at = n.Name()
	}
	say := func(line string) string { return strings.TrimSpace(c.player.say(at, line)) }
	began := c.history.clock.Add(1)
	if say("WATCH "+key) != "OK" {
		return
	}
	read := say("GET " + key)
	if strings.HasPrefix(read, "(") && read != none {
		say("UNWATCH")
		return
	}
	c.note(command{key, "get", nil}, began, read, true)
	fresh := fmt.Sprintf("%d-%d", c.id, c.history.clock.Add(1))
	for _, line := range []string{"MULTI", "SET " + key + " " + fresh} {
		if reply := say(line); reply != "OK" && reply != "QUEUED" {
			say("DISCARD")
			return
		}
	}
	began = c.history.clock.Add(1)
	switch reply := say("EXEC"); {
	case reply == none: // somebody else was faster, or the key has left
	case strings.HasPrefix(reply, "(error)"):
	case strings.HasPrefix(reply, "("):
		c.note(command{key, "cas", []string{read, fresh}}, began, "", false)
	default:
		c.note(command{key, "cas", []string{read, fresh}}, began, reply, true)
	}
}

// Every kind of value, under everything that must not lose a write.
func TestHistoriesOfAllKinds(t *testing.T) {
	for _, k := range kinds {
		for name, disturb := range map[string]func(t *testing.T, c *emulator.Cluster, h *history){
			"resharding": reshard, "crash": crash,
		} {
			t.Run(k.name+"/"+name, func(t *testing.T) {
				c := emulator.RunT(t, emulator.Replicas(1))
				h := &history{act: k.act}
				h.perform(t, c, keysOf(moving[:2]...), func() { disturb(t, c, h) })
				k.check(t, h.done)
				k.everyVerbWasUsed(t, h.done)
			})
		}
	}
}

// A failover by hand waits for the replica and loses nothing: what writes, scripts
// and transactions tell of what was there before is one history. Pure reads are left
// out of it, and so are clients that blocked in vain, since a master answers them until
// it has heard that it is none any more, on real servers too, where only writes wait
// for the replica.
func TestHistoriesOfWritesUnderManualFailover(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			c := emulator.RunT(t, emulator.Replicas(1))
			h := &history{act: k.act}
			keys := keysOf(3300, 7365)
			h.perform(t, c, keys, func() {
				for range 3 {
					failOver(t, c, h)
				}
			})
			k.everyVerbWasUsed(t, h.done)
			last := newClient(t, h, c, 99, nil)
			defer last.player.close()
			for _, key := range keys { // what was written last must be seen by something
				k.drain(t, last, key)
			}
			k.check(t, slices.DeleteFunc(h.done, readsOnly))
		})
	}
}

// readsOnly reports whether an operation is one that no pause of writes holds up.
func readsOnly(op porcupine.Operation) bool {
	switch op.Input.(command).verb {
	case "get", "all":
		return true
	case "wait":
		return op.Output == none
	}
	return false
}

// drain ends the history of a key with writes that tell all that it holds.
func (k kind) drain(t *testing.T, c *client, key string) {
	t.Helper()
	if k.name == "string" {
		c.carryOut(command{key, "swap", []string{"the end", ""}}, fmt.Sprintf(`SET %s "the end" GET`, key))
		return
	}
	for {
		began := c.history.clock.Add(1)
		reply, known := c.execute(fmt.Sprintf(k.lines["pop"], key))
		if !known {
			t.Errorf("%s is not drained", key)
		}
		c.note(command{key, "pop", nil}, began, reply, known)
		if !known || reply == none || reply == written() {
			return
		}
	}
}

// check fails the test unless a history is linearizable.
func (k kind) check(t *testing.T, done []porcupine.Operation) {
	t.Helper()
	if verdict := verdictOn(porcupine.CheckOperationsTimeout(k.model(), done, patience), len(done)); verdict != "" {
		t.Error(verdict)
	}
}

// everyVerbWasUsed fails the test if a history says nothing about some command.
func (k kind) everyVerbWasUsed(t *testing.T, done []porcupine.Operation) {
	t.Helper()
	used := map[string]int{}
	for _, op := range done {
		if op.Output != unknown {
			used[op.Input.(command).verb]++
		}
	}
	for verb := range k.lines {
		if used[verb] == 0 {
			t.Errorf("no %s in a history of %d operations", verb, len(done))
		}
	}
	if k.name == "string" && used["cas"] == 0 {
		t.Errorf("no transaction in a history of %d operations", len(done))
	}
}

// The models themselves must be able to say no, each about each of its commands.
func TestTheModelsSeeWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		kind          int
		before        state
		command       command
		reply, broken string
	}{
		{0, state{"1"}, command{"k", "get", nil}, `"1"`, none},
		{0, nil, command{"k", "set", []string{"1"}}, "OK", none},
		{0, state{"1"}, command{"k", "swap", []string{"2"}}, `"1"`, `"2"`},
		{0, state{"1"}, command{"k", "append", nil}, "(integer) 2", "(integer) 1"},
		{0, state{"1"}, command{"k", "cas", []string{`"1"`, "2"}}, "1) OK", none},
		{0, state{"2"}, command{"k", "cas", []string{`"1"`, "3"}}, none, "1) OK"}, // a lost update
		{1, state{"a"}, command{"k", "push", []string{"b"}}, "(integer) 2", "(integer) 1"},
		{1, state{"a", "b"}, command{"k", "pop", nil}, `"a"`, `"b"`},
		{1, state{"a"}, command{"k", "wait", nil}, "1) \"k\"\n2) \"a\"", none}, // not woken
		{1, state{"a", "b"}, command{"k", "all", nil}, "1) \"a\"\n2) \"b\"", "1) \"a\""},
		{1, state{"a", "b"}, command{"k", "rotate", nil}, `"a"`, `"b"`},
		{2, state{"m1", "2"}, command{"k", "incr", []string{"", "m1"}}, `"3"`, `"2"`},
		{2, state{"m1", "1", "m0", "2"}, command{"k", "pop", nil}, "1) \"m0\"\n2) \"2\"", "1) \"m1\"\n2) \"1\""},
		{2, state{"m1", "1"}, command{"k", "wait", nil}, "1) \"k\"\n2) \"m1\"\n3) \"1\"", none},
		{2, state{"m1", "1"}, command{"k", "all", nil}, "1) \"m1\"\n2) \"1\"", "(empty array)"},
		{2, state{"m1", "1"}, command{"k", "lower", nil}, `"m1"`, none},
	} {
		step := kinds[c.kind].model().Step
		if fine, _ := step(c.before, c.command, c.reply); !fine {
			t.Errorf("%v of %v: %q is not accepted", c.command, c.before, c.reply)
		}
		if fine, _ := step(c.before, c.command, c.broken); fine {
			t.Errorf("%v of %v: %q is accepted", c.command, c.before, c.broken)
		}
	}
}
