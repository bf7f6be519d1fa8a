package broker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"github.com/fakecluster/fakecluster/shim"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/extra/redisotel/v9"
	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Options are what a Broker can do differently. The zero value is the default said at
// each.
type Options struct {
	// Logger receives what happens; nil is slog.Default().
	Logger *slog.Logger
	// Metrics is where the broker registers its metrics; nil keeps none.
	Metrics prometheus.Registerer
	// Tracer makes spans around publishing, handling and, by redisotel, commands. nil
	// makes none; what others propagate is passed on all the same.
	Tracer trace.TracerProvider
	// Propagator carries spans in headers; nil is W3C trace context and baggage.
	Propagator propagation.TextMapPropagator
	// Codec is that of subscriptions and publications without one; nil is JSON.
	Codec Codec
	// Observe, if not nil, is called after every message was settled.
	Observe func(Handled)

	// StartWithin is how long starting waits for all masters; 30 s if 0.
	StartWithin time.Duration
	// Block is how long a read of a queue waits at the server; 1 s if 0. Stopping waits
	// for it, since a read that is cut off may have taken a message with it.
	Block time.Duration
	// StopWithin is how long handlers may go on after stopping began; 20 s if 0.
	StopWithin time.Duration

	// Redis changes go-redis' options before the client is made: credentials, TLS,
	// Dialer, time-outs. Those of Standalone's URL are in it already.
	Redis func(*redis.UniversalOptions)
	// AddressMap is applied to the addresses that the cluster announces.
	AddressMap shim.AddressMap
}

func (o *Options) fill() {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Propagator == nil {
		o.Propagator = propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})
	}
	if o.Codec == nil {
		o.Codec = JSON
	}
	if o.StartWithin <= 0 {
		o.StartWithin = 30 * time.Second
	}
	if o.Block <= 0 {
		o.Block = time.Second
	}
	o.Block = max(o.Block, time.Millisecond) // less would be sent as 0, which is forever
	if o.StopWithin <= 0 {
		o.StopWithin = 20 * time.Second
	}
}

// Broker is a connection to Redis, opened when it is first used. It publishes, and an
// App consumes through it.
type Broker struct {
	o       Options
	seeds   []string
	url     string
	handed  redis.UniversalClient
	cluster bool
	shim    shim.Metrics

	app      *App // that it carries
	mu       sync.Mutex
	client   redis.UniversalClient // once it is made
	closed   bool
	capacity int // connections that subscriptions hold
	metrics  *metrics
	modes    map[string]bool // of the app's channels: sharded or not
	allowed  bool            // transactional publishing
	conns    *conns
	recorder *redis.Client
}

// ErrClosed is the error of a broker that was closed.
var ErrClosed = errors.New("broker: closed")

// Cluster is a broker on a Redis Cluster. One seed that answers is enough: it tells
// of the others.
func Cluster(seeds ...string) *Broker {
	return newBroker(&Broker{seeds: seeds, cluster: true})
}

// Standalone is a broker on one server, by a URL such as "redis://localhost:6379/0".
func Standalone(url string) *Broker { return newBroker(&Broker{url: url}) }

// FromClient is a broker on a client that exists, a *redis.Client or a
// *redis.ClusterClient, which the broker gives the shim's retries and does not close.
func FromClient(client redis.UniversalClient) *Broker {
	_, cluster := client.(*redis.ClusterClient)
	return newBroker(&Broker{handed: client, cluster: cluster})
}

func newBroker(b *Broker) *Broker {
	b.o.fill()
	b.conns = &conns{idle: map[*redis.Client][]*knownConn{}, extra: map[string]*redis.Client{}}
	b.modes = map[string]bool{}
	return b
}

// With sets options and returns the broker. It must be called before the first use.
func (b *Broker) With(o Options) *Broker {
	o.fill()
	b.o = o
	return b
}

// carry tells the broker what an app needs of it, unless it carries another one.
func (b *Broker) carry(a *App) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.app != nil {
		return false
	}
	b.app, b.allowed = a, a.transactional
	for _, s := range a.subscriptions {
		b.capacity += s.connections()
		if channel, ok := s.source.(PubSubSource); ok && !channel.pattern {
			b.modes[channel.name] = channel.sharded
		}
	}
	return true
}

