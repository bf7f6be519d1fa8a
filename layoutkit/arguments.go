package layoutkit

import (
	"time"
)

// needed refuses an empty id.
func needed(what, id string) error {
	if id == "" {
		return invalid("the %s is empty: every %s must have at least one byte", what, what)
	}
	return nil
}

// milliseconds is a time to live as Redis takes it, rounded up; 0 is for ever.
func milliseconds(ttl time.Duration) (int64, error) {
	if ttl < 0 {
		return 0, invalid("the time to live %v is negative: use 0 for a value that does not expire", ttl)
	}
	ms := int64(ttl / time.Millisecond)
	if ttl%time.Millisecond > 0 {
		ms++
	}
	return ms, nil
}
