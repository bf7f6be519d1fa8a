package shim

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// wire is a bare connection to a node for subscriptions: go-redis' own resubscribes
// all channels in one command, which a cluster refuses for channels of several
// slots. It speaks RESP2, in which everything that comes for a subscriber is an
// array of strings and numbers.
type wire struct {
	conn    net.Conn
	r       *bufio.Reader
	timeout time.Duration // for writing, and for replies that must come

	mu sync.Mutex // writing
}

// dialWire connects to addr as the client of a node of the same cluster does, and
// authenticates.
func dialWire(ctx context.Context, node *redis.Client, addr string) (*wire, error) {
	opt := node.Options()
	ctx, cancel := context.WithTimeout(ctx, opt.DialTimeout)
	defer cancel()
	conn, err := opt.Dialer(ctx, opt.Network, addr)
	if err != nil {
		return nil, err
	}
	w := &wire{conn: conn, r: bufio.NewReader(conn), timeout: opt.DialTimeout}
	if err := w.authenticate(ctx, opt); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return w, nil
}

func (w *wire) authenticate(ctx context.Context, opt *redis.Options) error {
	username, password := opt.Username, opt.Password
	switch {
	case opt.CredentialsProviderContext != nil:
		var err error
		if username, password, err = opt.CredentialsProviderContext(ctx); err != nil {
			return err
		}
	case opt.CredentialsProvider != nil:
		username, password = opt.CredentialsProvider()
	}
	if password != "" {
		args := []string{"AUTH", username, password}
		if username == "" {
			args = []string{"AUTH", password}
		}
		if err := w.ask(args...); err != nil {
			return err
		}
	}
	if opt.ClientName != "" {
		return w.ask("CLIENT", "SETNAME", opt.ClientName)
	}
	return nil
}

// ask sends a command and reads its status.
func (w *wire) ask(args ...string) error {
	if err := w.send(args...); err != nil {
		return err
	}
	_, err := w.read(w.timeout)
	return err
}

func (w *wire) send(args ...string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, arg := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(arg), arg)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.conn.SetWriteDeadline(time.Now().Add(w.timeout)); err != nil {
		return err
	}
	_, err := io.WriteString(w.conn, b.String())
	return err
}

// maxBulk is how long a message may be: what a server that is set up as usual takes.
const maxBulk = 512 << 20

// serverError is an error reply.
type serverError string

func (e serverError) Error() string { return string(e) }

// read reads one reply, which must come within d: a status or an array, as
// strings. An error reply is a serverError.
func (w *wire) read(d time.Duration) ([]string, error) {
	if err := w.conn.SetReadDeadline(time.Now().Add(d)); err != nil {
		return nil, err
	}
	line, err := w.line()
	if err != nil {
		return nil, err
	}
	switch line[0] {
	case '-':
		return nil, serverError(line[1:])
	case '+', ':':
		return []string{line[1:]}, nil
	case '*':
		count, err := strconv.Atoi(line[1:])
		if err != nil {
			return nil, fmt.Errorf("shim: unexpected reply %q", line)
		}
		var words []string // not as many at once: a reply that is broken may claim any number
		for range count {
			word, err := w.word()
			if err != nil {
				return nil, err
			}
			words = append(words, word)
		}
		return words, nil
	}
	return nil, fmt.Errorf("shim: unexpected reply %q", line)
}

func (w *wire) line() (string, error) {
	line, err := w.r.ReadString('\n')
	if err != nil {
		return "", err
	}
	line = strings.TrimSuffix(line, "\r\n")
	if line == "" {
		return "", errors.New("shim: empty reply")
	}
	return line, nil
}

// word reads a string or a number of an array.
func (w *wire) word() (string, error) {
	line, err := w.line()
	if err != nil {
		return "", err
	}
	switch line[0] {
	case ':':
		return line[1:], nil
	case '$':
		size, err := strconv.Atoi(line[1:])
		if err != nil || size < 0 {
			return "", err // the channel of an sunsubscribe may be null
		}
		if size > maxBulk {
			return "", fmt.Errorf("shim: unexpected reply of %d bytes", size)
		}
		body := make([]byte, size+len("\r\n"))
		if _, err := io.ReadFull(w.r, body); err != nil {
			return "", err
		}
		return string(body[:size]), nil
	}
	return "", fmt.Errorf("shim: unexpected word %q", line)
}

func (w *wire) close() { _ = w.conn.Close() } // what it could say, reading says
