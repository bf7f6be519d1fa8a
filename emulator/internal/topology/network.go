package topology

import (
	"container/heap"
	"math/rand/v2"
	"slices"
	"sync"
)

// Condition is the state of the way from one node to another.
type Condition struct {
	Cut   bool    // nothing arrives
	Delay int64   // ms until a message arrives
	Loss  float64 // probability that a message does not arrive, 0 to 1
}

// Network carries messages between the nodes of one process and lets their
// time pass. By default everything arrives at once and time costs nothing:
// while all nodes agree and nothing is broken, no heartbeat is exchanged.
//
// Its methods must not be called while a node's guard is held, and by one
// goroutine at a time. Times are Unix milliseconds of the caller's clock.
type Network struct {
	now     int64 // network time
	ahead   int64 // network time minus the caller's
	ticked  int64 // network time of the last ticks
	members []*member
	queue   queue
	sent    uint64
	rand    *rand.Rand
	general Condition
	ways    map[way]Condition
	quiet   bool
	// Trace, when set, sees every message and whether it arrives.
	Trace func(m *Message, to string, arrives bool)
}

type way struct{ from, to *member }

type member struct {
	node   *Node
	guard  sync.Locker
	bus    BusAddr
	dead   bool
	paused bool
	kept   []Message // what arrived while paused
}

func (m *member) running() bool { return !m.dead && !m.paused }

// NewNetwork returns a network without nodes.
func NewNetwork(r *rand.Rand, now int64) *Network {
	return &Network{now: now, ticked: now, rand: r, ways: map[way]Condition{}}
}

// Add connects a node. guard, which may be nil, is held while the network makes
// the node work.
func (w *Network) Add(n *Node, guard sync.Locker) {
	if guard == nil {
		guard = noGuard{}
	}
	guard.Lock()
	n.dial = w.listens
	w.members = append(w.members, &member{node: n, guard: guard, bus: n.Addr().bus()})
	guard.Unlock()
	w.quiet = false
}

type noGuard struct{}

func (noGuard) Lock()   {}
func (noGuard) Unlock() {}

// Remove takes a node off the network as Kill does, for good.
func (w *Network) Remove(id string) {
	w.Kill(id)
	w.members = slices.DeleteFunc(w.members, func(m *member) bool { return m.node.ID() == id })
}

func (w *Network) member(id string) *member {
	for _, m := range w.members {
		if m.node.ID() == id {
			return m
		}
	}
	return nil
}

// with makes a node work and collects what it sends.
func (w *Network) with(m *member, work func(*Node)) {
	m.guard.Lock()
	m.node.ahead = w.ahead
	work(m.node)
	out := m.node.Outbox()
	m.bus = m.node.Addr().bus()
	m.guard.Unlock()
	for i := range out {
		w.post(m, out[i])
	}
}

// post puts a message on its way.
func (w *Network) post(from *member, m Message) {
	to := w.at(m.To)
	if to == nil || to.dead {
		if w.Trace != nil {
			w.Trace(&m, "", false)
		}
		from.guard.Lock()
		from.node.Disconnected(m.To, w.now)
		from.guard.Unlock()
		return
	}
	c := w.condition(from, to)
	if from == to {
		c = Condition{}
	}
	arrives := !c.Cut && (c.Loss == 0 || w.rand.Float64() >= c.Loss)
	if w.Trace != nil {
		w.Trace(&m, to.node.ID(), arrives)
	}
	if arrives {
		w.sent++
		heap.Push(&w.queue, envelope{at: w.now + c.Delay, order: w.sent, to: to, message: m})
	}
}

func (w *Network) at(addr BusAddr) *member {
	for _, m := range w.members {
		if m.bus == addr {
			return m
		}
	}
	return nil
}

func (w *Network) listens(addr BusAddr) bool {
	m := w.at(addr)
	return m != nil && !m.dead
}

func (w *Network) condition(from, to *member) Condition {
	if c, found := w.ways[way{from, to}]; found {
		return c
	}
	return w.general
}

// collect takes the messages that commands left in the nodes.
func (w *Network) collect() {
	for _, m := range w.members {
		if !m.dead {
			w.with(m, func(*Node) {})
		}
	}
}

// deliver hands over what has arrived by now.
func (w *Network) deliver() {
	for len(w.queue) > 0 && w.queue[0].at <= w.now {
		e := heap.Pop(&w.queue).(envelope)
		switch {
		case e.to.dead:
		case e.to.paused:
			e.to.kept = append(e.to.kept, e.message)
		default:
			w.with(e.to, func(n *Node) { n.Receive(&e.message, w.now) })
		}
	}
}

// Run brings the network to a time: nodes tick and messages arrive as they
// would have until then. Call it when time has passed, and after commands that
// concern the cluster, so that what they say is heard.
func (w *Network) Run(now int64) {
	target := max(w.now, now+w.ahead)
	w.collect()
	w.deliver()
	if !w.quiet && w.converged() {
		w.quiet = true
	}
	w.pass(target)
}

// pass lets network time go on until target.
func (w *Network) pass(target int64) {
	for !w.quiet {
		at := w.ticked + TickPeriod
		if len(w.queue) > 0 {
			at = min(at, w.queue[0].at)
		}
		if at > target {
			break
		}
		w.now = max(w.now, at)
		w.deliver()
		if at == w.ticked+TickPeriod {
			w.tick()
		}
	}
	w.now = max(w.now, target)
	if w.quiet {
		w.ticked = w.now
	}
}

