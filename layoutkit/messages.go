package layoutkit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

var (
	messageSave   = script("message_save", "log", "item")
	messageGet    = script("message_get", "log", "item")
	messagePage   = script("message_page", "log")
	messageDelete = script("message_delete", "log", "items...")
)

// Message is an entry of a chat's log.
type Message[T any] struct {
	// Member is its id in the chat.
	Member string
	// Score is its place in the log, usually a time; messages with one score stand
	// in the order of the bytes of their members.
	Score float64
	Value T
}

// MessageLogs are the messages of a store: a log for each chat.
type MessageLogs[T any] struct{ store *Store }

// Messages are the messages of a store.
func Messages[T any](s *Store) MessageLogs[T] { return MessageLogs[T]{s} }

// Save puts a message into a chat's log and reports whether it was new: a member
// that is there stays as it is, so a message may be saved again when it is not
// known whether it was. A log that holds any message is a chat's log, whether or
// not there is a record of the chat.
func (m MessageLogs[T]) Save(ctx context.Context, chat string, msg Message[T]) (saved bool, err error) {
	if err := checkMember(chat, msg.Member); err != nil {
		return false, err
	}
	if math.IsNaN(msg.Score) || math.IsInf(msg.Score, 0) {
		return false, invalid("the score %v of a message must be finite", msg.Score)
	}
	text, err := encode(msg.Value)
	if err != nil {
		return false, err
	}
	item := message{chat, text}.String()
	n, err := m.store.script(ctx, messageSave, m.keys(chat, msg.Member), msg.Member, score(msg.Score), item).Int64()
	if err != nil {
		return false, failed("saving a message", err)
	}
	return n == 1, nil
}

// keys are the log of a chat and the items of members.
func (m MessageLogs[T]) keys(chat string, members ...string) []string {
	return slices.Insert(m.items(chat, members), 0, m.store.names.messageLog(chat))
}

func (m MessageLogs[T]) items(chat string, members []string) []string {
	keys := make([]string, len(members))
	for i, member := range members {
		keys[i] = m.store.names.messageItem(chat, member)
	}
	return keys
}

func checkMember(chat, member string) error {
	return errors.Join(needed("chat id", chat), needed("member", member))
}

