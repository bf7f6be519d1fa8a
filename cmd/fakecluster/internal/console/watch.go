package console

import (
	"context"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fakecluster/fakecluster/cmd/fakecluster/internal/survey"
	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/emulator/control"
	"github.com/fakecluster/fakecluster/slots"
)

// watch looks at the nodes again and again while there are viewers, for all of
// them together, and keeps the commands traced meanwhile.
type watch struct {
	cluster    *emulator.Cluster
	controller *control.Controller
	interval   time.Duration
	ended      sync.WaitGroup

	mu      sync.Mutex
	viewers int
	stop    context.CancelFunc
	kick    chan struct{}
	latest  *sample
	stale   bool          // something was done since
	changed chan struct{} // closed when latest is another
	seen    *emulator.Trace
	counted int // of the commands of seen
	heat    map[slots.Slot]float64
	own     *emulator.Trace // begun because a viewer came
	resting bool            // own was ended because the last one left
	base    *sample         // what rates are worked out from
	asking  map[*emulator.Node]bool

	taking sync.Mutex // held while nodes are asked
}

// sample is what the nodes said at one time.
type sample struct {
	at     time.Time // by the wall
	now    time.Time // by the cluster
	nodes  []*sight
	counts map[string]float64     // a second: "commands", and errors by code
	heat   map[slots.Slot]float64 // commands a second, the latest counting most
}

// sight is one node of a sample.
type sight struct {
	node         *emulator.Node
	role         string
	master       *emulator.Node // nil for a master
	owned        []slots.Range
	late         bool // it did not answer in time: this is what it said before
	down         bool
	rows         []*survey.Row
	own          *survey.Row
	info         map[string]string
	clusterState string
	errors       map[string]int64 // by code
	perSecond    float64
}

const (
	patience = 300 * time.Millisecond // with a node that a script keeps busy
	freshFor = 100 * time.Millisecond // a sample is as good as a new one
	cooling  = 0.6                    // what is left of a slot's heat after a second
)

func newWatch(c *emulator.Cluster, x *control.Controller, interval time.Duration) *watch {
	return &watch{
		cluster: c, controller: x, interval: interval, changed: make(chan struct{}), kick: make(chan struct{}, 1),
		heat: map[slots.Slot]float64{}, asking: map[*emulator.Node]bool{},
	}
}

// join counts a viewer until leave is called.
func (w *watch) join() (leave func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.viewers++; w.viewers == 1 {
		ctx, stop := context.WithCancel(context.Background())
		w.stop = stop
		w.ended.Go(func() { w.run(ctx) })
	}
	return sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.viewers--; w.viewers == 0 {
			w.stop()
		}
	})
}

// wait returns when nothing goes on any more after the last viewer.
func (w *watch) wait() { w.ended.Wait() }

func (w *watch) run(ctx context.Context) {
	ticker := time.NewTicker(w.interval)
	defer ticker.Stop()
	for {
		w.record()
		w.take()
		select {
		case <-ctx.Done():
			w.unrecord()
			return
		case <-ticker.C:
		case <-w.kick:
		}
	}
}

// refresh makes viewers see soon what a verb has done.
func (w *watch) refresh() {
	w.mu.Lock()
	w.stale = true
	w.mu.Unlock()
	select {
	case w.kick <- struct{}{}:
	default:
	}
}

// record traces commands for the feed, unless somebody ended the trace.
func (w *watch) record() {
	w.mu.Lock()
	defer w.mu.Unlock()
	trace, recording := w.controller.Trace()
	if trace != nil && (recording || !w.resting) {
		return
	}
	if _, err := w.controller.Do("trace", "on"); err == nil {
		w.own, _ = w.controller.Trace()
		w.resting = false
	}
}

// unrecord ends the trace that record began: commands are faster without.
func (w *watch) unrecord() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if trace, recording := w.controller.Trace(); recording && trace == w.own && w.viewers == 0 {
		if _, err := w.controller.Do("trace", "off"); err == nil {
			w.resting = true
		}
	}
}

// news returns the latest sample and what is closed when there is another.
func (w *watch) news() (*sample, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.latest, w.changed
}

// sample is the latest sample if it is fresh, else a new one.
func (w *watch) sample() *sample {
	w.mu.Lock()
	s, stale := w.latest, w.stale
	w.mu.Unlock()
	if s == nil || stale || time.Since(s.at) > freshFor {
		return w.take()
	}
	return s
}

