package topology

import (
	"sync"
	"testing"

	"github.com/fakecluster/fakecluster/emulator/internal/version"
	"github.com/fakecluster/fakecluster/slots"
)

// The names of the nodes of newSim(…, 3, 1, …): masters, then replicas.
const (
	n1 = iota
	n2
	n3
	n4
)

// peerOf is what node knows of other.
func (s *sim) peerOf(node, other int) *peer { return s.nodes[node].lookup(s.members[other].ID) }

// sent returns what a node wants to say, of one kind.
func (s *sim) sentBy(node int, kind MessageKind) (found []Message) {
	for _, m := range s.nodes[node].Outbox() {
		if m.Kind == kind {
			found = append(found, m)
		}
	}
	return found
}

// Votes, as the specification's section "Replica election and promotion" and
// clusterSendFailoverAuthIfNeeded have it.
func TestVote(t *testing.T) {
	for _, test := range []struct {
		name    string
		change  func(s *sim, m *Message)
		granted bool
	}{
		{"a replica of a failed master", func(*sim, *Message) {}, true},
		{"the master is up", func(s *sim, _ *Message) { s.peerOf(n2, n1).flags &^= flagFail }, false},
		{"the master is only suspected", func(s *sim, _ *Message) {
			p := s.peerOf(n2, n1)
			p.flags = p.flags&^flagFail | flagPFail
		}, false},
		{"the master is up, but its user asks", func(s *sim, m *Message) {
			s.peerOf(n2, n1).flags &^= flagFail
			m.ForceAck = true
		}, true},
		{"an epoch that has passed", func(s *sim, m *Message) { s.nodes[n2].currentEpoch, m.CurrentEpoch = 8, 7 }, false},
		{"the epoch is the current one", func(s *sim, m *Message) { s.nodes[n2].currentEpoch = m.CurrentEpoch }, true},
		{"a vote was given in this epoch", func(s *sim, m *Message) { s.nodes[n2].lastVoteEpoch = m.CurrentEpoch }, false},
		{"the voter is a replica", func(s *sim, _ *Message) { s.nodes[n2].follow(s.peerOf(n2, n3)) }, false},
		{"the voter has no slots", func(s *sim, _ *Message) { s.nodes[n2].releaseSlots(s.nodes[n2].self) }, false},
		{"the candidate is a master", func(s *sim, _ *Message) { s.nodes[n2].becomeMaster(s.peerOf(n2, n4)) }, false},
		{"a vote was given for the same master", func(s *sim, _ *Message) {
			s.peerOf(n2, n1).votedTime = s.nodes[n2].now - 2*s.nodes[n2].Settings.NodeTimeout + 1
		}, false},
		{"a vote was given for the same master long ago", func(s *sim, _ *Message) {
			s.peerOf(n2, n1).votedTime = s.nodes[n2].now - 2*s.nodes[n2].Settings.NodeTimeout
		}, true},
		{"one of its slots has an owner with a newer epoch", func(s *sim, m *Message) {
			s.nodes[n2].assign(77, s.peerOf(n2, n3))
			s.peerOf(n2, n3).epoch = m.ConfigEpoch + 1
		}, false},
		{"one of its slots has an owner with the same epoch", func(s *sim, m *Message) {
			s.nodes[n2].assign(77, s.peerOf(n2, n3))
			s.peerOf(n2, n3).epoch = m.ConfigEpoch
		}, true},
		{"a stranger", func(_ *sim, m *Message) { m.Sender = "stranger" }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newSim(t, 3, 1, version.V7_0, 1)
			s.peerOf(n2, n1).flags |= flagFail
			request := s.nodes[n4].header(AuthRequest)
			request.Opened, request.CurrentEpoch = true, 7
			test.change(s, &request)
			s.nodes[n2].Receive(&request, s.now)
			acks := s.sentBy(n2, AuthAck)
			if granted := len(acks) == 1; granted != test.granted {
				t.Errorf("granted: %v", granted)
			}
			if test.granted && (s.nodes[n2].lastVoteEpoch != 7 || s.peerOf(n2, n1).votedTime != s.now) {
				t.Error("the vote is not remembered")
			}
		})
	}
}

