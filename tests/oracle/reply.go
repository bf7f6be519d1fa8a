package oracle

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Reply is one RESP2 or RESP3 value as it came over the wire. Two replies are
// equal exactly when their bytes are, because the reader refuses headers
// that are not in their shortest form.
type Reply struct {
	// Kind is the type byte of the protocol: + - : $ * _ , # ( ! = % ~ > and,
	// for a connection the server closed or a reply that did not come, the
	// pseudo kinds kindClosed and kindMissing.
	Kind byte
	// Null tells RESP2's $-1 and *-1 from empty ones.
	Null bool
	// Text holds a scalar's bytes.
	Text string
	// Items holds an aggregate's elements; a map's keys and values alternate.
	Items []Reply
}

const (
	kindClosed  = 'X'
	kindMissing = '?'
)

var errMalformed = errors.New("malformed reply")

func (r Reply) isError() bool { return r.Kind == '-' || r.Kind == '!' }

func (r Reply) isNull() bool { return r.Null || r.Kind == '_' }

func (r Reply) isAggregate() bool {
	return r.Kind == '*' || r.Kind == '%' || r.Kind == '~' || r.Kind == '>'
}

// equal compares two replies byte for byte.
func (r Reply) equal(o Reply) bool {
	if r.Kind != o.Kind || r.Null != o.Null || r.Text != o.Text || len(r.Items) != len(o.Items) {
		return false
	}
	for i := range r.Items {
		if !r.Items[i].equal(o.Items[i]) {
			return false
		}
	}
	return true
}

// transform returns a copy with change applied to every scalar's text.
func (r Reply) transform(change func(Reply) Reply) Reply {
	if len(r.Items) == 0 {
		return change(r)
	}
	items := make([]Reply, len(r.Items))
	for i, item := range r.Items {
		items[i] = item.transform(change)
	}
	r.Items = items
	return r
}

// key renders a reply unambiguously on one line, to sort and look it up.
func (r Reply) key() string {
	var b strings.Builder
	r.writeKey(&b)
	return b.String()
}

func (r Reply) writeKey(b *strings.Builder) {
	b.WriteByte(r.Kind)
	if r.Null {
		b.WriteString("null")
		return
	}
	if !r.isAggregate() {
		fmt.Fprintf(b, "%d:%s", len(r.Text), r.Text)
		return
	}
	fmt.Fprintf(b, "%d[", len(r.Items))
	for _, item := range r.Items {
		item.writeKey(b)
	}
	b.WriteByte(']')
}

// String renders a reply over several lines, the way a reader wants to
// compare two of them: type byte, quoted text, elements indented.
func (r Reply) String() string {
	var b strings.Builder
	r.render(&b, "")
	return strings.TrimSuffix(b.String(), "\n")
}

func (r Reply) render(b *strings.Builder, indent string) {
	switch {
	case r.Kind == kindClosed:
		b.WriteString("(connection closed)\n")
	case r.Kind == kindMissing:
		b.WriteString("(no reply)\n")
	case r.Null:
		fmt.Fprintf(b, "%c-1\n", r.Kind)
	case r.isAggregate() && r.isShort():
		fmt.Fprintf(b, "%c%d", r.Kind, r.size())
		for _, item := range r.Items {
			b.WriteString("  ")
			var one strings.Builder
			item.render(&one, "")
			b.WriteString(strings.TrimSuffix(one.String(), "\n"))
		}
		b.WriteByte('\n')
	case r.isAggregate():
		fmt.Fprintf(b, "%c%d\n", r.Kind, r.size())
		for _, item := range r.Items {
			b.WriteString(indent + "  ")
			item.render(b, indent+"  ")
		}
	case r.Kind == '$' || r.Kind == '=' || r.Kind == '!':
		fmt.Fprintf(b, "%c%d %s\n", r.Kind, len(r.Text), quote(r.Text))
	default:
		fmt.Fprintf(b, "%c%s\n", r.Kind, r.Text)
	}
}

// isShort reports whether an aggregate of scalars fits on a line.
func (r Reply) isShort() bool {
	width := 0
	for _, item := range r.Items {
		if item.isAggregate() {
			return false
		}
		width += len(item.Text) + 6
	}
	return width < 120
}

// size is the length an aggregate's header states.
func (r Reply) size() int {
	if r.Kind == '%' {
		return len(r.Items) / 2
	}
	return len(r.Items)
}

// readReply reads one value. Attributes are not sent by any command Redis
// has, so one is an error.
func readReply(r *bufio.Reader) (Reply, error) {
	line, err := readLine(r)
	if err != nil {
		return Reply{}, err
	}
	if line == "" {
		return Reply{}, fmt.Errorf("%w: an empty line", errMalformed)
	}
	reply := Reply{Kind: line[0]}
	rest := line[1:]
	switch reply.Kind {
	case '+', '-', ':', '(', '_', ',', '#':
		reply.Text = rest
		return reply, checkScalar(reply)
	case '$', '=', '!':
		return readBulk(r, reply, rest)
	case '*', '%', '~', '>':
		return readAggregate(r, reply, rest)
	default:
		return Reply{}, fmt.Errorf("%w: unknown type in %q", errMalformed, line)
	}
}

func readBulk(r *bufio.Reader, reply Reply, header string) (Reply, error) {
	size, err := length(header)
	if err != nil {
		return Reply{}, err
	}
	if size < 0 {
		reply.Null = true
		return reply, nil
	}
	body := make([]byte, size+2)
	if _, err := io.ReadFull(r, body); err != nil {
		return Reply{}, err
	}
	if string(body[size:]) != "\r\n" {
		return Reply{}, fmt.Errorf("%w: a bulk of %d bytes ends in %q", errMalformed, size, body[size:])
	}
	reply.Text = string(body[:size])
	return reply, nil
}

func readAggregate(r *bufio.Reader, reply Reply, header string) (Reply, error) {
	count, err := length(header)
	if err != nil {
		return Reply{}, err
	}
	if count < 0 {
		reply.Null = true
		return reply, nil
	}
	if reply.Kind == '%' {
		count *= 2
	}
	reply.Items = make([]Reply, 0, min(count, 1024))
	for range count {
		item, err := readReply(r)
		if err != nil {
			return Reply{}, err
		}
		reply.Items = append(reply.Items, item)
	}
	return reply, nil
}

func readLine(r *bufio.Reader) (string, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return "", err
	}
	if !strings.HasSuffix(line, "\r\n") {
		return "", fmt.Errorf("%w: line %q does not end in CRLF", errMalformed, line)
	}
	return line[:len(line)-2], nil
}

// length reads a header's number and refuses any form but the shortest.
func length(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || strconv.Itoa(n) != s || n < -1 || n > math.MaxInt32 {
		return 0, fmt.Errorf("%w: length %q", errMalformed, s)
	}
	return n, nil
}

func checkScalar(r Reply) error {
	switch r.Kind {
	case ':':
		if n, err := strconv.ParseInt(r.Text, 10, 64); err != nil || strconv.FormatInt(n, 10) != r.Text {
			return fmt.Errorf("%w: integer %q", errMalformed, r.Text)
		}
	case '_':
		if r.Text != "" {
			return fmt.Errorf("%w: null %q", errMalformed, r.Text)
		}
	case '#':
		if r.Text != "t" && r.Text != "f" {
			return fmt.Errorf("%w: boolean %q", errMalformed, r.Text)
		}
	}
	return nil
}

// number reads an integer or a bulk that holds one.
func (r Reply) number() (int64, bool) {
	n, err := strconv.ParseInt(r.Text, 10, 64)
	return n, err == nil && !r.isError()
}
