package layoutkit_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/fakecluster/fakecluster/layoutkit"
)

func TestUserData(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		s, ctx := x.store(t), t.Context()
		user := layoutkit.UserData[text](s, "n:s").User("u*")
		// Neighbours that a careless pattern or prefix would take for the same.
		others := []layoutkit.User[text]{
			layoutkit.UserData[text](s, "n").User("u*"), layoutkit.UserData[text](s, "n:s2").User("u*"),
			layoutkit.UserData[text](s, "n:s").User("u"), layoutkit.UserData[text](s, "n:s").User("u*:n"),
		}
		for _, other := range others {
			noError(t, other.Put(ctx, "s:k", text{"other"}, 0))
		}
		if got := keysOf(t, user); len(got) != 0 {
			t.Fatalf("there already is %v", got)
		}

		want := map[string]bool{}
		for _, key := range manyIDs() {
			noError(t, user.Put(ctx, key, text{"of " + key}, 0))
			if got := need(user.Get(ctx, key))(t); got != (text{"of " + strings.ToValidUTF8(key, "\ufffd")}) {
				t.Fatalf("got %q", got)
			}
			want[key] = true
		}
		if got := keysOf(t, user); !maps.Equal(got, want) {
			t.Fatalf("listed %v\nwant %v", got, want)
		}
		for e, err := range user.List(ctx) {
			if err != nil || e.Value != (text{"of " + strings.ToValidUTF8(e.Key, "\ufffd")}) {
				t.Fatalf("listed %v, %v", e, err)
			}
		}

		if !need(user.Delete(ctx, "*"))(t) || need(user.Delete(ctx, "*"))(t) {
			t.Fatal("a value must be deleted once")
		}
		_, err := user.Get(ctx, "*")
		isError(t, err, layoutkit.ErrNotFound)
		delete(want, "*")
		if got := keysOf(t, user); !maps.Equal(got, want) {
			t.Fatalf("listed %v\nwant %v", got, want)
		}
		for _, other := range others {
			if got := keysOf(t, other); !maps.Equal(got, map[string]bool{"s:k": true}) {
				t.Fatalf("another user has %v", got)
			}
		}
	})
}
