// Package brokertest runs a service in a test, as it runs in production, on a cluster
// in process:
//
//	func TestJobs(t *testing.T) {
//		h := brokertest.Start(t, shop.Service)
//		h.Publish(shop.Job{ID: 1}, broker.List("{jobs}"))
//		h.Handled("{jobs}", 1)
//	}
//
// The one idea is that nothing is simulated between the service and the bytes: the
// cluster redirects, refuses commands and blocks that span slots, moves slots and
// fails over, when the test says so. When REDIS_CLUSTER_TEST_URL names a node of a
// real cluster, the same test runs there, and the keys of the service are deleted
// before and after.
package brokertest

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/broker"
	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/shim"
	"github.com/fakecluster/fakecluster/shim/clustertest"
	"github.com/redis/go-redis/v9"
)

// URLEnv names the environment variable with a node of a real cluster, as
// "redis://[user:password@]host:port", rediss for TLS, or "host:port".
const URLEnv = "REDIS_CLUSTER_TEST_URL"

// Patience is how long a Harness waits for what it is told to wait for.
const Patience = 30 * time.Second

// Service makes an app on a broker: the function that production calls.
type Service func(*broker.Broker) *broker.App

// Harness is a service that runs in a test.
type Harness struct {
	t       testing.TB
	app     *broker.App
	broker  *broker.Broker
	client  redis.UniversalClient // the test's own, without the broker
	cluster *Cluster

	stop  context.CancelFunc
	ended chan struct{}
	err   error // of Run, once it has ended
	told  bool  // the test has been told of err

	mu      sync.Mutex
	handled []broker.Handled
	changed chan struct{} // closed and renewed when handled grows
}

type config struct {
	broker     broker.Options
	emulator   []emulator.Option
	standalone bool
	addrs      []string
	real       redis.Options // credentials and TLS of a real cluster
}

// Option changes what a service is started on.
type Option func(*config)

// Options are given to the broker. Its client's Dialer and Observe are wrapped. A nil
// Logger is the test's: warnings are shown when it fails. Credentials that Redis sets
// are those of the harness, too.
func Options(o broker.Options) Option { return func(c *config) { c.broker = o } }

// Emulator configures the cluster in process. The default has three masters with a
// replica each, of Redis 7.0.
func Emulator(options ...emulator.Option) Option {
	return func(c *config) { c.emulator = append(c.emulator, options...) }
}

// Standalone runs the service on one server in process instead of a cluster.
func Standalone() Option { return func(c *config) { c.standalone = true } }

// Nodes runs the service on a real cluster that has these nodes among others.
func Nodes(addrs ...string) Option { return func(c *config) { c.addrs = addrs } }

// Start runs a service until the test ends, and returns when it has started.
func Start(t testing.TB, service Service, options ...Option) *Harness {
	t.Helper()
	h := launch(t, service, options)
	select {
	case <-h.app.Ready():
	case <-h.ended:
		h.told = true
		t.Fatalf("the service did not start: %v", h.err)
	case <-time.After(Patience):
		t.Fatal("the service did not start in time")
	}
	return h
}

// Refused starts a service that shall not start, and returns why it did not.
func Refused(t testing.TB, service Service, options ...Option) error {
	t.Helper()
	h := launch(t, service, options)
	h.told = true
	select {
	case <-h.app.Ready():
		t.Fatal("the service started and should not have")
	case <-h.ended:
	case <-time.After(Patience):
		t.Fatal("the service neither started nor ended in time")
	}
	return h.err
}

func launch(t testing.TB, service Service, options []Option) *Harness {
	t.Helper()
	c := &config{}
	for _, option := range options {
		option(c)
	}
	if c.broker.Logger == nil {
		c.broker.Logger = logger(t)
	}
	h := &Harness{t: t, ended: make(chan struct{}), changed: make(chan struct{})}
	h.connect(c)
	h.app = service(h.broker)
	for _, s := range h.app.Subscriptions() {
		h.Clear(s.Keys()...)
	}

	var ctx context.Context
	ctx, h.stop = context.WithCancel(context.Background())
	go func() {
		defer close(h.ended)
		h.err = h.app.Run(ctx)
	}()
	t.Cleanup(h.end)
	return h
}

