package topology

import (
	"strings"
	"testing"

	"github.com/fakecluster/fakecluster/emulator/internal/version"
)

// While nothing happens no heartbeats are exchanged, and CLUSTER NODES shows
// times as if they were.
func TestRestingNodesShowFreshTimes(t *testing.T) {
	s := newSim(t, 3, 1, version.V7_0, 1)
	s.Run(s.now)
	if _, ok := s.Next(); ok {
		t.Fatal("a settled cluster wants to be woken")
	}
	before := s.nodes[0].stats.sent
	s.advance(3600_500)
	if s.nodes[0].stats.sent != before {
		t.Error("heartbeats were sent")
	}
	s.nodes[0].Refresh(s.now)
	for p := range s.nodes[0].others {
		if age := s.now - p.pongReceived; age < 0 || age > 1000 {
			t.Errorf("the pong of %s is %d ms old", s.names[p.id], age)
		}
	}
	// Real time goes on when something happens.
	s.Kill(s.members[1].ID)
	at, ok := s.Next()
	if !ok || at > s.now+TickPeriod {
		t.Errorf("woken at %d, %v", at-s.now, ok)
	}
	s.advance(14_000)
	s.nodes[0].Refresh(s.now)
	if age := s.now - s.peerOf(0, 1).pongReceived; age < 14_000 {
		t.Errorf("the pong of a dead node is %d ms old", age)
	}
	s.advance(3_000)
	if got := s.nodes[0].Nodes(); !strings.Contains(got, "master,fail ") {
		t.Errorf("the dead node is not found:\n%s", got)
	}
}
