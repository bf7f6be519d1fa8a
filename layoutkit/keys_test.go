package layoutkit_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/layoutkit"
)

// text is a value of the tests.
type text struct{ Text string }

// need is the value of a call that must not fail.
func need[T any](value T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// noError is need for calls without a value.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func isError(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
}

// The buckets are FNV-1a by hand: for "a", 0x811c9dc5 xor 0x61 is 0x811c9da4, times
// 0x01000193 is 0xe40c292c modulo 2^32, whose last five bits are 12. For the other
// ids a program of another language said
//
//	chat-1                1847519737  25
//	+34 600:11{22}*?[x]   1417902108  28
//	ñandú                 3029286091  11
//	%                      537692064   0
//	~!'()._-              3276592412  28
//	FF 00 3A (bytes)                  16
//
// and encodeURIComponent of Node.js gave the segments, with * as %2A.
var spelled = []struct {
	id, segment string
	bucket      int
}{
	{"a", "a", 12},
	{"chat-1", "chat-1", 25},
	{"+34 600:11{22}*?[x]", "%2B34%20600%3A11%7B22%7D%2A%3F%5Bx%5D", 28},
	{"ñandú", "%C3%B1and%C3%BA", 11},
	{"%", "%25", 0},
	{"~!'()._-", "~!'()._-", 28},
	{"\xff\x00:", "%FF%00%3A", 16},
}

// What each part writes is what the contract cluster:v1 says, and what README.md
// says of the Legacy layout.
func TestKeys(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		s, ctx := x.store(t), t.Context()
		for _, id := range spelled {
			var cluster, legacy []string
			wrote := func(inCluster []string, inLegacy ...string) {
				cluster, legacy = append(cluster, inCluster...), append(legacy, inLegacy...)
			}
			e, b := id.segment, fmt.Sprint(id.bucket)

			need(layoutkit.Messages[text](s).Save(ctx, id.id, layoutkit.Message[text]{Member: "1:" + id.id}))(t)
			wrote([]string{"{m:" + e + "}:z", "{m:" + e + "}:i:1%3A" + e}, "msg:"+e, "msg:"+e+":1%3A"+e)
			need(layoutkit.Chats[text](s).Put(ctx, id.id, text{}))(t)
			wrote([]string{"{ch:" + b + "}:r:" + e, "{ch:" + b + "}:idx"}, "chat:"+e)
			need(layoutkit.Contacts[text](s).Put(ctx, id.id, text{}))(t)
			wrote([]string{"{ct:" + b + "}:r:" + e, "{ct:" + b + "}:idx"}, "contact:"+e)
			need(layoutkit.Checkpoints[text](s).Put(ctx, id.id, text{}, 0))(t)
			wrote([]string{"{cp:" + b + "}:r:" + e, "{cp:" + b + "}:idx"}, "checkpoint:"+e)
			noError(t, layoutkit.UserData[text](s, "n"+id.id).User(id.id).Put(ctx, "k"+id.id, text{}, 0))
			wrote([]string{"{ud:" + e + "}:e:n" + e + ":k" + e, "{ud:" + e + "}:idx"}, "user:"+e+":n"+e+":k"+e)
			need(layoutkit.Conversations[text](s).Put(ctx, id.id, text{}, 0))(t)
			wrote([]string{"conv:" + e}, "conv:"+e)
			need(layoutkit.Cursors[text](s).Put(ctx, id.id, text{}, 0))(t)
			wrote([]string{"cursor:" + e}, "cursor:"+e)

			want := legacy
			if x.layout == layoutkit.Cluster {
				want = cluster
			}
			slices.Sort(want)
			if got := x.keys(t); !slices.Equal(got, want) {
				t.Errorf("%q wrote\n%q\nwant\n%q", id.id, got, want)
			}
			for _, key := range want {
				if err := x.client.Del(ctx, x.key(key)).Err(); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// What stands in the keys is what the migration and other programs read.
func TestWhatKeysHold(t *testing.T) {
	eachTarget(t, func(t *testing.T, x *target) {
		s, ctx := x.store(t), t.Context()
		is := func(want, inCluster, inLegacy string) {
			t.Helper()
			key := x.key(inLegacy)
			if x.layout == layoutkit.Cluster {
				key = x.key(inCluster)
			}
			if got := x.client.Get(ctx, key).Val(); got != want {
				t.Errorf("%s holds %q, want %q", key, got, want)
			}
		}
		lists := func(key string, want ...redis.Z) {
			t.Helper()
			if got := x.client.ZRangeWithScores(ctx, x.key(key), 0, -1).Val(); !slices.Equal(got, want) {
				t.Errorf("%s holds %v, want %v", key, got, want)
			}
		}
		value := text{"hé {}"}

		need(layoutkit.Messages[text](s).Save(ctx, "a:b", layoutkit.Message[text]{Member: "m:1", Score: 1.5, Value: value}))(t)
		is(`a%3Ab {"Text":"hé {}"}`, "{m:a%3Ab}:i:m%3A1", "msg:a%3Ab:m%3A1")
		if x.layout == layoutkit.Cluster {
			lists("{m:a%3Ab}:z", redis.Z{Score: 1.5, Member: "m:1"})
		} else {
			lists("msg:a%3Ab", redis.Z{Score: 1.5, Member: "m:1"})
		}

		need(layoutkit.Chats[text](s).Put(ctx, "+34 600:11{22}*?[x]", value))(t)
		need(layoutkit.Chats[text](s).Put(ctx, "+34 600:11{22}*?[x]", value))(t)
		is(`2 {"Text":"hé {}"}`, "{ch:28}:r:%2B34%20600%3A11%7B22%7D%2A%3F%5Bx%5D", "chat:%2B34%20600%3A11%7B22%7D%2A%3F%5Bx%5D")
		noError(t, layoutkit.UserData[text](s, "n:s").User("u").Put(ctx, "k:1", value, 0))
		is(`{"Text":"hé {}"}`, "{ud:u}:e:n%3As:k%3A1", "user:u:n%3As:k%3A1")
		if x.layout == layoutkit.Cluster {
			lists("{ch:28}:idx", redis.Z{Score: inf, Member: "+34 600:11{22}*?[x]"})
			lists("{ud:u}:idx", redis.Z{Score: inf, Member: "n%3As:k%3A1"})
		}
	})
}
