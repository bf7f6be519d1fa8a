package pipe

import (
	"context"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
)

// DefaultBuffer is how many bytes wait in each direction of a connection
// before writes block.
const DefaultBuffer = 1 << 20

// backlog is how many connections wait for Accept before Dial does; Redis'
// tcp-backlog.
const backlog = 511

// The range that the dialling ends' port numbers are taken from.
const (
	firstClientPort = 32768
	clientPorts     = 28232
)

// Listener is a net.Listener that is dialled by its own method.
type Listener struct {
	addr    net.Addr
	buffer  atomic.Int64
	dialled atomic.Uint64

	queue  chan *Conn
	closed chan struct{}
	close  sync.Once
}

var _ net.Listener = (*Listener)(nil)

// Listen returns a listener at addr, usually a *net.TCPAddr. The address is
// only a name: it need not be free, and two listeners may have the same.
func Listen(addr net.Addr) *Listener {
	l := &Listener{addr: addr, queue: make(chan *Conn, backlog), closed: make(chan struct{})}
	l.buffer.Store(DefaultBuffer)
	return l
}

// SetBuffer bounds the bytes waiting in each direction of connections dialled
// from now on. Memory is taken only as it is needed. bytes must be positive.
func (l *Listener) SetBuffer(bytes int) { l.buffer.Store(int64(bytes)) }

// Addr is the address given to Listen.
func (l *Listener) Addr() net.Addr { return l.addr }

// Dial connects to the listener. As with TCP the connection is ready for
// writing before the listener accepts it. Dial waits only while 511 others are
// not accepted yet, until ctx ends. It fails with ECONNREFUSED if the listener
// is closed.
func (l *Listener) Dial(ctx context.Context) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, l.dialFailed(err)
	}
	dialled, accepted := newPair(l.clientAddr(), l.addr, int(l.buffer.Load()))
	select {
	case l.queue <- accepted:
	case <-l.closed:
		return nil, l.dialFailed(refused())
	case <-ctx.Done():
		return nil, l.dialFailed(ctx.Err())
	}
	select {
	case <-l.closed: // perhaps after Close emptied the queue
		l.refuseQueued()
		return nil, l.dialFailed(refused())
	default:
		return dialled, nil
	}
}

// Accept waits for the next connection. After Close it fails with
// net.ErrClosed.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case <-l.closed:
	default:
		select {
		case <-l.closed:
		case c := <-l.queue:
			return c, nil
		}
	}
	return nil, &net.OpError{Op: "accept", Net: l.addr.Network(), Addr: l.addr, Err: net.ErrClosed}
}

// Close stops listening: waiting and later calls of Accept and Dial fail, and
// connections nobody has accepted are reset. Accepted ones live on.
func (l *Listener) Close() error {
	err := error(&net.OpError{Op: "close", Net: l.addr.Network(), Addr: l.addr, Err: net.ErrClosed})
	l.close.Do(func() {
		close(l.closed)
		l.refuseQueued()
		err = nil
	})
	return err
}

// refuseQueued resets the connections nobody will accept.
func (l *Listener) refuseQueued() {
	for {
		select {
		case c := <-l.queue:
			c.reset()
		default:
			return
		}
	}
}

// clientAddr makes up the address of a dialling end.
func (l *Listener) clientAddr() net.Addr {
	ip := net.IPv4(127, 0, 0, 1)
	if tcp, ok := l.addr.(*net.TCPAddr); ok && len(tcp.IP) > 0 && tcp.IP.To4() == nil {
		ip = net.IPv6loopback
	}
	n := l.dialled.Add(1) - 1
	return &net.TCPAddr{IP: ip, Port: firstClientPort + int(n%clientPorts)}
}

func (l *Listener) dialFailed(err error) error {
	return &net.OpError{Op: "dial", Net: l.addr.Network(), Addr: l.addr, Err: err}
}

func refused() error { return os.NewSyscallError("connect", syscall.ECONNREFUSED) }
