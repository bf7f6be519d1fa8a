package oracle

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Difference is the first point where the two sides disagree.
type Difference struct {
	Index int  // of the step in the list that was run
	Step  Step // what was sent; may be one command out of a snapshot
	// A and B are the replies: pushes, then the reply itself.
	A, B []Reply
	// What says what was compared, when it is not the step's own reply.
	What string
}

// name groups differences that probably have one cause.
func (d *Difference) name() string {
	if strings.HasPrefix(d.What, messagesOn) {
		return messagesOn // the step is only the one after which they were read
	}
	if len(d.Step.Args) == 0 {
		return string(d.Step.Verb)
	}
	return commandName(d.Step.Args)
}

// pair is one logical connection to one node, on both sides.
type pair struct {
	conn, node int
	a, b       *client

	inMulti   bool       // MULTI was sent and not yet ended
	queued    [][]string // commands both sides queued
	previous  string     // name of the last command sent
	listening bool       // subscribed or tracking: replies and pushes mix
	manual    bool       // messages are read by !pushes only
	blocked   []string   // the command that blocks both sides, or nil
}

type pairKey struct{ conn, node int }

// Runner executes steps on two sides and compares.
type Runner struct {
	a, b    *side
	cluster bool
	resp3   bool
	table   keyTable
	pairs   map[pairKey]*pair
	batch   []entry
	// batchLimit is how many commands may be under way before their replies
	// are read: many for speed, 1 to find the very step that differs.
	batchLimit int
	// stepwise keeps batches to one command, because a client tracks keys:
	// broadcasts gather what changes in one turn of the event loop.
	stepwise bool
	// defaults are the CONFIG parameters that reset puts back.
	defaults []string
	// ignored are command names whose differences are known.
	ignored map[string]bool
	// sent counts the commands compared.
	sent int
}

// entry is a command under way.
type entry struct {
	index  int
	step   Step
	pair   *pair
	args   []string // as in the step, before placeholders
	probe  bool     // sent for the sake of the rule of the command that follows
	fenced string   // the nonce of a PING that marks the end of the replies
}

// NewRunner connects to the two targets; a must be real Redis.
func NewRunner(a, b Endpoint, cluster, resp3 bool) (*Runner, error) {
	sideA, err := newSide(a, cluster)
	if err != nil {
		return nil, err
	}
	sideB, err := newSide(b, cluster)
	if err != nil {
		return nil, err
	}
	table, err := readKeyTable(sideA.control[0])
	if err != nil {
		return nil, err
	}
	x := &Runner{a: sideA, b: sideB, cluster: cluster, resp3: resp3, table: table, batchLimit: 64}
	if err := x.readDefaults(); err != nil {
		return nil, err
	}
	return x, x.Reset()
}

// Close leaves the targets as they were and ends all connections.
func (x *Runner) Close() {
	_ = x.Reset() // the next runner, if any, says what is wrong with them
	x.dropPairs()
	x.a.close()
	x.b.close()
}

func (x *Runner) nodes() int { return len(x.a.Addrs) }

// Run executes steps from a clean state and returns the first difference, or
// nil. An error means the comparison itself broke, a target's death included.
func (x *Runner) Run(steps []Step) (*Difference, error) {
	if err := x.Reset(); err != nil {
		return nil, err
	}
	for i, step := range steps {
		if d, err := x.step(i, step); d != nil || err != nil {
			return d, x.alive(err)
		}
	}
	d, err := x.flush()
	return d, x.alive(err)
}

func (x *Runner) alive(err error) error {
	return errors.Join(err, x.a.Alive(), x.b.Alive())
}

// step executes one step, or adds it to the batch.
func (x *Runner) step(i int, step Step) (*Difference, error) {
	switch step.Verb {
	case vCommand:
		return x.command(i, step)
	case vSnapshot:
		return x.snapshot(i)
	}
	if d, err := x.flush(); d != nil || err != nil {
		return d, err
	}
	switch step.Verb {
	case vSleep:
		time.Sleep(step.Pause)
		return x.settled(i, step)
	case vScanAll:
		return x.scanAll(i, step)
	}
	p, err := x.pair(step)
	if err != nil {
		return nil, err
	}
	switch step.Verb {
	case vReconnect:
		x.drop(p)
		return nil, x.waitClients()
	case vManual:
		p.manual = true
		return nil, nil
	case vNoReply:
		x.queueBoth(p, step.Args)
		x.flushBoth(p)
		return nil, nil
	case vRaw:
		return x.raw(i, step, p)
	case vPushes:
		return x.awaitPushes(i, step, p)
	}
	return nil, fmt.Errorf("step %q: unknown verb", step)
}

