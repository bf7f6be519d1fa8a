package layoutkit_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/layoutkit"
	"github.com/fakecluster/fakecluster/shim"
	"github.com/fakecluster/fakecluster/tests/redisserver"
)

// target is a keyspace that a test has for itself.
type target struct {
	// client has shim.WithRetry; it is closed with the test.
	client  redis.UniversalClient
	layout  layoutkit.Layout
	prefix  string
	cluster bool

	emulator *emulator.Cluster // nil if the servers are real
	dial     func(t testing.TB) redis.UniversalClient
}

// place is where a test can run.
type place struct {
	name    string
	layout  layoutkit.Layout
	cluster bool
	open    func(t testing.TB) *target // client, emulator and dial only
}

// places are the four kinds of servers, single ones with each layout.
var places = []place{
	{"emulator/cluster", layoutkit.Cluster, true, func(t testing.TB) *target { return emulated(t, emulator.DeclaredKeysOnly()) }},
	{"emulator/single/cluster", layoutkit.Cluster, false, func(t testing.TB) *target {
		return emulated(t, emulator.Standalone(), emulator.DeclaredKeysOnly())
	}},
	{"emulator/single/legacy", layoutkit.Legacy, false, func(t testing.TB) *target { return emulated(t, emulator.Standalone()) }},
	{"real/cluster", layoutkit.Cluster, true, realCluster},
	{"real/single/cluster", layoutkit.Cluster, false, realServer},
	{"real/single/legacy", layoutkit.Legacy, false, realServer},
}

// eachTarget runs body in every place, each time under a fresh prefix.
func eachTarget(t *testing.T, body func(t *testing.T, x *target)) {
	for _, p := range places {
		t.Run(p.name, func(t *testing.T) { body(t, p.target(t)) })
	}
}

// target opens the place.
func (p place) target(t testing.TB) *target {
	x := p.open(t)
	x.layout, x.cluster, x.prefix = p.layout, p.cluster, freshPrefix()
	x.client = x.dial(t)
	if x.emulator == nil {
		t.Cleanup(func() {
			client := x.dial(t) // the test may have closed its own
			if _, err := shim.DeleteMatching(context.Background(), client, x.prefix+"*"); err != nil {
				t.Errorf("cleaning up: %v", err)
			}
		})
	}
	return x
}

// find is the place of a name.
func find(t testing.TB, name string) place {
	i := slices.IndexFunc(places, func(p place) bool { return p.name == name })
	if i < 0 {
		t.Fatalf("no place %q", name)
	}
	return places[i]
}

var prefixes atomic.Int64

// freshPrefix is one that nobody else uses, on a shared server too.
func freshPrefix() string {
	return fmt.Sprintf("kit-%d-%d-%d", os.Getpid(), time.Now().UnixNano(), prefixes.Add(1))
}

// options are those of a store of the target.
func (x *target) options() layoutkit.Options {
	return layoutkit.Options{Client: x.client, Prefix: x.prefix, Layout: x.layout}
}

// store is a started store of the target.
func (x *target) store(t testing.TB) *layoutkit.Store {
	t.Helper()
	return started(t, x.options())
}