// connect makes the broker and the test's own client.
func (h *Harness) connect(c *config) {
	h.t.Helper()
	if len(c.addrs) == 0 && !c.standalone {
		c.addrs, c.real = fromEnv(h.t)
	}
	// A failover holds writers up for as long as it takes; that alone loses nothing.
	o := redis.UniversalOptions{Addrs: c.addrs, ReadTimeout: Patience,
		Username: c.real.Username, Password: c.real.Password, TLSConfig: c.real.TLSConfig}
	if c.broker.Redis != nil {
		var given redis.UniversalOptions
		c.broker.Redis(&given)
		if given.Password != "" {
			o.Username, o.Password = given.Username, given.Password
		}
	}
	if len(c.addrs) == 0 {
		all := append([]emulator.Option{emulator.RedisVersion("7.0"), emulator.Replicas(1)}, c.emulator...)
		if c.standalone {
			all = append([]emulator.Option{emulator.RedisVersion("7.0"), emulator.Standalone()}, c.emulator...)
		}
		e := emulator.RunT(h.t, all...)
		o.Addrs, o.Dialer = e.Addrs(), e.Dialer()
		h.cluster = &Cluster{t: h.t, emulator: e}
	} else {
		h.cluster = &Cluster{t: h.t}
	}
	h.cluster.nodes = clustertest.New(redis.Options{Dialer: o.Dialer, Username: o.Username, Password: o.Password, TLSConfig: o.TLSConfig}, o.Addrs...)
	var err error
	looking := shim.Options{Retry: shim.RetryOptions{RetryLostReads: true, Attempts: 14}}
	if c.standalone {
		h.client, err = shim.NewSingle(*o.Simple(), looking)
	} else {
		h.client, err = shim.NewCluster(*o.Cluster(), looking)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		if err := errors.Join(h.client.Close(), h.cluster.nodes.Close()); err != nil {
			h.t.Errorf("closing the test's clients: %v", err)
		}
	})
	if h.cluster.emulator == nil {
		if err := shim.Connect(context.Background(), h.client, Patience/3); err != nil {
			h.t.Fatalf("the real cluster at %s does not answer: %v", strings.Join(o.Addrs, ", "), err)
		}
	}
	h.broker = newBroker(c, o, h.observe)
}

func newBroker(c *config, o redis.UniversalOptions, observe func(broker.Handled)) *broker.Broker {
	if c.broker.Block == 0 {
		c.broker.Block = 100 * time.Millisecond // tests stop often
	}
	given, theirs := c.broker.Redis, c.broker.Observe
	c.broker.Redis = func(u *redis.UniversalOptions) {
		u.ReadTimeout, u.Username, u.Password, u.TLSConfig = o.ReadTimeout, o.Username, o.Password, o.TLSConfig
		if o.Dialer != nil {
			u.Dialer = o.Dialer
		}
		if given != nil {
			given(u)
		}
	}
	c.broker.Observe = func(handled broker.Handled) {
		if theirs != nil {
			theirs(handled)
		}
		observe(handled)
	}
	if c.standalone {
		return broker.Standalone("redis://" + o.Addrs[0]).With(c.broker)
	}
	return broker.Cluster(o.Addrs...).With(c.broker)
}

func fromEnv(t testing.TB) (addrs []string, real redis.Options) {
	text := os.Getenv(URLEnv)
	if text == "" {
		return nil, real
	}
	o, err := shim.ParseNode(text)
	if err != nil {
		t.Fatalf("%s: %v", URLEnv, err)
	}
	return []string{o.Addr}, *o
}

func (h *Harness) observe(handled broker.Handled) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.handled = append(h.handled, handled)
	close(h.changed)
	h.changed = make(chan struct{})
}

// Clear deletes keys now and when the test ends, so that a real cluster is as it was.
// Those of the service's subscriptions are cleared anyway.
func (h *Harness) Clear(keys ...string) {
	h.t.Helper()
	h.delete(keys)
	h.t.Cleanup(func() { h.delete(keys) })
}

func (h *Harness) delete(keys []string) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	for _, key := range keys {
		err := h.client.Del(ctx, key).Err()
		for lost := new(shim.LostReplyError); errors.As(err, &lost) && ctx.Err() == nil; {
			err = h.client.Del(ctx, key).Err() // a test may have left dead connections
		}
		if err != nil {
			h.t.Errorf("deleting %s: %v", key, err)
		}
	}
}

func (h *Harness) end() {
	told := h.told
	if err := h.Stop(); err != nil && !told {
		h.t.Errorf("the service ended with: %v", err)
	}
}

// Stop stops the service as in production, waits for its end, and returns what Run
// returned.
func (h *Harness) Stop() error {
	h.t.Helper()
	h.told = true
	h.stop()
	select {
	case <-h.ended:
	case <-time.After(2 * Patience):
		h.t.Error("the service did not end in time")
		return nil
	}
	return h.err
}

// Broker is the service's broker.
func (h *Harness) Broker() *broker.Broker { return h.broker }

// Client is a client of the cluster that is not the broker's, for a look at keys.
func (h *Harness) Client() redis.UniversalClient { return h.client }

// Cluster is the cluster that the service runs on.
func (h *Harness) Cluster() *Cluster { return h.cluster }
