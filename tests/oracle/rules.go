package oracle

import (
	"fmt"
	"slices"
	"strings"
)

// rule says what a command's replies may differ in. The zero rule forgives
// nothing.
type rule struct {
	// same judges two replies that are not equal and of which neither is an
	// error. Nil means they had to be equal.
	same func(*check) bool
	// probes are commands sent just before, whose replies on the real side same
	// can consult.
	probes func(x *Runner, args []string) [][]string
	// alone keeps the command out of batches.
	alone bool
	// sameError judges two errors that are not equal.
	sameError func(*check) bool
	// rejoin makes the two sides' states equal again after a random choice.
	rejoin func(x *Runner, e entry, a, b Reply) error
}

// check is one comparison under a rule.
type check struct {
	x      *Runner
	args   []string
	a, b   Reply
	probes []Reply // the real side's replies to the rule's probes; nil inside MULTI
	note   string  // what a rule for long texts found different
}

// compare returns what differs between two sides' replies to one command, or
// "" when they agree.
func (x *Runner) compare(e entry, a, b []Reply, probes []Reply) string {
	name := commandName(e.args)
	if x.ignored[name] {
		return ""
	}
	if listens[name] {
		a, b = orderUnsubscribed(e.args, a), orderUnsubscribed(e.args, b)
	}
	if e.fenced != "" {
		a, b = orderPatterns(a), orderPatterns(b)
	}
	if len(a) != len(b) {
		return "number of replies"
	}
	for i := range a {
		c := check{x: x, args: e.args, a: a[i], b: b[i], probes: probes}
		if i == len(a)-1 && name == "EXEC" && x.sameExec(e.pair, &c) {
			continue
		}
		if !c.ok() {
			return "reply" + c.note
		}
	}
	return ""
}

func (c *check) ok() bool {
	if c.a.Kind == kindMissing || c.b.Kind == kindMissing {
		return false // no reply on both sides is a step that waits in vain
	}
	if c.a.equal(c.b) || c.x.ignored[commandName(c.args)] {
		return true
	}
	c.a, c.b = c.x.a.named(c.a), c.x.b.named(c.b)
	if c.a.equal(c.b) {
		return true
	}
	rule := ruleFor(commandName(c.args))
	if c.a.isError() || c.b.isError() {
		return c.a.isError() && c.b.isError() && rule.sameError != nil && rule.sameError(c)
	}
	same := rule.same
	return same != nil && same(c)
}

// sameExec compares EXEC's replies under the rules of the queued commands.
func (x *Runner) sameExec(p *pair, c *check) bool {
	if c.a.Kind != '*' || c.b.Kind != '*' || len(c.a.Items) != len(p.queued) || len(c.b.Items) != len(p.queued) {
		return false
	}
	for i, args := range p.queued {
		inner := check{x: x, args: args, a: c.a.Items[i], b: c.b.Items[i]}
		if !inner.ok() {
			c.note = fmt.Sprintf(" %d%s", i+1, inner.note)
			return false
		}
	}
	return true
}

func (x *Runner) probesFor(args []string) [][]string {
	if probes := ruleFor(commandName(args)).probes; probes != nil {
		return probes(x, args)
	}
	return nil
}

// ruleFor finds the rule of a command, or of its container.
func ruleFor(name string) rule {
	r, found := rules[name]
	if !found {
		container, _, _ := strings.Cut(name, " ")
		r = rules[container]
	}
	return r
}

// rules is filled by init because rejoin functions lead back to it.
var rules map[string]rule

