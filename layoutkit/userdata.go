package layoutkit

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

var entryPut = script("entry_put", "entry", "index...")

// UserNamespace is what one part of a program keeps of its users.
type UserNamespace[T any] struct {
	store     *Store
	namespace string
}

// UserData is a namespace of the users' data. Programs that share a store and a
// namespace share what they keep.
func UserData[T any](s *Store, namespace string) UserNamespace[T] {
	return UserNamespace[T]{s, namespace}
}

// User is what the namespace keeps of one user.
func (n UserNamespace[T]) User(id string) User[T] { return User[T]{n.store, n.namespace, id} }

// User is what one namespace keeps of one user: values by key.
type User[T any] struct {
	store         *Store
	namespace, id string
}

func (u User[T]) check(key string) error {
	return errors.Join(needed("namespace", u.namespace), needed("user id", u.id), needed("key", key))
}

// keys are those of an entry, for a script.
func (u User[T]) keys(key string) []string {
	entry := u.store.names.userEntry(u.id, u.namespace, key)
	if u.store.names.layout == Cluster {
		return []string{entry, u.store.names.userIndex(u.id)}
	}
	return []string{entry}
}

// Put writes a value, which expires after ttl, in whole milliseconds, rounded up;
// never if ttl is 0.
func (u User[T]) Put(ctx context.Context, key string, value T, ttl time.Duration) error {
	if err := u.check(key); err != nil {
		return err
	}
	ms, err := milliseconds(ttl)
	if err != nil {
		return err
	}
	text, err := encode(value)
	if err != nil {
		return err
	}
	if err := u.store.script(ctx, entryPut, u.keys(key), userMember(u.namespace, key), text, ms).Err(); err != nil {
		return failed("writing user data", err)
	}
	return nil
}

// Get reads a value. The error is ErrNotFound if there is none.
func (u User[T]) Get(ctx context.Context, key string) (value T, err error) {
	if err := u.check(key); err != nil {
		return value, err
	}
	text, err := u.store.client.Get(ctx, u.store.names.userEntry(u.id, u.namespace, key)).Result()
	if errors.Is(err, redis.Nil) {
		return value, fmt.Errorf("%w: %q of user %q", ErrNotFound, key, u.id)
	}
	if err != nil {
		return value, failed("reading user data", err)
	}
	return decode[T](text)
}

// Delete deletes a value and reports whether it was there.
func (u User[T]) Delete(ctx context.Context, key string) (bool, error) {
	if err := u.check(key); err != nil {
		return false, err
	}
	deleted, err := u.store.script(ctx, recordDelete, u.keys(key), userMember(u.namespace, key)).Int64()
	if err != nil {
		return false, failed("deleting user data", err)
	}
	return deleted == 1, nil
}

// Entry is a value of a user.
type Entry[T any] struct {
	Key   string
	Value T
}

// List yields all values of the user in the namespace, as Records.List does.
func (u User[T]) List(ctx context.Context) iter.Seq2[Entry[T], error] {
	return func(yield func(Entry[T], error) bool) {
		if err := u.check("any"); err != nil {
			yield(Entry[T]{}, err)
			return
		}
		for found, err := range u.listed(ctx) {
			if err != nil {
				yield(Entry[T]{}, err)
				return
			}
			keys := make([]string, len(found))
			for i, key := range found {
				keys[i] = u.store.names.userEntry(u.id, u.namespace, key)
			}
			texts, err := u.store.values(ctx, keys)
			if err != nil {
				yield(Entry[T]{}, err)
				return
			}
			for i, text := range texts {
				if text == nil {
					continue // deleted since
				}
				value, err := decode[T](*text)
				if !yield(Entry[T]{found[i], value}, err) {
					return
				}
			}
		}
	}
}

// listed yields the keys in groups that are not empty; in the Cluster layout there
// is one.
func (u User[T]) listed(ctx context.Context) iter.Seq2[[]string, error] {
	n := u.store.names
	if n.layout == Legacy {
		return u.store.walk(ctx, n.join("user", escape(u.id), escape(u.namespace)))
	}
	return func(yield func([]string, error) bool) {
		beginning := escape(u.namespace) + ":"
		members, err := u.store.script(ctx, indexList, []string{n.userIndex(u.id)}, beginning).StringSlice()
		if err != nil {
			yield(nil, failed("listing user data", err))
			return
		}
		var keys []string
		for _, member := range members {
			if key, ok := unescape(strings.TrimPrefix(member, beginning)); ok {
				keys = append(keys, key)
			}
		}
		if len(keys) > 0 {
			yield(keys, nil)
		}
	}
}
