package layoutkit_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/layoutkit"
)

// Options that cannot be used are told so before anything is sent.
func TestInvalidOptions(t *testing.T) {
	single := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
	cluster := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"127.0.0.1:1"}})
	replicas := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"127.0.0.1:1"}, ReadOnly: true})
	nearest := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"127.0.0.1:1"}, RouteByLatency: true})
	t.Cleanup(func() { single.Close(); cluster.Close(); replicas.Close(); nearest.Close() })
	roots := &layoutkit.ClusterOptions{RootNodes: []string{"127.0.0.1:1"}}
	for name, c := range map[string]struct {
		o    layoutkit.Options
		says string
	}{
		"no server":         {layoutkit.Options{Prefix: "p"}, "exactly one of Client, URL and Cluster"},
		"client and URL":    {layoutkit.Options{Prefix: "p", Client: single, URL: "redis://h"}, "exactly one"},
		"URL and cluster":   {layoutkit.Options{Prefix: "p", URL: "redis://h", Cluster: roots}, "exactly one"},
		"client and roots":  {layoutkit.Options{Prefix: "p", Client: cluster, Cluster: roots}, "exactly one"},
		"no roots":          {layoutkit.Options{Prefix: "p", Cluster: &layoutkit.ClusterOptions{}}, "RootNodes"},
		"bad root":          {layoutkit.Options{Prefix: "p", Cluster: &layoutkit.ClusterOptions{RootNodes: []string{"http://h"}}}, "root node"},
		"bad URL":           {layoutkit.Options{Prefix: "p", URL: "http://h"}, "URL"},
		"no prefix":         {layoutkit.Options{Client: single}, "Prefix is empty"},
		"brace":             {layoutkit.Options{Prefix: "p{", Client: cluster}, "brace"},
		"closing brace":     {layoutkit.Options{Prefix: "}p", Client: single, Layout: layoutkit.Cluster}, "brace"},
		"legacy on cluster": {layoutkit.Options{Prefix: "p", Client: cluster, Layout: layoutkit.Legacy}, "does not work on a cluster"},
		"legacy with roots": {layoutkit.Options{Prefix: "p", Cluster: roots, Layout: layoutkit.Legacy}, "does not work on a cluster"},
		"replicas":          {layoutkit.Options{Prefix: "p", Client: replicas}, "reads from replicas"},
		"nearest":           {layoutkit.Options{Prefix: "p", Client: nearest}, "reads from replicas"},
		"unknown layout":    {layoutkit.Options{Prefix: "p", Client: single, Layout: 7}, "Layout(7)"},
	} {
		_, err := layoutkit.New(c.o)
		if !errors.Is(err, layoutkit.ErrInvalid) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Layouts are chosen by the client, and a legacy prefix may hold braces.
func TestLayoutIsChosen(t *testing.T) {
	single := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
	cluster := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"127.0.0.1:1"}})
	t.Cleanup(func() { single.Close(); cluster.Close() })
	for name, c := range map[string]struct {
		o    layoutkit.Options
		want layoutkit.Layout
	}{
		"single":         {layoutkit.Options{Prefix: "{p}", Client: single}, layoutkit.Legacy},
		"URL":            {layoutkit.Options{Prefix: "p", URL: "redis://127.0.0.1:1"}, layoutkit.Legacy},
		"cluster":        {layoutkit.Options{Prefix: "p", Client: cluster}, layoutkit.Cluster},
		"roots":          {layoutkit.Options{Prefix: "p", Cluster: &layoutkit.ClusterOptions{RootNodes: []string{"127.0.0.1:1"}}}, layoutkit.Cluster},
		"single, chosen": {layoutkit.Options{Prefix: "p", Client: single, Layout: layoutkit.Cluster}, layoutkit.Cluster},
	} {
		s, err := layoutkit.New(c.o)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if s.Layout() != c.want {
			t.Errorf("%s: %v", name, s.Layout())
		}
		noError(t, s.Close())
		noError(t, s.Close())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := single.Ping(ctx).Err(); errors.Is(err, redis.ErrClosed) {
		t.Error("a client that was passed in was closed")
	}
}