// score is a score as Redis reads it.
func score(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// Get reads a message. The error is ErrNotFound if the log has no such member.
func (m MessageLogs[T]) Get(ctx context.Context, chat, member string) (Message[T], error) {
	if err := checkMember(chat, member); err != nil {
		return Message[T]{}, err
	}
	reply, err := m.store.script(ctx, messageGet, m.keys(chat, member), member).StringSlice()
	if err != nil {
		return Message[T]{}, failed("reading a message", err)
	}
	if len(reply) == 0 {
		return Message[T]{}, fmt.Errorf("%w: message %q of chat %q", ErrNotFound, member, chat)
	}
	return readMessage[T](chat, logged{member, reply[0]}, reply[1])
}

// logged is what a log says of a message.
type logged struct{ member, score string }

// readMessage is the message of an entry. An item that names another chat is not
// the entry's, so the message is not there.
func readMessage[T any](chat string, e logged, item string) (Message[T], error) {
	message := Message[T]{Member: e.member}
	text, err := parseMessage(item)
	if err != nil {
		return message, err
	}
	if text.chat != chat {
		return message, fmt.Errorf("%w: message %q is of chat %q, not %q", ErrNotFound, e.member, text.chat, chat)
	}
	if message.Score, err = strconv.ParseFloat(e.score, 64); err != nil {
		return message, fmt.Errorf("%w: score: %w", ErrCorrupt, err)
	}
	message.Value, err = decode[T](text.json)
	return message, err
}

// Query chooses a page of a chat's log. The zero value is the first page upward.
type Query struct {
	// Reverse goes from the greatest score down.
	Reverse bool
	// Min and Max bound the scores, both included; nil does not.
	Min, Max *float64
	// After is the Next of the page before. The rest of the query should be as it
	// was there.
	After PageCursor
	// Limit is how many messages a page has at most; 100 if 0.
	Limit int
}

const pageLimit = 100

// PageCursor is a place in a chat's log: behind a message, whether or not that is still
// there. It may be kept and given to another process.
type PageCursor string

func cursorBehind(e logged) PageCursor { return PageCursor(e.score + ":" + escape(e.member)) }

func (c PageCursor) entry() (e logged, err error) {
	if c == "" {
		return logged{}, nil
	}
	number, segment, _ := strings.Cut(string(c), ":")
	member, ok := unescape(segment)
	f, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || math.IsNaN(f) {
		return logged{}, invalid("%q is no cursor: use the Next of a page", abridged(string(c)))
	}
	return logged{member, score(f)}, nil
}

// Page is a part of a chat's log.
type Page[T any] struct {
	Messages []Message[T]
	// Next is for the page behind this one; empty if there is none.
	Next PageCursor
}

// Page reads a page of a chat's log. A page may have fewer messages than the limit,
// when some were deleted meanwhile; only Next says whether there are more. Messages
// that cannot be read are left out, and joined in an ErrCorrupt beside the page.
func (m MessageLogs[T]) Page(ctx context.Context, chat string, q Query) (Page[T], error) {
	entries, next, err := m.entries(ctx, chat, q)
	if err != nil || len(entries) == 0 {
		return Page[T]{}, err
	}
	members := make([]string, len(entries))
	for i, e := range entries {
		members[i] = e.member
	}
	items, err := m.store.values(ctx, m.items(chat, members))
	if err != nil {
		return Page[T]{}, err
	}
	page := Page[T]{Next: next}
	var unreadable []error
	for i, item := range items {
		if item == nil {
			continue // deleted since
		}
		message, err := readMessage[T](chat, entries[i], *item)
		switch {
		case err == nil:
			page.Messages = append(page.Messages, message)
		case !errors.Is(err, ErrNotFound):
			unreadable = append(unreadable, fmt.Errorf("message %q: %w", entries[i].member, err))
		}
	}
	return page, errors.Join(unreadable...)
}

// entries are the entries of a page in its order, and where the next one begins.
func (m MessageLogs[T]) entries(ctx context.Context, chat string, q Query) ([]logged, PageCursor, error) {
	args, err := q.args()
	if err := errors.Join(needed("chat id", chat), err); err != nil {
		return nil, "", err
	}
	reply, err := m.store.script(ctx, messagePage, m.keys(chat), args...).Slice()
	if err != nil {
		return nil, "", failed("reading a chat's log", err)
	}
	var entries []logged
	for pair := range slices.Chunk(reply[1:], 2) {
		entries = append(entries, logged{pair[0].(string), pair[1].(string)})
	}
	if q.Reverse {
		slices.Reverse(entries)
	}
	if more := reply[0] == int64(1); !more {
		return entries, "", nil
	}
	return entries, cursorBehind(entries[len(entries)-1]), nil
}

// args are the ARGV of message_page.
func (q Query) args() ([]any, error) {
	direction, least, most, limit := "up", "-inf", "+inf", q.Limit
	if q.Reverse {
		direction = "down"
	}
	if q.Min != nil {
		least = score(*q.Min)
	}
	if q.Max != nil {
		most = score(*q.Max)
	}
	if least == "NaN" || most == "NaN" {
		return nil, invalid("Min and Max must be numbers")
	}
	if limit < 0 {
		return nil, invalid("Limit %d is negative: use 0 for %d", limit, pageLimit)
	}
	if limit == 0 {
		limit = pageLimit
	}
	after, err := q.After.entry()
	return []any{direction, least, most, limit, after.score, after.member}, err
}

// Count is how many messages a chat's log has.
func (m MessageLogs[T]) Count(ctx context.Context, chat string) (int64, error) {
	if err := needed("chat id", chat); err != nil {
		return 0, err
	}
	n, err := m.store.client.ZCard(ctx, m.store.names.messageLog(chat)).Result()
	if err != nil {
		return 0, failed("counting messages", err)
	}
	return n, nil
}

// Delete deletes one message and reports whether it was there.
func (m MessageLogs[T]) Delete(ctx context.Context, chat, member string) (bool, error) {
	if err := checkMember(chat, member); err != nil {
		return false, err
	}
	n, err := m.delete(ctx, chat, []string{member})
	return n == 1, err
}

// deleteBatch is how many messages DeleteChat deletes at once.
const deleteBatch = 1000

// DeleteChat deletes the messages that a chat has now, and then the record of the
// chat, and returns how many messages it deleted, also with an error. It is safe to
// delete again.
//
// Messages go in batches of 1000, each atomic: an item goes only together with its
// log entry. A message that is saved meanwhile stays, as a whole.
func (m MessageLogs[T]) DeleteChat(ctx context.Context, chat string) (deleted int64, err error) {
	if err := needed("chat id", chat); err != nil {
		return 0, err
	}
	// One read of the whole log, so that what is saved from now on is not in it.
	members, err := m.store.client.ZRange(ctx, m.store.names.messageLog(chat), 0, -1).Result()
	if err != nil {
		return 0, failed("reading a chat's log", err)
	}
	for batch := range slices.Chunk(members, deleteBatch) {
		n, err := m.delete(ctx, chat, batch)
		deleted += n
		if err != nil {
			return deleted, err
		}
	}
	_, err = m.store.remove(ctx, m.store.placeOf(chats, chat))
	return deleted, err
}

// delete deletes messages in one step.
func (m MessageLogs[T]) delete(ctx context.Context, chat string, members []string) (int64, error) {
	args := make([]any, len(members))
	for i, member := range members {
		args[i] = member
	}
	n, err := m.store.script(ctx, messageDelete, m.keys(chat, members...), args...).Int64()
	if err != nil {
		return 0, failed("deleting messages", err)
	}
	return n, nil
}