// Votes count only from masters with slots, and not from earlier epochs.
func TestCountedVotes(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(s *sim, m *Message)
		counts bool
	}{
		{"a master", func(*sim, *Message) {}, true},
		{"a replica", func(s *sim, _ *Message) {
			p := s.peerOf(n4, n2)
			p.flags = p.flags&^flagMaster | flagReplica
		}, false},
		{"a master without slots", func(s *sim, _ *Message) { s.nodes[n4].releaseSlots(s.peerOf(n4, n2)) }, false},
		{"an earlier epoch", func(_ *sim, m *Message) { m.CurrentEpoch = 6 }, false},
		{"a stranger", func(_ *sim, m *Message) { m.Sender = "stranger" }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newSim(t, 3, 1, version.V7_0, 1)
			s.nodes[n4].election = election{epoch: 7, sent: true}
			ack := s.nodes[n2].header(AuthAck)
			ack.Opened, ack.CurrentEpoch = true, 7
			test.change(s, &ack)
			s.nodes[n4].Receive(&ack, s.now)
			if got := s.nodes[n4].election.votes == 1; got != test.counts {
				t.Errorf("counts: %v", got)
			}
		})
	}
}

// A majority of masters must report a failure within two node timeouts.
func TestFailureNeedsAMajorityOfFreshReports(t *testing.T) {
	const masters = 5
	for _, test := range []struct {
		name      string
		suspected bool    // the judge itself suspects
		reports   []int64 // how old the other masters' reports are, in node timeouts
		failed    bool
	}{
		{"two others and the judge", true, []int64{0, 0}, true},
		{"one other", true, []int64{0}, false},
		{"three others, but the judge hears the node", false, []int64{0, 0, 0}, false},
		{"one report is too old", true, []int64{0, 3}, false},
		{"reports just fresh enough", true, []int64{0, 2}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newSim(t, masters, 0, version.V7_0, 1)
			judge, suspect := s.nodes[0], s.peerOf(0, 4)
			if test.suspected {
				suspect.flags |= flagPFail
			}
			now := s.now + 10*judge.Settings.NodeTimeout
			// The oldest report comes first; the last one is judged upon.
			for i := len(test.reports) - 1; i >= 0; i-- {
				m := s.nodes[1+i].heartbeat(Ping)
				m.Opened = true
				m.Gossip = []Gossip{{ID: suspect.id, Addr: suspect.addr, Flags: flagMaster | flagPFail}}
				judge.Receive(&m, now-test.reports[i]*judge.Settings.NodeTimeout)
				if i > 0 {
					judge.Outbox()
				}
			}
			if suspect.has(flagFail) != test.failed {
				t.Errorf("failed: %v", suspect.has(flagFail))
			}
			if fails := len(s.sentBy(0, Fail)); (fails == masters-1) != test.failed {
				t.Errorf("%d FAIL messages", fails)
			}
		})
	}
}

