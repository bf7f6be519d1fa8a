package layoutkit

import (
	"context"
	"iter"
	"time"
)

// Record is a value with an id. Its version counts how often it was written; it
// begins at 1 again after the record was deleted or has expired.
type Record[T any] struct {
	ID      string
	Version int64
	Value   T
}

// Records are the chats or the contacts of a store.
type Records[T any] struct {
	store *Store
	kind  kind
}

// Chats are the chats of a store. MessageLogs.DeleteChat deletes one with its
// messages.
func Chats[T any](s *Store) Records[T] { return Records[T]{s, chats} }

// Contacts are the contacts of a store.
func Contacts[T any](s *Store) Records[T] { return Records[T]{s, contacts} }

// Put writes a record, whatever is there, and returns its new version.
func (r Records[T]) Put(ctx context.Context, id string, value T) (version int64, err error) {
	return put(ctx, r.store.base, r.store.placeOf(r.kind, id), anyVersion, value, 0)
}

// CompareAndSet writes a record if its version is the one given, 0 for one that
// must not exist, and returns its new version. Else the error is ErrConflict.
func (r Records[T]) CompareAndSet(ctx context.Context, id string, version int64, value T) (int64, error) {
	return compareAndSet(ctx, r.store.base, r.store.placeOf(r.kind, id), version, value, 0)
}

// Get reads a record. The error is ErrNotFound if there is none.
func (r Records[T]) Get(ctx context.Context, id string) (Record[T], error) {
	return get[T](ctx, r.store.base, r.store.placeOf(r.kind, id))
}

// Delete deletes a record and reports whether it was there.
func (r Records[T]) Delete(ctx context.Context, id string) (bool, error) {
	return r.store.remove(ctx, r.store.placeOf(r.kind, id))
}

// List yields all records, in no order. Those that come or go meanwhile may be
// yielded or not, all others are yielded once. An ErrCorrupt is about the record
// whose id comes with it, and the list goes on; any other error ends it.
//
// The Cluster layout reads an index in each of 32 buckets, and the values of a
// bucket with one MGET; the Legacy layout walks the whole server.
func (r Records[T]) List(ctx context.Context) iter.Seq2[Record[T], error] {
	return list[T](ctx, r.store.base, r.kind)
}

// IDs yields the ids of all records, as List does.
func (r Records[T]) IDs(ctx context.Context) iter.Seq2[string, error] {
	return listIDs(ctx, r.store.base, r.kind)
}

// CheckpointSet are the checkpoints of a store.
type CheckpointSet[T any] struct{ store *Store }

// Checkpoints are the checkpoints of a store.
func Checkpoints[T any](s *Store) CheckpointSet[T] { return CheckpointSet[T]{s} }

// Put writes a checkpoint, whatever is there, and returns its new version. It
// expires after ttl, in whole milliseconds, rounded up; never if ttl is 0.
func (c CheckpointSet[T]) Put(ctx context.Context, id string, value T, ttl time.Duration) (version int64, err error) {
	return put(ctx, c.store.base, c.store.placeOf(checkpoints, id), anyVersion, value, ttl)
}

// Get reads a checkpoint. The error is ErrNotFound if there is none.
func (c CheckpointSet[T]) Get(ctx context.Context, id string) (Record[T], error) {
	return get[T](ctx, c.store.base, c.store.placeOf(checkpoints, id))
}

// List yields all checkpoints, as Records.List does.
func (c CheckpointSet[T]) List(ctx context.Context) iter.Seq2[Record[T], error] {
	return list[T](ctx, c.store.base, checkpoints)
}

// IDs yields the ids of all checkpoints.
func (c CheckpointSet[T]) IDs(ctx context.Context) iter.Seq2[string, error] {
	return listIDs(ctx, c.store.base, checkpoints)
}

// Clear deletes a checkpoint and reports whether it was there.
func (c CheckpointSet[T]) Clear(ctx context.Context, id string) (bool, error) {
	return c.store.remove(ctx, c.store.placeOf(checkpoints, id))
}

// Values are single values that nothing lists: conversations or cursors.
type Values[T any] struct {
	store *Store
	place func(id string) place
}

// Conversations are the states of conversations.
func Conversations[T any](s *Store) Values[T] {
	return Values[T]{s, func(id string) place { return place{"conversation", id, []string{s.names.conversation(id)}} }}
}

// Cursors say how far something was read.
func Cursors[T any](s *Store) Values[T] {
	return Values[T]{s, func(id string) place { return place{"cursor", id, []string{s.names.cursor(id)}} }}
}

// Put writes a value, whatever is there, and returns its new version. It expires
// after ttl, in whole milliseconds, rounded up; never if ttl is 0.
func (v Values[T]) Put(ctx context.Context, id string, value T, ttl time.Duration) (version int64, err error) {
	return put(ctx, v.store.base, v.place(id), anyVersion, value, ttl)
}

// CompareAndSet writes a value if its version is the one given, 0 for one that must
// not exist, and returns its new version. Else the error is ErrConflict. It expires
// as Put says.
func (v Values[T]) CompareAndSet(ctx context.Context, id string, version int64, value T, ttl time.Duration) (int64, error) {
	return compareAndSet(ctx, v.store.base, v.place(id), version, value, ttl)
}

// Get reads a value. The error is ErrNotFound if there is none.
func (v Values[T]) Get(ctx context.Context, id string) (Record[T], error) {
	return get[T](ctx, v.store.base, v.place(id))
}

// Delete deletes a value and reports whether it was there.
func (v Values[T]) Delete(ctx context.Context, id string) (bool, error) {
	return v.store.remove(ctx, v.place(id))
}