func (w *Network) tick() {
	w.ticked += TickPeriod
	for _, m := range w.members {
		if m.running() {
			w.with(m, func(n *Node) { n.Tick(w.now) })
			w.deliver()
		}
	}
	if w.converged() {
		w.quiet = true
	}
}

// Next returns when Run has something to do without anybody calling a command
// or changing the network; ok is false while nothing can happen.
func (w *Network) Next() (at int64, ok bool) {
	if w.quiet {
		return 0, false
	}
	at = w.ticked + TickPeriod
	if len(w.queue) > 0 {
		at = min(at, w.queue[0].at)
	}
	return at - w.ahead, true
}

// Exchange makes all nodes exchange heartbeats until they learn nothing new.
// No time passes.
func (w *Network) Exchange(now int64) {
	w.Run(now)
	w.exchange()
	if w.converged() {
		w.quiet = true
	}
}

func (w *Network) exchange() {
	for range 2 + len(w.members) {
		before := w.changes()
		for _, m := range w.members {
			if m.running() {
				w.with(m, func(n *Node) { n.PingAll(w.now) })
				w.deliver()
			}
		}
		if w.changes() == before {
			return
		}
	}
}

// changes sums up the changes of all views.
func (w *Network) changes() int {
	sum := 0
	for _, m := range w.members {
		m.guard.Lock()
		sum += m.node.changes
		m.guard.Unlock()
	}
	return sum
}

// Settle lets network time run ahead of the caller's clock until nothing
// changes any more: failures are noticed, elections held, claims spread. It
// returns whether all nodes that can reach each other agree.
func (w *Network) Settle(now int64) bool {
	w.Run(now)
	w.exchange()
	if w.converged() {
		w.quiet = true
		return true
	}
	w.quiet = false
	start, before := w.now, w.changes()
	lastChange := start
	for !w.quiet && w.now-start < settleLimit*w.longestTimeout() {
		w.ahead += TickPeriod
		w.pass(w.ticked + TickPeriod)
		if changes := w.changes(); changes != before {
			before, lastChange = changes, w.now
		}
		if w.now-lastChange > settleWindow*w.longestTimeout() {
			break
		}
	}
	return w.quiet
}

const (
	// settleWindow is how many node timeouts without a change mean that there
	// will be none: elections are tried again after four.
	settleWindow = 5
	// settleLimit is how many node timeouts Settle waits at most.
	settleLimit = 40
)

func (w *Network) longestTimeout() int64 {
	longest := int64(minHandshakeTimeout)
	for _, m := range w.members {
		m.guard.Lock()
		longest = max(longest, m.node.Settings.NodeTimeout)
		m.guard.Unlock()
	}
	return longest
}

// Kill stops a node: its links break and nobody can reach it.
func (w *Network) Kill(id string) {
	m := w.member(id)
	if m == nil || m.dead {
		return
	}
	m.dead, m.kept = true, nil
	w.quiet = false
	for _, other := range w.members {
		if other != m && !other.dead {
			w.with(other, func(n *Node) { n.Disconnected(m.bus, w.now) })
		}
	}
}

// Start brings a killed node back, with what it knew.
func (w *Network) Start(id string) {
	if m := w.member(id); m != nil && m.dead {
		m.dead = false
		w.quiet = false
		w.with(m, func(n *Node) { n.Restarted(w.now) })
	}
}

// Pause freezes a node: messages to it wait.
func (w *Network) Pause(id string) {
	if m := w.member(id); m != nil && !m.dead {
		m.paused = true
		w.quiet = false
	}
}

// Resume lets a frozen node go on.
func (w *Network) Resume(id string) {
	m := w.member(id)
	if m == nil || !m.paused {
		return
	}
	m.paused = false
	w.quiet = false
	kept := m.kept
	m.kept = nil
	for i := range kept {
		w.with(m, func(n *Node) { n.Receive(&kept[i], w.now) })
	}
}

// SetCondition changes the way from one node to another, in that direction
// only.
func (w *Network) SetCondition(from, to string, c Condition) {
	a, b := w.member(from), w.member(to)
	if a != nil && b != nil {
		w.ways[way{a, b}] = c
		w.quiet = false
	}
}

// SetGeneralCondition changes all ways that have no condition of their own.
func (w *Network) SetGeneralCondition(c Condition) {
	w.general = c
	w.quiet = false
}

// Partition cuts the ways between nodes of different groups. Nodes that are in
// no group form one together.
func (w *Network) Partition(groups ...[]string) {
	group := func(m *member) int {
		for i, ids := range groups {
			if slices.Contains(ids, m.node.ID()) {
				return i
			}
		}
		return -1
	}
	for _, a := range w.members {
		for _, b := range w.members {
			if c := w.condition(a, b); group(a) != group(b) {
				c.Cut = true
				w.ways[way{a, b}] = c
			}
		}
	}
	w.quiet = false
}

// Heal removes all conditions.
func (w *Network) Heal() {
	clear(w.ways)
	w.general = Condition{}
	w.quiet = false
}

type envelope struct {
	at      int64
	order   uint64
	to      *member
	message Message
}

// queue orders messages by arrival, then by when they were sent.
type queue []envelope

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].order < q[j].order
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push is heap.Interface's.
func (q *queue) Push(x any) { *q = append(*q, x.(envelope)) }

// Pop is heap.Interface's.
func (q *queue) Pop() any {
	old := *q
	e := old[len(old)-1]
	old[len(old)-1] = envelope{}
	*q = old[:len(old)-1]
	return e
}
