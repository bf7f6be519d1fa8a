package topology

import (
	"container/heap"
	"math/rand/v2"
	"slices"
	"sync"
)

// Condition is the state of the way from one node to another. As links are TCP
// connections, messages are never lost on a living link, only late.
type Condition struct {
	// Cut keeps everything from arriving until it ends. While a way is cut, no
	// new link can be opened in the other direction either.
	Cut   bool
	Delay int64   // ms until a message arrives
	Loss  float64 // probability, below 1, that it must be sent once more
}

// A loss is noticed after retransmit at first, and after twice as long every
// further time.
const (
	retransmit    = 200  // ms
	maxRetransmit = 6400 // ms
)

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
	// quiet is set while nothing can happen but heartbeats, which are left out
	// then. seen and changedAt tell when the nodes' views last changed.
	quiet     bool
	seen      int
	changedAt int64
	general   Condition
	ways      map[way]state
	last      map[way]int64 // when the last message on a way arrives
	held      []heldMessage
	// Trace, when set, sees every message when it is sent, and again as late
	// while it waits for a cut to end.
	Trace func(m *Message, to string, late bool)
}

type way struct{ from, to *member }

type state struct {
	Condition
	since int64 // when it was cut
}

type heldMessage struct {
	from, to *member
	message  Message
}

type member struct {
	node  *Node
	guard sync.Locker
	// id and bus are the node's as of when it last worked for the network:
	// the node itself must not be asked without its guard.
	id     string
	bus    BusAddr
	dead   bool
	paused bool
	kept   []Message // what arrived while paused
}

func (m *member) running() bool { return !m.dead && !m.paused }

// NewNetwork returns a network without nodes. r is used by the network only.
func NewNetwork(r *rand.Rand, now int64) *Network {
	return &Network{now: now, ticked: now, changedAt: now, rand: r, ways: map[way]state{}, last: map[way]int64{}}
}

// Add connects a node. guard, which may be nil, is held while the network makes
// the node work.
func (w *Network) Add(n *Node, guard sync.Locker) {
	if guard == nil {
		guard = noGuard{}
	}
	guard.Lock()
	n.ahead = w.ahead
	w.members = append(w.members, &member{node: n, guard: guard, id: n.ID(), bus: n.Addr().bus()})
	guard.Unlock()
	w.wake()
}

type noGuard struct{}

func (noGuard) Lock()   {}
func (noGuard) Unlock() {}

// Remove takes a node off the network as Kill does, for good.
func (w *Network) Remove(id string) {
	w.Kill(id)
	w.members = slices.DeleteFunc(w.members, func(m *member) bool { return m.id == id })
}

func (w *Network) member(id string) *member {
	for _, m := range w.members {
		if m.id == id {
			return m
		}
	}
	return nil
}

// with makes a node work and collects what it sends.
func (w *Network) with(m *member, work func(*Node)) {
	m.guard.Lock()
	n := m.node
	n.ahead, n.dial = w.ahead, w.listens
	work(n)
	n.dial = nil
	out := n.Outbox()
	m.id, m.bus = n.ID(), n.Addr().bus()
	m.guard.Unlock()
	for i := range out {
		w.post(m, out[i])
	}
}

// post puts a message on its way.
func (w *Network) post(from *member, m Message) {
	to := w.at(m.To)
	if to == nil || to.dead {
		from.guard.Lock()
		from.node.Disconnected(m.To, w.now)
		from.guard.Unlock()
		return
	}
	late := w.blocked(from, to, &m)
	if w.Trace != nil {
		w.Trace(&m, to.id, late)
	}
	if late {
		w.hold(from, to, m)
		return
	}
	w.carry(from, to, m)
}

// carry queues a message whose way is free.
func (w *Network) carry(from, to *member, m Message) {
	c := w.state(from, to)
	at := w.now + c.Delay
	for again := int64(retransmit); again < maxRetransmit && c.Loss > 0 && w.rand.Float64() < c.Loss; again *= 2 {
		at += again
	}
	if c.Condition != (Condition{}) || len(w.queue) > 0 {
		// A connection keeps the order.
		at = max(at, w.last[way{from, to}])
		w.last[way{from, to}] = at
	}
	w.sent++
	heap.Push(&w.queue, envelope{at: at, order: w.sent, to: to, message: m})
}

// blocked reports whether m must wait for a cut to end.
func (w *Network) blocked(from, to *member, m *Message) bool {
	if w.state(from, to).Cut {
		return true
	}
	back := w.state(to, from)
	return m.Opened && back.Cut && m.LinkTime >= back.since
}

// hold keeps a message until its way is free. What waits on an older link from
// the same node is lost with that link.
func (w *Network) hold(from, to *member, m Message) {
	w.held = slices.DeleteFunc(w.held, func(h heldMessage) bool {
		return m.Opened && h.from == from && h.message.Opened && h.message.Link == m.Link && h.message.LinkTime < m.LinkTime
	})
	w.held = append(w.held, heldMessage{from, to, m})
}

