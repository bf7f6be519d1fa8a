package brokertest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/broker"
	"github.com/fakecluster/fakecluster/broker/brokertest"
	"github.com/fakecluster/fakecluster/emulator"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type job struct {
	ID int `json:"id"`
}

var errEven = errors.New("even")

// service acknowledges odd jobs, drops even ones, and lets those of 100 and more wait.
func service(b *broker.Broker) *broker.App {
	handle := func(_ context.Context, j *job) broker.Outcome {
		switch {
		case j.ID >= 100:
			return broker.RetryAfter(time.Hour, nil)
		case j.ID%2 == 0:
			return broker.Drop(errEven)
		}
		return broker.Ack()
	}
	return broker.NewApp("test", "1", b,
		broker.Subscribe(list, handle, broker.DeadLetters("{l}.dead"), broker.DelayQueue("{l}.later")),
		broker.Subscribe(stream, handle, broker.DeadLetters("{s}.dead")))
}

var (
	list   = broker.List("{l}").Reliable()
	stream = broker.Stream("{s}").Group("g")
)

func refused(b *broker.Broker) *broker.App {
	return broker.NewApp("test", "1", b, broker.Subscribe(broker.List("untagged").Reliable(),
		func(context.Context, *job) broker.Outcome { return broker.Ack() }))
}

// probe is a test that may fail without failing the one that looks at it.
type probe struct {
	testing.TB // nil: only a T can be one
	cleanups   []func()

	mu       sync.Mutex
	failures []string
}

func (p *probe) Errorf(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failures = append(p.failures, fmt.Sprintf(format, args...))
}

func (p *probe) Fatalf(format string, args ...any) {
	p.Errorf(format, args...)
	runtime.Goexit()
}

func (p *probe) Fatal(args ...any) { p.Fatalf("%s", fmt.Sprint(args...)) }

func (p *probe) Helper()           {}
func (p *probe) Output() io.Writer { return io.Discard }
func (p *probe) Cleanup(f func())  { p.cleanups = append(p.cleanups, f) }

// test runs the body of a test and its clean-up, and returns how it failed.
func test(body func(t testing.TB)) string {
	p := &probe{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		body(p)
	}()
	<-done
	for _, f := range slices.Backward(p.cleanups) {
		f()
	}
	return strings.Join(p.failures, "\n")
}

func TestWhatATestCanSee(t *testing.T) {
	h := brokertest.Start(t, service)
	for id := 1; id <= 4; id++ {
		h.Publish(job{id}, list)
		h.Publish(job{id}, stream)
	}
	h.Publish(job{100}, list)
	h.Publish(job{101}, stream)
	for _, name := range []string{"{l}", "{s}"} {
		if got := h.Handled(name, 5); len(got) != 5 || got[0].Settled != broker.Acked || string(got[0].Payload) != `{"id":1}` {
			t.Errorf("%s has handled %v", name, got)
		}
		if got := h.Settled(name, broker.Buried, 2); len(got) != 2 || !errors.Is(got[1].Outcome.Err(), errEven) {
			t.Errorf("%s has buried %v", name, got)
		}
		letters := h.DeadLetters(name)
		if len(letters) != 2 || string(letters[0].Payload) != `{"id":2}` || string(letters[1].Payload) != `{"id":4}` ||
			letters[0].Headers[broker.HeaderReason] != "even" {
			t.Errorf("the dead letters of %s are %v", name, letters)
		}
	}
	// In the stream, which has no delay queue, the message that waits is pending.
	if l, s, waiting := h.Pending("{l}"), h.Pending("{s}"), h.Waiting("{l}"); l != 0 || s != 1 || waiting != 1 {
		t.Errorf("%d and %d are pending, %d waits", l, s, waiting)
	}
	if n := h.Client().Exists(t.Context(), "{l}.dead").Val(); n != 1 || !h.Broker().IsCluster() || len(h.Cluster().Emulator().Nodes()) != 6 {
		t.Errorf("%d lists on %v", n, h.Cluster().Emulator().Nodes())
	}
	h.Cluster().Emulator().Advance(time.Hour)
	h.Settled("{l}", broker.Delayed, 2)
	if err := h.Stop(); err != nil {
		t.Error(err)
	}
}

