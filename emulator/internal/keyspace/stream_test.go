package keyspace

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fakecluster/fakecluster/emulator/internal/keyspace/listpack"
	"github.com/fakecluster/fakecluster/emulator/internal/version"
	"github.com/fakecluster/fakecluster/tests/redisserver"
)

func showEntry(e StreamEntry) string {
	var b strings.Builder
	b.WriteString(e.ID.String())
	for field, value := range e.All() {
		fmt.Fprintf(&b, " %s=%s", field, value)
	}
	return b.String()
}

func TestStreamAgainstSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := DefaultLimits(version.V7_0)
		limits.StreamNodeMaxEntries = rapid.IntRange(0, 4).Draw(t, "stream-node-max-entries")
		limits.StreamNodeMaxBytes = rapid.SampledFrom([]int{0, 60, 4096}).Draw(t, "stream-node-max-bytes")
		s := NewStream(&limits)
		type entry struct {
			id   StreamID
			text string
		}
		var model []entry
		added := int64(0)
		anyID := func(t *rapid.T, label string) StreamID {
			return StreamID{rapid.Uint64Range(0, s.LastID.Ms+2).Draw(t, label), rapid.Uint64Range(0, 2).Draw(t, label)}
		}
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				id := StreamID{s.LastID.Ms + rapid.Uint64Range(1, 300).Draw(t, "ms"), rapid.Uint64Range(0, 2).Draw(t, "seq")}
				var args [][]byte
				text := id.String()
				for i := range rapid.IntRange(1, 3).Draw(t, "fields") {
					field, value := fmt.Sprint("f", i), fmt.Sprint(rapid.IntRange(-200, 200).Draw(t, "value"))
					args = append(args, []byte(field), []byte(value))
					text += " " + field + "=" + value
				}
				s.Append(id, args)
				added++
				model = append(model, entry{id, text})
			},
			"delete": func(t *rapid.T) {
				id := anyID(t, "id")
				if len(model) > 0 && rapid.Bool().Draw(t, "present") {
					id = model[rapid.IntRange(0, len(model)-1).Draw(t, "index")].id
				}
				i := slices.IndexFunc(model, func(e entry) bool { return e.id == id })
				if s.Delete(id) != (i >= 0) {
					t.Fatalf("Delete(%v) is wrong", id)
				}
				if i >= 0 {
					model = slices.Delete(model, i, i+1)
				}
			},
			"trim": func(t *rapid.T) {
				n := rapid.IntRange(0, 6).Draw(t, "length")
				removed := s.Trim(Trim{MaxLen: int64(n)})
				if want := max(len(model)-n, 0); removed != int64(want) {
					t.Fatalf("Trim to %d of %d removed %d", n, len(model), removed)
				}
				model = model[max(len(model)-n, 0):]
			},
			"trimByID": func(t *rapid.T) {
				id := anyID(t, "id")
				s.Trim(Trim{ByID: true, MinID: id})
				model = slices.DeleteFunc(model, func(e entry) bool { return e.id.Compare(id) < 0 })
			},
			"trimNodes": func(t *rapid.T) {
				n := rapid.IntRange(0, 6).Draw(t, "length")
				removed := s.Trim(Trim{MaxLen: int64(n), Approximate: true})
				if int64(len(model))-removed < int64(min(n, len(model))) {
					t.Fatalf("Trim to %d of %d removed %d", n, len(model), removed)
				}
				model = model[removed:]
			},
			"clone": func(*rapid.T) { s = s.Clone().(*Stream) },
			"": func(t *rapid.T) {
				start, end := anyID(t, "start"), anyID(t, "end")
				if rapid.Bool().Draw(t, "all") {
					start, end = StreamID{}, MaxStreamID
				}
				var want, got, reversed []string
				for _, e := range model {
					if e.id.Compare(start) >= 0 && e.id.Compare(end) <= 0 {
						want = append(want, e.text)
					}
				}
				for e := range s.Range(start, end) {
					got = append(got, showEntry(e))
				}
				for e := range s.RevRange(end, start) {
					reversed = append(reversed, showEntry(e))
				}
				slices.Reverse(reversed)
				if d := cmp.Diff(want, got) + cmp.Diff(want, reversed); d != "" {
					t.Fatal(d)
				}
				var first, last StreamID
				if len(model) > 0 {
					first, last = model[0].id, model[len(model)-1].id
				}
				if s.Len() != len(model) || s.FirstID != first || s.LastEntryID() != last || s.EntriesAdded != added {
					t.Fatalf("%d entries from %v to %v of %d, want %d from %v to %v of %d",
						s.Len(), s.FirstID, s.LastEntryID(), s.EntriesAdded, len(model), first, last, added)
				}
				for _, n := range s.nodes {
					if err := listpack.Validate(n.pack.Bytes()); err != nil {
						t.Fatal(err)
					}
				}
			},
		})
	})
}

