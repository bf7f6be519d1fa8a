package shim_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/shim"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"
)

// Nothing of a client, a subscription or a walk outlives its Close, but for go-redis'
// own look for a server that could not be dialled, which ends within a second.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"),
		// rueidis closes replaced connections 5 s later.
		goleak.IgnoreAnyFunction("github.com/redis/rueidis.(*clusterClient)._refresh.func2"))
}

func TestNilClientsAreRefused(t *testing.T) {
	ctx := context.Background()
	for _, client := range []redis.UniversalClient{nil, (*redis.Client)(nil), (*redis.ClusterClient)(nil), (*redis.Ring)(nil)} {
		var scanned error
		for _, err := range shim.Scan(ctx, client, shim.ScanOptions{}) {
			scanned = err
		}
		_, deleted := shim.DeleteMatching(ctx, client, "*")
		for what, err := range map[string]error{
			"WithRetry":      shim.WithRetry(client, shim.RetryOptions{}),
			"ForEachMaster":  shim.ForEachMaster(ctx, client, nil),
			"Connect":        shim.Connect(ctx, client, time.Millisecond),
			"Scan":           scanned,
			"DeleteMatching": deleted,
		} {
			if !errors.Is(err, shim.ErrUnsupportedClient) {
				t.Errorf("%s of %T: %v", what, client, err)
			}
		}
	}
	if _, err := shim.SSubscribe(ctx, nil, shim.SubscribeOptions{}, "channel"); !errors.Is(err, shim.ErrUnsupportedClient) {
		t.Errorf("SSubscribe of nil: %v", err)
	}
}

// It is tried once more: a node's client is also closed when the node left.
func TestClosedClusterClientIsGivenUp(t *testing.T) {
	c := emulated(t, 0)
	ctx := within(t, 30*time.Second)
	c.eachClient(t, shim.RetryOptions{Attempts: 20, Base: 50 * time.Millisecond}, func(t *testing.T, client *redis.ClusterClient) {
		if err := client.Set(ctx, "k", 1, 0).Err(); err != nil {
			t.Fatal(err)
		}
		client.Close()
		for name, send := range map[string]func() error{
			"command":     func() error { return client.Get(ctx, "k").Err() },
			"pipeline":    func() error { _, err := client.Pipelined(ctx, incrBar(ctx)); return err },
			"transaction": func() error { _, err := client.TxPipelined(ctx, incrBar(ctx)); return err },
			"all nodes":   func() error { return client.DBSize(ctx).Err() },
			"script":      func() error { return transfer.Run(ctx, client, []string{"{k}", "{k}2"}, 1).Err() },
			"delete":      func() error { _, err := shim.DeleteMatching(ctx, client, "*"); return err },
		} {
			if err := send(); !errors.Is(err, redis.ErrClosed) || ctx.Err() != nil {
				t.Errorf("%s on a closed client: %v", name, err)
			}
		}
	})
}

func TestContextThatIsOverSendsNothing(t *testing.T) {
	c := emulated(t, 0)
	over, cancel := context.WithCancel(context.Background())
	cancel()
	c.eachClient(t, shim.RetryOptions{}, func(t *testing.T, client *redis.ClusterClient) {
		sent := c.emulator.Inject(emulator.Rule{Commands: []string{"incr"}, Action: emulator.ReplyWith("ERR it was sent")})
		defer sent.Remove()
		for name, send := range map[string]func() error{
			"command":     func() error { return client.Incr(over, "bar").Err() },
			"pipeline":    func() error { _, err := client.Pipelined(over, incrBar(over)); return err },
			"transaction": func() error { _, err := client.TxPipelined(over, incrBar(over)); return err },
		} {
			var notRun *shim.NotRunError
			if err := send(); !errors.As(err, &notRun) || !errors.Is(err, context.Canceled) || notRun.Attempts != 1 {
				t.Errorf("%s: %v", name, err)
			}
		}
		if sent.Hits() != 0 {
			t.Errorf("%d commands were sent", sent.Hits())
		}
	})
}

