package layoutkit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/fakecluster/fakecluster/shim"
)

// Options are what every part of the kit is made from. Exactly one of Client, URL
// and Cluster says where Redis is.
type Options struct {
	// Client belongs to the caller: the kit does not close it, and gives it
	// shim.WithRetry if it has not got it. It must read from masters.
	Client redis.UniversalClient
	// URL is a server, redis://user:password@host:port/db.
	URL string
	// Cluster is a cluster.
	Cluster *ClusterOptions

	// Prefix is what all keys begin with. It must not be empty and, in the Cluster
	// layout, must hold neither '{' nor '}'.
	Prefix string
	// Layout is Auto if not set.
	Layout Layout
	// AllowLegacyData starts a store in the Cluster layout beside legacy keys.
	AllowLegacyData bool

	// Retry is for clients that have no shim.WithRetry yet.
	Retry shim.RetryOptions
	// Logger receives warnings, and the connection errors of clients made here. nil
	// discards them.
	Logger *slog.Logger
}

// ClusterOptions are a cluster for which the kit makes a client.
type ClusterOptions struct {
	// RootNodes are host:port or redis:// URLs to start from; one that answers is
	// enough.
	RootNodes []string
	// NodeAddressMap replaces addresses that the cluster announces and this
	// process cannot reach.
	NodeAddressMap shim.AddressMap
	// Defaults are for every node: credentials, TLS, timeouts, pool sizes. Its
	// address is not used, its Dialer is.
	Defaults redis.Options
	// MaxRedirections is how often a command is tried in all, redirections
	// included; Retry.Attempts if 0.
	MaxRedirections int
}

// base is what the parts of the kit have in common.
type base struct {
	client redis.UniversalClient
	owned  bool
	names  names
	log    *slog.Logger
}

// newBase checks the options and makes the client, without I/O.
func newBase(o Options) (*base, error) {
	if err := o.checkSource(); err != nil {
		return nil, err
	}
	layout, err := o.layout()
	if err != nil {
		return nil, err
	}
	if o.Prefix == "" {
		return nil, invalid("Prefix is empty")
	}
	if layout == Cluster && strings.ContainsAny(o.Prefix, "{}") {
		return nil, invalid("Prefix %q holds a brace, which would break the hash tags of the cluster layout", o.Prefix)
	}
	b := &base{names: names{o.Prefix, layout}, log: o.Logger}
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	if o.Retry.Logger == nil {
		o.Retry.Logger = o.Logger
	}
	if b.client, b.owned, err = o.connect(); err != nil {
		return nil, fmt.Errorf("layoutkit: making a client: %w", err)
	}
	return b, nil
}

func (o Options) checkSource() error {
	given := 0
	for _, is := range []bool{o.Client != nil, o.URL != "", o.Cluster != nil} {
		if is {
			given++
		}
	}
	if given != 1 {
		return invalid("set exactly one of Client, URL and Cluster, not %d of them", given)
	}
	if o.Cluster != nil && len(o.Cluster.RootNodes) == 0 {
		return invalid("Cluster.RootNodes is empty")
	}
	if c, ok := o.Client.(*redis.ClusterClient); ok && c.Options().ReadOnly {
		return invalid("Client reads from replicas, which may not have what was just written: make it without ReadOnly, RouteByLatency and RouteRandomly")
	}
	return nil
}

// layout is the layout the options choose.
func (o Options) layout() (Layout, error) {
	_, isCluster := o.Client.(*redis.ClusterClient)
	isCluster = isCluster || o.Cluster != nil
	switch o.Layout {
	case Auto:
		if isCluster {
			return Cluster, nil
		}
		return Legacy, nil
	case Legacy:
		if isCluster {
			return 0, invalid("the legacy layout does not work on a cluster: use Layout: Cluster, and Migrate what is there")
		}
		return Legacy, nil
	case Cluster:
		return Cluster, nil
	default:
		return 0, invalid("unknown %v", o.Layout)
	}
}

// connect is the client of the options and whether the kit made it. It does no
// I/O.
func (o Options) connect() (client redis.UniversalClient, owned bool, err error) {
	switch {
	case o.Client != nil:
		return o.Client, false, shim.WithRetry(o.Client, o.Retry)
	case o.URL != "":
		opt, err := shim.ParseURL(o.URL)
		if err != nil {
			return nil, false, fmt.Errorf("%w: URL: %w", ErrInvalid, err)
		}
		client, err := shim.NewSingle(*opt, shim.Options{Retry: o.Retry})
		return client, true, err
	default:
		client, err := o.Cluster.connect(o.Retry)
		return client, true, err
	}
}

// close closes a client that the kit made.
func (b *base) close() error {
	if !b.owned {
		return nil
	}
	if err := b.client.Close(); err != nil && !errors.Is(err, redis.ErrClosed) {
		return fmt.Errorf("layoutkit: closing the client: %w", err)
	}
	return nil
}

// connectWithin is how long a first connection is tried.
const connectWithin = 10 * time.Second

// start reaches the server, or every master of the cluster.
func (b *base) start(ctx context.Context) error {
	if err := shim.Connect(ctx, b.client, connectWithin); err != nil {
		return fmt.Errorf("layoutkit: connecting: %w", err)
	}
	return nil
}
