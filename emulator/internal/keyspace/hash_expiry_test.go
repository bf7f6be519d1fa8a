package keyspace

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fakecluster/fakecluster/emulator/internal/version"
)

// TestFieldExpiryAgainstMap compares both encodings with a map of times.
func TestFieldExpiryAgainstMap(t *testing.T) {
	type modelField struct {
		value    string
		expireAt int64
	}
	rapid.Check(t, func(t *rapid.T) {
		ks := newKeyspace(nil)
		ks.Limits = DefaultLimits(version.V7_4)
		ks.Limits.HashMaxListpackEntries = rapid.SampledFrom([]int{0, 4, 512}).Draw(t, "hash-max-listpack-entries")
		db, key := ks.DB(0), []byte("h")
		model, now := map[string]modelField{}, int64(1000)
		ks.SetNow(now)
		hash := func() *Hash {
			h, _ := db.Write(key).(*Hash)
			return h
		}
		field := func(t *rapid.T) string { return rapid.SampledFrom([]string{"a", "b", "c", "d", "1"}).Draw(t, "field") }
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				f, v, keep := field(t), rapid.SampledFrom([]string{"x", "7"}).Draw(t, "value"), rapid.Bool().Draw(t, "keep")
				if hash() == nil {
					db.Add(key, NewHash(&ks.Limits))
				}
				if keep {
					hash().Update([]byte(f), []byte(v))
					model[f] = modelField{v, model[f].expireAt}
				} else {
					hash().Set([]byte(f), []byte(v))
					model[f] = modelField{value: v}
				}
			},
			"expire": func(t *rapid.T) {
				f := field(t)
				if _, ok := model[f]; !ok {
					t.Skip("no such field")
				}
				at := rapid.SampledFrom([]int64{0, now, now + 5, now + 20}).Draw(t, "at")
				hash().SetExpireAt([]byte(f), at)
				db.FieldsTimed(key)
				model[f] = modelField{model[f].value, at}
			},
			"delete": func(t *rapid.T) {
				f := field(t)
				if h := hash(); h != nil {
					h.Delete([]byte(f))
					if h.Len() == 0 {
						db.Delete(key)
					}
				}
				delete(model, f)
			},
			"rename": func(t *rapid.T) {
				if hash() != nil {
					db.Rename(key, db, []byte("other"))
					db.Rename([]byte("other"), db, key)
				}
			},
			"copy": func(t *rapid.T) {
				if h := hash(); h != nil {
					db.Set(key, h.Clone(), false)
				}
			},
			"wait": func(t *rapid.T) {
				now += rapid.Int64Range(1, 10).Draw(t, "ms")
				ks.SetNow(now)
				if rapid.Bool().Draw(t, "active") {
					ks.ExpireDue(100)
					if next, ok := ks.NextExpiry(); ok && next < now {
						t.Fatalf("at %d a field of %d was left", now, next)
					}
				}
				for f, m := range model {
					if m.expireAt != 0 && m.expireAt < now {
						delete(model, f)
					}
				}
			},
			"": func(t *rapid.T) {
				h := hash()
				if (h == nil) != (len(model) == 0) {
					t.Fatalf("hash is %v, model %v", h, model)
				}
				next := int64(0)
				for f, m := range model {
					at, ok := h.ExpireAt([]byte(f))
					if value, _ := h.Get([]byte(f)); string(value) != m.value || !ok || at != m.expireAt {
						t.Fatalf("field %s is %q until %d, %v; want %v", f, value, at, ok, m)
					}
					if m.expireAt != 0 && (next == 0 || m.expireAt < next) {
						next = m.expireAt
					}
				}
				if h != nil && h.Len() != len(model) {
					t.Fatalf("Len() = %d, want %d", h.Len(), len(model))
				}
				if got, ok := ks.NextExpiry(); ok != (next != 0) || ok && got != next {
					t.Fatalf("NextExpiry() = %d, %v; want %d", got, ok, next)
				}
			},
		})
	})
}

// TestFieldExpiryTellsHooks of the fields, the event and the end of the key.
func TestFieldExpiryTellsHooks(t *testing.T) {
	var r recorder
	ks := newKeyspace(&r)
	ks.Limits.Version = version.V7_4
	db := ks.DB(0)
	h := NewHash(&ks.Limits)
	for i, field := range []string{"a", "b", "c"} {
		h.Set([]byte(field), []byte("x"))
		h.SetExpireAt([]byte(field), 1_000_010+int64(i))
	}
	db.Add([]byte("h"), h)
	r.told = nil
	ks.SetNow(1_000_012)
	if n := ks.ExpireDue(10); n != 1 {
		t.Errorf("ExpireDue() = %d", n)
	}
	r.want(t, `expired 0 h ["a" "b"]`, "event 0 hexpired h", "modified 0 h")
	ks.SetNow(1_000_013)
	if db.Read([]byte("h")) != nil {
		t.Error("the hash is still there")
	}
	r.want(t, `expired 0 h ["c"]`, "event 0 hexpired h", "event 0 del h", "modified 0 h", "event 0 keymiss h")
	if ks.Stats.ExpiredFields != 3 || db.TimedHashes() != 0 {
		t.Errorf("%d fields expired, %d hashes have some", ks.Stats.ExpiredFields, db.TimedHashes())
	}
}

// TestReplicaHidesExpiredFields until its master says that they are gone.
func TestReplicaHidesExpiredFields(t *testing.T) {
	for _, entries := range []int{512, 0} {
		ks := newKeyspace(nil)
		ks.Limits.Version, ks.Limits.HashMaxListpackEntries = version.V7_4, entries
		ks.KeepExpired = true
		db := ks.DB(0)
		h := NewHash(&ks.Limits)
		for i := range 5 {
			h.Set([]byte(fmt.Sprint(i)), []byte("x"))
		}
		h.SetExpireAt([]byte("1"), 1_000_010)
		h.SetExpireAt([]byte("3"), 1_000_010)
		db.Add([]byte("h"), h)
		ks.SetNow(1_000_011)
		h = db.Read([]byte("h")).(*Hash)
		var fields []string
		for field := range h.All() {
			fields = append(fields, string(field))
		}
		slices.Sort(fields)
		if !slices.Equal(fields, []string{"0", "2", "4"}) || h.Len() != 3 || h.Has([]byte("1")) || h.stored() != 5 {
			t.Errorf("%s: %d of %d fields are %q", h.Encoding(), h.Len(), h.stored(), fields)
		}
		for _, field := range fields {
			h.Delete([]byte(field))
		}
		if db.Read([]byte("h")) != nil {
			t.Errorf("%s: a hash of hidden fields is visible", h.Encoding())
		}
	}
}