func init() {
	rules = map[string]rule{
		// The order of a hash table is Redis' own affair, that of a listpack or
		// intset is not.
		"SMEMBERS": {same: unorderedIfHashed, probes: encodingsOf(1, 2)},
		"SINTER":   {same: unorderedIfHashed, probes: encodingsOf(1, -1)},
		"SUNION":   {same: unordered},
		"SDIFF":    {same: unordered},
		"HKEYS":    {same: unorderedIfHashed, probes: encodingsOf(1, 2)},
		"HVALS":    {same: unorderedIfHashed, probes: encodingsOf(1, 2)},
		"HGETALL":  {same: unorderedPairsIfHashed, probes: encodingsOf(1, 2)},
		"SORT":     {same: unsortedSet, probes: encodingsOf(1, 2)},
		"SORT_RO":  {same: unsortedSet, probes: encodingsOf(1, 2)},
		"DUMP":     {same: dumpOfHashed, probes: encodingsOf(1, 2)},
		"KEYS":     {same: unordered},

		// Over different scores a lex range is what a skiplist's random levels
		// make of it.
		"ZLEXCOUNT":      {same: lexOfScores, probes: encodingsOf(1, 2)},
		"ZRANGE":         {same: lexOfScores, probes: encodingsOf(1, 2)},
		"ZRANGEBYLEX":    {same: lexOfScores, probes: encodingsOf(1, 2)},
		"ZREVRANGEBYLEX": {same: lexOfScores, probes: encodingsOf(1, 2)},
		"SCAN":           {same: oneScan},
		"SSCAN":          {same: oneScanIfHashed, probes: encodingsOf(1, 2)},
		"HSCAN":          {same: oneScanIfHashed, probes: encodingsOf(1, 2)},
		"ZSCAN":          {same: oneScanIfHashed, probes: encodingsOf(1, 2)},

		"CLUSTER GETKEYSINSLOT": {same: unordered},

		// Random choices.
		"RANDOMKEY":   {same: randomMember, probes: wholeKeyspace},
		"SRANDMEMBER": {same: randomMember, probes: contentOf("SMEMBERS")},
		"SPOP":        {same: randomMember, probes: contentOf("SMEMBERS"), alone: true, rejoin: rejoinPopped},
		"HRANDFIELD":  {same: randomMember, probes: contentOf("HGETALL")},
		"ZRANDMEMBER": {same: randomMember, probes: contentOf("ZRANGE", "0", "-1", "WITHSCORES")},

		// Time.
		"TTL":             {same: within(2)},
		"PTTL":            {same: within(2000)},
		"EXPIRETIME":      {same: within(2)},
		"PEXPIRETIME":     {same: within(2000)},
		"OBJECT IDLETIME": {same: idleTime, probes: refcount},
		"OBJECT FREQ":     {same: within(5)},
		"TIME":            {same: sameShape},
		"LASTSAVE":        {same: sameShape},
		"XADD":            {same: sameShape}, // an ID of *
		"XREAD":           {same: streamTimes},
		"XREADGROUP":      {same: streamTimes},
		"XPENDING":        {same: pendingTimes},
		"XINFO":           {same: streamTimes},

		// The server about itself.
		"CLIENT ID":           {same: sameShape},
		"CLIENT TRACKINGINFO": {same: maskedFields("redirect")},
		"CLIENT GETREDIR":     {same: sameShape},
		"CLIENT LIST":         {same: clientLines},
		"CLIENT INFO":         {same: clientLines},
		"HELLO":               {same: maskedFields("id")},
		"CONFIG GET":          {same: configPairs},
		"INFO":                {same: infoText},
		"COMMAND":             {same: commandTable},
		"COMMAND DOCS":        {same: commandDocs},
		"COMMAND LIST":        {same: unordered},
		"COMMAND COUNT":       {same: sameShape},
		"ACL GETUSER":         {same: aclRules},
		"ACL LIST":            {same: aclRules},
		"ACL CAT":             {same: unordered},
		"ACL GENPASS":         {same: sameShape},
		"ACL LOG":             {same: maskedFields("age-seconds", "client-info", "entry-id", "timestamp-created", "timestamp-last-updated")},
		"FUNCTION LIST":       {same: functionList},
		"FUNCTION DUMP":       {same: sameLength}, // libraries in the order of a hash table
		"FUNCTION RESTORE":    {sameError: sameButNames},
		"FUNCTION LOAD":       {sameError: sameButNames},
		"LATENCY HISTOGRAM":   {same: histograms},
		"MEMORY USAGE":        {same: memoryUsage, probes: encodingsOf(2, 3)},
		"MEMORY STATS":        {same: sameFieldNames},
		"MEMORY DOCTOR":       {same: sameShape},
		"MEMORY MALLOC-STATS": {same: func(*check) bool { return true }}, // the allocator's own words, if it has any
		"DEBUG OBJECT":        {same: debugObject},
		"SLOWLOG LEN":         {same: sameShape}, // what is slow is chance
		"SLOWLOG GET":         {same: slowlogEntries},
		"LATENCY":             {same: sameShape},
		"LATENCY LATEST":      {same: sameKind}, // what was slow is the machine's doing

		"LOLWUT":               {same: sameLastLine},
		"PUBSUB CHANNELS":      {same: unordered},
		"PUBSUB SHARDCHANNELS": {same: unordered},

		"CLUSTER NODES":     {same: clusterNodes},
		"CLUSTER REPLICAS":  {same: clusterNodes},
		"CLUSTER SLAVES":    {same: clusterNodes},
		"CLUSTER SLOTS":     {same: clusterSlots},
		"CLUSTER SHARDS":    {same: clusterShards},
		"CLUSTER INFO":      {same: clusterInfo},
		"CLUSTER LINKS":     {same: clusterLinks},
		"CLUSTER MYSHARDID": {same: sameShape},

		// These touch a second node, or other connections.
		"MIGRATE":      {alone: true},
		"CLIENT KILL":  {alone: true},
		"CLIENT PAUSE": {alone: true},
		"QUIT":         {alone: true},
		"RESET":        {alone: true},
		"SUBSCRIBE":    {alone: true},
	}
}

// encodingsOf probes the encoding of the arguments from..to.
func encodingsOf(from, to int) func(*Runner, []string) [][]string {
	return func(_ *Runner, args []string) [][]string {
		if to >= 0 {
			args = args[:min(to, len(args))]
		}
		var probes [][]string
		for _, key := range args[min(from, len(args)):] {
			probes = append(probes, []string{"OBJECT", "ENCODING", key})
		}
		return probes
	}
}

