package layoutkit_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/layoutkit"
)

// On a cluster no command of the kit has keys of several slots, is a transaction,
// or looks for keys; and scripts, on servers that refuse all other keys, touch only
// keys that they declare.
func TestCommandsFitACluster(t *testing.T) {
	x := find(t, "emulator/cluster").target(t)
	trace := x.emulator.Trace(1_000_000)
	s := x.store(t)
	useStore(t, s)
	useCoordination(t, x, s)
	useDurability(t, s)

	commands := map[string]int{}
	for c := range trace.All() {
		commands[c.Command]++
		if c.Command == "client" {
			continue // SETINFO of go-redis, which these servers do not know
		}
		switch c.Verdict {
		case "serve", "MOVED", "NOSCRIPT":
		default:
			t.Errorf("%v", c)
		}
		if slices.Contains([]string{"multi", "exec", "watch", "keys", "scan", "dbsize", "randomkey"}, c.Command) {
			t.Errorf("%v", c)
		}
	}
	for _, want := range []string{"evalsha", "eval", "get", "mget", "zrange", "zcard"} {
		if commands[want] == 0 {
			t.Errorf("no %s among %v", want, commands)
		}
	}
	if total := trace.Total(); total > 1_000_000 {
		t.Errorf("only the last of %d commands were looked at", total)
	}
}

// The trace sees what the kit must not do.
func TestTraceSeesOffences(t *testing.T) {
	x := find(t, "emulator/cluster").target(t)
	trace := x.emulator.Trace(100)
	bare := redis.NewClient(&redis.Options{Addr: x.emulator.Addrs()[0], Dialer: x.emulator.Dialer()})
	defer bare.Close()
	ctx := t.Context()
	if err := bare.MGet(ctx, "{a}", "{b}").Err(); err == nil || len(trace.CrossedSlots()) != 1 {
		t.Errorf("%v, crossed slots %v", err, trace.CrossedSlots())
	}
	if err := bare.Eval(ctx, "return redis.call('SET', 'k', 'v')", []string{}).Err(); err == nil {
		t.Error("a script used a key that it did not declare")
	}
	_ = bare.Keys(ctx, "*").Err()
	if found := trace.Where(func(c emulator.Traced) bool { return c.Command == "keys" }); len(found) != 1 {
		t.Errorf("KEYS was seen %d times", len(found))
	}
}

// useStore calls every method of the store's parts, those that fail too.
func useStore(t *testing.T, s *layoutkit.Store) {
	ctx := t.Context()
	messages := layoutkit.Messages[text](s)
	for i := range 1500 {
		need(messages.Save(ctx, "chat", layoutkit.Message[text]{Member: fmt.Sprint(i), Score: float64(i)}))(t)
	}
	need(messages.Get(ctx, "chat", "1"))(t)
	page := need(messages.Page(ctx, "chat", layoutkit.Query{}))(t)
	need(messages.Page(ctx, "chat", layoutkit.Query{After: page.Next, Reverse: true, Min: new(1.0)}))(t)
	need(messages.Count(ctx, "chat"))(t)
	need(messages.Delete(ctx, "chat", "1"))(t)
	for _, records := range []layoutkit.Records[text]{layoutkit.Chats[text](s), layoutkit.Contacts[text](s)} {
		for _, id := range manyIDs() {
			need(records.Put(ctx, id, text{}))(t)
		}
		need(records.Get(ctx, "*"))(t)
		_, err := records.CompareAndSet(ctx, "*", 7, text{})
		isError(t, err, layoutkit.ErrConflict)
		need(records.Delete(ctx, "*"))(t)
		listed(t, records.List(ctx))
		ids(t, records.IDs(ctx))
	}
	checkpoints := layoutkit.Checkpoints[text](s)
	user := layoutkit.UserData[text](s, "n").User("u")
	for _, id := range manyIDs() {
		need(checkpoints.Put(ctx, id, text{}, time.Millisecond))(t)
		need(checkpoints.Put(ctx, id+"2", text{}, 0))(t)
		noError(t, user.Put(ctx, id, text{}, time.Hour))
	}
	listed(t, checkpoints.List(ctx))
	ids(t, checkpoints.IDs(ctx))
	need(checkpoints.Clear(ctx, "*2"))(t)
	need(user.Get(ctx, "*"))(t)
	need(user.Delete(ctx, "*"))(t)
	keysOf(t, user)
	for _, values := range []layoutkit.Values[text]{layoutkit.Conversations[text](s), layoutkit.Cursors[text](s)} {
		need(values.Put(ctx, "a", text{}, time.Hour))(t)
		need(values.CompareAndSet(ctx, "a", 1, text{}, 0))(t)
		need(values.Get(ctx, "a"))(t)
		need(values.Delete(ctx, "a"))(t)
	}
	if n := need(messages.DeleteChat(ctx, "chat"))(t); n != 1499 {
		t.Fatalf("deleted %d messages", n)
	}
}

