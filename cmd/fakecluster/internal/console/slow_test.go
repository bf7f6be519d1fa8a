package console

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/emulator/control"
)

// one is a listener of one connection.
type one struct {
	conns chan net.Conn
	net.Listener
}

func (l one) Accept() (net.Conn, error) {
	if conn, ok := <-l.conns; ok {
		return conn, nil
	}
	return nil, net.ErrClosed
}

func (l one) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }
func (l one) Close() error   { return nil }

// Whoever announces a body and keeps it back holds a connection for 10 s, not for
// ever, even if what has come is a whole request to us.
func TestBodyThatDoesNotCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := emulator.RunT(t)
		server := &http.Server{Handler: New(c, control.New(c), Options{}).Handler()}
		here, there := net.Pipe()
		l := one{conns: make(chan net.Conn, 1)}
		l.conns <- there
		ended := make(chan error, 1)
		go func() { ended <- server.Serve(l) }()
		began := time.Now()
		fmt.Fprint(here, "POST /api/v1/verbs/nodes HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{}")
		response, err := http.ReadResponse(bufio.NewReader(here), nil)
		if err != nil {
			t.Fatal(err)
		}
		if response.StatusCode != http.StatusRequestTimeout || time.Since(began) != bodyTime {
			t.Errorf("after %v: %s", time.Since(began), response.Status)
		}
		here.Close()
		close(l.conns)
		<-ended
		server.Close()
	})
}