// What a method cannot use is refused, and nothing is written.
func TestInvalidArguments(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		s, ctx := x.store(t), t.Context()
		messages, chats := layoutkit.Messages[text](s), layoutkit.Chats[text](s)
		checkpoints, cursors := layoutkit.Checkpoints[text](s), layoutkit.Cursors[text](s)
		user := layoutkit.UserData[text](s, "n").User("u")
		save := func(chat string, m layoutkit.Message[text]) error { _, err := messages.Save(ctx, chat, m); return err }
		page := func(q layoutkit.Query) error { _, err := messages.Page(ctx, "c", q); return err }
		second := func(_ any, err error) error { return err }
		for name, err := range map[string]error{
			"save, chat":          save("", layoutkit.Message[text]{Member: "m"}),
			"save, member":        save("c", layoutkit.Message[text]{}),
			"save, NaN":           save("c", layoutkit.Message[text]{Member: "m", Score: math.NaN()}),
			"save, infinite":      save("c", layoutkit.Message[text]{Member: "m", Score: -inf}),
			"message, chat":       second(messages.Get(ctx, "", "m")),
			"message, member":     second(messages.Get(ctx, "c", "")),
			"page, chat":          second(messages.Page(ctx, "", layoutkit.Query{})),
			"page, limit":         page(layoutkit.Query{Limit: -1}),
			"page, NaN":           page(layoutkit.Query{Min: new(math.NaN())}),
			"page, cursor":        page(layoutkit.Query{After: "1"}),
			"page, cursor score":  page(layoutkit.Query{After: "x:m"}),
			"page, cursor member": page(layoutkit.Query{After: "1:*"}),
			"count":               second(messages.Count(ctx, "")),
			"delete, chat":        second(messages.Delete(ctx, "", "m")),
			"delete, member":      second(messages.Delete(ctx, "c", "")),
			"delete chat":         second(messages.DeleteChat(ctx, "")),
			"put":                 second(chats.Put(ctx, "", text{})),
			"set":                 second(chats.CompareAndSet(ctx, "", 0, text{})),
			"set, version":        second(chats.CompareAndSet(ctx, "a", -1, text{})),
			"get":                 second(chats.Get(ctx, "")),
			"delete":              second(chats.Delete(ctx, "")),
			"checkpoint":          second(checkpoints.Put(ctx, "", text{}, 0)),
			"checkpoint, ttl":     second(checkpoints.Put(ctx, "a", text{}, -1)),
			"cursor, ttl":         second(cursors.CompareAndSet(ctx, "a", 0, text{}, -time.Hour)),
			"cursor, id":          second(cursors.Put(ctx, "", text{}, 0)),
			"user, key":           user.Put(ctx, "", text{}, 0),
			"user, ttl":           user.Put(ctx, "k", text{}, -1),
			"user, id":            layoutkit.UserData[text](s, "n").User("").Put(ctx, "k", text{}, 0),
			"user, namespace":     layoutkit.UserData[text](s, "").User("u").Put(ctx, "k", text{}, 0),
			"user, get":           second(user.Get(ctx, "")),
			"user, delete":        second(user.Delete(ctx, "")),
			"no JSON":             second(layoutkit.Chats[func()](s).Put(ctx, "a", func() {})),
			"no JSON number":      second(layoutkit.Cursors[float64](s).Put(ctx, "a", math.NaN(), 0)),
		} {
			if !errors.Is(err, layoutkit.ErrInvalid) {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, err := range layoutkit.UserData[text](s, "").User("u").List(ctx) {
			isError(t, err, layoutkit.ErrInvalid)
		}
		if got := x.keys(t); len(got) != 0 {
			t.Errorf("%q was written", got)
		}
	})
}

// What somebody else wrote into a key is an ErrCorrupt, and stays.
func TestCorruptKeys(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		s, ctx := x.store(t), t.Context()
		at := func(inCluster, inLegacy string) string {
			if x.layout == layoutkit.Cluster {
				return x.key(inCluster)
			}
			return x.key(inLegacy)
		}
		chats, messages := layoutkit.Chats[text](s), layoutkit.Messages[text](s)
		second := func(_ any, err error) error { return err }

		need(chats.Put(ctx, "b", text{"well"}))(t)
		need(chats.Put(ctx, "a", text{}))(t)
		for _, wrong := range []string{"", "text", "0 {}", "-1 {}", "1", "1 {", "1 []"} {
			noError(t, x.client.Set(ctx, at("{ch:12}:r:a", "chat:a"), wrong, 0).Err())
			isError(t, second(chats.Get(ctx, "a")), layoutkit.ErrCorrupt)
			// A list says so, and goes on.
			var well, corrupt int
			for r, err := range chats.List(ctx) {
				switch {
				case err == nil && r.ID == "b":
					well++
				case errors.Is(err, layoutkit.ErrCorrupt) && r.ID == "a":
					corrupt++
				default:
					t.Errorf("%q: listed %v, %v", wrong, r, err)
				}
			}
			if well != 1 || corrupt != 1 {
				t.Errorf("%q: %d and %d were listed", wrong, well, corrupt)
			}
		}
		noError(t, x.client.Set(ctx, at("{ch:12}:r:a", "chat:a"), "text", 0).Err())
		isError(t, second(chats.Put(ctx, "a", text{})), layoutkit.ErrCorrupt)
		noError(t, x.client.Del(ctx, at("{ch:12}:r:a", "chat:a")).Err())
		noError(t, x.client.SAdd(ctx, at("{ch:12}:r:a", "chat:a"), "set").Err())
		isError(t, second(chats.Get(ctx, "a")), layoutkit.ErrCorrupt)
		isError(t, second(chats.Put(ctx, "a", text{})), layoutkit.ErrCorrupt)

		for _, member := range []string{"m1", "m2", "m3"} {
			need(messages.Save(ctx, "c", layoutkit.Message[text]{Member: member}))(t)
		}
		noError(t, x.client.Set(ctx, at("{m:c}:i:m1", "msg:c:m1"), "text", 0).Err())
		noError(t, x.client.Set(ctx, at("{m:c}:i:m2", "msg:c:m2"), "other {}", 0).Err())
		isError(t, second(messages.Get(ctx, "c", "m1")), layoutkit.ErrCorrupt)
		isError(t, second(messages.Get(ctx, "c", "m2")), layoutkit.ErrNotFound)
		page, err := messages.Page(ctx, "c", layoutkit.Query{})
		isError(t, err, layoutkit.ErrCorrupt)
		if len(page.Messages) != 1 || page.Messages[0].Member != "m3" {
			t.Errorf("the page has %v", page)
		}
		isError(t, second(layoutkit.Messages[int](s).Get(ctx, "c", "m3")), layoutkit.ErrCorrupt)
		noError(t, x.client.Set(ctx, at("{m:d}:z", "msg:d"), "no log", 0).Err())
		isError(t, second(messages.Save(ctx, "d", layoutkit.Message[text]{Member: "m"})), layoutkit.ErrCorrupt)
		if n := x.client.Exists(ctx, at("{m:d}:i:m", "msg:d:m")).Val(); n != 0 {
			t.Error("half a message was written")
		}
	})
}

