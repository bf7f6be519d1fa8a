package topology

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/fakecluster/fakecluster/emulator/internal/version"
	"github.com/fakecluster/fakecluster/tests/redisserver"
)

// lonely is a real node that has met nobody and a simulated one. In commands
// and replies both are called SELF, as RESET HARD changes their ids.
type lonely struct {
	*sim
	conn   redis.Conn
	realID string
}

// TestRandomCommandsAgreeWithRedis sends the same random CLUSTER commands to
// both and compares replies and what they say of themselves after each.
func TestRandomCommandsAgreeWithRedis(t *testing.T) {
	const commands = 3000
	conn, err := redis.Dial("tcp", redisserver.StartEmptyNode(t).Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	l := &lonely{sim: newEmptySim(1, version.V7_0, 1), conn: conn}
	l.realID = l.read(t, "MYID")
	random := rand.New(rand.NewPCG(7, 7))
	var log []string
	for range commands {
		words := randomCommand(random)
		log = append(log, strings.Join(words, " "))
		want, got := l.both(words)
		l.realID = l.read(t, "MYID")
		if got == want {
			got, want = aboutItself(l.nodes[0].Nodes(), l.nodes[0].ID()), aboutItself(l.read(t, "NODES"), l.realID)
		}
		if got != want {
			t.Fatalf("after %s\n%q, redis says\n%q", strings.Join(log[max(0, len(log)-10):], "\n"), got, want)
		}
	}
}

func (l *lonely) read(t *testing.T, subcommand string) string {
	t.Helper()
	reply, err := redis.String(l.conn.Do("CLUSTER", subcommand))
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// both sends a command to both nodes and returns their errors.
func (l *lonely) both(words []string) (real, simulated string) {
	var args []any
	ours := slices.Clone(words)
	for i, word := range words {
		if word == "SELF" {
			word, ours[i] = l.realID, l.nodes[0].ID()
		}
		args = append(args, word)
	}
	if _, err := l.conn.Do("CLUSTER", args...); err != nil {
		real = strings.ReplaceAll(err.Error(), l.realID, "SELF")
	}
	id := l.nodes[0].ID()
	if err := l.command(0, ours...); err != nil {
		simulated = strings.ReplaceAll(err.Error(), id, "SELF")
	}
	if simulated == ErrArity.Error() && strings.Contains(real, simulated) {
		simulated = real
	}
	return real, simulated
}

// randomCommand is a CLUSTER command, right or wrong, that a node on its own
// can be sent.
func randomCommand(random *rand.Rand) []string {
	pick := func(words ...string) string { return words[random.IntN(len(words))] }
	slot := func() string {
		if random.IntN(20) == 0 {
			return pick("-1", "16384", "x", "", "01", "1.5")
		}
		return fmt.Sprint(random.IntN(12))
	}
	several := func(words []string, least, most int, word func() string) []string {
		for range least + random.IntN(most-least+1) {
			words = append(words, word())
		}
		return words
	}
	id := func() string { return pick("SELF", strings.Repeat("e", 40), "x", "") }
	switch random.IntN(25) {
	case 0, 1, 2, 3:
		return several([]string{pick("ADDSLOTS", "DELSLOTS")}, 1, 3, slot)
	case 4, 5, 6, 7:
		return several([]string{pick("ADDSLOTSRANGE", "DELSLOTSRANGE")}, 2, 4, slot)
	case 8, 9, 10, 11, 12, 13:
		return several([]string{"SETSLOT", slot(), pick("IMPORTING", "migrating", "NODE", "STABLE", "x")}, 0, 2, id)
	case 14, 15:
		return []string{"BUMPEPOCH"}
	case 16, 17:
		return []string{"SET-CONFIG-EPOCH", pick("0", "-1", "7", "x", "12")}
	case 18, 19, 20, 21:
		return []string{pick("FORGET", "REPLICATE", "COUNT-FAILURE-REPORTS", "REPLICAS"), id()}
	case 22, 23:
		return []string{"FAILOVER", pick("FORCE", "takeover", "x")}
	}
	if random.IntN(2) == 0 {
		return []string{"FLUSHSLOTS"}
	}
	return several([]string{"RESET"}, 0, 1, func() string { return pick("HARD", "soft", "x") })
}

// aboutItself is the flags, epoch and slots of a lone node's line.
func aboutItself(nodes, id string) string {
	fields := strings.Fields(strings.ReplaceAll(nodes, id, "SELF"))
	return strings.Join(append([]string{fields[0], fields[2]}, fields[6:]...), " ")
}
