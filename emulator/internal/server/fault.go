package server

import (
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/glob"
	"github.com/fakecluster/fakecluster/emulator/internal/lock"
	"github.com/fakecluster/fakecluster/emulator/internal/resp"
)

// FaultAction is what a fault does to a command.
type FaultAction uint8

// The actions.
const (
	DropBefore       FaultAction = iota // the connection ends, nothing is executed
	DropAfter                           // it is executed, and the connection ends without its reply
	DelayCommand                        // it is executed after Delay
	ReplyError                          // it is not executed and answered with Error
	TruncateReply                       // only the first Bytes of its reply are sent
	SlowReply                           // its reply is sent Bytes at a time, every Delay
	RefuseConnection                    // new connections are refused
)

// FaultRule says to which commands something happens, and what. Fields of the
// match that are not set match everything.
type FaultRule struct {
	Commands []string // lower case: "get", "client" or "client|list"
	Key      string   // a glob for one of the keys
	Nodes    []*Node
	Client   string // a glob for the name of CLIENT SETNAME
	// Nth counts the commands that match, from 1: earlier ones pass.
	Nth int
	// Times is how many commands are hit at most, 0 for no limit.
	Times int
	// Probability of a hit, 0 for certainty.
	Probability float64

	Action FaultAction
	Delay  time.Duration
	Error  string
	Bytes  int
}

// Fault is a rule at work.
type Fault struct {
	rule FaultRule
	set  *Harness

	seen, hits atomic.Int64
	mu         lock.Mutex[lock.Leaf]
	rand       *rand.Rand
}

// Hits is how often the fault has struck.
func (f *Fault) Hits() int { return int(f.hits.Load()) }

// Remove ends the fault.
func (f *Fault) Remove() {
	f.set.update(func(p *plan) {
		p.faults = slices.DeleteFunc(slices.Clone(p.faults), func(g *Fault) bool { return g == f })
	})
}

// Harness is what a test has arranged to happen to the commands of a cluster's
// nodes, and what it wants to know of them. Commands pay for it with one load
// while there is nothing.
type Harness struct {
	active atomic.Pointer[plan] // nil while there is nothing to do

	mu   lock.Mutex[lock.Leaf]
	made uint64 // faults, for their seeds
	seed uint64
}

type plan struct {
	faults []*Fault
	trace  *Trace
}

// NewHarness returns one without faults or trace.
func NewHarness(seed uint64) *Harness { return &Harness{seed: seed} }

func (h *Harness) update(change func(*plan)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var p plan
	if old := h.active.Load(); old != nil {
		p = *old
	}
	change(&p)
	if len(p.faults) == 0 && p.trace == nil {
		h.active.Store(nil)
		return
	}
	h.active.Store(&p)
}

// Inject puts a rule to work.
func (h *Harness) Inject(rule FaultRule) *Fault {
	f := &Fault{rule: rule, set: h}
	h.update(func(p *plan) {
		h.made++
		f.rand = rand.New(rand.NewPCG(h.seed, h.made))
		p.faults = append(slices.Clone(p.faults), f)
	})
	return f
}

// Reset removes all faults and the trace.
func (h *Harness) Reset() {
	h.update(func(p *plan) { *p = plan{} })
	h.mu.Lock()
	h.made = 0
	h.mu.Unlock()
}

// strikes reports whether the fault hits what matched, and counts it.
func (f *Fault) strikes() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := &f.rule
	if f.seen.Add(1) < int64(r.Nth) {
		return false
	}
	if r.Times > 0 && f.hits.Load() >= int64(r.Times) || r.Probability > 0 && f.rand.Float64() >= r.Probability {
		return false
	}
	f.hits.Add(1)
	return true
}

