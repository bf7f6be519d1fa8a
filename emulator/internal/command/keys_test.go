package command

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/fakecluster/fakecluster/emulator/internal/version"
	"github.com/fakecluster/fakecluster/slots"
	"github.com/fakecluster/fakecluster/tests/redisserver"
)

// keyWords are what random arguments are made of: keys, numbers that may count
// them, and the keywords key extraction looks for.
var keyWords = strings.Fields(`
	k1 k2 {k1}a k3 0 1 2 3 -1 2x 99999999999 1.5
	STORE store STOREDIST STREAMS streams GROUP COUNT BLOCK NOACK KEYS keys AUTH AUTH2 COPY REPLACE
	GET get SET INCRBY OVERFLOW LIMIT BY WEIGHTS AGGREGATE MIN u8 #0`)

// randomCall makes up arguments for a command or subcommand, mostly in
// accordance with its arity.
func randomCall(random *rand.Rand, s *Spec) []string {
	call := strings.Split(s.Name, "|")
	n := s.Arity
	if n < 0 {
		n = -n + random.IntN(7)
	}
	if random.IntN(20) == 0 {
		n += random.IntN(3) - 1
	}
	for len(call) < n {
		word := keyWords[random.IntN(len(keyWords))]
		if random.IntN(3) == 0 && len(s.KeySpecs) > 0 && s.KeySpecs[0].Begin == BeginIndex && s.KeySpecs[0].Find == FindKeyNum {
			word = fmt.Sprint(random.IntN(4))
		}
		if s.Name == "migrate" && len(call) == 3 && random.IntN(2) == 0 {
			word = ""
		}
		call = append(call, word)
	}
	return call
}

func TestKeysAsRedis(t *testing.T) {
	server := redisserver.Start(t)
	real := dialRaw(t, server)
	defer real.conn.Close()
	ours := newLocal(2)
	random := rand.New(rand.NewPCG(3, 4))
	calls := [][]string{{"nosuch", "a"}, {"object", "x", "a"}, {"multi", "x"}, {"debug", "object", "a"}}
	for _, s := range ours.table.Rows() {
		rounds := 5
		if s.extract != nil || s.Has(MovableKeys) {
			rounds = 400
		}
		for range rounds {
			calls = append(calls, randomCall(random, s))
		}
	}
	for _, call := range calls {
		for _, sub := range []string{"GETKEYS", "GETKEYSANDFLAGS"} {
			args := append([]string{"COMMAND", sub}, call...)
			request := make([][]byte, len(args))
			for i, arg := range args {
				request[i] = []byte(arg)
			}
			want := real.do(t, args...)
			if got := ours.run(request, false).reply; got != want {
				t.Errorf("%q:\n got %q\nwant %q", args, got, want)
			}
		}
	}
}

// A node that serves no slot refuses whatever routes by key and nothing else,
// and one that serves all tells when keys are in different slots.
func TestRoutingKeysAsRedis(t *testing.T) {
	empty := redisserver.Start(t, "--cluster-enabled", "yes", "--cluster-require-full-coverage", "no")
	full := redisserver.Start(t, "--cluster-enabled", "yes")
	if reply, err := full.Do("CLUSTER", "ADDSLOTSRANGE", "0", "16383"); err != nil {
		t.Fatalf("ADDSLOTSRANGE: %v %v", reply, err)
	}
	onEmpty, onFull := dialRaw(t, empty), dialRaw(t, full)
	defer onEmpty.conn.Close()
	defer onFull.conn.Close()
	for onFull.do(t, "GET", "k") != "$-1\r\n" { // the cluster is not up at once
	}
	table := table70()
	random := rand.New(rand.NewPCG(5, 6))
	for _, s := range table.Rows() {
		if !s.HasKeys() || s.Has(Blocking) || s.Has(Admin) || s.Name == "migrate" || s.Name == "watch" ||
			s.Name == "restore-asking" || strings.HasPrefix(s.Name, "pfdebug") {
			continue
		}
		rounds := 5
		if s.extract != nil {
			rounds = 100
		}
		for range rounds {
			call := randomCall(random, s)
			args := make([][]byte, len(call))
			for i, word := range call {
				args[i] = []byte(word)
			}
			if table.Lookup(args) != s || !s.CheckArity(len(args)) {
				continue
			}
			found := map[slots.Slot]bool{}
			for _, ref := range s.AppendKeys(nil, args) {
				found[slots.Of(args[ref.Pos])] = true
			}
			reply := onEmpty.do(t, call...)
			if down := strings.HasPrefix(reply, "-CLUSTERDOWN"); down != (len(found) > 0) {
				t.Errorf("%q has keys in slots %v, a node without slots answers %q", call, found, reply)
			}
			reply = onFull.do(t, call...)
			if cross := strings.HasPrefix(reply, "-CROSSSLOT"); cross != (len(found) > 1) {
				t.Errorf("%q has keys in slots %v, a node with all slots answers %q", call, found, reply)
			}
		}
	}
}

func TestShardChannelsRoute(t *testing.T) {
	table := NewTable(version.V7_0)
	args := words("ssubscribe a b c")
	refs := table.Lookup(args).AppendKeys(nil, args)
	if fmt.Sprint(refs) != "[{1 0} {2 0} {3 0}]" {
		t.Errorf("the channels of SSUBSCRIBE are %v", refs)
	}
	if table.Lookup(args).HasKeys() {
		t.Error("SSUBSCRIBE has keys")
	}
}

func TestAppendKeysDoesNotAllocate(t *testing.T) {
	table := NewTable(version.V7_0)
	refs := make([]KeyRef, 0, 8)
	for _, line := range []string{"get a", "mset a 1 b 2", "set a b", "eval x 2 a b", "xread count 2 streams a b 0 0", "sort a by x store y"} {
		args := words(line)
		s := table.Lookup(args)
		if n := testing.AllocsPerRun(100, func() { s.AppendKeys(refs[:0], args) }); n != 0 {
			t.Errorf("%s: %v allocations", line, n)
		}
	}
}
