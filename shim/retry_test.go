package shim_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/shim"
	"github.com/redis/go-redis/v9"
)

// go-redis sends a node's whole pipeline again when its first command gets
// TRYAGAIN. The increment behind it must run once.
func TestPipelineBehindTryAgainRunsOnce(t *testing.T) {
	eachCluster(t, 0, func(t *testing.T, c *cluster) {
		// Slot 42 stays half moved: one of two keys is away, so an MGET of both
		// gets TRYAGAIN until the move is undone.
		ctx := within(t, 30*time.Second)
		here, there, counter := tagged(42, "here"), tagged(42, "there"), tagged(42, "counter")
		plain := c.plain()
		for _, key := range []string{here, there, counter} {
			if err := plain.Set(ctx, key, "v", 0).Err(); err != nil {
				t.Fatal(err)
			}
		}
		move := c.half(42, 1, there)
		pipelined := func(client *redis.ClusterClient) (*redis.SliceCmd, *redis.IntCmd) {
			if err := client.Set(ctx, counter, 0, 0).Err(); err != nil {
				t.Fatal(err)
			}
			pipe := client.Pipeline()
			mget, incr := pipe.MGet(ctx, here, there), pipe.Incr(ctx, counter)
			_, _ = pipe.Exec(ctx)
			return mget, incr
		}
		t.Run("go-redis alone", func(t *testing.T) {
			_, _ = pipelined(plain)
			n, err := plain.Get(ctx, counter).Int()
			if err != nil || n != 4 {
				t.Fatalf("the counter is %d, %v; go-redis 9.23 is known to leave it at 4", n, err)
			}
		})
		c.eachClient(t, shim.RetryOptions{Attempts: 5}, func(t *testing.T, client *redis.ClusterClient) {
			mget, incr := pipelined(client)
			if n, err := incr.Result(); err != nil || n != 1 {
				t.Errorf("INCR: %d, %v; want 1", n, err)
			}
			var notRun *shim.NotRunError
			if err := mget.Err(); !errors.As(err, &notRun) || !redis.IsTryAgainError(err) || notRun.Attempts != 5 {
				t.Errorf("MGET of a slot that stays half moved: %v", err)
			}
			if n, err := client.Get(ctx, counter).Int(); err != nil || n != 1 {
				t.Errorf("the counter is %d, %v; want 1", n, err)
			}
		})
		t.Run("until the move ends", func(t *testing.T) {
			client := c.made(shim.Options{})
			finished := c.once(c.tells("TRYAGAIN"), func() { c.finish(move) })
			mget, incr := pipelined(client)
			finished()
			if err := errors.Join(mget.Err(), incr.Err()); err != nil || len(mget.Val()) != 2 || mget.Val()[1] != "v" {
				t.Errorf("MGET %v, INCR %d: %v", mget.Val(), incr.Val(), err)
			}
			if n, err := client.Get(ctx, counter).Int(); err != nil || n != 1 {
				t.Errorf("the counter is %d, %v; want 1", n, err)
			}
		})
	})
}