// useCoordination calls the locks, leases, schedules, turns and leaders.
func useCoordination(t *testing.T, x *target, s *layoutkit.Store) {
	ctx := t.Context()
	lock := need(s.Locks().Acquire(ctx, "*", time.Hour))(t)
	_, err := s.Locks().Acquire(ctx, "*", time.Hour)
	isError(t, err, layoutkit.ErrHeld)
	noError(t, lock.Renew(ctx, time.Hour))
	noError(t, lock.Release(ctx))
	need(s.Locks().Wait(ctx, "*", time.Hour))(t)

	noError(t, s.Leases().Acquire(ctx, "*", "me", time.Hour))
	noError(t, s.Leases().Renew(ctx, "*", "me", time.Hour))
	noError(t, s.Leases().Release(ctx, "*", "me"))

	schedules := layoutkit.Schedules[text](s)
	for _, id := range manyIDs() {
		need(schedules.Put(ctx, id, x.emulator.Now(), text{}))(t)
	}
	need(schedules.Due(ctx, 1000))(t)
	claim := need(schedules.Claim(ctx, "*", time.Hour))(t)
	noError(t, schedules.Reschedule(ctx, "*", claim.Token, x.emulator.Now()))
	claim = need(schedules.Claim(ctx, "*", time.Hour))(t)
	noError(t, schedules.Complete(ctx, "*", claim.Token))
	need(schedules.Delete(ctx, "a:b"))(t)
	need(schedules.Get(ctx, "ñ"))(t)
	for _, err := range schedules.List(ctx) {
		noError(t, err)
	}

	a := need(s.Coordinator(layoutkit.CoordinatorOptions{Replica: "a"}))(t)
	noError(t, a.Start(ctx))
	turn := need(a.Turn(ctx, "*"))(t)
	waited := make(chan error, 1)
	go func() {
		next, err := a.Turn(ctx, "*")
		if err == nil {
			err = next.Release(ctx)
		}
		waited <- err
	}()
	need(a.Alive(ctx, "b"))(t)
	noError(t, turn.Release(ctx))
	noError(t, <-waited)
	leadership := need(a.Campaign(ctx, "*"))(t)
	if _, _, err := a.Leader(ctx, "*"); err != nil {
		t.Fatal(err)
	}
	noError(t, leadership.Resign(ctx))
	noError(t, a.Close(ctx))
}

// useDurability calls the journal.
func useDurability(t *testing.T, s *layoutkit.Store) {
	ctx := t.Context()
	outbox := layoutkit.Outbox[text](s.Durability())
	for i := range 4 {
		need(outbox.Append(ctx, fmt.Sprint(i), text{}))(t)
	}
	entries := need(outbox.Claim(ctx, "a", 3, time.Hour))(t)
	if len(entries) != 3 {
		t.Fatalf("claimed %v", entries)
	}
	noError(t, outbox.Renew(ctx, entries[0], time.Hour))
	noError(t, outbox.Acknowledge(ctx, entries[0]))
	noError(t, outbox.Fail(ctx, entries[1], time.Second))
	need(outbox.TakeOver(ctx, "a", "b", 10, time.Hour))(t)
	need(outbox.Count(ctx))(t)
	need(outbox.Trim(ctx, 0))(t)
}