func started(t testing.TB, o layoutkit.Options) *layoutkit.Store {
	t.Helper()
	s, err := layoutkit.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// keys are all keys under the prefix, sorted, without the prefix, its colon, and
// the marker.
func (x *target) keys(t testing.TB) []string {
	t.Helper()
	var keys []string
	for key, err := range shim.Scan(t.Context(), x.client, shim.ScanOptions{Match: x.prefix + ":*"}) {
		if err != nil {
			t.Fatal(err)
		}
		if key = strings.TrimPrefix(key, x.prefix+":"); key != "{meta}:layout" {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// key is a key of the target.
func (x *target) key(rest string) string { return x.prefix + ":" + rest }

// emulated are emulated servers.
func emulated(t testing.TB, o ...emulator.Option) *target {
	return running(emulator.RunT(t, append([]emulator.Option{emulator.RedisVersion("7.0")}, o...)...))
}

// running are emulated servers that run already.
func running(e *emulator.Cluster) *target {
	_, notCluster := e.Node(0).Do("CLUSTER", "MYID")
	return &target{emulator: e, dial: func(t testing.TB) redis.UniversalClient {
		if notCluster != nil {
			return single(t, redis.Options{Addr: e.Addrs()[0], Dialer: e.Dialer()})
		}
		return clustered(t, redis.ClusterOptions{Addrs: e.Addrs(), Dialer: e.Dialer()})
	}}
}

func single(t testing.TB, o redis.Options) redis.UniversalClient {
	client, err := shim.NewSingle(o, shim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return usable(t, client)
}

func clustered(t testing.TB, o redis.ClusterOptions) redis.UniversalClient {
	client, err := shim.NewCluster(o, shim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return usable(t, client)
}

// usable is a client that has reached its servers, until the test ends.
func usable(t testing.TB, client redis.UniversalClient) redis.UniversalClient {
	t.Cleanup(func() { client.Close() })
	if err := shim.Connect(context.Background(), client, 30*time.Second); err != nil {
		t.Fatal(err)
	}
	return client
}

// urlEnv name a cluster that stands already; the second is the older name.
var urlEnv = []string{"REDIS_CLUSTER_TEST_URL", "BOTWA_TEST_REDIS_CLUSTER_URL"}

// named is the options for the cluster of the environment, with all its nodes as
// seeds, or false.
func named(t testing.TB) (redis.ClusterOptions, bool) {
	for _, name := range urlEnv {
		url := os.Getenv(name)
		if url == "" {
			continue
		}
		o, err := redis.ParseClusterURL(url)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		nodes, err := shim.Discover(context.Background(), *o, shim.Options{}, 30*time.Second)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		o.Addrs = nodes
		return *o, true
	}
	return redis.ClusterOptions{}, false
}

// The real servers are shared by all tests of the package, since a cluster takes
// seconds to start.
var shared struct {
	lifetime
	sync.Mutex
	cluster *redis.ClusterOptions
	server  *redis.Options
}

func realCluster(t testing.TB) *target {
	shared.Lock()
	defer shared.Unlock()
	if shared.cluster == nil {
		o, ok := named(t)
		if !ok {
			o.Addrs = redisserver.StartCluster(shared.of(t), 3, 0).Addrs()
		}
		shared.cluster = &o
	}
	o := *shared.cluster
	return &target{dial: func(t testing.TB) redis.UniversalClient { return clustered(t, o) }}
}

func realServer(t testing.TB) *target {
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil {
		shared.server = &redis.Options{Addr: redisserver.Start(shared.of(t)).Addr()}
	}
	o := *shared.server
	return &target{dial: func(t testing.TB) redis.UniversalClient { return single(t, o) }}
}

// lifetime is the lifetime of all tests of the package.
type lifetime struct {
	cleanups []func()
	failed   bool
}

// during is a test that starts what outlives it.
type during struct {
	testing.TB
	all *lifetime
}

func (l *lifetime) of(t testing.TB) testing.TB { return during{t, l} }

func (d during) Cleanup(f func()) { d.all.cleanups = append(d.all.cleanups, f) }

func (d during) TempDir() string {
	dir, err := os.MkdirTemp("", "layoutkit")
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// Error is called when the tests are over.
func (d during) Error(args ...any) {
	d.all.failed = true
	fmt.Fprintln(os.Stderr, args...)
}

func (l *lifetime) end() {
	for _, f := range slices.Backward(l.cleanups) {
		f()
	}
}

// tests are the tests of the package with the servers they share.
type tests struct{ m *testing.M }

func (r tests) Run() int {
	code := r.m.Run()
	shared.end()
	if shared.failed && code == 0 {
		code = 1
	}
	return code
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(tests{m}) }
