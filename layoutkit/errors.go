package layoutkit

import (
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// Errors to test with errors.Is. The errors of the client, which say whether a
// command may have run, are wrapped: see package shim.
var (
	// ErrInvalid: an option or argument cannot be used. Nothing was sent.
	ErrInvalid = errors.New("layoutkit: invalid argument")
	// ErrNotFound: there is no such record, message or value.
	ErrNotFound = errors.New("layoutkit: not found")
	// ErrConflict: a compare-and-set met another version. Nothing was written.
	ErrConflict = errors.New("layoutkit: written by somebody else")
	// ErrLost: a lock, turn, leadership, lease or claim is no longer the caller's.
	// Nothing was written.
	ErrLost = errors.New("layoutkit: no longer held")
	// ErrHeld: somebody else holds it.
	ErrHeld = errors.New("layoutkit: held by somebody else")
	// ErrLegacyData: the keyspace still holds keys of the legacy layout.
	ErrLegacyData = errors.New("layoutkit: legacy keys under this prefix")
	// ErrClosed: the part was closed.
	ErrClosed = errors.New("layoutkit: closed")
	// ErrCorrupt: a key holds what the kit did not write there.
	ErrCorrupt = errors.New("layoutkit: unreadable value")
)

// invalid is an ErrInvalid that says what to do.
func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalid, fmt.Sprintf(format, args...))
}

// failed is the client's error, and what was being done. A key of another type, or
// a value that a script cannot read, is an ErrCorrupt too.
func failed(doing string, err error) error {
	if redis.HasErrorPrefix(err, "WRONGTYPE") || redis.HasErrorPrefix(err, "CORRUPT") {
		return fmt.Errorf("%w: %s: %w", ErrCorrupt, doing, err)
	}
	return fmt.Errorf("layoutkit: %s: %w", doing, err)
}
