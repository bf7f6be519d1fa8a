package layoutkit

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Values are one line of text: what the kit needs, in words that scripts read
// without decoding the rest, and then the caller's value as JSON. They are the
// same in both layouts:
//
//	chats, contacts, checkpoints,
//	conversations, cursors          <version> <json>
//	messages                        <chat, escaped> <json>
//	user data                       <json>
//	schedules                       <token> <due, Unix ms> <json>
//	schedules deleted (tombstones)  <token> -

// versioned is a value that knows how often it was written.
type versioned struct {
	version int64
	json    string
}

func (v versioned) String() string { return strconv.FormatInt(v.version, 10) + " " + v.json }

func parseVersioned(s string) (versioned, error) {
	number, rest, found := strings.Cut(s, " ")
	version, err := strconv.ParseInt(number, 10, 64)
	if !found || err != nil || version < 1 {
		return versioned{}, fmt.Errorf("%w: %q is no version and value", ErrCorrupt, abridged(s))
	}
	return versioned{version, rest}, nil
}

// message is an item of a chat's log. It names its chat, because a key alone may
// have been written by somebody else.
type message struct{ chat, json string }

func (m message) String() string { return escape(m.chat) + " " + m.json }

func parseMessage(s string) (message, error) {
	segment, rest, found := strings.Cut(s, " ")
	chat, ok := unescape(segment)
	if !found || !ok {
		return message{}, fmt.Errorf("%w: %q is no chat and message", ErrCorrupt, abridged(s))
	}
	return message{chat, rest}, nil
}

// schedule is a record of the kind schedules. Its token counts claims and never
// goes back; the tombstone of a deleted schedule keeps it.
type schedule struct {
	token   int64
	deleted bool
	due     int64 // Unix ms
	json    string
}

func (s schedule) String() string {
	if s.deleted {
		return strconv.FormatInt(s.token, 10) + " -"
	}
	return fmt.Sprintf("%d %d %s", s.token, s.due, s.json)
}

func parseSchedule(text string) (schedule, error) {
	corrupt := fmt.Errorf("%w: %q is no token, time and schedule", ErrCorrupt, abridged(text))
	number, rest, _ := strings.Cut(text, " ")
	token, err := strconv.ParseInt(number, 10, 64)
	if err != nil || token < 0 {
		return schedule{}, corrupt
	}
	if rest == "-" {
		return schedule{token: token, deleted: true}, nil
	}
	number, value, found := strings.Cut(rest, " ")
	due, err := strconv.ParseInt(number, 10, 64)
	if err != nil || !found {
		return schedule{}, corrupt
	}
	return schedule{token: token, due: due, json: value}, nil
}

// abridged is s short enough for an error.
func abridged(s string) string {
	const most = 40
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}

// maxValue is a little less than proto-max-bulk-len, above which a server closes
// the connection; what the kit writes beside a value needs room too.
const maxValue = 511 << 20

// encode is a caller's value as JSON.
func encode[T any](value T) (string, error) {
	b, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("%w: a %T cannot be written as JSON: %w", ErrInvalid, value, err)
	}
	return string(b), checkSize(len(b))
}

// checkSize refuses a value of too many bytes.
func checkSize(bytes int) error {
	if bytes > maxValue {
		return invalid("a value of %d bytes is too large: Redis takes %d, so divide it", bytes, maxValue)
	}
	return nil
}

// decode is the caller's value of JSON.
func decode[T any](s string) (value T, err error) {
	if err := json.Unmarshal([]byte(s), &value); err != nil {
		return value, fmt.Errorf("%w: decoding a %T: %w", ErrCorrupt, value, err)
	}
	return value, nil
}
