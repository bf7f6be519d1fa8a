package server

import (
	"hash/maphash"
	"strings"
	"time"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/lock"
	"github.com/fakecluster/fakecluster/emulator/internal/topology"
	"github.com/fakecluster/fakecluster/slots"
)

// Traced is one command as a trace keeps it.
type Traced struct {
	At       time.Time
	Node     *Node
	Client   string // its name, or its address
	Name     string // of the command, lower case
	Text     string // the command as redis-cli would take it, without secrets
	Slot     slots.Slot
	Keyed    bool // it has keys, and Slot is that of the first
	Verdict  string
	Duration time.Duration
	// Redirects is how often the command has been redirected, this time
	// included.
	Redirects int
}

// Trace keeps the latest commands of all nodes of a cluster. Its lock is the
// last of all to be taken.
type Trace struct {
	mu      lock.Mutex[lock.Leaf]
	ring    []Traced
	size    int
	next    int
	total   uint64
	seed    maphash.Seed
	pending map[uint64][]redirected
}

// redirected is a command that was sent to another node and may arrive there.
type redirected struct {
	port  int
	count int
}

// Trace starts to record commands, the latest size of them.
func (h *Harness) Trace(size int) *Trace {
	t := &Trace{size: size, seed: maphash.MakeSeed(), pending: map[uint64][]redirected{}}
	h.update(func(p *plan) { p.trace = t })
	return t
}

// Untrace ends the recording.
func (h *Harness) Untrace() { h.update(func(p *plan) { p.trace = nil }) }

// Entries are the commands kept, the oldest first.
func (t *Trace) Entries() []Traced {
	t.mu.Lock()
	defer t.mu.Unlock()
	entries := make([]Traced, 0, len(t.ring))
	entries = append(entries, t.ring[t.next:]...)
	return append(entries, t.ring[:t.next]...)
}

// Total is how many commands have been recorded, those no longer kept too.
func (t *Trace) Total() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total
}

// Clear forgets what has been recorded.
func (t *Trace) Clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ring, t.next, t.total = nil, 0, 0
	clear(t.pending)
}

func (t *Trace) add(e Traced) {
	t.total++
	if len(t.ring) < t.size {
		t.ring = append(t.ring, e)
		return
	}
	t.ring[t.next] = e
	t.next = (t.next + 1) % t.size
}

// note records a command that has been decided over. The node's lock is held.
func (t *Trace) note(s *session, c *command.Call, began time.Time, failed bool) {
	n := s.node
	e := Traced{At: began, Node: n, Client: s.name, Verdict: "serve", Duration: n.clock.Now().Sub(began)}
	if e.Client == "" {
		e.Client = s.addr
	}
	e.Name = strings.ToLower(string(c.Args[0]))
	if c.Spec != nil {
		e.Name = c.Spec.Name
		if c.Spec.CheckArity(len(c.Args)) {
			n.refs = c.Spec.AppendKeys(n.refs[:0], c.Args)
			if e.Keyed = len(n.refs) > 0; e.Keyed {
				e.Slot = slots.Of(c.Args[n.refs[0].Pos])
			}
		}
	}
	hideSecrets(c)
	e.Text = text(c)
	switch {
	case s.routed != nil:
		e.Verdict = s.routed.Kind.String()
	case s.closing && s.enc.Len() == 0 && e.Name != "quit":
		e.Verdict = "dropped"
	case s.parked != nil:
		e.Verdict = "blocked"
	case failed:
		e.Verdict, _, _ = strings.Cut(s.enc.LastError, " ")
	}
	hash := t.hash(c)
	t.mu.Lock()
	defer t.mu.Unlock()
	e.Redirects = t.follow(hash, n.port, s.routed)
	t.add(e)
}

// maxText bounds, in bytes, what is kept of a command.
const maxText = 128

func text(c *command.Call) string {
	var b []byte
	for i, arg := range c.Shown() {
		if i > 0 {
			b = append(b, ' ')
		}
		if plain(arg) {
			b = append(b, arg...)
		} else {
			b = appendQuoted(b, arg)
		}
		if len(b) > maxText {
			return string(b[:maxText-3]) + "..."
		}
	}
	return string(b)
}

func plain(arg []byte) bool {
	for _, c := range arg {
		if c <= ' ' || c > '~' || c == '"' || c == '\'' || c == '\\' {
			return false
		}
	}
	return len(arg) > 0
}

func (t *Trace) hash(c *command.Call) uint64 {
	var h maphash.Hash
	h.SetSeed(t.seed)
	for _, arg := range c.Args {
		h.Write(arg)
		h.WriteByte(0)
	}
	return h.Sum64()
}

// maxPending bounds the redirections remembered whose commands did not arrive.
const maxPending = 10_000

// follow counts the redirections of a command: what was sent to this node and
// arrives here is the same command. The trace's lock is held.
func (t *Trace) follow(hash uint64, port int, routed *topology.Verdict) int {
	count := 0
	list := t.pending[hash]
	for i, r := range list {
		if r.port == port {
			count = r.count
			list = append(list[:i], list[i+1:]...)
			break
		}
	}
	if routed != nil && (routed.Kind == topology.Moved || routed.Kind == topology.Ask) {
		count++
		if len(t.pending) < maxPending {
			list = append(list, redirected{routed.Port, count})
		}
	}
	if len(list) == 0 {
		delete(t.pending, hash)
	} else {
		t.pending[hash] = list
	}
	return count
}
