package scenarios

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/emulator/control"
	"github.com/fakecluster/fakecluster/slots"
)

// Verbs in any order, while clients work, must neither hang nor race, and a
// cluster that is healed and whose nodes are all back must serve every slot.
func TestAnyVerbsInAnyOrder(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { anyVerbs(t, seed) })
	}
}

func anyVerbs(t *testing.T, seed uint64) {
	c := emulator.RunT(t, emulator.Replicas(1), emulator.Seed(seed))
	x := control.New(c)
	random := rand.New(rand.NewPCG(seed, 1))
	pick := func() string { return c.Nodes()[random.IntN(len(c.Nodes()))].Name() }
	var stop atomic.Bool
	var work sync.WaitGroup
	for id := range 3 {
		work.Go(func() {
			p := &player{t: t, target: &emulated{c, x}, connections: map[string]*connection{}}
			defer p.close()
			r := rand.New(rand.NewPCG(seed, uint64(10+id)))
			for !stop.Load() {
				who := nodeName(r.IntN(6)) // those that were there first
				if p.target.nodes()[who] == "" {
					continue
				}
				if paused(c, who) {
					continue
				}
				p.say(who, fmt.Sprintf("INCR key:%d", r.IntN(1000)))
			}
		})
	}
	var log []string
	for range 40 {
		first := random.IntN(16000)
		line := [...]string{
			"kill " + pick(), "restart " + pick(), "failover " + pick(), "failover " + pick() + " force", "settle", "reset",
			fmt.Sprintf("move %d-%d %s", first, first+random.IntN(100), pick()), fmt.Sprintf("migrate %d %s", random.IntN(16384), pick()),
			"partition " + pick() + " " + pick(), "heal", "lag " + pick() + " pause", "lag * none", "clock advance 1s", "add-replica " + pick(),
			"add-master", "remove " + pick(), "fault on command incr times 3 lose", "trace on 100", "restart " + pick(), "heal",
		}[random.IntN(20)]
		_, err := x.Do(strings.Fields(line)...)
		log = append(log, fmt.Sprint(line, ": ", err))
	}
	stop.Store(true)
	work.Wait()
	if err := c.Reset(); err != nil {
		t.Fatalf("reset after\n%s\n%v", strings.Join(log, "\n"), err)
	}
	for slot := range 16384 {
		if slot%512 == 0 && c.NodeForSlot(slots.Slot(slot)) == nil {
			t.Fatalf("slot %d is nobody's after\n%s", slot, strings.Join(log, "\n"))
		}
	}
	if !c.Settle() {
		t.Errorf("the nodes do not agree after a reset and\n%s", strings.Join(log, "\n"))
	}
}

// paused reports whether a node answers nothing.
func paused(c *emulator.Cluster, name string) bool {
	for _, n := range c.Nodes() {
		if n.Name() == name {
			return n.Paused()
		}
	}
	return true
}
