package replication

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fakecluster/fakecluster/tests/redisserver"
)

func effect(db int, words ...string) Effect {
	e := Effect{DB: db}
	for _, w := range words {
		e.Args = append(e.Args, []byte(w))
	}
	return e
}

func write(l *Log, now int64, words ...string) bool {
	return l.Append(now, []Effect{effect(0, words...)})
}

// started returns a log with one replica in sync.
func started() (*Log, *Link) {
	l := NewLog(strings.Repeat("a", 40))
	k := l.Attach("r", 0)
	k.Start()
	return l, k
}

// drain takes all there is and returns the blocks as text.
func drain(k *Link, now int64) string {
	var all []string
	for b, ok := k.Next(now); ok; b, ok = k.Next(now) {
		all = append(all, text(b))
	}
	return strings.Join(all, "; ")
}

func text(b Block) string {
	var effects []string
	for _, e := range b.Effects {
		words := make([]string, len(e.Args))
		for i, arg := range e.Args {
			words[i] = string(arg)
		}
		effects = append(effects, fmt.Sprintf("%d:%s", e.DB, strings.Join(words, " ")))
	}
	return strings.Join(effects, ", ")
}

func TestNothingIsKeptWithoutReplicas(t *testing.T) {
	l := NewLog("id")
	args := []Effect{effect(0, "set", "a", "1")}
	if allocs := testing.AllocsPerRun(100, func() { l.Append(1, args) }); allocs != 0 {
		t.Errorf("Append allocates %v times", allocs)
	}
	if l.Active() || l.Offset() != 0 || len(l.blocks) != 0 {
		t.Errorf("active %v, offset %d, %d blocks", l.Active(), l.Offset(), len(l.blocks))
	}
}

func TestOrderAndBlocks(t *testing.T) {
	l, k := started()
	arg := []byte("v1")
	l.Append(1, []Effect{{DB: 0, Args: [][]byte{[]byte("set"), []byte("k"), arg}}})
	copy(arg, "xx") // the caller's buffer is used again
	l.Append(2, []Effect{effect(0, "srem", "s", "m"), effect(3, "del", "k")})
	if got, want := drain(k, 2), "0:set k v1; 0:srem s m, 3:del k"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if k.Pending(2) {
		t.Error("still pending")
	}
	if k.Received(2) != l.Offset() {
		t.Errorf("received %d of %d", k.Received(2), l.Offset())
	}
}

func TestLag(t *testing.T) {
	l, k := started()
	k.SetLag(100)
	write(l, 1000, "set", "a", "1")
	first := l.Offset()
	write(l, 1050, "set", "a", "2")
	second := l.Offset()
	for _, step := range []struct {
		now      int64
		received int64
		pending  bool
	}{{1099, pingSize, false}, {1100, first, true}, {1149, first, true}, {1150, second, true}} {
		if got := k.Received(step.now); got != step.received {
			t.Errorf("received at %d: %d, want %d", step.now, got, step.received)
		}
		if got := k.Pending(step.now); got != step.pending {
			t.Errorf("pending at %d: %v", step.now, got)
		}
	}
	if at, ok := l.NextReceipt(second, 1100); !ok || at != 1150 {
		t.Errorf("next receipt at %d, %v, want 1150", at, ok)
	}
	if got := drain(k, 1149); got != "0:set a 1" {
		t.Errorf("taken at 1149: %q", got)
	}
	if got := drain(k, 1150); got != "0:set a 2" {
		t.Errorf("taken at 1150: %q", got)
	}
}

func TestPausedLinkLosesExactlyTheSuffix(t *testing.T) {
	l, k := started()
	write(l, 1000, "set", "a", "1")
	k.Pause(1001)
	write(l, 1002, "set", "a", "2")
	if n := l.Received(l.Offset(), 5000); n != 0 {
		t.Errorf("%d replicas have what was written after the pause", n)
	}
	if _, ok := l.NextReceipt(l.Offset(), 5000); ok {
		t.Error("a paused link promises a receipt")
	}
	if l.Good(10_000, 5000) != 1 || l.Good(1000, 5000) != 0 {
		t.Error("Good does not follow the pause")
	}
	k.Break(5000)
	k.Resume() // too late
	if got := drain(k, 9000); got != "0:set a 1" {
		t.Errorf("taken: %q", got)
	}
}

// A pause does not ask the clock which writes came before it.
func TestPauseWithinAMillisecond(t *testing.T) {
	l, k := started()
	write(l, 1000, "set", "a", "1")
	received := l.Offset()
	k.Pause(1000)
	write(l, 1000, "set", "a", "2")
	if got := k.Received(2000); got != received || l.Received(l.Offset(), 2000) != 0 {
		t.Errorf("received %d, want %d", got, received)
	}
	if got := drain(k, 2000); got != "0:set a 1" {
		t.Errorf("taken: %q", got)
	}
	k.Resume()
	if got := drain(k, 2000); got != "0:set a 2" {
		t.Errorf("taken after the pause: %q", got)
	}
}