func TestOddCommands(t *testing.T) {
	eachCluster(t, 0, func(t *testing.T, c *cluster) {
		ctx := within(t, 30*time.Second)
		c.eachClient(t, shim.RetryOptions{Attempts: 3}, func(t *testing.T, client *redis.ClusterClient) {
			if err := client.Do(ctx).Err(); err == nil || !strings.Contains(err.Error(), "without a name") {
				t.Errorf("no words: %v", err)
			}
			_, err := client.TxPipelined(ctx, func(p redis.Pipeliner) error {
				p.Set(ctx, "beside", 1, 0)
				return p.Process(ctx, redis.NewCmd(ctx))
			})
			if err == nil || client.Exists(ctx, "beside").Val() != 0 {
				t.Errorf("no words in a transaction: %v", err)
			}
			for _, words := range [][]any{
				{""}, {"get"}, {"get", nil, nil}, {"mset"}, {"mset", "a"}, {"eval", "return 1", -1}, {"eval", "return 1", 99, "a"},
				{"eval", "return 1", "many"}, {"eval"}, {"xread", "streams"}, {"sort"}, {"migrate"}, {"object"}, {"cluster", "countkeysinslot", -1},
			} {
				var server redis.Error
				var notRun *shim.NotRunError
				if err := client.Do(ctx, words...).Err(); !errors.As(err, &server) || errors.As(err, &notRun) {
					t.Errorf("%q: %v", words, err)
				}
			}
			if err := client.Set(ctx, "", "empty", 0).Err(); err != nil || client.Get(ctx, "").Val() != "empty" {
				t.Errorf("the empty key: %v", err)
			}
			if err := client.Set(ctx, "k", struct{}{}, 0).Err(); err == nil || !strings.Contains(err.Error(), "can't marshal") {
				t.Errorf("a value that cannot be sent: %v", err)
			}
			if n, err := shim.DeleteMatching(ctx, client, ""); n != 0 || !errors.Is(err, shim.ErrNoPattern) {
				t.Errorf("DeleteMatching without a pattern: %d, %v", n, err)
			}
			for _, err := range shim.Scan(ctx, client, shim.ScanOptions{Count: -1, Patience: -1}) {
				if err != nil {
					t.Errorf("SCAN with a negative count and patience: %v", err)
				}
			}
		})
	})
}

// What a node answers for good is not waited out.
func TestScanEndsWithAnAnswer(t *testing.T) {
	c := emulated(t, 0)
	ctx := within(t, 10*time.Second)
	client := c.made(shim.Options{})
	scan := func() (last error) {
		for _, err := range shim.Scan(ctx, client, shim.ScanOptions{}) {
			last = err
		}
		return last
	}
	c.emulator.Inject(emulator.Rule{Commands: []string{"scan"}, Times: 2, Action: emulator.ReplyWith("LOADING Redis is loading the dataset in memory")})
	if err := scan(); err != nil {
		t.Errorf("a node that was loading: %v", err)
	}
	c.emulator.Inject(emulator.Rule{Commands: []string{"scan"}, Action: emulator.ReplyWith("NOPERM this user has no permissions")})
	var node *shim.NodeError
	if err := scan(); !errors.As(err, &node) || !redis.IsPermissionError(err) || ctx.Err() != nil {
		t.Errorf("a node that does not permit it: %v", err)
	}
}

func TestHugePipeline(t *testing.T) {
	c := emulated(t, 0)
	ctx := within(t, 60*time.Second)
	client := c.made(shim.Options{})
	const size = 30_000
	cmds, err := client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i := range size {
			p.Incr(ctx, fmt.Sprint("k", i%1000))
		}
		return nil
	})
	if err != nil || len(cmds) != size {
		t.Fatalf("%d commands, %v", len(cmds), err)
	}
	var sum int64
	for i := range 1000 {
		n, err := client.Get(ctx, fmt.Sprint("k", i)).Int64()
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	if sum != size {
		t.Errorf("%d increments ran, want %d", sum, size)
	}
}

// The hook comes between commands that are under way, on clients of both sorts.
func TestWithRetryOnAClientInUse(t *testing.T) {
	c := emulated(t, 0)
	ctx := within(t, 30*time.Second)
	single := redis.NewClient(&redis.Options{Addr: c.addrs[c.owner(5061)], Dialer: c.dialer}) // of "bar"
	defer single.Close()
	for name, client := range map[string]redis.UniversalClient{"cluster": c.plain(), "single": single} {
		t.Run(name, func(t *testing.T) {
			before, err := client.Get(ctx, "bar").Int64()
			if err != nil && err != redis.Nil {
				t.Fatal(err)
			}
			var counted atomic.Int64
			stop := make(chan struct{})
			var load sync.WaitGroup
			for worker := range 8 {
				load.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
						}
						var err error
						switch worker % 3 {
						case 0:
							err = client.Incr(ctx, "bar").Err()
						case 1:
							_, err = client.Pipelined(ctx, incrBar(ctx))
						default:
							_, err = client.TxPipelined(ctx, incrBar(ctx))
						}
						if err != nil {
							t.Error(err)
							return
						}
						counted.Add(1)
					}
				})
			}
			more := func() {
				for from := counted.Load(); counted.Load() < from+200 && !t.Failed(); {
					time.Sleep(time.Millisecond)
				}
			}
			more()
			metrics := new(shim.Metrics)
			if err := shim.WithRetry(client, shim.RetryOptions{Metrics: metrics}); err != nil {
				t.Fatal(err)
			}
			more()
			refused := c.emulator.Inject(emulator.Rule{Commands: []string{"incr"}, Times: 5, Action: emulator.ReplyWith("CLUSTERDOWN The cluster is down")})
			more()
			refused.Remove()
			close(stop)
			load.Wait()
			if n, err := client.Get(ctx, "bar").Int64(); err != nil || n-before != counted.Load() {
				t.Errorf("%d increments are there of %d, %v", n-before, counted.Load(), err)
			}
			if metrics.Retries() < 1 {
				t.Error("the hook was not asked")
			}
		})
	}
}

