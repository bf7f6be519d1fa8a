package shim_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/shim"
	redigo "github.com/gomodule/redigo/redis"
	"github.com/redis/go-redis/extra/redisotel/v9"
	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// syncBuffer is a log that several goroutines write.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func TestOneReachableSeedIsEnough(t *testing.T) {
	eachCluster(t, 1, func(t *testing.T, c *cluster) {
		ctx := within(t, 30*time.Second)
		var log syncBuffer
		o := shim.Options{Retry: shim.RetryOptions{Logger: slog.New(slog.NewTextHandler(&log, nil))}}
		seeds := redis.ClusterOptions{Addrs: []string{"127.0.0.1:1", c.addrs[1], "127.0.0.1:2"}, Dialer: c.dialer}
		client, err := shim.NewCluster(seeds, o)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		if err := shim.Connect(ctx, client, 10*time.Second); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"a", "b", "c"} {
			if err := client.Set(ctx, key, 1, 0).Err(); err != nil {
				t.Error(err)
			}
		}
		all, err := shim.Discover(ctx, seeds, o, 10*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(all)
		want := slices.Sorted(slices.Values(c.addrs))
		if !slices.Equal(all, want) {
			t.Errorf("discovered %v, want %v", all, want)
		}
		if !strings.Contains(log.String(), "addr=127.0.0.1:1") {
			t.Errorf("the connection that could not be made is not in the log: %s", log.String())
		}
	})
}

func TestFirstConnectionIsRetriedWithinABound(t *testing.T) {
	c := emulated(t, 0)
	ctx := within(t, 30*time.Second)
	reachable := make(chan struct{})
	var refused atomic.Int64
	late := func(ctx context.Context, network, addr string) (net.Conn, error) {
		select {
		case <-reachable:
			return c.dialer(ctx, network, addr)
		default:
			refused.Add(1)
			return nil, errors.New("nobody there yet")
		}
	}
	client, err := shim.NewCluster(redis.ClusterOptions{Addrs: c.addrs, Dialer: late}, shim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := shim.Connect(ctx, client, time.Second); err == nil || !strings.Contains(err.Error(), "nobody there yet") {
		t.Errorf("Connect to nobody: %v", err)
	}
	var notRun *shim.NotRunError
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if err := client.Get(short, "k").Err(); !errors.As(err, &notRun) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("GET from nobody: %v", err)
	}
	before := refused.Load()
	defer c.once(func() bool { return refused.Load() > before }, func() { close(reachable) })()
	if err := shim.Connect(ctx, client, 20*time.Second); err != nil {
		t.Errorf("Connect to latecomers: %v", err)
	}
	if err := client.Set(ctx, "k", 1, 0).Err(); err != nil {
		t.Error(err)
	}
}