// The cluster changes owners, and the service goes on.
func TestClusterInProcess(t *testing.T) {
	h := brokertest.Start(t, service)
	e := h.Cluster().Emulator()
	was := e.NodeForKey("{l}")
	h.Cluster().MoveSlot("{l}")
	moved := e.NodeForKey("{l}")
	if moved == was {
		t.Error("the slot has not moved")
	}
	h.Cluster().Failover("{l}")
	if e.NodeForKey("{l}") == moved {
		t.Error("there was no failover")
	}
	h.Publish(job{1}, list)
	h.Settled("{l}", broker.Acked, 1)
}

func TestRefused(t *testing.T) {
	var refusal *broker.Refusal
	if err := brokertest.Refused(t, refused); !errors.As(err, &refusal) || refusal.Tag != "untagged" {
		t.Errorf("refused with %v", err)
	}
	// Whatever keeps a service from starting counts, and does not fail the test.
	closed := func(b *broker.Broker) *broker.App {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		return service(b)
	}
	if err := brokertest.Refused(t, closed); !errors.Is(err, broker.ErrClosed) {
		t.Errorf("a closed broker: %v", err)
	}
	if got := test(func(t testing.TB) { _ = brokertest.Refused(t, service) }); !strings.Contains(got, "should not have") {
		t.Errorf("a service that starts: %q", got)
	}
	got := test(func(t testing.TB) { brokertest.Start(t, refused) })
	if !strings.Contains(got, "{untagged}") || strings.Count(got, "did not start: broker") != 1 {
		t.Errorf("a service that does not start: %q", got)
	}
}

// On a single server names need no tags, and no cluster is named in the environment.
func TestStandalone(t *testing.T) {
	t.Setenv(brokertest.URLEnv, "redis://nowhere.invalid:1")
	h := brokertest.Start(t, refused, brokertest.Standalone(), brokertest.Emulator(emulator.Password("secret")),
		brokertest.Options(broker.Options{Redis: func(o *redis.UniversalOptions) { o.Password = "secret" }}))
	h.Publish(job{1}, broker.List("untagged"))
	h.Settled("untagged", broker.Acked, 1)
	if nodes := h.Cluster().Emulator().Nodes(); len(nodes) != 1 || h.Broker().IsCluster() {
		t.Errorf("it runs on %v", nodes)
	}
}