// release sends on what is no longer blocked, after conditions changed.
func (w *Network) release() {
	w.wake()
	held := w.held
	w.held = nil
	for _, h := range held {
		switch {
		case h.from.dead || h.to.dead:
		case w.blocked(h.from, h.to, &h.message):
			w.held = append(w.held, h)
		default:
			w.carry(h.from, h.to, h.message)
		}
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

func (w *Network) state(from, to *member) state {
	if from == to {
		return state{}
	}
	if s, found := w.ways[way{from, to}]; found {
		return s
	}
	return state{Condition: w.general}
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
// concern the cluster: unless ways are disturbed, all nodes then know at once
// what heartbeats would have told them a little later.
func (w *Network) Run(now int64) {
	target := max(w.now, now+w.ahead)
	w.collect()
	w.deliver()
	if w.look() {
		w.wake()
		if w.undisturbed() {
			w.exchange()
		}
	}
	w.rest()
	w.pass(target)
}

// look reports whether a view changed since the last look.
func (w *Network) look() bool {
	changes := 0
	for _, m := range w.members {
		m.guard.Lock()
		changes += m.node.changes
		m.guard.Unlock()
	}
	if changes == w.seen {
		return false
	}
	w.seen, w.changedAt = changes, w.now
	return true
}

// wake makes time count again.
func (w *Network) wake() {
	if w.quiet {
		w.tellResting(false)
	}
	w.quiet, w.changedAt = false, w.now
}

// rest makes the network quiet when there is nothing to be done.
func (w *Network) rest() {
	if !w.quiet && (w.converged() || w.stuck()) {
		w.quiet = true
		w.tellResting(true)
	}
}

func (w *Network) tellResting(resting bool) {
	for _, m := range w.members {
		m.guard.Lock()
		m.node.resting = resting && m.running()
		m.guard.Unlock()
	}
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
	w.look()
	w.rest()
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

// Exchange makes all nodes exchange heartbeats until they learn nothing new,
// so that the times and replication offsets they tell of each other are those
// of now. No time passes.
func (w *Network) Exchange(now int64) {
	w.Run(now)
	w.exchange()
	w.rest()
}

func (w *Network) exchange() {
	for range 2 + len(w.members) {
		for _, m := range w.members {
			if m.running() {
				w.with(m, func(n *Node) { n.PingAll(w.now) })
				w.deliver()
			}
		}
		if !w.look() {
			return
		}
	}
}

// Settle lets network time run ahead of the caller's clock until nothing
// changes any more: failures are noticed, elections held, claims spread. It
// returns whether all running nodes agree then; they cannot while a way is
// cut.
func (w *Network) Settle(now int64) bool {
	w.Run(now)
	w.exchange()
	w.wake()
	w.rest()
	for limit := w.now + settleLimit*w.longestTimeout(); !w.quiet && w.now < limit; {
		w.ahead += TickPeriod
		w.pass(w.ticked + TickPeriod)
	}
	return w.converged()
}

// Skip lets network time run ahead of the caller's clock by so many
// milliseconds more.
func (w *Network) Skip(now, ms int64) {
	w.Run(now)
	w.ahead += ms
	w.pass(w.now + ms)
	w.collect()
}

const (
	// stuckAfter is how many node timeouts, and milliseconds more, without a
	// change mean that there will be none: elections are tried again after four
	// timeouts, and no other wait is longer than stuckMore.
	stuckAfter = 5
	stuckMore  = 10_000
	// settleLimit is how many node timeouts Settle waits at most.
	settleLimit = 40
)

// stuck reports whether time alone will change nothing any more.
func (w *Network) stuck() bool {
	if len(w.queue) > 0 || w.now-w.changedAt <= stuckAfter*w.longestTimeout()+stuckMore {
		return false
	}
	for _, m := range w.members {
		m.guard.Lock()
		waits := m.running() && m.node.waits()
		m.guard.Unlock()
		if waits {
			return false
		}
	}
	return true
}

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
	w.held = slices.DeleteFunc(w.held, func(h heldMessage) bool { return h.from == m || h.to == m })
	w.wake()
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
		w.wake()
		w.with(m, func(n *Node) { n.Restarted(w.now) })
	}
}

// Pause freezes a node: messages to it wait.
func (w *Network) Pause(id string) {
	if m := w.member(id); m != nil && !m.dead {
		m.paused = true
		w.wake()
	}
}

// Resume lets a frozen node go on.
func (w *Network) Resume(id string) {
	m := w.member(id)
	if m == nil || !m.paused {
		return
	}
	m.paused = false
	w.wake()
	kept := m.kept
	m.kept = nil
	for i := range kept {
		w.with(m, func(n *Node) { n.Receive(&kept[i], w.now) })
	}
}

// SetCondition changes the way from one node to another, in that direction
// only.
func (w *Network) SetCondition(from, to string, c Condition) {
	if a, b := w.member(from), w.member(to); a != nil && b != nil {
		w.set(a, b, c)
		w.release()
	}
}

func (w *Network) set(from, to *member, c Condition) {
	old := w.state(from, to)
	s := state{Condition: c, since: old.since}
	if c.Cut && !old.Cut {
		s.since = w.now
	}
	w.ways[way{from, to}] = s
}

// Condition is the state of the way from one node to another.
func (w *Network) Condition(from, to string) Condition {
	a, b := w.member(from), w.member(to)
	if a == nil || b == nil {
		return Condition{}
	}
	return w.state(a, b).Condition
}

// SetGeneralCondition changes all ways that have no condition of their own.
func (w *Network) SetGeneralCondition(c Condition) {
	w.general = c
	w.release()
}

// Partition cuts the ways between nodes of different groups. Nodes that are in
// no group form one together.
func (w *Network) Partition(groups ...[]string) {
	group := func(m *member) int {
		return slices.IndexFunc(groups, func(ids []string) bool { return slices.Contains(ids, m.id) })
	}
	for _, a := range w.members {
		for _, b := range w.members {
			if group(a) != group(b) {
				c := w.state(a, b).Condition
				c.Cut = true
				w.set(a, b, c)
			}
		}
	}
	w.wake()
}

// Heal removes all conditions: what had to wait arrives.
func (w *Network) Heal() {
	clear(w.ways)
	w.general = Condition{}
	w.release()
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