// The greater config epoch wins a slot; a slot being imported changes hands by
// command only.
func TestClaims(t *testing.T) {
	const slot = slots.Slot(77) // n1's
	for _, test := range []struct {
		name   string
		change func(s *sim, m *Message)
		owner  int
		update bool // the claimant is told of a newer owner
	}{
		{"a greater epoch", func(*sim, *Message) {}, n3, false},
		{"the owner's epoch", func(_ *sim, m *Message) { m.ConfigEpoch = 1 }, n1, false},
		{"a smaller epoch", func(s *sim, m *Message) { s.peerOf(n2, n1).epoch = 9 }, n1, true},
		{"nobody's slot", func(s *sim, m *Message) {
			s.nodes[n2].assign(slot, nil)
			m.ConfigEpoch = 0
		}, n3, false},
		{"a slot its owner does not claim any more", func(s *sim, m *Message) {
			without := s.nodes[n1].heartbeat(Ping)
			claims := *without.Slots
			claims.Remove(slot)
			without.Opened, without.Slots, without.ConfigEpoch = true, &claims, 9
			s.nodes[n2].Receive(&without, s.now)
			if s.nodes[n2].owner(slot) != s.peerOf(n2, n1) {
				panic("a slot that nobody claims changed hands")
			}
		}, n3, false},
		{"a slot being imported", func(s *sim, _ *Message) {
			if err := s.command(n2, "SETSLOT", "77", "IMPORTING", s.members[n1].ID); err != nil {
				panic(err)
			}
		}, n1, false},
		{"a replica's claim is its master's, not taken over", func(s *sim, m *Message) {
			m.Sender, m.MasterID = s.members[n4].ID, s.members[n1].ID
			m.Flags = flagReplica
			m.ConfigEpoch = 9
		}, n1, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newSim(t, 3, 1, version.V7_0, 1)
			m := s.nodes[n3].heartbeat(Ping)
			m.Opened, m.ConfigEpoch, m.CurrentEpoch = true, 8, 8
			claims := *m.Slots
			claims.Add(slot)
			m.Slots = &claims
			test.change(s, &m)
			s.nodes[n2].Receive(&m, s.now)
			if got := s.nodes[n2].owner(slot); got != s.peerOf(n2, test.owner) {
				t.Errorf("owned by %s", s.names[got.id])
			}
			if got := len(s.sentBy(n2, Update)) > 0; got != test.update {
				t.Errorf("update sent: %v", got)
			}
		})
	}
}

// Of two masters with one config epoch the one with the smaller id takes a new
// one.
func TestEpochCollision(t *testing.T) {
	for _, test := range []struct {
		receiver, sender int
		epoch            uint64
	}{{n1, n2, 7}, {n2, n1, 5}} {
		s := newSim(t, 3, 1, version.V7_0, 1)
		s.nodes[test.receiver].self.epoch = 5
		m := s.nodes[test.sender].heartbeat(Ping)
		m.Opened, m.ConfigEpoch = true, 5
		s.nodes[test.receiver].Receive(&m, s.now)
		current, own := s.nodes[test.receiver].Epochs()
		if own != test.epoch || current != max(6, test.epoch) {
			t.Errorf("n%d has epoch %d of %d after n%d's heartbeat, want %d", test.receiver+1, own, current, test.sender+1, test.epoch)
		}
	}
}

// Every replica that knows more delays a replica's election by a second, also
// when that is learned later.
func TestRankDelay(t *testing.T) {
	s := newSim(t, 3, 2, version.V7_0, 1)
	candidate := s.nodes[n4]
	candidate.lookup(s.members[n1].ID).flags |= flagFail
	candidate.Tick(s.now)
	first := candidate.election.at
	if wait := first - s.now; wait < electionDelay || wait > 2*electionDelay {
		t.Errorf("the first waits %d ms", wait)
	}
	candidate.lookup(s.members[6].ID).replOffset = 1000
	candidate.Tick(s.now + 100)
	if candidate.election.at != first+rankDelay {
		t.Errorf("a replica that knows less waits %d ms longer", candidate.election.at-first)
	}
}

// What arrives on a link that was closed meanwhile is not heard.
func TestAnswersOnClosedLinksAreIgnored(t *testing.T) {
	s := newSim(t, 3, 0, version.V7_0, 1)
	m := s.nodes[n2].heartbeat(Pong)
	m.Link, m.LinkTime = s.members[n2].ID, s.peerOf(n1, n2).link
	s.peerOf(n1, n2).pingSent = s.now - 1
	s.peerOf(n1, n2).link++
	s.nodes[n1].Receive(&m, s.now)
	if s.peerOf(n1, n2).pingSent == 0 {
		t.Error("an answer on an old link counts")
	}
	m.LinkTime++
	s.nodes[n1].Receive(&m, s.now)
	if s.peerOf(n1, n2).pingSent != 0 {
		t.Error("an answer on the open link does not count")
	}
}