// take asks all nodes and makes what they say the latest sample.
func (w *watch) take() *sample {
	w.taking.Lock()
	defer w.taking.Unlock()
	w.mu.Lock()
	before := w.latest
	w.stale = false
	w.mu.Unlock()
	s := &sample{at: time.Now(), now: w.cluster.Now(), counts: map[string]float64{}}
	s.nodes = w.ask(before)
	switch {
	case w.base == nil:
		w.base = s
	case s.at.Sub(w.base.at) < w.interval/2: // too short to tell
		s.keepRates(before)
	default:
		s.rate(w.base)
		w.base = s
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if before != nil {
		w.warm(s.at.Sub(before.at))
	}
	s.heat = maps.Clone(w.heat)
	w.latest = s
	close(w.changed)
	w.changed = make(chan struct{})
	return s
}

// ask asks every node; one that does not answer in time keeps what it said
// before, and is not asked again until it has answered.
func (w *watch) ask(before *sample) []*sight {
	nodes := w.cluster.Nodes()
	type answer struct {
		i    int
		what *sight
	}
	answers := make(chan answer, len(nodes))
	sights := make([]*sight, len(nodes))
	waiting := 0
	for i, n := range nodes {
		sights[i] = &sight{node: n, role: "master", late: true, info: map[string]string{}}
		if old := before.of(n); old != nil {
			copied := *old
			copied.late, copied.perSecond = true, 0
			sights[i] = &copied
		}
		if n.Down() {
			dead := &sight{node: n, down: true, rows: sights[i].rows, own: sights[i].own, info: map[string]string{}}
			dead.identify()
			sights[i] = dead
			continue
		}
		if !w.begin(n) {
			continue
		}
		waiting++
		w.ended.Go(func() {
			defer w.finish(n)
			answers <- answer{i, look(n)}
		})
	}
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for ; waiting > 0; waiting-- {
		select {
		case a := <-answers:
			sights[a.i] = a.what
		case <-timeout.C:
			return sights
		}
	}
	return sights
}

func (w *watch) begin(n *emulator.Node) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asking[n] {
		return false
	}
	w.asking[n] = true
	return true
}

func (w *watch) finish(n *emulator.Node) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.asking, n)
}

// look asks a node what there is to know of it.
func look(n *emulator.Node) *sight {
	v := &sight{node: n, info: survey.Fields(ask(n, "INFO")), errors: map[string]int64{}}
	v.identify()
	for name, value := range v.info {
		if code, found := strings.CutPrefix(name, "errorstat_"); found {
			v.errors[code], _ = strconv.ParseInt(strings.TrimPrefix(value, "count="), 10, 64)
		}
	}
	if v.info["cluster_enabled"] == "1" {
		v.rows, v.own = survey.ParseRows(ask(n, "CLUSTER", "NODES"))
		v.clusterState = survey.Fields(ask(n, "CLUSTER", "INFO"))["cluster_state"]
	}
	return v
}

// identify fills in what the node is in the cluster.
func (v *sight) identify() {
	v.role, v.master = v.node.Role(), v.node.Master()
	if v.role == "master" {
		v.owned = v.node.Slots()
	}
}

// ask returns a text that a node answers with, "" if it does not.
func ask(n *emulator.Node, command ...string) string {
	reply, err := n.Do(command...)
	if err != nil || reply == nil {
		return ""
	}
	return fmt.Sprint(reply)
}

func (v *sight) number(field string) int64 {
	n, _ := strconv.ParseInt(v.info[field], 10, 64)
	return n
}

func (s *sample) of(n *emulator.Node) *sight {
	if s == nil {
		return nil
	}
	for _, v := range s.nodes {
		if v.node == n {
			return v
		}
	}
	return nil
}

// rate works out what happened in each second since another sample. A node that
// was restarted counts from 0 again.
func (s *sample) rate(since *sample) {
	seconds := s.at.Sub(since.at).Seconds()
	for _, v := range s.nodes {
		old := since.of(v.node)
		if old == nil || v.late || v.down {
			continue
		}
		done, had := v.number("total_commands_processed"), old.number("total_commands_processed")
		v.perSecond = float64(max(0, done-had)) / seconds
		s.counts["commands"] += v.perSecond
		for code, n := range v.errors {
			if more := n - old.errors[code]; more > 0 {
				s.counts[code] += float64(more) / seconds
			}
		}
	}
}

// keepRates takes over those of another sample.
func (s *sample) keepRates(of *sample) {
	s.counts = of.counts
	for _, v := range s.nodes {
		if old := of.of(v.node); old != nil {
			v.perSecond = old.perSecond
		}
	}
}

// warm counts the commands traced since the last time by slot. w.mu is held.
func (w *watch) warm(elapsed time.Duration) {
	seconds := max(elapsed.Seconds(), 0.001)
	left := math.Pow(cooling, seconds)
	for slot := range w.heat {
		if w.heat[slot] *= left; w.heat[slot] < 0.5 {
			delete(w.heat, slot)
		}
	}
	trace, _ := w.controller.Trace()
	if trace == nil {
		return
	}
	if trace != w.seen {
		w.seen, w.counted = trace, 0
	}
	recordedBefore := w.counted
	newer, recorded := trace.Since(w.counted)
	w.counted = recorded
	if len(newer) == 0 {
		return
	}
	// When there were more than the trace keeps, those kept stand for all.
	weight := float64(max(recorded-recordedBefore, len(newer))) / float64(len(newer)) / seconds * (1 - left)
	for _, e := range newer {
		if e.Keyed {
			w.heat[e.Slot] += weight
		}
	}
}
