package layoutkit

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

var (
	recordPut    = script("record_put", "record", "index...")
	recordDelete = script("record_delete", "record", "index...")
)

// place is where a versioned value stands: its key, and the index that lists it,
// if there is one.
type place struct {
	what, id string
	keys     []string
}

// placeOf is the place of a record.
func (b *base) placeOf(k kind, id string) place {
	return place{kinds[k].legacy, id, b.names.recordKeys(k, id)}
}

// check refuses an empty id.
func (p place) check() error { return needed(p.what+" id", p.id) }

// anyVersion is what a write expects that does not care.
const anyVersion = ""

// compareAndSet is a put that expects a version.
func compareAndSet[T any](ctx context.Context, b *base, p place, version int64, value T, ttl time.Duration) (int64, error) {
	if version < 0 {
		return 0, invalid("version %d is negative: use 0 for a %s that must not exist yet", version, p.what)
	}
	return put(ctx, b, p, strconv.FormatInt(version, 10), value, ttl)
}

// put writes a value if its version is as expected, and returns the new one.
func put[T any](ctx context.Context, b *base, p place, expected string, value T, ttl time.Duration) (int64, error) {
	if err := p.check(); err != nil {
		return 0, err
	}
	ms, err := milliseconds(ttl)
	if err != nil {
		return 0, err
	}
	text, err := encode(value)
	if err != nil {
		return 0, err
	}
	reply, err := b.script(ctx, recordPut, p.keys, p.id, expected, text, ms).Int64Slice()
	if err != nil {
		return 0, failed("writing "+p.what, err)
	}
	written, version := reply[0] == 1, reply[1]
	if !written {
		return 0, fmt.Errorf("%w: %s %q has version %d, not %s", ErrConflict, p.what, p.id, version, expected)
	}
	return version, nil
}

// get reads a versioned value.
func get[T any](ctx context.Context, b *base, p place) (Record[T], error) {
	if err := p.check(); err != nil {
		return Record[T]{}, err
	}
	text, err := b.client.Get(ctx, p.keys[0]).Result()
	if errors.Is(err, redis.Nil) {
		return Record[T]{}, fmt.Errorf("%w: %s %q", ErrNotFound, p.what, p.id)
	}
	if err != nil {
		return Record[T]{}, failed("reading "+p.what, err)
	}
	return readRecord[T](p.id, text)
}

// readRecord is the record of an id. With an error it has the id only.
func readRecord[T any](id, text string) (Record[T], error) {
	v, err := parseVersioned(text)
	if err != nil {
		return Record[T]{ID: id}, err
	}
	value, err := decode[T](v.json)
	if err != nil {
		return Record[T]{ID: id}, err
	}
	return Record[T]{id, v.version, value}, nil
}

// remove deletes a versioned value.
func (b *base) remove(ctx context.Context, p place) (bool, error) {
	if err := p.check(); err != nil {
		return false, err
	}
	deleted, err := b.script(ctx, recordDelete, p.keys, p.id).Int64()
	if err != nil {
		return false, failed("deleting "+p.what, err)
	}
	return deleted == 1, nil
}
