package topology

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fakecluster/fakecluster/emulator/internal/version"
)

// TestParseNodesReadsWhatNodesPrints forms a cluster from its own description.
func TestParseNodesReadsWhatNodesPrints(t *testing.T) {
	s := newSim(t, 3, 1, version.V7_0, 1)
	for _, words := range [][]string{
		{"SETSLOT", "7", "MIGRATING", s.nodes[1].ID()}, {"DELSLOTS", "100", "200"}, {"BUMPEPOCH"},
	} {
		if err := s.command(0, words...); err != nil {
			t.Fatal(err)
		}
	}
	s.Run(s.now)
	members, err := ParseNodes(s.nodes[0].Nodes())
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 1))
	for i := range members {
		members[i].Version, members[i].Settings, members[i].Rand, members[i].Host = version.V7_0, DefaultSettings(), random, newServer()
	}
	nodes, err := Form(members, s.now)
	if err != nil {
		t.Fatal(err)
	}
	masked := func(n *Node) []string {
		lines := canonicalNodes(n.Nodes())
		for i := range lines {
			lines[i] = strings.ReplaceAll(lines[i], "myself,", "")
			lines[i], _, _ = strings.Cut(lines[i], " [")
		}
		return lines
	}
	for _, n := range nodes {
		if got, want := masked(n), masked(s.nodes[0]); !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestParseNodes(t *testing.T) {
	a, b, c := strings.Repeat("a", 40), strings.Repeat("b", 40), strings.Repeat("c", 40)
	line := func(id, addr, flags, master, rest string) string {
		return strings.Join([]string{id, addr, flags, master, "0 0", rest}, " ") + "\n"
	}
	for _, test := range []struct{ name, text, want string }{
		{"older address", line(a, "10.0.0.1:6379", "master", "-", "3 connected 0-5 7"), "10.0.0.1:6379@16379 of -1 epoch 3 [0-5 7]"},
		{"hostname", line(a, "10.0.0.1:6379@9,db-1", "master", "-", "3 connected"), "10.0.0.1:6379@9,db-1 of -1 epoch 3 []"},
		{"version 6", line(a, "fd00::1:6379@9", "master", "-", "3 connected"), "fd00::1:6379@9 of -1 epoch 3 []"},
		{
			"replica first", line(b, "10.0.0.2:1@2", "slave", a, "3 connected") + line(a, "10.0.0.1:1@2", "myself,master", "-", "3 connected 9"),
			"10.0.0.2:1@2 of 1 epoch 0 []; 10.0.0.1:1@2 of -1 epoch 3 [9]",
		},
		{
			"the failed are left out", line(b, "10.0.0.2:1@2", "slave", c, "3 connected") + line(c, "10.0.0.3:1@2", "master,fail", "-", "3 disconnected 9") +
				line(a, "10.0.0.1:1@2", "master,fail?", "-", "4 connected"), "10.0.0.1:1@2 of -1 epoch 4 []",
		},
		{"empty", "\n", "error: no usable node in CLUSTER NODES"},
		{"short", "a b c\n", "error: line 1 of CLUSTER NODES: 3 fields, want at least 8"},
		{"id", line("a", "10.0.0.1:1@2", "master", "-", "3 connected"), `error: line 1 of CLUSTER NODES: node id "a" is not 40 hexadecimal digits`},
		{"port", line(a, "10.0.0.1", "master", "-", "3 connected"), `error: line 1 of CLUSTER NODES: address "10.0.0.1" has no port`},
		{"name", line(a, "db:1", "master", "-", "3 connected"), `error: line 1 of CLUSTER NODES: address "db:1" does not begin with an IP address`},
		{"epoch", line(a, "10.0.0.1:1", "master", "-", "x connected"), `error: line 1 of CLUSTER NODES: config epoch "x" is not a number`},
		{"slot", line(a, "10.0.0.1:1", "master", "-", "1 connected 20000"), `error: line 1 of CLUSTER NODES: slot "20000" is not a number from 0 to 16383`},
		{"twice", line(a, "10.0.0.1:1", "master", "-", "1 connected") + line(a, "10.0.0.1:1", "master", "-", "1 connected"), "error: node " + a + " is listed twice"},
	} {
		t.Run(test.name, func(t *testing.T) {
			members, err := ParseNodes(test.text)
			var got []string
			if err != nil {
				got = append(got, "error: "+err.Error())
			}
			for _, m := range members {
				got = append(got, describeMember(m))
			}
			if text := strings.Join(got, "; "); text != test.want {
				t.Errorf("got  %s\nwant %s", text, test.want)
			}
		})
	}
}

func describeMember(m Member) string {
	host := m.Addr.Host
	text := fmt.Sprintf("%s:%d@%d", host, m.Addr.Port, m.Addr.BusPort)
	if m.Addr.Hostname != "" {
		text += "," + m.Addr.Hostname
	}
	return fmt.Sprintf("%s of %d epoch %d %v", text, m.ReplicaOf, m.Epoch, m.Slots)
}
