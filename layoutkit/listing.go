package layoutkit

import (
	"context"
	"errors"
	"iter"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/shim"
)

var indexList = script("index_list", "index")

// walk is how many keys of the Legacy layout are read at once.
const walk = 1000

// listIDs yields the ids of a kind.
func listIDs(ctx context.Context, b *base, k kind) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for ids, err := range b.idGroups(ctx, k) {
			if err != nil {
				yield("", err)
				return
			}
			for _, id := range ids {
				if !yield(id, nil) {
					return
				}
			}
		}
	}
}

// list yields the records of a kind.
func list[T any](ctx context.Context, b *base, k kind) iter.Seq2[Record[T], error] {
	return func(yield func(Record[T], error) bool) {
		for ids, err := range b.idGroups(ctx, k) {
			if err != nil {
				yield(Record[T]{}, err)
				return
			}
			keys := make([]string, len(ids))
			for i, id := range ids {
				keys[i] = b.names.record(k, id)
			}
			texts, err := b.values(ctx, keys)
			if err != nil {
				yield(Record[T]{}, err)
				return
			}
			for i, text := range texts {
				if text == nil {
					continue // deleted since
				}
				if !yield(readRecord[T](ids[i], *text)) {
					return
				}
			}
		}
	}
}

// idGroups yields the ids of a kind in groups that are not empty, and whose records
// share a slot in the Cluster layout. It ends at the first error.
func (b *base) idGroups(ctx context.Context, k kind) iter.Seq2[[]string, error] {
	if b.names.layout == Legacy {
		return b.walk(ctx, b.names.join(kinds[k].legacy))
	}
	return func(yield func([]string, error) bool) {
		for bucket := range Buckets {
			ids, err := b.bucket(ctx, k, bucket)
			if err != nil {
				yield(nil, failed("listing "+kinds[k].legacy+"s", err))
				return
			}
			if len(ids) > 0 && !yield(ids, nil) {
				return
			}
		}
	}
}

// bucket are the ids of a bucket. Only the index of a kind that expires says what
// has expired.
func (b *base) bucket(ctx context.Context, k kind, bucket int) ([]string, error) {
	index := b.names.index(k, bucket)
	if k == checkpoints {
		return b.script(ctx, indexList, []string{index}, "").StringSlice()
	}
	return b.client.ZRange(ctx, index, 0, -1).Result()
}

// walk yields what follows the beginning in the keys of the server that have
// nothing but one id there.
func (b *base) walk(ctx context.Context, beginning string) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		var group []string
		seen := map[string]bool{}
		for key, err := range shim.Scan(ctx, b.client, shim.ScanOptions{Match: globEscape(beginning) + ":*"}) {
			if err != nil {
				yield(nil, failed("walking keys", err))
				return
			}
			id, ok := unescape(strings.TrimPrefix(key, beginning+":"))
			if !ok || seen[id] {
				continue
			}
			seen[id] = true
			if group = append(group, id); len(group) == walk {
				if !yield(group, nil) {
					return
				}
				group = nil
			}
		}
		if len(group) > 0 {
			yield(group, nil)
		}
	}
}

// values reads keys, which share a slot in the Cluster layout, at once. What is not
// there, or no string, is nil.
//
// While the slot moves, some of the keys are here and some there, and a command for
// all of them is refused; after the shim has given up waiting, they are asked for
// one by one.
func (b *base) values(ctx context.Context, keys []string) ([]*string, error) {
	replies, err := b.client.MGet(ctx, keys...).Result()
	if notRun := new(shim.NotRunError); errors.As(err, &notRun) && redis.HasErrorPrefix(notRun.Err, "TRYAGAIN") {
		return b.valuesOneByOne(ctx, keys)
	}
	if err != nil {
		return nil, failed("reading values", err)
	}
	texts := make([]*string, len(keys))
	for i, reply := range replies {
		if text, ok := reply.(string); ok {
			texts[i] = &text
		}
	}
	return texts, nil
}

func (b *base) valuesOneByOne(ctx context.Context, keys []string) ([]*string, error) {
	pipe := b.client.Pipeline()
	replies := make([]*redis.StringCmd, len(keys))
	for i, key := range keys {
		replies[i] = pipe.Get(ctx, key)
	}
	_, _ = pipe.Exec(ctx) // each reply has its own error
	texts := make([]*string, len(keys))
	for i, reply := range replies {
		text, err := reply.Result()
		switch {
		case err == nil:
			texts[i] = &text
		case !errors.Is(err, redis.Nil) && !redis.HasErrorPrefix(err, "WRONGTYPE"):
			return nil, failed("reading values", err)
		}
	}
	return texts, nil
}