// wholeKeyspace probes the names of all keys, after a SCAN that removes the
// expired ones: RANDOMKEY would remove those it happens to meet.
func wholeKeyspace(*Runner, []string) [][]string {
	return [][]string{{"SCAN", "0", "COUNT", "1000000"}, {"KEYS", "*"}}
}

// contentOf probes the content of the first argument.
func contentOf(command string, rest ...string) func(*Runner, []string) [][]string {
	return func(_ *Runner, args []string) [][]string {
		if len(args) < 2 {
			return nil
		}
		return [][]string{append([]string{command, args[1]}, rest...)}
	}
}

// hashed reports whether order is open: some key probed is a hash table, or
// nothing was probed.
func (c *check) hashed() bool {
	if len(c.probes) == 0 || c.forbidden() {
		return true
	}
	return slices.ContainsFunc(c.probes, func(r Reply) bool { return r.Text == "hashtable" || r.Text == "skiplist" })
}

// forbidden reports whether the user may not ask what the rule wants to know.
func (c *check) forbidden() bool {
	return slices.ContainsFunc(c.probes, func(r Reply) bool { return strings.HasPrefix(r.Text, "NOPERM") })
}

func unorderedIfHashed(c *check) bool { return c.hashed() && unordered(c) }

func unorderedPairsIfHashed(c *check) bool { return c.hashed() && unorderedPairs(c) }

// unordered compares two aggregates as multisets.
func unordered(c *check) bool {
	a, b := c.a, c.b
	a.Items, b.Items = slices.Clone(a.Items), slices.Clone(b.Items)
	sortReplies(a.Items)
	sortReplies(b.Items)
	return a.equal(b)
}

// unorderedPairs compares two flat lists of names and values, or maps.
func unorderedPairs(c *check) bool { return sortedPairs(c.a).equal(sortedPairs(c.b)) }

func sortReplies(items []Reply) {
	slices.SortFunc(items, func(a, b Reply) int { return strings.Compare(a.key(), b.key()) })
}

// sortedPairs orders a flat list of names and values by name.
func sortedPairs(r Reply) Reply {
	var pairs []Reply
	for pair := range slices.Chunk(r.Items, 2) {
		pairs = append(pairs, Reply{Kind: '*', Items: pair})
	}
	sortReplies(pairs)
	r.Items = nil
	for _, pair := range pairs {
		r.Items = append(r.Items, pair.Items...)
	}
	return r
}

// sameShape accepts any text of the same type.
func sameShape(c *check) bool { return shape(c.a).equal(shape(c.b)) }

func shape(r Reply) Reply {
	return r.transform(func(r Reply) Reply {
		if !r.isAggregate() {
			r.Text = ""
		}
		return r
	})
}

// within accepts two times that are no further apart than slack, in the unit of
// the command; negative ones have a meaning and must be equal.
func within(slack int64) func(*check) bool {
	return func(c *check) bool {
		a, okA := c.a.number()
		b, okB := c.b.number()
		return okA && okB && c.a.Kind == c.b.Kind && a >= 0 && b >= 0 && max(a, b)-min(a, b) <= slack
	}
}

// unsortedSet forgives what SORT … BY over a hash table leaves open: all of the
// order with a constant pattern, the order of equal weights with another.
func unsortedSet(c *check) bool {
	by := slices.ContainsFunc(c.args, func(arg string) bool { return strings.EqualFold(arg, "BY") })
	return by && c.hashed() && c.a.Kind == c.b.Kind && len(c.a.Items) == len(c.b.Items)
}

// dumpOfHashed forgives the order of elements inside a dump, and the times of a
// stream's consumers.
func dumpOfHashed(c *check) bool {
	timed := slices.ContainsFunc(c.probes, func(r Reply) bool { return r.Text == "stream" })
	return (c.hashed() || timed) && len(c.a.Text) == len(c.b.Text)
}

// lexOfScores forgives lex ranges over a skiplist unless its key is one of
// those that have only one score.
func lexOfScores(c *check) bool {
	lex := strings.Contains(strings.ToUpper(c.args[0]), "LEX") ||
		slices.ContainsFunc(c.args, func(arg string) bool { return strings.EqualFold(arg, "BYLEX") })
	return lex && c.hashed() && c.a.Kind == c.b.Kind && !strings.HasPrefix(c.args[1], "y")
}

// refcount probes whether a key holds one of the integers all keys share.
func refcount(_ *Runner, args []string) [][]string {
	if len(args) < 3 {
		return nil
	}
	return [][]string{{"OBJECT", "REFCOUNT", args[2]}}
}

// idleTime forgives two seconds, and all of it for a shared integer, which is
// as idle as the last key that used it.
func idleTime(c *check) bool {
	shared := len(c.probes) == 0 || c.probes[0].Text == "2147483647"
	return shared && sameShape(c) || within(2)(c)
}