// Two clusters with one seed do the same.
func TestSameSeedSameFate(t *testing.T) {
	fate := func() (text string) {
		s := newSim(t, 3, 2, version.V7_2, 42)
		s.Run(s.now)
		s.Kill(s.nodes[n1].ID())
		s.Settle(s.now)
		for _, n := range s.nodes {
			text += n.Nodes() + n.Info() + n.ShardID()
		}
		return text
	}
	if first := fate(); first != fate() {
		t.Error("the same seed leads elsewhere")
	}
}

// Before 7.0 a command that finds some of its keys is sent on, too.
func TestAskWithSomeKeysByVersion(t *testing.T) {
	for v, want := range map[version.Version]Kind{version.V6_2: Ask, version.V7_0: TryAgain, version.V7_2: TryAgain} {
		s := newSim(t, 3, 0, v, 1)
		if err := s.command(n1, "SETSLOT", "5061", "MIGRATING", s.members[n2].ID); err != nil {
			t.Fatal(err)
		}
		r := Request{
			Keys:   [][]byte{[]byte("{bar}here"), []byte("{bar}gone")},
			Exists: func(key []byte) bool { return string(key) == "{bar}here" },
		}
		if got := s.nodes[n1].Route(&r).Kind; got != want {
			t.Errorf("%v: %v, want %v", v, got, want)
		}
	}
}

func TestRouteAllocatesNothing(t *testing.T) {
	s := newSim(t, 3, 1, version.V7_0, 1)
	for name, key := range map[string]string{"serve": "bar", "moved": "foo"} {
		r := Request{Keys: [][]byte{[]byte(key)}}
		if allocs := testing.AllocsPerRun(100, func() { s.nodes[n1].Route(&r) }); allocs != 0 {
			t.Errorf("%s: %v allocations", name, allocs)
		}
	}
}

// Shard ids exist from 7.2 on; a replica has its master's.
func TestShardIDs(t *testing.T) {
	s := newSim(t, 3, 1, version.V7_2, 1)
	if id := s.nodes[n1].ShardID(); len(id) != 40 || id != s.nodes[n4].ShardID() || id == s.nodes[n2].ShardID() {
		t.Errorf("shards %q, %q, %q", id, s.nodes[n2].ShardID(), s.nodes[n4].ShardID())
	}
	if err := s.command(n4, "REPLICATE", s.members[n2].ID); err != nil {
		t.Fatal(err)
	}
	s.Run(s.now)
	if s.nodes[n4].ShardID() != s.nodes[n2].ShardID() {
		t.Error("a replica keeps its former master's shard")
	}
	if id := newSim(t, 1, 0, version.V7_0, 1).nodes[0].ShardID(); id != "" {
		t.Errorf("7.0 has the shard id %q", id)
	}
}

// Clients' commands run beside the network, each node guarded on its own.
func TestCommandsBesideTheNetwork(t *testing.T) {
	s := prepareSim(Layout(3, 1), version.V7_0, 1)
	nodes, err := Form(s.members, s.now)
	if err != nil {
		t.Fatal(err)
	}
	guards := make([]sync.Mutex, len(nodes))
	for i, n := range nodes {
		s.nodes = append(s.nodes, n)
		s.Add(n, &guards[i])
	}
	var clients sync.WaitGroup
	for i := range nodes {
		clients.Go(func() {
			r := Request{Keys: [][]byte{[]byte("bar")}}
			for round := range 200 {
				guards[i].Lock()
				s.nodes[i].Route(&r)
				s.nodes[i].Nodes()
				if round%50 == 0 {
					s.nodes[i].BumpEpoch(s.now)
					_ = s.command(i, "FAILOVER", "TAKEOVER")
					_ = s.command(i, "MEET", "127.0.0.1", "7001", "17001")
				}
				guards[i].Unlock()
			}
		})
	}
	for range 20 {
		s.Kill(s.members[n1].ID)
		s.Settle(s.now)
		s.Start(s.members[n1].ID)
		s.Settle(s.now)
	}
	clients.Wait()
	if !s.Settle(s.now) {
		t.Error("the cluster does not settle")
	}
}