// Where hooks meet, one retries: that of the cluster, or of the client that was cloned.
func TestHooksThatMeet(t *testing.T) {
	c := emulated(t, 0)
	ctx := within(t, 30*time.Second)
	key := tagged(42, "k")

	var inner, outer shim.Metrics
	cluster := c.plain()
	cluster.OnNewNode(func(node *redis.Client) {
		if err := shim.WithRetry(node, shim.RetryOptions{Metrics: &inner}); err != nil {
			t.Error(err)
		}
	})
	if err := shim.WithRetry(cluster, shim.RetryOptions{Metrics: &outer}); err != nil {
		t.Fatal(err)
	}
	if err := cluster.Set(ctx, key, 0, 0).Err(); err != nil {
		t.Fatal(err)
	}
	c.half(42, (c.owner(42)+1)%3, key)
	incr := func(p redis.Pipeliner) error { return p.Incr(ctx, key).Err() }
	for i, send := range []func() error{
		func() error { return cluster.Incr(ctx, key).Err() },
		func() error { _, err := cluster.Pipelined(ctx, incr); return err },
		func() error { _, err := cluster.TxPipelined(ctx, incr); return err },
	} {
		if err := send(); err != nil {
			t.Error(err)
		}
		if inner.Retries() != 0 || outer.Redirects() != int64(i+1) {
			t.Errorf("the node's hook retried %d times, the cluster's redirected %d", inner.Retries(), outer.Redirects())
		}
	}

	var first, second shim.Metrics
	single := redis.NewClient(&redis.Options{Addr: c.addrs[c.owner(5061)], Dialer: c.dialer})
	defer single.Close()
	if err := shim.WithRetry(single, shim.RetryOptions{Metrics: &first}); err != nil {
		t.Fatal(err)
	}
	clone := single.WithTimeout(5 * time.Second)
	if err := shim.WithRetry(clone, shim.RetryOptions{Metrics: &second}); err != nil {
		t.Fatal(err)
	}
	for _, send := range []func() error{
		func() error { return clone.Incr(ctx, "bar").Err() },
		func() error { _, err := clone.Pipelined(ctx, incrBar(ctx)); return err },
		func() error { _, err := clone.TxPipelined(ctx, incrBar(ctx)); return err },
	} {
		c.emulator.Inject(emulator.Rule{Commands: []string{"incr"}, Times: 1, Action: emulator.DropAfter()})
		var lost *shim.LostReplyError
		if err := send(); !errors.As(err, &lost) {
			t.Errorf("%v is not a lost reply", err)
		}
	}
	if n := first.LostReplies() + second.LostReplies(); n != 3 {
		t.Errorf("%d lost replies were counted, want 3", n)
	}
}

// Seeds of which none answers are an error in the end, for each way in.
func TestNobodyAnswers(t *testing.T) {
	ctx := within(t, 30*time.Second)
	nobody := func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("nobody there") }
	for _, seeds := range []redis.ClusterOptions{{Dialer: nobody}, {Addrs: []string{"", "nonsense", "h:1"}, Dialer: nobody}} {
		o := shim.Options{Retry: shim.RetryOptions{Attempts: 2}}
		client, err := shim.NewCluster(seeds, o)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		if err := shim.Connect(ctx, client, 20*time.Millisecond); err == nil {
			t.Errorf("connected to %v", seeds.Addrs)
		}
		var notRun *shim.NotRunError
		if err := client.Get(ctx, "k").Err(); !errors.As(err, &notRun) || notRun.Attempts != 2 {
			t.Errorf("GET from %v: %v", seeds.Addrs, err)
		}
		if addrs, err := shim.Discover(ctx, seeds, o, 20*time.Millisecond); err == nil {
			t.Errorf("discovered %v from %v", addrs, seeds.Addrs)
		}
	}
}
