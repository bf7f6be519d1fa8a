package oracle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// sessionLength is the number of steps after which both sides are reset.
const sessionLength = 1000

// Generator makes random sessions from the grammar. The same seed makes the
// same sessions.
type Generator struct {
	rnd           *rand.Rand
	cluster       bool
	resp3         bool
	notifications bool
	families      []*family

	// Of the session being made.
	weights []float64
	steps   []Step
	notify  bool  // connection listenerConn receives keyspace events
	guests  []int // of loginConn and trackingConn those in use
	evicts  bool  // a maxmemory would evict keys

	// Of the command being made.
	current *family
	tag     string // "{a}", or "" on a standalone server
	scatter bool   // keys of this command may have different tags
	numkeys int    // of the last <keys#>
	expires bool   // some key of it is about to expire
}

// blockingFamily begins the names of families whose commands may block.
const blockingFamily = "blocking"

// keyless is the key type of families whose commands have no keys.
const keyless = "none"

// Connections of a session: most commands use mainConn.
const (
	mainConn       = 1
	secondConn     = 2
	loginConn      = 6 // logs in as the users of the family acl
	trackingConn   = 7 // keeps a client side cache
	subscriberConn = 8
	listenerConn   = 9
	redirectConn   = 10 // gets trackingConn's messages in RESP2
)

// ownConn are the families whose commands go over a connection of their own.
var ownConn = map[string]int{
	"login": loginConn, "tracking": trackingConn, "redirected": redirectConn, "subscribing": subscriberConn,
}

// firstBlocker is the first of the connections used for blocking commands.
const (
	firstBlocker = 3
	blockers     = 3
)

// NewGenerator returns a generator over the chosen families: those named, all
// but those named with a minus, all if none is named. The pseudo family
// "notifications" stands for keyspace events.
func NewGenerator(seed uint64, cluster, resp3 bool, chosen []string) (*Generator, error) {
	families, err := loadGrammar()
	if err != nil {
		return nil, err
	}
	g := &Generator{rnd: rand.New(rand.NewPCG(seed, 0)), cluster: cluster, resp3: resp3}
	for _, f := range families {
		if isChosen(f.name, chosen) {
			g.families = append(g.families, f)
		}
	}
	if len(g.families) == 0 {
		return nil, fmt.Errorf("no family among %q; there are %q", chosen, familyNames(families))
	}
	g.notifications = isChosen("notifications", chosen)
	return g, nil
}

func isChosen(name string, chosen []string) bool {
	named := false
	for _, c := range chosen {
		if c == name || c == "-"+name {
			return c == name
		}
		named = named || !strings.HasPrefix(c, "-")
	}
	return !named
}

func (g *Generator) chance(p float64) bool { return g.rnd.Float64() < p }

func (g *Generator) pick(from ...string) string { return from[g.rnd.IntN(len(from))] }

// repetitions is how often a repeated part is repeated beyond its minimum:
// mostly a few times, rarely enough to cross an encoding's limits.
func (g *Generator) repetitions() int {
	switch {
	case g.chance(0.004):
		return 100 + g.rnd.IntN(500)
	case g.chance(0.1):
		return g.rnd.IntN(12)
	}
	return g.rnd.IntN(4)
}

// word sometimes writes a literal in other letters: Redis ignores case.
func (g *Generator) word(s string) string {
	if g.chance(0.05) {
		return strings.ToLower(s)
	}
	return s
}

// Session makes the steps of one session.
func (g *Generator) Session() []Step {
	g.steps = nil
	g.chooseFamilies()
	g.prelude()
	for nextSnapshot := 200; len(g.steps) < sessionLength; {
		g.next()
		if len(g.steps) > nextSnapshot {
			g.add(Step{Verb: vSnapshot, Conn: snapshotConn, Node: routeByKey})
			nextSnapshot = len(g.steps) + 200
		}
	}
	g.add(Step{Verb: vSnapshot, Conn: snapshotConn, Node: routeByKey})
	return g.steps
}

func (g *Generator) add(s Step) { g.steps = append(g.steps, s) }

// chooseFamilies gives a session two favourite families, so that deep states
// are reached, and keeps all others possible.
func (g *Generator) chooseFamilies() {
	g.weights = make([]float64, len(g.families))
	for i := range g.weights {
		g.weights[i] = 1
	}
	for range 2 {
		g.weights[g.rnd.IntN(len(g.weights))] += float64(len(g.weights))
	}
	resharding := g.cluster && g.chance(0.25)
	login, tracking := g.chance(0.3), g.chance(0.3)
	g.guests = g.guests[:0]
	for i, f := range g.families {
		switch {
		case f.name == "login":
			g.weights[i] = g.invite(login, loginConn)
		case f.name == "tracking":
			g.weights[i] = g.invite(tracking, trackingConn)
		case f.name == "redirected" && !tracking:
			g.weights[i] = 0
		case strings.HasPrefix(f.name, blockingFamily): // every one costs a pause
			g.weights[i] = 0.3
		case f.name == "resharding" && !resharding: // ASK and TRYAGAIN crowd out the rest
			g.weights[i] = 0
		case f.name == "resharding":
			g.weights[i] = 2
		}
	}
}

