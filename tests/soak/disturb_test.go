package soak

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/emulator/control"
)

// disturber does to a cluster what can be done to one.
type disturber struct {
	t       *testing.T
	c       *emulator.Cluster
	x       *control.Controller
	rand    *rand.Rand
	said    *ledger
	samples []sample
}

func newDisturber(t *testing.T, c *emulator.Cluster, said *ledger) *disturber {
	return &disturber{t: t, c: c, x: control.New(c), rand: rand.New(rand.NewPCG(11, 1)), said: said}
}

func (d *disturber) node() string {
	nodes := d.c.Nodes()
	return nodes[d.rand.IntN(len(nodes))].Name()
}

// disturbances are the lines of the control language that a round picks from:
// verbs, each with what is to be different each time.
var disturbances = []struct {
	verb string
	rest func(d *disturber) string
}{
	{"kill %s", (*disturber).node},
	{"restart %s", (*disturber).node},
	{"restart %s loading 20ms", (*disturber).node},
	{"failover %s", (*disturber).node},
	{"failover %s force", (*disturber).node},
	{"failover %s takeover", (*disturber).node},
	{"settle", nil},
	{"move %s", func(d *disturber) string {
		first := d.rand.IntN(16000)
		return fmt.Sprintf("%d-%d %s", first, first+d.rand.IntN(300), d.node())
	}},
	{"migrate %s", func(d *disturber) string { return fmt.Sprintf("%d %s", d.rand.IntN(16384), d.node()) }},
	{"partition %s", func(d *disturber) string { return d.node() + " " + d.node() }},
	{"way %s delay 20ms loss 0.2", func(d *disturber) string { return d.node() + " > " + d.node() }},
	{"heal", nil},
	{"pause %s", (*disturber).node},
	{"resume *", nil},
	{"lag %s 5ms", (*disturber).node},
	{"lag %s pause", (*disturber).node},
	{"lag * none", nil},
	{"clock advance 1s", nil},
	{"add-replica %s", (*disturber).node},
	{"add-master", nil},
	{"remove %s", (*disturber).node},
	{"fault on times 20 chance 0.1 lose", nil},
	{"fault on times 20 chance 0.1 drop", nil},
	{"fault on times 20 chance 0.1 delay 3ms", nil},
	{"fault on times 20 chance 0.1 truncate 3", nil},
	{"fault on times 5 chance 0.1 trickle 7 1ms", nil},
	{"fault on times 20 chance 0.1 error OOM", nil},
	{"fault on times 3 refuse", nil},
	{"fault-remove *", nil},
	{"trace on 100", nil},
	{"trace off", nil},
	{"nodes", nil},
}

// breath is the time the load has between two disturbances.
const breath = 3 * time.Millisecond

// round disturbs the cluster for a while and brings it back to its beginning.
func (d *disturber) round() {
	for range 8 {
		one := disturbances[d.rand.IntN(len(disturbances))]
		if one.rest == nil {
			d.do(one.verb, one.verb)
		} else {
			d.do(one.verb, fmt.Sprintf(one.verb, one.rest(d)))
		}
		time.Sleep(breath)
	}
	d.calm()
}

// calm ends whatever goes on.
func (d *disturber) calm() {
	d.do("fault-remove *", "fault-remove *")
	d.do("resume *", "resume *")
	if err := d.c.Reset(); err != nil {
		d.t.Fatalf("reset: %v", err)
	}
	if !d.c.Settle() {
		d.t.Error("the nodes do not agree after a reset")
	}
}

// do says a line, and notes whether it was done. That it makes no sense in the
// state the cluster is in is no failure.
func (d *disturber) do(verb, line string) {
	if verb == "fault-remove *" {
		for _, f := range d.x.Faults() {
			d.said.hits += f.Hits
		}
	}
	_, err := d.x.Do(strings.Fields(line)...)
	d.said.note(verb, err)
}
