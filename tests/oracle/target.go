package oracle

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/tests/redisserver"
)

// Masters is the number of nodes of a cluster under comparison.
const Masters = 3

// Target is a kind of server that can be put on one side of the comparison.
type Target interface {
	// Start runs Masters nodes that own the slots as redis-cli --cluster create
	// would spread them, or one standalone server, until the test ends.
	Start(tb testing.TB, cluster bool) Endpoint
}

// Endpoint is a running target.
type Endpoint struct {
	// Name tells the sides apart in reports.
	Name string
	// Addrs are the addresses the nodes announce, in the order of their slots.
	Addrs []string
	// Dial connects to one of Addrs.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Alive returns an error when the target died.
	Alive func() error
}

// RealRedis is the judge: redis-server processes from PATH.
type RealRedis struct{}

// Start implements Target.
func (RealRedis) Start(tb testing.TB, cluster bool) Endpoint {
	tb.Helper()
	nodes := []*redisserver.Server{}
	var addrs []string
	if cluster {
		c := redisserver.StartCluster(tb, Masters, 0)
		nodes, addrs = c.Nodes, c.Addrs()
	} else {
		s := redisserver.Start(tb)
		nodes, addrs = append(nodes, s), []string{s.Addr()}
	}
	var dialer net.Dialer
	return Endpoint{
		Name:  "redis",
		Addrs: addrs,
		Dial:  dialer.DialContext,
		Alive: func() error {
			var errs []error
			for _, node := range nodes {
				errs = append(errs, node.Alive())
			}
			return errors.Join(errs...)
		},
	}
}

// replyDeadline bounds the wait for one reply: PFSELFTEST takes seconds where
// others want the processor, too.
const replyDeadline = 15 * time.Second

// side is one of the two targets with what the runner knows of it.
type side struct {
	Endpoint
	control []*client  // one connection per node, for questions outside the comparison
	leaving [][]string // per node, ids of clients whose connection was closed
	ids     []string   // node ids in cluster mode
	names   *strings.Replacer
}

func newSide(e Endpoint, cluster bool) (*side, error) {
	s := &side{Endpoint: e, leaving: make([][]string, len(e.Addrs))}
	var names []string
	for i, addr := range e.Addrs {
		c, err := s.open(i)
		if err != nil {
			return nil, err
		}
		s.control = append(s.control, c)
		names = append(names, addr, fmt.Sprintf("<addr%d>", i))
		if cluster {
			id := c.ask("CLUSTER", "MYID").Text
			if len(id) != 40 {
				return nil, fmt.Errorf("%s: CLUSTER MYID answers %q", e.Name, id)
			}
			s.ids = append(s.ids, id)
			names = append(names, id, fmt.Sprintf("<id%d>", i))
		}
	}
	s.names = strings.NewReplacer(names...)
	return s, nil
}

func (s *side) close() {
	for _, c := range s.control {
		c.close()
	}
}

// named replaces the side's own addresses and ids in a reply by node names.
func (s *side) named(r Reply) Reply {
	return r.transform(func(r Reply) Reply {
		r.Text = s.names.Replace(r.Text)
		return r
	})
}

// port is the port a node announces.
func (s *side) port(node int) string {
	_, port, _ := net.SplitHostPort(s.Addrs[node])
	return port
}

// infoField asks a node for one number of INFO clients.
func (s *side) infoField(node int, field string) (int, error) {
	text := s.control[node].ask("INFO", "clients").Text
	_, rest, found := strings.Cut(text, "\r\n"+field+":")
	digits, _, _ := strings.Cut(rest, "\r\n")
	n, err := strconv.Atoi(digits)
	if !found || err != nil {
		return 0, fmt.Errorf("%s: INFO clients has no %s: %q", s.Name, field, text)
	}
	return n, nil
}

// client is one connection to one node.
type client struct {
	conn   net.Conn
	r      *bufio.Reader
	out    []byte
	id     string // CLIENT ID
	closed bool
}

func (s *side) open(node int) (*client, error) {
	ctx, cancel := context.WithTimeout(context.Background(), replyDeadline)
	defer cancel()
	conn, err := s.Dial(ctx, "tcp", s.Addrs[node])
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", s.Name, err)
	}
	c := &client{conn: conn, r: bufio.NewReaderSize(conn, 64<<10)}
	if r := c.ask("CLIENT", "ID"); r.Kind == ':' {
		c.id = r.Text // an error when a password is set
	}
	return c, nil
}

func (c *client) close() {
	c.closed = true
	c.conn.Close()
}

// queue appends a command to what flush will send.
func (c *client) queue(args []string) {
	b := append(c.out, '*')
	b = strconv.AppendInt(b, int64(len(args)), 10)
	for _, arg := range args {
		b = append(b, "\r\n$"...)
		b = strconv.AppendInt(b, int64(len(arg)), 10)
		b = append(b, "\r\n"...)
		b = append(b, arg...)
	}
	c.out = append(b, "\r\n"...)
}

func (c *client) flush() {
	if len(c.out) == 0 {
		return
	}
	// A failed write means a closed connection, which the next read reports.
	_ = c.conn.SetDeadline(time.Now().Add(replyDeadline))
	_, _ = c.conn.Write(c.out)
	c.out = c.out[:0]
}

// ask sends one command and returns its reply, pushes aside.
func (c *client) ask(args ...string) Reply {
	c.queue(args)
	c.flush()
	for {
		if r := c.read(); r.Kind != '>' {
			return r
		}
	}
}

// read returns the next reply. A closed connection and a reply that does not
// come in time are replies of their own kind, to be compared like any other.
func (c *client) read() Reply {
	if c.closed {
		return Reply{Kind: kindClosed}
	}
	_ = c.conn.SetReadDeadline(time.Now().Add(replyDeadline))
	r, err := readReply(c.r)
	switch {
	case err == nil:
		return r
	case errors.Is(err, os.ErrDeadlineExceeded):
		c.close()
		return Reply{Kind: kindMissing}
	case errors.Is(err, errMalformed):
		c.close()
		return Reply{Kind: kindMissing, Text: err.Error()}
	default:
		// EOF or a reset: either way the server closed the connection.
		c.close()
		return Reply{Kind: kindClosed}
	}
}

// ready reports whether something to read, or the end of the connection,
// arrives within d.
func (c *client) ready(d time.Duration) bool {
	if c.closed || c.r.Buffered() > 0 {
		return true
	}
	_ = c.conn.SetReadDeadline(time.Now().Add(d))
	_, err := c.r.Peek(1)
	return err == nil || errors.Is(err, io.EOF) || !errors.Is(err, os.ErrDeadlineExceeded)
}
