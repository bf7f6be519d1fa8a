package broker_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/broker"
	"github.com/fakecluster/fakecluster/broker/brokertest"
	"github.com/redis/go-redis/v9"
)

// loss is how a reply is lost.
type loss int

const (
	afterwards loss = iota // the command runs, its reply does not come
	before                 // the command never arrives
	late                   // the command arrives when deliver is called
)

// lossy loses the reply to one command.
type lossy struct {
	command string
	how     loss

	mu     sync.Mutex
	struck int
	held   []func() error // deliver what is late
}

// options make a broker that connects through l.
func (l *lossy) options(o broker.Options) brokertest.Option {
	o.Redis = func(u *redis.UniversalOptions) {
		dial := u.Dialer
		if dial == nil {
			dial = (&net.Dialer{}).DialContext
		}
		u.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dial(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return &lossyConn{Conn: conn, lossy: l}, nil
		}
	}
	return brokertest.Options(o)
}

// strikes reports whether this write is the one, which it is the first time.
func (l *lossy) strikes(sent []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.struck > 0 || !bytes.Contains(bytes.ToLower(sent), []byte("\r\n"+l.command+"\r\n")) {
		return false
	}
	l.struck++
	return true
}

func (l *lossy) hits() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.struck
}

// deliver sends what is late, and waits until the node has dealt with it.
func (l *lossy) deliver() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all error
	for _, send := range l.held {
		all = errors.Join(all, send())
	}
	return all
}

// quit is the command upon which a node ends a connection, behind what came before.
const quit = "*1\r\n$4\r\nQUIT\r\n"

// sendLate sends the rest of what a connection is for. That fails at once if the
// server has ended it.
func sendLate(conn net.Conn, rest []byte) error {
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(brokertest.Patience))
	if _, err := conn.Write(append(rest, quit...)); err != nil {
		return nil
	}
	if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return nil
}

type lossyConn struct {
	net.Conn
	lossy *lossy

	mu        sync.Mutex
	lost      bool
	swallowed bool
}

func (c *lossyConn) Write(b []byte) (int, error) {
	if !c.lossy.strikes(b) {
		return c.Conn.Write(b)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost = true
	if c.lossy.how == afterwards {
		return c.Conn.Write(b)
	}
	c.swallowed = true
	if c.lossy.how == late {
		rest := bytes.Clone(b)
		c.lossy.mu.Lock()
		c.lossy.held = append(c.lossy.held, func() error { return sendLate(c.Conn, rest) })
		c.lossy.mu.Unlock()
	}
	return len(b), nil
}

// Read waits for a reply that is to be lost, so that the command has run.
func (c *lossyConn) Read(b []byte) (int, error) {
	c.mu.Lock()
	swallowed := c.swallowed
	c.mu.Unlock()
	if swallowed {
		return 0, io.EOF
	}
	n, err := c.Conn.Read(b)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost {
		c.Conn.Close()
		return 0, io.EOF
	}
	return n, err
}

// Close leaves a connection open over which something is to come late.
func (c *lossyConn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.swallowed && c.lossy.how == late {
		return nil
	}
	return c.Conn.Close()
}

func init() {
	for name, how := range map[string]loss{"that ran": afterwards, "that did not arrive": before, "that arrives late": late} {
		bodies["a lost EXEC "+name] = func(t *testing.T, on brokertest.Option) { lostExec(t, how, on) }
	}
	bodies["lost replies lose nothing"] = lostReplies
}

// lostExec: whatever became of an EXEC without a reply, the window's commands are
// executed once.
func lostExec(t *testing.T, how loss, on brokertest.Option) {
	metrics := newRegistry()
	l := &lossy{command: "exec", how: how}
	h := brokertest.Start(t, app(
		broker.Atomic(broker.Stream("{lost}").Group("g"), func(ctx context.Context, j *job, w *broker.Window) broker.Outcome {
			w.RPush(ctx, "{lost}:effects", j.ID)
			return broker.Ack()
		}),
	), on, l.options(broker.Options{Logger: quiet, Metrics: metrics}))
	h.Clear("{lost}:effects")
	for i := range 3 {
		h.Publish(job{ID: i}, broker.Stream("{lost}"))
	}
	h.Settled("{lost}", broker.Acked, 3)
	if err := l.deliver(); err != nil {
		t.Error(err)
	}
	ctx := within(t)
	if got := h.Client().LRange(ctx, "{lost}:effects", 0, -1).Val(); len(got) != 3 || got[0] != "0" || got[1] != "1" || got[2] != "2" {
		t.Errorf("the effects are %v", got)
	}
	if l.hits() != 1 || metrics.value(t, "broker_window_lost_replies_total") != 1 {
		t.Errorf("%d replies were lost and %d counted", l.hits(), metrics.value(t, "broker_window_lost_replies_total"))
	}
	if n := h.Pending("{lost}"); n != 0 {
		t.Errorf("%d are pending", n)
	}
}

// lostReplies: whatever command of the broker loses its reply, with Claims and Reclaim
// every message is handled and nothing stays.
func lostReplies(t *testing.T, on brokertest.Option) {
	list := broker.List("{lost}l").Reliable().Claims("{lost}l.claims", 300*time.Millisecond)
	stream := broker.Stream("{lost}s").Group("g").Reclaim(300 * time.Millisecond)
	for _, c := range []struct {
		command string
		source  broker.Source
	}{
		{"blmove", list}, {"evalsha", list}, {"xreadgroup", stream}, {"xack", stream}, {"evalsha", stream}, {"blmove", broker.List("{lost}p").Reliable()},
	} {
		for _, how := range []loss{afterwards, before} {
			if how == afterwards && c.source.Name() == "{lost}p" {
				continue // without claims such an entry waits for somebody to move it
			}
			t.Run(c.command+" "+c.source.Name()+" "+map[loss]string{afterwards: "ran", before: "did not run"}[how], func(t *testing.T) {
				l := &lossy{command: c.command, how: how}
				handled := make(chan int, 1000)
				h := brokertest.Start(t, app(broker.Subscribe(c.source, func(ctx context.Context, j *job) broker.Outcome {
					if j.ID == 0 && broker.DeliveryOf(ctx).Count == 1 {
						return broker.Retry(errNotYet) // so that scripts settle, too
					}
					handled <- j.ID
					return broker.Ack()
				})), on, l.options(broker.Options{Logger: quiet, Block: time.Second}))
				if c.command != "xack" && c.command != "evalsha" {
					h.Eventually("a read was struck", func() bool { return l.hits() == 1 })
				}
				const n = 5
				for i := range n {
					h.Publish(job{ID: i}, c.source)
				}
				seen := map[int]bool{}
				for len(seen) < n {
					select {
					case id := <-handled:
						seen[id] = true
					case <-time.After(brokertest.Patience):
						t.Fatalf("only %v were handled", seen)
					}
				}
				h.Eventually("nothing is pending", func() bool { return h.Pending(c.source.Name()) == 0 })
				if l.hits() != 1 {
					t.Errorf("%d replies were lost", l.hits())
				}
			})
		}
	}
}
