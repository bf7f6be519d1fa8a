package bench

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// measureMigration moves a slot with all its keys from a master to another one,
// as redis-cli does: SETSLOT, GETKEYSINSLOT and MIGRATE, SETSLOT.
func measureMigration(t *testing.T, sizes []int) curve {
	c := newCurve("migration of a slot, per key", "O(1) per key", sizes)
	servers := []*server{startOurs(t, true), startReal(t, true)}
	for _, s := range servers {
		m := mover{tb: t}
		m.join(s)
		for _, size := range sizes {
			m.fill(size)
			c.Times[s.name] = append(c.Times[s.name], m.move().Seconds()*1e6/float64(size))
			m.nodes[m.owner].do("FLUSHALL")
		}
	}
	return c
}

// mover moves one slot about.
type mover struct {
	tb    testing.TB
	slot  string
	addrs []string
	nodes []*wire
	ids   []string
	owner int
}

// tag is the hash tag of the keys that are moved.
const tag = "{moved}"

func (m *mover) join(s *server) {
	m.addrs = s.addrs
	for _, addr := range s.addrs {
		w := dial(m.tb, addr)
		m.nodes = append(m.nodes, w)
		m.ids = append(m.ids, w.text("CLUSTER", "MYID"))
	}
	m.slot = m.nodes[0].text("CLUSTER", "KEYSLOT", tag)
	for i, w := range m.nodes {
		for line := range strings.Lines(w.text("CLUSTER", "NODES")) {
			if fields := strings.Fields(line); strings.Contains(fields[2], "myself") && holds(fields[8:], m.slot) {
				m.owner = i
			}
		}
	}
}

// holds reports whether one of some slot ranges, "0-5460", holds a slot.
func holds(ranges []string, slot string) bool {
	n, _ := strconv.Atoi(slot)
	for _, r := range ranges {
		first, last, _ := strings.Cut(r, "-")
		low, errLow := strconv.Atoi(first)
		high, errHigh := strconv.Atoi(last)
		if errLow == nil && errHigh == nil && low <= n && n <= high {
			return true
		}
	}
	return false
}

func (m *mover) fill(keys int) {
	m.nodes[m.owner].pour(keys, func(b []byte, i int) []byte {
		return appendCommand(b, "SET", tag+strconv.Itoa(i), "value")
	})
}

// move moves the slot to the next node and returns how long that took.
func (m *mover) move() time.Duration {
	from, to := m.owner, (m.owner+1)%len(m.nodes)
	source, target := m.nodes[from], m.nodes[to]
	host, port, _ := strings.Cut(m.addrs[to], ":")
	began := time.Now()
	target.do("CLUSTER", "SETSLOT", m.slot, "IMPORTING", m.ids[from])
	source.do("CLUSTER", "SETSLOT", m.slot, "MIGRATING", m.ids[to])
	for {
		keys := source.list("CLUSTER", "GETKEYSINSLOT", m.slot, "1000")
		if len(keys) == 0 {
			break
		}
		source.do(append([]string{"MIGRATE", host, port, "", "0", "10000", "KEYS"}, keys...)...)
	}
	took := time.Since(began)
	for _, at := range []int{to, from, 3 - to - from} {
		m.nodes[at].do("CLUSTER", "SETSLOT", m.slot, "NODE", m.ids[to])
	}
	m.owner = to
	return took
}

// list sends a command and returns its reply, which must be an array of bulk
// strings.
func (w *wire) list(args ...string) []string {
	w.tb.Helper()
	head := w.head(args...)
	count, err := strconv.Atoi(head[1 : len(head)-2])
	if err != nil {
		w.tb.Fatalf("%v: %q", args, head)
	}
	items := make([]string, 0, count)
	for range count {
		if _, err := w.in.ReadSlice('\n'); err != nil { // "$n"; no item has a line end
			w.tb.Fatal(err)
		}
		item, err := w.in.ReadString('\n')
		if err != nil {
			w.tb.Fatal(err)
		}
		items = append(items, item[:len(item)-2])
	}
	return items
}
