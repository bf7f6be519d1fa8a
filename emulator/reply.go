package emulator

import (
	"bytes"
	"fmt"
	"strconv"
)

// ReplyError is an error a node answered with, such as "WRONGTYPE Operation
// against a key holding the wrong kind of value".
type ReplyError string

func (e ReplyError) Error() string { return string(e) }

// parseReply turns one RESP reply into Go values.
func parseReply(b []byte) (any, error) {
	value, rest, err := parseValue(b)
	if err == nil && len(rest) > 0 {
		return nil, fmt.Errorf("emulator: %d bytes behind the reply", len(rest))
	}
	if e, isError := value.(ReplyError); isError {
		return nil, e
	}
	return value, err
}

func parseValue(b []byte) (value any, rest []byte, err error) {
	end := bytes.Index(b, []byte("\r\n"))
	if end < 1 {
		return nil, nil, fmt.Errorf("emulator: reply %q is cut short", b)
	}
	kind, line, rest := b[0], string(b[1:end]), b[end+2:]
	switch kind {
	case '+', '(':
		return line, rest, nil
	case '-':
		return ReplyError(line), rest, nil
	case '_':
		return nil, rest, nil
	case '#':
		return line == "t", rest, nil
	case ',':
		f, err := strconv.ParseFloat(line, 64)
		return f, rest, err
	}
	n, err := strconv.ParseInt(line, 10, 64)
	if err != nil {
		return nil, nil, fmt.Errorf("emulator: reply %q: %w", b[:end], err)
	}
	switch kind {
	case ':':
		return n, rest, nil
	case '$', '=':
		return parseBulk(kind, n, rest)
	case '%':
		return parseMap(n, rest)
	case '*', '~', '>':
		return parseArray(n, rest)
	}
	return nil, nil, fmt.Errorf("emulator: reply of unknown kind %q", kind)
}

func parseBulk(kind byte, n int64, b []byte) (value any, rest []byte, err error) {
	if n < 0 {
		return nil, b, nil
	}
	if int64(len(b)) < n+2 {
		return nil, nil, fmt.Errorf("emulator: bulk of %d bytes is cut short", n)
	}
	text := string(b[:n])
	if kind == '=' {
		text = text[len("txt:"):]
	}
	return text, b[n+2:], nil
}

func parseArray(n int64, b []byte) (value any, rest []byte, err error) {
	if n < 0 {
		return nil, b, nil
	}
	items := []any{}
	for range n {
		var item any
		if item, b, err = parseValue(b); err != nil {
			return nil, nil, err
		}
		items = append(items, item)
	}
	return items, b, nil
}

func parseMap(n int64, b []byte) (value any, rest []byte, err error) {
	pairs := map[any]any{}
	for range n {
		var key, val any
		if key, b, err = parseValue(b); err != nil {
			return nil, nil, err
		}
		if val, b, err = parseValue(b); err != nil {
			return nil, nil, err
		}
		pairs[key] = val
	}
	return pairs, b, nil
}