// command sends a command, with the probes its rule wants ahead of it.
func (x *Runner) command(i int, step Step) (*Difference, error) {
	p, err := x.pair(step)
	if err != nil {
		return nil, err
	}
	if p.blocked != nil {
		if d, err := x.unblock(i, p); d != nil || err != nil {
			return d, err
		}
	}
	name := commandName(step.Args)
	fenced := !p.inMulti && name != "MULTI" && (p.listening || listens[name])
	fenced = fenced || name == "EXEC" && slices.ContainsFunc(p.queued, func(args []string) bool { return listens[commandName(args)] })
	x.stepwise = x.stepwise || name == "CLIENT TRACKING"
	alone := fenced || carriesPayload(step.Args) || !p.inMulti && (mayBlock(step.Args) || ruleFor(name).alone)
	if alone || x.stepwise || len(x.batch) >= x.batchLimit || x.otherOnNode(p) {
		if d, err := x.flush(); d != nil || err != nil {
			return d, err
		}
		if p, err = x.pair(step); err != nil { // the flush may have closed it
			return nil, err
		}
	}
	if !p.inMulti && !p.listening && p.previous != "ASKING" && !strings.HasPrefix(p.previous, "CLIENT") {
		for _, probe := range x.probesFor(step.Args) {
			x.enqueue(entry{index: i, step: Step{Conn: step.Conn, Node: p.node, Args: probe}, pair: p, args: probe, probe: true})
		}
	}
	e := entry{index: i, step: step, pair: p, args: step.Args}
	e.step.Node = p.node
	if alone && mayBlock(step.Args) && !fenced {
		return x.blocking(e)
	}
	x.enqueue(e)
	if fenced {
		x.addFence()
	}
	p.note(name)
	if alone {
		return x.flush()
	}
	return nil, nil
}

// note follows what a command does to the connection, before its reply is
// known.
func (p *pair) note(name string) {
	p.previous = name
	switch name {
	case "MULTI":
		p.inMulti = true
	case "EXEC", "DISCARD":
		p.inMulti = false
	case "RESET":
		p.inMulti, p.listening, p.queued = false, false, nil
	case "SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "CLIENT TRACKING", "MONITOR":
		p.listening = true
	}
}

// listens holds the commands that answer with a number of messages only the
// server knows.
var listens = map[string]bool{
	"SUBSCRIBE": true, "PSUBSCRIBE": true, "SSUBSCRIBE": true,
	"UNSUBSCRIBE": true, "PUNSUBSCRIBE": true, "SUNSUBSCRIBE": true,
}

// otherOnNode reports whether a different connection to the same node is in
// the batch: the order of two sockets is not ours to decide.
func (x *Runner) otherOnNode(p *pair) bool {
	return slices.ContainsFunc(x.batch, func(e entry) bool { return e.pair.node == p.node && e.pair != p })
}

func (x *Runner) enqueue(e entry) {
	x.queueBoth(e.pair, e.args)
	x.batch = append(x.batch, e)
	x.sent++
}

func (x *Runner) queueBoth(p *pair, args []string) {
	forA, forB := x.exchange(p.node, args)
	p.a.queue(x.resolve(x.a, p, forA))
	p.b.queue(x.resolve(x.b, p, forB))
}

func (x *Runner) flushBoth(p *pair) {
	p.a.flush()
	p.b.flush()
}

func (x *Runner) resolve(s *side, p *pair, args []string) []string {
	return resolve(args, func(kind string, n int) string {
		switch {
		case kind == "CID":
			other, found := x.pairs[pairKey{n, p.node}]
			if !found {
				return "0"
			}
			if s == x.a {
				return other.a.id
			}
			return other.b.id
		case n >= len(s.Addrs):
		case kind == "PORT":
			return s.port(n)
		case kind == "ADDR":
			return s.Addrs[n]
		case n < len(s.ids):
			return s.ids[n]
		}
		return "none"
	})
}

const fenceText = "fence-"

// addFence follows the last command of the batch by a PING whose reply marks
// the end of that command's replies.
func (x *Runner) addFence() {
	e := &x.batch[len(x.batch)-1]
	e.fenced = fenceText + strconv.Itoa(x.sent)
	x.queueBoth(e.pair, []string{"PING", e.fenced})
}