// go-redis sends a command again after EOF. The shim says that its reply was lost.
func TestLostReplyRunsOnce(t *testing.T) {
	eachCluster(t, 0, func(t *testing.T, c *cluster) {
		ctx := within(t, 30*time.Second)
		proxy := lose(c.dialer)
		c.dialer = proxy.Dial
		isIncr := func(sent []byte) bool {
			return bytes.Contains(bytes.ToLower(sent), []byte("\r\nincr\r\n"))
		}
		value := func(t *testing.T, client *redis.ClusterClient, key string) int {
			t.Helper()
			proxy.when(func([]byte) bool { return false })
			n, err := client.Get(ctx, key).Int()
			if err != nil {
				t.Fatal(err)
			}
			return n
		}

		t.Run("go-redis alone", func(t *testing.T) {
			client := c.plain()
			proxy.when(isIncr)
			_ = client.Incr(ctx, "plain").Err()
			if n := value(t, client, "plain"); n < 2 {
				t.Errorf("the counter is %d; go-redis 9.23 is known to send an INCR again after EOF", n)
			}
		})
		metrics := new(shim.Metrics)
		isLost := func(t *testing.T, err error, command string) {
			t.Helper()
			var lost *shim.LostReplyError
			if !errors.As(err, &lost) || lost.Command != command || !errors.Is(err, io.EOF) {
				t.Errorf("%v is not a lost reply to %s", err, command)
			}
		}
		c.eachClient(t, shim.RetryOptions{Metrics: metrics}, func(t *testing.T, client *redis.ClusterClient) {
			prefix := t.Name()
			before := metrics.LostReplies()
			proxy.when(isIncr)
			isLost(t, client.Incr(ctx, prefix+"single").Err(), "incr")
			if n := value(t, client, prefix+"single"); n != 1 {
				t.Errorf("a single INCR ran %d times", n)
			}
			if got := metrics.LostReplies() - before; got != 1 {
				t.Errorf("%d lost replies counted, want 1", got)
			}

			proxy.when(isIncr)
			cmds, err := client.Pipelined(ctx, func(p redis.Pipeliner) error {
				p.Set(ctx, "{"+prefix+"}set", "v", 0)
				p.Incr(ctx, "{"+prefix+"}piped")
				return nil
			})
			isLost(t, err, "set")
			isLost(t, cmds[1].Err(), "incr")
			if n := value(t, client, "{"+prefix+"}piped"); n != 1 {
				t.Errorf("a pipelined INCR ran %d times", n)
			}

			proxy.when(isIncr)
			cmds, err = client.TxPipelined(ctx, func(p redis.Pipeliner) error {
				p.Incr(ctx, "{"+prefix+"}tx")
				p.Incr(ctx, "{"+prefix+"}tx")
				return nil
			})
			isLost(t, err, "multi")
			isLost(t, cmds[0].Err(), "multi")
			if n := value(t, client, "{"+prefix+"}tx"); n != 2 {
				t.Errorf("a transaction of two INCR counted %d", n)
			}

			proxy.when(func(sent []byte) bool { return bytes.Contains(sent, []byte("\r\nget\r\n")) })
			isLost(t, client.Get(ctx, prefix+"single").Err(), "get")
		})
		t.Run("reads in vain", func(t *testing.T) {
			client := c.made(shim.Options{Retry: shim.RetryOptions{RetryLostReads: true, Attempts: 3}})
			proxy.when(func(sent []byte) bool { return bytes.Contains(sent, []byte("\r\nget\r\n")) })
			isLost(t, client.Get(ctx, "before").Err(), "get")
			proxy.when(isIncr)
			isLost(t, client.Incr(ctx, "in vain").Err(), "incr")
			if n := value(t, client, "in vain"); n != 1 {
				t.Errorf("an INCR ran %d times", n)
			}
		})
		t.Run("reads again if asked to", func(t *testing.T) {
			client := c.made(shim.Options{Retry: shim.RetryOptions{RetryLostReads: true}})
			once := true
			proxy.when(func(sent []byte) bool {
				if once && bytes.Contains(sent, []byte("\r\nget\r\n")) {
					once = false
					return true
				}
				return false
			})
			if v, err := client.Get(ctx, "before").Result(); err != nil || v != "the shim" {
				t.Errorf("GET: %q, %v", v, err)
			}
		})
	})
}

// A client of one server retries by itself too, unless it has the shim.
func TestLostReplyOfASingleServerRunsOnce(t *testing.T) {
	c := emulated(t, 0)
	ctx := within(t, 30*time.Second)
	node := c.owner(5061) // of "bar"
	proxy := lose(c.dialer)
	client := redis.NewClient(&redis.Options{Addr: c.addrs[node], Dialer: proxy.Dial})
	defer client.Close()
	if err := shim.WithRetry(client, shim.RetryOptions{}); err != nil {
		t.Fatal(err)
	}
	for name, incr := range map[string]func() error{
		"alone":          func() error { return client.Incr(ctx, "bar").Err() },
		"pipelined":      func() error { _, err := client.Pipelined(ctx, incrBar(ctx)); return err },
		"in transaction": func() error { _, err := client.TxPipelined(ctx, incrBar(ctx)); return err },
	} {
		if err := client.Del(ctx, "bar").Err(); err != nil {
			t.Fatal(err)
		}
		proxy.when(func(sent []byte) bool { return bytes.Contains(sent, []byte("\r\nincr\r\n")) })
		var lost *shim.LostReplyError
		if err := incr(); !errors.As(err, &lost) {
			t.Errorf("%s: %v is not a lost reply", name, err)
		}
		if n := c.do(node, "GET", "bar"); n != "1" {
			t.Errorf("%s: INCR ran %v times", name, n)
		}
	}
}

func incrBar(ctx context.Context) func(redis.Pipeliner) error {
	return func(p redis.Pipeliner) error { return p.Incr(ctx, "bar").Err() }
}

