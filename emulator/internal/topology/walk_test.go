package topology

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fakecluster/fakecluster/emulator/internal/version"
	"github.com/fakecluster/fakecluster/slots"
)

// walk drives a cluster through random mishaps and checks, after every step,
// what must never break, and after healing, that all is well again. A failing
// walk prints its shrunk scenario.
type walk struct {
	*sim
	t      *rapid.T
	epochs []uint64
	voted  map[string]uint64   // by voter: the epoch of the last vote
	won    map[uint64]string   // by epoch: who was elected
	votes  map[uint64][]string // by epoch: who voted
}

func TestRandomWalks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SampledFrom([][2]int{{3, 1}, {3, 2}, {5, 1}, {1, 1}, {2, 1}}).Draw(t, "shape")
		w := &walk{
			t: t, sim: newSim(t, shape[0], shape[1], version.V7_0, rapid.Uint64().Draw(t, "seed")),
			voted: map[string]uint64{}, won: map[uint64]string{}, votes: map[uint64][]string{},
		}
		w.epochs = make([]uint64, len(w.nodes))
		w.Trace = w.watch
		w.Run(w.now)
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			w.step()
			w.checkAlways()
		}
		w.recover()
		w.checkHealed()
	})
}

// watch sees every message: votes must be given once per epoch.
func (w *walk) watch(m *Message, to string, _ bool) {
	if m.Kind != AuthAck {
		return
	}
	if m.CurrentEpoch <= w.voted[m.Sender] {
		w.t.Fatalf("%s votes in epoch %d after epoch %d", w.names[m.Sender], m.CurrentEpoch, w.voted[m.Sender])
	}
	w.voted[m.Sender] = m.CurrentEpoch
	if winner := w.won[m.CurrentEpoch]; winner != "" && winner != to && len(w.votes[m.CurrentEpoch]) > len(w.nodes)/2 {
		w.t.Fatalf("epoch %d elects both %s and %s", m.CurrentEpoch, w.names[winner], w.names[to])
	}
	w.won[m.CurrentEpoch] = to
	w.votes[m.CurrentEpoch] = append(w.votes[m.CurrentEpoch], m.Sender)
}

func (w *walk) pick(label string) int {
	return rapid.IntRange(0, len(w.nodes)-1).Draw(w.t, label)
}

func (w *walk) log(format string, args ...any) { w.t.Logf(format, args...) }

func (w *walk) step() {
	i := w.pick("node")
	id, name := w.nodes[i].ID(), fmt.Sprintf("n%d", i+1)
	switch rapid.IntRange(0, 12).Draw(w.t, "step") {
	case 0:
		w.log("kill %s", name)
		w.Kill(id)
	case 1:
		w.log("start %s", name)
		w.Start(id)
	case 2:
		w.log("pause %s", name)
		w.Pause(id)
	case 3:
		w.log("resume %s", name)
		w.Resume(id)
	case 4:
		w.partition()
	case 5:
		j := w.pick("to")
		w.log("way %s n%d cut", name, j+1)
		w.SetCondition(id, w.nodes[j].ID(), Condition{Cut: true})
	case 6:
		c := Condition{Delay: int64(rapid.IntRange(0, 3000).Draw(w.t, "delay")), Loss: float64(rapid.IntRange(0, 5).Draw(w.t, "loss")) / 10}
		w.log("delay %dms loss %.1f", c.Delay, c.Loss)
		w.SetGeneralCondition(c)
	case 7:
		w.log("heal")
		w.Heal()
	case 8:
		mode := rapid.SampledFrom([]string{"", "force", "takeover"}).Draw(w.t, "mode")
		if w.running(i) {
			w.log("cluster %s failover %s: %v", name, mode, w.nodes[i].Failover(mode, w.now))
		}
	case 9:
		w.move(i)
	case 10:
		if w.running(i) {
			w.log("cluster %s bumpepoch", name)
			w.nodes[i].BumpEpoch(w.now)
		}
	case 11:
		s := rapid.IntRange(1, 60).Draw(w.t, "seconds")
		w.log("advance %ds", s)
		w.advance(int64(s) * 1000)
	case 12:
		w.log("settle")
		w.Settle(w.now)
	}
	w.Run(w.now)
}

func (w *walk) running(i int) bool { return w.member(w.nodes[i].ID()).running() }