// flush sends the batch, reads all replies and compares them.
func (x *Runner) flush() (*Difference, error) {
	batch := x.batch
	x.batch = x.batch[:0]
	for _, e := range batch {
		x.flushBoth(e.pair)
	}
	var probes []Reply
	for _, e := range batch {
		a, b := readReplies(e.pair.a, e.fenced), readReplies(e.pair.b, e.fenced)
		if what := x.compare(e, a, b, probes); what != "" {
			return &Difference{Index: e.index, Step: e.step, A: a, B: b, What: what}, nil
		}
		reply := a[len(a)-1]
		if e.probe {
			probes = append(probes, reply)
			continue
		}
		probes = probes[:0]
		if err := x.follow(e, a[len(a)-1], b[len(b)-1]); err != nil {
			return nil, err
		}
	}
	if len(batch) == 0 {
		return nil, nil
	}
	last := batch[len(batch)-1]
	return x.settled(last.index, last.step)
}

// settled looks at what the steps so far did to other connections: messages
// delivered, blocked clients woken.
func (x *Runner) settled(i int, step Step) (*Difference, error) {
	if d, err := x.checkBlocked(i, step); d != nil || err != nil {
		return d, err
	}
	return x.drainListeners(i, step), nil
}

// readReplies reads up to the reply of one command: the pushes before it and
// the reply. With a fence it reads everything before the fence's reply.
func readReplies(c *client, fence string) []Reply {
	var replies []Reply
	for {
		r := c.read()
		if fence != "" && isFence(r, fence) {
			if len(replies) == 0 {
				return []Reply{{Kind: kindMissing}}
			}
			return replies
		}
		replies = append(replies, r)
		ended := r.Kind == kindClosed || r.Kind == kindMissing
		if ended || fence == "" && r.Kind != '>' {
			return replies
		}
	}
}

func isFence(r Reply, fence string) bool {
	if len(r.Items) == 2 {
		r = r.Items[1]
	}
	return r.Text == fence
}

// follow keeps the runner's idea of the connection in step with the replies
// and brings the sides together again after random choices.
func (x *Runner) follow(e entry, a, b Reply) error {
	p := e.pair
	name := commandName(e.args)
	switch {
	case a.Text == "QUEUED" && a.Kind == '+':
		p.queued = append(p.queued, e.args)
	case name == "EXEC" || name == "DISCARD" || name == "RESET":
		p.queued = nil
	case name == "MULTI" && a.isError() && len(p.queued) == 0:
		p.inMulti = false
	}
	if a.Kind == kindClosed {
		x.drop(p)
		return nil
	}
	if name == "QUIT" {
		if !p.a.ready(replyDeadline) || !p.b.ready(replyDeadline) {
			return errors.New("QUIT leaves the connection open")
		}
		x.drop(p)
		return nil
	}
	if rejoin := ruleFor(name).rejoin; rejoin != nil && !a.isError() {
		return rejoin(x, e, a, b)
	}
	return nil
}

// pair returns the connection of a step, opened if need be.
func (x *Runner) pair(step Step) (*pair, error) {
	node := step.Node
	if node == routeByKey {
		node = 0
		if key, found := x.firstKey(step); found && x.cluster {
			node = owner(key)
		}
	}
	if node >= x.nodes() {
		return nil, fmt.Errorf("step %q: there is no node %d", step, node)
	}
	key := pairKey{step.Conn, node}
	if p, found := x.pairs[key]; found {
		return p, nil
	}
	p := &pair{conn: step.Conn, node: node}
	var err error
	if p.a, err = x.a.open(node); err != nil {
		return nil, err
	}
	if p.b, err = x.b.open(node); err != nil {
		return nil, err
	}
	x.pairs[key] = p
	if x.resp3 {
		p.a.ask("HELLO", "3")
		p.b.ask("HELLO", "3")
	}
	return p, nil
}

func (x *Runner) firstKey(step Step) (string, bool) {
	if len(step.Args) == 0 || step.Verb == vRaw {
		return "", false
	}
	return x.table.firstKey(step.Args)
}

func (x *Runner) drop(p *pair) {
	p.a.close()
	p.b.close()
	for _, left := range []struct {
		side *side
		id   string
	}{{x.a, p.a.id}, {x.b, p.b.id}} {
		if left.id != "" {
			left.side.leaving[p.node] = append(left.side.leaving[p.node], left.id)
		}
	}
	delete(x.pairs, pairKey{p.conn, p.node})
}

func (x *Runner) dropPairs() {
	for _, p := range x.pairs {
		x.drop(p)
	}
}
