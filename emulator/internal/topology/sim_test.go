package topology

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/fakecluster/fakecluster/emulator/internal/version"
	"github.com/fakecluster/fakecluster/slots"
)

// server is a Host that remembers what the rules asked of it.
type server struct {
	keys    map[slots.Slot]int
	offset  int64
	dataAge int64
	master  string
	paused  int64 // until
	emptied bool
}

func newServer() *server { return &server{keys: map[slots.Slot]int{}, offset: 14} }

func (s *server) Keys() int {
	sum := 0
	for _, n := range s.keys {
		sum += n
	}
	return sum
}
func (s *server) KeysInSlot(slot slots.Slot) int   { return s.keys[slot] }
func (s *server) DeleteKeysInSlot(slot slots.Slot) { delete(s.keys, slot) }
func (s *server) EmptyData()                       { clear(s.keys); s.emptied = true }
func (s *server) ReplicationOffset() int64         { return s.offset }
func (s *server) ReplicaDataAge() int64            { return s.dataAge }
func (s *server) Follow(master string)             { s.master = master }
func (s *server) PauseWrites(until int64)          { s.paused = until }

// sim is a network of nodes called n1, n2 and so on. Node n1's id is forty
// ones, so ids order as names do.
type sim struct {
	*Network
	now     int64
	nodes   []*Node
	servers []*server
	members []Member
	names   map[string]string // by id
}

const simStart = 1_700_000_000_000

// failer is what newSim needs of a testing.TB or a rapid.T.
type failer interface{ Fatal(...any) }

func newSim(tb failer, masters, replicas int, v version.Version, seed uint64) *sim {
	s := prepareSim(Layout(masters, replicas), v, seed)
	nodes, err := Form(s.members, s.now)
	if err != nil {
		tb.Fatal(err)
	}
	for _, n := range nodes {
		s.join(n)
	}
	return s
}

// newEmptySim returns nodes that have not met.
func newEmptySim(count int, v version.Version, seed uint64) *sim {
	s := prepareSim(make([]Member, count), v, seed)
	for i := range s.members {
		s.join(NewNode(s.members[i].Config, s.now))
	}
	return s
}

func prepareSim(members []Member, v version.Version, seed uint64) *sim {
	random := func(i int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(i))) }
	s := &sim{now: simStart, Network: NewNetwork(random(-1), simStart), names: map[string]string{}, members: members}
	for i := range members {
		s.servers = append(s.servers, newServer())
		id := fmt.Sprintf("%040x", i+1)
		if i < 15 {
			id = strings.Repeat(strconv.FormatInt(int64(i+1), 16), 40)
		}
		members[i].Config = Config{
			ID: id, Addr: Addr{Host: "127.0.0.1", Port: 7001 + i, BusPort: 17001 + i},
			Version: v, Settings: DefaultSettings(), Rand: random(i), Host: s.servers[i],
		}
		s.names[id] = fmt.Sprintf("n%d", i+1)
		if r := members[i].ReplicaOf; r >= 0 && members[r].Slots != nil {
			s.servers[i].master = members[r].ID
		}
	}
	return s
}

func (s *sim) join(n *Node) {
	s.nodes = append(s.nodes, n)
	s.Add(n, nil)
}

// advance lets time pass.
func (s *sim) advance(ms int64) {
	s.now += ms
	s.Run(s.now)
}
