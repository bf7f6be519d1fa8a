package broker

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Headers travel with a message on every transport.
type Headers map[string]string

// The headers that the broker itself writes.
const (
	// HeaderID is an identity that a message keeps through retries.
	HeaderID = "message-id"
	// HeaderRetries is how often the message was put back into its queue.
	HeaderRetries = "retries"
	// HeaderReason is why a dead letter is one.
	HeaderReason = "dead-letter-reason"
	// HeaderSource is the queue that a dead letter comes from.
	HeaderSource = "dead-letter-source"
	// HeaderDeliveries is how often a dead letter was delivered.
	HeaderDeliveries = "dead-letter-deliveries"
)

// Message is what travels.
type Message struct {
	Headers Headers
	Payload []byte
}

// ID is the message's identity, or empty if an outside client sent it.
func (m Message) ID() string { return m.Headers[HeaderID] }

func (m Message) retries() int {
	n, err := strconv.Atoi(m.Headers[HeaderRetries])
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// with is a copy with more headers, given as names and values in turn.
func (m Message) with(pairs ...string) Message {
	headers := maps.Clone(m.Headers)
	if headers == nil {
		headers = Headers{}
	}
	for i := 0; i < len(pairs); i += 2 {
		headers[pairs[i]] = pairs[i+1]
	}
	return Message{headers, m.Payload}
}

// retried is a copy for another try.
func (m Message) retried() Message {
	return m.with(HeaderRetries, strconv.Itoa(m.retries()+1))
}

func newID() string { return rand.Text() }

// A list or a channel carries one string. In it a message is either compact,
//
//	magic, count of headers, then name and value of each, then the payload
//
// with lengths as uvarints, or readable, a JSON object that begins with
// readablePrefix. Everything else is a payload that came without headers.
const (
	magic          = "\x00\xb1msg1"
	readablePrefix = `{"headers":`
)

// Encode writes a message as an entry of a list or a message of a channel, in the
// compact form.
func Encode(m Message) string { return m.encode(false) }

// encode is the message as one string.
func (m Message) encode(readable bool) string {
	if readable {
		return m.encodeReadable()
	}
	var b []byte
	b = append(b, magic...)
	b = binary.AppendUvarint(b, uint64(len(m.Headers)))
	for _, name := range slices.Sorted(maps.Keys(m.Headers)) {
		b = appendText(b, name)
		b = appendText(b, m.Headers[name])
	}
	return string(append(b, m.Payload...))
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// readable is the JSON form: the payload is itself if it is JSON, else text, else
// base64.
type readable struct {
	Headers Headers         `json:"headers"`
	Payload json.RawMessage `json:"payload,omitempty"`
	Text    *string         `json:"text,omitempty"`
	Base64  []byte          `json:"base64,omitempty"`
}

func (m Message) encodeReadable() string {
	r := readable{Headers: m.Headers}
	if r.Headers == nil {
		r.Headers = Headers{}
	}
	switch {
	case isCompactJSON(m.Payload):
		r.Payload = m.Payload
	case utf8.Valid(m.Payload):
		text := string(m.Payload)
		r.Text = &text
	default:
		r.Base64 = m.Payload
	}
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(r); err != nil {
		// Headers that are not UTF-8 do not fail, and everything else is checked.
		return m.encode(false)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// isCompactJSON reports whether payload is JSON that the encoder leaves as it is.
func isCompactJSON(payload []byte) bool {
	var compact bytes.Buffer
	return utf8.Valid(payload) && json.Compact(&compact, payload) == nil && bytes.Equal(compact.Bytes(), payload)
}

// Decode reads an entry of a list or a message of a channel. What the broker did not
// write is a payload without headers.
func Decode(text string) Message {
	if rest, ok := strings.CutPrefix(text, magic); ok {
		if m, ok := decodeCompact(rest); ok {
			return m
		}
	}
	if strings.HasPrefix(text, readablePrefix) {
		if m, ok := decodeReadable(text); ok {
			return m
		}
	}
	return Message{Payload: []byte(text)}
}

func decodeCompact(rest string) (m Message, ok bool) {
	count, rest, ok := cutLength(rest)
	if !ok || count > uint64(len(rest)) {
		return m, false
	}
	m.Headers = make(Headers, count)
	for range count {
		var name, value string
		if name, rest, ok = cutText(rest); !ok {
			return m, false
		}
		if value, rest, ok = cutText(rest); !ok {
			return m, false
		}
		m.Headers[name] = value
	}
	m.Payload = []byte(rest)
	return m, true
}

func cutLength(text string) (n uint64, rest string, ok bool) {
	n, size := binary.Uvarint([]byte(text[:min(len(text), binary.MaxVarintLen64)]))
	if size <= 0 {
		return 0, "", false
	}
	return n, text[size:], true
}

func cutText(text string) (value, rest string, ok bool) {
	n, rest, ok := cutLength(text)
	if !ok || n > uint64(len(rest)) {
		return "", "", false
	}
	return rest[:n], rest[n:], true
}

func decodeReadable(text string) (m Message, ok bool) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	var r readable
	if err := decoder.Decode(&r); err != nil || decoder.More() {
		return m, false
	}
	m.Headers = r.Headers
	switch {
	case r.Payload != nil:
		m.Payload = r.Payload
	case r.Text != nil:
		m.Payload = []byte(*r.Text)
	default:
		m.Payload = r.Base64
	}
	return m, true
}

// In a stream entry the payload has a field of its own and each header one with a
// prefix.
const (
	payloadField = "payload"
	headerPrefix = "h:"
)

// fields are the message as fields and values of a stream entry, in turn.
func (m Message) fields() []any {
	fields := []any{payloadField, m.Payload}
	for _, name := range slices.Sorted(maps.Keys(m.Headers)) {
		fields = append(fields, headerPrefix+name, m.Headers[name])
	}
	return fields
}

// DecodeFields reads an entry of a stream. One that an outside client wrote with other
// fields is a JSON object of them, or, if it has but one field, that field's value.
func DecodeFields(fields map[string]any) Message {
	m := Message{Headers: Headers{}}
	outside := map[string]string{}
	payload, ours := fields[payloadField]
	if ours {
		m.Payload = []byte(text(payload))
	}
	for name, value := range fields {
		if header, ok := strings.CutPrefix(name, headerPrefix); ok {
			m.Headers[header] = text(value)
		} else {
			outside[name] = text(value)
		}
	}
	switch {
	case ours:
	case len(outside) == 1:
		for _, value := range outside {
			m.Payload = []byte(value)
		}
	default:
		// A map of strings always becomes JSON.
		m.Payload, _ = json.Marshal(outside)
	}
	return m
}

func text(value any) string {
	s, _ := value.(string) // go-redis reads fields of entries as strings
	return s
}
