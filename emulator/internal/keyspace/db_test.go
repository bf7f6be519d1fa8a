package keyspace

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fakecluster/fakecluster/emulator/internal/version"
	"github.com/fakecluster/fakecluster/slots"
)

// recorder is Hooks that remembers what it is told.
type recorder struct{ told []string }

func (r *recorder) WantsModified() bool     { return true }
func (r *recorder) WantsEvent(_ Class) bool { return true }

func (r *recorder) tell(format string, args ...any) {
	r.told = append(r.told, fmt.Sprintf(format, args...))
}

func (r *recorder) Modified(db *DB, key string)         { r.tell("modified %d %s", db.ID(), key) }
func (r *recorder) Ready(db *DB, key string, kind Kind) { r.tell("ready %d %s %v", db.ID(), key, kind) }
func (r *recorder) StreamGone(db *DB, key string)       { r.tell("gone %d %s", db.ID(), key) }
func (r *recorder) Expired(db *DB, key string)          { r.tell("expired %d %s", db.ID(), key) }
func (r *recorder) FieldsExpired(db *DB, key string, fields []string) {
	r.tell("expired %d %s %q", db.ID(), key, fields)
}

func (r *recorder) Flushed(db *DB)   { r.tell("flushed %d of %d", db.ID(), db.Len()) }
func (r *recorder) Swapped(a, b *DB) { r.tell("swapped %d %d", a.ID(), b.ID()) }

func (r *recorder) Event(db *DB, _ Class, event, key string) {
	r.tell("event %d %s %s", db.ID(), event, key)
}

func (r *recorder) want(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(r.told, want) {
		t.Errorf("hooks were told %q, want %q", r.told, want)
	}
	r.told = nil
}

func newKeyspace(hooks Hooks) *Keyspace {
	ks := New(Options{
		Databases: 2,
		Slots:     true,
		Limits:    DefaultLimits(version.Default),
		Rand:      rand.New(rand.NewPCG(1, 2)),
		Hooks:     hooks,
	})
	ks.SetNow(1_000_000)
	return ks
}

func str(s string) *String { return NewString([]byte(s)) }

// modelKey is what the model of TestDBIsAMap knows of a key.
type modelKey struct {
	value    *String
	expireAt int64
}

// A database is a map of keys that are gone once their time has come, indexed by
// slot, whatever is done to it.
func TestDBIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ks := newKeyspace(nil)
		db := ks.DB(0)
		model := map[string]modelKey{}
		expire := func() {
			maps.DeleteFunc(model, func(_ string, k modelKey) bool { return k.expireAt != 0 && ks.Now() > k.expireAt })
		}
		keyOf := func() string {
			return fmt.Sprintf("{%d}%d", rapid.IntRange(0, 2).Draw(t, "tag"), rapid.IntRange(0, 5).Draw(t, "n"))
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			key := keyOf()
			old, there := model[key]
			switch rapid.SampledFrom([]string{"set", "keep", "delete", "expire", "rename", "time", "due"}).Draw(t, "step") {
			case "set":
				v := str("v")
				db.Set([]byte(key), v, false)
				model[key] = modelKey{value: v}
			case "keep":
				v := str("v")
				db.Set([]byte(key), v, true)
				model[key] = modelKey{v, old.expireAt}
			case "delete":
				if got := db.Delete([]byte(key)); got != there {
					t.Fatalf("Delete(%s) = %v", key, got)
				}
				delete(model, key)
			case "expire":
				at := ks.Now() + rapid.Int64Range(0, 20).Draw(t, "ttl")
				if got := db.SetExpireAt([]byte(key), at); got != there {
					t.Fatalf("SetExpireAt(%s) = %v", key, got)
				}
				if there {
					model[key] = modelKey{old.value, at}
				}
			case "rename":
				to := keyOf()
				if _, taken := model[to]; !there || taken {
					continue
				}
				db.Rename([]byte(key), db, []byte(to))
				model[to] = old
				delete(model, key)
			case "time":
				ks.SetNow(ks.Now() + rapid.Int64Range(0, 15).Draw(t, "elapsed"))
				expire()
			case "due":
				for ks.ExpireDue(2) == 2 {
				}
				if db.Len() != len(model) {
					t.Fatalf("after active expiry Len() = %d, want %d", db.Len(), len(model))
				}
			}
			compareWithModel(t, db, model)
		}
	})
}

func compareWithModel(t *rapid.T, db *DB, model map[string]modelKey) {
	earliest := int64(math.MaxInt64)
	for key, k := range model {
		if got := db.Peek([]byte(key)); got != Value(k.value) {
			t.Fatalf("Peek(%s) = %v", key, got)
		}
		if ms, ok := db.ExpireAt([]byte(key)); !ok || ms != k.expireAt {
			t.Fatalf("ExpireAt(%s) = %d, %v; want %d", key, ms, ok, k.expireAt)
		}
		if k.expireAt != 0 {
			earliest = min(earliest, k.expireAt)
		}
	}
	if ms, ok := db.Keyspace().NextExpiry(); ok != (db.Volatile() > 0) || ok && ms > earliest {
		t.Fatalf("NextExpiry() = %d, %v; want at most %d", ms, ok, earliest)
	}
	seen := map[string]bool{}
	for key := range db.Keys() {
		seen[key] = true
	}
	inSlots := 0
	for tag := range 3 {
		slot := slots.OfString(fmt.Sprintf("{%d}", tag))
		keys := db.KeysInSlot(slot, math.MaxInt)
		if len(keys) != db.CountInSlot(slot) {
			t.Fatalf("slot %d has %d keys and counts %d", slot, len(keys), db.CountInSlot(slot))
		}
		inSlots += len(keys)
		for _, key := range keys {
			if slots.OfString(key) != slot {
				t.Fatalf("%s is not in slot %d", key, slot)
			}
		}
	}
	if len(seen) != len(model) || inSlots != db.Len() {
		t.Fatalf("%d keys, %d in slots, of %d; want %d", len(seen), inSlots, db.Len(), len(model))
	}
}

