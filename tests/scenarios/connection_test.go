package scenarios

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// connection speaks RESP2 and writes replies down as redis-cli does.
type connection struct {
	conn     net.Conn
	r        *bufio.Reader
	patience time.Duration
	failure  string // why there is no more to be had
}

func newConnection(conn net.Conn, patience time.Duration) *connection {
	return &connection{conn: conn, r: bufio.NewReader(conn), patience: patience}
}

// closedConn stands for a connection that could not be opened.
type closedConn struct{ net.Conn }

func (closedConn) Close() error { return nil }

// words splits a line at spaces that are not within quotes.
func words(line string) []string {
	var all []string
	var word strings.Builder
	quoted, begun := false, false
	for _, r := range line {
		switch {
		case r == '"':
			quoted, begun = !quoted, true
		case r == ' ' && !quoted:
			if begun {
				all = append(all, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if begun {
		all = append(all, word.String())
	}
	return all
}

func (c *connection) send(commands [][]string) {
	var b strings.Builder
	for _, args := range commands {
		fmt.Fprintf(&b, "*%d\r\n", len(args))
		for _, arg := range args {
			fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(arg), arg)
		}
	}
	if c.failure != "" {
		return
	}
	if _, err := io.WriteString(c.conn, b.String()); err != nil {
		c.failure = failure(err)
	}
}

// value is one reply: text, or the items of an array.
type value struct {
	kind  byte // as in the protocol; '_' for nil
	text  string
	items []value
}

// reply reads one reply and writes it down.
func (c *connection) reply() string {
	v, failed := c.next()
	if failed != "" {
		return failed + "\n"
	}
	return v.lines("")
}

// next reads one reply, or returns why there is none.
func (c *connection) next() (v value, failed string) {
	if c.failure != "" {
		return v, c.failure
	}
	c.conn.SetReadDeadline(time.Now().Add(c.patience))
	v, err := c.read()
	if err != nil {
		c.failure = failure(err)
	}
	return v, c.failure
}

func (c *connection) read() (value, error) {
	line, err := c.r.ReadString('\n')
	if err != nil {
		return value{}, err
	}
	v := value{kind: line[0], text: strings.TrimSuffix(line[1:], "\r\n")}
	if v.kind != '$' && v.kind != '*' {
		return v, nil
	}
	size, err := strconv.Atoi(v.text)
	switch {
	case err != nil:
		return v, err
	case size < 0:
		return value{kind: '_'}, nil
	case v.kind == '$':
		b := make([]byte, size+2)
		_, err := io.ReadFull(c.r, b)
		v.text = string(b[:size])
		return v, err
	}
	for range size {
		item, err := c.read()
		if err != nil {
			return v, err
		}
		v.items = append(v.items, item)
	}
	return v, nil
}

// lines writes a reply down; lines after the first begin with indent.
func (v value) lines(indent string) string {
	switch {
	case v.kind == '+':
		return v.text + "\n"
	case v.kind == '-':
		return "(error) " + v.text + "\n"
	case v.kind == ':':
		return "(integer) " + v.text + "\n"
	case v.kind == '$':
		return strconv.Quote(v.text) + "\n"
	case v.kind == '_':
		return "(nil)\n"
	case len(v.items) == 0:
		return "(empty array)\n"
	}
	var b strings.Builder
	for i, item := range v.items {
		label := fmt.Sprintf("%d) ", i+1)
		if i > 0 {
			b.WriteString(indent)
		}
		b.WriteString(label + item.lines(indent+strings.Repeat(" ", len(label))))
	}
	return b.String()
}