// A dial that takes too long is not the caller's time that is over.
func TestSlowDialsAreRetried(t *testing.T) {
	c := emulated(t, 0)
	ctx := within(t, 30*time.Second)
	var slow atomic.Int64
	dialer := func(ctx context.Context, network, addr string) (net.Conn, error) {
		if slow.Add(-1) >= 0 {
			return nil, &net.OpError{Op: "dial", Net: network, Err: context.DeadlineExceeded}
		}
		return c.dialer(ctx, network, addr)
	}
	for name, times := range map[string]int64{"finding the cluster": 4, "sending": 1} {
		client, err := shim.NewCluster(redis.ClusterOptions{Addrs: c.addrs, Dialer: dialer}, shim.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		if name == "sending" {
			client.Ping(ctx)
		}
		slow.Store(times)
		if err := client.Set(ctx, "k", 1, 0).Err(); err != nil {
			t.Errorf("SET while %s: %v", name, err)
		}
		for _, key := range []string{"a", "b", "c"} {
			if _, err := client.TxPipelined(ctx, func(p redis.Pipeliner) error { return p.Set(ctx, key, 1, 0).Err() }); err != nil {
				t.Errorf("transaction while %s: %v", name, err)
			}
		}
	}
}

// A cluster announces addresses that nobody reaches; the map makes them those
// where it listens.
func TestAddressMap(t *testing.T) {
	ctx := within(t, 30*time.Second)
	e := emulator.RunT(t, emulator.TCP("127.0.0.1", 0), emulator.NAT("10.0.0.1", 7000))
	toReal := func(addr string) string {
		if real, ok := e.AddressMap()[addr]; ok {
			return real
		}
		return addr
	}
	client, err := shim.NewCluster(redis.ClusterOptions{Addrs: []string{e.Addrs()[0]}}, shim.Options{AddressMap: toReal})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, key := range []string{"a", "b", "c"} {
		if err := client.Set(ctx, key, 1, 0).Err(); err != nil {
			t.Errorf("go-redis: %v", err)
		}
	}

	mapped := shim.Dialer(nil).Mapped(toReal)
	t.Run("rueidis", func(t *testing.T) {
		client, err := rueidis.NewClient(rueidis.ClientOption{
			InitAddress: []string{e.Addrs()[0]}, DialCtxFn: mapped.Rueidis(), DisableCache: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		for _, key := range []string{"a", "b", "c"} {
			if v, err := client.Do(ctx, client.B().Get().Key(key).Build()).ToString(); err != nil || v != "1" {
				t.Errorf("GET %s: %q, %v", key, v, err)
			}
		}
	})
	t.Run("redigo", func(t *testing.T) {
		conn, err := redigo.Dial("tcp", e.NodeForKey("a").Addr(), redigo.DialContextFunc(mapped))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if v, err := redigo.String(conn.Do("GET", "a")); err != nil || v != "1" {
			t.Errorf("GET: %q, %v", v, err)
		}
	})
}

func TestDialerSpeaksTLS(t *testing.T) {
	var name string
	server, client := net.Pipe()
	plain := shim.Dialer(func(context.Context, string, string) (net.Conn, error) { return client, nil })
	go func() {
		_ = tls.Server(server, &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			name = hello.ServerName
			return nil, errors.New("seen enough")
		}}).Handshake()
	}()
	_, err := plain.Rueidis()(within(t, 10*time.Second), "redis.example:6379", nil, &tls.Config{})
	if err == nil || name != "redis.example" {
		t.Errorf("the server was called %q, %v", name, err)
	}
}

func TestRedisotelSeesEveryAttempt(t *testing.T) {
	c := emulated(t, 0)
	ctx := within(t, 30*time.Second)
	spans := tracetest.NewSpanRecorder()
	metrics := new(shim.Metrics)
	client := c.made(shim.Options{
		Retry: shim.RetryOptions{Metrics: metrics},
		Instrument: func(client redis.UniversalClient) error {
			return redisotel.InstrumentTracing(client, redisotel.WithTracerProvider(trace.NewTracerProvider(trace.WithSpanProcessor(spans))))
		},
	})
	key := tagged(42, "k")
	if err := client.Set(ctx, key, 1, 0).Err(); err != nil {
		t.Fatal(err)
	}
	c.half(42, 1, key)
	before := len(spans.Ended())
	if n, err := client.Incr(ctx, key).Result(); err != nil || n != 2 {
		t.Fatalf("INCR: %d, %v", n, err)
	}
	var names []string
	for _, span := range spans.Ended()[before:] {
		if span.Name() == "incr" || span.Name() == "asking" {
			names = append(names, span.Name())
		}
	}
	if !slices.Equal(names, []string{"incr", "asking", "incr"}) {
		t.Errorf("spans %v, want the refused INCR, ASKING and INCR", names)
	}
	if metrics.Redirects() != 1 || metrics.Retries() != 0 || metrics.LostReplies() != 0 {
		t.Errorf("%d redirects, %d retries, %d lost; want 1, 0, 0", metrics.Redirects(), metrics.Retries(), metrics.LostReplies())
	}
}

func TestReadsGoToMastersUnlessTold(t *testing.T) {
	eachCluster(t, 1, func(t *testing.T, c *cluster) {
		ctx := within(t, 30*time.Second)
		c.listReplicas()
		replicasRead := func(client *redis.ClusterClient) (calls int) {
			for i := range 20 {
				if err := client.Get(ctx, tagged(0, i)).Err(); err != nil && err != redis.Nil {
					t.Fatal(err)
				}
			}
			for i := range c.nodes {
				stats, err := c.nodes[i].Info(ctx, "commandstats").Result()
				if err != nil {
					t.Fatal(err)
				}
				if !c.isMaster(i) && strings.Contains(stats, "cmdstat_get:") {
					calls++
				}
				c.do(i, "CONFIG", "RESETSTAT")
			}
			return calls
		}
		if n := replicasRead(c.made(shim.Options{})); n != 0 {
			t.Errorf("%d replicas were read from", n)
		}
		reading, err := shim.NewCluster(redis.ClusterOptions{Addrs: c.addrs, Dialer: c.dialer, ReadOnly: true}, shim.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer reading.Close()
		if n := replicasRead(reading); n == 0 {
			t.Error("no replica was read from by a client that may")
		}
	})
}

func TestSingleServer(t *testing.T) {
	e := emulator.RunT(t, emulator.Standalone())
	ctx := within(t, 30*time.Second)
	client, err := shim.NewSingle(redis.Options{Addr: e.Addrs()[0], Dialer: e.Dialer()}, shim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := shim.Connect(ctx, client, time.Second); err != nil {
		t.Fatal(err)
	}
	// On one server keys may be anywhere.
	if err := client.MSet(ctx, "a", 1, "b", 2).Err(); err != nil {
		t.Error(err)
	}
	if n, err := transfer.Run(ctx, client, []string{"a", "b"}, 1).Int(); err != nil || n != 3 {
		t.Errorf("script: %d, %v", n, err)
	}
	if err := client.ScriptFlush(ctx).Err(); err != nil {
		t.Fatal(err)
	}
	if cmds, err := client.Pipelined(ctx, func(p redis.Pipeliner) error {
		transfer.Run(ctx, p, []string{"a", "b"}, 1)
		p.Get(ctx, "absent")
		return nil
	}); err != redis.Nil || cmds[0].Err() != nil {
		t.Errorf("pipeline: %v, %v", cmds, err)
	}
	spoilt(t, client)
	if n, err := shim.DeleteMatching(ctx, client, "?"); err != nil || n != 2 {
		t.Errorf("DeleteMatching: %d, %v", n, err)
	}
	ring := redis.NewRing(&redis.RingOptions{})
	defer ring.Close()
	if err := shim.WithRetry(ring, shim.RetryOptions{}); !errors.Is(err, shim.ErrUnsupportedClient) {
		t.Errorf("a ring: %v", err)
	}

	// A client that is closed stays so: it is not tried again.
	client.Close()
	for name, get := range map[string]func() error{
		"alone":     func() error { return client.Get(ctx, "a").Err() },
		"pipelined": func() error { _, err := client.Pipelined(ctx, incrBar(ctx)); return err },
	} {
		var notRun *shim.NotRunError
		if err := get(); !errors.As(err, &notRun) || !errors.Is(err, redis.ErrClosed) || notRun.Attempts != 1 {
			t.Errorf("%s on a closed client: %v", name, err)
		}
	}
}