// invite lets a connection take part in a session, or not, and returns the
// weight of its own family.
func (g *Generator) invite(coming bool, conn int) float64 {
	if !coming {
		return 0
	}
	g.guests = append(g.guests, conn)
	return 2
}

// prelude sets the parameters of a session: small encodings half of the time,
// keyspace events a quarter of it.
func (g *Generator) prelude() {
	nodes := 1
	if g.cluster {
		nodes = Masters
	}
	small := g.chance(0.5)
	g.evicts = g.chance(0.1)
	g.notify = g.chance(0.25) && g.notifications
	for node := range nodes {
		// Which command is slow is the machine's doing.
		g.add(Step{Conn: mainConn, Node: node, Args: []string{"CONFIG", "SET", "slowlog-log-slower-than", "-1"}})
		if small {
			g.add(Step{Conn: mainConn, Node: node, Args: []string{
				"CONFIG", "SET", "hash-max-listpack-entries", "4", "hash-max-listpack-value", "12",
				"zset-max-listpack-entries", "4", "zset-max-listpack-value", "12", "set-max-intset-entries", "4",
				"list-max-listpack-size", "3", "stream-node-max-entries", "3", "hll-sparse-max-bytes", "100"}})
		}
		if g.evicts {
			g.add(Step{Conn: mainConn, Node: node, Args: []string{"CONFIG", "SET", "maxmemory-policy", "allkeys-lfu"}})
		}
		if g.notify {
			g.add(Step{Conn: mainConn, Node: node, Args: []string{"CONFIG", "SET", "notify-keyspace-events", g.pick("KEA", "KEAnm", "Eg$x", "Klshz")}})
			g.add(Step{Conn: listenerConn, Node: node, Args: []string{"PSUBSCRIBE", "__key*__:*"}})
		}
	}
}

// next adds one command, or a few that belong together.
func (g *Generator) next() {
	g.tag, g.scatter = "", false
	if g.cluster {
		g.tag = "{" + g.pick(clusterTags...) + "}"
		g.scatter = g.chance(0.06)
	}
	conn := mainConn
	if g.chance(0.05) {
		conn = secondConn
	}
	switch {
	case g.chance(0.02):
		g.transaction(conn)
	case g.chance(0.01):
		g.fullScan(conn)
	case g.chance(0.002) && !g.evicts:
		g.outOfMemory(conn)
	case len(g.guests) > 0 && g.chance(0.1):
		g.current = g.chooseFamily()
		g.addQueueable(g.guests[g.rnd.IntN(len(g.guests))], g.nodeFor())
	default:
		g.current = g.chooseFamily()
		switch {
		case strings.HasPrefix(g.current.name, blockingFamily):
			conn = firstBlocker + g.rnd.IntN(blockers)
		case ownConn[g.current.name] != 0:
			conn = ownConn[g.current.name]
		case g.cluster && g.chance(0.02):
			g.asked(conn)
			return
		}
		g.addCommand(conn, g.nodeFor())
	}
}

func (g *Generator) chooseFamily() *family {
	total := 0.0
	for _, w := range g.weights {
		total += w
	}
	at := g.rnd.Float64() * total
	for i, w := range g.weights {
		if at -= w; at < 0 {
			return g.families[i]
		}
	}
	return g.families[len(g.families)-1]
}

// nodeFor routes most commands by their key and some to any node, which must
// redirect.
func (g *Generator) nodeFor() int {
	switch {
	case g.current.name == "resharding": // a node must not migrate to itself
		return g.homeNode()
	case g.current.name == "cluster" && g.cluster && g.chance(0.5):
		return g.rnd.IntN(Masters)
	case g.current.keyType == keyless, g.current.name == "functions", g.current.name == "tracking":
		return g.homeNode()
	}
	if g.cluster && g.chance(0.05) {
		return g.rnd.IntN(Masters)
	}
	return routeByKey
}

// homeNode is the node that owns the keys of the current tag.
func (g *Generator) homeNode() int {
	if !g.cluster {
		return 0
	}
	return owner(g.tag)
}

// addCommand adds one command of the current family, and the pause after
// which what it lets expire has expired.
func (g *Generator) addCommand(conn, node int) {
	g.expires = false
	args := g.command()
	g.add(Step{Conn: conn, Node: node, Args: args})
	g.addPause()
	if strings.EqualFold(args[0], "XADD") && slices.Contains(args, "*") {
		// Its ID is the clock's; the key must not live on with different content.
		g.add(Step{Conn: conn, Node: node, Args: []string{"DEL", args[1]}})
	}
}

func (g *Generator) addPause() {
	if g.expires {
		g.add(Step{Verb: vSleep, Conn: mainConn, Node: routeByKey, Pause: 2 * time.Millisecond})
	}
	g.expires = false
}

func (g *Generator) command() []string {
	f := g.current.choose(g)
	args := f.body.emit(g, nil)
	if !f.fixed && g.chance(0.07) {
		args = g.mutate(args)
	}
	return args
}