func (w *walk) partition() {
	var left, names []string
	for i, n := range w.nodes {
		if rapid.Bool().Draw(w.t, "left") {
			left = append(left, n.ID())
			names = append(names, fmt.Sprintf("n%d", i+1))
		}
	}
	w.log("partition %s", strings.Join(names, ","))
	w.Partition(left)
}

// move does the steps of a slot's migration, in a cluster that works: where
// others do not hear of it at once, Redis cannot agree when the source takes a
// newer epoch meanwhile.
func (w *walk) move(to int) {
	w.Exchange(w.now)
	if !w.converged() {
		return
	}
	slot := slots.Slot(rapid.SampledFrom([]int{0, 5000, 9000, 16383}).Draw(w.t, "slot"))
	target := w.nodes[to]
	if !w.running(to) || !target.IsMaster() {
		return
	}
	for i, n := range w.nodes {
		if i == to || !w.running(i) || !n.Owns(slot) {
			continue
		}
		w.log("move %d from n%d to n%d", slot, i+1, to+1)
		now := w.now
		arg := func(words ...string) [][]byte {
			args := [][]byte{fmt.Append(nil, slot)}
			for _, word := range words {
				args = append(args, []byte(word))
			}
			return args
		}
		for _, err := range []error{
			target.SetSlot(arg("importing", n.ID()), now), n.SetSlot(arg("migrating", target.ID()), now),
			target.SetSlot(arg("node", target.ID()), now), n.SetSlot(arg("node", target.ID()), now),
		} {
			if err != nil {
				w.t.Fatal(err)
			}
		}
		return
	}
}

func (w *walk) checkAlways() {
	for i, n := range w.nodes {
		current, own := n.Epochs()
		if current < w.epochs[i] {
			w.t.Fatalf("the epoch of n%d goes back from %d to %d", i+1, w.epochs[i], current)
		}
		if own > current {
			w.t.Fatalf("n%d has config epoch %d in epoch %d", i+1, own, current)
		}
		w.epochs[i] = current
		count := 0
		for slot := range slots.Slot(slots.Count) {
			if n.owner(slot) != nil {
				count++
			}
		}
		if count != n.assigned {
			w.t.Fatalf("n%d counts %d assigned slots, there are %d", i+1, n.assigned, count)
		}
		for _, p := range n.peers {
			if p != nil && p.numSlots != setLen(p) {
				w.t.Fatalf("n%d counts %d slots of %s, there are %d", i+1, p.numSlots, w.names[p.id], setLen(p))
			}
		}
	}
}

func setLen(p *peer) int {
	if p.slots == nil {
		return 0
	}
	return p.slots.Len()
}

func (w *walk) recover() {
	w.log("heal, resume and start all, settle")
	w.Heal()
	for _, n := range w.nodes {
		w.Resume(n.ID())
		w.Start(n.ID())
	}
	if !w.Settle(w.now) {
		for i, n := range w.nodes {
			w.log("n%d, busy=%v, epoch=%d, offset %d:\n%s", i+1, n.busy(), n.currentEpoch, w.Network.now-simStart, n.Nodes())
		}
		w.t.Fatal("the cluster does not settle")
	}
}

func (w *walk) checkHealed() {
	var epochs []uint64
	for i, n := range w.nodes {
		if n.assigned != slots.Count {
			w.t.Fatalf("n%d knows owners of %d slots", i+1, n.assigned)
		}
		if !n.OK() {
			w.t.Fatalf("n%d: the cluster is not ok", i+1)
		}
		if *n.owners != *w.nodes[0].owners && ownersByID(n) != ownersByID(w.nodes[0]) {
			w.t.Fatalf("n%d and n1 disagree about owners", i+1)
		}
		if n.IsMaster() {
			epochs = append(epochs, n.self.epoch)
		} else if n.self.numSlots > 0 {
			w.t.Fatalf("n%d is a replica with slots", i+1)
		}
		if (w.servers[i].master == "") != n.IsMaster() || w.servers[i].master != n.Master() {
			w.t.Fatalf("the server of n%d follows %q, its node %q", i+1, w.servers[i].master, n.Master())
		}
	}
	slices.Sort(epochs)
	if len(slices.Compact(slices.Clone(epochs))) != len(epochs) {
		w.t.Fatalf("masters share config epochs: %v", epochs)
	}
}

func ownersByID(n *Node) (ids [slots.Count]string) {
	for slot := range slots.Slot(slots.Count) {
		ids[slot] = n.Owner(slot)
	}
	return ids
}