// TestStreamBytesMatchRedis looks for our nodes in a DUMP payload.
func TestStreamBytesMatchRedis(t *testing.T) {
	server := redisserver.Start(t, "--rdbcompression", "no", "--stream-node-max-entries", "5")
	limits := DefaultLimits(version.V7_0)
	limits.StreamNodeMaxEntries = 5
	s := NewStream(&limits)
	do := func(args ...string) string {
		t.Helper()
		reply, err := server.Do(args...)
		if err != nil {
			t.Fatal(err)
		}
		return reply
	}
	for i := range 17 {
		id := StreamID{uint64(1000 + i*i*i*100), uint64(i % 3)}
		fields := []string{"name", fmt.Sprint("value", i), "n", fmt.Sprint(i * 1000)}
		if i%4 == 3 {
			fields = fields[:2]
		}
		var args [][]byte
		for _, f := range fields {
			args = append(args, []byte(f))
		}
		s.Append(id, args)
		do(append([]string{"XADD", "s", id.String()}, fields...)...)
	}
	for _, i := range []int{1, 3, 12} {
		id := StreamID{uint64(1000 + i*i*i*100), uint64(i % 3)}
		s.Delete(id)
		do("XDEL", "s", id.String())
	}
	s.Trim(Trim{MaxLen: 10})
	do("XTRIM", "s", "MAXLEN", "10")
	dump := do("DUMP", "s")
	if len(s.nodes) != 3 {
		t.Fatalf("%d nodes, want 3", len(s.nodes))
	}
	for i, n := range s.nodes {
		if !strings.Contains(dump, string(n.pack.Bytes())) {
			t.Errorf("node %d is not in the payload of Redis: %x", i, n.pack.Bytes())
		}
	}
}

func TestGroupClone(t *testing.T) {
	limits := DefaultLimits(version.V7_2)
	s := NewStream(&limits)
	g := s.AddGroup([]byte("g"), StreamID{1, 0}, 1)
	alice, bob := g.AddConsumer([]byte("alice"), 10), g.AddConsumer([]byte("bob"), 20)
	g.Assign(g.AddPending(StreamID{1, 0}, 5), alice)
	g.Assign(g.AddPending(StreamID{2, 0}, 6), bob)
	c := s.Clone().(*Stream).Group([]byte("g"))
	g.Acknowledge(g.FindPending(StreamID{1, 0}))
	g.DeleteConsumer(bob)
	if c.PendingCount() != 2 || c.ConsumerCount() != 2 || c.Consumer([]byte("bob")).PendingCount() != 1 {
		t.Errorf("the copy has %d pending entries and %d consumers", c.PendingCount(), c.ConsumerCount())
	}
	if p := c.FindPending(StreamID{2, 0}); p.DeliveryTime != 6 || p.Consumer != c.Consumer([]byte("bob")) {
		t.Errorf("the copied entry is %+v", p)
	}
	if g.PendingCount() != 0 || alice.PendingCount() != 0 || g.ConsumerCount() != 1 {
		t.Errorf("the original has %d pending entries and %d consumers", g.PendingCount(), g.ConsumerCount())
	}
}

// TestLoadOldStream: what a group had read was not dumped before 7.0.
func TestLoadOldStream(t *testing.T) {
	old, limits := DefaultLimits(version.V6_2), DefaultLimits(version.V7_0)
	s := NewStream(&old)
	for ms := range uint64(6) {
		s.Append(StreamID{ms + 1, 0}, [][]byte{[]byte("a"), []byte("1")})
	}
	s.Trim(Trim{MaxLen: 2})
	s.AddGroup([]byte("first"), StreamID{5, 0}, UnknownEntriesRead)
	s.AddGroup([]byte("none"), StreamID{}, UnknownEntriesRead)
	v, err := Load(Dump(s, &old), &limits)
	if err != nil {
		t.Fatal(err)
	}
	loaded := v.(*Stream)
	if first := (StreamID{5, 0}); loaded.EntriesAdded != 2 || loaded.FirstID != first {
		t.Errorf("%d entries were added, the first is %v", loaded.EntriesAdded, loaded.FirstID)
	}
	for name, want := range map[string]int64{"first": 1, "none": 0} {
		if got := loaded.Group([]byte(name)).EntriesRead; got != want {
			t.Errorf("group %s has read %d entries, want %d", name, got, want)
		}
	}
}

func BenchmarkStreamAppend(b *testing.B) {
	limits := DefaultLimits(version.V7_2)
	s := NewStream(&limits)
	args := [][]byte{[]byte("field"), []byte("value")}
	for i := uint64(1); b.Loop(); i++ {
		s.Append(StreamID{i, 0}, args)
	}
}
