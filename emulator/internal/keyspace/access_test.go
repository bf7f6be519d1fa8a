package keyspace

import "testing"

func TestIdle(t *testing.T) {
	ks := newKeyspace(nil)
	db, key := ks.DB(0), []byte("k")
	db.Add(key, str("v"))
	idle := func(want int64, after string) {
		t.Helper()
		if got, ok := db.Idle(key); !ok || got != want {
			t.Errorf("after %s: Idle = %d, %v; want %d", after, got, ok, want)
		}
	}
	ks.SetNow(ks.Now() + 7_500)
	idle(7, "7.5 s")
	for _, untouched := range []func([]byte) Value{db.Peek, db.Inspect, db.ReadUntouched} {
		untouched(key)
	}
	idle(7, "looking without touching")
	ks.NoTouch = true
	db.Read(key)
	idle(7, "a read of a client that does not touch")
	ks.NoTouch = false
	db.Read(key)
	idle(0, "a read")
	db.SetIdle(key, 100)
	idle(100, "SetIdle")
	db.Write(key)
	idle(0, "a write")
	if _, ok := db.Idle([]byte("nosuch")); ok {
		t.Error("a missing key is idle")
	}
}

func TestFrequency(t *testing.T) {
	ks := newKeyspace(nil)
	ks.Eviction.LFU = true
	db, key := ks.DB(0), []byte("k")
	db.Add(key, str("v"))
	frequency := func() int64 {
		n, ok := db.Frequency(key)
		if !ok {
			t.Fatal("the key has no frequency")
		}
		return n
	}
	if n := frequency(); n != 5 {
		t.Errorf("a new key's frequency is %d, want 5", n)
	}
	for range 1000 {
		db.Read(key)
	}
	// lfu-log-factor 10 makes a thousand hits about 18, says redis.conf.
	used := frequency()
	if used < 14 || used > 24 {
		t.Errorf("frequency after 1000 hits is %d, want about 18", used)
	}
	db.Set(key, str("w"), false)
	if n := frequency(); n < used {
		t.Errorf("overwriting resets the frequency to %d", n)
	}
	used = frequency()
	ks.SetNow(ks.Now() + 3*60_000)
	if n := frequency(); n != used-3 {
		t.Errorf("three minutes later it is %d, want %d", n, used-3)
	}
	ks.SetNow(ks.Now() + 1000*60_000)
	if n := frequency(); n != 0 {
		t.Errorf("long after it is %d, want 0", n)
	}
	db.SetFrequency(key, 255)
	db.Read(key)
	if n := frequency(); n != 255 {
		t.Errorf("the most is %d, want 255", n)
	}
	ks.Eviction.LFUDecayTime = 0
	ks.SetNow(ks.Now() + 1000*60_000)
	if n := frequency(); n != 255 {
		t.Errorf("without decay it becomes %d", n)
	}
}