// A redirection is followed to a node that owns no slot yet, which the client
// does not know.
func TestFollowsToANodeWithoutSlots(t *testing.T) {
	eachClusterWithAnEmptyNode(t, func(t *testing.T, c *cluster) {
		ctx := within(t, 60*time.Second)
		key := tagged(7, "k")
		c.eachClient(t, shim.RetryOptions{}, func(t *testing.T, client *redis.ClusterClient) {
			if err := client.Set(ctx, key, 1, 0).Err(); err != nil {
				t.Fatal(err)
			}
			move := c.half(7, 3, key)
			defer func() { c.finish(move); c.move(7, c.index(move.From().Addr)) }()
			if n, err := client.Incr(ctx, key).Result(); err != nil || n != 2 {
				t.Errorf("INCR at a node without slots: %d, %v", n, err)
			}
			cmds, err := client.Pipelined(ctx, func(p redis.Pipeliner) error {
				p.Incr(ctx, key)
				p.Incr(ctx, key)
				return nil
			})
			if err != nil || cmds[1].(*redis.IntCmd).Val() != 4 {
				t.Errorf("pipeline at a node without slots: %v, %v", cmds, err)
			}
			cmds, err = client.TxPipelined(ctx, func(p redis.Pipeliner) error {
				p.Incr(ctx, key)
				p.Incr(ctx, key)
				return nil
			})
			if err != nil || cmds[1].(*redis.IntCmd).Val() != 6 {
				t.Errorf("transaction at a node without slots: %v, %v", cmds, err)
			}
			// A client that blocks there waits as long as it asked to.
			list := tagged(7, "list")
			pushed := c.once(c.blocks, func() { _ = client.RPush(ctx, list, "job").Err() })
			if job, err := client.BLPop(ctx, 10*time.Second, list).Result(); err != nil || job[1] != "job" {
				t.Errorf("BLPOP at a node without slots: %v, %v", job, err)
			}
			pushed()
		})
	})
}