func TestHooksHearOfExpiry(t *testing.T) {
	var hooks recorder
	ks := newKeyspace(&hooks)
	db := ks.DB(1)
	db.Set([]byte("k"), str("v"), false)
	hooks.want(t, "event 1 new k")
	db.SetExpireAt([]byte("k"), ks.Now()+10)
	ks.SetNow(ks.Now() + 10)
	if !db.Exists([]byte("k")) {
		t.Error("a key lives through the last millisecond of its time")
	}
	ks.SetNow(ks.Now() + 1)
	if db.Read([]byte("k")) != nil {
		t.Error("an expired key is read")
	}
	hooks.want(t, "expired 1 k", "event 1 expired k", "modified 1 k", "event 1 keymiss k")
	if ks.Stats != (Stats{Misses: 1, Expired: 1}) {
		t.Errorf("Stats = %+v", ks.Stats)
	}
}

func TestReplicaKeepsExpiredKeys(t *testing.T) {
	var hooks recorder
	ks := newKeyspace(&hooks)
	ks.KeepExpired = true
	db := ks.DB(0)
	db.Set([]byte("k"), str("v"), false)
	db.SetExpireAt([]byte("k"), ks.Now()-1)
	hooks.want(t, "event 0 new k")
	if db.Write([]byte("k")) != nil || db.Len() != 1 || ks.ExpireDue(10) != 0 {
		t.Error("an expired key of a replica is to be kept, and to look as if it were gone")
	}
	ks.IgnoreExpiry = true // its master's commands still see it
	if db.Write([]byte("k")) == nil || !db.Delete([]byte("k")) {
		t.Error("the master's command does not find the key")
	}
	ks.IgnoreExpiry = false
	db.Set([]byte("k"), str("v"), false)
	db.SetExpireAt([]byte("k"), ks.Now()-1)
	db.Set([]byte("k"), str("w"), false) // over the remains of the old one
	if v := db.Peek([]byte("k")); v == nil || db.Len() != 1 || db.Volatile() != 0 {
		t.Errorf("after Set over an expired key: %v, %d keys, %d volatile", v, db.Len(), db.Volatile())
	}
}

func TestClearAndSwap(t *testing.T) {
	var hooks recorder
	ks := newKeyspace(&hooks)
	a, b := ks.DB(0), ks.DB(1)
	a.Set([]byte("k"), str("v"), false)
	a.SetExpireAt([]byte("k"), ks.Now()+5)
	ks.Swap(0, 1)
	hooks.want(t, "event 0 new k", "swapped 0 1")
	if a.Len() != 0 || b.Len() != 1 || b.Volatile() != 1 || b.ID() != 1 {
		t.Error("Swap does not exchange contents")
	}
	if n := b.Clear(); n != 1 || b.Len() != 0 || b.Volatile() != 0 {
		t.Errorf("Clear() = %d", n)
	}
	hooks.want(t, "flushed 1 of 1")
	if _, ok := ks.NextExpiry(); ok {
		t.Error("a cleared database has a key that expires")
	}
}

func TestKeysInSlotNewestFirst(t *testing.T) {
	var hooks recorder
	db := newKeyspace(&hooks).DB(0)
	for _, key := range []string{"{a}1", "{a}2", "{b}1", "{a}3"} {
		db.Add([]byte(key), str("v"))
	}
	db.Delete([]byte("{a}2"))
	slot := slots.OfString("{a}")
	if got := db.KeysInSlot(slot, 10); !slices.Equal(got, []string{"{a}3", "{a}1"}) {
		t.Errorf("KeysInSlot = %q", got)
	}
	if got := db.KeysInSlot(slot, 1); !slices.Equal(got, []string{"{a}3"}) {
		t.Errorf("KeysInSlot with limit 1 = %q", got)
	}
	db.Keyspace().Limits.Version = version.V6_2
	if got := db.KeysInSlot(slot, 1); !slices.Equal(got, []string{"{a}1"}) {
		t.Errorf("6.2's KeysInSlot with limit 1 = %q", got)
	}
	hooks.told = nil
	if n := db.DeleteSlot(slot); n != 2 || db.Len() != 1 || db.CountInSlot(slot) != 0 {
		t.Errorf("DeleteSlot = %d, leaves %d", n, db.Len())
	}
	hooks.want(t, "modified 0 {a}3", "modified 0 {a}1")
}

func TestRandomGivesUpOnExpiredKeys(t *testing.T) {
	ks := newKeyspace(nil)
	db := ks.DB(0)
	if _, ok := db.Random(); ok {
		t.Error("an empty database has a random key")
	}
	for i := range 10 {
		key := fmt.Appendf(nil, "k%d", i)
		db.Add(key, str("v"))
		db.SetExpireAt(key, ks.Now()-1)
	}
	ks.KeepExpired = true
	if key, ok := db.Random(); !ok || key == "" {
		t.Error("a replica's expired key is better than none")
	}
	ks.KeepExpired = false
	if key, ok := db.Random(); ok || db.Len() != 0 {
		t.Errorf("Random() = %q from expired keys, %d left", key, db.Len())
	}
}