func TestBreakKeepsWhatHadArrived(t *testing.T) {
	l, k := started()
	k.SetLag(100)
	write(l, 1000, "set", "a", "1")
	write(l, 1050, "set", "a", "2")
	k.Break(1120)
	if got := drain(k, 9000); got != "0:set a 1" {
		t.Errorf("taken: %q", got)
	}
}

func TestResumeLetsItArrive(t *testing.T) {
	l, k := started()
	notified := 0
	l.Notify = func() { notified++ }
	k.Pause(1000)
	write(l, 1001, "set", "a", "1")
	if got := drain(k, 2000); got != "" {
		t.Errorf("taken while paused: %q", got)
	}
	k.Resume()
	if got := drain(k, 2000); got != "0:set a 1" || notified != 1 {
		t.Errorf("taken: %q, notified %d times", got, notified)
	}
}

func TestSyncStartsAtTheCopy(t *testing.T) {
	l, _ := started()
	write(l, 1, "set", "a", "1")
	k := l.Attach("late", 2)
	write(l, 3, "set", "a", "2")
	if !k.NeedsSync() || k.Pending(3) {
		t.Error("a new link has something before the copy")
	}
	if l.Received(0, 3) != 1 {
		t.Error("a replica without a copy counts for WAIT")
	}
	if _, offset := k.Start(); offset != l.Offset() {
		t.Errorf("the copy is at %d, the log at %d", offset, l.Offset())
	}
	write(l, 4, "set", "a", "3")
	if got := drain(k, 4); got != "0:set a 3" {
		t.Errorf("taken: %q", got)
	}
}

// A replica that took what its master wrote during the copy would lose it when the
// copy arrives, and one that counted as having it would lose it at a failover.
func TestWritesDuringTheCopyWaitForIt(t *testing.T) {
	l, _ := started()
	write(l, 1, "set", "a", "1")
	k := l.Attach("late", 2)
	_, copied := k.BeginCopy()
	write(l, 3, "set", "a", "2")
	if got := drain(k, 3); got != "" || k.Pending(3) {
		t.Errorf("taken before the copy: %q", got)
	}
	if k.Received(3) >= copied || !k.NeedsSync() || l.Good(10, 3) != 1 || l.Received(copied, 3) != 1 {
		t.Errorf("before the copy the replica has %d of %d", k.Received(3), copied)
	}
	k.EndCopy()
	if k.Received(3) != l.Offset() || k.NeedsSync() || l.Good(10, 3) != 2 {
		t.Errorf("behind the copy the replica has %d of %d", k.Received(3), l.Offset())
	}
	if got := drain(k, 3); got != "0:set a 2" {
		t.Errorf("taken: %q", got)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	l, k := started()
	l.Limit = 10_000
	value := strings.Repeat("v", 1000)
	for i := range 100 {
		write(l, int64(i), "set", "k", value)
		k.Next(int64(i))
	}
	if k.NeedsSync() || l.held > 5000 {
		t.Errorf("a replica that keeps up: needs sync %v, %d bytes held", k.NeedsSync(), l.held)
	}
	for i := range 100 {
		write(l, int64(i), "set", "k", value)
	}
	if !k.NeedsSync() || k.Pending(1000) {
		t.Error("a replica far behind needs no resynchronization")
	}
	if l.held > l.Limit {
		t.Errorf("%d bytes held", l.held)
	}
	k.Start()
	write(l, 1, "set", "k", "1")
	if got := drain(k, 1); got != "0:set k 1" {
		t.Errorf("taken after the resynchronization: %q", got)
	}
}

func TestCrowded(t *testing.T) {
	l, k := started()
	value := strings.Repeat("v", 1000)
	for i := 0; !write(l, 1, "set", "k", value); i++ {
		if i > crowdedAt/1000 {
			t.Fatal("the log never asks for its replicas to catch up")
		}
	}
	drain(k, 1)
	if write(l, 1, "set", "k", value) {
		t.Error("crowded although the replica caught up")
	}
}

func TestPromotionKeepsTheHistory(t *testing.T) {
	l, k := started()
	write(l, 1, "set", "a", "1")
	drain(k, 1)
	promoted := NewLog(strings.Repeat("b", 40))
	promoted.Promote(strings.Repeat("c", 40), l.Identity(), k.Received(1))
	want := Identity{ID: strings.Repeat("c", 40), Previous: strings.Repeat("a", 40), SecondOffset: l.Offset() + 1}
	if got := promoted.Identity(); got != want || promoted.Offset() != l.Offset() {
		t.Errorf("got %+v at %d, want %+v at %d", got, promoted.Offset(), want, l.Offset())
	}
}

func TestDetach(t *testing.T) {
	l, k := started()
	write(l, 1, "set", "a", "1")
	k.Detach()
	if len(l.Links()) != 0 || k.Pending(1) || k.NeedsSync() {
		t.Error("a detached link still gives something")
	}
	before := l.Offset()
	write(l, 2, "set", "a", "1")
	if l.Offset() == before || len(l.blocks) != 0 {
		t.Error("without links the offset goes on and nothing is kept")
	}
}

// Replicas that take at any pace, pause and lag get the same blocks in the same
// order, and offsets never go back.
func TestLinksDeliverInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := NewLog("id")
		l.Limit = 1 << 40
		var links []*Link
		var got [][]string
		for i := range rapid.IntRange(1, 3).Draw(t, "links") {
			links = append(links, l.Attach(strconv.Itoa(i), 0))
			links[i].Start()
			got = append(got, nil)
		}
		var want []string
		now := int64(1)
		received := make([]int64, len(links))
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			i := rapid.IntRange(0, len(links)-1).Draw(t, "link")
			k := links[i]
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0, 1:
				write(l, now, "set", "k", strconv.Itoa(len(want)))
				want = append(want, fmt.Sprintf("0:set k %d", len(want)))
			case 2:
				now += int64(rapid.IntRange(0, 50).Draw(t, "ms"))
			case 3:
				if b, ok := k.Next(now); ok {
					got[i] = append(got[i], text(b))
				}
			case 4:
				k.Pause(now)
			case 5:
				k.Resume()
				k.SetLag(int64(rapid.IntRange(0, 50).Draw(t, "lag")))
			}
			for j, k := range links {
				r := k.Received(now)
				if r < k.taken || r > l.Offset() {
					t.Fatalf("link %d received %d, took %d, written %d", j, r, k.taken, l.Offset())
				}
				received[j] = r
			}
		}
		now += 1000
		for i, k := range links {
			k.Resume()
			for b, ok := k.Next(now); ok; b, ok = k.Next(now) {
				got[i] = append(got[i], text(b))
			}
			if strings.Join(got[i], ";") != strings.Join(want, ";") {
				t.Fatalf("link %d got %v, want %v", i, got[i], want)
			}
			if k.Received(now) != l.Offset() {
				t.Fatalf("link %d received %d of %d", i, k.Received(now), l.Offset())
			}
		}
		if len(l.blocks) != 0 {
			t.Fatalf("%d blocks are kept that everybody has", len(l.blocks))
		}
	})
}

