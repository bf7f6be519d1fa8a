package emulator_test

import (
	"fmt"
	"net"
	"runtime"
	"strings"
	"testing"

	"github.com/fakecluster/fakecluster/emulator"
)

// Clients that write one after the other, without waiting for replies, are
// served in this order.
func TestInOrder(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the order is kept on Linux only")
	}
	c := emulator.RunT(t, emulator.Standalone(), emulator.TCP("127.0.0.1", 0), emulator.InOrder())
	const clients = 20
	var conns [clients]net.Conn
	for i := range conns {
		conn, err := net.Dial("tcp", c.Addrs()[0])
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conns[i] = conn
	}
	read := func(conn net.Conn, want string) {
		t.Helper()
		buf := make([]byte, len(want))
		for n := 0; n < len(buf); {
			m, err := conn.Read(buf[n:])
			if err != nil {
				t.Fatal(err)
			}
			n += m
		}
		if string(buf) != want {
			t.Fatalf("got %q, want %q", buf, want)
		}
	}
	for _, conn := range conns {
		fmt.Fprint(conn, "PING\r\n")
		read(conn, "+PONG\r\n")
	}
	for round := range 200 {
		for i, conn := range conns {
			fmt.Fprintf(conn, "RPUSH list:%d %d\r\n", round, i)
		}
		for i, conn := range conns {
			read(conn, fmt.Sprintf(":%d\r\n", i+1))
		}
	}
	for i, conn := range conns[:clients-1] {
		fmt.Fprintf(conn, "BLPOP queue:%d queue 0\r\n", i)
	}
	fmt.Fprint(conns[clients-1], "RPUSH queue", strings.Repeat(" x", clients-1), "\r\n")
	read(conns[clients-1], fmt.Sprintf(":%d\r\n", clients-1))
	for _, conn := range conns[:clients-1] {
		read(conn, "*2\r\n$5\r\nqueue\r\n$1\r\nx\r\n")
	}
}