// A context that has ended ends every method.
func TestContext(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		s := x.store(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		second := func(_ any, err error) error { return err }
		messages, chats := layoutkit.Messages[text](s), layoutkit.Chats[text](s)
		user := layoutkit.UserData[text](s, "n").User("u")
		for name, err := range map[string]error{
			"start":  s.Start(ctx),
			"save":   second(messages.Save(ctx, "c", layoutkit.Message[text]{Member: "m"})),
			"get":    second(messages.Get(ctx, "c", "m")),
			"page":   second(messages.Page(ctx, "c", layoutkit.Query{})),
			"count":  second(messages.Count(ctx, "c")),
			"delete": second(messages.DeleteChat(ctx, "c")),
			"put":    second(chats.Put(ctx, "c", text{})),
			"read":   second(chats.Get(ctx, "c")),
			"user":   user.Put(ctx, "k", text{}, 0),
		} {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, err := range chats.List(ctx) {
			isError(t, err, context.Canceled)
		}
		for _, err := range layoutkit.Checkpoints[text](s).IDs(ctx) {
			isError(t, err, context.Canceled)
		}
		for _, err := range user.List(ctx) {
			isError(t, err, context.Canceled)
		}
	})
}

// Values may be large, and ids too.
func TestHugeValues(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		s, ctx := x.store(t), t.Context()
		id, huge := strings.Repeat("*", 20_000), text{strings.Repeat("x{}\"", 1<<17)}
		chats := layoutkit.Chats[text](s)
		need(chats.Put(ctx, id, huge))(t)
		if need(chats.CompareAndSet(ctx, id, 1, huge))(t) != 2 || need(chats.Get(ctx, id))(t).Value != huge {
			t.Error("a huge chat was not kept")
		}
		for r, err := range chats.List(ctx) {
			if err != nil || r.Value != huge {
				t.Error("a huge chat was not listed")
			}
		}
		messages := layoutkit.Messages[text](s)
		m := layoutkit.Message[text]{Member: id, Value: huge}
		need(messages.Save(ctx, id, m))(t)
		if need(messages.Get(ctx, id, id))(t) != m || need(messages.DeleteChat(ctx, id))(t) != 1 {
			t.Error("a huge message was not kept")
		}
	})
}

// A store makes and closes its own client of a URL or of root nodes.
func TestOwnClients(t *testing.T) {
	for _, name := range []string{"real/single/legacy", "real/cluster"} {
		t.Run(name, func(t *testing.T) {
			x := find(t, name).target(t)
			o := layoutkit.Options{Prefix: x.prefix}
			switch c := x.client.(type) {
			case *redis.Client:
				o.URL = "redis://" + c.Options().Addr
			case *redis.ClusterClient:
				// Nothing listens at the first.
				o.Cluster = &layoutkit.ClusterOptions{RootNodes: append([]string{"redis://127.0.0.1:1"}, c.Options().Addrs...)}
			}
			s := started(t, o)
			need(layoutkit.Chats[text](s).Put(t.Context(), "a", text{}))(t)
			noError(t, s.Close())
			_, err := layoutkit.Chats[text](s).Get(t.Context(), "a")
			isError(t, err, redis.ErrClosed)
			noError(t, s.Close())
		})
	}
}