// IsCluster reports whether the broker speaks to a cluster.
func (b *Broker) IsCluster() bool { return b.cluster }

// Client returns the client, which has the shim's retries, and makes it if need be.
// That does no I/O.
func (b *Broker) Client() (redis.UniversalClient, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, ErrClosed
	}
	if b.client != nil {
		return b.client, nil
	}
	client, err := b.newClient()
	if err != nil {
		return nil, fmt.Errorf("broker: %w", err)
	}
	if b.metrics, err = newMetrics(b.o.Metrics, &b.shim); err != nil {
		if b.handed == nil {
			err = errors.Join(err, client.Close())
		}
		return nil, err
	}
	b.client, b.recorder = client, newRecorder(b.cluster)
	return client, nil
}

// attempts is how often a command is sent that did not run: for about 20 s, which is
// as long as an election takes with Redis' own cluster-node-timeout.
const attempts = 13

func (b *Broker) newClient() (redis.UniversalClient, error) {
	retry := shim.RetryOptions{Attempts: attempts, Logger: b.o.Logger, Metrics: &b.shim}
	if b.handed != nil {
		return b.handed, shim.WithRetry(b.handed, retry)
	}
	options := shim.Options{Retry: retry, AddressMap: b.o.AddressMap, Instrument: b.instrument}
	u := &redis.UniversalOptions{Addrs: b.seeds}
	if b.cluster {
		b.adjust(u)
		if len(u.Addrs) == 0 {
			return nil, errors.New("a cluster needs at least one seed")
		}
		return shim.NewCluster(*u.Cluster(), options)
	}
	parsed, err := shim.ParseURL(b.url)
	if err != nil {
		return nil, fmt.Errorf("the URL of the server: %w", err)
	}
	u.Addrs, u.DB, u.Username, u.Password = []string{parsed.Addr}, parsed.DB, parsed.Username, parsed.Password
	u.TLSConfig, u.ClientName = parsed.TLSConfig, parsed.ClientName
	b.adjust(u)
	return shim.NewSingle(*u.Simple(), options)
}

// adjust makes room for the connections of subscriptions, which block, before those
// that publish and settle.
func (b *Broker) adjust(u *redis.UniversalOptions) {
	if b.o.Redis != nil {
		b.o.Redis(u)
	}
	if u.PoolSize == 0 {
		u.PoolSize = 10 * runtime.GOMAXPROCS(0)
	}
	u.PoolSize += b.capacity
}

func (b *Broker) instrument(client redis.UniversalClient) error {
	if b.o.Tracer == nil {
		return nil
	}
	// A blocking read that found nothing is nothing to tell of.
	return redisotel.InstrumentTracing(client, redisotel.WithTracerProvider(b.o.Tracer),
		redisotel.WithDBStatement(false),
		redisotel.WithCommandFilter(func(cmd redis.Cmder) bool {
			return redisotel.DefaultCommandFilter(cmd) || isPoll(cmd.Name())
		}))
}

func isPoll(command string) bool {
	switch command {
	case "xreadgroup", "blmove", "brpop", "xpending", "ping":
		return true
	}
	return false
}

// Close disconnects. An App does so when it ends; programs that only publish call it.
func (b *Broker) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil
	}
	b.closed = true
	err := b.conns.close()
	if b.client == nil {
		return err
	}
	b.metrics.unregister(b.o.Metrics)
	err = errors.Join(err, b.recorder.Close())
	if b.handed == nil {
		err = errors.Join(err, b.client.Close())
	}
	return err
}

// owner returns the client of the master that owns a key's slot.
func (b *Broker) owner(ctx context.Context, key string) (*redis.Client, error) {
	client, err := b.Client()
	if err != nil {
		return nil, err
	}
	switch client := client.(type) {
	case *redis.ClusterClient:
		return client.MasterForKey(ctx, key)
	case *redis.Client:
		return client, nil
	}
	return nil, fmt.Errorf("%w: %T", shim.ErrUnsupportedClient, client)
}
