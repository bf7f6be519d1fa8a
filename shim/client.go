package shim

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Options are what clients made here have beyond go-redis' own options.
type Options struct {
	// Retry is for WithRetry. Its Logger also receives connections that could
	// not be made, at level Warn.
	Retry RetryOptions
	// AddressMap is applied to every address that is dialled, seeds included.
	AddressMap AddressMap
	// Instrument, if not nil, is called with the new client before the shim adds
	// its hook, so that hooks it adds see each command once; those it adds to a
	// cluster's nodes see every attempt. It is the place for redisotel.
	Instrument func(redis.UniversalClient) error
}

// NewCluster makes a cluster client with WithRetry. It does no I/O; see Connect.
//
// Of the go-redis options, Addrs are the seeds, of which one that answers is
// enough, and Dialer may connect in process. Commands go to masters only unless
// ReadOnly, RouteByLatency or RouteRandomly say otherwise; a replica may not yet
// have what was just written. Contexts end waiting for replies
// (ContextTimeoutEnabled); redirections and retries are the shim's.
func NewCluster(opt redis.ClusterOptions, o Options) (*redis.ClusterClient, error) {
	opt.MaxRedirects, opt.MaxRetries = -1, -1
	opt.ContextTimeoutEnabled = true
	opt.DialerRetries = 1
	opt.Dialer, opt.TLSConfig = o.dialer(opt.Dialer, opt.TLSConfig), nil
	client := redis.NewClusterClient(&opt)
	if err := o.finish(client); err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return client, nil
}

// NewSingle makes a client of one server with WithRetry. It does no I/O; see
// Connect.
func NewSingle(opt redis.Options, o Options) (*redis.Client, error) {
	opt.MaxRetries = -1
	opt.ContextTimeoutEnabled = true
	opt.DialerRetries = 1
	opt.Dialer, opt.TLSConfig = o.dialer(opt.Dialer, opt.TLSConfig), nil
	client := redis.NewClient(&opt)
	if err := o.finish(client); err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return client, nil
}

func (o Options) finish(client redis.UniversalClient) error {
	if o.Instrument != nil {
		if err := o.Instrument(client); err != nil {
			return fmt.Errorf("shim: instrumenting the client: %w", err)
		}
	}
	return WithRetry(client, o.Retry)
}

// dialer is the dialer of a client made here: d or TCP, mapped, with TLS if it is
// configured, failures logged.
func (o Options) dialer(d Dialer, config *tls.Config) Dialer {
	d = d.Mapped(o.AddressMap)
	if config != nil {
		d = d.TLS(config)
	}
	log := newRetrier(o.Retry).Logger
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := d(ctx, network, addr)
		if err != nil {
			log.WarnContext(ctx, "a connection could not be made", "addr", addr, "error", err)
		}
		return conn, err
	}
}

// Connect waits until the client reaches its server, or a cluster client every
// master, and tries again for at most within, or until ctx is done. The error is
// that of the last try that time did not cut short.
func Connect(ctx context.Context, client redis.UniversalClient, within time.Duration) error {
	return untilDone(ctx, within, func(ctx context.Context) error {
		return ForEachMaster(ctx, client, func(ctx context.Context, node *redis.Client) error {
			return node.Ping(ctx).Err()
		})
	})
}

// Discover returns the addresses of all nodes that CLUSTER NODES lists, asked of
// the first of opt.Addrs that answers, tried for at most within; opt and o are as
// for NewCluster. As seeds they let a client start while most of the cluster is
// away.
func Discover(ctx context.Context, opt redis.ClusterOptions, o Options, within time.Duration) ([]string, error) {
	var addrs []string
	err := untilDone(ctx, within, func(ctx context.Context) error {
		var failures []error
		for _, seed := range opt.Addrs {
			var err error
			if addrs, err = listed(ctx, seed, opt, o); err == nil {
				return nil
			}
			failures = append(failures, fmt.Errorf("%s: %w", seed, err))
		}
		return fmt.Errorf("shim: no seed answers: %w", errors.Join(failures...))
	})
	return addrs, err
}

func listed(ctx context.Context, seed string, opt redis.ClusterOptions, o Options) ([]string, error) {
	client := redis.NewClient(&redis.Options{
		Addr: seed, Dialer: o.dialer(opt.Dialer, opt.TLSConfig),
		Username: opt.Username, Password: opt.Password,
		CredentialsProvider: opt.CredentialsProvider, CredentialsProviderContext: opt.CredentialsProviderContext,
		DialTimeout: opt.DialTimeout, ReadTimeout: opt.ReadTimeout, WriteTimeout: opt.WriteTimeout,
		MaxRetries: -1, DialerRetries: 1, PoolSize: 1, ContextTimeoutEnabled: true,
	})
	// Nothing is left in flight that Close could fail on.
	defer func() { _ = client.Close() }()
	text, err := client.ClusterNodes(ctx).Result()
	if err != nil {
		return nil, err
	}
	var addrs []string
	for _, node := range parseNodes(text) {
		if node.addr != "" && !node.has("noaddr") && !node.has("handshake") {
			addrs = append(addrs, fullAddr(node.addr, seed))
		}
	}
	return addrs, nil
}

// untilDone calls try until it succeeds, with pauses that double from 10 ms to
// half a second. The error is that of the last try that time did not cut short.
func untilDone(ctx context.Context, within time.Duration, try func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	var last error
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 500*time.Millisecond) {
		err := try(ctx)
		if err == nil {
			return nil
		}
		if last == nil || ctx.Err() == nil {
			last = err
		}
		if sleep(ctx, pause) != nil {
			return last
		}
	}
}

// nodeLine is a line of CLUSTER NODES.
type nodeLine struct {
	id, addr, flags string
	epoch           string
	slots           []string // ranges, and moves in brackets
}

func (n nodeLine) has(flag string) bool {
	for f := range strings.SplitSeq(n.flags, ",") {
		if f == flag {
			return true
		}
	}
	return false
}

// parseNodes reads "id host:port@bus,hostname flags master ping pong epoch link
// slot...".
func parseNodes(text string) []nodeLine {
	var nodes []nodeLine
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 8 {
			continue
		}
		addr, _, _ := strings.Cut(fields[1], "@")
		nodes = append(nodes, nodeLine{id: fields[0], addr: addr, flags: fields[2], epoch: fields[6], slots: fields[8:]})
	}
	return nodes
}