func (f *Fault) matches(s *session, c *command.Call) bool {
	r := &f.rule
	switch {
	case r.Action == RefuseConnection,
		len(r.Nodes) > 0 && !slices.Contains(r.Nodes, s.node),
		len(r.Commands) > 0 && !slices.ContainsFunc(r.Commands, func(name string) bool { return named(c, name) }),
		r.Client != "" && !glob.Match(r.Client, s.name):
		return false
	}
	return r.Key == "" || c.Spec != nil && touches(c, r.Key)
}

func named(c *command.Call, name string) bool {
	switch {
	case c.Spec == nil:
		return strings.EqualFold(string(c.Args[0]), name)
	case c.Spec.Parent != nil && c.Spec.Parent.Name == name:
		return true
	}
	return c.Spec.Name == name
}

func touches(c *command.Call, pattern string) bool {
	if !c.Spec.CheckArity(len(c.Args)) {
		return false
	}
	for _, ref := range c.Spec.AppendKeys(nil, c.Args) {
		if glob.Match(pattern, string(c.Args[ref.Pos])) {
			return true
		}
	}
	return false
}

// refuses reports whether a new connection to n is to be refused.
func (h *Harness) refuses(n *Node) bool {
	p := h.active.Load()
	if p == nil {
		return false
	}
	for _, f := range p.faults {
		if f.rule.Action == RefuseConnection && (len(f.rule.Nodes) == 0 || slices.Contains(f.rule.Nodes, n)) && f.strikes() {
			return true
		}
	}
	return false
}

// Refuses reports whether a connection to the node that is about to be opened
// is refused: the node is down, or a fault says so.
func (n *Node) Refuses() bool { return n.Down() || n.options.Harness.refuses(n) }

// decideUnder decides over a command as decide does while faults or a trace are
// at work.
func (s *session) decideUnder(p *plan, c *command.Call) {
	if c.Spec != nil && s.node.table.Hidden(c.Args[0]) {
		s.decide(c)
		return
	}
	fault := p.faultFor(s, c)
	began, before := s.node.clock.Now(), s.enc.Len()
	s.routed, s.enc.LastError = nil, ""
	errors := s.enc.Errors
	s.strike(fault, c, before)
	if p.trace != nil && (fault == nil || fault.rule.Action != DelayCommand) {
		p.trace.note(s, c, began, s.enc.Errors > errors)
	}
}

// faultFor returns the first fault that hits the command, or nil.
func (p *plan) faultFor(s *session, c *command.Call) *Fault {
	if s.delayed {
		s.delayed = false
		return nil
	}
	for _, f := range p.faults {
		if f.matches(s, c) && f.strikes() {
			return f
		}
	}
	return nil
}

// strike does to the command what the fault says, executing it if it is to be.
// before is where its reply begins.
func (s *session) strike(f *Fault, c *command.Call, before int) {
	if f == nil {
		s.decide(c)
		return
	}
	switch f.rule.Action {
	case DropBefore:
		s.closing = true
		return
	case DelayCommand:
		s.parkFor(c, f.rule.Delay, func() bool { return false }, func(resp.Sink) {})
		s.waiting.again, s.delayed = true, true
		return
	case ReplyError:
		s.reject(c, f.rule.Error)
		return
	}
	s.decide(c)
	if s.parked != nil {
		if !s.parked.again {
			s.parked.spoil = f // it will be when the reply is there
		}
		return
	}
	reply := s.enc.Bytes()[before:]
	s.enc.Truncate(before + f.spoil(s, len(reply)))
}

// spoil prepares for a reply of so many bytes and returns how many are sent.
func (f *Fault) spoil(s *session, size int) int {
	switch f.rule.Action {
	case DropAfter:
		s.closing = true
		return 0
	case TruncateReply:
		s.closing = true
		return min(size, f.rule.Bytes)
	case SlowReply:
		s.out.slowDown(f.rule.Bytes, f.rule.Delay)
	}
	return size
}

// refusing is a listener that resets connections which a fault refuses.
func (n *Node) refuse(conn net.Conn) bool {
	if !n.options.Harness.refuses(n) {
		return false
	}
	resetConn(conn)
	return true
}
