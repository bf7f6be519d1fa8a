package server

import (
	"log/slog"
	"net"
	"syscall"
	"testing"
	"time"
)

// The system is told to look after silent clients as anetKeepAlive of Redis
// tells it: after tcp-keepalive seconds, then every third of that, three times.
func TestKeepAliveIsSetOnSockets(t *testing.T) {
	n := newTestNode(t, Options{Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(n.Close)
	ln := serveTestNode(t, n)
	for _, test := range []struct {
		seconds string // "" as it is at first
		want    [4]int // SO_KEEPALIVE, TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT
	}{
		{"", [4]int{1, 300, 100, 3}},
		{"60", [4]int{1, 60, 20, 3}},
		{"2", [4]int{1, 2, 1, 3}},
		{"0", [4]int{0}},
	} {
		if test.seconds != "" {
			n.lock()
			err := n.config.Override("tcp-keepalive", test.seconds)
			n.unlock()
			if err != nil {
				t.Fatal(err)
			}
		}
		if got := keepAliveOf(t, n, ln.Addr().String()); got != test.want {
			t.Errorf("tcp-keepalive %s: SO_KEEPALIVE, TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT are %v, want %v", test.seconds, got, test.want)
		}
	}
}

// keepAliveOf connects to a node and asks what the node has set on its end.
func keepAliveOf(t *testing.T, n *Node, addr string) (options [4]int) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 7)); err != nil { // it has been admitted
		t.Fatal(err)
	}
	n.lock()
	defer n.unlock()
	for _, s := range n.sessions {
		if s.addr != conn.LocalAddr().String() {
			continue
		}
		raw, err := s.conn.(*net.TCPConn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		raw.Control(func(fd uintptr) {
			for i, name := range [4][2]int{
				{syscall.SOL_SOCKET, syscall.SO_KEEPALIVE}, {syscall.IPPROTO_TCP, syscall.TCP_KEEPIDLE},
				{syscall.IPPROTO_TCP, syscall.TCP_KEEPINTVL}, {syscall.IPPROTO_TCP, syscall.TCP_KEEPCNT},
			} {
				if i > 0 && options[0] == 0 {
					break // the rest means nothing
				}
				if options[i], err = syscall.GetsockoptInt(int(fd), name[0], name[1]); err != nil {
					t.Error(err)
				}
			}
		})
		return options
	}
	t.Fatal("the node does not know its client")
	return options
}
