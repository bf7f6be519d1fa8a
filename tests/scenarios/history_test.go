package scenarios

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/emulator/control"
	"github.com/fakecluster/fakecluster/slots"
)

// Histories of clients that read and write while slots move and masters change.
// Each key must behave as one register that is read and written at single
// moments, whatever happens around it.

// access is one read or write of a key.
type access struct {
	key   string
	write bool
	value string // written
}

// partition splits a history by the keys of its inputs.
func partition(keyOf func(input any) string) func([]porcupine.Operation) [][]porcupine.Operation {
	return func(history []porcupine.Operation) [][]porcupine.Operation {
		byKey := map[string][]porcupine.Operation{}
		for _, op := range history {
			key := keyOf(op.Input)
			byKey[key] = append(byKey[key], op)
		}
		return slices.Collect(maps.Values(byKey))
	}
}

// register is the model of one key.
var register = porcupine.Model{
	Partition: partition(func(input any) string { return input.(access).key }),
	Init:      func() any { return "(nil)" },
	Step: func(state, input, output any) (bool, any) {
		if in := input.(access); in.write {
			return true, in.value
		}
		return output.(string) == state.(string), state
	},
	Equal: func(a, b any) bool { return a == b },
	DescribeOperation: func(input, output any) string {
		in := input.(access)
		if in.write {
			return fmt.Sprintf("%s = %s", in.key, in.value)
		}
		return fmt.Sprintf("%s is %s", in.key, output)
	},
}

// history gathers operations; its clock counts beginnings and ends.
type history struct {
	clock atomic.Int64
	mu    sync.Mutex
	done  []porcupine.Operation
	// act is what clients do all the time: access unless set.
	act func(*client)
	// working is held, shared, by clients that do something.
	working sync.RWMutex
}

// rest waits until everything that clients do has been done. A slot must not come
// back to a node while somebody may still follow the ASK of its last move there:
// real servers take such a command in, too.
func (h *history) rest() {
	h.working.Lock()
	defer h.working.Unlock()
}

// forever is the end of an operation of which nobody knows whether it happened.
const forever = 1 << 60

// client is one that follows redirections and repeats nothing it does not know
// to have failed.
type client struct {
	id      int
	player  *player
	history *history
	keys    []string
	rand    *rand.Rand
}

func newClient(t *testing.T, h *history, c *emulator.Cluster, id int, keys []string) *client {
	return &client{
		id: id, player: &player{t: t, target: &emulated{c, control.New(c)}, connections: map[string]*connection{}},
		history: h, keys: keys, rand: rand.New(rand.NewPCG(1, uint64(id))),
	}
}

// access reads or writes a key by chance.
func (c *client) access() {
	in := access{key: c.keys[c.rand.IntN(len(c.keys))], write: c.rand.IntN(2) == 0}
	if in.write {
		in.value = fmt.Sprintf("%q", fmt.Sprint(c.id, "-", c.history.clock.Add(1)))
	}
	c.perform(in)
}

func (c *client) perform(in access) {
	line := "GET " + in.key
	if in.write {
		line = "SET " + in.key + " " + in.value
	}
	began := c.history.clock.Add(1)
	reply, known := c.execute(line)
	ended := c.history.clock.Add(1)
	if !known {
		if !in.write {
			return // what a read would have said changes nothing
		}
		ended = forever
	}
	c.history.add(porcupine.Operation{ClientId: c.id, Input: in, Call: began, Output: reply, Return: ended})
}

func (h *history) add(op porcupine.Operation) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.done = append(h.done, op)
}

// execute follows redirections. known is false if the command may have been
// executed and may not.
func (c *client) execute(line string) (reply string, known bool) {
	at, asking := "n1", false
	for {
		if asking {
			c.player.say(at, "ASKING")
		}
		reply := strings.TrimSpace(c.player.say(at, line))
		text, isError := strings.CutPrefix(reply, "(error) ")
		words := strings.Fields(text)
		switch {
		case reply == "(connection refused)":
			at, asking = nodeName(c.rand.IntN(len(c.player.target.nodes()))), false
		case strings.HasPrefix(reply, "(connection ") || reply == "(no answer)":
			return "", false
		case !isError:
			return reply, true
		case words[0] == "MOVED" || words[0] == "ASK":
			at, asking = c.player.nameOf(words[2]), words[0] == "ASK"
		default: // TRYAGAIN, CLUSTERDOWN
			time.Sleep(time.Millisecond)
			at, asking = "n1", false
		}
	}
}

