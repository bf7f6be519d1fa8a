package soak

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// connection speaks RESP2 or RESP3 and knows nothing of clusters.
type connection struct {
	net.Conn
	r    *bufio.Reader
	out  []byte
	push func(items []string) // for messages
}

// hang is after how long a reply is held for one that never comes.
const hang = 2 * time.Minute

func newConnection(c net.Conn) *connection {
	return &connection{Conn: c, r: bufio.NewReader(c)}
}

// add puts a command behind those that send sends.
func (c *connection) add(args ...string) {
	c.out = fmt.Appendf(c.out, "*%d\r\n", len(args))
	for _, arg := range args {
		c.out = fmt.Appendf(c.out, "$%d\r\n%s\r\n", len(arg), arg)
	}
}

func (c *connection) send() error {
	c.SetDeadline(time.Now().Add(hang))
	_, err := c.Write(c.out)
	c.out = c.out[:0]
	return err
}

// do executes one command.
func (c *connection) do(args ...string) (reply, error) {
	c.add(args...)
	if err := c.send(); err != nil {
		return reply{}, err
	}
	return c.reply()
}

// reply is a value: text, or what an array holds, or an error.
type reply struct {
	kind  byte
	text  string
	items []reply
}

func (r reply) failed() bool { return r.kind == '-' }

// texts are the texts of an array's items.
func (r reply) texts() (all []string) {
	for _, item := range r.items {
		all = append(all, item.text)
	}
	return all
}

// reply reads the next reply. Pushed messages in front of it go elsewhere.
func (c *connection) reply() (reply, error) {
	for {
		r, err := c.value()
		if err != nil || r.kind != '>' {
			return r, err
		}
		if c.push != nil {
			c.push(r.texts())
		}
	}
}

var errProtocol = errors.New("not the protocol")

func (c *connection) value() (reply, error) {
	line, err := c.r.ReadString('\n')
	if err != nil {
		return reply{}, err
	}
	if len(line) < 3 {
		return reply{}, fmt.Errorf("%w: %q", errProtocol, line)
	}
	r := reply{kind: line[0], text: strings.TrimSuffix(line[1:], "\r\n")}
	switch r.kind {
	case '+', '-', ':', '_', ',', '#', '(':
		return r, nil
	}
	size, err := strconv.Atoi(r.text)
	if err != nil {
		return r, fmt.Errorf("%w: %q", errProtocol, line)
	}
	switch {
	case size < 0:
		return reply{kind: '_'}, nil
	case r.kind == '$' || r.kind == '=':
		b := make([]byte, size+2)
		_, err := io.ReadFull(c.r, b)
		r.text = string(b[:size])
		return r, err
	case r.kind == '%':
		size *= 2
	case r.kind != '*' && r.kind != '~' && r.kind != '>':
		return r, fmt.Errorf("%w: %q", errProtocol, line)
	}
	r.text = ""
	for range size {
		item, err := c.value()
		if err != nil {
			return r, err
		}
		r.items = append(r.items, item)
	}
	return r, nil
}