func (f *family) choose(g *Generator) form {
	at := g.rnd.IntN(f.weight)
	for _, form := range f.forms {
		if at -= form.weight; at < 0 {
			return form
		}
	}
	return f.forms[len(f.forms)-1]
}

// mutate breaks a command: an argument lost, doubled, swapped, replaced or
// invented.
func (g *Generator) mutate(args []string) []string {
	args = slices.Clone(args)
	if len(args) == 1 {
		return append(args, g.junk())
	}
	at := 1 + g.rnd.IntN(len(args)-1)
	switch g.rnd.IntN(6) {
	case 0:
		return slices.Delete(args, at, at+1)
	case 1:
		return slices.Insert(args, at, args[at])
	case 2:
		other := 1 + g.rnd.IntN(len(args)-1)
		args[at], args[other] = args[other], args[at]
		return args
	case 3:
		return append(args, g.junk())
	case 4:
		return args[:at]
	}
	args[at] = g.junk()
	return args
}

func (g *Generator) junk() string {
	return g.pick("", "0", "1", "-1", "2", "abc", "1.5", "nan", "inf", "9223372036854775807", "-9223372036854775808",
		"99999999999999999999", "NX", "XX", "COUNT", "LIMIT", "WITHSCORES", "\x00\xff", "*", "-", "+", "(1", "[a", g.key("any"))
}

// transaction adds MULTI, a few commands and EXEC, sometimes under WATCH.
func (g *Generator) transaction(conn int) {
	node := g.homeNode()
	if g.cluster && g.chance(0.03) {
		node = g.rnd.IntN(Masters)
	}
	send := func(args ...string) { g.add(Step{Conn: conn, Node: node, Args: args}) }
	watched := g.chance(0.4)
	if watched {
		g.current = g.families[g.rnd.IntN(len(g.families))]
		send("WATCH", g.key("any"), g.key("any"))
		for range g.rnd.IntN(3) {
			g.current = g.chooseFamily()
			g.addQueueable(mainConn+secondConn-conn, node) // the other of the two
		}
	}
	send("MULTI")
	expires := false
	for range g.rnd.IntN(6) {
		g.current = g.chooseFamily()
		g.expires = false
		g.addQueueable(conn, node)
		expires = expires || g.expires
	}
	if g.chance(0.1) {
		send(g.pick("MULTI", "WATCH x", "DISCARD", "UNWATCH", "NOSUCHCOMMAND", "EXEC now", "PING"))
	}
	send("EXEC")
	g.expires = expires
	g.addPause()
}

// addQueueable adds a command whose reply is not random: inside EXEC the
// sides could not be brought together again.
func (g *Generator) addQueueable(conn, node int) {
	for {
		args := g.command()
		name := commandName(args)
		unfit := strings.HasPrefix(g.current.name, blockingFamily) || ownConn[g.current.name] != 0 || ruleFor(name).rejoin != nil || ruleFor(name).alone || listens[name]
		elsewhere := g.current.name == "pubsub" && node != g.homeNode() // its messages would arrive when they please
		if unfit || elsewhere || name == "HELLO" || name == "XADD" && slices.Contains(args, "*") {
			g.current = g.chooseFamily()
			continue
		}
		g.add(Step{Conn: conn, Node: node, Args: args})
		return
	}
}

// asked adds a command behind ASKING, to any node.
func (g *Generator) asked(conn int) {
	node := g.rnd.IntN(Masters)
	g.add(Step{Conn: conn, Node: node, Args: []string{"ASKING"}})
	g.addQueueable(conn, node)
}

// outOfMemory adds commands to a node that refuses what could take memory.
func (g *Generator) outOfMemory(conn int) {
	node := g.homeNode()
	limit := func(bytes string) {
		g.add(Step{Conn: conn, Node: node, Args: []string{"CONFIG", "SET", "maxmemory", bytes}})
	}
	limit("1")
	for range 5 + g.rnd.IntN(20) {
		if g.chance(0.1) {
			g.transaction(conn)
			continue
		}
		g.current = g.chooseFamily()
		g.addQueueable(conn, g.nodeFor())
	}
	limit("0")
}

func (g *Generator) fullScan(conn int) {
	count := strconv.Itoa(1 + g.rnd.IntN(20))
	switch g.rnd.IntN(4) {
	case 0:
		node := 0
		if g.cluster {
			node = g.rnd.IntN(Masters)
		}
		g.add(Step{Verb: vScanAll, Conn: conn, Node: node, Args: []string{"SCAN", "0", "COUNT", count}})
	case 1:
		g.add(Step{Verb: vScanAll, Conn: conn, Node: routeByKey, Args: []string{"SSCAN", g.key("set"), "0", "COUNT", count}})
	case 2:
		g.add(Step{Verb: vScanAll, Conn: conn, Node: routeByKey, Args: []string{"HSCAN", g.key("hash"), "0", "COUNT", count, "MATCH", "*"}})
	case 3:
		g.add(Step{Verb: vScanAll, Conn: conn, Node: routeByKey, Args: []string{"ZSCAN", g.key("zset"), "0", "COUNT", count}})
	}
}
