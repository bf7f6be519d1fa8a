package keyspace

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The sum that is kept up to date stays near the one that is computed.
func TestTrackedMemory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ks := newKeyspace(nil)
		ks.DB(0).Set([]byte("before"), str(strings.Repeat("x", 100)), false)
		ks.TrackMemory(true)
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			db := ks.DB(rapid.IntRange(0, 1).Draw(t, "db"))
			key := fmt.Appendf(nil, "k%d", rapid.IntRange(0, 4).Draw(t, "key"))
			switch rapid.SampledFrom([]string{"set", "add", "append", "delete", "rename", "swap", "clear"}).Draw(t, "step") {
			case "set":
				db.Set(key, str(strings.Repeat("x", rapid.IntRange(0, 1000).Draw(t, "size"))), false)
			case "add":
				set, ok := db.Write(key).(*Set)
				if !ok {
					set = NewSet(&ks.Limits)
					db.Set(key, set, false)
				}
				for range rapid.IntRange(1, 300).Draw(t, "members") {
					set.Add(fmt.Appendf(nil, "member %d", set.Len()))
				}
				db.Modified(key)
			case "append":
				if s, ok := db.Write(key).(*String); ok {
					s.Append([]byte(strings.Repeat("y", 500)))
					db.Modified(key)
				}
			case "delete":
				db.Delete(key)
			case "rename":
				if other := ks.DB(1 - db.ID()); db.Exists(key) && !other.Exists(key) {
					db.Rename(key, other, key)
				}
			case "swap":
				ks.Swap(0, 1)
			case "clear":
				db.Clear()
			}
		}
		tracked := ks.UsedMemory()
		ks.TrackMemory(false)
		if actual := ks.UsedMemory(); tracked < actual-actual/8-1 || tracked > actual+actual/8+1 {
			t.Fatalf("tracked %d bytes, there are %d", tracked, actual)
		}
	})
}

func TestVictim(t *testing.T) {
	ks := newKeyspace(nil)
	if _, _, ok := ks.Victim(ParsePolicy("allkeys-lru"), 5); ok {
		t.Error("an empty keyspace has a victim")
	}
	start := ks.Now()
	for i := range 20 { // k0 is the one not used for longest, k19 expires first
		ks.SetNow(start + int64(i)*60_000)
		key := fmt.Appendf(nil, "k%d", i)
		ks.DB(i%2).Add(key, str("v"))
		if i >= 10 {
			ks.DB(i%2).SetExpireAt(key, start+1e9-int64(i))
		}
	}
	for policy, want := range map[string]string{
		"allkeys-lru": "k0", "volatile-lru": "k10", "volatile-ttl": "k19", "noeviction": "",
	} {
		// A sample this large has every key in it.
		db, key, ok := ks.Victim(ParsePolicy(policy), 1000)
		if key != want || ok != (want != "") || ok && !db.Exists([]byte(key)) {
			t.Errorf("%s: %q, %v; want %q", policy, key, ok, want)
		}
	}
	for range 100 {
		if _, key, ok := ks.Victim(ParsePolicy("volatile-random"), 3); !ok || len(key) < 3 {
			t.Fatalf("volatile-random picks %q, which does not expire", key)
		}
		if _, _, ok := ks.Victim(ParsePolicy("allkeys-random"), 3); !ok {
			t.Fatal("allkeys-random picks nothing")
		}
	}
	ks.Eviction.LFU = true
	for i := range 20 {
		ks.DB(i%2).SetFrequency(fmt.Appendf(nil, "k%d", i), int64(100-i))
	}
	for policy, want := range map[string]string{"allkeys-lfu": "k19", "volatile-lfu": "k19"} {
		if _, key, _ := ks.Victim(ParsePolicy(policy), 1000); key != want {
			t.Errorf("%s: %q, want %q", policy, key, want)
		}
	}
}
