package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// healthcheck is the command by which a container's runtime learns whether the
// cluster in it is well. It has the flags and variables of serve, so that it
// knows where that listens, and no other settings: an image needs nothing beside
// the program.
type healthcheck struct{ serve }

// healthPatience bounds how long a node may take to answer.
const healthPatience = 2 * time.Second

// Help is what kong adds to --help.
func (h *healthcheck) Help() string {
	return `It takes the flags and variables of serve. The exit code is 0 if any of the nodes that these start answers: one that was killed or cut off on purpose does no harm.

  fakecluster healthcheck
  fakecluster healthcheck --port 7100 --masters 3
  FAKECLUSTER_GROKZEN=1 INITIAL_PORT=7100 fakecluster healthcheck`
}

func (h *healthcheck) run(ctx context.Context, stdout, _ io.Writer) error {
	var errs []error
	for _, addr := range h.listening() {
		err := h.answers(ctx, addr)
		if err == nil {
			fmt.Fprintf(stdout, "%s answers\n", addr)
			return nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", addr, err))
	}
	return errors.Join(errs...)
}

// listening is where the nodes are for this machine.
func (h *healthcheck) listening() []string {
	host := h.Bind
	if ip := net.ParseIP(strings.Trim(host, "[]")); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	nodes := h.Masters * (1 + h.Replicas)
	if h.Standalone {
		nodes = 1
	}
	addrs := make([]string, nodes)
	for i := range addrs {
		addrs[i] = net.JoinHostPort(host, strconv.Itoa(h.Port+i))
	}
	return addrs
}

// answers asks a node a question that needs no password. Any reply will do, and
// so will a TLS server that would like to see a certificate first.
func (h *healthcheck) answers(ctx context.Context, addr string) error {
	deadline := time.Now().Add(healthPatience)
	conn, err := (&net.Dialer{Deadline: deadline}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(deadline); err != nil {
		return err
	}
	if h.TLSCert != "" {
		conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true}) // it is asked whether it is there, not who it is
	}
	if _, err = conn.Write([]byte("*1\r\n$4\r\nPING\r\n")); err == nil {
		_, err = bufio.NewReader(conn).ReadString('\n')
	}
	var alert *net.OpError
	if errors.As(err, &alert) && alert.Op == "remote error" { // as package tls calls what the server says
		return nil
	}
	return err
}