// underway returns what clients do with keys while disturb runs.
func underway(t *testing.T, c *emulator.Cluster, keys []string, disturb func(*testing.T, *emulator.Cluster, *history)) []porcupine.Operation {
	t.Helper()
	h := new(history)
	h.perform(t, c, keys, func() { disturb(t, c, h) })
	return h.done
}

// perform lets clients work while meanwhile runs.
func (h *history) perform(t *testing.T, c *emulator.Cluster, keys []string, meanwhile func()) {
	t.Helper()
	const clients, most = 6, 1500
	act := h.act
	if act == nil {
		act = (*client).access
	}
	var stop atomic.Bool
	var work sync.WaitGroup
	for id := range clients {
		work.Go(func() {
			worker := newClient(t, h, c, id, keys)
			defer worker.player.close()
			for n := 0; !stop.Load() || n < 20; n++ {
				h.working.RLock()
				act(worker)
				h.working.RUnlock()
				if n > most {
					time.Sleep(time.Millisecond) // enough for the checker; stay on
				}
			}
		})
	}
	meanwhile()
	stop.Store(true)
	work.Wait()
}

func check(t *testing.T, what string, ops []porcupine.Operation) {
	t.Helper()
	if verdict := verdictOn(porcupine.CheckOperationsTimeout(register, ops, patience), len(ops)); verdict != "" {
		t.Errorf("%s: %s", what, verdict)
	}
}

// patience is how long the checker may take over a history. It needs seconds at
// most; but what it takes grows without bound with the operations whose end is
// unknown, and an answer that never comes would take those of all other tests
// with it.
const patience = time.Minute

// verdictOn says what speaks against a history of so many operations: that it is
// not linearizable, or that nobody knows. It is "" when nothing does.
func verdictOn(result porcupine.CheckResult, operations int) string {
	switch result {
	case porcupine.Ok:
		return ""
	case porcupine.Unknown:
		return fmt.Sprintf("undecided: in %v the checker has not found out whether the history of %d operations is linearizable", patience, operations)
	}
	return fmt.Sprintf("the history of %d operations is not linearizable", operations)
}

// keysOf are keys of some slots.
func keysOf(list ...slots.Slot) []string {
	var keys []string
	for _, slot := range list {
		for i := range 4 {
			keys = append(keys, fmt.Sprintf("{%s}%d", slots.TagFor(slot), i))
		}
	}
	return keys
}

// moving are the slots that reshard moves.
var moving = []slots.Slot{3300, 7365, 3301}

func TestHistoryUnderResharding(t *testing.T) {
	c := emulator.RunT(t, emulator.Replicas(1))
	check(t, "resharding", underway(t, c, keysOf(moving...), reshard))
}

