package broker

import (
	"context"
	"errors"
	"sync"

	"github.com/redis/go-redis/v9"
)

// knownConn is a connection whose number at the server is known, so that another
// connection can end it.
type knownConn struct {
	*redis.Conn
	node *redis.Client
	id   int64
}

// conns are the idle known connections by node, and clients of nodes that a
// redirection named and the cluster client does not know yet.
type conns struct {
	mu     sync.Mutex
	idle   map[*redis.Client][]*knownConn
	extra  map[string]*redis.Client
	closed bool
}

// take returns an idle connection to node or makes one.
func (c *conns) take(ctx context.Context, node *redis.Client) (*knownConn, error) {
	c.mu.Lock()
	if list := c.idle[node]; len(list) > 0 {
		conn := list[len(list)-1]
		c.idle[node] = list[:len(list)-1]
		c.mu.Unlock()
		return conn, nil
	}
	c.mu.Unlock()
	// Of no use to anybody else when its state is in doubt: so it is not given back.
	conn := &knownConn{Conn: node.EphemeralConn(), node: node}
	var err error
	if conn.id, err = conn.ClientID(ctx).Result(); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// put keeps a connection that is at rest for the next window.
func (c *conns) put(conn *knownConn) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return conn.Close()
	}
	c.idle[conn.node] = append(c.idle[conn.node], conn)
	return nil
}

// forget closes the idle connections to a node that has failed.
func (c *conns) forget(node *redis.Client) error {
	c.mu.Lock()
	list := c.idle[node]
	delete(c.idle, node)
	c.mu.Unlock()
	var errs []error
	for _, conn := range list {
		errs = append(errs, conn.Close())
	}
	return errors.Join(errs...)
}

// at returns a client for an address, made as that of a node of the same cluster.
func (c *conns) at(addr string, like *redis.Client) *redis.Client {
	if like.Options().Addr == addr {
		return like
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if client := c.extra[addr]; client != nil {
		return client
	}
	options := *like.Options()
	options.Addr, options.MaxRetries = addr, -1
	client := redis.NewClient(&options)
	c.extra[addr] = client
	return client
}

func (c *conns) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	var errs []error
	for _, list := range c.idle {
		for _, conn := range list {
			errs = append(errs, conn.Close())
		}
	}
	for _, client := range c.extra {
		errs = append(errs, client.Close())
	}
	clear(c.idle)
	clear(c.extra)
	return errors.Join(errs...)
}
