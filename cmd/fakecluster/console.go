package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"

	"github.com/fakecluster/fakecluster/cmd/fakecluster/internal/console"
	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/emulator/control"
)

// consoleFlags say where people look at the cluster.
type consoleFlags struct {
	HTTP      string `name:"http" placeholder:"HOST:PORT" help:"Serve the console, the HTTP API and /metrics there, such as ${consoleAddr}; in a terminal they are on without."`
	NoHTTP    bool   `name:"no-http" help:"Serve no console."`
	HTTPToken string `name:"http-token" help:"Token that users of the HTTP API must show; without, one is made up where other machines can reach it and where nodes ask for a password."`
}

// consoleAddr is where the console is unless said otherwise; it moves to a free
// port when that is taken.
const consoleAddr = "127.0.0.1:7800"

// listen opens the console's port; the listener is nil if none is wanted.
func (f *consoleFlags) listen(stdout io.Writer) (net.Listener, error) {
	switch {
	case f.NoHTTP && f.HTTP != "":
		return nil, usagef("--http and --no-http exclude each other")
	case f.NoHTTP, f.HTTP == "" && !isTerminal(stdout):
		return nil, nil
	case f.HTTP == "":
		if l, err := net.Listen("tcp", consoleAddr); err == nil {
			return l, nil
		}
		return net.Listen("tcp", "127.0.0.1:0")
	}
	l, err := net.Listen("tcp", f.HTTP)
	if err != nil {
		return nil, usagef("--http %s: %w", f.HTTP, err)
	}
	return l, nil
}

// openConsole serves the console of a cluster until close is called. The URL is
// "" if none is wanted.
func (s *serve) openConsole(c *emulator.Cluster, x *control.Controller, log *slog.Logger, stdout io.Writer) (url string, end func(), err error) {
	l, err := s.Console.listen(stdout)
	if l == nil {
		return "", func() {}, err
	}
	host, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return "", nil, fmt.Errorf("console: %w", err)
	}
	token := s.Console.HTTPToken
	if token == "" && (!isLoopback(host) || s.asksPassword()) {
		token = rand.Text()
	}
	if ip := net.ParseIP(host); ip.IsUnspecified() {
		host = "localhost"
	}
	options := console.Options{Ctl: s.ctlLine(c), ReadOnly: !s.Control, Token: token}
	if named, _, err := net.SplitHostPort(s.Console.HTTP); err == nil && net.ParseIP(named) == nil && named != "" {
		options.Hosts = []string{strings.ToLower(named)}
		host = named
	}
	url = "http://" + net.JoinHostPort(host, port) + "/"
	if token != "" {
		url += "#token=" + token // which browsers send to nobody
	}
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		served := console.New(c, x, options).Serve(ctx, func(server *http.Server) error { return server.Serve(l) })
		if served != nil {
			log.Error("the console has ended", "err", served)
		}
	})
	return url, func() { cancel(); done.Wait() }, nil
}

// ctlLine is how fakecluster ctl reaches a cluster.
func (s *serve) ctlLine(c *emulator.Cluster) string {
	line := "fakecluster ctl"
	if _, port, err := net.SplitHostPort(c.Node(0).Addr()); err == nil && port != "7000" {
		line += " --addr " + net.JoinHostPort("127.0.0.1", port)
	}
	if s.Password != "" {
		line += " --password …"
	}
	return line
}
