package layoutkit_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/layoutkit"
)

// A store that starts for the first time says in the marker that its prefix is of
// the Cluster layout, and leaves none in the Legacy layout.
func TestStartWritesTheMarker(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		s := x.store(t)
		if s.Layout() != x.layout {
			t.Fatalf("layout %v", s.Layout())
		}
		marker, err := x.client.Get(t.Context(), x.key("{meta}:layout")).Result()
		switch {
		case x.layout == layoutkit.Cluster && (err != nil || marker != "cluster:v1"):
			t.Fatalf("marker %q, %v", marker, err)
		case x.layout == layoutkit.Legacy && !errors.Is(err, redis.Nil):
			t.Fatalf("marker %q, %v", marker, err)
		}
	})
}

// single are the places of one server in the Cluster layout.
var singles = []string{"emulator/single/cluster", "real/single/cluster"}

func eachSingle(t *testing.T, body func(t *testing.T, x *target)) {
	for _, name := range singles {
		t.Run(name, func(t *testing.T) { body(t, find(t, name).target(t)) })
	}
}

func (x *target) set(t *testing.T, rest string) {
	t.Helper()
	if err := x.client.Set(t.Context(), x.key(rest), "1 {}", 0).Err(); err != nil {
		t.Fatal(err)
	}
}

func (x *target) marked(t *testing.T) bool {
	t.Helper()
	n, err := x.client.Exists(t.Context(), x.key("{meta}:layout")).Result()
	if err != nil {
		t.Fatal(err)
	}
	return n == 1
}

// start starts a store and returns what Start says.
func (x *target) start(t *testing.T, o layoutkit.Options) error {
	t.Helper()
	s, err := layoutkit.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s.Start(t.Context())
}

func TestStartRefusesLegacyKeys(t *testing.T) {
	for _, key := range []string{
		"chat:a", "contact:a", "checkpoint:%3A", "schedule:a", "msg:a", "msg:a:b", "user:u:n:k", "lock:l", "fence:l",
		"co:turn:a:seq", "co:turn:a:owner", "co:leader:x", "co:leader:x:term",
	} {
		t.Run(key, func(t *testing.T) {
			eachSingle(t, func(t *testing.T, x *target) {
				x.set(t, key)
				err := x.start(t, x.options())
				if !errors.Is(err, layoutkit.ErrLegacyData) || !strings.Contains(err.Error(), "run layoutkit.Migrate first") {
					t.Fatalf("Start: %v", err)
				}
				if x.marked(t) {
					t.Fatal("the marker was written")
				}

				allow := x.options()
				allow.AllowLegacyData = true
				if err := x.start(t, allow); err != nil {
					t.Fatalf("AllowLegacyData: %v", err)
				}
				if x.marked(t) {
					t.Fatal("the marker was written under AllowLegacyData")
				}

				// A migration wrote the marker and kept its source.
				if err := x.client.Set(t.Context(), x.key("{meta}:layout"), "cluster:v1", 0).Err(); err != nil {
					t.Fatal(err)
				}
				if err := x.start(t, x.options()); err != nil {
					t.Fatalf("with the marker: %v", err)
				}
			})
		})
	}
}

// Names that are the same in both layouts, and those that are of neither, do not
// keep a store from starting.
func TestStartIgnoresOtherKeys(t *testing.T) {
	eachSingle(t, func(t *testing.T, x *target) {
		for _, key := range []string{
			"conv:a", "cursor:a", "lease:a", "co:rep:a", "{durable:t}:log", "co:{t:a}:seq", "{ch:1}:r:a",
			"chat:", "chat:a:b", "chat:{a}", "user:a", "msg:a:b:c", "co:leader:x:other", "chat", "",
		} {
			x.set(t, key)
		}
		if err := x.client.Set(t.Context(), x.prefix+"2:chat:a", "1 {}", 0).Err(); err != nil {
			t.Fatal(err)
		}
		if err := x.start(t, x.options()); err != nil {
			t.Fatal(err)
		}
		if !x.marked(t) {
			t.Fatal("no marker")
		}
	})
}

// A check that did not see all keys starts the store, but does not say for ever
// that nothing is there.
func TestStartLooksAtTenThousandKeys(t *testing.T) {
	eachSingle(t, func(t *testing.T, x *target) {
		fill := func(from, to int) {
			pipe := x.client.Pipeline()
			for i := from; i < to; i++ {
				pipe.Set(t.Context(), x.key(fmt.Sprintf("conv:%d", i)), "1 {}", 0)
			}
			if _, err := pipe.Exec(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		fill(0, 10_001)
		if err := x.start(t, x.options()); err != nil {
			t.Fatal(err)
		}
		if x.marked(t) {
			t.Fatal("the marker was written although not all keys were looked at")
		}
		if err := x.client.Del(t.Context(), x.key("conv:0")).Err(); err != nil {
			t.Fatal(err)
		}
		if err := x.start(t, x.options()); err != nil {
			t.Fatal(err)
		}
		if !x.marked(t) {
			t.Fatal("no marker although all keys were looked at")
		}
	})
}

// A prefix may look like a pattern.
func TestPrefixIsNoPattern(t *testing.T) {
	eachSingle(t, func(t *testing.T, x *target) {
		o := x.options()
		o.Prefix += `-[ab]*?^\`
		if err := x.client.Set(t.Context(), o.Prefix+":chat:1", "1 {}", 0).Err(); err != nil {
			t.Fatal(err)
		}
		if err := x.start(t, o); !errors.Is(err, layoutkit.ErrLegacyData) {
			t.Fatalf("Start: %v", err)
		}
	})
}

func TestLegacyWarnsAtTheMarker(t *testing.T) {
	for _, name := range []string{"emulator/single/legacy", "real/single/legacy"} {
		t.Run(name, func(t *testing.T) {
			x := find(t, name).target(t)
			var log bytes.Buffer
			o := x.options()
			o.Logger = slog.New(slog.NewTextHandler(&log, nil))
			if err := x.start(t, o); err != nil || log.Len() > 0 {
				t.Fatalf("%v, logged %q", err, &log)
			}
			x.set(t, "chat:a")
			if err := x.client.Set(t.Context(), x.key("{meta}:layout"), "cluster:v1", 0).Err(); err != nil {
				t.Fatal(err)
			}
			if err := x.start(t, o); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), x.prefix) {
				t.Fatalf("logged %q", &log)
			}
		})
	}
}

func TestUnknownMarker(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		if err := x.client.Set(t.Context(), x.key("{meta}:layout"), "cluster:v2", 0).Err(); err != nil {
			t.Fatal(err)
		}
		if err := x.start(t, x.options()); !errors.Is(err, layoutkit.ErrCorrupt) {
			t.Fatalf("Start: %v", err)
		}
	})
}