// A client that met a node before it got the hook, and has heard nothing of the node's
// slots since, does not hand that node out.
func TestFollowsToANodeThatTheClientHides(t *testing.T) {
	eachClusterWithAnEmptyNode(t, func(t *testing.T, c *cluster) {
		ctx := within(t, 60*time.Second)
		key := tagged(7, "k")
		client := c.plain()
		if err := client.Set(ctx, key, 0, 0).Err(); err != nil {
			t.Fatal(err)
		}
		c.half(7, 3, key)
		if err := client.Incr(ctx, key).Err(); err != nil {
			t.Fatalf("INCR by go-redis alone: %v", err)
		}
		if err := shim.WithRetry(client, shim.RetryOptions{}); err != nil {
			t.Fatal(err)
		}
		const callers, times = 8, 5
		var sending sync.WaitGroup
		for range callers {
			sending.Go(func() {
				for range times {
					cmds, err := client.Pipelined(ctx, func(p redis.Pipeliner) error {
						p.Incr(ctx, key)
						p.Incr(ctx, key)
						return nil
					})
					if err != nil {
						t.Errorf("%v: %v", cmds, err)
					}
					if err := client.Incr(ctx, key).Err(); err != nil {
						t.Error(err)
					}
				}
			})
		}
		sending.Wait()
		if n, err := client.Get(ctx, key).Int(); err != nil || n != 1+3*callers*times {
			t.Errorf("the counter is %d, %v; want %d", n, err, 1+3*callers*times)
		}
		// Nothing is kept open for it, but for what the client itself has.
		for {
			clients, err := c.nodes[3].ClientList(ctx).Result()
			if err != nil {
				t.Fatalf("connections that stay:\n%s%v", clients, err)
			}
			if strings.Count(clients, " cmd=incr ") <= 1 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
}

// Nothing of a transaction runs while its keys are in two places, and all of it once
// when they are together again.
func TestTransactionWaitsForItsKeys(t *testing.T) {
	eachCluster(t, 0, func(t *testing.T, c *cluster) {
		ctx := within(t, 30*time.Second)
		here, there := tagged(42, "here"), tagged(42, "there")
		both := func(p redis.Pipeliner) error {
			p.Incr(ctx, here)
			p.Incr(ctx, there)
			return nil
		}
		want := 0
		c.eachClient(t, shim.RetryOptions{Attempts: 3}, func(t *testing.T, client *redis.ClusterClient) {
			want++
			if _, err := client.TxPipelined(ctx, both); err != nil {
				t.Fatal(err)
			}
			move := c.half(42, (c.owner(42)+1)%3, there)
			var notRun *shim.NotRunError
			cmds, err := client.TxPipelined(ctx, both)
			if !errors.As(err, &notRun) || notRun.Attempts != 3 || cmds[0].Err() != err || cmds[1].Err() != err {
				t.Errorf("with keys in two places: %v", err)
			}
			want++
			patient := c.made(shim.Options{})
			finished := c.once(c.tells("ASK"), func() { c.finish(move) })
			if _, err := patient.TxPipelined(ctx, both); err != nil {
				t.Error(err)
			}
			finished()
			for _, key := range []string{here, there} {
				if n, err := client.Get(ctx, key).Int(); err != nil || n != want {
					t.Errorf("%s is %d, %v; want %d", key, n, err, want)
				}
			}
		})
	})
}

// Errors that are answers stay as they are.
func TestAnswersStayAsTheyAre(t *testing.T) {
	eachCluster(t, 0, func(t *testing.T, c *cluster) {
		ctx := within(t, 30*time.Second)
		c.eachClient(t, shim.RetryOptions{}, func(t *testing.T, client *redis.ClusterClient) {
			if err := client.Get(ctx, "absent").Err(); err != redis.Nil {
				t.Errorf("GET of nothing: %v", err)
			}
			if err := client.Set(ctx, "text", "v", 0).Err(); err != nil {
				t.Fatal(err)
			}
			if err := client.LPush(ctx, "text", "v").Err(); !redis.HasErrorPrefix(err, "WRONGTYPE") {
				t.Errorf("LPUSH to a string: %v", err)
			}
			cmds, err := client.TxPipelined(ctx, func(p redis.Pipeliner) error {
				p.LPush(ctx, "text", "v")
				p.Append(ctx, "text", "w")
				return nil
			})
			if !redis.HasErrorPrefix(err, "WRONGTYPE") || cmds[1].Err() != nil {
				t.Errorf("transaction with a result that is an error: %v, %v", err, cmds)
			}
			cmds, err = client.TxPipelined(ctx, func(p redis.Pipeliner) error {
				p.Append(ctx, "text", "x")
				p.Do(ctx, "GET", "text", "and", "more")
				return nil
			})
			if !redis.IsExecAbortError(cmds[0].Err()) || !strings.Contains(cmds[1].Err().Error(), "wrong number of arguments") || err == nil {
				t.Errorf("transaction with a wrong command: %v, %v", err, cmds)
			}
			if v := client.Get(ctx, "text").Val(); !strings.HasPrefix(v, "vw") || strings.Contains(v, "x") {
				t.Errorf("the aborted transaction left %q", v)
			}
			for i := range 10 {
				if err := client.Set(ctx, fmt.Sprint("key", i), i, 0).Err(); err != nil {
					t.Fatal(err)
				}
			}
			if n, err := client.DBSize(ctx).Result(); err != nil || n < 10 {
				t.Errorf("DBSIZE of all nodes: %d, %v", n, err)
			}
			if err := client.Do(ctx, "NOSUCH", "x").Err(); !strings.Contains(err.Error(), "unknown command") {
				t.Errorf("unknown command: %v", err)
			}
			if n, err := client.ClusterCountKeysInSlot(ctx, 12706).Result(); err != nil {
				t.Errorf("CLUSTER COUNTKEYSINSLOT: %d, %v", n, err)
			}
		})
	})
}

// The emulator can execute a command and hang up: it must have run once.
func TestDroppedAfterExecutingRunsOnce(t *testing.T) {
	c := emulated(t, 0)
	ctx := within(t, 30*time.Second)
	c.eachClient(t, shim.RetryOptions{}, func(t *testing.T, client *redis.ClusterClient) {
		key := t.Name()
		fault := c.emulator.Inject(emulator.Rule{Commands: []string{"incr"}, Action: emulator.DropAfter()})
		defer fault.Remove()
		var lost *shim.LostReplyError
		if err := client.Incr(ctx, key).Err(); !errors.As(err, &lost) {
			t.Errorf("%v is not a lost reply", err)
		}
		if n, err := client.Get(ctx, key).Int(); err != nil || n != 1 || fault.Hits() != 1 {
			t.Errorf("the counter is %d, %v, after %d executions; want 1", n, err, fault.Hits())
		}
	})
}

// A master dies and its replica takes over. Commands to it are tried until the new
// master answers; at most the replies of those on the way are lost.
func TestCommandsOutliveACrash(t *testing.T) {
	eachCluster(t, 1, func(t *testing.T, c *cluster) {
		ctx := within(t, 60*time.Second)
		var inVain atomic.Int64 // dials of the master that has died
		dial := c.dialer
		if dial == nil {
			dial = (&net.Dialer{}).DialContext
		}
		c.dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dial(ctx, network, addr)
			if err != nil && addr == c.addrs[0] {
				inVain.Add(1)
			}
			return conn, err
		}
		client := c.made(shim.Options{})
		key := tagged(0, "k")
		if err := client.Set(ctx, key, 0, 0).Err(); err != nil {
			t.Fatal(err)
		}
		replica := c.replicaOf(0)
		if n, err := c.nodes[0].Wait(ctx, 1, 10*time.Second).Result(); err != nil || n != 1 {
			t.Fatalf("WAIT: %d, %v", n, err)
		}
		c.kill(0)
		missed := func() bool { return inVain.Load() > 0 }
		defer c.once(missed, func() { c.do(replica, "CLUSTER", "FAILOVER", "TAKEOVER") })()
		lostReplies := 0
		for i := 0; i < 20; {
			var lost *shim.LostReplyError
			switch err := client.Incr(ctx, key).Err(); {
			case err == nil:
				i++
			case errors.As(err, &lost) && i == 0:
				lostReplies++
			default:
				t.Fatalf("INCR %d: %v", i, err)
			}
		}
		if n, err := client.Get(ctx, key).Int(); err != nil || n < 20 || n > 20+lostReplies {
			t.Errorf("the counter is %d, %v; want 20 and up to %d", n, err, lostReplies)
		}
	})
}

// Replies from a node that is not ready come before anything ran.
func TestRefusalsAreRetried(t *testing.T) {
	c := emulated(t, 0)
	ctx := within(t, 30*time.Second)
	client := c.made(shim.Options{})
	for _, text := range []string{
		"TRYAGAIN Multiple keys request during rehashing of slot",
		"CLUSTERDOWN The cluster is down",
		"CLUSTERDOWN Hash slot not served",
		"LOADING Redis is loading the dataset in memory",
		"READONLY You can't write against a read only replica.",
		"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
		"NOREPLICAS Not enough good replicas to write.",
		"UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)",
	} {
		key := tagged(7, text)
		fault := c.emulator.Inject(emulator.Rule{Commands: []string{"incr"}, Times: 2, Action: emulator.ReplyWith(text)})
		if n, err := client.Incr(ctx, key).Result(); err != nil || n != 1 || fault.Hits() != 2 {
			t.Errorf("%s: %d, %v after %d refusals; want 1 after 2", text, n, err, fault.Hits())
		}
		fault.Remove()
		fault = c.emulator.Inject(emulator.Rule{Commands: []string{"incr"}, Nth: 2, Times: 1, Action: emulator.ReplyWith(text)})
		cmds, err := client.TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.Incr(ctx, key)
			p.Incr(ctx, key)
			return nil
		})
		if err != nil || cmds[1].(*redis.IntCmd).Val() != 3 || fault.Hits() != 1 {
			t.Errorf("%s in a transaction: %v, %v after %d refusals; want 3 after 1", text, cmds, err, fault.Hits())
		}
		fault.Remove()
	}
	fault := c.emulator.Inject(emulator.Rule{Commands: []string{"incr"}, Action: emulator.ReplyWith("OOM command not allowed")})
	defer fault.Remove()
	if err := client.Incr(ctx, "oom").Err(); !redis.IsOOMError(err) || fault.Hits() != 1 {
		t.Errorf("%v after %d tries; want the OOM after one", err, fault.Hits())
	}
}

// Two parts of a program may both ask for the hook: a lost reply is still counted
// once, by the options that came first.
func TestRetryAskedForTwice(t *testing.T) {
	c := emulated(t, 0)
	var first, second shim.Metrics
	for _, client := range []redis.UniversalClient{
		c.handedIn(shim.RetryOptions{Metrics: &first}),
		c.made(shim.Options{Retry: shim.RetryOptions{Metrics: &first}}),
	} {
		before := first.LostReplies()
		if err := shim.WithRetry(client, shim.RetryOptions{Metrics: &second}); err != nil {
			t.Fatal(err)
		}
		c.emulator.Inject(emulator.Rule{Commands: []string{"incr"}, Times: 1, Action: emulator.DropAfter()})
		var lost *shim.LostReplyError
		if err := client.Incr(within(t, 10*time.Second), "counter").Err(); !errors.As(err, &lost) {
			t.Fatalf("INCR whose reply is dropped: %v", err)
		}
		if n := first.LostReplies() - before; n != 1 || second.LostReplies() != 0 {
			t.Errorf("lost replies: first %d, second %d; want 1 and 0", n, second.LostReplies())
		}
	}
}