// reshard moves slots around, at once and key by key.
func reshard(t *testing.T, c *emulator.Cluster, h *history) {
	for round := range 12 {
		for _, slot := range moving {
			to := c.Node((c.NodeForSlot(slot).Index() + 1) % 3)
			if round%2 == 0 {
				ok(t, c.MoveSlots(c.NodeForSlot(slot), to, slot))
				continue
			}
			m, err := c.BeginMigration(slot, to)
			ok(t, err)
			for m.Left() > 0 {
				_, err := m.MoveKeys(1)
				ok(t, err)
				time.Sleep(time.Millisecond)
			}
			ok(t, m.Finish())
		}
		h.rest()
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// failOver changes the masters of two slots a few times, by hand.
func failOver(t *testing.T, c *emulator.Cluster, _ *history) {
	for range 3 {
		for _, slot := range []slots.Slot{3300, 7365} {
			ok(t, c.Failover(c.NodeForSlot(slot)))
			time.Sleep(5 * time.Millisecond)
		}
	}
}

// Without lag a replica has all that was acknowledged, so even a crash loses
// nothing.
func TestHistoryUnderCrash(t *testing.T) {
	c := emulator.RunT(t, emulator.Replicas(1))
	check(t, "crash", underway(t, c, keysOf(3300), crash))
}

// crash kills the master of a slot a few times.
func crash(t *testing.T, c *emulator.Cluster, _ *history) {
	for range 3 {
		victim := c.NodeForSlot(3300)
		c.Kill(victim)
		if !c.Settle() {
			t.Error("the cluster does not settle")
		}
		ok(t, c.Restart(victim))
		c.Settle()
		time.Sleep(5 * time.Millisecond)
	}
}

// With the link to the replica stopped, what was acknowledged before is kept and
// what was acknowledged after is lost, to the write: without it the history is
// sound, with it it is not.
func TestHistoryWithLag(t *testing.T) {
	c := emulator.RunT(t, emulator.Replicas(1))
	h := new(history)
	phase := func() []porcupine.Operation {
		before := len(h.done)
		h.perform(t, c, keysOf(3300), func() { time.Sleep(20 * time.Millisecond) })
		return slices.Clone(h.done[before:])
	}
	kept := phase()
	c.PauseReplication(c.Node(3))
	lost := phase()
	c.Kill(c.Node(0))
	c.Settle()
	if c.NodeForSlot(3300) != c.Node(3) {
		t.Fatalf("%v owns the slot", c.NodeForSlot(3300))
	}
	before := len(h.done)
	reader := newClient(t, h, c, 99, nil)
	defer reader.player.close()
	for _, key := range keysOf(3300) { // before anybody writes to them again
		reader.perform(access{key: key})
	}
	phase()
	after := h.done[before:]
	check(t, "before the crash", slices.Concat(kept, lost))
	check(t, "without what was lost", slices.Concat(kept, after))
	all := slices.Concat(kept, lost, after)
	switch result := porcupine.CheckOperationsTimeout(register, all, patience); result {
	case porcupine.Ok:
		t.Error("nothing was lost")
	case porcupine.Unknown:
		t.Error("with what was lost: ", verdictOn(result, len(all)))
	}
}

// A checker that gave up has not said no.
func TestAnUndecidedHistoryIsCalledOne(t *testing.T) {
	// Writes that nobody knows the end of, and a read of what was never written:
	// every order of them would have to be tried.
	var ops []porcupine.Operation
	for i := range 40 {
		ops = append(ops, porcupine.Operation{ClientId: i, Input: access{"k", true, strconv.Itoa(i)}, Call: int64(i), Return: forever})
	}
	ops = append(ops, porcupine.Operation{ClientId: 40, Input: access{"k", false, ""}, Call: 50, Output: "never", Return: 51})
	result := porcupine.CheckOperationsTimeout(register, ops, time.Millisecond)
	if result != porcupine.Unknown {
		t.Fatalf("within a millisecond it is %s", result)
	}
	for result, want := range map[porcupine.CheckResult]string{
		result:            "undecided: in 1m0s the checker has not found out whether the history of 41 operations is linearizable",
		porcupine.Illegal: "the history of 41 operations is not linearizable",
		porcupine.Ok:      "",
	} {
		if got := verdictOn(result, len(ops)); got != want {
			t.Errorf("%s is reported as %q, want %q", result, got, want)
		}
	}
}

// The checker itself must be able to say no.
func TestTheCheckerSeesALostWrite(t *testing.T) {
	ops := []porcupine.Operation{
		{Input: access{"k", true, "1"}, Call: 1, Output: "OK", Return: 2},
		{Input: access{"k", true, "2"}, Call: 3, Output: "OK", Return: 4},
		{Input: access{"k", false, ""}, Call: 5, Output: "1", Return: 6},
	}
	if porcupine.CheckOperations(register, ops) {
		t.Error("a history with a lost write passes")
	}
	ops[2].Output = strconv.Itoa(2)
	if !porcupine.CheckOperations(register, ops) {
		t.Error("a sound history does not pass")
	}
}