// A cluster at addresses, with a password, by the environment and by Nodes.
func TestClusterElsewhere(t *testing.T) {
	use := func(t *testing.T, e *emulator.Cluster, options ...brokertest.Option) {
		h := brokertest.Start(t, service, options...)
		if h.Cluster().Emulator() != nil {
			t.Error("it is not the cluster that was named")
		}
		was := e.NodeForKey("{l}")
		h.Cluster().MoveSlot("{l}")
		moved := e.NodeForKey("{l}")
		h.Cluster().Failover("{l}")
		if now := e.NodeForKey("{l}"); moved == was || now == moved {
			t.Errorf("the slot went from %v to %v to %v", was, moved, now)
		}
		h.Publish(job{2}, list)
		h.Settled("{l}", broker.Buried, 1)
	}
	empty := func(t *testing.T, e *emulator.Cluster) {
		for _, node := range e.Nodes() {
			client := redis.NewClient(&redis.Options{Addr: node.Addr(), Password: "secret"})
			if n := client.DBSize(t.Context()).Val(); n != 0 {
				t.Errorf("%d keys are left at %s", n, node.Addr())
			}
			if err := client.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	t.Run("by a URL", func(t *testing.T) {
		e := emulator.RunT(t, emulator.TCP("127.0.0.1", 0), emulator.Replicas(1), emulator.Password("secret"))
		t.Setenv(brokertest.URLEnv, "redis://:secret@"+e.Addrs()[0])
		t.Run("body", func(t *testing.T) { use(t, e) })
		empty(t, e)
	})
	t.Run("by an address", func(t *testing.T) {
		e := emulator.RunT(t, emulator.TCP("127.0.0.1", 0), emulator.Replicas(1))
		t.Setenv(brokertest.URLEnv, e.Addrs()[1])
		t.Run("body", func(t *testing.T) { use(t, e) })
	})
	t.Run("by Nodes", func(t *testing.T) {
		e := emulator.RunT(t, emulator.TCP("127.0.0.1", 0), emulator.Replicas(1))
		t.Run("body", func(t *testing.T) { use(t, e, brokertest.Nodes(e.Addrs()...)) })
	})
	t.Run("by a wrong URL", func(t *testing.T) {
		t.Setenv(brokertest.URLEnv, "http://127.0.0.1")
		if got := test(func(t testing.TB) { brokertest.Start(t, service) }); !strings.Contains(got, brokertest.URLEnv) {
			t.Errorf("it failed with %q", got)
		}
	})
}

// What a test is told that waits in vain, or for a name that is not there.
func TestFailuresTellWhatHappened(t *testing.T) {
	got := test(func(t testing.TB) {
		h := brokertest.Start(t, service)
		h.Publish(job{2}, list)
		h.Handled("{l}", 1)
		if err := h.Stop(); err != nil {
			t.Errorf("%v", err)
		}
		h.Settled("{l}", broker.Acked, 1)
	})
	for _, want := range []string{"0 of 1 messages of {l} were ack", `dead letter "{\"id\":2}" delivery 1: drop: even`} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not say %q: %s", want, got)
		}
	}
	for name, look := range map[string]func(h *brokertest.Harness){
		`no subscription "l"; it has "{l}", "{s}"`: func(h *brokertest.Harness) { h.Handled("l", 1) },
		"{s} has no delay queue":                   func(h *brokertest.Harness) { h.Waiting("{s}") },
		"publishing to {l}: broker: encoding":      func(h *brokertest.Harness) { h.Publish(make(chan int), list) },
	} {
		if got := test(func(t testing.TB) { look(brokertest.Start(t, service)) }); !strings.Contains(got, name) {
			t.Errorf("it does not say %q: %s", name, got)
		}
	}
}

// How a service ended fails its test, unless the test asked.
func TestHowAServiceEnded(t *testing.T) {
	stuck := func(release <-chan struct{}, began chan<- struct{}) brokertest.Service {
		return func(b *broker.Broker) *broker.App {
			return broker.NewApp("stuck", "1", b, broker.Subscribe(list, func(context.Context, *job) broker.Outcome {
				began <- struct{}{}
				<-release
				return broker.Ack()
			}))
		}
	}
	run := func(t testing.TB, asks bool) {
		release, began := make(chan struct{}), make(chan struct{}, 1)
		t.Cleanup(func() { close(release) }) // after the end of the service
		h := brokertest.Start(t, stuck(release, began), brokertest.Options(broker.Options{StopWithin: 20 * time.Millisecond}))
		h.Publish(job{1}, list)
		<-began
		if asks {
			if err := h.Stop(); !errors.Is(err, broker.ErrAbandoned) {
				t.Errorf("it ended with %v", err)
			}
		}
	}
	if got := test(func(t testing.TB) { run(t, true) }); got != "" {
		t.Errorf("a test that asked failed with %s", got)
	}
	if got := test(func(t testing.TB) { run(t, false) }); !strings.Contains(got, broker.ErrAbandoned.Error()) {
		t.Errorf("a test that did not ask failed with %q", got)
	}
}