// The offset counts what a real master counts for the same effects.
func TestOffsetAgreesWithRedis(t *testing.T) {
	master := redisserver.Start(t, "--repl-ping-replica-period", "3600", "--repl-diskless-sync-delay", "0")
	replica := redisserver.Start(t, "--replicaof", "127.0.0.1 "+strconv.Itoa(master.Port))
	await(t, func() bool { return strings.Contains(info(t, replica), "master_link_status:up") })
	l, k := started()
	base, err := offset(info(t, master))
	if err != nil {
		t.Fatal(err)
	}
	ours := l.Offset()
	for i, step := range []struct {
		commands [][]string
		effects  []Effect
	}{
		{[][]string{{"SET", "a", "1"}}, []Effect{effect(0, "SET", "a", "1")}},
		{[][]string{{"SET", "b", "2"}}, []Effect{effect(0, "SET", "b", "2")}},
		{[][]string{{"SADD", "s", "m"}}, []Effect{effect(0, "SADD", "s", "m")}},
		{[][]string{{"SPOP", "s"}}, []Effect{effect(0, "SREM", "s", "m")}},
		{[][]string{{"GET", "a"}}, nil},
		{[][]string{script(`call("SET", "a", "1")`)}, []Effect{effect(0, "SET", "a", "1")}},
		{[][]string{script(`call("SET", "a", "1") call("INCR", "a")`)}, []Effect{effect(0, "SET", "a", "1"), effect(0, "INCR", "a")}},
		{[][]string{script(`call("SET", "a", "1") call("SELECT", 12) call("SET", "a", "1")`)}, []Effect{effect(0, "SET", "a", "1"), effect(12, "SET", "a", "1")}},
	} {
		for _, command := range step.commands {
			if _, err := master.Do(command...); err != nil {
				t.Fatalf("%v: %v", command, err)
			}
		}
		l.Append(int64(i), step.effects)
		theirs, err := offset(info(t, master))
		if err != nil {
			t.Fatal(err)
		}
		if l.Offset()-ours != theirs-base {
			t.Errorf("after %v: the offset grew by %d, redis' by %d", step.commands, l.Offset()-ours, theirs-base)
		}
		ours, base = l.Offset(), theirs
	}
	drain(k, 100)
}

func script(body string) []string {
	return []string{"EVAL", "local call = redis.call " + body, "0"}
}

func info(t *testing.T, s *redisserver.Server) string {
	t.Helper()
	text, err := s.Do("INFO", "replication")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func offset(info string) (int64, error) {
	_, rest, _ := strings.Cut(info, "master_repl_offset:")
	number, _, _ := strings.Cut(rest, "\r\n")
	return strconv.ParseInt(number, 10, 64)
}

func await(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the replica does not come up")
		}
	}
}

func BenchmarkAppendWithoutReplicas(b *testing.B) {
	l := NewLog("id")
	effects := []Effect{effect(0, "set", "key", "value")}
	b.ReportAllocs()
	for b.Loop() {
		l.Append(1, effects)
	}
}

func BenchmarkAppendAndTake(b *testing.B) {
	l, k := started()
	effects := []Effect{effect(0, "set", "key", "value")}
	b.ReportAllocs()
	for b.Loop() {
		l.Append(1, effects)
		k.Next(1)
	}
}
