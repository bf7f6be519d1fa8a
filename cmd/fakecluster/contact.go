package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"
)

// contact is how commands reach a cluster that runs elsewhere.
type contact struct {
	Addr     string        `default:"127.0.0.1:7000" help:"Address of any node of the cluster."`
	Password string        `help:"Password to authenticate with."`
	Timeout  time.Duration `default:"1m" help:"How long to wait for the answer."`
	clientTLS
}

// dial connects to a node of the cluster.
func (c *contact) dial(ctx context.Context, addr string) (redis.Conn, error) {
	options := []redis.DialOption{
		redis.DialPassword(c.Password), redis.DialConnectTimeout(c.Timeout), redis.DialReadTimeout(c.Timeout), redis.DialWriteTimeout(c.Timeout),
	}
	secure, err := c.config()
	if err != nil {
		return nil, err
	}
	if secure != nil {
		options = append(options, redis.DialUseTLS(true), redis.DialTLSConfig(secure))
	}
	return redis.DialContext(ctx, "tcp", addr, options...)
}

// unreachable says that nobody is at an address.
func (c *contact) unreachable(err error) error {
	if strings.Contains(c.Addr, "@") { // somebody's password may stand before it
		return usagef("--addr is an address like 127.0.0.1:7000; the password goes to --password")
	}
	return usageError{fmt.Errorf("no node at --addr %s: %w", c.Addr, err)}
}
